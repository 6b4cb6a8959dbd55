"""Files that a run really imports."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from semicrowd.data.load import LOADERS, module_of
from semicrowd.estimators import ESTIMATORS
from semicrowd.pipeline.inputs import LEFT_OUT, SOURCE, TABLES, files_behind, fingerprints, run_modules

#: Runs src/train.py's work without its command line, and prints what has been imported.
RUN = """
import sys
from pathlib import Path
from semicrowd.run.composition import composed
from semicrowd.run.execute import execute
execute(composed(sys.argv[2:]), Path(sys.argv[1]))
print(*(name for name in sys.modules if name.startswith("semicrowd")))
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package whose module ``start`` reaches some of the others."""
    write(
        tmp_path,
        some__start=(
            "from typing import TYPE_CHECKING\nimport numpy\nimport some.plain\nfrom some.inner import thing, module\n"
            "if TYPE_CHECKING:\n    from some import checked\nelse:\n    from some import otherwise\n"
            "def work():\n    from some import late\n"
        ),
        some__inner__module="from some.above import name\n", some__inner__thing_else="",
        **{f"some__{name}": "" for name in ("plain", "checked", "otherwise", "late", "above", "never")},
    )  # fmt: skip
    for folder in (tmp_path / "some", tmp_path / "some" / "inner"):
        (folder / "__init__.py").write_text("")
    return tmp_path


def test_imports_are_followed_into_functions_and_packages_but_not_for_the_type_checker(package: Path) -> None:
    names = ("__init__", "start", "plain", "inner/__init__", "inner/module", "above", "otherwise", "late")
    assert files_behind(["some.start"], package) == {f"some/{name}.py" for name in names}


def test_a_changed_file_changes_its_own_fingerprint_alone(package: Path, tmp_path: Path) -> None:
    before = fingerprints(["some.start"], package)
    other = tmp_path / "changed"
    shutil.copytree(package / "some", other / "some")
    write(other, some__late="x = 1\n", some__never="x = 1\n")
    after = fingerprints(["some.start"], other)
    assert {name for name in before if before[name] != after[name]} == {"some/late.py"}


def test_a_run_depends_on_no_other_method_and_no_other_data_set() -> None:
    own = files_behind(run_modules("mcvc", "pinwheel"))
    others = {module_of(name) for name in LOADERS} - {module_of("pinwheel")}
    others |= {ESTIMATORS[name].__module__ for name in ESTIMATORS} - {ESTIMATORS["mcvc"].__module__}
    assert not own & {f"{name.replace('.', '/')}.py" for name in others}
    assert {"semicrowd/methods/mcvc.py", "semicrowd/data/generated.py", "semicrowd/run/execute.py"} <= own
    watchers = ("semicrowd/tracking", "semicrowd/figures", "semicrowd/run/commandline", "semicrowd/report")
    assert not [name for name in own if name.startswith(watchers)]


@pytest.mark.parametrize("method", ["kmeans", "bayes"])
def test_what_a_run_has_imported_is_among_its_files(method: str, tmp_path: Path) -> None:
    arguments = [f"model={method}", "data=pinwheel", "data.points_per_class=20", "annotations=two_coin", "logger=none",
                 "figures=false"]  # fmt: skip
    few = ["epochs=1", "start.epochs=1", "start.teach_epochs=1", "annotations.num_annotated=8",
           "annotations.num_annotators=2", "annotations.pairs_per_annotator=12"]  # fmt: skip
    few = few if method == "bayes" else []
    command = [sys.executable, "-c", RUN, str(tmp_path / "run"), *arguments, *few]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    left_out = tuple(f"{name}." for name in LEFT_OUT)
    imported = [name for name in done.stdout.split() if not f"{name}.".startswith(left_out)]
    files = {SOURCE.joinpath(*name.split(".")) for name in imported if name not in TABLES}
    paths = {(p / "__init__.py" if p.is_dir() else p.with_suffix(".py")).relative_to(SOURCE).as_posix() for p in files}
    assert len(paths) > 20
    assert paths <= files_behind(run_modules(method, "pinwheel"))
