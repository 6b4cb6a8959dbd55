"""The stages beside src/train.py, ``spaces``, ``slpd`` and ``autoencoder``: what they write is what runs would find."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.decomposition import PCA

from reproduction.stages import slpd as stage
from reproduction.stages import spaces
from reproduction.stages.autoencoder import CODE, HIDDEN, Autoencoder, decoded, make, train
from reproduction.stages.slpd import SETS, Table, TableSet
from semicrowd.data import Dataset
from semicrowd.data.answers import labels as answers_of
from semicrowd.data.benchmark import load_benchmark
from semicrowd.data.encoded import TRAINED, load_encoded, place, to_encode, to_train
from semicrowd.errors import UserError
from semicrowd.estimators.base import CrowdClusterer
from semicrowd.files import MODEL, write_json, write_text
from semicrowd.methods.ckm import CKM
from semicrowd.methods.deep_dpm.estimator import DeepDPM
from semicrowd.methods.gmeans import GMeans
from semicrowd.methods.slpd import estimator
from semicrowd.methods.slpd.estimator import SLPD
from semicrowd.methods.unsupervised import KMeansOnly
from semicrowd.metrics import clustering_scores
from semicrowd.metrics.clustering import balanced_rand_index
from semicrowd.random import torch_stream


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
    flow = model.transform(data.features)
    for space, items in (("autoencoder", data.features), ("flow", flow)):
        expected = clustering_scores(data.labels, KMeansOnly(3, n_init=5, random_state=7).fit(items).labels_)
        assert found[space, "kmeans, oracle"]["ari"] == expected["ari"]
    assert found["flow", "gmeans"]["clusters"] == GMeans().fit(flow).n_clusters_


def test_digits_are_those_of_the_largest_cluster_of_a_class(model: DeepDPM, monkeypatch: pytest.MonkeyPatch) -> None:
    data = blobs()
    monkeypatch.setattr(spaces, "decoded", lambda codes, which, root: codes)  # noqa: ARG005
    found = spaces.digits(model, data, "mnist", Path("unused"), 0)
    assert found["images"].shape == (len(found["classes"]), spaces.SAMPLES, 4)
    for name, images in zip(found["classes"], found["images"], strict=True):
        # The centre comes first, and lies among the items of its class.
        centre = data.features[data.labels == name].mean(0)
        assert np.abs(images[0] - centre).max() < 2
        assert not np.allclose(images[1], images[0])


def test_panels_go_from_the_features_to_the_last_epoch(model: DeepDPM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "NUM_POINTS", 90)
    data = blobs()
    found = spaces.embedding(model, data, 0)
    assert found["epochs"].tolist() == [0, 2, 4, 6]
    assert found["points"].shape == (4, 90, 2)
    groups = [data.features[data.labels == k] for k in range(3)]
    within = sum(len(group) * group.var(0).sum() for group in groups)
    # Of half of the items.
    assert found["within"][0] == pytest.approx(within / (180 * data.features.var(0).sum()), rel=0.2)


def test_runs_that_did_not_finish_have_no_rows(model: DeepDPM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def fold_of(**options: Any) -> tuple[Dataset, np.ndarray, np.ndarray]:
    """The data, test items and their labels."""
    data = load_benchmark(**options)
    return data, data.test_features, data.test_labels


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimator, "_MOST_ITERATIONS", 40)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_cell_is_what_runs_of_its_command_find(share: float) -> None:
    rows = {(row[0], row[3]): row[4] for row in stage.rows_of("wine", share, range(3, 4))}
    for fold in range(3):
        data, test, labels = fold_of(which="wine", fold=fold, data_seed=3)
        answers = answers_of(data, fraction=share, seed=3) if share else None
        models: dict[str, CrowdClusterer] = {
            "ckm": CKM(3, random_state=3), "slpd": SLPD(3, random_state=3),
        }  # fmt: skip
        for name, model in models.items():
            found = model.fit(data.features, answers).predict(test)
            assert rows[name, fold] == pytest.approx(balanced_rand_index(labels, found), abs=1e-9), name


def test_a_chosen_number_of_clusters_is_that_of_a_fit_with_as_many() -> None:
    rows = [row for row in stage.rows_of("iris", 0.25, range(2)) if row[0] == stage.CHOSEN]
    assert [(row[2], row[3]) for row in rows] == [(trial, fold) for trial in range(2) for fold in range(3)]
    for _, _, trial, fold, bri, clusters in rows:
        data, test, labels = fold_of(which="iris", fold=fold, data_seed=trial)
        answers = answers_of(data, fraction=0.25, seed=trial)
        model = SLPD(clusters, n_restarts=stage.RESTARTS, random_state=trial).fit(data.features, answers)
        assert bri == pytest.approx(balanced_rand_index(labels, model.predict(test)), abs=1e-9)
    assert {name for name, of in SETS.items() if of.choose} == {"iris", "wine"}


@pytest.mark.parametrize("kinds", [2, 4])
def test_as_many_clusters_as_there_are(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    centres = 6.0 * rng.permutation(np.eye(4, 8) + np.eye(4, 8, 4))[:kinds]
    train = centres[np.arange(120) % kinds] + rng.normal(size=(120, 8))
    assert stage.choose(Table(train, np.arange(120), 0), SLPD(least_variance=1e-3)) == kinds


def test_files_of_the_stage_have_all_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows_of(_: str, share: float, trials: range) -> list[list[object]]:
        return [["ckm", share, trial, 0, 0.5, 3] for trial in trials]

    monkeypatch.setattr(stage, "rows_of", rows_of)
    monkeypatch.setattr(stage, "CURVE_CLUSTERS", range(2, 4))
    monkeypatch.setattr(stage, "LABELLED", {"none": ()})
    assert stage.main([str(tmp_path), "--iris", "12", "--wine", "1", "--curve", "1"]) == 0
    rows = pd.read_csv(tmp_path / "iris.csv")
    assert sorted(rows["trial"]) == sorted([*range(12)] * 3)
    assert len(pd.read_csv(tmp_path / "wine.csv")) == 3
    assert pd.read_csv(tmp_path / "sizes.csv").to_numpy().tolist() == [["iris", 150, 4, 3], ["wine", 178, 13, 3]]
    curve = pd.read_csv(tmp_path / "curve.csv")
    assert curve["clusters"].tolist() == [2, 3]
    assert np.isfinite(curve["log_likelihood"]).all()


def test_tested_classes_are_clustered_alone_too_where_they_are_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other reading of what the paper did with leukaemia: other items and clusters, and no labels."""
    options: dict[str, Any] = {"which": "iris"}
    monkeypatch.setitem(SETS, "toy", TableSet(options, 6, together=True, restarts=2))
    rows = {tuple(row[:4]): row[4:] for row in stage.rows_of("toy", 0.0, range(1))}
    for fold in range(3):
        _, test, labels = fold_of(**options, fold=fold, data_seed=0)
        models: dict[str, CrowdClusterer] = {
            "ckm": CKM(2, random_state=0), "slpd": SLPD(2, n_restarts=2, random_state=0),
        }  # fmt: skip
        for name, model in models.items():
            index = balanced_rand_index(labels, model.fit(test).predict(test))
            assert rows[f"{name}, {stage.ALONE}", 0.0, 0, fold] == [pytest.approx(index, abs=1e-9), 2], name
            assert rows[name, 0.0, 0, fold][1] == 6
    assert not [row for row in stage.rows_of("toy", 0.25, range(1)) if stage.ALONE in row[0]]


def small(seed: int = 0) -> Autoencoder:
    return Autoencoder(20, torch_stream(seed, "networks"), hidden=(24, 24, 48), code=4)


def surface(items: int) -> torch.Tensor:
    """Points of a bent surface in 20 dimensions."""
    rng = np.random.default_rng(0)
    along = rng.uniform(-1, 1, (items, 2))
    bent = np.column_stack([along, along**2, np.sin(3 * along)])
    return torch.from_numpy(bent @ rng.normal(size=(6, 20)) / 3).float()


def test_layers_pair_each_with_its_mirror() -> None:
    net = Autoencoder(30, torch_stream(0, "networks"))
    shapes = [(tuple(a.weight.shape[1:]), tuple(b.weight.shape[1:])) for a, b in net.layers()]
    widths = [30, *HIDDEN, CODE]
    assert shapes == [((i, o), (o, i)) for i, o in pairwise(widths)]
    by_hand = items = torch.rand(7, 30)
    for number, (inward, _) in enumerate(net.layers()):
        by_hand = inward(by_hand)[0]
        by_hand = by_hand.relu() if number < 3 else by_hand
    torch.testing.assert_close(net.encode(items), by_hand)
    assert net.decode(by_hand).shape == (7, 30)


def test_training_beats_two_principal_components_on_items_that_it_has_not_seen() -> None:
    items, net = surface(1500), small()
    found = list(train(net, items, 50, 400, 4, 0))
    assert [one.steps for one in found] == [100, 200, 300, 400]
    assert found[-1].held_out_error < found[0].held_out_error
    two = PCA(2).fit(items)
    linear = float(((two.inverse_transform(two.transform(items)) - items.numpy()) ** 2).mean())
    assert found[-1].held_out_error < linear / 1.5
    with torch.no_grad():
        everywhere = float((net.decode(net.encode(items)) - items).square().mean())
    assert found[-1].error < 1.5 * everywhere
    assert everywhere < 1.5 * found[-1].held_out_error


def test_pretrained_layers_begin_with_a_smaller_error() -> None:
    items = surface(600)
    begun, cold = (next(train(small(), items, steps, 5, 1, 0)).error for steps in (150, 0))
    assert begun < 0.8 * cold


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data root with 60 made windows in the place of UCI's."""
    folder = tmp_path / "har"
    folder.mkdir()
    rng = np.random.default_rng(0)
    (folder / "activity_labels.txt").write_text("1 UP\n2 DOWN\n")
    for part, count in (("train", 40), ("test", 20)):
        numbers = rng.integers(1, 3, count)
        np.savetxt(folder / f"X_{part}.txt", rng.normal(size=(count, 6)) * 5 + numbers[:, None])
        np.savetxt(folder / f"y_{part}.txt", numbers, fmt="%d")
    return tmp_path


def test_codes_at_four_stages_are_standardised_and_the_decoder_takes_them_back(root: Path) -> None:
    make("har", root, 2, 40)
    data = [load_encoded(root=root, which="har", trained=trained) for trained in TRAINED]
    labels = load_benchmark(which="har", root=root).labels
    for one in data:
        assert one.features.shape == (60, CODE)
        np.testing.assert_allclose(one.features.mean(0), 0, atol=1e-5)
        np.testing.assert_allclose(one.features.std(0), 1, atol=1e-4)
        assert one.name == "har"
        assert np.array_equal(one.labels, labels)
    assert not np.allclose(data[0].features, data[-1].features)
    training = np.genfromtxt(root / "encoded" / "har" / "training.csv", delimiter=",", names=True)
    assert training["steps"].tolist() == [10, 20, 30, 40]
    # What comes back is as near as was noted of the items that were not trained on, in the units that networks saw.
    raw = load_benchmark(which="har", root=root).features
    back = decoded(data[-1].features, "har", root)
    _, scale = to_train(to_encode("har", root))
    assert np.square((back - raw) / scale).mean() < training["held_out_error"][-1]
    assert np.square(back - raw).mean() < 0.9 * raw.var(0).mean()


def test_without_codes_or_with_those_of_others_the_error_says_what_makes_them(root: Path) -> None:
    with pytest.raises(UserError, match=r"codes-100\.npz"):
        load_encoded(root=root, which="har")
    make("har", root, 1, 4)
    (root / "har" / "y_test.txt").write_text("1\n" * 20)
    with pytest.raises(UserError, match="har"):
        load_encoded(root=root, which="har")
    place(root, "har", 100).write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"codes-100\.npz"):
        load_encoded(root=root, which="har")
