"""Answers for properties that must hold of any."""

import numpy as np
from hypothesis import strategies as st

from semicrowd.crowd.annotations import PairAnnotations


@st.composite
def any_answers(draw: st.DrawFn, tasks: bool | None = None, max_pairs: int = 40) -> PairAnnotations:
    """Some answers about a few items, with gaps among the ids, repetitions and contradictions; perhaps with tasks."""
    num_items = draw(st.integers(2, 25))
    num_pairs = draw(st.integers(1, max_pairs))
    item = st.integers(0, num_items - 1)
    pair = st.tuples(item, item).filter(lambda ends: ends[0] != ends[1])
    i, j = np.array(draw(st.lists(pair, min_size=num_pairs, max_size=num_pairs))).T
    label = draw(st.lists(st.integers(0, 1), min_size=num_pairs, max_size=num_pairs))
    names = draw(st.lists(st.integers(0, 3), min_size=num_pairs, max_size=num_pairs))
    worker = np.unique(names, return_inverse=True)[1]
    with_tasks = draw(st.booleans()) if tasks is None else tasks
    task = draw(st.lists(st.integers(0, 4), min_size=num_pairs, max_size=num_pairs)) if with_tasks else None
    return PairAnnotations.from_arrays(i, j, worker, label, num_items=num_items, task=task)
