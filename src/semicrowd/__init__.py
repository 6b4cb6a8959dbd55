"""Clustering from features or raw pixels plus a few noisy crowd answers."""
