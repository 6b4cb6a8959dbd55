"""Random items, pairs and tasks for simulated annotators."""

import numpy as np

from semicrowd.errors import UserError


def annotated_items(num_items: int, num_annotated: int | None, rng: np.random.Generator) -> np.ndarray:
    """Draw the items with answers uniformly; sorted. ``num_annotated`` None: all items."""
    if num_annotated is None or num_annotated >= num_items:
        return np.arange(num_items)
    return np.sort(rng.choice(num_items, num_annotated, replace=False))


def pair_of_number(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair a < b with number b (b − 1) / 2 + a."""
    b = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    # Rounding of the root can make b wrong by one.
    b -= b * (b - 1) // 2 > number
    b += b * (b + 1) // 2 <= number
    return number - b * (b - 1) // 2, b


def share_out(items: np.ndarray, sizes: list[int], rng: np.random.Generator) -> list[np.ndarray]:
    """Distribute items to tasks of given sizes, so that the numbers of tasks of two items differ by at most one."""
    order = rng.permutation(items)
    shared = []
    for task_size in sizes:
        task, order = order[:task_size], order[task_size:]
        if len(task) < task_size:
            # Start a new round through all items; items that are already in this task come last in it.
            again = rng.permutation(items)
            late = np.isin(again, task)
            again = np.concatenate([again[~late], again[late]])
            missing = task_size - len(task)
            task, order = np.concatenate([task, again[:missing]]), again[missing:]
        shared.append(task)
    return shared


def check_enough(what: str, available: int, wanted: int, num_items: int) -> None:
    """Raise an error if more pairs are requested than exist."""
    if wanted > available:
        raise UserError(f"annotations: {wanted} distinct {what} wanted, {num_items} annotated items have {available}")
