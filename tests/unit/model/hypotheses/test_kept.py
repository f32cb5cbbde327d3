"""The record of observations: what was observed stays what it was."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from credo.core.frozen import ReadOnlyList
from credo.model.hypotheses.hypotheses import Hypotheses


def half(x):
    return 0.5


def fifth(x):
    return 0.2


FUNCTIONS = {"half": half, "fifth": fifth}


def test_an_array_that_is_changed_later_does_not_change_the_history():
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    h = Hypotheses(FUNCTIONS).observe(rows)
    rows[:] = 99
    assert [x.tolist() for x in h.history.observations[1:]] == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="read-only"):
        h.history.observations[1][0] = 99


@pytest.mark.parametrize(
    "given",
    [[1, [2, 3]], {"x": [2, 3]}, {1, 2}, bytearray(b"ab"), (1, [2, 3])],
    ids=lambda x: type(x).__name__,
)
def test_so_do_lists_dicts_and_sets(given):
    was = copy.deepcopy(given)
    h = Hypotheses(FUNCTIONS).observe_one(given)
    inner = given["x"] if isinstance(given, dict) else given
    if isinstance(inner, tuple):
        inner[1].append(99)
    else:
        getattr(inner, "append", getattr(inner, "add", None))(99)
    assert h.history.observations[1] == was
    assert h == Hypotheses(FUNCTIONS).observe_one(was)
    assert type(h.history.observations[1]) is not type(given) or isinstance(given, tuple)


def test_a_list_that_is_kept_cannot_be_written_to():
    h = Hypotheses(FUNCTIONS).observe_one([1, 2])
    (_, seen) = h.history.observations
    for write in (
        lambda: seen.append(3),
        lambda: seen.__setitem__(0, 3),
        lambda: seen.sort(),
        lambda: seen.__iadd__([3]),
    ):
        with pytest.raises(TypeError, match="part of a frozen value"):
            write()
    again = pickle.loads(pickle.dumps(h))
    assert again == h == copy.deepcopy(h)
    assert type(again.history.observations[1]) is ReadOnlyList


def test_arrays_are_read_only_after_a_pickle_too():
    h = pickle.loads(pickle.dumps(Hypotheses(FUNCTIONS).observe_one(np.zeros(2))))
    assert not h.history.observations[1].flags.writeable


def test_arrays_of_objects_and_rows_of_frames_are_copied():
    cells = np.empty(2, dtype=object)
    cells[:] = [1], [2]
    row = pd.Series([1.0, 2.0], index=["x", "y"])
    h = Hypotheses(FUNCTIONS).observe_one(cells).observe_one(row)
    cells[0].append(99)
    row["x"] = 99
    assert h.history.observations[1].tolist() == [[1], [2]]
    assert h.history.observations[2].tolist() == [1, 2]


def test_a_likelihood_sees_a_list_as_a_list():
    h = Hypotheses({"a": lambda x: 0.5 if isinstance(x, list) and [0, *x] == [0, 1, 2] else 0.1})
    assert h.observe_one([1, 2]).log_evidence == pytest.approx(np.log(0.5))
