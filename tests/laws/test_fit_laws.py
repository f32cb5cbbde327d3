"""Laws of learning parameters: rows add up, order and names do not matter."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import credo as cr
from credo.data import Table
from credo.errors import InputError
from credo.stats.block import Block
from tests.laws.tables import blocks, part

pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")

PRIORS = (None, cr.BDeu(10 / 7), cr.K2(), cr.Laplace(0.3))


def graph_of(schema, rng, most=2):
    """A random graph in which no discrete variable has a continuous parent."""
    names = [*schema.discrete, *schema.continuous]
    edges = []
    for i, child in enumerate(names):
        above = [n for n in names[:i] if schema[n].is_discrete or not schema[child].is_discrete]
        rng.shuffle(above)
        edges += [(p, child) for p in above[: int(rng.integers(0, most + 1))]]
    return cr.Dag(edges, nodes=names)


def fitted(dag, table, **options):
    try:
        return cr.fit(dag, table, **options)
    except InputError as error:  # too few rows for a line, or parents that do not vary
        assume("The line of" not in str(error) and "determine each other" not in str(error))
        raise


def same(a, b, tolerance=0.0):
    for name in a.names:
        p, q = a.cpt(name), b.cpt(name)
        if isinstance(p, cr.Cpt):
            if tolerance == 0.0:
                assert p == q
                continue
            assert np.allclose(p.values, q.values, rtol=1e-11, atol=tolerance)
            assert (p.counts is None) == (q.counts is None)
            continue
        size = 1 + np.abs(q.intercept).max() + np.abs(q.coefficients).max(initial=0.0)
        assert np.allclose(p.variance, q.variance, rtol=1e-5, atol=1e-9)
        assert np.allclose(p.intercept, q.intercept, rtol=1e-6, atol=1e-6 * size)


@given(blocks(min_rows=2, continuous=False), st.integers(0, 10**6), st.sampled_from(PRIORS))
def test_an_update_is_the_fit_of_all_rows(block, seed, prior):
    rng = np.random.default_rng(seed)
    dag = graph_of(block.schema, rng)
    cut = int(rng.integers(1, block.rows))
    first, second = part(block, slice(0, cut)), part(block, slice(cut, block.rows))
    whole = cr.fit(dag, Table(block), prior=prior)
    net = cr.fit(dag, Table(first), prior=prior).update(Table(second))
    exact = block.weights is None or block.weights.dtype.kind == "i"
    same(net, whole, 0.0 if exact else 1e-12)
    assert net.record.score == pytest.approx(whole.record.score, rel=1e-10, abs=1e-9)
    for item, other in zip(net.record.families, whole.record.families, strict=True):
        assert item["skipped"] == pytest.approx(other["skipped"], abs=1e-9)
        assert item["unseen"] == other["unseen"]


@settings(max_examples=40)
@given(blocks(min_rows=30, max_rows=80), st.integers(0, 10**6), st.sampled_from((None, cr.BDeu(2))))
def test_an_update_of_lines_is_the_fit_of_all_rows(block, seed, prior):
    rng = np.random.default_rng(seed)
    dag = graph_of(block.schema, rng, most=1)
    whole = fitted(dag, Table(block), prior=prior)
    net = fitted(dag, Table(part(block, slice(0, 25))), prior=prior)
    same(net.update(Table(part(block, slice(25, block.rows)))), whole, 1e-12)


@given(blocks(min_rows=1, continuous=False, weights=(None, "int")), st.integers(0, 10**6))
def test_the_order_of_rows_and_columns_does_not_matter(block, seed):
    """RELIABILITY, row 8."""
    rng = np.random.default_rng(seed)
    dag = graph_of(block.schema, rng)
    net = cr.fit(dag, Table(block), prior=cr.BDeu(3))
    shuffled = Table(part(block, rng.permutation(block.rows)))
    same(cr.fit(dag, shuffled, prior=cr.BDeu(3)), net)
    names = [str(n) for n in rng.permutation(block.schema.names)]
    again = cr.fit(dag, shuffled.select(names), prior=cr.BDeu(3), threads=2)
    same(again, net)
    assert again.record.score == pytest.approx(net.record.score, rel=1e-12, abs=1e-12)


@given(blocks(min_rows=1, continuous=False, weights=(None,)), st.integers(0, 10**6))
def test_names_and_the_order_of_states_do_not_matter(block, seed):
    """RELIABILITY, row 8: the same model up to the renaming."""
    rng = np.random.default_rng(seed)
    dag = graph_of(block.schema, rng)
    net = cr.fit(dag, Table(block), prior=cr.BDeu(3))
    turned, arrays = [], []
    for v, codes in zip(block.schema.variables, block.arrays, strict=True):
        order = rng.permutation(v.arity)
        turned.append(cr.Variable(f"new {v.name}", "discrete", tuple(v.states[i] for i in order)))
        where = np.append(np.argsort(order), v.arity).astype(np.uint8)
        arrays.append(where[codes])
    renamed = cr.Dag(
        [(f"new {a}", f"new {b}") for a, b in dag.edges], nodes=[f"new {n}" for n in dag.nodes]
    )
    other = cr.fit(renamed, Table(Block(cr.Schema(tuple(turned)), tuple(arrays))), prior=cr.BDeu(3))
    assert other.record.score == pytest.approx(net.record.score, rel=1e-12, abs=1e-12)
    evidence = net.record.details["log_marginal"]
    assert other.record.details["log_marginal"] == pytest.approx(evidence, rel=1e-12, abs=1e-12)
    for name in net.names:
        for states in zip(
            *(np.random.default_rng(seed).choice(p.states, 3) for p in net.cpt(name).parents),
            strict=True,
        ):
            given_ = {p.name: str(s) for p, s in zip(net.cpt(name).parents, states, strict=True)}
            a = net.cpt(name).row(given_, interval=0.9)
            b = other.cpt(f"new {name}").row(
                {f"new {k}": v for k, v in given_.items()}, interval=0.9
            )
            for state in a:
                assert b[state] == pytest.approx(a[state], rel=1e-12)
                i, j = a.variables[0].code(state), b.variables[0].code(state)
                assert b.low[j] == pytest.approx(a.low[i], rel=1e-9, abs=1e-300)


@given(blocks(min_rows=1, continuous=False, weights=("int",)), st.integers(0, 10**6))
def test_a_weight_of_k_is_k_copies(block, seed):
    dag = graph_of(block.schema, np.random.default_rng(seed))
    copies = np.repeat(np.arange(block.rows), block.weights)
    plain = Block(block.schema, tuple(a[copies] for a in block.arrays))
    for prior in PRIORS:
        same(cr.fit(dag, Table(block), prior=prior), cr.fit(dag, Table(plain), prior=prior))


@given(blocks(min_rows=1, continuous=False), st.integers(0, 10**6), st.sampled_from(PRIORS))
def test_tables_are_distributions_and_intervals_hold_the_mean(block, seed, prior):
    dag = graph_of(block.schema, np.random.default_rng(seed))
    net = cr.fit(dag, Table(block), prior=prior)
    for name in net.names:
        table = net.cpt(name)
        assert (table.values >= 0).all() and np.allclose(table.values.sum(axis=-1), 1, atol=1e-12)
        if prior is None:
            continue
        low, high = table.interval(0.99)
        assert (low >= 0).all() and (high <= 1).all() and (low <= high).all()
        assert (table.values <= high).all() or table.counts.sum(axis=-1).min() < 1
    item = net.record.families
    assert sum(i["log_likelihood"] for i in item) == pytest.approx(net.record.score)


@settings(max_examples=15)
@given(blocks(min_rows=5, continuous=False), st.integers(0, 10**6))
def test_a_complete_table_has_the_likelihood_of_the_record(block, seed):
    dag = graph_of(block.schema, np.random.default_rng(seed))
    gone = np.zeros(block.rows, dtype=bool)
    for v, a in zip(block.schema.variables, block.arrays, strict=True):
        gone |= a == v.arity
    assume(not gone.all())
    table = Table(part(block, ~gone))
    for prior in (None, cr.K2()):
        net = cr.fit(dag, table, prior=prior)
        assert net.record.score == pytest.approx(net.log_likelihood(table), rel=1e-12, abs=1e-12)
