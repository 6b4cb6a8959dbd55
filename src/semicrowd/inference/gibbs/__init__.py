"""Gibbs sampling of partitions, compiled: one engine for every prior of partitions and every family of clusters.

:mod:`semicrowd.inference.gibbs.sweep` moves one item after the other. It asks a *prior* for the weight of a cluster
(``restaurant.py``: Dirichlet process, ``franchise.py``: hidden Markov model), a *family* for the predictive density of
the item in it (``gaussian.py``, ``multinomial.py``), and a table for an extra log-weight of item and cluster, which is
how hyperplanes have their say (``hyperplanes.py``). Priors and families are named tuples of arrays, and what is asked
of them is overloaded on their types (``parts.py``): a new one is a file of its own, and no line of the engine changes.

Nothing here but ``hyperplanes.py`` and ``concentrations.py`` is needed to read the mathematics: the rest is
bookkeeping. numba takes a third of a second to import: whoever imports this folder does so when a fit begins.
"""
