"""Semi-supervised latent process decomposition (Li, Ying & Campbell 2009)."""
