from pathlib import Path

import pytest
from omegaconf import OmegaConf

from semicrowd.errors import UserError
from semicrowd.run.settings import check_same, read_config, resolved


def test_a_resumed_run_may_change_how_and_not_what() -> None:
    before = {"seed": 0, "resume": False, "figures": True, "model": {"K": 15}, "logger": {"name": "mlflow"}}
    check_same(before, before | {"resume": True, "figures": False, "logger": {"name": "none"}}, Path("run"))
    with pytest.raises(UserError, match=r"run: resume=true, but the run was started with model\.K=15, not 20"):
        check_same(before, before | {"model": {"K": 20}}, Path("run"))
    with pytest.raises(UserError, match=r"annotations\.path=null, not a\.csv"):
        check_same(before, before | {"annotations": {"path": "a.csv"}}, Path("run"))


def test_interpolations_are_resolved_and_dead_ends_named() -> None:
    assert resolved(OmegaConf.create({"a": 1, "b": {"c": "${a}"}})) == {"a": 1, "b": {"c": 1}}
    with pytest.raises(UserError, match="nowhere"):
        resolved(OmegaConf.create({"a": "${nowhere}"}))


@pytest.mark.parametrize("content", ["a: [1", "- 1", "!!python/object/apply:os.system ['true']"])
def test_a_configuration_is_plain_yaml(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(content)
    with pytest.raises(UserError, match=r"config\.yaml"):
        read_config(path)
