"""Numbers beside texts: what a column is does not depend on the source or on which come first."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import credo as cr

_ABC = "which is not a number, while most other cells are"


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


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@pytest.mark.parametrize("digits", [1, 6])
@pytest.mark.parametrize("size", [50, 150_000])
@pytest.mark.parametrize("first", [True, False])
def test_decimals_with_one_text_are_doubtful(tmp_path, size, digits, first):
    numbers = np.random.default_rng(0).normal(size=size).round(digits).tolist()
    cells = ["abc", *numbers] if first else [*numbers, "abc"]
    row = 1 if first else size + 1
    assert kinds(cells, tmp_path) == {("doubtful", f"row {row} holds 'abc', {_ABC}")}


@pytest.mark.parametrize("first", [True, False])
def test_a_few_decimals_among_texts_are_states(tmp_path, first):
    texts, numbers = ["lo", "hi"] * 75_000, [1.5, 2.5] * 10
    cells = texts + numbers if first else numbers + texts
    assert kinds(cells, tmp_path) == {("discrete", "text")}


@pytest.mark.parametrize("order", [1, -1])
def test_texts_after_whole_batches_of_decimals_are_states_beside_them(order):
    cells = ([0.5, 1.0, 2.0] * 50_000 + list("abcdefgh") * 100)[::order]
    table = cr.read({"x": cells})
    assert table.schema["x"].states == (0.5, 1.0, 2.0, *"abcdefgh")
    counts = cr.tally(table, ["x"])["x", []]
    assert [counts[s] for s in (0.5, 1.0, 2.0, "a")] == [50_000, 50_000, 50_000, 100]


def test_gaps_and_whole_numbers_stay_what_they_are_when_texts_come_late():
    cells = [None, 1, 2.5] * 50_000 + list("abcdefgh") * 10
    table = cr.read({"x": cells})
    assert table.schema["x"].states == (1, 2.5, *"abcdefgh")
    assert type(table.schema["x"].states[0]) in (int, float)
    assert table.schema.column("x").missing == 50_000


def test_a_text_that_reads_like_a_number_is_none_in_a_frame():
    with pytest.warns(cr.errors.CredoWarning, match="row 3 holds '2.5', which is not a number"):
        table = cr.read({"x": [1.5, 3.5, "2.5", 4.5], "y": list("abab")})
    assert table.schema.column("x").kind == "doubtful"


def test_truth_values_after_decimals_are_no_numbers():
    cells = [0.5, 1.5] * 70_000 + [True, False] * 10
    backwards = cr.read({"x": cells[::-1]}).schema["x"].states
    assert cr.read({"x": cells}).schema["x"].states == backwards
    assert set(map(repr, backwards)) == {"0.5", "1.5", "True", "False"}


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


def test_half_is_not_most():
    assert cr.read({"v": [1.5, "a"] * 20}).schema["v"].states == (1.5, "a")


def test_weights_do_not_decide_what_a_column_is():
    from credo.estimators import NaiveBayes

    v, k = [1.5, 2.5] * 10 + ["a", "b"] * 15, ["m", "n"] * 25
    y = ["p", "q", "q", "p", "p"] * 10
    model = NaiveBayes().fit({"v": v, "k": k}, y, sample_weight=[10] * 20 + [1] * 30)
    assert set(model.kinds_) == {"v", "k"}


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@pytest.mark.parametrize("form", ["{:.1f}%", "${:.2f}", "{:,.0f}"])
def test_amounts_none_of_which_is_a_plain_number_say_so(tmp_path, form):
    cells = [form.format(1e6 * x) for x in np.random.default_rng(0).random(60)]
    text = tmp_path / "rows.csv"
    text.write_text("x;y\n" + "".join(f"{c};{'uv'[i % 2]}\n" for i, c in enumerate(cells)))
    column = cr.read(text).schema.column("x")
    assert column.kind == "doubtful" and "write them as plain numbers" in column.reason
    assert "most other cells" not in column.reason
