"""What stages of dvc.yaml run besides ``src/train.py``."""
