"""A folder for each paper: its title, its tables and figures, and what fills them."""
