"""Answers, links, shapes of Beta distributions and moved networks that tests of several folders begin with."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch import nn

from semicrowd.crowd.annotations import PairAnnotations
from semicrowd.crowd.answer_files import AnswerTable
from semicrowd.crowd.links import Links

N = TypeVar("N", bound=nn.Module)
#: Beta shapes of two restarts and three annotators, [R, M, 2].
SENSITIVITY = np.array([[[9.0, 1.5], [4.0, 4.0], [2.0, 7.0]], [[30.0, 2.0], [1.0, 1.0], [5.0, 2.5]]])
SPECIFICITY = np.array([[[6.0, 2.0], [20.0, 1.2], [3.0, 3.0]], [[2.0, 2.0], [8.0, 1.0], [1.5, 4.0]]])


def answers_of(rows: list[tuple[int, int, int, int]], num_items: int) -> PairAnnotations:
    """Answers by rows of two items, annotator and label."""
    i, j, worker, label = np.array(rows).T
    return PairAnnotations.from_arrays(i, j, worker, label, num_items=num_items)


def read_csv_answers(path: Path, num_items: int, ids: Sequence[str] | None = None) -> PairAnnotations:
    """The answers of a file about ``num_items`` items."""
    return AnswerTable.of(path).about(ids or num_items)


def written(folder: Path, text: str, name: str = "answers.csv") -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def rows(answers: PairAnnotations | None) -> list[tuple[str, int, int, int]]:
    """Annotator, items and label of each answer, in their order."""
    names = [answers.worker_names[m] for m in answers.worker]
    return sorted(zip(names, answers.i.tolist(), answers.j.tolist(), answers.label.tolist(), strict=True))


def random_links(rng: np.random.Generator, num_items: int, count: int) -> Links:
    """Links of either kind between different pairs, each of one to three answers."""
    first, second = np.triu_indices(num_items, k=1)
    chosen = rng.choice(len(first), count, replace=False)
    return Links(first[chosen], second[chosen], rng.random(count) < 0.5, rng.integers(1, 4, count).astype(float))


def signs_of_all_pairs(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pair of items, 1 for one class and −1 for two."""
    i, j = np.triu_indices(len(labels), k=1)
    return i, j, np.where(labels[i] == labels[j], 1.0, -1.0)


def generators(*seeds: int) -> list[torch.Generator]:
    """One for each restart."""
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def shaken(net: N, by: float = 0.3) -> N:
    """Every parameter moved, so that no zero at the start hides an error."""
    generator = torch.Generator().manual_seed(99)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(by * torch.randn(parameter.shape, generator=generator))
    return net


class Trap:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)
