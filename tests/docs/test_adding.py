"""The worked example of docs/ARCHITECTURE.md, a new baseline: it fits, and its configuration has its parameters."""

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import semicrowd.methods

PAGE = (Path(__file__).parents[2] / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^`([\w/.]+)`[^`]*(?:`[^`\n]+`[^`]*)*:\n\n```\w+\n(.*?)^```", PAGE, re.M | re.S))


def test_the_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    method, listed, configuration, test = BLOCKS.values()
    ((name, place),) = re.findall(r'^\+ +"(\w+)": "([\w.]+)",$', listed, re.M)
    module = ModuleType(f"semicrowd.methods.{name}")
    exec(compile(method, "docs/ARCHITECTURE.md", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(semicrowd.methods.METHODS, name, place)
    kind = semicrowd.methods.method(name)
    content = yaml.safe_load(configuration)
    assert content.pop("_target_") == f"semicrowd.{kind.__name__}"
    assert list(content) == list(inspect.signature(kind).parameters)
    tests: dict[str, Any] = {}
    exec(compile(test, "docs/ARCHITECTURE.md", "exec"), tests)
    for function in (one for key, one in tests.items() if key.startswith("test_")):
        function()
    assert list(BLOCKS) == [f"src/semicrowd/methods/{name}.py", "src/semicrowd/methods/__init__.py",
                            f"conf/model/{name}.yaml", f"tests/estimators/test_{name}.py"]  # fmt: skip
