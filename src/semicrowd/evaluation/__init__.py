"""Scores of a fitted method, and reasons not to trust its result."""
