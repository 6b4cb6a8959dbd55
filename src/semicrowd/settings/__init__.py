"""Typed settings, each checked once: the same for the command line, tests and estimators."""
