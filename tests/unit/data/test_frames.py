"""The same table in every form gives the same schema and the same cells."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import credo as cr

COLUMNS = {
    "n": [1, 0, 1, 1, None, 0],
    "word": ["b", "a", None, "b", "a", "b"],
    "truth": [True, False, True, None, True, False],
    "x": [0.5, 1.25, None, 3.0, -1.0, 2.0],
}


def frame_of(kind, tmp_path):
    arrow = pa.table(COLUMNS)
    con = duckdb.connect()
    match kind:
        case "dict":
            return COLUMNS
        case "records":
            return [
                dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)
            ]
        case "pandas":
            return pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in COLUMNS.items()})
        case "pandas nullable":
            return pd.DataFrame(COLUMNS).astype(
                {"n": "Int64", "word": "string", "truth": "boolean", "x": "Float64"}
            )
        case "pandas arrow":
            return arrow.to_pandas(types_mapper=pd.ArrowDtype)
        case "polars":
            return pl.DataFrame(COLUMNS)
        case "polars lazy":
            return pl.LazyFrame(COLUMNS)
        case "arrow":
            return arrow
        case "record batch":
            return arrow.to_batches()[0]
        case "reader":
            return arrow.to_reader()
        case "dataset":
            pq.write_table(arrow, tmp_path / "d.parquet")
            return ds.dataset(tmp_path / "d.parquet")
        case "duckdb":
            con.register("t", arrow)
            return con.sql("select * from t")
        case "capsule":

            class Capsule:
                def __arrow_c_stream__(self, requested_schema=None):
                    return arrow.__arrow_c_stream__(requested_schema)

            return Capsule()


KINDS = [
    "dict", "records", "pandas", "pandas nullable", "pandas arrow", "polars", "polars lazy",
    "arrow", "record batch", "reader", "dataset", "duckdb", "capsule",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_reads_alike(kind, tmp_path):
    table = cr.read(frame_of(kind, tmp_path))
    assert table.schema.names == ("n", "word", "truth", "x")
    assert [v.kind for v in table.schema] == ["discrete", "discrete", "discrete", "continuous"]
    for name in ("n", "word", "truth"):
        values = table.values(name).tolist()
        assert values == COLUMNS[name]
        assert [type(v) for v in values] == [type(v) for v in COLUMNS[name]]
    x = table.values("x")
    assert np.isnan(x[2]) and x[0] == 0.5
    assert table.schema["n"].states == (0, 1)
    assert table.schema["truth"].states == (False, True)
    assert table.schema.missing == {"n": 1 / 6, "word": 1 / 6, "truth": 1 / 6, "x": 1 / 6}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_the_table_goes_out_as_it_came(kind):
    table = cr.read(COLUMNS)
    out = table.to(kind)
    back = cr.read(out)
    assert back.schema == table.schema
    for name in table.schema.discrete:
        assert back.values(name).tolist() == table.values(name).tolist()


def test_polars_nan_is_missing_like_null():
    table = cr.read(pl.DataFrame({"x": [1.0, float("nan"), None, 2.5]}))
    assert table.schema.column("x").missing == 2


def test_numpy_structured_and_2d():
    structured = np.array([(1, 0.5), (0, 1.5), (1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])
    table = cr.read(structured)
    assert table.schema["a"].states == (0, 1) and table.schema["b"].kind == "continuous"
    table = cr.read(np.array([[0, 1], [1, 1], [0, 0]]), columns=["a", "b"])
    assert table.schema.names == ("a", "b") and table.values("a").tolist() == [0, 1, 0]
    with pytest.raises(cr.errors.InputError, match=r"need names. Give columns="):
        cr.read(np.zeros((2, 2)))
    with pytest.raises(cr.errors.InputError, match="2 columns, but 1 name came"):
        cr.read(np.zeros((2, 2)), columns=["a"])
    with pytest.raises(cr.errors.InputError, match="two axes"):
        cr.read(np.zeros(3), columns=["a"])


def test_duplicate_and_unnamed_columns_are_kept_apart():
    frame = pd.DataFrame([[1, "a", 2], [0, "b", 1], [1, "a", 2]], columns=["x", "", "x"])
    table = cr.read(frame)
    assert table.schema.names == ("x", "column_2", "x_2")
    assert "column 3 repeats the name 'x' and is called 'x_2'" in str(table.schema)


def test_what_cannot_be_a_table_is_refused():
    with pytest.raises(cr.errors.InputError, match="of type object cannot be read"):
        cr.read(object())
    with pytest.raises(cr.errors.InputError, match="item 2 is int"):
        cr.read([{"a": 1}, 3])
    with pytest.raises(cr.errors.TableError, match="'a' has 1 row and 'b' has 2"):
        cr.read({"a": [1], "b": [1, 2]})
    with pytest.raises(cr.errors.InputError, match="must be a sequence"):
        cr.read({"a": "text"})
    with pytest.raises(cr.errors.TableError, match="no columns"):
        cr.read({})
    with pytest.raises(cr.errors.InputError, match="columns= names"):
        cr.read({"a": [1]}, columns=["a"])


def test_nested_cells_are_set_aside():
    table = cr.read({"ok": ["a", "b", "a"], "list": [[1], [2], [3]]})
    assert table.schema.set_aside == {"list": "cells of type lists or dicts"}


def test_a_stream_that_can_be_read_once_only_needs_memory():
    reader = pa.table({"a": [0, 1] * 500}).to_reader()
    assert cr.read(reader).rows == 1000


def test_int_nan_from_a_list_stays_whole():
    table = cr.read({"n": [1, float("nan"), 2, 1, 2, 1]})
    assert table.schema["n"].states == (1, 2)
    assert all(isinstance(s, int) for s in table.schema["n"].states)


@pytest.mark.parametrize("cells", [[1, 2.5, True], [2.5, True, 1], [None, 2.5, False, 1]])
def test_a_boolean_among_numbers_stays_one(cells):
    for column in (cells, np.array(cells, dtype=object)):
        table = cr.read({"c": column, "y": [i % 2 for i in range(len(cells))]})
        assert [(type(v), v) for v in table.values("c").tolist()] == [(type(v), v) for v in cells]
