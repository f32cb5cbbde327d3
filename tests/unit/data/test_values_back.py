"""What comes in comes back: whole numbers whole, states as they were, repeated keys not at all."""

import datetime as dt
from uuid import UUID

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.errors import CredoWarning, SchemaError, TableError


def test_states_of_several_types_come_back_in_pandas():
    cells = [1, "a", None, "a", True]
    assert cr.read({"d": cells}).to("pandas")["d"].tolist() == cells
    assert cr.read({"d": cells}).to("polars")["d"].to_list() == ["1", "a", None, "a", "True"]


def test_whole_numbers_beyond_64_bits():
    table = cr.read({"d": [10**30, 1, 2, 1]})
    assert table.to("pandas")["d"].tolist() == [10**30, 1, 2, 1]
    texts = [str(10**30), "1", "2", "1"]
    assert table.to("arrow")["d"].to_pylist() == table.to("polars")["d"].to_list() == texts


NOON, NIGHT = dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1)


@pytest.mark.parametrize(
    "pair",
    [
        (dt.date(2020, 1, 1), NOON),
        (NIGHT, NIGHT.replace(tzinfo=dt.UTC)),
        (dt.time(1, tzinfo=dt.UTC), dt.time(1)),
        (dt.time(1, tzinfo=dt.UTC), dt.time(2, tzinfo=dt.UTC)),
        (NIGHT, pd.Timestamp("2020-01-01 00:00:00.000000001")),
        (pd.Timedelta(1, "ns"), pd.Timedelta(2, "ns")),
        ("a", b"a"),
    ],
)
def test_what_arrow_would_take_for_one_kind_stays_apart(pair):
    for first, second in (pair, pair[::-1]):
        cells = [first, second, None, first]
        for given in ({"d": cells}, pd.DataFrame({"d": pd.Series(cells, dtype=object)})):
            back = cr.read(given, {"d": "discrete"}).values("d").tolist()
            assert back == cells and list(map(type, back)) == list(map(type, cells))


@pytest.mark.parametrize("gap", [False, True])
def test_many_whole_numbers_come_back_whole(gap):
    cells = [*range(92_334, 92_434, 3), *([None] if gap else [])]
    table = cr.read({"d": cells, "x": np.linspace(0, 1, len(cells))})
    assert table.schema["d"].kind == "continuous" and table.schema.column("d").whole
    assert str(table).splitlines()[1].startswith("92,334  0.0")
    assert table.to("arrow").schema.field("d").type == pa.int64()
    assert table.to("polars")["d"].to_list() == cells
    back = table.to("pandas")["d"]
    assert str(back.dtype).lower() == "int64" and back.isna().sum() == gap
    assert not table.schema.column("x").whole
    assert str(table.take([0]).to("pandas")["x"].dtype) == "float64"


def test_states_are_not_taken_from_a_set():
    for make in (
        lambda: cr.read({"x": ["a", "b"]}, {"x": {"a", "b", "c"}}),
        lambda: cr.Variable("x", "discrete", frozenset("ab")),
    ):
        with pytest.raises(SchemaError, match="whose order is kept; a set has none"):
            make()


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 0}\n{"a": 1, "a": 2}\n',
        '{"a": "12:30"}\n{"a": "1:2", "b": 1, "\\u0062": 2}\n',
        '[{"a": 0},\n {"a": 1, "b": 0, "a": 2}]\n',
        '{"a": {"u": 1}}\n{"b": 1, "b": 1}\n',
    ],
)
def test_a_repeated_key_is_refused_by_its_line(put, text):
    path = put(text, "t.json")
    with pytest.raises(TableError, match=r"Line 2 of t\.json has the key '[ab]' twice"):
        cr.read(path)


def test_keys_that_only_look_repeated_are_read(put):
    path = put('{"a": "b:", "b": "a"}\n{"a": "\\"b\\":", "b": "c:d"}\n', "t.jsonl")
    assert cr.read(path).values("a").tolist() == ["b:", '"b":']


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_inside_a_file_is_part_of_its_cell(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_text('c0,c1\n\ufeffz,"x"\n\ufeffz,""""\nq,b\n', encoding=encoding)
    assert cr.read(path).schema["c0"].states == ("q", "\ufeffz")


def test_a_narwhals_frame_can_be_a_stream():
    frame = pl.DataFrame({"a": ["x", "y"] * 500, "b": [0, 1, 2, 3] * 250})
    for given in (frame, frame.lazy()):
        stream = cr.read(nw.from_native(given), memory="1kB")
        assert isinstance(stream, cr.Stream)
        assert stream.tally() == cr.read(frame).tally()


def test_the_row_of_a_doubtful_cell_is_named_in_a_stream(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{7 * i},{i % 2}" for i in range(60_000)]
    path.write_text("\n".join(["x,y", *rows, "inf,1"]) + "\n")
    for memory in (None, "1kB"):
        with pytest.warns(CredoWarning, match="row 60001 holds 'inf'"):
            cr.read(path, memory=memory)


@pytest.mark.parametrize("cells", [[(1, 2), (3, 4), (1, 2), None], [(1, "a"), (2, "b"), (1, "a")]])
def test_tuples_are_states(cells, tmp_path):
    other = ["u", "v", "u", "v"][: len(cells)]
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object), "o": other})
    for given in ({"x": cells, "o": other}, frame):
        table = cr.read(given)
        assert table.schema["x"].states == tuple(sorted({c for c in cells if c is not None}))
        assert table.to("pandas")["x"].tolist() == cells
        assert table.to("arrow")["x"].to_pylist() == [None if c is None else str(c) for c in cells]
        net = cr.fit("[x][o|x]", table, prior=cr.BDeu(1))
        assert set(net.sample(50, rng=0, to="pandas")["x"].tolist()) == set(cells) - {None}
        net.save(tmp_path / "net.credo")
        assert cr.load(tmp_path / "net.credo").variable("x") == net.variable("x")
    assert cr.read({"x": [[1, 2], [3, 4]] * 2, "o": ["u", "v"] * 2}).schema.names == ("o",)


def test_an_infinite_state_of_json_is_a_float(put):
    path = put('{"x": 1.5}\n{"x": Infinity}\n{"x": 1e309}\n{"x": 1.5}\n', "t.jsonl")
    states = cr.read(path, {"x": "discrete"}).schema["x"].states
    assert states == (1.5, float("inf")) and {type(s) for s in states} == {float}


def test_a_list_where_a_number_is_asked_for(put):
    path = put('{"x": 1.5}\n{"x": [1]}\n', "t.jsonl")
    with pytest.raises(TableError, match=r"Row 2 of column 'x' holds \[1\], which is not a number"):
        cr.read(path, {"x": "continuous"})


@pytest.mark.parametrize(
    "cells",
    [
        [-1, UUID(int=5), -1, UUID(int=5)],
        [np.True_, 0, np.True_, 0],
        ["a", b"a", "b", b"a"],
        [1, UUID(int=1), None, pd.NA],
    ],
    ids=repr,
)
def test_what_arrow_would_take_for_another_value_stays_what_it_is(cells):
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    for given in ({"x": cells}, [{"x": c} for c in cells], frame):
        table = cr.read(given, {"x": "discrete"})
        for back in (table.values("x").tolist(), table.to("pandas")["x"].tolist()):
            for cell, value in zip(cells, back, strict=True):
                if cell is None or cell is pd.NA:
                    assert value is None
                else:
                    plain = cell.item() if isinstance(cell, np.generic) else cell
                    assert type(value) is type(plain) and value == plain
