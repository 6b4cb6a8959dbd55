"""Settings of the SLURM jobs of a sweep; conf/hydra/launcher/slurm.yaml contains them with these values."""

from dataclasses import dataclass

from semicrowd.settings.fields import Settings, each, number, setting, text, whole


def _option(value: object) -> str | None:
    fits = isinstance(value, str) and "=" in value and value[0] not in "-="
    return None if fits else "name=value of an option of sbatch, without dashes"


@dataclass(frozen=True)
class SlurmSettings(Settings):
    """Settings of ``hydra/launcher=slurm``. trainer.num_nodes and trainer.devices set machines and processes."""

    group = "hydra.launcher"

    partition: str | None = setting(None, "SLURM partition; null: the cluster's default", text(), optional=True)
    account: str | None = setting(None, "account to be charged; null: your default account", text(), optional=True)
    time: int = setting(
        240, "time limit of a job in minutes; resume=true continues a job that reached it", whole(1)
    )
    memory: float = setting(8, "memory on each machine, in GB", number(above=0))
    cpus: int | None = setting(None, "cores of each process; null: trainer.threads", whole(1), optional=True)
    gpus: int | None = setting(
        None, "GPUs on each machine; null: trainer.devices with trainer.accelerator=gpu, else none", whole(0),
        optional=True,
    )
    at_once: int = setting(20, "maximal number of jobs that run at the same time", whole(1))
    setup: tuple[str, ...] = setting((), "shell commands before the job", each(text(), "[module load cuda]"))
    options: tuple[str, ...] = setting((), "further options of sbatch", each(_option, "[qos=high,constraint=a100]"))
