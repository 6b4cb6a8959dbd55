"""What the stages of dvc.yaml run."""
