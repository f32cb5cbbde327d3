"""Numbers that the kernel reads while it cuts a file are those that float() reads of each cell."""

import io
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from credo import _core
from credo.data.columns.number_cells import UNSURE, NumberCells, as_texts
from credo.data.columns.numerals import as_int, as_number, text_numbers
from credo.data.sources.arrays import texts
from credo.data.sources.records import regular_batches

WORDS = ("", "NA", "?")
FIRST = [f"{i}.{i:03}" for i in range(64)]  # as many different numbers as make a column of numbers

digits = st.text("0123456789", min_size=1, max_size=24)
signs = st.sampled_from(["", "-", "+"])
decimals = st.builds("{}{}.{}".format, signs, digits, digits)
powers = st.builds("{}e{}".format, decimals, st.integers(-330, 330))
floats = st.floats(allow_nan=False, allow_infinity=False).map(repr)
odd = st.sampled_from(
    [
        "NA",
        "?",
        "x",
        "1,5",
        "0x10",
        "1_000",
        "inf",
        "1e309",
        "-1e-400",
        "007",
        "5.",
        ".5",
        ".",
        "-",
        "1.2.3",
        "é",
        "１",
    ]
)
cells = st.lists(decimals | powers | floats | digits | odd, min_size=1, max_size=60)


def columns_of(rows, words=WORDS, block=10**6):
    lines = (",".join(f'"{c}"' for c in row) for row in rows)
    data = "".join(f"{line}\n" for line in lines).encode()
    width = len(rows[0])
    made = regular_batches(
        io.BytesIO(data), ",", width, range(width), header=False, block=block, words=words
    )
    return list(made)


def value_of(text):
    return as_number(text.strip())


@given(cells)
@example(["0.1", "9007199254740993", "9007199254740993.0", "0.30000000000000004"])
def test_each_number_is_what_python_reads(given_cells):
    ((column, other),) = columns_of([(c, "a") for c in FIRST + given_cells])
    assert isinstance(column, NumberCells) and len(column) == 64 + len(given_cells)
    assert other.to_pylist() == ["a"] * len(column)
    assert as_texts(column).to_pylist() == FIRST + given_cells
    told = {row: (text, kind) for row, text, kind in column.odd}
    numbers = []
    for i, (text, value) in enumerate(
        zip(FIRST + given_cells, column.values.tolist(), strict=True)
    ):
        number = value_of(text)
        if i in told:
            assert told[i][0] == text and (number is None or told[i][1] == UNSURE)
            assert math.isnan(value)
        elif text in WORDS:
            assert math.isnan(value)
        else:
            assert value == number and math.copysign(1, value) == math.copysign(1, number)
            numbers.append((text, value))
    assert column.low == min(v for _, v in numbers) and column.high == max(v for _, v in numbers)
    assert column.points == any(as_int(t) is None for t, _ in numbers)
    assert column.fractions == any(v % 1 != 0 for _, v in numbers)
    assert dict(column.gone) == {w: given_cells.count(w) for w in WORDS if w in given_cells}


def neighbours(value):
    """Decimals at the middle between two doubles, and a little below and above it."""
    middle = (Fraction(value) + Fraction(math.nextafter(value, math.inf))) / 2
    text = format(Decimal(middle.numerator) / Decimal(middle.denominator), "f")
    return [text[:18], text[:19], text[:20], text]


@given(st.floats(1e-4, 1e15))
@example(4503599627370497.5)
@example(9007199254740993.0)
def test_rounding_at_the_middle_is_right(value):
    given_cells = neighbours(value)
    found = text_numbers(texts(given_cells))
    assert found.values.tolist() == [float(c) for c in given_cells]


@pytest.mark.parametrize("k", range(19))
def test_every_number_of_digits_after_the_point(k):
    rng = np.random.default_rng(k)
    for before in range(19 - k):
        many = [
            f"{'-' * (i % 2)}{rng.integers(10**before)}.{rng.integers(10**k):0{k}d}"
            for i in range(200)
        ]
        assert text_numbers(texts(many)).values.tolist() == [float(c) for c in many]


def test_few_different_numbers_are_codes():
    batches = columns_of([(str(i % 50), f"{i % 51}.0") for i in range(400)])
    assert not isinstance(batches[0][0], NumberCells) and isinstance(batches[0][1], NumberCells)


def test_of_few_records_those_with_fractions_are_numbers():
    ((a, b, c, d),) = columns_of([("1.5", "1", "2.0", "7.5"), ("2", "2", "3.0", "7.5")])
    assert isinstance(a, NumberCells) and a.values.tolist() == [1.5, 2.0]
    assert [x.to_pylist() for x in (b, c, d)] == [["1", "2"], ["2.0", "3.0"], ["7.5", "7.5"]]
    ((gaps, text),) = columns_of([("NA", "1.5"), ("1.5", "x"), ("2.5", "2.5")])
    assert (gaps.gone, gaps.low, gaps.high) == ({"NA": 1}, 1.5, 2.5)
    assert text.to_pylist() == ["1.5", "x", "2.5"]


def test_of_few_records_many_whole_numbers_are_numbers():
    rows = [(str(i), str(i % 20), str(2**53 + i), f"{i}.0") for i in range(25)]
    ((a, b, c, d),) = columns_of(rows)
    assert isinstance(a, NumberCells) and not (a.points or a.fractions)
    assert not any(isinstance(x, NumberCells) for x in (b, c, d))
    assert [x.to_pylist() for x in (b, c, d)] == [[r[i] for r in rows] for i in (1, 2, 3)]


def test_a_text_among_the_first_makes_no_numbers():
    ((column,),) = columns_of([(c,) for c in [*FIRST[:20], "x", *FIRST[20:], *FIRST]])
    assert column.to_pylist() == [*FIRST[:20], "x", *FIRST[20:], *FIRST]


def test_who_asks_for_texts_gets_texts_from_then_on():
    rows = [(f"{i}.5", f"{i}.25") for i in range(2_000)]
    data = "".join(f"{a},{b}\n" for a, b in rows).encode()
    batches = regular_batches(
        io.BytesIO(data), ",", 2, [0, 1], header=False, block=4_000, words=WORDS
    )
    kinds, seen = [], []
    for a, b in batches:
        kinds.append((isinstance(a, NumberCells), isinstance(b, NumberCells)))
        seen += zip(as_texts(a).to_pylist(), b.values.tolist(), strict=True)
    assert kinds[0] == (True, True) and set(kinds[1:]) == {(False, True)}
    assert seen == [(a, float(b)) for a, b in rows]


def test_texts_of_many_columns_are_those_of_each():
    rows = [[f"{i * j}.{j}" for j in range(1, 10)] for i in range(70)]
    (batch,) = columns_of(rows)
    for j in (3, 0, 8, 1, 2, 7, 4, 3, 5, 6):
        assert batch[j].texts().to_pylist() == [row[j] for row in rows]


def test_many_cells_that_are_no_numbers_end_it():
    rows = [(f"{i}.5" if i < 100 or i % 2 else "x",) for i in range(4_000)]
    batches = columns_of(rows, block=4_000)
    assert isinstance(batches[0][0], NumberCells) and not isinstance(batches[-1][0], NumberCells)
    assert [t for b in batches for t in as_texts(b[0]).to_pylist()] == [r[0] for r in rows]


def test_the_rows_that_are_there():
    ((column,),) = columns_of([(c,) for c in FIRST])
    there = np.arange(64) % 3 == 0
    part = column.rows(there)
    assert part.values.tolist() == [float(c) for c in FIRST[::3]]
    assert (part.low, part.high) == (0.0, 63.063)
    assert part.texts().to_pylist() == FIRST[::3]
    ((gaps,),) = columns_of([(c,) for c in [*FIRST, "NA"]])
    assert gaps.rows(np.arange(65) > 62).to_pylist() == ["63.063", "NA"]


def test_numbers_of_a_block_are_asked_for_once():
    records = _core.CsvRecords(",", 1, [0], [])
    with pytest.raises(ValueError, match="after it was read"):
        records.numbers()
    records.read(np.frombuffer(b"1\n", np.uint8), True)
    records.numbers()
    with pytest.raises(ValueError, match="once"):
        records.numbers()
    with pytest.raises(ValueError, match="beyond"):
        records.want_texts([1])
