"""Stage ``spaces``: its rows are runs of the methods that they name, its pictures of the model it was given."""

from pathlib import Path

import numpy as np
import pytest

from reproduction.stages import spaces
from semicrowd.data.dataset import Dataset
from semicrowd.files import MODEL, write_json, write_text
from semicrowd.methods.deep_dpm import DeepDPM
from semicrowd.methods.gmeans import GMeans
from semicrowd.methods.unsupervised import KMeansOnly
from semicrowd.metrics import clustering_scores


def blobs() -> Dataset:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(3), 60))
    features = np.eye(3, 4)[labels] * 9 + rng.normal(size=(180, 4))
    return Dataset("mnist", features.astype(np.float32), labels, num_classes=3)


@pytest.fixture(scope="module")
def model() -> DeepDPM:
    return DeepDPM(n_warm=2, n_epochs=4, n_start=6, keep_every=2, random_state=1).fit(blobs().features)


def test_a_row_is_what_a_run_of_train_finds(model: DeepDPM) -> None:
    data = blobs()
    rows = [dict(zip(spaces.COLUMNS, row, strict=True)) for row in spaces.rows_of(model, data, 7)]
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
    monkeypatch.setattr(spaces, "decoded", lambda codes, which, root: codes)  # noqa: ARG005
    found = spaces.digits(model, data, "mnist", Path("unused"), 0)
    assert data.labels is not None
    assert found["images"].shape == (len(found["classes"]), spaces.SAMPLES, 4)
    for name, images in zip(found["classes"], found["images"], strict=True):
        # The centre comes first, and lies among the items of its class.
        centre = data.features[data.labels == name].mean(0)
        assert np.abs(images[0] - centre).max() < 2
        assert not np.allclose(images[1], images[0])


def test_panels_begin_with_the_features_and_end_with_the_last_epoch(
    model: DeepDPM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spaces, "NUM_POINTS", 90)
    data = blobs()
    found = spaces.embedding(model, data, 0)
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
    monkeypatch.setattr(spaces, "instantiate", lambda *args, **options: blobs())  # noqa: ARG005
    monkeypatch.setattr(spaces, "embedding", lambda *args: {"points": np.zeros(1)})  # noqa: ARG005
    monkeypatch.setattr(spaces, "digits", lambda *args: {"images": np.zeros(1)})  # noqa: ARG005
    config = """{{seed: {}, data: {{which: mnist}}, annotations: {{_target_: semicrowd.data.answers.{}}},
        model: {{_target_: semicrowd.DeepDPM, n_steps: {}}}}}"""
    results, out = tmp_path / "results", tmp_path / "out"
    # The second has no flow, the third has answers, the fourth has not finished.
    for number, (seed, answers, steps) in enumerate([(8, "none", 5), (7, "none", 0), (6, "crowd", 5), (5, "none", 5)]):
        folder = results / str(number)
        write_text(folder / "config.yaml", config.format(seed, answers, steps))
        model.save(folder / MODEL)
        if number < 3:
            write_json(folder / "metrics.json", {"train/acc": 1.0})
    assert spaces.main([str(results), str(out), "--pictures"]) == 0
    lines = (out / "scores.csv").read_text().splitlines()
    assert lines[0].split(",") == [*spaces.COLUMNS]
    assert [line[:8] for line in lines[1:]] == ["mnist,8,"] * 7
    assert (out / "digits.npz").is_file()
    assert spaces.main([str(out), str(out)]) != 0
