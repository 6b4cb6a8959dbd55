"""One run from its configuration to its files."""

import json
import sys
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf

from semicrowd.crowd import csv_file
from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.data.answers import load_annotations
from semicrowd.data import Dataset, load_dataset
from semicrowd.data.fetch import data_root
from semicrowd.errors import UserError
from semicrowd.run import settings
from semicrowd.files import RunDirectory, read_status, write_atomic, write_json
from semicrowd.run.provenance import provenance
from semicrowd.tracking import start_run
from semicrowd.tracking.store import open_store

Metrics = dict[str, float | int]


def execute(cfg: DictConfig, run_dir: Path) -> Metrics:
    """Run one configuration in ``run_dir`` and return its metrics.json.

    All input is checked before the first file is written.

    Raises
    ------
    UserError
        For input that the user can mend.
    KeyboardInterrupt
        After Ctrl-C; status.json then says ``interrupted`` and ``resume=true`` goes on.
    """
    settings.check(cfg)
    resolved = settings.resolved(cfg)
    if cfg.resume and read_status(run_dir) and (run_dir / "config.yaml").exists():
        settings.check_same(settings.read_config(run_dir / "config.yaml"), resolved, run_dir)
        if read_status(run_dir)["status"] == "finished":
            _note(f"{run_dir}: finished before, nothing to do")
            return read_metrics(run_dir)
    data, annotations = load_inputs(cfg)
    for note in () if annotations is None else annotations.notes:
        _note(note)

    # Imported here: torch and Lightning take seconds, and most mistakes have been found by now.
    from semicrowd.run.choose_method import choose_method
    from semicrowd.run.session import Session

    method = choose_method(cfg, data, annotations)
    for note in method.notes:
        _note(note)
    if cfg.logger.name != "none":
        open_store(cfg.logger.uri, cfg.logger.experiment)
    origin = provenance(data, annotations)
    with RunDirectory(run_dir) as directory:
        resume_from = method.resume_point(directory) if cfg.resume else None
        if resume_from is None:
            directory.clear()
        directory.set_status("running")
        try:
            _write_inputs(run_dir, resolved, origin, annotations)
            with start_run(cfg, run_dir, origin) as tracker:
                metrics = Session(cfg, directory, data, annotations, method, tracker).run(resume_from)
            write_json(run_dir / "metrics.json", metrics)
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt)
            directory.set_status("interrupted" if stopped else "failed", None if stopped else _one_line(error))
            raise
        directory.set_status("finished")
    return metrics


def _write_inputs(
    run_dir: Path, resolved: dict[str, Any], origin: dict[str, Any], annotations: PairAnnotations | None
) -> None:
    text = yaml.safe_dump(resolved, sort_keys=False, allow_unicode=True)
    write_atomic(run_dir / "config.yaml", lambda temporary: temporary.write_text(text))
    write_json(run_dir / "provenance.json", origin)
    if annotations is not None:
        csv_file.write(annotations, run_dir / "annotations.csv")


def load_inputs(cfg: DictConfig) -> tuple[Dataset, PairAnnotations | None]:
    """Data and annotations of a configuration; the seed decides what is drawn of the answers."""
    root = data_root()
    data = load_dataset(cfg.data.name, root, seed=cfg.seed, **_options(cfg.data))
    return data, load_annotations(cfg.annotations.name, data, cfg.seed, root, **_options(cfg.annotations))


def _options(group: DictConfig) -> dict[str, Any]:
    content = OmegaConf.to_container(group, resolve=True)
    assert isinstance(content, dict)
    return {str(key): value for key, value in content.items() if key != "name"}


def read_metrics(run_dir: Path) -> Metrics:
    """A finished run's metrics.json.

    Raises
    ------
    UserError
        Where there is none.
    """
    path = run_dir / "metrics.json"
    try:
        metrics = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read; is {run_dir} a finished run?") from error
    assert isinstance(metrics, dict)
    return metrics


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _one_line(error: BaseException) -> str:
    return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}".splitlines()[0]
