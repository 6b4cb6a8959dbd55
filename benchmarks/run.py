"""Speed, as ratios and seconds of one run on one core: ``make bench``.

Each figure is measured on this machine, now. Two threads where a subject says so; everything else on one.
"""

import argparse
import warnings
from functools import partial
from pathlib import Path

from bench import Bench
from curves import curves
from epochs import epochs, precision
from floor import floor
from full_size import full_size
from gibbs import gibbs
from gpu import gpu
from growth import growth
from intervals import intervals
from irrelevant import irrelevant
from large import large
from new_items import predict
from pairs import pairs
from questions import questions
from scaling import scaling
from scdc import scdc
from semicrowd.errors import UnreliableResultWarning, UserError
from semicrowd.estimators.base import threads_of_a_fit
from sizes import sizes
from tables import tables
from threads import threads
from time_to import time_to
from training import restarts

SUBJECTS = {
    "restarts": "20 restarts in one fit against one, on the pinwheel",
    "epochs": "seconds an epoch of both models, with and without answers, in float32 and bfloat16",
    "floor": "a step against its matrix products alone",
    "precision": "a step in float32 against bfloat16",
    "scdc": "SCDC against BayesSCDC, and its growth with the number of clusters",
    "curves": "seconds an epoch against numbers of images, answers, clusters and restarts",
    "pairs": "seconds an epoch and memory against numbers of pairs and items",
    "time_to": "seconds until a test accuracy, a default fit from scratch",
    "tables": "a default fit of a table with answers, both models, and its growth with items and answers",
    "growth": "time and memory of what starts are made of, up to a million items",
    "sizes": "co-training of images and Gaussians, up to a million items",
    "scaling": "what a step computes and moves, counted, and what 1 to 64 devices would do to it, calculated",
    "full_size": "three steps of Fig. 4b's SCDC at full size, float32 and bfloat16: time and memory",
    "gpu": "a step of every setting of `scaling` on one GPU, measured, beside what `scaling` calculates; needs a GPU",
    "large": "memory and time of a million answers, piece by piece, and a thousand times that",
    "threads": "a fit beside another busy process, with the machine's own threads and with one",
    "predict": "items a second that every method assigns, after a small fit",
    "questions": "answers to the questions of questions.csv, beside answers about random pairs",
    "irrelevant": "what columns that have nothing to do with the question cost co-training",
    "intervals": "how often intervals of annotators contain the true rates, by the form of the answers",
    "gibbs": "sweeps of the Dirichlet process mixtures on MNIST, and their growth with items and clusters",
}


def main() -> None:
    """Run all benchmarks, or those named."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        epilog="\n".join(f"{name:10} {what}" for name, what in SUBJECTS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", choices=[*SUBJECTS, []], metavar="NAME", help="which (default: all)")
    parser.add_argument("--quick", action="store_true", help="random images, few steps: the figures mean nothing")
    parser.add_argument("--figure", type=Path, metavar="PATH", help="where to draw the curves (default: nowhere)")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=UnreliableResultWarning)
    bench = Bench(arguments.quick)
    run = {
        "restarts": partial(restarts, arguments.quick),
        "epochs": partial(epochs, bench),
        "floor": partial(floor, bench),
        "precision": partial(precision, bench),
        "scdc": partial(scdc, bench),
        "curves": partial(curves, bench, arguments.figure),
        "pairs": partial(pairs, arguments.quick),
        "time_to": partial(time_to, bench),
        "tables": partial(tables, arguments.quick),
        "growth": partial(growth, arguments.quick),
        "sizes": partial(sizes, arguments.quick),
        "scaling": partial(scaling, arguments.quick),
        "full_size": partial(full_size, arguments.quick),
        "gpu": partial(gpu, arguments.quick),
        "large": partial(large, arguments.quick),
        "threads": partial(threads, arguments.quick),
        "predict": partial(predict, arguments.quick),
        "irrelevant": partial(irrelevant, arguments.quick),
        "intervals": partial(intervals, arguments.quick),
        "questions": partial(questions, arguments.quick),
        "gibbs": partial(gibbs, arguments.quick),
    }
    if arguments.quick:
        print("--quick: random images, few steps; the figures mean nothing")
    for name in arguments.names or SUBJECTS:
        print(f"\n## {name}: {SUBJECTS[name]}\n", flush=True)
        try:
            with threads_of_a_fit():
                run[name]()
        except UserError as error:
            print(f"not measured: {error}", flush=True)


if __name__ == "__main__":
    main()
