"""A column of a text file is the same whether its numbers are taken at once or at the end."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import credo as cr
from credo.data.cells import Tokens
from credo.data.coder import Coder
from credo.data.infer import decide
from credo.data.text_coder import TextCoder

TOKENS = Tokens(["", "NA"], text=True)

decimals = st.integers(-500, 500).map(lambda i: f"{i / 8}")
whole = st.integers(-90, 90).map(str)
odd = st.sampled_from(["x", "NA", "", "1,5", "007", "n/a", "2.0", " 3 ", "1e309", "inf"])


def taken(kind, batches, keep):
    coder = kind("x", missing=TOKENS, keep=keep)
    for batch in batches:
        coder.add(batch)
    decision = decide(coder.profile())
    kept = keep and decision.variable is not None
    return decision, coder.finish(decision.variable) if kept else None, coder


def plain_coder(name, **options):
    return Coder(name, text=True, **options)


@given(
    st.sampled_from([decimals, whole, st.one_of(decimals, whole)]),
    st.lists(odd, max_size=12),
    st.integers(0, 3),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_the_same_column_as_by_states(numbers, others, where, listed, keep, data):
    first = data.draw(st.lists(numbers, min_size=40, max_size=120, unique=True))
    second = data.draw(st.lists(numbers, max_size=60))
    parts = [first, second, second[:5]]
    if others and where < 3:
        parts[where] = parts[where] + others
    batches = [pa.array(p, pa.string()) for p in parts]
    if listed:
        batches = [b.dictionary_encode() for b in batches]
    a, cells, at_once = taken(TextCoder, batches, keep)
    b, same_cells, by_states = taken(plain_coder, batches, keep)
    assert (a.column.kind, a.column.missing) == (b.column.kind, b.column.missing)
    assert a.column.missing_as == b.column.missing_as
    assert a.column.reason == b.column.reason
    assert a.variable == b.variable
    assert a.column.whole == b.column.whole
    assert at_once.rows == by_states.rows
    if cells is not None:
        assert np.array_equal(cells, same_cells, equal_nan=cells.dtype.kind == "f")


def test_whole_numbers_beyond_what_floats_tell_apart_stay_exact(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("n,y\n" + "".join(f"{10**18 + i},{i % 2}\n" for i in range(200)))
    column = cr.read(path).schema.column("n")
    assert "200 different" in column.reason


@pytest.mark.parametrize("memory", [None, "1 MB"])
def test_a_wide_file_of_decimals(tmp_path, memory):
    x = np.random.default_rng(0).normal(size=(60, 300))
    path = tmp_path / "wide.csv"
    pl.DataFrame(x, schema=[f"g{i}" for i in range(300)], orient="row").write_csv(path)
    table = cr.read(path, **({"memory": memory} if memory else {}))
    assert {v.kind for v in table.schema.variables} == {"continuous"}
    moments = cr.tally(table, ["g7"])["g7", []]
    assert moments.mean[0, 0] == pytest.approx(x[:, 7].mean(), rel=1e-12)
