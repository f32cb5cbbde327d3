"""Learning a structure: every search, rules, budgets, sources, records, refusals."""

import os
import re
import signal
import threading
import time

import numpy as np
import pytest
from tests.structure_data import discrete, random_table, sampled

import credo as cr
from credo.errors import InputError, LimitError, UnknownNameError
from credo.train.structure.searches import SEARCHES
from credo.train.structure.trees import maximum_branching

LEARNING = cr.Dag.parse("[A][C][F][B|A][D|A:C][E|B:F]")
GLOBAL = ["auto", "hill-climb", "tabu", "anneal", "order", "exact", "pc", "mmhc", "ges"]


@pytest.fixture(scope="module")
def learning(shared_tables):
    return cr.read(shared_tables / "learning_test.csv")


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(11)
    return discrete(random_table(rng, 400, [2, 3, 2, 2, 3, 2, 2]), [2, 3, 2, 2, 3, 2, 2])


@pytest.mark.parametrize("search", GLOBAL)
def test_every_search_finds_bnlearns_class(learning, search):
    net = cr.learn(learning, "bdeu", search)
    assert net.dag.equivalent(LEARNING), net.dag
    assert net.record.score == pytest.approx(-24028.09477835, abs=1e-6)
    assert net.record.score == pytest.approx(cr.score(net, learning, "bdeu"), rel=1e-12)
    assert net.record.seconds > 0 and net.record.seed == 0 and net.record.reason


def test_the_published_optima(learning, shared_tables):
    tree = cr.learn(learning, "bdeu", "exact", max_parents=1)
    assert tree.record.score == pytest.approx(-24933.777023, abs=1e-5)
    assert cr.learn(learning, "bdeu", "chow-liu").record.score == pytest.approx(
        tree.record.score, rel=1e-12
    )
    lines = cr.read(shared_tables / "gaussian_test.csv.gz")
    best = cr.learn(lines, "bge", "exact")
    assert best.record.score == pytest.approx(-53258.941618, abs=1e-5)
    few = cr.learn(lines, "bge", "exact", max_parents=3)
    assert few.record.score == pytest.approx(-54052.410813, abs=1e-5)


def test_a_mixed_table(shared_tables):
    table = cr.read(shared_tables / "clgaussian_test.csv.gz")
    net = cr.learn(table)
    truth = cr.Dag.parse("[A][B][C][H][D|A:H][F|B:C][E|B:D][G|A:D:E:F]")
    assert set(net.dag.edges) == set(truth.edges)
    assert net.record.details["score"] == "bdeu"
    assert net.p("F").states == ("a", "b")


@pytest.mark.parametrize("search", GLOBAL)
def test_rules_are_kept(small, search):
    names = small.schema.names
    rules = {
        "required": [(names[6], names[0])],
        "forbidden": [(names[0], names[1]), (names[1], names[0])],
        "tiers": [[names[6], names[5]], [names[4], names[3]]],
        "max_parents": 2,
        "candidates": {names[2]: [names[0], names[3]]},
    }
    net = cr.learn(small, "aic", search, **rules)
    dag = net.dag
    assert (names[6], names[0]) in dag.edges
    assert not {(names[0], names[1]), (names[1], names[0])} & set(dag.edges)
    assert all(len(dag.parents(n)) <= 2 for n in names)
    assert set(dag.parents(names[2])) <= {names[0], names[3]}
    late, early = {names[4], names[3]}, {names[6], names[5]}
    assert not any(a in late and b in early for a, b in dag.edges)


def test_a_start_is_gone_on_from(small):
    best = cr.learn(small, "bic", "exact")
    again = cr.learn(small, "bic", "hill-climb", start=best)
    assert again.dag == best.dag and again.record.score == pytest.approx(best.record.score)


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2", "aic"])
@pytest.mark.filterwarnings("ignore:.*one state only")
def test_columns_of_one_state_do_not_swell_the_exact_search(small, score):
    states = {n: list(small.schema[n].states) for n in small.schema.names}
    columns = {n: [states[n][c] for c in small.codes(n)] for n in small.schema.names}
    ones = {f"one{i}": ["only"] * len(small) for i in range(8)}
    kinds = states | {n: ["only"] for n in ones}
    best = cr.learn(small, score, "exact", parameters=None).record
    with_ones = cr.read(ones | columns, schema=kinds)
    net = cr.learn(with_ones, score, "exact", parameters=None)
    assert net.record.score == pytest.approx(best.score, rel=1e-12) and net.record.details["proven"]
    assert net.record.details["families_scored"] <= best.details["families_scored"] + 16
    told = cr.learn(
        with_ones, score, "exact", parameters=None, required=[("one0", net.dag.nodes[-1])]
    )
    assert told.record.score == pytest.approx(best.score, rel=1e-12)  # asked for, it is a parent


def test_the_optimum_is_proven_two_ways(small):
    one = cr.learn(small, "bic", "exact", method="dynamic")
    two = cr.learn(small, "bic", "exact", method="linear")
    assert one.record.score == pytest.approx(two.record.score, rel=1e-12)
    for net in (one, two):
        details = net.record.details
        assert details["proven"] and net.record.reason == "proven optimal"
        assert details["bound"] == pytest.approx(net.record.score, rel=1e-9)


def test_linear_programmes_on_more_variables():
    rng = np.random.default_rng(12)
    arities = [2] * 12
    table = discrete(random_table(rng, 150, arities, 0.5), arities)
    for score in ("bic", "aic"):
        one = cr.learn(table, score, "exact", method="dynamic", max_parents=3)
        two = cr.learn(table, score, "exact", method="linear", max_parents=3)
        assert two.record.details["proven"]
        assert one.record.score == pytest.approx(two.record.score, rel=1e-10)


def test_classifiers_and_trees(learning):
    naive = cr.learn(learning, "bic", "naive-bayes", target="A")
    assert naive.dag.children("A") == ("B", "C", "D", "E", "F")
    assert all(naive.dag.parents(n) == ("A",) for n in "BCDEF")
    tan = cr.learn(learning, "bic", "tan", target="A", root="B")
    assert tan.dag.parents("B") == ("A",)
    assert all(len(tan.dag.parents(n)) <= 2 for n in "BCDEF")
    assert tan.record.score > naive.record.score
    tree = cr.learn(learning, "loglik", "chow-liu", root="D")
    assert len(tree.dag.edges) == 5 and not tree.dag.parents("D")
    kept = cr.learn(learning, "loglik", "chow-liu", required=[("F", "C")])
    assert ("F", "C") in kept.dag.edges and all(len(kept.dag.parents(n)) <= 1 for n in "ABCDEF")


def test_branchings_against_enumeration():
    rng = np.random.default_rng(1)
    for _ in range(60):
        n = int(rng.integers(1, 5))
        gains = rng.normal(size=(n, n))
        np.fill_diagonal(gains, -np.inf)
        best = 0.0
        for choice in np.ndindex(*([n + 1] * n)):
            total, fine = 0.0, True
            for c, p in enumerate(choice):
                if p == c:
                    fine = False
                elif p < n:
                    total += gains[c, p]
            for c in range(n):
                v, steps = c, 0
                while fine and v < n and steps <= n:
                    v, steps = choice[v], steps + 1
                fine = fine and steps <= n
            best = max(best, total) if fine else best
        found = maximum_branching(gains)
        assert sum(gains[c, p] for c, p in enumerate(found) if p >= 0) == pytest.approx(best)


def test_k2_goes_by_its_order(learning):
    net = cr.learn(learning, "k2", "k2", order=list("ACFBDE"))
    assert net.dag == LEARNING
    with pytest.raises(InputError, match="'E' is not in it"):
        cr.learn(learning, "k2", "k2", order=list("ACFBD"))


def test_a_budget_gives_the_best_so_far_and_says_so(small):
    began = time.monotonic()
    net = cr.learn(small, "bic", "anneal", steps=10**9, seconds=0.2)
    assert time.monotonic() - began < 5
    assert net.record.reason == "the budget of 0.2 s was spent"
    assert np.isfinite(net.record.score)


def test_ctrl_c_gives_the_best_so_far_and_says_so(small):
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        net = cr.learn(small, "bic", "anneal", steps=10**9)
    finally:
        timer.cancel()
    assert net.record.reason == "interrupted" and np.isfinite(net.record.score)


def test_a_stream_gives_the_same_network_in_one_pass_a_round(tmp_path):
    rng = np.random.default_rng(13)
    columns = random_table(rng, 500, [2, 3, 2, 2])
    path = tmp_path / "rows.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text(",".join(columns) + "\n" + "\n".join(",".join(map(str, r)) for r in rows))
    kinds = dict.fromkeys(columns, "discrete")
    stream, table = cr.read(path, kinds, memory="1 kB"), cr.read(path, kinds)
    for score in ("bic", "bdeu", "k2"):
        one, two = (cr.learn(s, score, "hill-climb") for s in (stream, table))
        assert one.dag == two.dag
        assert one.record.score == pytest.approx(two.record.score, rel=1e-12)
    counters = one.record.details["counters"]
    assert counters["batches"] <= 2 * (len(one.record.trace) + 1)


def test_the_same_seed_gives_the_same_network_on_any_threads(small):
    for search in ("hill-climb", "tabu", "anneal", "order"):
        nets = [cr.learn(small, "aic", search, rng=3, threads=t) for t in (1, 2, 4)]
        assert len({str(n.dag) for n in nets}) == 1
        assert len({n.record.score for n in nets}) == 1


def test_gaps_are_said_in_the_record():
    rng = np.random.default_rng(14)
    columns = random_table(rng, 300, [2, 2, 3])
    holes = {n: [None if rng.random() < 0.1 else int(v) for v in c] for n, c in columns.items()}
    net = cr.learn(holes, "bic", missing="node-average")
    assert any("cells are missing" in n for n in net.record.notes)
    with pytest.raises(InputError, match="leave out the rows with gaps"):
        cr.learn(holes, "bdeu", missing="node-average")
    assert "structural EM" in cr.learn(holes, "bdeu").record.how


def test_what_is_learned_comes_with_the_prior_of_its_score(small):
    assert cr.learn(small, "bdeu", ess=5).cpt("v0").counts is not None
    assert cr.learn(small, "bic", parameters=None).cpt("v0").counts is None
    assert cr.learn(small, "bic", parameters=cr.BDeu(1)).cpt("v0").counts is not None


def test_a_constant_column_gets_no_edge_and_is_named():
    rng = np.random.default_rng(15)
    columns = random_table(rng, 200, [2, 2])
    table = cr.read({**{n: list(map(int, c)) for n, c in columns.items()}, "one": ["x"] * 200},
                    schema={"one": ["x"], "v0": "discrete", "v1": "discrete"})  # fmt: skip
    with pytest.warns(cr.errors.CredoWarning, match="one state only"):
        net = cr.learn(table, "bic", "hill-climb")
    assert not net.dag.parents("one") and not net.dag.children("one")
    assert any("one is constant" in n for n in net.record.notes)


def test_edge_strengths(small, learning):
    found = cr.edge_strengths(learning, "bic", samples=25, rng=1)
    assert found.strength["A", "B"] == found.strength["B", "A"] == 1.0
    assert found.direction["A", "B"] + found.direction["B", "A"] == pytest.approx(1)
    assert found.average(0.5).shd(LEARNING) <= 2
    assert found["B", "E"] == pytest.approx(found.strength["B", "E"] * found.direction["B", "E"])
    again = cr.edge_strengths(learning, "bic", samples=25, rng=1, threads=1)
    assert again.strength == found.strength and "A → B" in str(found)
    weighted = cr.read({"a": [0, 1, 0], "b": [0, 1, 1]}, weights=[30, 30, 1])
    assert cr.edge_strengths(weighted, "bic", samples=5).strength["a", "b"] == 1.0
    with pytest.raises(InputError, match="samples must be at least 1"):
        cr.edge_strengths(small, samples=0)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"search": "hillclimb"}, "Did you mean 'hill-climb'"),
        ({"required": [("v0", "v1")], "forbidden": [("v0", "v1")]},
         "The required edge v0 → v1 is not allowed: it is forbidden"),
        ({"required": [("v0", "v1"), ("v1", "v0")]}, "The edges make a cycle"),
        ({"required": [("v0", "v1"), ("v1", "v2"), ("v2", "v0")]}, "The edges make a cycle"),
        ({"required": [("v1", "v0")], "tiers": [["v0"], ["v1"]]},
         "'v1' is in a later tier than 'v0'"),
        ({"required": [("v0", "v2"), ("v1", "v2")], "max_parents": 1},
         "'v2' has 2 required parents; max_parents allows 1"),
        ({"forbidden": ["v0v1"]}, "must hold edges (parent, child)"),
        ({"forbidden": [("v0", "w1")]}, "Variable 'w1' is not in the table"),
        ({"tiers": [["v0"], ["v0"]]}, "'v0' is in two tiers"),
        ({"max_parents": -1}, "max_parents must be a whole number"),
        ({"candidates": ["v0"]}, "candidates= must map a child"),
        ({"start": "[v0][v1|v0]", "forbidden": [("v0", "v1")]}, "which the rules do not allow"),
        ({"start": "[v0][w1|v0]"}, "The start's node 'w1' is not in the table"),
        ({"seconds": 0}, "seconds must be a number above 0"),
        ({"rng": -1}, "rng must be a whole-number seed"),
        ({"search": "tabu", "tabbu": 3}, "no option 'tabbu'. Did you mean 'tabu'"),
        ({"search": "tabu", "patience": 0}, "patience must be a whole number, 1 or more"),
        ({"search": "anneal", "hot": 1, "cold": 2}, "Temperatures must fall"),
        ({"search": "tan"}, "This search needs the class"),
        ({"search": "tan", "target": "v9"}, "The target 'v9' is not in the table"),
        ({"search": "pc", "alpha": 2}, "alpha must be between 0 and 1"),
        ({"search": "exact", "method": "magic"}, "method must be 'auto', 'dynamic' or 'linear'"),
        ({"search": "exact", "max_families": 5}, "too many to score"),
        ({"parameters": "best"}, "parameters must be a prior, None, 'auto' or 'mle'"),
    ],
)  # fmt: skip
def test_refusals_say_what_to_do(small, change, text):
    pattern = text if "|" in text else re.escape(text)
    with pytest.raises((InputError, UnknownNameError, LimitError), match=pattern):
        cr.learn(small, "bic", **change)


@pytest.mark.parametrize("search", ["mmhc", "ges", "hill-climb", "order"])
def test_searches_of_mixed_tables(shared_tables, search):
    table = cr.read(shared_tables / "clgaussian_test.csv.gz")
    truth = cr.Dag.parse("[A][B][C][H][D|A:H][F|B:C][E|B:D][G|A:D:E:F]")
    net = cr.learn(table, "bic", search)
    assert set(net.dag.edges) == set(truth.edges)


def test_pc_takes_mixed_tables(shared_tables):
    net = cr.learn(cr.read(shared_tables / "clgaussian_test.csv.gz"), search="pc")
    assert {("A", "G"), ("E", "G"), ("B", "F")} <= set(net.dag.edges)
    assert net.record.details["tests"] > 0


def test_wide_tables_are_prescreened_and_say_so(shared_tables):
    table = cr.read(shared_tables / "dna_splice.csv.gz").take(slice(0, 400))
    net = cr.learn(table, "bic", "order", patience=1, stages=1, threads=1)
    assert any("explored, not exhausted" in n for n in net.record.notes)
    climbed = cr.learn(table, "bic", "hill-climb")
    assert net.record.score >= climbed.record.score
    with pytest.raises(LimitError, match="at most 64 possible parents"):
        cr.learn(table, "bic", "exact")


def test_alarm_reaches_the_score_of_the_true_graph_whatever_the_columns(shared_tables):
    folder = shared_tables.parent / "networks"
    if not folder.is_dir():
        pytest.skip("the shared networks are not on this machine")
    truth = cr.load(folder / "alarm.bif.gz")
    table = sampled(truth, 10_000, 1)
    aim = cr.score(truth, table, "bic")
    net = cr.learn(table, "bic", threads=1)
    assert net.record.score >= aim
    turned = table.select(sorted(table.schema.names))
    assert cr.learn(turned, "bic", threads=1).record.score == net.record.score
    climbed = cr.learn(table, "bic", "hill-climb")
    assert aim <= climbed.record.score <= net.record.score
    assert climbed.record.details["polished"] and "polished: " in str(climbed.record.notes)
    plain = cr.learn(table, "bic", "hill-climb", polish=0)
    assert plain.record.score < climbed.record.score and not plain.record.details["polished"]
    assert net.dag.shd(truth.dag) <= climbed.dag.shd(truth.dag) < plain.dag.shd(truth.dag)


def test_every_search_is_described():
    assert set(SEARCHES) >= set(GLOBAL)


def _selected(columns, rows, seed):
    """Columns of noise, and `child`: `left` or `right`, whichever `switch` points at."""
    rng = np.random.default_rng(seed)
    data = {f"n{i}": rng.integers(0, 2, rows) for i in range(columns)}
    left, right, switch = rng.integers(0, 2, (3, rows))
    child = np.where(rng.random(rows) < 0.02, 1 - left, np.where(switch, left, right))
    data |= {"left": left, "right": right, "switch": switch, "child": child}
    return cr.read({k: v.tolist() for k, v in data.items()})


def test_a_parent_worth_nothing_alone_is_found_in_a_wide_table():
    table = _selected(120, 3000, 1)
    alone = cr.score(cr.Dag([("switch", "child")], ["switch", "child"]), table, "bic")
    without = cr.score(cr.Dag([], ["switch", "child"]), table, "bic")
    assert alone < without
    net = cr.learn(table, "bic", "order", threads=1, stages=1)
    assert {*net.dag.parents("child"), *net.dag.children("child")} == {"left", "right", "switch"}
    kept = cr.learn(table, "bic", "order", stages=1, forbidden=[("switch", "child")])
    assert ("switch", "child") not in kept.dag.edges
    few = cr.learn(table, "bic", "order", stages=1, max_parents=2)
    assert max(len(few.dag.parents(n)) for n in few.names) <= 2


def test_screening_on_fewer_rows_keeps_the_numbers_of_the_variables():
    from credo.train.scores.family_scores import family_scores
    from credo.train.scores.scores import ScoreSpec

    table = _selected(5, 900, 2)
    scores = family_scores(table, ScoreSpec.of("bic"), threads=1)
    assert scores.on_fewer_rows(900, 1) is scores.native
    part = scores.on_fewer_rows(300, 1)
    third = table.take(slice(None, None, 3))
    for child, parents in [("child", ["left", "switch"]), ("n1", [])]:
        asked = [(scores.index[child], [scores.index[p] for p in parents])]
        nodes = [child, *parents]
        graph = cr.Dag([(p, child) for p in parents], nodes)
        assert part.score(asked)[0] == pytest.approx(
            cr.score(graph, third, "bic")[child, tuple(parents)], rel=1e-12
        )
