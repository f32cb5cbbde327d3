"""Parts of a table and their sums; states that are alike; Ctrl-C in a tally."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.interrupts import work_after_ctrl_c

import credo as cr
from credo.errors import InputError
from credo.stats.adding_up import added_up
from credo.stats.configurations import grouped

# --- Parts of a table: what one part alone could not hold, and sums of many parts ---


def test_moments_by_configurations_that_no_row_has():
    n = 1200
    table = cr.read(
        {
            "a": [f"a{i % 300}" if i < 600 else None for i in range(n)],
            "b": [f"b{i % 300}" if i >= 600 else None for i in range(n)],
            "x": [i / 7 for i in range(n)],
        },
        {"a": "discrete", "b": "discrete"},
    )
    moments = table.tally([("x", ["a", "b"])])["x", ["a", "b"]]
    assert (len(moments.n), moments.skipped) == (0, n)
    with pytest.raises(InputError, match="The line of 'x' needs at least 4 rows"):
        cr.fit("[a][b][x|a:b]", table, prior=cr.BDeu(1))


def test_small_values_in_one_part_only(tmp_path):
    p = np.r_[1e-200 * np.arange(1, 101), np.linspace(1e-5, 1, 100)]
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"p": p, "y": ["a", "b"] * 100}), path, row_group_size=100)
    whole = cr.read(path).tally(["p", ("p", ["y"])])
    for batches in (cr.read(path, memory=1),):
        assert batches.tally(["p", ("p", ["y"])]).close_to(whole)
    with pytest.raises(InputError, match="'p' are too close together"):
        cr.read({"p": p}).take(slice(0, 100)).tally(["p"])
    pq.write_table(pa.table({"p": 1e-3 * p[:100]}), path, row_group_size=10)
    with pytest.raises(InputError, match="'p' are too close together"):
        cr.read(path, memory=1).tally(["p"])


@given(st.lists(st.lists(st.integers(0, 9), max_size=6)))
def test_parts_are_added_up_in_their_order(parts):
    total = added_up(parts, len, list.__add__)
    assert total == ([x for part in parts for x in part] if parts else None)


@given(
    st.lists(
        st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 3), st.integers(0, 2**32 - 1)),
        max_size=40,
    )
)
def test_groups_are_those_of_numpy(rows):
    where = np.array(rows, dtype=np.uint32).reshape(-1, 3)
    unique, group = grouped(where)
    if len(rows):
        twin, inverse = np.unique(where, axis=0, return_inverse=True)
        assert np.array_equal(unique, twin) and np.array_equal(group, inverse.ravel())


def test_sparse_families_of_a_stream_are_those_of_the_table(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"c{i}" for i in range(22)]
    columns = {n: rng.integers(0, 3, 20_000).astype(np.int8) for n in names}
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=1_000)
    family = [(names[0], names[1:])]
    table, stream = cr.read(path), cr.read(path, memory=1)
    assert stream.tally(family) == table.tally(family)
    assert stream.unique() == table.unique()


@pytest.mark.parametrize("kind", ["discrete", "weighted", "mixed"])
def test_the_learned_graph_does_not_depend_on_the_parts(tmp_path, kind):
    rng = np.random.default_rng(3)
    n = 1_280
    a = rng.integers(0, 3, n)
    b = np.where(rng.random(n) < 0.8, a, rng.integers(0, 3, n))
    rows = {"a": a, "b": b, "twin": b, "c": (b + rng.integers(0, 2, n)) % 3, "d": a[::-1].copy()}
    rows = {name: np.array(list("uvw"))[codes] for name, codes in rows.items()}
    if kind == "mixed":
        x = 1e6 + 0.1 * a + rng.normal(size=n)
        rows |= {"x": x, "y": x + rng.normal(size=n), "z": rng.normal(size=n)}
    if kind != "discrete":
        rows["w"] = rng.random(n)
    found = set()
    for parts in (1, 2, 7, 64):
        folder = tmp_path / str(parts)
        folder.mkdir()
        for i, part in enumerate(np.array_split(rng.permutation(n), parts)):
            some = pa.table({name: cells[part] for name, cells in rows.items()})
            pq.write_table(some, folder / f"{i:02}.parquet")
        how = {} if kind == "discrete" else {"weights": "w"}
        stream = cr.read(folder, memory=1, report=lambda done, total: None, **how)
        found.add(cr.learn(stream, search="hill-climb", rng=0).dag)
    assert len(found) == 1


# --- States that are equal in Python, or written alike, are told apart: True, 1, '1' and 'True' ---


ROWS = {"x": [True, 1, "1", 1, True, True, "True"], "y": ["a", "b", "a", "b", "a", "b", "a"]}


def test_the_report_shows_them_apart():
    table = cr.read(ROWS)
    assert "4: True, 1, '1', 'True'" in str(table.schema)
    assert "2: a, b" in str(table.schema)  # of texts alone the quotes would say nothing
    assert "3: 0.5, 1.5, 2.5" in str(cr.read({"x": [0.5, 1.5, 2.5] * 3}, {"x": "discrete"}).schema)


def test_counts_are_shown_apart():
    tally = cr.tally(cr.read(ROWS), ["x", ("y", ["x"])])
    assert str(tally["x"]).splitlines() == [
        "x=True  x=1  x='1'  x='True'",
        "     3    2      1         1",
    ]
    assert [line.split() for line in str(tally["y", ["x"]]).splitlines()] == [
        ["x", "y=a", "y=b"],
        ["True", "2", "1"],
        ["1", "0", "2"],
        ["'1'", "1", "0"],
        ["'True'", "1", "0"],
    ]


def test_answers_and_tables_are_shown_apart():
    net = cr.fit("[x][y|x]", cr.read(ROWS), prior=cr.BDeu(1))
    first = ["True", "1", "'1'", "'True'"]
    for shown in (net.p("x"), net.cpt("y")):
        assert [line.split()[0] for line in str(shown).splitlines()[-4:]] == first
    assert "x='1'" in str(net.cpt("x"))


def test_they_come_back_in_frames():
    net = cr.fit("[x][y|x]", cr.read(ROWS), prior=cr.BDeu(1))
    cells = net.sample(200, rng=0, to="pandas")["x"].tolist()
    assert {(type(c), c) for c in cells} == {(bool, True), (int, 1), (str, "1"), (str, "True")}


# --- Ctrl-C stops a tally at once, in whichever kernel it is ---


ROWS_INTERRUPTS = """
import numpy as np
import credo as cr
from credo.stats.plan import tally_block
rng = np.random.default_rng(0)
names = [f"v{i}" for i in range(20)]
cells = {name: rng.integers(0, 4, 2_000_000).astype(np.int8) for name in names}
table = cr.read(cells, schema=dict.fromkeys(names, "discrete"))
"""


@pytest.mark.parametrize(
    "work",
    [
        "table.tally([('v0', names[1:])])",
        "table.unique()",
        "tally_block(table.block, [('v0', names[1:9])], threads=2, kernel='sparse')",
        "table.tally([(c, names[i + 1 : i + 8]) for i, c in enumerate(names[:12])])",
    ],
)
def test_a_tally_hears_ctrl_c(work):
    seconds, _ = work_after_ctrl_c(ROWS_INTERRUPTS, work)
    assert seconds < 1.0
