"""A column that is read as numbers at once is the one read as categories first, in everything."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from credo.data.columns import column_scan, profile
from credo.data.sources import text
from credo.errors import CredoError

NUMBERS = {
    "decimals": lambda rng, n: [f"{x:.5f}" for x in rng.normal(size=n)],
    "long": lambda rng, n: [repr(x) for x in rng.normal(size=n).tolist()],
    "whole": lambda rng, n: [str(x) for x in rng.integers(-400, 400, n)],
    "both": lambda rng, n: [str(x) if x % 2 else f"{x}.5" for x in rng.integers(0, 900, n)],
    "as decimals": lambda rng, n: [f"{x}.0" for x in rng.integers(0, 300, n)],
    "large": lambda rng, n: [str(2**53 + x) for x in rng.integers(0, 300, n)],
    "numbered": lambda rng, n: [str(i + 1) for i in range(n)],
}
ODD = [
    "NA",
    "",
    "?",
    "x",
    "1,5",
    "0x10",
    "1_000",
    "inf",
    "1e309",
    "1e-400",
    "007",
    " 2.5 ",
    "é",
    "TRUE",
]
columns = st.tuples(
    st.sampled_from(sorted(NUMBERS)),
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from(ODD)), max_size=4),
    st.sampled_from([0, 0, 0.02, 0.4]),
)
options = st.sampled_from(
    [
        {},
        {"memory": "1kB"},
        {"missing": ["NA", "x"]},
        {"missing": [2.5, "x"]},
        {"missing": []},
        {"schema": {"c0": "continuous"}},
        {"schema": {"c0": "discrete"}},
        {"weights": "some"},
        {"weights": "c0"},
    ]
)


def outcome(path, rows, given_options, guess):
    how = dict(given_options)
    if how.get("weights") == "some":
        how["weights"] = np.arange(rows) % 3
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if not guess:
            patch.setattr(column_scan.ColumnScan, "_many_numbers", lambda self, cells: False)
        patch.setattr(text, "block_of", lambda width: 4_096)
        for module in (column_scan, profile):
            patch.setattr(module, "MAX_STATES", 300)
        try:
            table = cr.read(path, **how)
            loaded = table.load() if isinstance(table, cr.Stream) else table
        except CredoError as error:
            return str(error)
    arrays = [(a.dtype, a.tobytes()) for a in loaded.block.arrays]
    return table.schema, table.schema.columns, arrays, [str(w.message) for w in told]


@settings(max_examples=80)
@given(
    st.lists(columns, min_size=1, max_size=3),
    st.integers(2, 80) | st.integers(60, 1_200),
    st.integers(0, 99),
    options,
    st.sampled_from([".", ","]),
)
def test_numbers_at_once_are_those_of_the_categories(
    tmp_path_factory, made, rows, seed, given_options, point
):
    rng = np.random.default_rng(seed)
    cells = []
    for kind, put, share in made:
        column = NUMBERS[kind](rng, rows)
        for where, word in put:
            column[int(where * (rows - 1))] = word
        gone = rng.random(rows) < share
        cells.append(["NA" if lost else c for c, lost in zip(column, gone, strict=True)])
    if point == ",":
        swapped = str.maketrans(",.", ".,")
        kept = rng.random(len(cells)) < 0.1  # a column of which one cell has a point all the same
        cells = [
            [c.translate(swapped) if i or not keep else c for i, c in enumerate(column)]
            for column, keep in zip(cells, kept, strict=True)
        ]
        given_options = {**given_options, "decimal": ","}
    cut = ";" if point == "," else ","
    lines = [cut.join(f'"{c}"' if cut in c else c for c in row) for row in zip(*cells, strict=True)]
    path = tmp_path_factory.mktemp("numbers") / "t.csv"
    names = cut.join(f"c{i}" for i in range(len(cells)))
    path.write_text("\n".join([f"{names}{cut}last", *(f"{n}{cut}u" for n in lines)]), "utf-8")
    read = outcome(path, rows, given_options, True)
    assert read == outcome(path, rows, given_options, False)
