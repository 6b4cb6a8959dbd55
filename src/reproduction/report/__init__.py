"""The report: the papers' tables and figures, and this project's numbers for them."""
