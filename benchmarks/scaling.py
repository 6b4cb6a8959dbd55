"""Many devices: a step's operations and bytes are counted here, the cluster is a calculation from them.

No cluster is measured. A process computes its step in the time of its products at a share of the device's published
peak, and of everything that it moves at the published bandwidth of the memory, one after the other; never faster than
the operations can be started. Then all wait for a ring all-reduce of the gradients, which nothing overlaps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from step_costs import Gradient, Setting, StepCost, step_cost
from steps import Effort, step_seconds
from table import print_table

#: So small that the step that is counted sees as many likely clusters as the first: all of them.
_STILL = 1e-9
_MNIST = {
    "batch_size": 128, "n_clusters": 50, "latent_dim": 8, "hidden": (500, 500),
    "likelihood": "bernoulli", "sampler": "pairs", "final_refits": 0,
    "learning_rate": _STILL,
}  # fmt: skip
_CIFAR = {
    "batch_size": 100, "sample_size": 200, "n_clusters": 10, "latent_dim": 64, "likelihood": "logistic",
    "sampler": "pairs", "final_refits": 0, "learning_rate": _STILL,
}  # fmt: skip
_FULL = {"architecture": "resnet", "channels": [64, 128, 256], "blocks": 2, "classifier_channels": 128}
_LAPTOP = {"architecture": "resnet", "channels": [8, 16, 32], "blocks": 2, "classifier_channels": 16}
_NAMES = {"bayes": "BayesSCDC", "scdc": "SCDC"}
#: Shares of a full step that are run, where the whole takes minutes.
_SHARES = (0.04, 0.08)


def settings() -> list[tuple[Setting, tuple[float, float] | None]]:
    """MNIST as App. B has it, with perceptrons and convolutions; CIFAR-10 at the laptop's and at full size."""
    found: list[tuple[Setting, tuple[float, float] | None]] = []
    for model, name in _NAMES.items():
        for kind in ("mlp", "conv"):
            given = _MNIST | {"architecture": kind}
            found.append((Setting(f"MNIST, {name}, {kind}", model, (28, 28), 60_000, given), None))
    for sizes, what in ((_LAPTOP, "small"), (_FULL, "full size")):
        for model, name in _NAMES.items():
            what_for = f"CIFAR-10, {name}, resnet, {what}"
            one = Setting(what_for, model, (3, 32, 32), 50_000, _CIFAR | sizes, 32, 240, 4000)
            found.append((one, _SHARES))
    return found


@dataclass(frozen=True)
class Device:
    """What a step is calculated with.

    Attributes
    ----------
    what : for people
    speed : floating-point operations a second that products reach: a share of the published peak
    memory : bytes a second
    launch : seconds between two operations that are started
    width : bytes of a number in products and maps, of 4 that are counted
    """

    what: str
    speed: float
    memory: float
    launch: float
    width: float

    def seconds(self, cost: StepCost) -> float:
        """Of a step on one device."""
        moved = cost.moved * self.width / 4
        return max(cost.operations * self.launch, cost.flop / self.speed + moved / self.memory)


@dataclass(frozen=True)
class Cluster:
    """Devices and the lines between them.

    Attributes
    ----------
    near, far : bytes a second each way of a device within a machine and between machines
    latency : seconds of one of the ring's messages
    together : devices of a machine
    """

    device: Device
    near: float
    far: float
    latency: float
    together: int

    def exchange(self, gradient: Gradient, devices: int) -> float:
        """Seconds of a ring all-reduce: every device sends and takes 2 (n − 1) / n of the gradient's bytes."""
        if devices == 1:
            return 0.0
        line = self.near if devices <= self.together else self.far
        share = 2 * (devices - 1) / devices
        return share * (gradient.networks + gradient.natural) / line + 2 * (devices - 1) * self.latency


#: Published peaks of dense products, bfloat16 and float32 without tensor cores, and memory.
_UTILISATION = 0.35
H100 = Device("H100, bfloat16", _UTILISATION * 989e12, 3.35e12, 5e-6, 2)
H200 = Device("H200, bfloat16", _UTILISATION * 989e12, 4.8e12, 5e-6, 2)
H100_FLOAT = Device("H100, float32", _UTILISATION * 67e12, 3.35e12, 5e-6, 4)
#: Both speeds are fitted to the four steps that the table of the check has.
_CORE = Device("a core, float32", 90e9, 15e9, 10e-6, 4)
GPUS = Cluster(H100, 300e9, 50e9, 10e-6, 8)
CORES = Cluster(_CORE, 10e9, 1.25e9, 50e-6, 2)
DEVICES = (1, 2, 4, 8, 16, 32, 64)


def simulated(setting: Setting, cost: StepCost, gradient: Gradient, cluster: Cluster) -> list[tuple[float, float]]:
    """Milliseconds of a step, and seconds of an epoch, for each number of devices."""
    found = []
    for devices in DEVICES:
        seconds = cluster.device.seconds(cost) + cluster.exchange(gradient, devices)
        steps = max(1, (setting.num_items - setting.num_annotated) // (setting.given["batch_size"] * devices))
        found.append((1e3 * seconds, steps * seconds))
    return found


def scaling(quick: bool = False) -> None:
    """Count, then calculate; ``quick`` the first two settings alone."""
    some = settings()[:2] if quick else settings()
    measured = [(one, step_cost(one, shares), Gradient.of(one.module())) for one, shares in some]
    _print_counts(measured)
    print("\nA step on one core: calculated, and measured as a check of the calculation\n")
    effort = Effort(1, 2, 1) if quick else Effort(1, 5, 2)
    rows = []
    for (setting, cost, _), (_, shares) in zip(measured, some, strict=True):
        if shares is None:
            seconds = step_seconds([setting.module()], effort)[0]
            rows.append((setting.what, f"{1e3 * _CORE.seconds(cost):.3g}", f"{1e3 * seconds:.3g}"))
    print_table(("setting", "ms, calculated", "ms, measured"), rows)
    for cluster in (GPUS, CORES):
        print(f"\nSimulated, {cluster.device.what}: ms a step; s an epoch\n")
        table: list[tuple[str, ...]] = []
        for setting, cost, gradient in measured:
            cells = [f"{step:.3g}; {epoch:.3g}" for step, epoch in simulated(setting, cost, gradient, cluster)]
            table.append((setting.what, *cells))
        print_table(("setting, devices:", *map(str, DEVICES)), table)
    print("\nSimulated: hours of 200 epochs on one device\n")
    table = []
    for setting, cost, _ in measured:
        steps = (setting.num_items - setting.num_annotated) // setting.given["batch_size"]
        hours = [f"{200 * steps * device.seconds(cost) / 3600:.3g}" for device in (H100_FLOAT, H100, H200, _CORE)]
        table.append((setting.what, *hours))
    print_table(("setting", H100_FLOAT.what, H100.what, H200.what, _CORE.what), table)


def _print_counts(measured: Sequence[tuple[Setting, StepCost, Gradient]]) -> None:
    rows = [
        (setting.what, f"{cost.images:.0f}", f"{cost.flop / 1e9:.3g}", f"{cost.moved / 1e9:.3g}",
         f"{cost.operations:.0f}", f"{gradient.networks / 1e6:.3g}", f"{gradient.natural / 1e6:.3g}",
         f"{100 * gradient.natural / (gradient.natural + gradient.networks):.2g}")
        for setting, cost, gradient in measured
    ]  # fmt: skip
    print_table(
        ("step of one process, float32", "images", "GFLOP", "GB moved", "operations", "MB of the networks' gradient",
         "MB of η's", "% of both"), rows,
    )  # fmt: skip
