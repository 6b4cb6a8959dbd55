"""scikit-learn's surface of all methods: ``fit(X, pairs)``, ``labels_``, ``predict``, ``save``, ``load``."""
