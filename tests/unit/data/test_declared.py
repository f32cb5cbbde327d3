"""What a table says of its columns: categories in their order, and the index of a pandas frame."""

from decimal import Decimal

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.columns.infer import Declared
from credo.data.out.writing import write_rows
from credo.data.sources.declared import merged
from credo.errors import CredoWarning, LimitError, SchemaError

LEVELS = ["low", "mid", "high", "never"]
CELLS = ["high", "low", None, "mid", "low", "high"]


def told(source, name="x"):
    variable = source.schema[name]
    return variable.states, variable.ordered


def dictionary(cells, levels, ordered=False):
    codes = pa.array([None if c is None else levels.index(c) for c in cells], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=ordered)


def test_a_dictionary_alone_is_an_encoding():
    table = pa.table({"x": dictionary(CELLS, LEVELS)})
    assert told(cr.read(table)) == (("high", "low", "mid"), False)


@pytest.mark.parametrize("ordered", [False, True])
def test_factors_of_r_keep_their_levels(ordered, tmp_path):
    table = pa.table({"x": dictionary(CELLS, LEVELS, ordered)})
    table = table.replace_schema_metadata({"r": "A\n3\n262913\n197888\n5\nUTF-8\n531\n1\n531\n"})
    pq.write_table(table, tmp_path / "r.parquet")
    with pa.ipc.new_file(tmp_path / "r.arrow", table.schema) as writer:
        writer.write_table(table)
    for given in (
        table,
        table.to_reader(),
        ds.dataset(tmp_path / "r.parquet"),
        tmp_path / "r.parquet",
        tmp_path / "r.arrow",
    ):
        assert told(cr.read(given)) == (tuple(LEVELS), ordered)


def test_enums_of_polars_keep_what_no_row_has(tmp_path):
    kind = pl.Enum(["never", *LEVELS[:3], "ä;1", ""])
    frame = pl.DataFrame({"x": pl.Series(CELLS, dtype=kind)})
    frame.write_parquet(tmp_path / "p.parquet", row_group_size=2)
    frame.write_ipc(tmp_path / "p.arrow")
    expected = (("never", "low", "mid", "high", "ä;1", ""), True)
    for given in (
        frame,
        frame.lazy(),
        frame.to_arrow(),
        nw.from_native(frame),
        tmp_path / "p.parquet",
        tmp_path / "p.arrow",
        pl.scan_parquet(tmp_path / "p.parquet"),
        ds.dataset(tmp_path / "p.parquet"),
        {"x": frame["x"]},
    ):
        assert told(cr.read(given)) == expected


def test_enums_of_duckdb_keep_their_order():
    con = duckdb.connect()
    con.execute("create type level as enum ('low', 'mid', 'high', 'never')")
    relation = con.sql("select x::level as x from (values ('high'), ('low'), (null), ('mid')) t(x)")
    for memory in (None, "1B"):
        assert told(cr.read(relation, memory=memory)) == (tuple(LEVELS), True)


def test_an_ordered_dictionary_in_a_dict():
    assert told(cr.read({"x": dictionary(CELLS, LEVELS, True)})) == (tuple(LEVELS), True)
    assert told(cr.read({"x": dictionary(CELLS, LEVELS)})) == (("high", "low", "mid"), False)


def test_our_own_rows_keep_the_order_of_states(tmp_path):
    table = cr.read({"x": CELLS, "y": [1, 2, 1, 2, 1, 2]}, {"x": LEVELS})
    for name in ("t.parquet", "t.arrow"):
        write_rows(tmp_path / name, table.schema, [table])
        assert told(cr.read(tmp_path / name)) == (tuple(LEVELS), True)
        plain = cr.read({"x": CELLS}, {"x": cr.Variable("x", "discrete", LEVELS)})
        write_rows(tmp_path / name, plain.schema, [plain])
        assert told(cr.read(tmp_path / name)) == (tuple(LEVELS), False)


def test_our_own_rows_of_other_states_are_states_again(tmp_path):
    doses = [Decimal("1.50"), Decimal("0.25"), Decimal("1.50")]
    table = cr.read({"x": doses, "y": ["u", "v", "v"]}, {"x": "discrete"})
    for name in ("t.parquet", "t.arrow"):
        write_rows(tmp_path / name, table.schema, [table])
        assert cr.read(tmp_path / name).schema == table.schema


# --- several files, several dictionaries ------------------------------------------------------


def written(folder, name, levels, cells, ordered=False):
    frame = pd.DataFrame({"x": pd.Categorical(cells, categories=levels, ordered=ordered)})
    frame.to_parquet(folder / name)
    return frame


def test_files_whose_categories_differ(tmp_path):
    written(tmp_path, "a.parquet", ["low", "high"], ["high", "low"], True)
    written(tmp_path, "b.parquet", ["low", "mid", "high"], ["mid", "low"], True)
    written(tmp_path, "c.parquet", ["high", "max"], [None, None], True)
    dataset = ds.dataset(tmp_path)
    given = [f"{tmp_path}/*.parquet", tmp_path, sorted(tmp_path.iterdir())]
    given += [dataset]
    for table in given:
        for memory in (None, "1B"):
            source = cr.read(table, memory=memory)
            assert told(source) == (("low", "mid", "high", "max"), True)
            assert source.tally(["x"])["x"].values.tolist() == [2, 1, 1, 0]
    assert told(cr.read(dataset.to_table())) == (("low", "mid", "high", "max"), True)


@pytest.mark.parametrize(
    ("lists", "states", "ordered"),
    [
        ([("a", "b"), ("a", "b")], ("a", "b"), True),
        ([("a", "b"), ("b", "a")], ("a", "b"), False),
        ([("a", "b"), ("c", "d")], ("a", "b", "c", "d"), False),
        ([("a", "b"), ("b", "c")], ("a", "b", "c"), True),
        ([("b", "c"), ("a", "b")], ("a", "b", "c"), True),
        ([("a", "c"), ("a", "b"), ("b", "c")], ("a", "b", "c"), True),
        ([(1, 2), (True, 2)], (1, True, 2), False),
    ],
)
def test_categories_of_several_files(lists, states, ordered):
    found = merged([{"x": Declared(s, True)} for s in lists])["x"]
    assert found.states == states and found.ordered is ordered
    assert not merged([{"x": Declared(s)} for s in lists])["x"].ordered


def test_row_groups_whose_dictionaries_differ(tmp_path):
    first = pa.Table.from_pandas(written(tmp_path, "a.parquet", ["b", "a"], ["a", "b"]))
    second = pa.table({"x": dictionary(["c", "a"], ["c", "a"])}, schema=first.schema)
    with pq.ParquetWriter(tmp_path / "both.parquet", first.schema) as writer:
        writer.write_table(first)
        writer.write_table(second)
    for given in (tmp_path / "both.parquet", ds.dataset(tmp_path / "both.parquet")):
        for memory in (None, "1B"):
            source = cr.read(given, memory=memory)
            assert told(source) == (("b", "a", "c"), False)
            assert source.tally(["x"])["x"].values.tolist() == [1, 2, 1]


def test_batches_of_a_stream_whose_dictionaries_differ():
    parts = [dictionary(["a", "b"], ["b", "a"], True), dictionary(["c", "a"], ["c", "a"], True)]
    schema = pa.schema({"x": parts[0].type})
    batches = [pa.record_batch([p], schema=schema) for p in parts]
    source = cr.read(pa.RecordBatchReader.from_batches(schema, batches))
    assert told(source) == (("b", "a", "c"), False)
    assert source.values("x").tolist() == ["a", "b", "c", "a"]


# --- what pandas writes besides ----------------------------------------------------------------


def test_categories_that_parquet_does_not_list(tmp_path):
    frame = pd.DataFrame({"x": pd.Categorical([2.5, 1.5, 2.5], categories=[9.5, 2.5, 1.5])})
    frame.to_parquet(tmp_path / "t.parquet")
    source = cr.read(tmp_path / "t.parquet")
    assert told(source) == ((1.5, 2.5), False)
    assert "does not list them" in source.schema.column("x").notes[0]
    frame.to_feather(tmp_path / "t.feather")
    assert told(cr.read(tmp_path / "t.feather")) == ((9.5, 2.5, 1.5), False)


@pytest.mark.parametrize("name", [None, "patient"])
def test_the_index_of_a_pandas_frame_is_set_aside(name, tmp_path):
    frame = pd.DataFrame(
        {"x": ["a", "b", "a", "b"], "n": [0.5, 1.5, 2.5, 3.5]},
        index=pd.Index([7, 11, 12, 30], name=name),
    )
    frame.to_parquet(tmp_path / "t.parquet")
    column = name or "__index_level_0__"
    for given in (
        tmp_path / "t.parquet",
        pa.Table.from_pandas(frame),
        ds.dataset(tmp_path / "t.parquet"),
    ):
        found = cr.read(given)
        assert found.schema == cr.read(frame).schema
        assert found.schema.set_aside == {column: "the index of a pandas frame"}
        with pytest.raises(SchemaError, match=rf"schema=\{{'{column}': 'discrete'\}}"):
            found.schema[column]
        assert cr.read(given, {column: "continuous"}).values(column).tolist() == [7, 11, 12, 30]
        assert cr.read(given, {column: "discrete"}).schema[column].states == (7, 11, 12, 30)
        with pytest.warns(CredoWarning, match="the index of a pandas frame"):
            model = cr.naive_bayes(given, "x")
        assert [f.names for f in model.features] == [("n",)]


MANY = [f"k{i:05}" for i in range(10_001)]


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, lambda c: c], ids=["pd", "pl", "dict"]
)
def test_more_categories_than_states_are_set_aside(make):
    cells = pd.Series(MANY, dtype=pd.CategoricalDtype(MANY))
    if make is pl.DataFrame:
        cells = pl.Series(MANY, dtype=pl.Enum(MANY))
    table = make({"who": cells, "y": ["u", "v", "u"] * 3333 + ["u", "v"]})
    schema = cr.read(table).schema
    assert schema.names == ("y",)
    assert schema.column("who").kind == "identifier"
    assert schema.set_aside["who"] == (
        "categories, 10,001 different ones in 10,001 rows; at most 10,000 can be states"
    )
    with pytest.raises(LimitError, match=r"10,001 states; at most 10,000 are allowed\. Group rare"):
        cr.read(table, {"who": "discrete"})


def test_numbers_that_are_categories_are_never_quantities(tmp_path):
    """Also where the file does not list them, and where the table is read batch by batch."""
    zips = [*range(10_001), *range(10_001)]
    frame = pd.DataFrame({"zip": pd.Categorical(zips), "y": ["u", "v"] * 10_001})
    path = tmp_path / "zips.parquet"
    frame.to_parquet(path)
    for source in (cr.read(frame), cr.read(path), cr.read(path, memory=1)):
        assert source.schema.names == ("y",)
        assert source.schema.column("zip").kind == "text"
    assert cr.read(frame, {"zip": "continuous"}).schema["zip"].kind == "continuous"


def test_of_too_many_categories_those_that_rows_have_are_states():
    kind = pd.CategoricalDtype([*MANY, "b", "a"], ordered=True)
    frame = pd.DataFrame({"x": pd.Series(["a", "b", MANY[7], "a"], dtype=kind)})
    schema = cr.read(frame).schema
    assert told(cr.read(frame)) == ((MANY[7], "b", "a"), True)
    assert schema.column("x").notes == (
        "it has 10,003 categories, and at most 10,000 can be states: the 3 that its rows have are",
    )
    assert cr.read(frame, {"x": "discrete"}).schema == schema


@pytest.mark.parametrize("as_table", [pa.table, dict])
def test_chunks_may_have_dictionaries_that_no_index_of_theirs_can_join(as_table):
    names = [[f"{letter}{i:02}" for i in range(100)] for letter in "ab"]
    chunks = [dictionary(levels, levels, ordered=True) for levels in names]
    states, ordered = told(cr.read(as_table({"x": pa.chunked_array(chunks)})))
    assert states == (*names[0], *names[1])
    assert not ordered  # no chunk says which of the two hundred comes first


@pytest.mark.parametrize("as_table", [pa.table, dict])
def test_chunks_may_have_dictionaries_with_a_null(as_table):
    codes = pa.array([0, 1, 2, 2], pa.int8())
    chunks = [
        pa.DictionaryArray.from_arrays(codes, pa.array(levels))
        for levels in (["z", None, "a"], ["b", None, "z"])
    ]
    table = cr.read(as_table({"x": pa.chunked_array(chunks)}))
    assert told(table) == (("a", "b", "z"), False)
    assert table.values("x").tolist() == ["z", None, "a", "a", "b", None, "z", "z"]
