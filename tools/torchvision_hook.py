"""Lets a CUDA build of torchvision be imported beside a CPU build of torch.

A package index may serve torch as a CPU build and torchvision as a CUDA build of the same release. The compiled part of
torchvision then cannot load, and its import stops at operators that nobody declared ("operator torchvision::nms does
not exist"). Lightning and torchmetrics import torchvision wherever it is installed, so they stop as well. Declaring the
two operators before torchvision's own code runs is enough: data sets, transforms, models and image grids work; the
compiled operators themselves (``ops.nms``, ``io.read_image``) do not.

Two roles in one file, because the second installs the first:

- imported at interpreter start by a ``.pth`` line in site-packages, it waits for torchvision to be looked for and
  declares the operators then. With matching builds it does nothing;
- run as a script (``make setup`` does) it checks ``import torchvision`` and installs itself where that fails for the
  reason above.
"""

import importlib.abc
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

MODULE = "_semicrowd_torchvision_hook"
SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)
_declared: list[object] = []  # a library's schemas go when the object goes


def builds_differ(spec: ModuleSpec) -> bool:
    """Whether torch has no CUDA while the torchvision that ``spec`` locates was built for it."""
    import torch

    if spec.origin is None:
        return False
    # The wheel's metadata says 0.28.0; only this file names the build (0.28.0+cu130).
    version = Path(spec.origin).with_name("version.py")
    return torch.version.cuda is None and version.is_file() and "+cu" in version.read_text(encoding="utf-8")


class _Finder(importlib.abc.MetaPathFinder):
    """Declares the operators when torchvision is looked for; finds nothing itself."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "torchvision" and not _declared:
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and builds_differ(spec):
                import torch

                _declared.append(library := torch.library.Library("torchvision", "FRAGMENT"))
                for schema in SCHEMAS:
                    library.define(schema)


def install(site_packages: Path) -> None:
    """Copy this file into ``site_packages`` and have the interpreter import it at start."""
    shutil.copyfile(__file__, site_packages / f"{MODULE}.py")
    (site_packages / f"{MODULE}.pth").write_text(f"import {MODULE}\n", encoding="utf-8")


def _import_error() -> str:
    """Last line of what ``import torchvision`` prints in a new interpreter; empty when it works."""
    done = subprocess.run([sys.executable, "-c", "import torchvision"], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1]


def main() -> int:
    """Check the import, install the hook where that helps, check again."""
    error = _import_error()
    spec = PathFinder.find_spec("torchvision")
    if error and spec is not None and builds_differ(spec):
        install(Path(sysconfig.get_paths()["purelib"]))
        error = _import_error()
    if error:
        print(f"error: torchvision cannot be imported: {error}", file=sys.stderr)
    return 1 if error else 0


if __name__ == "__main__":
    sys.exit(main())
elif __name__ == MODULE:
    sys.meta_path.insert(0, _Finder())
