"""Errors and warnings as a user reads them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import semicrowd as semicrowd_package
from semicrowd.errors import UserError
from semicrowd.result import Assignment, Result

#: What other processes have; without HOME and the user's name.
SOURCE = str(Path(semicrowd_package.__file__).parents[1])
PLAIN = {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"}


def test_a_mistake_is_one_line_without_control_characters_and_passwords() -> None:
    error = UserError("a\n  b \x1b[31m sqlite:///a@b https://ann:secret@example.org/x postgresql+psycopg2://ann@db/y\n")
    assert str(error) == "a b ?[31m sqlite:///a@b https://…@example.org/x postgresql+psycopg2://…@db/y"


def test_the_folder_of_numbas_cache_is_the_users_or_none(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("from semicrowd.inference.compiled import compiled\nprint(compiled(lambda: 1)())")
    for folder in (tmp_path / "cache", Path("/proc/none")):
        done = subprocess.run([sys.executable, "-B", tmp_path / "one.py"], env=PLAIN | {"NUMBA_CACHE_DIR": str(folder)},
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert list((tmp_path / "cache").iterdir())


_WARNS = """
import warnings
import numpy as np
import pandas as pd
from semicrowd import CoTraining, KMeansOnly, read_answers, write_report

X = pd.DataFrame({"a": np.arange(30.0) % 2, "b": np.sin(np.arange(30))}, index=[f"r{k}" for k in range(30)])
answers = pd.DataFrame({"i": ["r0", "r1", "r2"], "j": ["r2", "r3", "r4"], "label": [1, 0, ""]})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    KMeansOnly().fit_predict(X, pairs=answers)
    CoTraining(random_state=0).fit(X, pairs=answers)
    write_report(KMeansOnly().fit(X, answers), X, answers, "page.html")
    read_answers(answers)
print(*(f"{one.filename.rpartition('/')[2]} {one.lineno} {one.category.__name__}" for one in caught), sep="\\n")
"""


def test_a_warning_names_the_users_line_however_deep_its_cause_is_found(tmp_path: Path) -> None:
    """Not in this process: while tests run, each function of the package is called by one that checks its arguments."""
    (tmp_path / "mine.py").write_text(_WARNS)
    found = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [one.split() for one in found.stdout.splitlines()]
    assert {file for file, *_ in lines} == {"mine.py"}
    assert {int(line) for _, line, _ in lines} == {11, 12, 13, 14}
    assert "UnreliableResultWarning" in {category for *_, category in lines}


def test_clusters_are_numbered_by_their_size() -> None:
    """Components 11, 41 and 48 of fifty, as a mixture leaves them, are 0, 1 and 2 from the largest on."""
    component = np.repeat([41, 11, 48], [3, 5, 2])
    members = np.full((10, 50), 0.1 / 49)
    members[np.arange(10), component] = 0.9
    found = Result(50, Assignment.of(members), Assignment.of(members))
    components = found.components
    assert components[:3].tolist() == [11, 41, 48]
    assert sorted(components.tolist()) == list(range(50))
    final = found.renumbered(components).final
    assert final.cluster.tolist() == [1] * 3 + [0] * 5 + [2] * 2
    np.testing.assert_array_equal(final.memberships.argmax(1), final.cluster)
    np.testing.assert_array_equal(np.sort(final.memberships, 1), np.sort(members, 1))
    np.testing.assert_array_equal(components[final.cluster], component)


def test_clusters_that_no_item_is_in_by_all_that_is_known_come_last() -> None:
    hard, soft = Assignment.hard(np.array([2, 2, 0])), Assignment.of(np.eye(4)[[3, 2, 0]])
    found = Result(3, hard, soft)
    assert found.components.tolist() == [2, 0, 1, 3]
    renumbered = found.renumbered(found.components)
    assert renumbered.final.cluster.tolist() == [0, 0, 1]
    assert renumbered.features.cluster.tolist() == [3, 0, 1]


def test_the_second_most_probable_cluster_and_its_probability() -> None:
    cluster, probability = Assignment.of(np.array([[0.2, 0.7, 0.1], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])).second()
    assert cluster.tolist() == [0, 2, 0]
    assert probability.tolist() == [0.2, 0.5, 0.0]
    for none in (Assignment.hard(np.array([1, 0])), Assignment.of(np.ones((2, 1)))):
        cluster, probability = none.second()
        assert cluster.tolist() == [-1, -1]
        assert np.isnan(probability).all()
