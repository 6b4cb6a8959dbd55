"""A folder for each paper: its title, its tables and figures, and the code that computes their numbers."""
