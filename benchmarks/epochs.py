"""Seconds an epoch on MNIST, and what bfloat16 saves."""

from typing import Any

from bench import PAPER_BATCHES, Bench
from steps import batches_of, images_per_step, step_seconds
from table import at_least, at_most, print_table

_PRECISIONS = ("float32", "bfloat16")
#: What, model, settings, whether with answers, and the bars in seconds an epoch in float32 and in bfloat16.
_CASES: tuple[tuple[str, str, dict[str, Any], bool, tuple[float | None, float | None]], ...] = (
    ("BayesSCDC, crowd, the paper's batches", "bayes", PAPER_BATCHES, True, (13.5, 7.0)),
    ("BayesSCDC, crowd, 3 tasks a step", "bayes", {"sample_size": 3}, True, (10.0, 5.5)),
    ("BayesSCDC, no answers", "bayes", {}, False, (5.0, 3.0)),
    ("SCDC, crowd, the paper's batches", "scdc", PAPER_BATCHES, True, (30.0, None)),
)


def epochs(bench: Bench) -> None:
    """Seconds of a step times steps of an epoch."""
    rows = []
    for what, name, given, crowd, bars in _CASES:
        models = [bench.model(name, given | {"precision": precision}, crowd) for precision in _PRECISIONS]
        images, number = images_per_step(models[0]), len(batches_of(models[0]))
        for precision, bar, step in zip(_PRECISIONS, bars, step_seconds(models, bench.effort()), strict=True):
            epoch = step * number
            rows.append((what, precision, f"{images:.0f}", f"{1e3 * step:.1f}", str(number), f"{epoch:.2f}",
                         at_most(epoch, bar)))  # fmt: skip
    print_table(("MNIST", "networks in", "images a step", "ms a step", "steps", "s an epoch", "bar"), rows)


def precision(bench: Bench) -> None:
    """A step in float32 against the same in bfloat16."""
    models = [bench.model("bayes", PAPER_BATCHES | {"precision": one}) for one in _PRECISIONS]
    single, half = step_seconds(models, bench.effort())
    row = (_CASES[0][0], f"{1e3 * single:.1f}", f"{1e3 * half:.1f}", f"{single / half:.2f}", at_least(single / half, 2))
    print_table(("MNIST", "ms a step, float32", "bfloat16", "ratio", "bar"), [row])
