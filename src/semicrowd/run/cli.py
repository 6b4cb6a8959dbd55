"""``python src/train.py``: arguments in, exit code out."""

import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from semicrowd.run.arguments import expand_seeds, is_sweep, place_output
from semicrowd.files import existing_ancestor, remove_empty
from semicrowd.run.help import help_page
from semicrowd.run.mistakes import check_flags, explain, is_mistake, known_keys

CONF = Path(__file__).resolve().parents[3] / "conf"
#: The run directory that Hydra makes before the input is checked, and the folder above it that was there already.
_made: list[tuple[Path, Path]] = []
#: What ended a single run. Hydra would print a line of its own about an exception that it sees.
_errors: list[Exception] = []


class NoteRunDirectory(Callback):
    """Remembers what Hydra is about to make, so that a run that never started leaves nothing."""

    def on_run_start(self, config: DictConfig, **kwargs: object) -> None:  # noqa: ARG002
        """Hook of Hydra, before a single run."""
        path = Path(OmegaConf.select(config, "hydra.run.dir"))
        _made.append((path, existing_ancestor(path)))


def job(cfg: DictConfig) -> None:
    """One job, alone or of a sweep."""
    hydra_cfg = HydraConfig.get()
    run_dir = Path(hydra_cfg.runtime.output_dir)
    if hydra_cfg.mode == RunMode.MULTIRUN:
        from semicrowd.run.sweep import run_job

        run_job(cfg, run_dir, Path(hydra_cfg.sweep.dir), hydra_cfg.sweep.subdir)
        return
    try:
        from semicrowd.run.execute import execute
        from semicrowd.run.show import show_run

        show_run(execute(cfg, run_dir), run_dir)
    except Exception as error:
        _errors.append(error)


def main(arguments: Sequence[str]) -> int:
    """Run ``src/train.py`` with the arguments after its name; the exit code."""
    if "-h" in arguments or "--help" in arguments:
        print(help_page(CONF), end="")
        return 0
    overrides = [a for a in arguments if "=" in a and not a.startswith("-")]
    try:
        check_flags(arguments)
        expanded = place_output(expand_seeds(arguments), overrides)
        _prepare_environment(arguments)
        sys.argv = [sys.argv[0], *expanded]
        hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(job)()
        if _errors:
            raise _errors[0]
    except KeyboardInterrupt:
        print("interrupted; the same command with resume=true goes on", file=sys.stderr)
        return 130
    except Exception as error:
        if is_mistake(error):
            print(f"error: {explain(error, known_keys(CONF), overrides)}", file=sys.stderr)
            return 2
        if isinstance(error, OSError) and not is_sweep(arguments):
            print(f"error: {error.filename or 'a file'}: cannot be used: {error.strerror or error}", file=sys.stderr)
            return 2
        traceback.print_exc()
        return 1
    finally:
        for path, ancestor in _made:
            remove_empty(path, keep=ancestor)
    return 0


def _prepare_environment(arguments: Sequence[str]) -> None:
    """Settings that must be there before torch and the worker processes start."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions come here instead of being printed by Hydra
    os.environ["SEMICROWD_COMMAND"] = shlex.join(["python", "src/train.py", *arguments])
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the same sums in every run on a GPU
    if any(a.startswith("hydra/launcher=") and a != "hydra/launcher=basic" for a in arguments):
        # Torch's threads spin against each other when several processes share the cores.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("MKL_NUM_THREADS", "1")
