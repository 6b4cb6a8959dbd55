"""What SCDC's sum over clusters costs."""

from bench import PAPER_BATCHES, Bench
from steps import step_seconds
from table import at_most, print_table


def scdc(bench: Bench) -> None:
    """A step of SCDC against one of BayesSCDC, and with ten times as many clusters, in float32."""
    common = PAPER_BATCHES | {"precision": "float32"}
    cases = (("bayes", 50), ("scdc", 50), ("scdc", 10), ("scdc", 100))
    models = [bench.model(name, common | {"n_clusters": K}) for name, K in cases]
    bayes, middle, few, many = step_seconds(models, bench.effort())
    rows = [
        (f"{what}, the paper's batches", f"{1e3 * one:.1f}", f"{1e3 * other:.1f}", f"{one / other:.2f}",
         at_most(one / other, bar))
        for what, one, other, bar in (
            ("SCDC against BayesSCDC at K = 50", middle, bayes, 3.0),
            ("SCDC at K = 100 against K = 10", many, few, 2.0),
        )
    ]  # fmt: skip
    print_table(("MNIST, float32", "ms a step", "against", "ratio", "bar"), rows)
