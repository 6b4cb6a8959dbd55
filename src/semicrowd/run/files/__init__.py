"""The files that a run writes into its directory."""
