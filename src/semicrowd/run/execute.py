"""One run from its settings to its files."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from semicrowd.crowd import answer_files
from semicrowd.errors import UserError
from semicrowd.files import RUN_FILES, RunDirectory, expanded, read_metrics, read_status, write_json
from semicrowd.run.composition import Given
from semicrowd.run.files.config import CONFIG, check_same, more_epochs, read_config, same_given, write_config
from semicrowd.run.files.inputs import PROVENANCE, check_files, check_inputs, file_hashes
from semicrowd.run.inputs import facts_of, load_inputs
from semicrowd.run.processes import check_processes, place
from semicrowd.run.settings import given_in_vain, resolved, sources

Metrics = dict[str, float | int]


def execute(given: Given, run_dir: Path) -> Metrics:
    """Do a run with the settings ``given``, write its files into ``run_dir``, and return the content of metrics.json.

    The caller has checked the settings by themselves (:func:`semicrowd.run.settings.check_given`). All input, and how
    the settings fit it, is checked before the first file is written or removed. If torchrun or srun has started
    several processes of the run, only the first writes files; the others take part in the training and return ``{}``.

    Raises
    ------
    UserError
        For input that the user can correct.
    KeyboardInterrupt
        After Ctrl-C, kill or a closed terminal. If the run had started, the status in status.json is ``interrupted``,
        and ``resume=true`` continues from what it has kept.
    """
    check_processes(given)
    content = {**given.choices, **given.values, **given.extra}
    before, finished = _before(given, run_dir)
    here = place()
    if here is not None and here.rank:
        if not finished:
            from semicrowd.run.rank import train_along

            train_along(given, run_dir)
        return {}
    if done := finished and same_given(before, content):
        check_files(run_dir, given.values)
        if _has_hashes(given):
            return _nothing_to_do(run_dir)
    try:
        data, answers = load_inputs(sources(given).content)
        settings = resolved(given, facts_of(data, answers), data.chosen)
    except UserError as error:
        if not done:
            raise
        _note(f"{run_dir}: its data cannot be compared with those of today: {error}")
        return _nothing_to_do(run_dir)
    if before:
        check_same(before, settings.content, run_dir)
    # Imported here: importing torch and Lightning takes seconds, and most wrong settings have been found by now.
    from semicrowd.run.files.provenance import provenance

    origin = {**provenance(data, answers), "files": file_hashes(given.values, data.hashes)}
    if before:
        check_inputs(run_dir, origin)
        if finished:
            return _nothing_to_do(run_dir)
    for note in (*given_in_vain(given), *data.notes, *(() if answers is None else answers.notes)):
        _note(note)

    from semicrowd.fitting.monitor import Monitor
    from semicrowd.run.estimator import check_able, fitted
    from semicrowd.run.rank import as_others
    from semicrowd.run.session import Session
    from semicrowd.tracking import start_run
    from semicrowd.tracking.store import open_store

    check_able(settings, data, answers)
    if settings.values["logger.name"] != "none":
        open_store(settings.values["logger.uri"], settings.values["logger.experiment"])
    for path in map(Path, origin["files"]):
        if not before and path.resolve().parent == run_dir.resolve() and path.name in RUN_FILES:
            raise UserError(f"{path}: is in the run's own folder, which is emptied; choose another hydra.run.dir")
    directory = RunDirectory(run_dir)
    resume = bool(settings.values["resume"]) and directory.can_resume
    replaced = read_status(run_dir).get("status")
    directory.set_status("running")  # before the old files go: what is left of them is no result
    try:
        if not resume:
            if replaced:
                was = "cut off" if replaced == "running" else replaced
                _note(f"{run_dir}: {was} before there was a checkpoint to go on from; begins again" if before else
                      f"{run_dir}: replaces the run that was there ({was}); another hydra.run.dir would have kept "
                      f"it{', and resume=true continued it' if directory.can_resume else ''}")
            directory.set_aside()
        write_config(run_dir, settings.content, content)
        write_json(run_dir / PROVENANCE, origin)
        if answers is not None:
            answer_files.write(answers, run_dir / "annotations.csv")
        with start_run(settings.content, run_dir, origin, settings.given) as tracker:
            monitor = Monitor(
                folder=run_dir, log=tracker.log_epoch, resume=resume,
                progress=settings.values["trainer.progress"], snapshots=settings.values["snapshots"],
            )  # fmt: skip
            several = settings.values["trainer.strategy"] == "ddp"
            with as_others(run_dir, settings.values["trainer.num_nodes"]) if several else nullcontext():
                estimator = fitted(settings, data, answers, monitor)
            session = Session(settings, run_dir, data, answers, estimator, monitor, tracker)
            metrics = session.finish()
        write_json(run_dir / "metrics.json", metrics)
        directory.set_status("finished")
    except BaseException as error:
        if isinstance(error, UserError) and directory.restore():  # what the fit refuses costs no earlier result
            raise
        stopped = isinstance(error, KeyboardInterrupt)
        directory.set_status("interrupted" if stopped else "failed", None if stopped else _one_line(error))
        raise
    finally:
        directory.clear()
    return metrics


def _has_hashes(given: Given) -> bool:
    path = given.values.get("data.path")
    return given.choices["data"] not in ("benchmark", "encoded") and (path is None or expanded(path).exists())


def _before(given: Given, run_dir: Path) -> tuple[dict[str, Any], bool]:
    """Configuration of the run to resume (empty without one), and whether it has finished all that is asked for."""
    status = read_status(run_dir)
    if not given.values.get("resume") or not status or not (run_dir / CONFIG).exists():
        return {}, False
    before = read_config(run_dir / CONFIG)
    return before, status.get("status") == "finished" and not more_epochs(before, given.values)


def _nothing_to_do(run_dir: Path) -> Metrics:
    _note(f"{run_dir}: finished before, nothing to do")
    return read_metrics(run_dir)


def _note(text: str) -> None:
    print(f"note: {text}", file=sys.stderr)


def _one_line(error: BaseException) -> str:
    return str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}".splitlines()[0]
