"""Types and tables that are seldom met: each comes in as what it is, or is refused in a sentence."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.errors import InputError, TableError, UnknownNameError

Y = list("ababab")


def states(table, name="x", **options):
    return cr.read(table, {name: "discrete"}, **options).schema[name].states


# --- pandas -----------------------------------------------------------------------------------


def test_intervals_sparse_and_long_floats():
    breaks = pd.arrays.IntervalArray.from_breaks([0, 1, 2])
    frame = pd.DataFrame({"x": breaks.take([0, 1, 0, 1, 1, 0]), "y": Y})
    assert states(frame) == (pd.Interval(0, 1), pd.Interval(1, 2))
    sparse = pd.DataFrame({"x": pd.arrays.SparseArray([0, 0, 1, 0, 1, 0]), "y": Y})
    assert [type(s) for s in states(sparse)] == [int, int]
    long = pd.DataFrame({"x": np.array([0.5, 1.5] * 3, dtype=np.longdouble), "y": Y})
    assert [type(s) for s in states(long)] == [float, float]


# --- Arrow ------------------------------------------------------------------------------------


# --- NumPy, and what is no table ----------------------------------------------------------------


def test_masked_dates_and_matrices():
    dates = np.ma.array(np.array(["2024-01-01", "NaT", "2024-01-02"], "M8[D]"), mask=[0, 0, 1])
    table = cr.read({"x": dates, "y": ["a", "b", "a"]}, {"x": "discrete"})
    assert table.values("x").tolist() == [dt.date(2024, 1, 1), None, None]
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1, 2], [2, 1], [1, 1]])
    assert cr.read(matrix, columns=["a", "b"]).values("b").tolist() == [2, 1, 1]


def test_what_is_no_table_is_said_to_be_none():
    for column in (pa.array([1, 2]), pa.chunked_array([[1], [2]])):
        with pytest.raises(InputError, match=r"this is one column, .* Give it a name: \{'x'"):
            cr.read(column)
    for grouped in (pd.DataFrame({"a": [1]}).groupby("a"), pl.DataFrame({"a": [1]}).group_by("a")):
        with pytest.raises(InputError, match=r"GroupBy cannot be read\. Give a path"):
            cr.read(grouped)
    reader = pa.table({"x": ["a", "b"]}).to_reader()
    cr.read(reader)
    with pytest.raises(TableError, match="If it was read before, its rows are gone"):
        cr.read(reader)
    with pytest.raises(TableError, match="'b' has 1 row and 'a' has 2"):
        cr.read({"a": [1, 2], "b": [1]})


@pytest.mark.parametrize(
    "cells",
    [
        np.array([1 + 2j, 2.0, 1]),
        [1 + 2j, 2, 1],
        pd.Series([1 + 2j, 2.0, 1]),
        np.array([1, 2j, 1], dtype=object),
        [np.complex64(1j), 2, None],
    ],
    ids=["array", "list", "pandas", "objects", "of NumPy"],
)
def test_complex_numbers_are_set_aside(cells):
    """They stopped the read of an array, and were texts in a list and in pandas."""
    schema = cr.read({"z": cells, "y": ["u", "v", "u"]}).schema
    assert schema.names == ("y",)
    assert schema.column("z").kind == "unsupported"
    assert schema.set_aside["z"] == "cells of type complex numbers"
    with pytest.raises(TableError, match="'z' holds cells of type complex numbers"):
        cr.read({"z": cells}, {"z": "discrete"})


@pytest.mark.parametrize("kind", ["i2", "i8", "u4", "f4", "f8", "M8[s]", "m8[s]"])
def test_bytes_in_the_other_order_are_the_same_numbers(kind):
    cells = np.array([1, 2, 1, 2, 3]).astype(kind)
    other = cells.astype(cells.dtype.newbyteorder())
    words = {"a": "discrete"}
    masked = np.ma.array(other, mask=[0, 0, 0, 0, 1])
    assert cr.read({"a": other}, words).schema == cr.read({"a": cells}, words).schema
    assert cr.read({"a": other, "y": [1, 1, 2, 2, 1]}).schema.column("a").kind == (
        cr.read({"a": cells, "y": [1, 1, 2, 2, 1]}).schema.column("a").kind
    )
    assert cr.read({"a": masked}, words).schema == cr.read({"a": cells[:4]}, words).schema
    assert cr.read(np.stack([other, other], 1), words, columns=["a", "b"]).rows == 5


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a,b\n1,x\n2,y\n", "A path is one line, and this text has 3"),
        (b"rows.csv", "os.fsdecode"),
        (io.StringIO("a,b\n1,x\n"), "the path of its file"),
        (({"a": i} for i in range(3)), "Give list"),
    ],
)
def test_what_is_nearly_a_table_is_told_the_way_to_one(given, told):
    with pytest.raises(InputError, match=told) as caught:
        cr.read(given)
    assert "\n" not in str(caught.value) and "builtins" not in str(caught.value)


def test_a_number_for_the_weights_column_and_a_weight_that_is_none(put):
    frame = pd.DataFrame([[1, 2], [3, 4]])
    with pytest.raises(UnknownNameError, match="the text '0', not the number 0"):
        cr.read(frame, weights=0)
    path = put("a,w\nx,1\ny,abc\n", "w.csv")
    with pytest.raises(TableError, match="'abc', which is not a number") as caught:
        cr.read(path, weights="w")
    assert "missing=" not in str(caught.value)


def test_a_header_of_numbers_may_be_a_row(put):
    path = put("5.1,3.5\n4.9,3.0\n4.7,3.2\n", "iris.csv")
    assert any("if it is a row" in note for note in cr.read(path).schema.notes)
    assert not cr.read(path, columns=["a", "b"]).schema.notes
    path.write_text("0,1\n4.9,3.0\n4.7,3.2\n")  # as pandas numbers columns that have no names
    assert not cr.read(path).schema.notes


def test_the_report_is_the_same_through_every_parser_when_rows_have_weight_0(tmp_path):
    rows = ["?,$3", "null,N/A", "NA,1", "NA,x", "?,N/A", "1,$3", "2,5%", "3,-", "null,x", "1,n/a"]
    text = "a,b\n" + "\n".join(rows) + "\n"
    (tmp_path / "u8.csv").write_text(text)  # by our own parser, as dictionaries
    (tmp_path / "u16.csv").write_text(text, encoding="utf-16")  # by Arrow's, as texts
    weights = [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    told = [
        str(cr.read(tmp_path / name, weights=weights, memory=memory).schema).split("\n", 1)[1]
        for name in ("u8.csv", "u16.csv")
        for memory in (None, 1)
    ]
    assert told[1:] == told[:1] * 3
    assert "as NA ×2, null ×2, ? ×1" in told[0]


def test_an_empty_column_has_no_states_of_its_own(put):
    path = put("a,b\n,1\n,2\n,1\n", "rows.csv")
    for source in (path, {"a": [None, None, None], "b": [1, 2, 1]}):
        with pytest.raises(cr.errors.SchemaError, match="'a' needs at least one state"):
            cr.read(source, {"a": "discrete"})
        assert cr.read(source, {"a": ["no", "yes"]}).schema["a"].states == ("no", "yes")
