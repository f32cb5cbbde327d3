"""Values come in as they are and come back: numbers of every type, states, columns left out."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.data.columns.absent import absent_columns
from credo.data.columns.column_scan import ColumnScan
from credo.data.columns.infer import decide
from credo.errors import CredoWarning, InputError, SchemaError, TableError

# --- Numbers of several types: which come first does not matter, and each comes back as it was ---


def objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


BATCHES = {
    "decimals": objects([Decimal("0.10"), Decimal("2.50")] * 4),
    "Arrow's decimals": pa.array([Decimal("0.10"), Decimal("2.50")] * 4),
    "large": pa.array([2**60 + 1, 2**60 + 3] * 4),
    "larger": objects([2**70 + 1, 2**70 + 3] * 4),
    "floats": pa.array([0.25, 2.5] * 4),
    "fractions": objects([Fraction(1, 3)] * 8),
    "whole": pa.array([1, 2] * 4),
}
MANY_TEXTS, ONE_TEXT = pa.array(["a", "b", "c"] * 9), pa.array(["x"])


def decided(batches, keep=True):
    for guess in (True, False):  # what was taken for numbers and is none is scanned again
        column = ColumnScan("x", keep=keep, guess=guess)
        for batch in batches:
            column.add(batch)
        if not column.misjudged:
            break
    return decide(column.profile())


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("texts", [MANY_TEXTS, ONE_TEXT], ids=["many texts", "one text"])
@pytest.mark.parametrize("names", [n for k in (1, 2) for n in combinations(BATCHES, k)])
def test_the_order_of_numbers_and_texts_does_not_decide(names, texts, keep):
    orders = list(permutations([*(BATCHES[n] for n in names), texts]))
    found = [decided(order, keep) for order in orders]
    assert len({d.column.kind for d in found}) == 1
    assert len({d.variable and frozenset(d.variable.states) for d in found}) == 1
    if texts is MANY_TEXTS:
        assert {"a", "b", "c"} < set(found[0].variable.states)
    else:
        assert found[0].column.kind == ("discrete" if found[0].variable else "doubtful")


@pytest.mark.parametrize("names", [n for k in (1, 2) for n in combinations(BATCHES, k)])
def test_without_texts_they_are_what_floats_would_be(names):
    for order in permutations([BATCHES[n] for n in names]):
        decision = decided(order)
        fractions = set(names) - {"large", "larger", "whole"}
        expected = "continuous" if fractions else "discrete"
        assert decision.column.kind == ("constant" if names == ("fractions",) else expected)


def test_many_different_decimals_are_numbers_whatever_comes():
    cells = [Decimal(i) / 8 for i in range(3_000)]
    for rows in (cells, [1, 2, *cells], [*cells, 1, 2]):
        table = cr.read({"x": rows, "y": ["u", "v"] * (len(rows) // 2)})
        assert table.schema["x"].kind == "continuous"
        assert table.values("x").tolist() == [float(c) for c in rows]


def test_decimals_are_continuous_to_the_last_digit():
    cells = [Decimal("0.10"), Decimal("2.50"), None, Decimal("1e3")] * 3
    table = cr.read({"x": cells})
    assert table.schema.column("x").missing == 3
    assert table.values("x")[[0, 1, 3]].tolist() == [0.1, 2.5, 1000.0]
    notes = cr.read({"x": [Decimal("1.0"), Decimal("2.0"), 3] * 4}).schema.column("x").notes
    assert "whole numbers stored as decimals" in notes[0]
    with pytest.warns(cr.errors.CredoWarning, match="not finite"):
        aside = cr.read({"x": [Decimal("1.5"), 2, float("inf")], "y": ["u", "v", "u"]})
    assert aside.schema.column("x").kind == "doubtful"


# --- booleans as numbers ------------------------------------------------------------------

NUMBERS = {"b": "continuous"}


@pytest.mark.parametrize("memory", [None, "1 B"])
def test_booleans_asked_for_as_continuous_are_0_and_1_from_every_table(tmp_path, memory):
    path, lines, parquet = tmp_path / "t.csv", tmp_path / "t.jsonl", tmp_path / "t.parquet"
    path.write_text("a,b\nu,true\nv,FALSE\nu,NA\nv, True\n")
    cells = {"a": ["u", "v", "u", "v"], "b": [True, False, None, True]}
    frame = pl.DataFrame(cells)
    frame.write_ndjson(lines)
    frame.write_parquet(parquet)
    for given in (path, lines, parquet, cells, frame, frame.to_pandas(), frame.to_arrow()):
        table = cr.read(given, schema=NUMBERS, memory=memory)
        rows = table.load() if isinstance(table, cr.Stream) else table
        assert np.array_equal(rows.values("b"), [1.0, 0.0, np.nan, 1.0], equal_nan=True)
        assert table.schema.column("b").missing == 1
        assert cr.read(given).schema["b"].states == (False, True)


@pytest.mark.parametrize("memory", [None, "1 B"])
def test_booleans_among_many_numbers_asked_for(tmp_path, memory):
    path = tmp_path / "t.csv"
    cells = [f"{i}.5" for i in range(100)] + ["true", "False"]
    path.write_text("a,b\n" + "".join(f"{'uv'[i % 2]},{c}\n" for i, c in enumerate(cells)))
    table = cr.read(path, schema=NUMBERS, memory=memory)
    rows = table.load() if isinstance(table, cr.Stream) else table
    assert rows.values("b").tolist() == [*(i + 0.5 for i in range(100)), 1.0, 0.0]
    path.write_text(path.read_text() + "u,yes\n")
    with pytest.raises(
        TableError, match="Row 103 of column 'b' holds 'yes', which is not a number"
    ):
        cr.read(path, schema=NUMBERS, memory=memory)


# --- What comes in comes back: whole numbers whole, states as they were, repeated keys not at
#     all ---


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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_inside_a_file_is_part_of_its_cell(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_text('c0,c1\n\ufeffz,"x"\n\ufeffz,""""\nq,b\n', encoding=encoding)
    assert cr.read(path).schema["c0"].states == ("q", "\ufeffz")


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


# --- Columns that rows lack: told where they seem to be renamed, and not where they are left
#     out ---


@pytest.mark.parametrize(
    ("wanted", "given", "alike"),
    [
        ("Sex", ["sex", "Age"], "sex"),
        ("bill_length_mm", ["Bill length (mm)"], "Bill length (mm)"),
        ("temperature", ["temprature"], "temprature"),
        ("x1", ["x2", "x11"], None),
        ("income", ["outcome", "id"], None),
        ("age", [], None),
    ],
)
def test_renamed_columns(wanted, given, alike):
    told = absent_columns([wanted], given, near=True)
    assert told == (
        []
        if alike is None
        else [f"{wanted!r} is not in the rows and is taken as missing; did you mean {alike!r}?"]
    )
    assert len(absent_columns([wanted], given)) == 1


@pytest.fixture(scope="module")
def net():
    return cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis").network()


def test_a_network_tells_of_renamed_columns(net):
    with pytest.warns(CredoWarning, match="'Wind' is not in the rows .* did you mean 'wind'"):
        p = net.predict_proba({"wind": ["Weak"], "Outlook": ["Sunny"]}, "PlayTennis")
    assert p == pytest.approx(net.predict_proba({"Outlook": ["Sunny"]}, "PlayTennis"))
    with pytest.warns(CredoWarning, match="did you mean 'wind'"):
        net.log_likelihood(cr.read({"wind": ["Weak", "Strong"], "Outlook": ["Sunny", "Rain"]}))
    with pytest.raises(InputError, match="no column of the model but 'PlayTennis'"):
        net.predict_proba({"wind": ["Weak"]}, "PlayTennis")


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@pytest.mark.parametrize("form", ["{:.1f}%", "${:.2f}", "{:,.0f}"])
def test_amounts_none_of_which_is_a_plain_number_say_so(tmp_path, form):
    cells = [form.format(1e6 * x) for x in np.random.default_rng(0).random(60)]
    text = tmp_path / "rows.csv"
    text.write_text("x;y\n" + "".join(f"{c};{'uv'[i % 2]}\n" for i, c in enumerate(cells)))
    column = cr.read(text).schema.column("x")
    assert column.kind == "doubtful" and "write them as plain numbers" in column.reason
    assert "most other cells" not in column.reason
