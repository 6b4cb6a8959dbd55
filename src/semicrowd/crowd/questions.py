"""What simulated annotators are asked about: the items, their pairs, and tasks of many items."""

import numpy as np

from semicrowd.errors import UserError


def annotated_items(num_items: int, num_annotated: int | None, rng: np.random.Generator) -> np.ndarray:
    """Sorted items that there are answers about, drawn uniformly; None: all."""
    if num_annotated is None or num_annotated >= num_items:
        return np.arange(num_items)
    return np.sort(rng.choice(num_items, num_annotated, replace=False))


def pair_of_number(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair a < b with number b (b − 1) / 2 + a."""
    b = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    # The root may be off by one where it is rounded.
    b -= b * (b - 1) // 2 > number
    b += b * (b + 1) // 2 <= number
    return number - b * (b - 1) // 2, b


def share_out(items: np.ndarray, sizes: list[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Tasks of distinct items, each item in as many tasks as any other, give or take one."""
    order = rng.permutation(items)
    shared = []
    for task_size in sizes:
        task, order = order[:task_size], order[task_size:]
        if len(task) < task_size:
            # A new round; the items that this task has from the last one come at its end.
            again = rng.permutation(items)
            late = np.isin(again, task)
            again = np.concatenate([again[~late], again[late]])
            missing = task_size - len(task)
            task, order = np.concatenate([task, again[:missing]]), again[missing:]
        shared.append(task)
    return shared


def check_enough(what: str, available: int, wanted: int, num_items: int) -> None:
    """Raise where more pairs are wanted than there are."""
    if wanted > available:
        raise UserError(f"annotations: {wanted} distinct {what} wanted, {num_items} annotated items have {available}")
