"""The operators that a CUDA build of torchvision asks for are there beside a CPU build of torch, and only then."""

import subprocess
import sys
from pathlib import Path

import pytest

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
