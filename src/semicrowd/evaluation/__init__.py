"""What a fitted method has found, as scores."""
