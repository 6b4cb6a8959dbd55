"""Time and memory as ratios and seconds of this machine, now: ``make bench``.

Every subject runs on one thread, but where it says so.
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial

import fits
import growth
import mnist
import paper_sizes
import studies
from gibbs import gibbs
from semicrowd.errors import UnreliableResultWarning, UserError
from semicrowd.estimators.base import threads_of_a_fit


def subjects(quick: bool) -> dict[str, tuple[Callable[[], None], str]]:
    """Name → what measures it, and a line about it."""
    bench = mnist.Bench(quick)
    return {
        "restarts": (partial(fits.restarts, quick), "20 restarts in one fit against one, on the pinwheel"),
        "steps": (partial(mnist.steps, bench), "a step of both models in float32 and bfloat16, and its products alone"),
        "curves": (partial(mnist.curves, bench), "seconds an epoch against numbers of images, clusters and restarts"),
        "pairs": (partial(growth.pairs, quick), "an epoch and its memory against numbers of pairs and items"),
        "time_to": (partial(mnist.time_to, bench), "seconds until a test accuracy, a default fit of MNIST"),
        "tables": (partial(fits.tables, quick), "default fits of tables with answers, both models"),
        "sizes": (partial(fits.sizes, quick), "co-training of images and Gaussians, up to a million items"),
        "growth": (partial(growth.growth, quick), "co-training's search of neighbours, up to a million items"),
        "scaling": (partial(paper_sizes.scaling, quick), "what a step computes and moves, counted"),
        "full_size": (partial(paper_sizes.full_size, quick), "three steps of Fig. 4b's SCDC at full size"),
        "gpu": (partial(paper_sizes.gpu, quick), "a step of every setting of `scaling` on a GPU"),
        "large": (partial(growth.large, quick), "memory and time of a million answers, piece by piece"),
        "threads": (partial(fits.threads, quick), "a fit beside another busy process: the user's threads, and one"),
        "predict": (partial(fits.predict, quick), "items a second that every method assigns, after a small fit"),
        "gibbs": (partial(gibbs, quick), "sweeps of the Dirichlet process mixtures, their growth with items"),
        "questions": (partial(studies.questions, quick), "answers to questions.csv, beside random pairs"),
        "irrelevant": (partial(studies.irrelevant, quick), "what columns without information cost co-training"),
        "intervals": (partial(studies.intervals, quick), "how often intervals of annotators contain the true rates"),
    }


def main() -> None:
    """Run all benchmarks, or those named."""
    every = subjects(quick=False)
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        epilog="\n".join(f"{name:10} {what}" for name, (_, what) in every.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", choices=[*every, []], metavar="NAME", help="which (default: all)")
    parser.add_argument("--quick", action="store_true", help="random images, few steps: the figures mean nothing")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=UnreliableResultWarning)
    chosen = subjects(arguments.quick)
    if arguments.quick:
        print("--quick: random images, few steps; the figures mean nothing")
    for name in arguments.names or chosen:
        measure, what = chosen[name]
        print(f"\n## {name}: {what}\n", flush=True)
        try:
            with threads_of_a_fit():
                measure()
        except UserError as error:
            print(f"not measured: {error}", flush=True)


if __name__ == "__main__":
    main()
