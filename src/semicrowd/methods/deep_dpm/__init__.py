"""Deep Dirichlet process mixture models (Li, Li, Jiang & Xia 2022)."""
