"""Conjugate exponential families, one file each, with the same five functions.

``to_natural, to_standard, log_partition, expected_statistics, sample``. A family's natural parameter is one flat
last axis, so that an inner product ⟨η, t⟩ is a plain dot product and every message is a matrix product; leading axes
are batch axes. ``log_partition`` is +inf outside the domain, which is how an optimizer asks whether a point is in it.

Conventions (SCDC paper, App. A): densities are exp(⟨η, t(θ)⟩ − log Z(η)) with base measure 1, so log Z of the Gaussian
and of the normal-inverse-Wishart keep the (d/2) ln 2π that the paper leaves out; both cancel in every KL.
"""
