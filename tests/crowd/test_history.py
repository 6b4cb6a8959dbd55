"""What earlier answers of the same annotators tell."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from semicrowd import CoTraining
from semicrowd.crowd import simulate
from semicrowd.crowd.history import read_history
from semicrowd.crowd.workers import WorkerPosterior
from semicrowd.data import load_dataset
from semicrowd.data.answers import answers_of_files
from semicrowd.errors import UserError
from semicrowd.settings.data import FileSettings
from semicrowd.starts.answer_model import fit_rates

#: It does not matter here in how many parts a candidate is fitted again.
pytestmark = pytest.mark.usefixtures("quick_cotraining")

RATES = ("sensitivity", "specificity")


def _workers(path: Path, shapes: dict[str, np.ndarray]) -> Path:
    """workers.csv of Beta posteriors, [2, 2] of each annotator."""
    of = np.array(list(shapes.values()))[None]
    posterior = WorkerPosterior(of[:, :, 0], of[:, :, 1])
    table = pd.DataFrame({"annotator": list(shapes)})
    for name, mean, ends in zip(RATES, posterior.mean(), posterior.interval(), strict=True):
        table[name], (table[f"{name}_low"], table[f"{name}_high"]) = mean[0], ends[0].T
    table.to_csv(path, index=False)
    return path


def test_a_history_is_the_beta_distribution_behind_the_interval(tmp_path: Path) -> None:
    shapes = {"Zoe": np.array([[30.0, 5.0], [12.0, 8.0]]), "7": np.array([[400.0, 3.0], [1.5, 2.5]])}
    found = read_history(_workers(tmp_path / "workers.csv", shapes), ["nobody", "7", "Zoe"])
    assert found[0].tolist() == [[0, 0], [0, 0]]
    assert found[1] == pytest.approx(shapes["7"], rel=1e-4)
    assert found[2] == pytest.approx(shapes["Zoe"], rel=1e-4)


def test_a_rate_of_one_and_an_interval_without_width_are_a_history_too(tmp_path: Path) -> None:
    names = [f"{rate}{end}" for rate in RATES for end in ("", "_low", "_high")]
    pd.DataFrame([["a", *[1.0] * 6], ["b", *[0.5, 0.0, 1.0] * 2]], columns=["annotator", *names]).to_csv(
        tmp_path / "w.csv", index=False
    )
    found = read_history(tmp_path / "w.csv", ["a", "b"])
    assert np.isfinite(found).all()
    assert found[0].sum() > 1e4
    assert found[1].sum() < 2


def test_earlier_answers_count_as_those_that_are_there() -> None:
    """The posterior given both is that given all answers at once."""
    rng = np.random.default_rng(0)
    same, worker = rng.integers(2, size=600).astype(float), rng.integers(3, size=600)
    label = np.where(rng.random(600) < 0.8, same, 1 - same).astype(int)
    early = np.arange(600) < 200
    counts = np.zeros((3, 2, 2))
    for one in np.flatnonzero(early):
        right = label[one] == same[one]
        counts[worker[one], int(same[one] == 0), int(not right)] += 1
    together = fit_rates(same, worker, label, 3)
    later = fit_rates(same[~early], worker[~early], label[~early], 3, counts)
    assert later.sensitivity == pytest.approx(together.sensitivity)
    assert later.specificity == pytest.approx(together.specificity)


@pytest.mark.slow
def test_a_history_tells_whom_to_trust_where_the_answers_cannot() -> None:
    """Two people contradict each other about items whose features say nothing."""
    rng, kind = np.random.default_rng(0), np.repeat([0, 1], 20)
    x = rng.normal(size=(40, 2))
    right = simulate.two_coin(kind, rng, num_annotators=2, pairs_per_annotator=300, num_annotated=None,
                              sensitivity=0.97, specificity=0.97)  # fmt: skip
    other = rng.integers(2, size=40)  # what the second one sees
    second = right.worker == 1
    label = np.where(second, other[right.i] == other[right.j], right.label).astype(np.int64)
    answers = replace(right, label=label)
    good, bad = np.array([[95.0, 5.0], [95.0, 5.0]]), np.array([[50.0, 50.0], [50.0, 50.0]])
    agreement = {}
    for trusted in (0, 1):
        history = np.stack([good, bad] if trusted == 0 else [bad, good])
        model = CoTraining(max_clusters=3).fit(x, pairs=replace(answers, history=history))
        same = model.labels_[right.i] == model.labels_[right.j]
        agreement[trusted] = (same == label)[right.worker == trusted].mean()
        assert model.workers_["sensitivity"][trusted] > model.workers_["sensitivity"][1 - trusted]
    assert min(agreement.values()) > 0.85


def test_known_links_decide_between_people_who_contradict_each_other(tmp_path: Path) -> None:
    """One sees colours, one shapes, and features say nothing; 60 links are known of one of them."""
    rng, shape, colour = np.random.default_rng(0), np.repeat([0, 1], 20), np.tile([0, 1], 20)
    pd.DataFrame(rng.normal(size=(40, 2)), columns=["x", "y"]).to_csv(tmp_path / "items.csv", index=False)
    i = rng.integers(40, size=240)
    j, worker = (i + rng.integers(1, 40, size=240)) % 40, np.arange(240) % 2
    label = np.where(worker == 0, colour[i] == colour[j], shape[i] == shape[j]).astype(int)
    answers = pd.DataFrame({"i": i, "j": j, "worker": worker, "label": label})
    answers.to_csv(tmp_path / "answers.csv", index=False)
    links = pd.DataFrame({"i": i[:60], "j": j[:60]})
    same = shape[i[:60]] == shape[j[:60]]
    for name, rows in (("same", same), ("different", ~same)):
        links[rows].to_csv(tmp_path / f"{name}.csv", index=False)
    data = load_dataset("table", tmp_path, path=tmp_path / "items.csv")
    told = FileSettings(
        path=tmp_path / "answers.csv", must_link=tmp_path / "same.csv", cannot_link=tmp_path / "different.csv"
    )
    model = CoTraining(max_clusters=4).fit(data.features, pairs=answers_of_files(data, told))
    together = model.labels_[i[:60]] == model.labels_[j[:60]]
    assert (together == same).mean() > 0.95
    weight = model.workers_.set_index("annotator")["weight"]
    assert weight["known"] > 8
    assert weight["1"] > weight["0"] + 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("annotator,sensitivity\na,1\n", "expected the workers.csv of a run"),
        (None, "expected the workers.csv of a run"),
        ("x", "expected the workers.csv of a run"),
    ],
)
def test_what_is_no_history_is_one_clear_line(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "workers.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError, match=said):
        read_history(path, ["a"])


def test_annotators_without_a_history_in_a_file_of_others_are_refused(tmp_path: Path) -> None:
    path = _workers(tmp_path / "workers.csv", {"a": np.full((2, 2), 3.0)})
    with pytest.raises(UserError, match="none of the 1 annotators is in it, such as b"):
        read_history(path, ["b"])
    path.write_text(path.read_text().replace("0.5,", "1.5,"))
    with pytest.raises(UserError, match="expected each annotator once"):
        read_history(path, ["a"])


def test_history_follows_its_annotator() -> None:
    answers = simulate.two_coin(np.arange(30) % 3, np.random.default_rng(0), num_annotators=3, pairs_per_annotator=20,
                                num_annotated=None)  # fmt: skip
    history = np.arange(12.0).reshape(3, 2, 2)
    some = replace(answers, history=history).some(answers.worker != 1)
    assert some.history is history
    rows = np.unique(answers.i[answers.worker == 2].tolist() + answers.j[answers.worker == 2].tolist())
    taken = replace(answers, history=history)[rows]
    assert taken.history is not None
    for number, name in enumerate(taken.worker_names):
        assert (taken.history[number] == history[answers.worker_names.index(name)]).all()


def test_known_links_are_no_example_for_the_crowd() -> None:
    """Three people of ten answers each, seven right: a thousand links that are never wrong do not make them better."""
    worker, label = np.repeat([0, 1, 2], 10), np.tile([1] * 7 + [0] * 3, 3)
    history = np.zeros((4, 2, 2))
    history[3, :, 0] = 1000
    alone = fit_rates(np.ones(30), worker, label, 3).means
    beside = fit_rates(np.ones(30), worker, label, 4, history).means
    for one, other in zip(alone, beside, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other)[:3])
