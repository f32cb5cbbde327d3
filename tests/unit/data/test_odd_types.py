"""Types of cells that few tables have: huge numbers, half characters."""

from decimal import Decimal as D
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import credo as cr
from credo.errors import CredoWarning, TableError

Z = ["u", "v"] * 3


def set_aside(table):
    """Why the column a is not used."""
    with pytest.warns(CredoWarning, match="'a' was set aside"):
        return cr.read(table).schema.set_aside["a"]


# --- numbers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [D("Infinity"), D("2.5"), "x", 2.5])
def test_a_signaling_nan_is_missing(last):
    table = cr.read({"a": [D("1.5"), D("sNaN"), last], "z": list("xyx")}, {"a": "discrete"})
    assert table.schema.column("a").missing == 1


LARGE = [10**400, -(10**400), 10**5000, D("1e400"), Fraction(10**400)]


@pytest.mark.parametrize("large", LARGE, ids=range(5))
def test_a_whole_number_that_no_float_holds_is_doubtful(large):
    rows = range(0, 5000, 100)
    said = set_aside({"a": [large, *rows], "b": [1, 2, 1] * 17})
    assert said.startswith("row 1 holds ")
    assert said.endswith(", which is too large a number: no model can hold it")
    assert len(said) < 160


@pytest.mark.parametrize("large", [10**400, D("1e400"), Fraction(10**400)], ids=range(3))
def test_a_number_that_no_float_holds_among_more_than_can_be_states(large):
    cells = [large, *map(type(large), range(20_000))]
    assert "row 1 holds '1" in set_aside({"a": cells, "b": [1, *[2] * 20_000]})


def test_numbers_that_no_float_holds_in_files(put):
    cells = [(10**400, 1), *((i, i % 3) for i in range(0, 5000, 100))]
    lines = put("".join(f'{{"a": {a}, "b": {b}}}\n' for a, b in cells), "a.jsonl")
    text = put("a,b\n" + "".join(f"{a},{b}\n" for a, b in cells), "a.csv")
    for path in (lines, text):
        assert f"row 1 holds '1{'0' * 77}…, which is" in set_aside(path)


def test_a_state_is_zero_whichever_sign_its_first_row_has(put):
    cells = [-0.0, 0.0, 1.5] * 2
    path = put("a,z\n" + "".join(f"{a},{z}\n" for a, z in zip(cells, Z, strict=True)), "zero.csv")
    ordered = pa.DictionaryArray.from_arrays([0, 1] * 3, pa.array([-0.0, 1.5]), ordered=True)
    tables = [
        path,
        {"a": cells, "z": Z},
        {"a": [*cells, "x"], "z": [*Z, "u"]},
        pa.table({"a": cells, "z": Z}),
        pa.table({"a": ordered, "z": Z}),
        pd.DataFrame({"a": cells, "z": Z}),
    ]
    for table in tables:
        assert str(cr.read(table, {"a": "discrete"}).schema["a"].states[0]) == "0.0"


def test_nan_in_an_ordered_dictionary_is_missing():
    values = pa.array([1.5, float("nan"), 0.5])
    cells = pa.DictionaryArray.from_arrays([0, 1, 2] * 2, values, ordered=True)
    for table in (pa.table({"a": cells, "z": Z}), {"a": cells, "z": Z}):
        found = cr.read(table)
        assert found.schema["a"].states == (1.5, 0.5)
        assert found.schema.column("a").missing == 2


# --- dates and times --------------------------------------------------------------------------


# --- texts ------------------------------------------------------------------------------------


def broken_tables():
    yield {"a": ["x", "\ud800", "y"], "z": [1, 2, 1]}
    yield {"a": np.array(["x", "\ud800", "y"]), "z": [1, 2, 1]}
    yield [{"a": "x", "z": 1}, {"a": "\ud800", "z": 2}]
    yield pd.DataFrame({"a": pd.Series(["x", "\ud800"], dtype=object), "z": [1, 2]})


@pytest.mark.parametrize("table", list(broken_tables()), ids=range(4))
def test_half_a_character_is_refused_with_its_place(table):
    with pytest.raises(TableError, match=r"which is not whole|not whole Unicode"):
        cr.read(table)
