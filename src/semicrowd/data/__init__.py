"""Data sets: a loader each in a module, the user's own tables, and the fetcher of public files."""

from semicrowd.data.dataset import Dataset

__all__ = ["Dataset"]
