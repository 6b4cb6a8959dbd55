"""What likelihoods make of test images, in numbers that can be compared: ``python benchmarks/likelihoods.py RUN …``.

A density and a probability cannot. So each pixel of a Gaussian gets the integral over the step of 1/255 that its value
stands for, the lowest and the highest value all that lies beyond, as the discretised logistic has it. Runs are those of
SCDC on images of 256 values, by ``python src/train.py model=scdc …``.
"""

import argparse
import math
from pathlib import Path
from typing import NamedTuple

import torch
import yaml
from jaxtyping import Float
from torch import Tensor
from torch.special import log_ndtr

from semicrowd.estimators.persistence import load
from semicrowd.fitting.threads import threads_of_a_fit
from semicrowd.models.scdc import SCDC
from semicrowd.nets.decoder import Decoder, GaussianDecoder
from semicrowd.nets.recognition import positive
from semicrowd.random import torch_stream
from semicrowd.run.inputs import load_inputs
from table import print_table

#: Draws of x for each image and cluster.
DRAWS = 4
_STEP = 1 / 255


class Found(NamedTuple):
    """Of a run's test images: bits a number that bound −log₂ p(o) from above, root of the mean squared error."""

    bits: float
    error: float


class SteppedGaussian(Decoder):
    """A Gaussian decoder's probabilities of 256 values from 0 to 1, for the same network."""

    def mean(self, x: Float[Tensor, "R B d"]) -> Float[Tensor, "R B D"]:
        """μ(x)."""
        return self.net(x)[0]

    def log_likelihood(self, x: Float[Tensor, "R B d"], observed: Float[Tensor, "B D"]) -> Float[Tensor, "R B"]:
        """ln of the probability of every number's step, in nats."""
        mean, raw = (head.double() for head in self.net(x))
        scale = positive(raw, self.initial_variance).rsqrt()
        low = torch.where(observed < _STEP / 2, -math.inf, (observed - _STEP / 2 - mean) * scale)
        high = torch.where(observed > 1 - _STEP / 2, math.inf, (observed + _STEP / 2 - mean) * scale)
        # Φ(b) − Φ(a) = Φ(−a) − Φ(−b): in the lower tail there is no difference of two numbers that are nearly 1.
        low, high = torch.where(low > 0, -high, low), torch.where(low > 0, -low, high)
        upper = log_ndtr(high)
        return (upper + torch.log1p(-torch.exp(log_ndtr(low) - upper))).sum(-1).to(x.dtype)


@torch.no_grad()
def measured(model: SCDC, images: Float[Tensor, "N D"]) -> Found:
    """The bound over z and x (SCDC paper, eq. 3) and the error of E[o | E x] under q(z | o), of the first restart."""
    means = model.decoder
    if isinstance(means, GaussianDecoder):
        model.decoder = SteppedGaussian(means.net, means.initial_variance)
    noise, bound, squared = torch_stream(0, "benchmarks/likelihoods"), 0.0, 0.0
    for piece in model.pieces(images):
        for _ in range(DRAWS):
            terms = model.item_terms(piece, noise)
            bound += float((terms.reconstruction - terms.kl_z - terms.kl_x)[0].double().sum()) / DRAWS
        seen = means.mean(model.posterior(piece).latent_mean.to(model.device))[0]
        squared += float((seen.double() - piece).square().sum())
    model.decoder = means
    return Found(-bound / math.log(2) / images.numel(), math.sqrt(squared / images.numel()))


def main() -> None:
    """A row for each run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="directory of a finished run")
    rows = []
    for run in parser.parse_args().runs:
        content = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
        data, _ = load_inputs(content)
        model = load(run / "model.pt").model_
        assert data.test_features is not None
        with threads_of_a_fit(1):
            found = measured(model, torch.from_numpy(data.test_features))
        rows.append([run.name, model.settings.likelihood, f"{found.bits:.3f}", f"{found.error:.4f}"])
    print_table(["run", "likelihood", "bits a number, at most", "root of the mean squared error"], rows)


if __name__ == "__main__":
    main()
