"""``python src/train.py``: what Hydra calls for a run, and the little that comes before Hydra."""

import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, open_dict

from reproduction.commandline import mistake_in, without_traceback
from semicrowd.errors import UserError
from semicrowd.files import check_exists, expanded

_HERE = Path(__file__).resolve()
#: Folder of the configuration files: that of the installed package, else that of the source tree.
CONF = str(next(path for path in (_HERE.parent / "conf", _HERE.parents[2] / "conf") if path.is_dir()))
#: What a run's folder has before the fit, and which is worth nothing if there is none.
_BEFORE_THE_FIT = {".hydra", "annotations.csv", "config.yaml", "provenance.json"}
#: An argument that is a path, whether or not there is such a file.
_FILE = re.compile(r"[^=]+\.(csv|tsv|txt|parquet|npy|npz)")
#: Hydra's options that take the next argument.
_TAKES_ONE = ("-cp", "--config-path", "-cn", "--config-name", "-cd", "--config-dir", "-p", "--package", "--cfg", "-c")


def main(given: Sequence[str]) -> int:
    """``semicrowd train``, the same as ``python src/train.py``."""
    import hydra

    return command(hydra.main(version_base="1.3", config_path=CONF, config_name="config")(train), given)


@without_traceback
def command(main: Callable[[], Any], given: Sequence[str] | None = None) -> int:
    """Run Hydra's ``main`` with the arguments of the command line; the exit code."""
    sys.argv[1:] = arguments(sys.argv[1:] if given is None else given)
    main()
    return 0


def arguments(given: Sequence[str]) -> list[str]:
    """The arguments as Hydra takes them: paths are the data and the answers, ``seed=0-2,7`` is ``seed=0,1,2,7``.

    The first path is the table, array or folder of pictures, the others are files of answers about its items.
    """
    paths: list[str] = []
    others: list[str] = []
    before = ""
    for one in given:
        bare = one[:1] not in ("", "-") and "=" not in one and before not in _TAKES_ONE
        if bare and _FILE.fullmatch(one):
            check_exists(expanded(one))
        (paths if bare and expanded(one).exists() else others).append(one)
        before = one
    more: list[str] = []
    if paths:
        items, *answers = paths
        kind = "images" if expanded(items).is_dir() else "npz" if items.endswith(".npz") else "table"
        more += [f"data={kind}", f"data.path={_quoted(items)}"]
        if answers:
            more += ["annotations=file", f"annotations.path=[{','.join(map(_quoted, answers))}]"]
    return [*more, *(_seeds(one) if one.startswith("seed=") else one for one in others)]


def _quoted(path: str) -> str:
    return path if re.fullmatch(r"[\w./-]+", path) else "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _seeds(argument: str) -> str:
    parts = argument.removeprefix("seed=").split(",")
    if not all(re.fullmatch(r"\d+(-\d+)?", part) for part in parts):
        return argument  # Hydra's own: range(0,10), choice(…)
    numbers: list[int] = []
    for part in parts:
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
        if last and int(last) < int(first):
            raise UserError(f"{argument}: the range {part} runs backwards; expected first-last")
    return "seed=" + ",".join(map(str, dict.fromkeys(numbers)))


def train(cfg: DictConfig) -> dict[str, float] | None:
    """One run, or one job of a sweep: data, answers, model, fit, scores, files, tracking. What Hydra calls.

    Returns the content of metrics.json; None in all but the first of several processes that train together. What the
    user can correct is a line and exit code 2; in a sweep, whose other jobs go on, a :class:`UserError`.
    """
    from filelock import FileLock, Timeout
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    folder = Path(HydraConfig.get().runtime.output_dir)
    lock = FileLock(folder / ".hydra" / "lock", timeout=0)
    main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler) if main_thread else None
    try:
        if not _rank():
            lock.acquire()
        return _train(cfg)
    except Exception as error:
        other = f"{folder}: another run is writing into this folder; expected another hydra.run.dir"
        mistake = UserError(other) if isinstance(error, Timeout) else mistake_in(error)
        if mistake is None:
            raise
        if HydraConfig.get().mode == RunMode.MULTIRUN:
            raise mistake from None
        if not _rank():  # the first process of several says it
            print(f"error: {mistake}", file=sys.stderr)
            if lock.is_locked and {path.name for path in folder.iterdir()} <= _BEFORE_THE_FIT:
                shutil.rmtree(folder)
        raise SystemExit(2) from None
    finally:
        lock.release()
        if main_thread:
            signal.signal(signal.SIGTERM, before)


def _train(cfg: DictConfig) -> dict[str, float] | None:
    from hydra.core.hydra_config import HydraConfig
    from hydra.utils import instantiate

    from reproduction import run, tracking

    _check_processes(cfg)
    data, answers = run.inputs(cfg)
    with open_dict(cfg):
        cfg.n_classes = cfg.n_classes if cfg.n_classes is not None else data.num_classes
        cfg.image_shape = cfg.image_shape or data.image_shape
    if _rank():  # the first process of several writes and tracks
        run.fit(instantiate(cfg.model, _convert_="all"), data, answers, cfg.ckpt_path)
        return None
    choices, given = HydraConfig.get().runtime.choices, HydraConfig.get().overrides.task
    if choices["data"] == "pinwheel" and not any(one.lstrip("+").startswith(("data", "experiment")) for one in given):
        print(f"note: no data given: an example, data=pinwheel, by model={choices['model']}", file=sys.stderr)
    for note in (*data.notes, *(() if answers is None else answers.notes)):
        print(f"note: {note}", file=sys.stderr)
    this = run.Run.begin(cfg, data, answers)
    with tracking.start(cfg, this) as tracker:
        if cfg.logger:
            cfg.logger.run_id = tracker.id
        this.fit(instantiate(cfg.model, _convert_="all"))
        metrics = this.finish()
        tracker.finish(this, metrics)
    this.end(metrics)
    return metrics


def _check_processes(cfg: DictConfig) -> None:
    """Refuse what several processes of a run cannot do, and tell Lightning where there is only one."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    if "SLURM_NTASKS" in os.environ and "SLURM_STEP_NUM_TASKS" not in os.environ:
        # The script of sbatch and the shell of salloc have the variables of an allocation, but are one process.
        os.environ["SLURM_JOB_NAME"] = "interactive"  # Lightning's word for it
        print("note: in a SLURM allocation, but not started by srun: the run begins with this process", file=sys.stderr)
    if not cfg.trainer or "trainer" not in cfg.model or cfg.trainer.devices == cfg.trainer.num_nodes == 1:
        return
    if cfg.held_out:
        raise UserError("held_out=true: fits twice in one process; expected trainer.devices=1")
    if HydraConfig.get().mode == RunMode.MULTIRUN and "SLURM_STEP_NUM_TASKS" not in os.environ:
        raise UserError(f"trainer.devices={cfg.trainer.devices}: in a sweep only hydra/launcher=submitit_slurm, with "
                        "as many hydra.launcher.tasks_per_node, starts several processes for a job; expected one")


def _rank() -> int:
    """The number of this process among those that train together: torchrun's, Lightning's or srun's variables."""
    names = ("RANK", "LOCAL_RANK", "SLURM_PROCID")
    return next((int(os.environ[name]) for name in names if name in os.environ), 0)
