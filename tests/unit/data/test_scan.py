"""What a column is does not depend on which of its cells come first, nor on how many there are."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import credo as cr
from credo.errors import LimitError


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


@pytest.mark.parametrize("odd, options", [("NA", {}), ("-9.0", {"missing": [-9]}), ("7\u00a0", {})])
def test_identifiers_with_a_gap_or_an_odd_blank(tmp_path, odd, options):
    ids = [2**53 + i if odd == "NA" else 1000 + 3 * i for i in range(100)]
    assert column(tmp_path, [*ids, odd], "id", **options).kind == "identifier"


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
