"""Stage ``deep_spaces``: its rows are runs of the methods that they name, its pictures of the model it was given."""

from pathlib import Path

import numpy as np
import pytest

from semicrowd.data.dataset import Dataset
from semicrowd.files import MODEL, write_json
from semicrowd.methods.deep_dpm import DeepDPM
from semicrowd.methods.gmeans import GMeans
from semicrowd.methods.unsupervised import KMeansOnly
from semicrowd.metrics import clustering_scores
from semicrowd.pipeline import deep_spaces
from semicrowd.pipeline.experiments import Experiment


def blobs() -> Dataset:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(3), 60))
    features = np.eye(3, 4)[labels] * 9 + rng.normal(size=(180, 4))
    return Dataset("mnist", features.astype(np.float32), labels, num_classes=3)


@pytest.fixture(scope="module")
def model() -> DeepDPM:
    return DeepDPM(n_warm=2, n_epochs=4, n_start=6, width=16, keep_every=2, random_state=1).fit(blobs().features)


def test_a_row_is_what_a_run_of_train_finds(model: DeepDPM) -> None:
    data = blobs()
    rows = [dict(zip(deep_spaces.COLUMNS, row, strict=True)) for row in deep_spaces.rows_of(model, data, 7)]
    found = {(row["space"], row["method"]): row for row in rows}
    assert len(found) == 7
    assert found["flow", "kmeans"]["told"] == model.n_clusters_
    assert found["flow", "kmeans, oracle"]["told"] == 3
    assert data.labels is not None
    flow = model.transform(data.features)
    for space, items in (("autoencoder", data.features), ("flow", flow)):
        expected = clustering_scores(data.labels, KMeansOnly(3, n_init=5, random_state=7).fit(items).labels_)
        assert found[space, "kmeans, oracle"]["ari"] == expected["ari"]
    assert found["flow", "gmeans"]["clusters"] == GMeans().fit(flow).n_clusters_


def test_digits_are_decoded_from_the_largest_cluster_of_each_class(
    model: DeepDPM, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = blobs()
    monkeypatch.setattr(deep_spaces, "decoded", lambda codes, which, root: codes)  # noqa: ARG005
    found = deep_spaces.digits(model, data, "mnist", Path("unused"), 0)
    assert data.labels is not None
    assert found["images"].shape == (len(found["classes"]), deep_spaces.SAMPLES, 4)
    for name, images in zip(found["classes"], found["images"], strict=True):
        # The centre comes first, and lies among the items of its class.
        centre = data.features[data.labels == name].mean(0)
        assert np.abs(images[0] - centre).max() < 2
        assert not np.allclose(images[1], images[0])


def test_panels_begin_with_the_features_and_end_with_the_last_epoch(
    model: DeepDPM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deep_spaces, "NUM_POINTS", 90)
    data = blobs()
    found = deep_spaces.embedding(model, data, 0)
    assert found["epochs"].tolist() == [0, 2, 4, 6]
    assert found["points"].shape == (4, 90, 2)
    assert data.labels is not None
    groups = [data.features[data.labels == k] for k in range(3)]
    within = sum(len(group) * group.var(0).sum() for group in groups)
    # Of half of the items.
    assert found["within"][0] == pytest.approx(within / (180 * data.features.var(0).sum()), rel=0.2)


def test_runs_that_have_not_finished_have_no_rows(
    model: DeepDPM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(deep_spaces, "load_dataset", lambda *args, **options: blobs())  # noqa: ARG005
    monkeypatch.setattr(deep_spaces, "embedding", lambda *args: {"points": np.zeros(1)})  # noqa: ARG005
    monkeypatch.setattr(deep_spaces, "digits", lambda *args: {"images": np.zeros(1)})  # noqa: ARG005
    one = Experiment("deep_mnist", {"data": "encoded", "data.which": "mnist"}, (0, 1), sweep={})
    deep_spaces.run(one, tmp_path)
    place = tmp_path / "results" / "deep_spaces" / "deep_mnist"
    assert (place / "scores.csv").read_text().count("\n") == 1
    directory = one.run_dir(one.jobs[1])
    write_json(directory / "status.json", {"status": "finished"})
    model.save(directory / MODEL)
    deep_spaces.run(one, tmp_path)
    assert (place / "scores.csv").read_text().count("\nmnist,1,") == 7
    assert not (place / "digits.npz").exists()  # of the first run alone
