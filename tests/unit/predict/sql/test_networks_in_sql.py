"""Networks as SQL, run in DuckDB: the statement answers what predict_proba answers."""

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mixed_networks import mixed_network

import credo as cr
from credo.core.scales import Bins, Transform
from credo.predict.sql import statement


def answers(text, rows, table="rows"):
    """The rows of a statement, NaN for NULL."""
    con = duckdb.connect()
    con.register(table, rows)
    found = con.execute(text).fetchall()
    return np.array([[np.nan if v is None else v for v in row] for row in found], float)


def random_network(rng, n, zeros=False):
    names = [f"v {i}" for i in range(n)]
    edges = [(names[i], names[j]) for j in range(n) for i in range(j) if rng.random() < 0.4]
    dag = cr.Dag(edges, nodes=names)
    states = {m: [f"s{k}" for k in range(rng.integers(1, 4))] for m in names}
    tables = {}
    for name in names:
        shape = [len(states[p]) for p in dag.parents(name)]
        table = rng.dirichlet(np.ones(len(states[name])), size=shape)
        if zeros and len(states[name]) > 1:
            table[..., 0] = 0
            table /= table.sum(axis=-1, keepdims=True)
        tables[name] = table
    return cr.Network(dag, tables, states=states)


def with_gaps(net, rng, n, share):
    frame = net.sample(n, rng=int(rng.integers(1000))).to("pandas").astype(object)
    return frame.mask(rng.random(frame.shape) < share, None)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0, 1), st.booleans())
def test_any_network_with_any_gaps(seed, n, share, zeros):
    rng = np.random.default_rng(seed)
    net = random_network(rng, n, zeros)
    rows = with_gaps(net, rng, 30, share)
    target = net.names[int(rng.integers(n))]
    got = answers(net.to_sql("duckdb", target=target), rows)
    if n == 1:
        expected = np.tile(net.p(target).p, (30, 1))
    else:
        expected = net.predict_proba(rows, target)
    np.testing.assert_allclose(got, expected, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_columns_that_the_table_has_not(seed):
    rng = np.random.default_rng(seed)
    net = random_network(rng, 6)
    target, *others = rng.permutation(list(net.names)).tolist()
    have = others[: 1 + seed % 4]
    rows = with_gaps(net, rng, 40, 0.2)[have]
    got = answers(net.to_sql("duckdb", target=target, columns=have), rows)
    np.testing.assert_allclose(got, net.predict_proba(rows, target), atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_without_sums_a_gap_in_the_blanket_has_no_answer(seed):
    rng = np.random.default_rng(seed)
    net = random_network(rng, 6)
    rows = with_gaps(net, rng, 60, 0.15)
    target = net.names[seed % 6]
    got = answers(net.to_sql("duckdb", target=target, gaps="null"), rows)
    expected = net.predict_proba(rows, target)
    known = ~np.isnan(got).any(axis=1)
    np.testing.assert_allclose(got[known], expected[known], atol=1e-9)
    assert known[rows.drop(columns=target).notna().all(axis=1)].all()


@pytest.mark.parametrize("seed", range(10))
def test_numbers_and_states(seed):
    rng = np.random.default_rng(seed)
    net = mixed_network(seed)
    rows = net.sample(60, rng=seed).to("pandas").astype(object)
    rows = rows.mask(rng.random(rows.shape) < 0.1, None)
    for name in net.names:
        if not net.variable(name).is_discrete:
            rows[name] = rows[name].astype(float)
    target = f"d{seed % 3}"
    got = answers(net.to_sql("duckdb", target=target), rows)
    expected = net.predict_proba(rows, target)
    known = ~np.isnan(got).any(axis=1)
    np.testing.assert_allclose(got[known], expected[known], atol=1e-9)
    lacks = np.zeros(len(rows), dtype=bool)  # an observed number, a parent of which is missing
    for name in net.names:
        for parent in net.dag.parents(name):
            if not net.variable(parent).is_discrete:
                lacks |= (rows[name].notna() & rows[parent].isna()).to_numpy()
    assert known[~lacks].all() and known.sum() > 20


SCALES = [
    Transform("log"), Transform("log1p", spread=2.0), Transform("square-root", centre=3.0),
    Transform("logit", low=0.0, high=40.0), Transform("yeo-johnson", centre=1.0, power=0.7),
    Transform("yeo-johnson", power=1e-6), Transform("yeo-johnson", power=0.0),
]  # fmt: skip


@pytest.mark.parametrize("scale", SCALES, ids=lambda s: s.words)
def test_a_number_after_a_transform(scale):
    t = cr.Variable("t", "discrete", ("a", "b"))
    x = cr.Variable("x", "continuous", scale=scale)
    line = cr.LinearGaussian(x, (t,), [0.1, 0.7], np.zeros((2, 0)), [0.5, 0.9])
    net = cr.Network("[t][x|t]", [cr.Cpt(t, (), [0.3, 0.7]), line])
    rows = pd.DataFrame({"x": [0.001, 0.5, 3.0, 9.5, 39.0, np.nan]})
    got = answers(net.to_sql("duckdb", target="t"), rows)
    np.testing.assert_allclose(got, net.predict_proba(rows, "t"), atol=1e-9)
    if scale.domain[0] == 0.0:
        assert np.isnan(
            answers(net.to_sql("duckdb", target="t"), pd.DataFrame({"x": [-1.0]}))
        ).all()


def test_a_number_in_bins_and_states_that_are_intervals():
    t = cr.Variable("t", "discrete", ("a", "b"))
    bins = Bins([1.0, 2.0], [0.0, 1.0, 2.0, 3.0], [0.1, 0.3, 0.2, 0.3, 0.1])
    x = cr.Variable("x", "discrete", scale=bins)
    y = cr.Variable("y", "discrete", ("≤ 1.5", "> 1.5"))
    net = cr.Network("[t][x|t][y|x]", [
        cr.Cpt(t, (), [0.3, 0.7]),
        cr.Cpt(x, (t,), [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]),
        cr.Cpt(y, (x,), [[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]),
    ])  # fmt: skip
    rows = pd.DataFrame({"x": [1.0, 1.01, 2.5, np.nan, np.nan], "y": [1.5, 1.6, 9.0, 1.0, np.nan]})
    got = answers(net.to_sql("duckdb", target="t"), rows)
    np.testing.assert_allclose(got, net.predict_proba(rows, "t"), atol=1e-9)


RAIN = cr.Network("[rain][wet|rain]", {"rain": {"no": 0.8, "yes": 0.2},
                                       "wet": {"no": {1: 1.0, 2: 0.0, 3: 0.0},
                                               "yes": {1: 0.2, 2: 0.8, 3: 0.0}}})  # fmt: skip


def test_what_is_refused_is_null():
    rows = pd.DataFrame({"wet": [1.0, 2.0, 3.0, 4.0, np.nan]})
    got = answers(RAIN.to_sql("duckdb", target="rain"), rows)
    assert np.isnan(got[2:4]).all()  # impossible, and no state
    np.testing.assert_allclose(got[[0, 1, 4]], [[0.8 / 0.84, 0.04 / 0.84], [0, 1], [0.8, 0.2]])
    assert got[1, 0] == 0


def test_infinite_and_far_numbers():
    t = cr.Variable("t", "discrete", ("a", "b"))
    x = cr.Variable("x", "continuous")
    line = cr.LinearGaussian(x, (t,), [0.0, 1.0], np.zeros((2, 0)), [1.0, 1.0])
    net = cr.Network("[t][x|t]", [cr.Cpt(t, (), [0.5, 0.5]), line])
    rows = pd.DataFrame({"x": [np.inf, -np.inf, 1e9, -1e9, 0.5]})
    got = answers(net.to_sql("duckdb", target="t"), rows)
    assert np.isnan(got[:2]).all()
    assert got[2:].round(9).tolist() == [[0, 1], [1, 0], [0.5, 0.5]]


def test_names_and_kept_columns():
    rows = pd.DataFrame({"id": [7, 8], "wet": [1, 2], "p_no": ["u", "v"]})
    text = RAIN.to_sql("duckdb", target="rain", table="main.my rows", keep=["id", "p_no"])
    con = duckdb.connect()
    con.register("frame", rows)
    con.execute('CREATE TABLE "my rows" AS SELECT * FROM frame')
    found = con.sql(text)
    assert found.columns == ["id", "p_no", "p_no_2", "p_yes"]
    assert [row[:2] for row in found.fetchall()] == [(7, "u"), (8, "v")]
    assert text.startswith("-- p_no_2: P('rain' = 'no' | the row)\n")
    query = RAIN.to_sql("duckdb", target="rain", table="(SELECT 2 AS wet)")
    assert con.sql(query).fetchall() == [(0.0, 1.0)]


def test_refusals():
    x = cr.Variable("x", "continuous")
    line = cr.LinearGaussian(x, (), 0.0, np.zeros(0), 1.0)
    with pytest.raises(cr.errors.InputError, match="'x' is continuous; to_sql is for discrete"):
        cr.Network("[x]", [line]).to_sql("duckdb", target="x")
    with pytest.raises(cr.errors.UnknownNameError, match=r"'rian' is not in the model. Did you me"):
        RAIN.to_sql("duckdb", target="rian")
    with pytest.raises(cr.errors.UnknownNameError, match=r"'wett' is not in the model. Did you me"):
        RAIN.to_sql("duckdb", target="rain", columns=["wett"])
    with pytest.raises(cr.errors.InputError, match=r"gaps= is 'sum' or 'null', got 'none'."):
        RAIN.to_sql("duckdb", target="rain", gaps="none")
    with pytest.raises(cr.errors.InputError, match="table= is a name such as 'rows'"):
        RAIN.to_sql("duckdb", target="rain", table="")
    with pytest.raises(cr.errors.InputError, match="'rain' is in the Markov blanket of 'wet' and"):
        RAIN.to_sql("duckdb", target="wet", columns=[], gaps="null")
    mixed = cr.Network("[a][b|a]", {"a": 0.5, "b": {False: 0.1, True: 0.8}})
    odd = cr.Network("[a][b|a]", [
        mixed.cpt("a"), cr.Cpt(cr.Variable("b", "discrete", (1, "x")), mixed.cpt("b").parents,
                               mixed.cpt("b").values)])  # fmt: skip
    with pytest.raises(cr.errors.InputError, match=r"of several types \(number, str\)"):
        odd.to_sql("duckdb", target="a")
    odd = cr.Network("[a][b|a]", [
        mixed.cpt("a"), cr.Cpt(cr.Variable("b", "discrete", (b"u", b"v")), mixed.cpt("b").parents,
                               mixed.cpt("b").values)])  # fmt: skip
    with pytest.raises(
        cr.errors.InputError, match="The state b'u' of 'b' cannot be written in SQL"
    ):
        odd.to_sql("duckdb", target="a")


def test_sizes_are_named_before(monkeypatch):
    rng = np.random.default_rng(3)
    net = random_network(rng, 6)
    target = max(net.names, key=lambda n: len(net.dag.children(n)))
    monkeypatch.setattr(statement, "_TERMS", 3)
    with pytest.raises(cr.errors.LimitError, match=r"needs more than 3 terms .* gaps='null'"):
        net.to_sql("duckdb", target=target)
    monkeypatch.setattr(statement, "_NUMBERS", 3)
    with pytest.raises(cr.errors.LimitError, match=r"would hold \d+ numbers of the model's tables"):
        net.to_sql("duckdb", target=target)


@pytest.mark.slow  # DuckDB plans a statement of so many columns in some seconds
def test_a_thousand_children_are_not_too_deep():
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(1200)]
    tables = {"t": 0.4} | {n: {False: float(a), True: float(b)} for n, (a, b) in
                           zip(names, rng.uniform(0.4, 0.6, (1200, 2)), strict=True)}  # fmt: skip
    net = cr.Network([("t", n) for n in names], tables)
    rows = pd.DataFrame(rng.random((4, 1200)) < 0.5, columns=names)
    got = answers(net.to_sql("duckdb", target="t"), rows)
    np.testing.assert_allclose(got, net.predict_proba(rows, "t"), atol=1e-9)
