"""The methods: each file has a method's parameters, its estimator and what mathematics is its own."""
