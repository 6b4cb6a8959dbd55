"""Pure functions of variational inference: statistics, message passing, bounds, natural gradient. No Lightning here."""
