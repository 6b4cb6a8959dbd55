"""Compiled Gibbs sampling of partitions, by one engine for all priors of partitions and all families of clusters.

:mod:`semicrowd.inference.gibbs.sweep` is the engine, which moves one item after the other. The probability of a cluster
has three factors. A *prior* gives its weight (``answers.py``: Dirichlet process, ``franchise.py``: hidden Markov
model). A *family* gives the item's predictive density (``gaussian.py``, ``multinomial.py``). A table may give an extra
log-weight of item and cluster, as hyperplanes do (``hyperplanes.py``). Priors and families are named tuples of arrays;
the functions of ``parts.py`` are overloaded on their types. So a new prior or family does not change the engine.

numba takes a third of a second to import, so this folder is only imported when a fit begins.
"""
