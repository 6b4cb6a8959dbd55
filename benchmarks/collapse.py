"""Why SCDC loses its clusters on MNIST: the first training steps from a cold start, with one thing changed at a time.

    python benchmarks/collapse.py --out recorded/collapse.csv --figure docs/images/collapse.svg

A row for each variant, seed and step; docs/collapse.md reads them. Labels are used for the column ``nmi`` alone.
"""

import argparse
import contextlib
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytorch_lightning as pl
import torch
from sklearn.metrics import normalized_mutual_info_score

from semicrowd import SCDC
from semicrowd.data import answers
from semicrowd.data.mnist import load_mnist
from semicrowd.figures.style import COLOURS, new_figure, tidy
from semicrowd.models.scdc import SCDC as Model
from semicrowd.models.scdc_terms import ItemTerms, kl_to_components

#: Steps, batch and test images that are looked at; a batch of 128 takes four times as long and collapses alike.
STEPS, BATCH, LOOKED_AT = 300, 32, 500
LOOKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 80, 100, 150, 200, 250, 300)
#: SCDC's first means as BayesSCDC's; the paper does not state their scale, and the estimator has the authors', .19.
FAR: dict[str, Any] = {"location_scale": 3.0}
#: Variant → parameters of the estimator beside the paper's protocol, and what the callback changes.
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "first means of scale 3": (FAR, {}),
    "the same, no answers": (FAR, {"answers": 0}),
    "the same, drop_mass = .01": (FAR | {"drop_mass": 0.01}, {}),
    "one draw of x for all clusters": (FAR | {"drop_mass": 0.99}, {}),  # the likeliest of 50 has at least .02
    "entropy of q(z | o) x 10, falling to 1 in 200 steps": (FAR, {"entropy": 10}),
    "first means of scale 3, learning rate of q / 100": (FAR, {"rate": 0.01}),
    "first means of scale .19": ({}, {}),
    "first means of scale .19, no answers": ({}, {"answers": 0}),
}
#: Variants in the figure; recorded/collapse.csv has all.
DRAWN = ("first means of scale 3", "first means of scale 3, learning rate of q / 100", "first means of scale .19")


class Enough(Exception):
    """All steps have been looked at."""


class Changed(Model):
    """SCDC whose entropy of q(z | o) counts ``entropy`` times."""

    entropy = 1.0

    def item_terms(self, *given: Any, **more: Any) -> ItemTerms:
        """The terms of L_local."""
        terms = super().item_terms(*given, **more)
        negative = (terms.log_z.exp() * terms.log_z).sum(-1)
        return terms._replace(kl_z=terms.kl_z + (self.entropy - 1) * negative)


class Look(pl.Callback):
    """Clusters, saturation and gradients of q(z | o) after some steps."""

    def __init__(self, items: torch.Tensor, labels: np.ndarray, change: dict[str, float]) -> None:
        self.items, self.labels, self.change, self.rows = items, labels, change, list[dict[str, float]]()

    def on_train_start(self, trainer: pl.Trainer, module: Any) -> None:
        """Make the change, and measure what the clusters differ by before the first step."""
        model = module.model
        model.__class__ = Changed
        if "rate" in self.change:
            optimizer = trainer.optimizers[0]
            slow = list(model.classifier.parameters())
            quick = [p for p in optimizer.param_groups[0]["params"] if all(p is not one for one in slow)]
            group = {key: value for key, value in optimizer.param_groups[0].items() if key != "params"}
            optimizer.param_groups[0]["params"] = quick
            optimizer.add_param_group({**group, "params": slow, "base_lr": group["lr"] * self.change["rate"]})
        self.look(model, 0, math.nan)

    def on_train_batch_start(self, trainer: pl.Trainer, module: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        """The weight of the entropy falls geometrically."""
        first = self.change.get("entropy", 1.0)
        module.model.entropy = first ** max(0.0, 1 - batch_idx / 200)

    def on_train_batch_end(self, trainer: pl.Trainer, module: Any, out: Any, batch: Any, batch_idx: int) -> None:  # noqa: ARG002
        """Look at the clusters of the test images."""
        if batch_idx + 1 in LOOKS:
            gradients = [p.grad.norm() for p in module.model.classifier.parameters() if p.grad is not None]
            self.look(module.model, batch_idx + 1, float(torch.stack(gradients).norm()))
        if batch_idx + 1 == STEPS:
            raise Enough

    @torch.no_grad()
    def look(self, model: Any, step: int, gradient: float) -> None:
        """One row."""
        log_q = model.classify(self.items)
        shares, pairs = log_q.exp().mean(1)[0], torch.arange(model.num_clusters)
        of_items = model.encoder.of_items(self.items)
        item = torch.arange(len(self.items)).repeat_interleave(len(pairs))
        cluster = pairs.repeat(len(self.items))[None]
        mean, variance = model.encoder.of_pairs(of_items, item, cluster)
        kl = kl_to_components(mean, variance, model.location, model._scale())
        own = kl.gather(-1, cluster[..., None]).view(len(self.items), -1)
        top = log_q[0].argmax(-1).numpy()
        self.rows.append({
            "step": step, "effective_clusters": float(torch.special.entr(shares).sum().exp()),
            "mean_largest_q": float(log_q.exp().amax(-1).mean()),
            "kl_spread": float(own.mean(0).std()), "gradient_of_classifier": gradient,
            "nmi": float(normalized_mutual_info_score(self.labels, top)),
        })  # fmt: skip


def measure(variant: str, seed: int) -> pd.DataFrame:
    """Rows of one variant and seed."""
    given, change = VARIANTS[variant]
    data = load_mnist()
    known = answers.crowd(data) if change.get("answers", 1) else None
    assert data.test_features is not None
    assert data.test_labels is not None
    look = Look(torch.from_numpy(data.test_features[:LOOKED_AT]), data.test_labels[:LOOKED_AT], change)
    trainer = partial(
        pl.Trainer, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, callbacks=[look],
    )  # fmt: skip
    model = SCDC(protocol="paper", epochs=1, batch_size=BATCH, image_shape=(28, 28), trainer=trainer,
                 precision="auto", random_state=seed, **given)  # fmt: skip
    with contextlib.suppress(Enough):
        model.fit(data.features, pairs=known)
    return pd.DataFrame(look.rows).assign(variant=variant, seed=seed)


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Effective clusters and gradients by step, a line for each of DRAWN: the mean of the seeds."""
    figure = new_figure(10, 4.6, "SCDC on MNIST from a cold start, 50 clusters: the first 300 steps")
    left, right = figure.subplots(1, 2)
    for variant, colour in zip(DRAWN, COLOURS, strict=False):
        means = rows[rows["variant"] == variant].groupby("step").mean(numeric_only=True)
        left.plot(means.index, means["effective_clusters"], color=colour, label=variant)
        right.plot(means.index[1:], means["gradient_of_classifier"].iloc[1:].clip(lower=1e-6), color=colour)
    left.set_xscale("symlog")
    right.set(xscale="log", yscale="log")
    tidy(left, "clusters in use", "training step", "exp(entropy of the clusters' shares)")
    tidy(right, "gradient of the network q(z | o)", "training step", "norm, nats per item")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    """Measure, keep, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("recorded/collapse.csv"))
    parser.add_argument("--figure", type=Path, default=Path("docs/images/collapse.svg"))
    parser.add_argument("--seeds", type=int, default=2, help="0: draw what was measured before")
    options = parser.parse_args()
    tables: list[pd.DataFrame] = []
    for seed in range(options.seeds):
        for variant in VARIANTS:
            tables.append(measure(variant, seed))
            last = tables[-1].iloc[-1]
            print(f"{variant}, seed {seed}: {last.effective_clusters:.1f} clusters, NMI {last.nmi:.2f}", flush=True)
            pd.concat(tables).round(4).to_csv(options.out, index=False)
    draw(pd.read_csv(options.out), options.figure)


if __name__ == "__main__":
    main()
