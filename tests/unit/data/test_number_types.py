"""Numbers of several types: which come first does not matter, and each comes back as it was."""

import json
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.data.columns.column_scan import ColumnScan
from credo.data.columns.infer import decide
from credo.errors import TableError


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


# --- 1 stays the integer 1 ----------------------------------------------------------------


@pytest.fixture(params=["dict", "list of dicts", "pandas", "lines", "array", "two files"])
def given_as(request, tmp_path):
    def make(cells):
        rows = [{"x": c, "y": "uv"[i % 2]} for i, c in enumerate(cells)]
        columns = {"x": cells, "y": [r["y"] for r in rows]}
        if request.param == "dict":
            return columns
        if request.param == "list of dicts":
            return rows
        if request.param == "pandas":
            return pd.DataFrame({"x": pd.Series(cells, dtype=object), "y": columns["y"]})
        path = tmp_path / "t.jsonl"
        if request.param == "array":
            path.write_text(json.dumps(rows))
            return path
        half = len(rows) // 2 if request.param == "two files" else len(rows)
        path.write_text("\n".join(map(json.dumps, rows[:half])))
        if half < len(rows):
            (tmp_path / "u.jsonl").write_text("\n".join(map(json.dumps, rows[half:])))
        return str(tmp_path / "*.jsonl")

    return make


def typed(values):
    return [(type(v), v) for v in values]


@pytest.mark.parametrize("memory", [None, "1 B"])
def test_whole_numbers_beside_decimals_stay_whole_as_states(given_as, memory):
    cells = [1, 2.5, 1, 3.0, 2, 2.5]
    table = cr.read(given_as(cells), schema={"x": "discrete"}, memory=memory)
    assert typed(table.schema["x"].states) == typed([1, 2, 2.5, 3.0])
    if memory is None:
        assert typed(table.values("x").tolist()) == typed([1, 2.5, 1, 3.0, 2, 2.5])


def test_both_1_and_1_point_0_are_the_whole_one(given_as):
    for cells in ([1.0, 1, 2.5, 4], [1, 1.0, 2.5, 4]):
        table = cr.read(given_as(cells), schema={"x": "discrete"})
        assert typed(table.schema["x"].states) == typed([1, 2.5, 4])


def test_states_that_are_named_stay_as_they_are_named(given_as):
    table = cr.read(given_as([1, 2.5, 1, 4]), schema={"x": [1.0, 4.0, 2.5]})
    assert typed(table.schema["x"].states) == typed([1.0, 4.0, 2.5])


def test_the_values_of_a_continuous_variable_are_floats(given_as):
    table = cr.read(given_as([1, 2.5, 1, 3]))
    assert table.schema["x"].kind == "continuous"
    assert typed(table.values("x").tolist()) == typed([1.0, 2.5, 1.0, 3.0])


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
