"""Tables of many columns: screening, and searches that end when their time is over."""

import math

import numpy as np
import pytest

import credo as cr
from credo.train.independence import tests as independence_tests
from credo.train.independence.tests import ManyTests
from credo.train.structure.searches import MOST, WIDE


def chain(columns, rows=60, seed=0, classes=True):
    """Each column leans on the one before it; a class moves the first."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, rows)
    out = {"kind": [("case", "control")[k] for k in kind]} if classes else {}
    x = 2.0 * kind + rng.normal(size=rows)
    for i in range(columns):
        out[f"x{i:03d}"] = x
        x = x + rng.normal(size=rows)
        x = x / x.std()
    return cr.read(out)


@pytest.fixture(scope="module")
def wide():
    return chain(WIDE + 20)


def test_auto_screens_many_continuous_columns_and_says_so(wide):
    net = cr.learn(wide, seconds=2, max_parents=1)
    assert any(f"among the {MOST} columns most correlated" in n for n in net.record.notes)
    r = np.abs(np.corrcoef(np.array(wide.block.arrays[1:])))
    np.fill_diagonal(r, 0)
    rank = np.argsort(np.argsort(-r, axis=1), axis=1)
    names = list(wide.schema.names[1:])
    for a, b in net.dag.edges:
        if a != "kind":
            i, j = names.index(a), names.index(b)
            assert min(rank[i, j], rank[j, i]) < MOST


def test_screening_keeps_rules_and_starts(wide):
    edge = ("x000", f"x{WIDE + 19}")
    net = cr.learn(wide, seconds=1, max_parents=1, required=[edge])
    assert edge in net.dag.edges
    started = cr.learn(wide, seconds=1, max_parents=1, start=cr.Dag([edge], wide.schema.names))
    assert math.isfinite(started.record.score)


def test_other_tables_are_not_screened():
    net = cr.learn(chain(20), seconds=2)
    assert not any("correlated" in n for n in net.record.notes)
    named = cr.learn(chain(30), search="hill-climb")
    assert not any("correlated" in n for n in named.record.notes)


@pytest.mark.parametrize("classes", [True, False], ids=["mixed", "gaussian"])
@pytest.mark.parametrize(
    "search", ["hill-climb", "tabu", "order", "auto", "ges", "pc", "mmhc", "anneal"]
)
def test_a_search_ends_when_its_time_is_over(search, classes):
    table = chain(300, classes=classes)
    net = cr.learn(table, search=search, seconds=0.3)
    assert net.record.reason == "the budget of 0.3 s was spent"
    assert math.isfinite(net.record.score)
    assert net.record.score == pytest.approx(
        float(cr.score(net.dag, table, net.record.details["score"]))
    )


def test_the_tests_that_ended_early_say_where():
    net = cr.learn(chain(300), search="pc", seconds=0.3)
    assert any("the tests took their share of the budget" in n for n in net.record.notes)


def test_many_tests_are_the_same_tests():
    table = chain(12, rows=80)
    names = table.schema.names
    rng = np.random.default_rng(3)
    asked = []
    for _ in range(200):
        k = int(rng.integers(0, 4))
        x, y, *z = rng.choice(names, 2 + k, replace=False).tolist()
        asked.append((x, y, z))
    one_by_one = [independence_tests.tests_of(table, [a])[0].p for a in asked]
    assert ManyTests(table).p(asked) == pytest.approx(one_by_one, rel=1e-9, abs=1e-14)


def test_many_tests_with_gaps_use_the_rows_of_each():
    rng = np.random.default_rng(4)
    columns = {n: rng.normal(size=40).tolist() for n in "abc"}
    columns["c"][3] = None
    table = cr.read(columns)
    asked = [("a", "b", []), ("a", "b", ["c"])]
    many = ManyTests(table)
    assert many.correlations is None
    assert many.p(asked) == pytest.approx([t.p for t in independence_tests.tests_of(table, asked)])


def test_a_tree_stopped_on_its_way_is_a_forest_of_the_first_pairs():
    rng = np.random.default_rng(0)
    n = 400_000  # so many that the pairs are counted in two turns
    first = rng.integers(0, 2, n, dtype=np.int8)
    table = cr.read({f"x{i}": first & rng.integers(0, 2, n, dtype=np.int8) for i in range(120)})
    net = cr.learn(table, "bic", "chow-liu", seconds=1e-6)
    assert net.record.reason == "the budget of 1e-06 s was spent"
    assert 60 < len(net.dag.edges) < 119
    assert all(len(net.dag.parents(n)) <= 1 for n in net.dag.nodes)
