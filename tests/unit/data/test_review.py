"""Silent errors that a review found, each held down by a test."""

import datetime
import gzip
import os
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.errors import InputError, SchemaError, TableError


@pytest.mark.parametrize("start", ["\n", "\r\n", "   \n", "\n\n\n", "\ufeff\n"])
@pytest.mark.parametrize("body", ["a,b\n1,2\n3,4\n1,2\n", "a\n1\n3\n1\n"])
def test_blank_lines_before_the_header_are_no_rows(put, start, body):
    table = cr.read(put(start + body), {"a": "discrete"})
    assert len(table) == 3 and table.values("a").tolist() == [1, 3, 1]


def test_line_numbers_count_the_blank_lines(put):
    with pytest.raises(TableError, match=r"Line 5 of t.csv has 1 cell"):
        cr.read(put("\n\na,b\n1,2\n3\n"))


def test_parquet_columns_of_one_name_keep_their_own_cells(tmp_path):
    table = pa.Table.from_arrays([pa.array(["a", "b"]), pa.array(["c", "d"])], names=["x", "x"])
    pq.write_table(table, tmp_path / "t.parquet")
    read = cr.read(tmp_path / "t.parquet")
    assert read.schema["x"].states == ("a", "b") and read.schema["x_2"].states == ("c", "d")


def test_whole_numbers_of_any_length_stay_apart(put):
    cells = [10**19 + i % 3 for i in range(30)]
    path = put("n,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells)))
    assert cr.read(path).schema["n"].states == (10**19, 10**19 + 1, 10**19 + 2)
    path = put("n,y\n" + "".join(f"{-(10**18) - i % 2},{i % 3}\n" for i in range(30)))
    assert cr.read(path).schema["n"].arity == 2


def test_large_whole_numbers_with_blanks_find_their_own_state(put):
    path = put("n,y\n" + " 9007199254740992,0\n9007199254740993,1\n" * 10)
    counts = cr.read(path, {"n": [9007199254740992, 9007199254740993]}).tally(["n"])["n"]
    assert np.asarray(counts).tolist() == [10, 10]
    assert (
        cr.read(path, {"n": [9007199254740992, 9007199254740993, 10**400]}).schema["n"].arity == 3
    )


def test_files_of_a_glob_must_agree_on_types(tmp_path):
    pq.write_table(pa.table({"x": ["a", "b"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [1.5, 2.5]}), tmp_path / "2.parquet")
    with pytest.raises(TableError, match=r"Column 'x' is float in 2.parquet and str in 1.parquet"):
        cr.read(tmp_path / "*.parquet")
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "1.parquet")
    assert cr.read(tmp_path / "*.parquet").schema["x"].kind == "continuous"
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    with pytest.raises(TableError, match="files of different kinds"):
        cr.read(tmp_path / "*.*")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TableError, match="No file matches"):
        cr.read(tmp_path / "fold*.csv")


def test_many_texts_are_never_an_empty_column():
    with pytest.raises(TableError, match="Row 1 of column 'x' holds 'w0', which is not a number"):
        cr.read({"x": [f"w{i}" for i in range(20_000)], "y": [0, 1] * 10_000}, {"x": "continuous"})


def test_large_whole_weights_do_not_overflow():
    table = cr.read({"a": ["x", "y", "x"]}, weights=[1e19, 1, 1e300])
    assert table.weights.dtype == np.float64
    assert np.asarray(table.tally(["a"])["a"]).tolist() == [1e300, 1.0]
    table = cr.read({"a": ["x", "y", "x"]}, weights=[2.0**62] * 3)
    assert table.tally(["a"]).rows == 3 * 2.0**62


@pytest.mark.parametrize("weight", [1e308, 1e-310])
def test_weights_that_sums_cannot_hold_are_refused(weight):
    with pytest.raises(cr.errors.TableError, match=r"Row 2 of the weights is .* between 1e-300"):
        cr.read({"a": ["x", "y", "x"]}, weights=[1.0, weight, 1.0])


def test_missing_numbers_in_text_frames_and_streams(put):
    path = put("x,y\n1.5,0\n-9.0,1\n2.5,0\n-9,1\n")
    for memory in (None, 1):
        assert cr.read(path, missing=[-9], memory=memory).schema.column("x").missing == 2
    for cells in (["1", "2", "-9"] * 5, [10**30, -9, 1.5] * 5):
        for memory in (None, 1):
            token = "-9" if isinstance(cells[0], str) else -9
            source = cr.read({"x": cells}, {"x": "continuous"}, missing=[token], memory=memory)
            assert source.tally(["x"])["x"].total == 10
    assert cr.read({"x": [1.5, -9.0]}, missing=[np.int64(-9)]).schema.column("x").missing == 1
    import pandas as pd

    frame = pd.DataFrame({"c": pd.Categorical(["NA", "a", "b"], ["a", "NA", "b"])})
    assert cr.read(frame, missing=["NA"]).schema["c"].states == ("a", "b")
    with pytest.raises(InputError, match="single cells"):
        cr.read({"x": [1]}, missing=[["a"]])


def test_codes_with_leading_zeros_are_numbers_nowhere(put):
    early = ["0012"] + [f"{i / 7:.5f}" for i in range(30_000)]
    for cells in (early, early[::-1]):
        path = put("x,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells)))
        with pytest.warns(cr.errors.CredoWarning, match="holds '0012', which is not a number"):
            cr.read(path)
        with pytest.raises(TableError, match="holds '0012'"):
            cr.read(path, {"x": "continuous"})
    for memory in (None, 1):
        with pytest.raises(TableError, match="holds '0012'"):
            cr.read({"x": ["0012", "1.5"]}, {"x": "continuous"}, memory=memory)


def test_skipping_ragged_lines_does_not_hide_an_open_quote(put):
    path = put('a,b\n1,2,3\n1,x\n2,"y\n3,z\n4,z\n5,z\n')
    with pytest.raises(TableError, match=r"Line 4 of t.csv opens a quote"):
        cr.read(path, ragged="skip")


def test_values_that_only_a_dictionary_lists_are_no_states():
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", "c"]))
    table = cr.read({"x": coded, "y": [0, 1, 0, 1]}, weights=[1, 1, 0, 1])
    assert table.schema["x"].states == ("a", "b")
    frame = pl.DataFrame({"x": pl.Series(["a", "b", "c"], dtype=pl.Categorical), "y": [0, 1, 1]})
    assert cr.read(frame.filter(pl.col("x") != "c")).schema["x"].states == ("a", "b")


def test_row_numbers_count_rows_of_weight_zero():
    frame = {"x": ["a", "a", "a", "a", "a", "?"], "y": [0, 1, 0, 1, 0, 1]}
    for memory in (None, 1):
        with pytest.raises(TableError, match=r"Row 6 of column 'x' holds '\?'"):
            source = cr.read(frame, {"x": ["a", "b"]}, weights=[0, 0, 1, 1, 0, 1], memory=memory)
            source.tally(["x"])


def test_full_dictionaries_with_nulls_and_nan():
    values = [f"v{i}" for i in range(128)]
    coded = pa.DictionaryArray.from_arrays(
        pa.array([*range(128), None], pa.int8()), pa.array(values)
    )
    assert cr.read({"x": coded}, {"x": "discrete"}).schema["x"].arity == 128
    floats = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0, 2]), pa.array([0.5, float("nan"), 1.5])
    )
    for memory in (None, 1):
        source = cr.read({"x": floats}, {"x": "discrete"}, memory=memory)
        assert source.schema["x"].states == (0.5, 1.5)
        assert source.tally(["x"])["x"].skipped == 1


def test_times_and_durations_as_numbers():
    arrow = pa.table(
        {
            "t": pa.array([datetime.time(12), datetime.time(18)]),
            "d": pa.array([datetime.timedelta(days=1), datetime.timedelta(hours=36)]),
            "ns": pa.array([1, 86_400 * 10**9], pa.timestamp("ns")),
        }
    )
    table = cr.read(arrow, dict.fromkeys(arrow.column_names, "continuous"))
    assert table.values("t").tolist() == [0.5, 0.75] and table.values("d").tolist() == [1.0, 1.5]
    assert table.values("ns")[1] == 1.0


def test_a_stream_without_discrete_variables_and_weights_in_the_schema():
    stream = cr.read({"x": [0.5, 1.5, 2.5]}, memory=1)
    with pytest.raises(InputError, match="no variable of the kind"):
        stream.unique()
    schema = cr.read({"a": [0, 1], "w": [1, 2]}).schema
    with pytest.raises(InputError, match="'w' cannot be the weights and a variable at once"):
        cr.read({"a": [0, 1], "w": [1, 2]}, schema, weights="w")
    with pytest.raises(InputError, match="memory must be"):
        cr.read({"a": [0, 1]}, memory="1.2.3")


def test_a_file_that_grows_between_passes_is_refused(put):
    path = put("a,b\n" + "x,1\ny,0\n" * 100)
    stream = cr.read(path, memory=1)
    path.write_text("a,b\n" + "x,1\ny,0\n" * 101)
    with pytest.raises(TableError, match=r"t.csv was written again after it was first read"):
        stream.tally(["a"])
    with pytest.raises(TableError, match=r"had 200 rows when it was first read and has 202 now"):
        replace(stream, feed=replace(stream.feed, files=())).tally(["a"])


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_a_file_that_is_written_again_between_passes_is_refused(tmp_path, name):
    def write(first, times):
        rows = pa.table({"a": [first, "y", "x"] * 100, "b": [0, 1, 1] * 100})
        if name == "t.parquet":
            pq.write_table(rows, tmp_path / name)
        else:
            text = ("a,b\n" + f"{first},0\ny,1\nx,1\n" * 100).encode()
            packed = gzip.compress(text) if name.endswith(".gz") else text
            (tmp_path / name).write_bytes(packed)
        os.utime(tmp_path / name, ns=(times, times))

    write("x", 10**18)
    stream = cr.read(tmp_path / name, memory=1)
    assert stream.tally(["a"]).arrays()[0].tolist() == [200, 100]
    write("y", 10**18 + 1)
    with pytest.raises(TableError, match=f"{name} was written again after it was first read"):
        stream.tally(["a"])
    both = cr.read([tmp_path / name] * 2, memory=1)
    write("x", 10**18 + 2)
    with pytest.raises(TableError, match=f"{name} was written again"):
        both.tally(["a"])


def test_notes_of_every_file_of_a_glob(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n0,1\n1,0\n")
    (tmp_path / "2.csv").write_text("a,b\n0,1\n1\n1,0\n")
    schema = cr.read(tmp_path / "*.csv", ragged="skip").schema
    assert "2.csv: 1 line with too many or too few cells skipped" in str(schema)


def test_booleans_and_numbers_are_different_states():
    a = cr.read({"x": [True, False, True]}).tally(["x"])["x"]
    b = cr.read({"x": [1, 0, 1]}).tally(["x"])["x"]
    assert a != b
    with pytest.raises(cr.errors.SchemaError, match="states of 'x' differ"):
        a + b
    v = cr.Variable("s", "discrete", ("a", "b"))
    w = cr.Variable("s", "discrete", ("a", "b"), ordered=True)
    assert v == w and hash(v) == hash(w)


def test_a_family_of_too_many_cells_is_sparse_whatever_the_rows():
    rng = np.random.default_rng(0)
    table = cr.read(
        {f"v{i}": rng.integers(0, 20, 200) for i in range(12)},
        {f"v{i}": "discrete" for i in range(12)},
    )
    names = table.schema.names
    families = [
        (a, [b, c, d])
        for i, a in enumerate(names)
        for j, b in enumerate(names[:i])
        for k, c in enumerate(names[:j])
        for d in names[:k]
    ]
    tally = table.tally(families)
    assert all(not tally[f].is_dense for f in list(tally)[:5]) and tally[families[0]].total == 200


def test_constants_with_gaps_and_the_csv_modules_limit(put):
    import csv

    tiny = cr.read({"x": [np.nan, 1e-200, 1e-200]}, {"x": "continuous"})
    assert tiny.tally(["x"])["x"].scatter[0, 0, 0] == 0
    before = csv.field_size_limit()
    cr.read(put("a,b\n0,1\n1,0\n"))
    assert csv.field_size_limit() == before
    empty = cr.read({"a": [0, 1]}).take([]).tally(["a"])["a"].marginal([])
    assert empty == empty.sparse()
    with pytest.raises(InputError, match="named twice"):
        cr.read({"a": [0, 1], "b": [1, 0]}).unique().marginal(["a", "a"])


def test_ten_thousand_columns_are_read_in_linear_time(put):
    n = 10_000
    path = put(
        ",".join(f"c{i}" for i in range(n))
        + "\n"
        + ",".join("01"[i % 2] for i in range(n))
        + "\n"
        + ",".join("10"[i % 2] for i in range(n))
        + "\n"
    )
    assert len(cr.read(path).schema) == n


def test_the_way_to_use_a_column_is_one_that_works(tmp_path):
    path = tmp_path / "t.csv"
    rows = range(60)
    path.write_text(
        "day,y,said\n"
        + "".join(f"2020-01-{i % 28 + 1:02},{'uv'[i % 2]},these are many words {i}\n" for i in rows)
    )
    schema = cr.read(path).schema
    with pytest.raises(SchemaError) as told:
        schema["said"]
    assert told.value.hint == "Read the table with schema={'said': 'discrete'} to use it."
    assert cr.read(path, schema={"said": "discrete"}).schema["said"].arity == 60
    with pytest.raises(TableError, match="If the column is of dates, read it with schema="):
        cr.read(path, schema={"day": "continuous"})
    assert cr.read(path, schema={"day": "discrete"}).schema["day"].arity == 28
