"""Searches: their moves made again, and those that are stopped."""

import math
import os
import signal

import numpy as np
import pytest
from tests.structure_data import discrete, random_table

import credo as cr
from credo.train.independence.tests import ManyTests
from credo.train.structure.problem import Problem, Shown

# --- The moves a search leaves on the record, made again from the start, give its graph ---


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


# --- Searches that are stopped: by a budget, with a bound that holds; by Ctrl-C, with what was
#     found ---


@pytest.fixture(scope="module")
def table():
    arities = [2, 3, 2, 2, 3, 2, 2, 4, 2, 3]
    return discrete(random_table(np.random.default_rng(11), 400, arities), arities)


@pytest.mark.parametrize("score", ["bic", "aic", "mdl", "bdeu", "fnml"])
@pytest.mark.parametrize("method", ["dynamic", "linear"])
def test_the_bound_of_a_stopped_proof_is_finite_and_holds(table, score, method, monkeypatch):
    best = cr.learn(table, score, "exact", max_parents=3, method=method)
    assert best.record.details["bound"] == pytest.approx(best.record.score)
    for after in range(1, 12):
        asked = iter(range(after))

        def go_on(self, *rest, left=asked):
            if next(left, None) is None:
                self.stopped = "stopped by the test"
            return not self.stopped

        monkeypatch.setattr(Problem, "go_on", go_on)
        stopped = cr.learn(table, score, "exact", max_parents=3, method=method).record
        monkeypatch.undo()
        if stopped.reason != "stopped by the test":
            break
        bound = stopped.details["bound"]
        assert bound >= best.record.score - 1e-9 and stopped.score <= bound + 1e-9
        assert not stopped.details["proven"]
        if stopped.details.get("families_listed"):  # the lists were whole
            assert math.isfinite(bound)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu"])
def test_each_child_is_bounded_while_its_lists_grow(table, score):
    """Against every family there is: the upper bound of a child is never below one."""
    from credo._core import ParentLists
    from credo.train.scores.family_scores import family_scores
    from credo.train.scores.scores import ScoreSpec
    from credo.train.structure.rules import Rules

    small = table.select(list(table.schema.names[:6]))
    scores = family_scores(small, ScoreSpec.of(score))
    rules = Rules.of(scores.schema)
    n = len(scores.variables)
    top = []
    for c in range(n):
        others = [p for p in range(n) if p != c]
        sets = [[p for k, p in enumerate(others) if at >> k & 1] for at in range(1 << n - 1)]
        top.append(scores.native.score([(c, s) for s in sets]).max())
    for most in (1, 40, 80, 0):  # families after which the lists close
        fresh = family_scores(small, ScoreSpec.of(score))
        lists = ParentLists(fresh.native, *rules.arguments)
        lists.build(64, 0, most)
        assert (lists.upper >= np.array(top) - 1e-9).all()
        if lists.complete:
            assert lists.upper == pytest.approx(top)


@pytest.mark.parametrize("search", ["pc", "mmhc"])
def test_ctrl_c_in_the_tests_keeps_what_they_found(table, search, monkeypatch):
    whole = cr.learn(table, "bic", search)
    plain, calls = ManyTests.p, []

    def p(self, asked):
        calls.append(len(asked))
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return plain(self, asked)

    monkeypatch.setattr(ManyTests, "p", p)
    net = cr.learn(table, "bic", search)
    assert net.record.reason == "interrupted" and net.dag.edges
    assert any("Ctrl-C stopped the tests at sets of" in n for n in net.record.notes)
    assert net.record.details["tests"] < whole.record.details["tests"]


def test_ctrl_c_before_anything_was_found_says_so(table, monkeypatch):
    def interrupt(*rest, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("credo.train.structure.constraint_based.many_tests", interrupt)
    net = cr.learn(table, "bic", "pc")
    assert net.record.reason == "interrupted" and not net.dag.edges
    assert any("nothing was found before Ctrl-C" in n for n in net.record.notes)


def test_colliders_that_contradict_each_other_are_named(monkeypatch):
    """a – b – c – d where the tests see colliders at b and at c: the edge b – c cannot do both."""
    apart = {frozenset("ac"): set(), frozenset("bd"): set(), frozenset("ad"): set()}

    def p(self, asked):
        return np.array([float(frozenset((x, y)) in apart and not z) for x, y, z in asked])

    monkeypatch.setattr(ManyTests, "p", p)
    rng = np.random.default_rng(0)
    rows = discrete({n: rng.integers(0, 2, 200) for n in "abcd"}, [2] * 4)
    net = cr.learn(rows, "bic", "pc")
    assert any("colliders contradict each other" in n for n in net.record.notes)


def test_the_line_of_progress_forgets_nothing():
    shown = Shown()
    shown.line(-100.0, 5, 12, asked=10, seconds=1)
    said = shown.line(0.0, 20_000, 0, asked=1000, seconds=2)  # lists that grow know no graph
    assert said == "score -100.0 · 12 edges · 5 steps · 1,000 families asked, 500 a second"
    assert Shown().line(0.0, 0, 0, asked=0, seconds=0) == ""


@pytest.mark.parametrize("search", ["ges", "order", "k2"])
def test_every_search_says_its_edges_on_the_way(table, search, monkeypatch):
    said = []
    monkeypatch.setattr("credo.core.progress.Ticker.say", lambda self, text: said.append(text))
    more = {"order": list(table.schema.names)} if search == "k2" else {}
    cr.learn(table, "bic", search, **more)
    assert any(" edges · " in s for s in said) and any("a second" in s for s in said)


def test_the_tests_of_pc_are_counted_on_the_way(table, monkeypatch):
    said = []
    monkeypatch.setattr("credo.core.progress.Ticker.say", lambda self, text: said.append(text))
    cr.learn(table, "bic", "pc")
    assert any("tests · " in s and "pairs joined" in s for s in said)
