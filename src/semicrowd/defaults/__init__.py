"""Rules that derive settings which the user has not given from facts of the data, with reasons."""
