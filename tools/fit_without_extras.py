"""A first fit, and a method that needs an extra, where no extra is installed: for check_wheel.sh and test_wheel.py."""

import numpy as np

import semicrowd
from semicrowd import SCDC, UserError

rng = np.random.default_rng(0)
classes = np.arange(90) % 3
X = 4 * np.eye(3)[classes] + rng.normal(size=(90, 3))
i, j = np.triu_indices(90, 1)
pairs = np.stack([i, j, i % 3, classes[i] == classes[j]], 1)[rng.permutation(len(i))[:300]]
model = SCDC(epochs=1).fit(X, pairs=pairs)
print("clusters", model.n_clusters_)
model.save("model.pt")
assert (semicrowd.load("model.pt").predict(X) == model.predict(X)).all()
try:
    semicrowd.DPM().fit(X)
except UserError as error:
    print(error)
