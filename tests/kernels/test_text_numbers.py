"""The kernel that reads numbers from texts, against Python's own reading of each."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credo import _core
from credo.data.columns.numerals import as_int, as_number, numbers_of, text_numbers
from credo.data.sources.arrays import texts

PIECES = "0 1 7 25 900 . - + e E e5 1e-3 x _ , NA inf nan é １ 1e309 1e-400 0x1 007"
pieces = st.sampled_from([*PIECES.split(), " ", "\t", "\u00a0", "\x1c"])
cells = st.lists(st.lists(pieces, max_size=4).map("".join), max_size=30)


@given(cells, st.lists(st.sampled_from(["NA", "", "-", "7", "x", "é"]), unique=True))
def test_texts_are_read_as_python_reads_them(given_cells, words):
    found = text_numbers(texts(given_cells), words)
    for text, value, bad, gone, decimal in zip(
        given_cells, found.values, found.bad, found.gone, found.decimal, strict=True
    ):
        plain = text.strip()
        number = None if plain in words else as_number(plain)
        assert gone == (plain in words)
        assert bad == (plain not in words and number is None)
        assert value == number if number is not None else not np.isfinite(value)
        assert decimal == (number is not None and as_int(plain) is None) or "1e309" in plain


@given(cells)
def test_any_offset_and_width_of_offsets(given_cells):
    whole = pa.concat_arrays([texts(["5", "x"]), texts(given_cells)])[2:]
    wide = whole.cast(pa.large_string())
    for array in (whole, wide):
        assert np.array_equal(
            text_numbers(array).values, text_numbers(texts(given_cells)).values, equal_nan=True
        )


def test_nulls_are_gone():
    found = text_numbers(pa.array(["1", None, "x", ""]))
    assert found.gone.tolist() == [False, True, False, False]
    assert found.bad.tolist() == [False, False, True, True]


@pytest.mark.parametrize("offsets", [[0, 2, 1], [0, 9], [-1, 1]])
def test_offsets_must_be_those_of_the_bytes(offsets):
    with pytest.raises(ValueError, match="'offsets'"):
        _core.read_numbers(np.array(offsets, np.int32), np.zeros(3, np.uint8), [])


def test_a_long_row_of_digits_takes_no_longer_than_its_length():
    assert np.isnan(numbers_of(["1" * 200_000 + "x"])[0])
    assert as_number("1" * 200_000 + "x") is None
