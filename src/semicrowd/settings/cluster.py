"""What a sweep asks SLURM for, job by job; conf/hydra/launcher/slurm.yaml has them with these values."""

from dataclasses import dataclass

from semicrowd.settings.fields import Settings, each, number, setting, text, whole


def _option(value: object) -> str | None:
    fits = isinstance(value, str) and "=" in value and value[0] not in "-="
    return None if fits else "name=value of an option of sbatch, without dashes"


@dataclass(frozen=True)
class SlurmSettings(Settings):
    """Of ``hydra/launcher=slurm``. Machines and processes of a job are trainer.num_nodes and trainer.devices."""

    group = "hydra.launcher"

    partition: str | None = setting(None, "null: the cluster's own choice", text(), optional=True)
    account: str | None = setting(None, "that the time is booked on; null: your first", text(), optional=True)
    time: int = setting(240, "minutes, after which SLURM ends a job; resume=true goes on", whole(1))
    memory: float = setting(8, "GB of a machine", number(above=0))
    cpus: int | None = setting(None, "cores of a process; null: trainer.threads", whole(1), optional=True)
    gpus: int | None = setting(
        None, "of a machine; null: trainer.devices with trainer.accelerator=gpu, else none", whole(0), optional=True
    )
    at_once: int = setting(20, "jobs of the sweep at a time", whole(1))
    setup: tuple[str, ...] = setting((), "lines of shell before the job", each(text(), "[module load cuda]"))
    options: tuple[str, ...] = setting((), "others of sbatch", each(_option, "[qos=high,constraint=a100]"))
