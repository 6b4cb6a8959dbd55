"""Hydra finds sweepers in packages of this name only; what a sweep does is in semicrowd.run.sweep."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

if TYPE_CHECKING:
    from hydra.plugins.launcher import Launcher


class JobSweeper(Sweeper):
    """Runs every combination of the values given with the launcher chosen; see :class:`semicrowd.run.sweep.Sweep`."""

    config: DictConfig
    hydra_context: HydraContext
    launcher: "Launcher"

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Hook of Hydra, before :meth:`sweep`."""
        self.config, self.hydra_context = config, hydra_context
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:
        """Hook of Hydra: run the jobs of these arguments."""
        from semicrowd.run.sweep import Sweep, combinations

        loader = self.hydra_context.config_loader
        overrides = OverridesParser.create(config_loader=loader).parse_overrides(arguments)

        def launch(jobs: Sequence[Sequence[str]], first: int) -> Any:
            return self.launcher.launch(jobs, initial_job_idx=first)

        Sweep(
            combinations(overrides),
            Path(self.config.hydra.sweep.dir),
            compose=lambda job: loader.load_sweep_config(self.config, job),
            launch=launch,
            serial=self.config.hydra.launcher["_target_"].endswith(".BasicLauncher"),
        ).run()
