"""Cells of every Arrow type, known and unknown beforehand, and what a table gives out."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

import credo as cr
from credo.core.schema import Variable
from credo.data.columns.cells import Tokens, type_name
from credo.data.columns.encoder import Encoder
from credo.errors import InputError, TableError

D = Variable("d", "discrete", ("a", "b", "c"))
X = Variable("x", "continuous")


def row_of(index):
    return index + 1


def test_arrow_types_of_every_kind():
    table = cr.read(
        pa.table(
            {
                "view": pa.array(["a", "b", "a"], type=pa.string_view()),
                "large": pa.array(["a", None, "b"], type=pa.large_string()),
                "u8": pa.array([1, 2, 1], type=pa.uint8()),
                "dec": pa.array([decimal.Decimal("1.50"), decimal.Decimal("2.25"), None]),
                "half": pa.array(np.array([0.5, 1.5, 2.5], dtype=np.float16)),
                "bin": pa.array([b"x", b"y", b"x"]),
                "null": pa.nulls(3),
                "when": pa.array([datetime.datetime(2024, 1, d) for d in (1, 2, 3)]),
                "floats": pa.array([0.5, 1.5, 0.5]).dictionary_encode(),
            }
        )
    )
    kinds = {c.name: c.kind for c in table.schema.columns}
    assert kinds == {
        "view": "discrete", "large": "discrete", "u8": "discrete", "dec": "continuous",
        "half": "continuous", "bin": "unsupported", "null": "empty", "when": "date",
        "floats": "continuous",
    }  # fmt: skip
    assert type_name(pa.float16()) == "float" and type_name(pa.date32()) == "date"


def test_sliced_arrays_are_read_from_where_they_start():
    whole = pa.table(
        {"a": ["x", "y", "z", "y"], "n": [0.5, 1.5, None, 3.5], "t": [True, False, None, True]}
    )
    part = cr.read(whole.slice(1, 3), {"a": "discrete"})
    assert part.values("a").tolist() == ["y", "z", "y"]
    assert part.values("t").tolist() == [False, None, True]
    np.testing.assert_array_equal(part.values("n"), [1.5, np.nan, 3.5])
    coded = pa.array(["x", "y", "z", "y"]).dictionary_encode()
    assert cr.read({"a": coded.slice(2, 2), "b": [0, 1]}).values("a").tolist() == ["z", "y"]


def test_a_column_that_passes_255_and_65_535_values_midway():
    cells = np.concatenate(
        [np.zeros(200_000, int), np.arange(300), np.zeros(200_000, int), np.arange(9_000)]
    )
    cells = np.array([f"v{c}" for c in cells])
    table = cr.read({"v": cells}, {"v": "discrete"})
    assert table.schema["v"].arity == 9_000 and table.codes("v").dtype == np.uint16
    assert (table.values("v") == cells).all()


def test_types_that_change_between_batches(put):
    path = put("n,m\n" + "1,\n" * 600_000 + "2.5,7\n1,8\n")
    table = cr.read(path)
    assert table.schema["n"].states == (1, 2.5) and table.values("n")[-2] == 2.5
    assert table.schema["m"].states == (7, 8) and table.schema.column("m").missing == 600_000


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pa.array(["b", None, "a"]), [1, 3, 0]),
        (pa.array(["b", None, "a"]).dictionary_encode(), [1, 3, 0]),
        (np.array(["b", None, "?"], dtype=object), [1, 3, 3]),
        (pa.array(["?", "c", "c"]), [3, 2, 2]),
    ],
)
def test_encoding_states(cells, expected):
    codes = Encoder(D, Tokens(["?"], text=False)).encode(cells, row_of)
    assert codes.tolist() == expected and codes.dtype == np.uint8


def test_a_dictionary_may_list_states_that_no_row_has():
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a", "b", "unknown"]))
    assert Encoder(D, Tokens([], text=False)).encode(cells, row_of).tolist() == [0, 1, 0]
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 2, 0]), pa.array(["a", "b", "unknown"]))
    with pytest.raises(TableError, match=r"Row 12 of column 'd' holds 'unknown'"):
        Encoder(D, Tokens([], text=False)).encode(cells, lambda i: i + 11)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pa.array([1, 2, None]), [1, 2, np.nan]),
        (pa.array(["1.5", " 2 ", "NA"]), [1.5, 2, np.nan]),
        (pa.array([0.5, -9.0, 1.0]), [0.5, np.nan, 1.0]),
        (np.array([1, "2.5", None], dtype=object), [1, 2.5, np.nan]),
        (pa.nulls(2), [np.nan, np.nan]),
        (pa.array([0.5, 1.5]).dictionary_encode(), [0.5, 1.5]),
        (pa.array([datetime.date(1970, 1, 3)]), [2.0]),
    ],
)
def test_encoding_numbers(cells, expected):
    got = Encoder(X, Tokens(["NA", -9], text=False)).encode(cells, row_of)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "cells", [pa.array(["1", "x"]), pa.array([1.0, np.inf]), np.array([1, "x"], dtype=object)]
)
def test_what_is_no_number_names_its_row(cells):
    with pytest.raises(TableError, match="Row 2 of column 'x' holds"):
        Encoder(X, Tokens([], text=False)).encode(cells, row_of)


def test_floats_can_be_states_when_told_so():
    table = cr.read({"dose": [0.5, 1.0, None, 0.5]}, {"dose": "discrete"})
    assert table.schema["dose"].states == (0.5, 1.0)
    again = cr.read({"dose": [1.0, float("nan")]}, table.schema)
    assert again.codes("dose").tolist() == [1, 2]


def test_what_a_table_gives_out():
    table = cr.read({"a": ["x", None, "y"], "n": [0.5, 1.5, None]})
    assert table.select(["n"]).schema.names == ("n",)
    assert "x" in str(table) and repr(table) == "Table(3 rows, 2 variables)"
    assert table._repr_html_().startswith("<table>") and next(table.batches()) is table
    with pytest.raises(InputError, match="is continuous and has no codes"):
        table.codes("n")
    with pytest.raises(InputError, match="'arrow', 'pandas' or 'polars', got 'csv'"):
        table.to("csv")
    mixed = cr.read({"m": [1, "a", True]}).to("arrow")
    assert mixed.column("m").to_pylist() == ["1", "a", "True"]
    ordered = cr.read({"s": ["I", "II"]}, {"s": ["I", "II", "III"]}).to("pandas")
    assert list(ordered["s"].cat.categories) == ["I", "II", "III"] and ordered["s"].cat.ordered
    long = cr.read({"a": [0, 1] * 10})
    assert "10 more rows" in str(long)


def test_series_and_narwhals_frames():
    import narwhals as nw
    import pandas as pd
    import polars as pl

    assert cr.read(pd.Series([0, 1, 0], name="a")).schema.names == ("a",)
    assert cr.read(pl.Series("a", [0, 1, 0])).schema.names == ("a",)
    for native in (pd.DataFrame({"a": [0, 1, 0]}), pl.DataFrame({"a": [0, 1, 0]})):
        assert cr.read(nw.from_native(native)).values("a").tolist() == [0, 1, 0]
    lazy = nw.from_native(pl.LazyFrame({"a": [0, 1, 0]}))
    assert cr.read(lazy).values("a").tolist() == [0, 1, 0]


def test_columns_given_in_odd_ways():
    import pandas as pd
    import polars as pl

    table = cr.read(
        {
            "range": range(1, 4),
            "generator": (i % 2 for i in range(3)),
            "polars": pl.Series(["x", "y", "x"]),
            "chunks": pa.chunked_array([["p"], ["q", "p"]]),
            "category": pd.Categorical(["u", "v", "u"], ["v", "u"]),
            "series": pd.Series(["m", "n", "m"], index=[5, 6, 7]),
        }
    )
    assert table.schema["category"].states == ("v", "u")
    assert table.values("chunks").tolist() == ["p", "q", "p"]
    assert table.values("series").tolist() == ["m", "n", "m"]
    with pytest.raises(InputError, match="must have one axis"):
        cr.read({"a": np.zeros((2, 2))})
    with pytest.raises(InputError, match="one axis, got 2"):
        cr.read(np.zeros((2, 2), dtype=[("a", "i4")]))
    with pytest.raises(InputError, match="name stands twice"):
        cr.read(np.zeros((2, 2)), columns=["a", "a"])
    with pytest.raises(InputError, match="DuckDB relation is expected"):
        import duckdb

        cr.read(duckdb.connect())
