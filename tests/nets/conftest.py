"""Draws of the tests of networks."""

import torch


def generators(*seeds: int) -> list[torch.Generator]:
    """One for each restart."""
    return [torch.Generator().manual_seed(seed) for seed in seeds]
