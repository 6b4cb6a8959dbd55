"""Co-training, the default for own data: features and answers, the number of clusters unknown.

``preparations`` → ``candidates`` (by ``classifiers`` and ``answers``) → ``selection``; ``estimator`` has the ten steps.
"""

from semicrowd.methods.cotraining.estimator import CoTraining

__all__ = ["CoTraining"]
