"""The wheel: whole outside the source tree, small without its extras, and clear about what an extra has."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

from semicrowd.errors import EXTRAS

ROOT = Path(__file__).parents[2]
#: Modules of the extras cannot be found: a process in which this runs first is as one of an installation without them.
_WITHOUT_EXTRAS = """
import importlib.metadata
import sys
from semicrowd.errors import EXTRAS
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in LEFT_OUT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
LEFT_OUT = {one for modules in EXTRAS.values() for one in modules} - {"yaml"}  # which Lightning needs
# Other packages ask whether a module is installed, not whether it can be imported.
of_module = importlib.metadata.packages_distributions()
hidden = {name.lower() for one in LEFT_OUT for name in of_module.get(one, ())}
found = importlib.metadata.Distribution.from_name
def from_name(name):
    if name.lower() in hidden:
        raise importlib.metadata.PackageNotFoundError(name)
    return found(name)
importlib.metadata.Distribution.from_name = from_name
sys.meta_path.insert(0, Missing())
"""
_FIT = (ROOT / "tools" / "fit_without_extras.py").read_text(encoding="utf-8")
_PAGE = """
try:
    from semicrowd import write_report
except UserError as error:
    print(error)
LEFT_OUT.discard("jinja2")  # which PyTorch needs: it is always there
from semicrowd import write_report
print(write_report(model, X, pairs))
model.image_shape = (3, 1)  # its page has pictures
try:
    write_report(model, X, pairs)
except UserError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files in a folder of their own."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    wheel = next(folder.glob("*.whl"))
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def python(folder: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_the_configuration_is_in_it_and_the_command_runs_anywhere(unpacked: Path, tmp_path: Path) -> None:
    conf = unpacked / "reproduction" / "conf"
    assert {path.relative_to(conf) for path in conf.rglob("*.yaml")} == {
        path.relative_to(ROOT / "conf") for path in (ROOT / "conf").rglob("*.yaml")
    }
    shown = python(unpacked, "-m", "reproduction", "train", "--cfg", "job", "model=kmeans", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert yaml.safe_load(shown.stdout)["model"]["_target_"] == "semicrowd.KMeansOnly"
    assert list(tmp_path.iterdir()) == []
    entry = next(unpacked.glob("*.dist-info")) / "entry_points.txt"
    assert "semicrowd = reproduction.__main__:main" in entry.read_text()


@pytest.mark.slow
def test_a_fit_needs_no_extra_and_what_does_says_which(unpacked: Path, tmp_path: Path) -> None:
    run = python(unpacked, "-c", _WITHOUT_EXTRAS + _FIT + _PAGE, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "clusters 3", "numba is not installed; install it with pip install 'semicrowd[samplers]'",
        "jinja2 is not installed; install it with pip install 'semicrowd[cli]'",
        "report.html", "PIL is not installed; install it with pip install 'semicrowd[cli]'",
    ]  # fmt: skip
    command = _WITHOUT_EXTRAS + "from reproduction.__main__ import main; sys.exit(main(['train']))"
    asked = python(unpacked, "-c", command, cwd=tmp_path)
    assert asked.returncode == 2
    assert re.fullmatch(r"error: .*pip install 'semicrowd\[cli\]'\n", asked.stderr), asked.stderr


def test_the_extras_of_the_messages_are_those_of_pyproject() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    of_module = packages_distributions()
    for extra, modules in EXTRAS.items():
        for module in set(modules) & set(of_module):
            named = {name.lower() for name in of_module[module]}
            assert named & {re.split("[>=]", one)[0] for one in extras[extra]}, f"{module} is not in {extra}"
    assert {*EXTRAS} == {*extras} - {"all", "dev", "pipeline", "ray", "slurm"}  # programs, and plugins of Hydra


TOOLS = Path(__file__).parents[2] / "tools"
#: Imports a stand-in for torchvision after the hook, without one that this environment may have.
PROGRAM = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "torchvision_hook" not in type(finder).__module__]
sys.modules.pop("_semicrowd_torchvision_hook", None)
import torch
torch.version.cuda = {cuda!r}
sys.path[:0] = [{site!r}]
import _semicrowd_torchvision_hook
import torchvision
print(torchvision.found)
"""


@pytest.mark.parametrize(
    ("build", "cuda", "declared"),
    [("0.28.0+cu130", None, True), ("0.28.0", None, False), ("0.28.0+cu130", "13.0", False)],
)
def test_operators_are_declared_where_the_builds_differ(
    tmp_path: Path, build: str, cuda: str | None, declared: bool
) -> None:
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "version.py").write_text(f"__version__ = {build!r}\n")
    (package / "__init__.py").write_text("import torch\nfound = hasattr(torch.ops.torchvision, 'nms')\n")
    install = "import pathlib, sys, torchvision_hook; torchvision_hook.install(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", install, str(tmp_path)], cwd=TOOLS, check=True)
    assert (tmp_path / "_semicrowd_torchvision_hook.pth").read_text() == "import _semicrowd_torchvision_hook\n"
    program = PROGRAM.format(cuda=cuda, site=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == f"{declared}\n", done.stderr
