"""Values keep their types as states: in as they came, out the same, from every kind of table."""

import datetime as dt
import enum
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.errors import InputError, UnknownNameError
from credo.formats.states import from_json

D = Decimal
VALUES = {
    "decimals": [D("1.50"), D("2.25"), D("-0.10")],
    "whole decimals": [D("1"), D("2"), D("30")],
    "dates": [dt.date(2024, 1, 1), dt.date(2024, 2, 29), dt.date(1900, 1, 1)],
    "times": [dt.time(1, 2, 3), dt.time(23, 59, 59, 7), dt.time(0)],
    "datetimes": [dt.datetime(2024, 1, 1, 1), dt.datetime(2024, 1, 2), dt.datetime(1970, 1, 1)],
    "zoned": [dt.datetime(2024, 1, d, tzinfo=dt.UTC) for d in (1, 2, 3)],
    "durations": [dt.timedelta(1), dt.timedelta(2, 3, 4), dt.timedelta(-1)],
    "uuids": [UUID(int=1), UUID(int=2**127), UUID(int=3)],
    "bytes": [b"a", b"b\xff", b""],
    "whole numbers": [1, 2, 7],
    "floats": [0.1, 2.5, -1.0],
    "booleans": [True, False, True],
    "texts": ["a", "b", ""],
}


def cells(kind):
    a, b, c = VALUES[kind]
    return [b, a, None, c, a, b, c, a]


def relation(table):
    con = duckdb.connect()
    con.register("given", table)
    return con.sql("select * from given")


def tables(kind, folder):
    """The same column as every kind of table that can hold it."""
    column = cells(kind)
    yield "dict", {"x": column}
    yield "records", [{"x": c} for c in column]
    yield "objects", pd.DataFrame({"x": pd.Series(column, dtype=object)})
    yield "array", np.array(column, dtype=object)[:, None]
    yield "polars", pl.DataFrame({"x": column})
    yield "lazy", pl.DataFrame({"x": column}).lazy()
    if kind == "uuids":  # which Arrow keeps as bytes
        return
    arrow = pa.table({"x": column})
    yield "arrow", arrow
    yield "batch", arrow.to_batches()[0]
    yield "reader", arrow.to_reader()
    if kind != "durations":
        yield "duckdb", relation(arrow)
    pq.write_table(arrow, folder / "x.parquet")
    yield "parquet", folder / "x.parquet"
    pyarrow.feather.write_feather(arrow, folder / "x.feather")
    yield "feather", folder / "x.feather"
    yield "dictionary", pa.table({"x": pa.array(column).dictionary_encode()})
    if kind not in ("datetimes", "zoned", "durations"):  # pandas has its own
        yield "categorical", pd.DataFrame({"x": pd.Categorical(column)})


@pytest.mark.parametrize("kind", VALUES)
def test_values_come_back_as_they_came(kind, tmp_path):
    column = cells(kind)
    expected = sorted(set(VALUES[kind]))
    for name, table in tables(kind, tmp_path):
        for memory in (None, "1B"):
            if memory and name == "reader":
                continue
            named = {"columns": ["x"]} if name == "array" else {}
            source = cr.read(table, {"x": "discrete"}, memory=memory, **named)
            states = source.schema["x"].states
            assert list(states) == expected, name
            assert [type(s) for s in states] == [type(e) for e in expected], name
            assert list(map(str, states)) == list(map(str, expected)), name
            whole = source.load() if memory else source
            assert whole.values("x").tolist() == column, name


@pytest.mark.parametrize("kind", VALUES)
def test_models_keep_the_types(kind, tmp_path):
    rows = {"x": cells(kind), "y": list("uvuvuvuv")}
    table = cr.read(rows, {"x": "discrete"})
    states = table.schema["x"].states
    net = cr.fit("[x][y|x]", table, prior=cr.BDeu(1))
    for ending in ("credo", "bif", "net", "xmlbif", "xdsl", "dsc"):
        path = tmp_path / f"m.{ending}"
        net.save(path)
        again = cr.load(path) if ending == "credo" else cr.load(path, types=True)
        found = again.variable("x").states
        assert found == states, ending
        assert [type(s) for s in found] == [type(s) for s in states], ending
        assert list(map(str, found)) == list(map(str, states)), ending
    for state in states:
        text = state.decode("utf-8", "replace") if kind == "bytes" else str(state)
        if "\ufffd" not in text:
            told = net.ask(f'P(y=u | x="{text}")')
            assert float(told) == pytest.approx(net.p("y", {"x": state})["u"])
    filled = net.impute(rows).values("x")
    assert type(filled[2]) is type(states[0]) and set(filled) <= set(states)
    best = net.map(["x"], {"y": "u"})["x"]
    assert type(best) is type(states[0])
    assert {type(s) for s in net.p("x", {"y": "u"})} == {type(s) for s in states}
    assert {type(v) for v in net.sample(20, rng=1).values("x")} <= {type(s) for s in states}


def test_decimals_are_numbers_unless_asked_for(tmp_path):
    for name, table in tables("decimals", tmp_path):
        if name in ("categorical", "array"):
            continue
        read = cr.read(table)
        assert read.schema["x"].kind == "continuous", name
        expected = [np.nan if c is None else float(c) for c in cells("decimals")]
        np.testing.assert_array_equal(read.values("x"), expected)


def test_fractions_are_numbers_and_come_back(tmp_path):
    half, third = Fraction(1, 2), Fraction(1, 3)
    column = [half, third, None, Fraction(3), half]
    for table in ({"x": column}, pd.DataFrame({"x": column}), [{"x": v} for v in column]):
        np.testing.assert_array_equal(cr.read(table)["x"], [0.5, 1 / 3, np.nan, 3, 0.5])
        states = cr.read(table, {"x": "discrete"}).schema["x"].states
        assert states == (third, half, Fraction(3))
        assert set(map(type, states)) == {Fraction}
    assert cr.read({"x": [Fraction(1), Fraction(2), Fraction(1)]}).schema["x"].is_discrete
    mixed = cr.read({"x": [half, 2, D("1.5"), 0.5]})
    assert mixed["x"].tolist() == [0.5, 2.0, 1.5, 0.5]
    assert cr.read({"x": [half, third, half]}, missing=[0.5]).schema.missing["x"] == 2 / 3
    rows = {"x": [third, half, third, half], "y": ["a", "b", "a", "a"]}
    net = cr.fit("[x][y|x]", cr.read(rows, {"x": "discrete"}), prior=cr.BDeu(1))
    for same in (third, 1 / 3, np.float64(1 / 3)):
        assert net.p("y", {"x": same})["a"] == net.p("y", {"x": third})["a"] == pytest.approx(0.9)
    net.save(tmp_path / "net.credo")
    assert cr.load(tmp_path / "net.credo").schema["x"].states == (third, half)
    with pytest.raises(InputError, match="not one that credo writes"):
        from_json({"fraction": "1/0"})


def test_equal_numbers_mean_the_same_state():
    table = cr.read({"x": [D("0.10"), D("2.00"), D("0.10")]}, {"x": "discrete"})
    x = table.schema["x"]
    for same in (D("0.1"), 0.1, np.float64(0.1), D("0.10")):
        assert x.code(same) == 0
    for same in (2, 2.0, np.int64(2), np.float32(2), D(2)):
        assert x.code(same) == 1
    for other in ("2.00", True, 0.3, D("0.1000001")):
        with pytest.raises(UnknownNameError):
            x.code(other)
    floats = cr.Variable("f", "discrete", (0.1, 2.0))
    assert [floats.code(v) for v in (D("0.1"), D("2"), D("2.00"))] == [0, 1, 1]
    yes = cr.Variable("b", "discrete", (D(0), D(1)))
    assert yes.code(True) == 1


def test_states_given_find_the_cells(put):
    path = put("x,y\n1.5,u\n2.250,v\n1.50,u\n")
    for memory in (None, "1B"):
        read = cr.read(path, {"x": [D("2.25"), D("1.50")]}, memory=memory)
        assert read.tally(["x"])["x"].values.tolist() == [1, 2]
    for given in ([1.5, 2.25], [D("1.5"), D("2.25")]):
        read = cr.read(pa.table({"x": [D("1.50"), D("2.25")]}), {"x": given})
        assert read.schema["x"].states == tuple(given)
    floats = cr.read({"x": [0.1, 0.2]}, {"x": [D("0.1"), D("0.2")]})
    assert floats.values("x").tolist() == [D("0.1"), D("0.2")]


@pytest.mark.parametrize("kind", VALUES)
def test_files_of_rows_are_read_again(kind, tmp_path):
    from credo.data.out.writing import write_rows

    table = cr.read({"x": cells(kind), "y": list("uvuvuvuv")}, {"x": "discrete"})
    for ending in ("parquet", "arrow", "csv", "tsv", "jsonl"):
        if kind in ("bytes", "texts") and ending in ("csv", "tsv", "jsonl"):
            continue  # an empty text is a missing cell, and not all bytes are text
        write_rows(tmp_path / f"t.{ending}", table.schema, [table, table])
        again = cr.read(tmp_path / f"t.{ending}", table.schema)
        assert again.values("x").tolist() == cells(kind) * 2, ending


def test_a_text_means_the_state_that_is_written_so():
    day = cr.Variable("d", "discrete", (dt.date(2024, 1, 1), dt.date(2024, 2, 29)))
    assert day.code("2024-02-29") == 1
    time = cr.Variable("t", "discrete", (dt.datetime(2024, 1, 1, 1), dt.datetime(2024, 1, 2)))
    assert time.code("2024-01-02T00:00:00") == time.code("2024-01-02 00:00:00") == 1
    texts = cr.Variable("d", "discrete", ("2024-01-01", "yes", str(UUID(int=5))))
    assert texts.code(dt.date(2024, 1, 1)) == 0 and texts.code(b"yes") == 1
    assert texts.code(UUID(int=5)) == 2
    for other in (dt.date(2024, 1, 2), b"no", b"\xff", UUID(int=6), dt.timedelta(1)):
        with pytest.raises(UnknownNameError):
            texts.code(other)
    number = cr.Variable("n", "discrete", (1, 2))
    with pytest.raises(UnknownNameError):
        number.code("1")


# --- what engines have their own types for ---------------------------------------------------


# --- classifiers ------------------------------------------------------------------------------


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2
    MID = 0


class Word(enum.StrEnum):
    B = "b"
    A = "a"


class Letter(str, enum.Enum):  # noqa: UP042 -- as it was written before StrEnum
    B = "b"
    A = "a"


class Sort(enum.Enum):
    Y = 2
    X = 1


def with_members(kind):
    """The same table with members of an enum, as every kind of table that can hold them."""
    cells = [*kind, None, *reversed(kind)]
    other = [("u", "v")[i % 2] for i in range(len(cells))]
    yield "dict", {"x": cells, "o": other}
    yield "records", [{"x": c, "o": o} for c, o in zip(cells, other, strict=True)]
    yield "objects", pd.DataFrame({"x": pd.Series(cells, dtype=object), "o": other})
    yield "array", {"x": np.array(cells, dtype=object), "o": other}


@pytest.mark.parametrize("kind", [Level, Word, Letter, Sort])
def test_members_of_an_enum_come_back(kind):
    for name, given in with_members(kind):
        table = cr.read(given)
        assert [*map(repr, table.schema["x"].states)] == [*map(repr, kind)], name
        assert table.schema.column("x").reason == "members of an enum"
        assert type(table.values("x")[0]) is kind
        frame = table.to("pandas")
        assert type(frame["x"].iloc[0]) is kind and cr.read(frame).schema == table.schema
        net = cr.fit("[x][o|x]", table, prior=cr.BDeu(1))
        assert type(net.mpe()["x"]) is kind and type(net.sample(2, rng=0).values("x")[0]) is kind
        assert net.p("o", {"x": next(iter(kind))})["u"] > 0


@pytest.mark.parametrize("kind", [Level, Word, Letter])
def test_files_keep_the_text_or_number_that_a_member_is(kind, tmp_path):
    plain = [m.value for m in kind]
    _, given = next(with_members(kind))
    table = cr.read(given)
    net = cr.fit("[x][o|x]", table, prior=cr.BDeu(1))
    for name in ("net.credo", "net.bif", "net.xdsl"):
        net.save(tmp_path / name)
        again = cr.load(tmp_path / name, types=True)
        states = again.variable("x").states
        assert list(states) == plain and {type(s) for s in states} <= {int, str}, name
        assert again.p("o", {"x": next(iter(kind))}) == net.p("o", {"x": plain[0]})
    for name in ("rows.csv", "rows.jsonl", "rows.parquet"):
        net.sample(50, rng=0, path=tmp_path / name)
        assert set(cr.read(tmp_path / name).schema["x"].states) == set(plain), name
    assert table.to("polars")["x"].drop_nulls().unique().sort().to_list() == sorted(plain)
    assert table.to("arrow")["x"].to_pylist()[0] == plain[0]


def test_an_enum_says_the_states_that_no_row_has():
    table = cr.read({"x": [Level.LOW, Level.MID, Level.LOW]}, schema={"x": Level})
    assert table.schema["x"].states == tuple(Level)
    assert cr.read({"x": [Word.A, "b", Word.A]}).schema["x"].states == ("a", "b")


@pytest.mark.parametrize(
    ("states", "cells", "found"),
    [
        ((False, True), ["1", "0", "1.0"], [True, False, True]),
        ((0, 1), ["true", "FALSE", "1"], [1, 0, 1]),
        ((0.0, 1.0), ["true", "0", "1"], [1.0, 0.0, 1.0]),
    ],
)
def test_a_yes_or_no_is_found_however_it_is_written(put, states, cells, found):
    path = put("a,z\n" + "".join(f"{c},x\n" for c in cells))
    typed = [{"true": True, "FALSE": False}.get(c) for c in cells]
    typed = [float(c) if t is None else t for c, t in zip(cells, typed, strict=True)]
    wanted = {"a": cr.Variable("a", "discrete", states), "z": ["x", "y"]}
    for source in (path, {"a": typed, "z": ["x"] * 3}):
        values = cr.read(source, wanted).values("a").tolist()
        assert values == found and set(map(type, values)) == {type(states[0])}
    path.write_text("a,z\n2,x\n0,y\n")
    with pytest.raises(cr.errors.TableError, match="holds '2', which is not one of its states"):
        cr.read(path, wanted)
