"""Answers of crowd workers: validation, files, simulators, samplers and the two-coin worker model."""
