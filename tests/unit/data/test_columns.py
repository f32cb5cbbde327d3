"""Columns: cells of every Arrow type, batches, and what a column is whatever comes first."""

import datetime
import decimal
import json
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.core.schema import Variable
from credo.data.columns.cells import Tokens, type_name
from credo.data.columns.encoder import Encoder
from credo.data.sources.arrays import sound
from credo.errors import InputError, LimitError, TableError

# --- Cells of every Arrow type, known and unknown beforehand, and what a table gives out ---


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
    with pytest.raises(InputError, match="'polars' or 'dict', got 'csv'"):
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


# --- Dictionaries of batches: what is kept from one batch to the next, and positions that are
#     damaged ---


AB = Variable("x", "discrete", ("a", "b"))


def listed(positions, values, kind=None):
    where = pa.array(positions, kind or pa.int32())
    return pa.DictionaryArray.from_arrays(where, pa.array(values), safe=False)


def encoded(encoder, cells, first=0):
    return encoder.encode(cells, lambda i: first + i + 1).tolist()


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_each_batch_is_told_by_its_own_dictionary(kind):
    encoder = Encoder(AB, Tokens(("?",), False))
    for positions, values, codes in [
        ([0, 1, 0], ["a", "b"], [0, 1, 0]),
        ([1, 1, 0], ["a", "b"], [1, 1, 0]),  # the same dictionary again
        ([0, 1, 0], ["b", "a"], [1, 0, 1]),  # its order turned round
        ([0, None, 1], ["a", "b"], [0, 2, 1]),
        ([0, 1, 2], ["a", "?", None], [0, 2, 2]),  # a word for missing, a null in the dictionary
        ([], ["a"], []),
    ]:
        assert encoded(encoder, listed(positions, values, kind)) == codes


def test_a_value_that_is_no_state_matters_where_a_row_has_it():
    encoder = Encoder(AB, Tokens((), False))
    assert encoded(encoder, listed([0, 1], ["a", "b", "c"])) == [0, 1]
    assert encoded(encoder, listed([1, 1], ["a", "b", "c"])) == [1, 1]
    with pytest.raises(TableError, match=r"Row 7 .*'c'"):
        encoded(encoder, listed([0, 0, 2], ["a", "b", "c"]), first=4)


@pytest.mark.parametrize("arity", [3, 15, 16, 17, 300])
def test_any_number_of_states(arity):
    states = [f"s{i}" for i in range(arity)]
    encoder = Encoder(Variable("x", "discrete", tuple(states)), Tokens((), False))
    rng = np.random.default_rng(arity)
    for _ in range(3):
        turned = rng.permutation(arity)
        positions = rng.integers(0, arity, 5000).astype(np.int32)
        cells = listed(positions, [states[i] for i in turned])
        assert encoded(encoder, cells) == turned[positions].tolist()


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32()])
@pytest.mark.parametrize(("positions", "bad"), [([0, 1, 2], 2), ([0, -1, 1], -1)])
def test_positions_beyond_the_dictionary_are_refused(positions, bad, kind):
    with pytest.raises(TableError, match=f"position {bad} of a dictionary of 2"):
        sound(listed(positions, ["a", "b"], kind), "x", "rows.arrow")


def test_what_a_null_has_for_a_position_says_nothing():
    there = pa.py_buffer(np.array([0b01], dtype=np.uint8))
    beyond = pa.py_buffer(np.array([1, 9], dtype=np.int32))
    where = pa.Array.from_buffers(pa.int32(), 2, [there, beyond])
    cells = pa.DictionaryArray.from_arrays(where, pa.array(["a", "b"]), safe=False)
    assert sound(cells, "x", "rows.arrow") is cells
    assert encoded(Encoder(AB, Tokens((), False)), cells) == [1, 2]


# --- What a column is does not depend on which of its cells come first, nor on how many there
#     are ---


@pytest.mark.parametrize("memory", [None, "1 MB"])
def test_a_wide_file_of_decimals(tmp_path, memory):
    x = np.random.default_rng(0).normal(size=(60, 300))
    path = tmp_path / "wide.csv"
    pl.DataFrame(x, schema=[f"g{i}" for i in range(300)], orient="row").write_csv(path)
    table = cr.read(path, **({"memory": memory} if memory else {}))
    assert {v.kind for v in table.schema.variables} == {"continuous"}
    moments = cr.tally(table, ["g7"])["g7", []]
    assert moments.mean[0, 0] == pytest.approx(x[:, 7].mean(), rel=1e-12)


def column(tmp_path, cells, name="q", **options):
    path = tmp_path / "t.csv"
    path.write_text(f"{name},y\n" + "".join(f"{c},{i % 3}\n" for i, c in enumerate(cells)))
    return cr.read(path, **options).schema.column(name)


def test_many_words_for_missing_and_ways_to_write_leave_few_numbers(tmp_path):
    survey = [i % 5 if i % 2 else 900 + i % 100 for i in range(400)]
    assert column(tmp_path, survey, missing=list(range(900, 1000))).kind == "discrete"
    padded = [" " * (i % 7) + str(i % 9) for i in range(400)]
    assert column(tmp_path, padded).kind == "discrete"
    assert column(tmp_path, [" " * (i % 90) + "5" for i in range(200)]).reason == "every cell is 5"


@pytest.mark.parametrize("late", ["x", "007"])
def test_a_text_that_comes_late_is_a_state_as_one_that_comes_early(tmp_path, late):
    cells = [str(i % 61) for i in range(300_000)]
    first, last = [late, *cells], [*cells, late]
    assert column(tmp_path, first).kind == column(tmp_path, last).kind == "discrete"


def test_too_many_states_are_refused_before_anything_is_allocated(tmp_path):
    path = tmp_path / "t.csv"
    cells = [*map(str, range(80_000)), "NA", "x"]
    path.write_text("z,y\n" + "".join(f"{c},{i % 3}\n" for i, c in enumerate(cells)))
    with pytest.raises(LimitError, match="80,001 states"):
        cr.read(path, {"z": "discrete"})


def test_a_dictionary_that_lists_a_text_twice():
    twice = pa.DictionaryArray.from_arrays(
        pa.array(list(range(3_000)) * 8), pa.array([f"k{i // 2}" for i in range(3_000)])
    )
    table = cr.read(pa.table({"a": twice}))
    assert table.schema["a"].arity == 1_500


def test_dates_that_stand_for_missing_and_dates_that_come_again():
    days = [date(2000, 1, 1) + timedelta(days=i) for i in range(3_000)]
    gone = date(1900, 1, 1)
    rows = {"d": pa.array([*days, *[gone] * 5]), "y": ["a", "b", "c", "a", "b"] * 601}
    seen = cr.read(pa.table(rows), missing=[gone]).schema.column("d")
    assert (seen.missing, seen.reason) == (5, "dates, 3,000 different")
    parts = pa.chunked_array([pa.array(days[:10] * 10_000), pa.array(days * 30)])
    table = pa.table({"d": parts, "y": ["a", "b"] * (len(parts) // 2)})
    assert cr.read(table).schema.column("d").reason == "dates, 3,000 different"


# --- Numbers beside texts: what a column is does not depend on the source or on which come
#     first ---


slow = pytest.mark.slow


def kinds(cells, tmp_path, **options):
    """What a column of these cells is, from each kind of source."""
    other = ["u", "v"] * (len(cells) // 2) + ["u"] * (len(cells) % 2)
    lines = tmp_path / "rows.jsonl"
    rows = [{"x": c, "y": y} for c, y in zip(cells, other, strict=True)]
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = tmp_path / "rows.csv"
    text.write_text("x,y\n" + "".join(f"{c},{y}\n" for c, y in zip(cells, other, strict=True)))
    found = set()
    for source in (lines, text, {"x": cells, "y": other}, rows):
        for how in ({}, {"memory": "1 MB"}) if isinstance(source, type(lines)) else ({},):
            column = cr.read(source, **options, **how).schema.column("x")
            found.add((column.kind, column.reason))
    return found


def test_gaps_and_whole_numbers_stay_what_they_are_when_texts_come_late():
    cells = [None, 1, 2.5] * 50_000 + list("abcdefgh") * 10
    table = cr.read({"x": cells})
    assert table.schema["x"].states == (1, 2.5, *"abcdefgh")
    assert type(table.schema["x"].states[0]) in (int, float)
    assert table.schema.column("x").missing == 50_000


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@pytest.mark.parametrize(
    "numbers",
    [[Decimal("0.1")] * 4, [2**60, 2**60 + 1, 0.5, 0.5], [Fraction(1, 3), 0.5] * 2],
)
def test_numbers_that_are_no_floats_are_never_split_in_two(numbers, tmp_path):
    cells = numbers * 35_000 + ["a"] * 280_000
    found = []
    for rows in (cells, cells[::-1]):
        table = cr.read({"v": rows, "y": ["u", "v"] * (len(rows) // 2)})
        if "v" in table.schema:
            counts = cr.tally(table, ["v"])["v", []]
            found.append({s: counts[s] for s in table.schema["v"].states})
    for counts in found:
        assert sum(counts.values()) == len(cells)
        assert all(counts[n] == 35_000 * numbers.count(n) for n in set(numbers))


@pytest.mark.parametrize("order", [1, -1])
def test_many_numbers_among_more_texts_are_not_called_numbers(put, order):
    n = 60_000
    cells = ["a"] * 2 * n + [f"{i % 15_000 / 7:.4f}" for i in range(n)]
    path = put("v,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells[::order])))
    typed = [c if c == "a" else float(c) for c in cells[::order]]
    for source in (path, {"v": typed, "y": [0, 1] * (len(typed) // 2)}):
        column = cr.read(source).schema.column("v")
        assert (column.kind, "most other" in column.reason) == ("text", False)


def test_weights_do_not_decide_what_a_column_is():
    from credo.estimators import NaiveBayes

    v, k = [1.5, 2.5] * 10 + ["a", "b"] * 15, ["m", "n"] * 25
    y = ["p", "q", "q", "p", "p"] * 10
    model = NaiveBayes().fit({"v": v, "k": k}, y, sample_weight=[10] * 20 + [1] * 30)
    assert set(model.kinds_) == {"v", "k"}
