"""Dictionaries of batches: what is kept from one batch to the next, and positions that are damaged."""

import numpy as np
import pyarrow as pa
import pytest

from credo.core.schema import Variable
from credo.data.columns.cells import Tokens
from credo.data.columns.encoder import Encoder
from credo.data.sources.arrays import sound
from credo.errors import TableError

AB = Variable("x", "discrete", ("a", "b"))


def listed(positions, values, kind=None):
    where = pa.array(positions, kind or pa.int32())
    return pa.DictionaryArray.from_arrays(where, pa.array(values), safe=False)


def encoded(encoder, cells, first=0):
    return encoder.encode(cells, lambda i: first + i + 1).tolist()


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_each_batch_is_told_by_its_own_dictionary(kind):
    encoder = Encoder(AB, Tokens(("?",), False))
    for positions, values, codes in [
        ([0, 1, 0], ["a", "b"], [0, 1, 0]),
        ([1, 1, 0], ["a", "b"], [1, 1, 0]),  # the same dictionary again
        ([0, 1, 0], ["b", "a"], [1, 0, 1]),  # its order turned round
        ([0, None, 1], ["a", "b"], [0, 2, 1]),
        ([0, 1, 2], ["a", "?", None], [0, 2, 2]),  # a word for missing, a null in the dictionary
        ([], ["a"], []),
    ]:
        assert encoded(encoder, listed(positions, values, kind)) == codes


def test_a_value_that_is_no_state_matters_where_a_row_has_it():
    encoder = Encoder(AB, Tokens((), False))
    assert encoded(encoder, listed([0, 1], ["a", "b", "c"])) == [0, 1]
    assert encoded(encoder, listed([1, 1], ["a", "b", "c"])) == [1, 1]
    with pytest.raises(TableError, match=r"Row 7 .*'c'"):
        encoded(encoder, listed([0, 0, 2], ["a", "b", "c"]), first=4)


@pytest.mark.parametrize("arity", [3, 15, 16, 17, 300])
def test_any_number_of_states(arity):
    states = [f"s{i}" for i in range(arity)]
    encoder = Encoder(Variable("x", "discrete", tuple(states)), Tokens((), False))
    rng = np.random.default_rng(arity)
    for _ in range(3):
        turned = rng.permutation(arity)
        positions = rng.integers(0, arity, 5000).astype(np.int32)
        cells = listed(positions, [states[i] for i in turned])
        assert encoded(encoder, cells) == turned[positions].tolist()


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32()])
@pytest.mark.parametrize(("positions", "bad"), [([0, 1, 2], 2), ([0, -1, 1], -1)])
def test_positions_beyond_the_dictionary_are_refused(positions, bad, kind):
    with pytest.raises(TableError, match=f"position {bad} of a dictionary of 2"):
        sound(listed(positions, ["a", "b"], kind), "x", "rows.arrow")


def test_what_a_null_has_for_a_position_says_nothing():
    there = pa.py_buffer(np.array([0b01], dtype=np.uint8))
    beyond = pa.py_buffer(np.array([1, 9], dtype=np.int32))
    where = pa.Array.from_buffers(pa.int32(), 2, [there, beyond])
    cells = pa.DictionaryArray.from_arrays(where, pa.array(["a", "b"]), safe=False)
    assert sound(cells, "x", "rows.arrow") is cells
    assert encoded(Encoder(AB, Tokens((), False)), cells) == [1, 2]
