"""Discriminative Bayesian nonparametric clustering (Nguyen, Phung, Le & Bui 2017) and the mixtures that it extends."""
