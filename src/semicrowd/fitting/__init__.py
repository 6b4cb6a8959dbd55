"""Fitting: drivers, Lightning modules and their callbacks."""
