"""A frame that was written to a file is the same table when it is read again: the same variables,
with the same categories in the same order, whatever wrote it and however it is read.
"""

import tempfile
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr

WORDS = st.lists(st.text("abcäZ 0;", min_size=1, max_size=3), min_size=2, max_size=6, unique=True)


@st.composite
def categoricals(draw):
    """Categories in an order, and cells that need not have all of them."""
    words = draw(WORDS)
    cells = draw(st.lists(st.sampled_from([*words, None]), min_size=3, max_size=12))
    return words, [*words[:2], *cells], draw(st.booleans())


def assert_same(found, expected, where):
    assert found.schema == expected.schema, where
    ordered = [v.ordered for v in expected.schema]
    assert [v.ordered for v in found.schema] == ordered, where
    assert found.tally() == expected.tally(), where


@settings(max_examples=40)
@given(categoricals(), st.integers(1, 5))
def test_pandas_round_trips(column, rows):
    words, cells, ordered = column
    kind = pd.CategoricalDtype(words, ordered)
    frame = pd.DataFrame(
        {"x": pd.Series(cells, dtype=kind), "n": [i / 2 for i in range(len(cells))]}
    )
    expected = cr.read(frame)
    table = pa.Table.from_pandas(frame)
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        frame.to_parquet(at / "t.parquet", row_group_size=rows)
        frame.iloc[::-1].iloc[::-1].to_parquet(at / "i.parquet", index=True)
        frame.to_feather(at / "t.feather")
        with pa.ipc.new_stream(at / "t.arrows", table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
        for name in ("t.parquet", "i.parquet", "t.feather", "t.arrows"):
            for memory in (None, "1B"):
                assert_same(cr.read(at / name, memory=memory), expected, name)
        for name, form in (("t.parquet", "parquet"), ("t.feather", "feather")):
            assert_same(cr.read(ds.dataset(at / name, format=form)), expected, f"dataset {name}")
        frame.iloc[:2].to_parquet(at / "g1.parquet")
        frame.iloc[2:].to_parquet(at / "g2.parquet")
        assert_same(cr.read(f"{folder}/g*.parquet"), expected, "a glob")
    assert_same(cr.read(table), expected, "an Arrow table")
    assert_same(cr.read(table.to_reader(max_chunksize=rows)), expected, "a reader")
    assert_same(cr.read(ds.dataset(table)), expected, "a dataset in memory")


@settings(max_examples=40)
@given(categoricals(), st.integers(1, 5))
def test_polars_and_duckdb_round_trips(column, rows):
    words, cells, _ = column
    frame = pl.DataFrame({"x": pl.Series(cells, dtype=pl.Enum(words))})
    expected = cr.read(frame)
    assert expected.schema["x"].states == tuple(words) and expected.schema["x"].ordered
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        frame.write_parquet(at / "t.parquet", row_group_size=rows)
        frame.write_ipc(at / "t.arrow")
        for name in ("t.parquet", "t.arrow"):
            for memory in (None, "1B"):
                assert_same(cr.read(at / name, memory=memory), expected, name)
        assert_same(cr.read(pl.scan_parquet(at / "t.parquet")), expected, "a scan")
        pq.write_table(frame.to_arrow(), at / "a.parquet", row_group_size=rows)
        pyarrow.feather.write_feather(frame.to_arrow(), at / "a.feather")
        for name in ("a.parquet", "a.feather"):
            assert_same(cr.read(at / name), expected, name)
    con = duckdb.connect()
    given_frame = frame.to_pandas()
    con.register("given", given_frame)
    relation = con.sql("select * from given")
    assert_same(cr.read(relation), expected, "a relation")


@settings(max_examples=40)
@given(categoricals(), st.booleans())
def test_a_dictionary_of_an_encoder_says_nothing(column, sliced):
    words, cells, _ = column
    plain = cr.read({"x": cells}, {"x": "discrete"})
    coded = pa.array(cells).dictionary_encode()
    if sliced:
        coded = pa.concat_arrays([coded, coded]).slice(len(coded))
    found = cr.read(pa.table({"x": coded}), {"x": "discrete"})
    assert_same(found, plain, words)
