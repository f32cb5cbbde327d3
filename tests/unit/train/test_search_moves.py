"""The moves a search leaves on the record, made again from the start, give its graph."""

import numpy as np
import pytest
from tests.structure_data import discrete, random_table

import credo as cr


@pytest.fixture(scope="module")
def alarm(shared_tables):
    folder = shared_tables.parent / "networks"
    if not folder.exists():
        pytest.skip("the shared networks are not on this machine")
    return cr.load(folder / "alarm.bif.gz").sample(800, rng=4)


def replayed(moves, edges=()):
    """The graph after all moves, plainly."""
    graph = set(edges)
    for what, a, b in moves:
        if what in ("orders", "restart"):
            continue
        if what == "add":
            assert (a, b) not in graph and (b, a) not in graph
            graph.add((a, b))
        else:
            graph.remove((a, b))
        if what == "reverse":
            graph.add((b, a))
    return graph


@pytest.mark.parametrize(
    ("search", "options"),
    [
        ("hill-climb", {}),
        ("hill-climb", {"restarts": 3}),
        ("hill-climb", {"polish": 0, "restarts": 2}),
        ("hill-climb", {"max_steps": 20}),
        ("tabu", {}),
        ("tabu", {"restarts": 2, "patience": 20}),
        ("mmhc", {}),
    ],
)
def test_the_moves_of_a_climb_give_its_graph(alarm, search, options):
    net = cr.learn(alarm, "bdeu", search, **options)
    assert replayed(net.record.details["moves"]) == set(net.dag.edges)


def test_the_moves_begin_at_the_start(alarm):
    start = cr.Dag([("LVFAILURE", "HISTORY"), ("CVP", "BP")], alarm.schema.names)
    net = cr.learn(alarm, "bic", "hill-climb", start=start)
    assert replayed(net.record.details["moves"], start.edges) == set(net.dag.edges)
    needed = [("BP", "CVP")]
    net = cr.learn(alarm, "bic", "tabu", required=needed)
    assert replayed(net.record.details["moves"], needed) == set(net.dag.edges)


def test_the_additions_of_k2_and_the_steps_of_ges():
    rng = np.random.default_rng(11)
    table = discrete(random_table(rng, 400, [2, 3, 2, 2, 3, 2, 2]), [2, 3, 2, 2, 3, 2, 2])
    order = list(table.schema.names)
    net = cr.learn(table, "k2", "k2", order=order)
    assert net.dag.edges and replayed(net.record.details["moves"]) == set(net.dag.edges)
    net = cr.learn(table, "bic", "ges")
    joined = set()
    for what, a, b in net.record.details["moves"]:
        (joined.add if what == "insert" else joined.remove)(frozenset((a, b)))
    assert joined == {frozenset(e) for e in net.dag.edges}


def test_the_record_prints_the_score_that_was_searched_for(alarm):
    for score in ("bic", "bdeu"):
        net = cr.learn(alarm, score, "hill-climb")
        assert f"\n  score {score} {net.record.score:.6f}\n" in str(net.record)
