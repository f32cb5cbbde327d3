"""The same cells give the same table, whatever brings them, in whatever batches and order."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from credo.data.sources import feed, files, frames, jsonlines

CELLS = {
    "words": st.sampled_from(["a", "b", "c d", "é", "None"]),
    "ints": st.integers(-2, 3),
    "many ints": st.integers(-(2**60), 2**60),
    "floats": st.floats(-1e6, 1e6).map(lambda x: round(x, 3) + 0.0005),
    "bools": st.booleans(),
}
ENGINES = ["list", "pandas", "arrow", "dictionary", "polars", "lazy", "csv", "parquet", "ipc"]


def through(engine, columns, folder):
    """The columns as this engine brings them."""
    arrow = pa.table({k: pa.array(v) for k, v in columns.items()})
    match engine:
        case "list":
            return dict(columns)
        case "pandas":
            return pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in columns.items()})
        case "arrow":
            return arrow
        case "dictionary":
            coded = {
                k: c.combine_chunks().dictionary_encode() if pa.types.is_string(c.type) else c
                for k, c in zip(columns, arrow.columns, strict=True)
            }
            return pa.table(coded)
        case "polars":
            return pl.from_arrow(arrow)
        case "lazy":
            return pl.from_arrow(arrow).lazy()
        case "csv":
            path = folder / "t.csv"
            pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in columns.items()}).to_csv(
                path, index=False
            )
            return path
        case "parquet":
            path = folder / "t.parquet"
            pq.write_table(arrow, path, row_group_size=5)
            return path
        case "ipc":
            path = folder / "t.arrow"
            with pa.ipc.new_file(path, arrow.schema) as out:
                for batch in arrow.to_batches(max_chunksize=4):
                    out.write_batch(batch)
            return path


def read(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.errors.CredoWarning)
        return cr.read(source, **options)


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=3))
    n = draw(st.integers(2, 30))
    columns = {}
    for i, kind in enumerate(kinds):
        cell = st.one_of(st.none(), CELLS[kind]) if draw(st.booleans()) else CELLS[kind]
        cells = draw(st.lists(cell, min_size=n, max_size=n))
        columns[f"v{i}"] = cells
    columns["last"] = [i % 2 for i in range(n)]  # so that one column can always be used
    return columns


def same_tally(a, b):
    """Counts to the last, moments to rounding."""
    assert a.close_to(b)
    assert all(a[f] == b[f] for f in a if isinstance(a[f], cr.Counts))


def the_same(a, b):
    assert a.schema == b.schema
    assert a.schema.set_aside.keys() == b.schema.set_aside.keys()
    assert a.schema.missing == b.schema.missing
    same_tally(a.tally(), b.tally())


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=25)
@given(columns=tables())
def test_every_engine_and_batch_size_reads_alike(engine, columns, tmp_path_factory):
    folder = tmp_path_factory.mktemp("t")
    expected = read(dict(columns))
    source = through(engine, columns, folder)
    table = read(source)
    the_same(expected, table)
    stream = read(source, memory=1)
    the_same(expected, stream)
    with pytest.MonkeyPatch.context() as patch:
        for module in (feed, files, frames, jsonlines):
            if hasattr(module, "BATCH"):
                patch.setattr(module, "BATCH", 7)
        source = through(engine, columns, folder)
        the_same(expected, read(source))
        the_same(expected, read(source, memory=1))


@given(columns=tables(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_and_columns_changes_nothing(columns, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(columns["last"]))
    shuffled = {k: [columns[k][i] for i in order] for k in rng.permutation(list(columns)).tolist()}
    a, b = read(dict(columns)), read(shuffled)
    assert set(a.schema.variables) == set(b.schema.variables)
    same_tally(a.tally(), b.tally(a.schema.names))


@given(columns=tables(), seed=st.integers(0, 2**32 - 1))
def test_a_row_of_weight_zero_is_absent(columns, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(columns["last"]))
    weights[:2] = 1
    kept = np.repeat(np.arange(len(weights)), weights)
    copies = {k: [v[i] for i in kept] for k, v in columns.items()}
    present = {k: [v[i] for i in np.flatnonzero(weights)] for k, v in columns.items()}
    try:
        weighted = read(dict(columns), weights=weights)
    except cr.errors.TableError:
        return  # nothing usable is left
    assert weighted.schema == read(present).schema
    again = read(copies, schema=weighted.schema)
    same_tally(weighted.tally(), again.tally())
