"""Data sets: one loader each, the user's own tables, and the fetcher of public files."""

from semicrowd.data.dataset import Dataset
from semicrowd.data.load import load_dataset

__all__ = ["Dataset", "load_dataset"]
