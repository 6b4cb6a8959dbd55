"""The programs of the stages of dvc.yaml."""
