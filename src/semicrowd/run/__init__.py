"""One run and a sweep of runs: what ``python src/train.py`` does."""
