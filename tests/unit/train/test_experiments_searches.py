"""Searches on rows from experiments: by scores, by tests, and with hidden causes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.experiment_rows import all_dags
from tests.graph_classes import by_oracle, random_dag

import credo as cr
from credo.errors import InputError
from credo.train.independence.under_experiments import many_tests, moved
from credo.train.parameters.experiments import experiments
from credo.train.structure import constraint_based
from credo.train.structure.fci import fci


def sampled(net, rng, targets, rows):
    """Rows of which some had a variable set, to each of its states as often."""
    parts = [("", net.sample(rows, rng=rng))]
    parts += [
        (n, net.do({n: s}).sample(rows // 2, rng=rng))
        for n in targets
        for s in net.variable(n).states
    ]
    out = {n: np.concatenate([p[n] for _, p in parts]) for n in net.names}
    return out | {"set": np.concatenate([[t] * len(p) for t, p in parts])}


def drawn(rng, n, density):
    names = [f"v{i}" for i in range(n)]
    order = list(rng.permutation(names))
    dag = cr.Dag([e for e in combinations(order, 2) if rng.random() < density], names)
    tables = {v: rng.dirichlet([1, 1], size=[2] * len(dag.parents(v)) or None) for v in names}
    return cr.Network(dag, tables)


@pytest.mark.parametrize("soft", [False, True])
def test_trees_are_the_best_by_enumeration(soft) -> None:
    rng = np.random.default_rng(0)
    told = {"intervened": "set", "soft": soft}
    graphs = list(all_dags(4))
    trees = [g for g in graphs if all(len(g.parents(v)) < 2 for v in g)]
    augmented = [
        g for g in graphs
        if not g.parents("v0")
        and all("v0" in g.parents(v) and len(g.parents(v)) < 3 for v in ("v1", "v2", "v3"))
    ]  # fmt: skip
    rows = sampled(drawn(rng, 4, 0.6), rng, ["v0", "v2"], 60)

    def score(graph):
        return float(cr.score(graph, rows, "bdeu", ess=2, **told))

    for search, among in (("chow-liu", trees), ("tan", augmented)):
        target = {"target": "v0"} if search == "tan" else {}
        found = cr.learn(rows, "bdeu", search, ess=2, **target, **told)
        assert found.record.score == pytest.approx(max(map(score, among)), abs=1e-8)
    found = cr.learn(rows, "bdeu", "naive-bayes", target="v1", ess=2, **told)
    given = score("[v1][v0|v1][v2|v1][v3|v1]")
    assert found.record.score == pytest.approx(given, abs=1e-8)


def test_ges_mostly_ends_in_the_best_class_of_experiments() -> None:
    rng = np.random.default_rng(1)
    same = 0
    for _ in range(10):
        rows = sampled(drawn(rng, 5, 0.5), rng, ["v0", "v1"], 2000)
        best, found = (
            cr.learn(rows, "bic", search, intervened="set") for search in ("exact", "ges")
        )
        assert found.record.score < best.record.score + 1e-6
        same += found.dag.equivalent(best.dag, interventions=[["v0"], ["v1"]])
    assert same >= 8


def test_ges_turns_an_arrow_that_an_experiment_fixed() -> None:
    """The first arrow is drawn the wrong way round, since what truly moves its head comes later."""
    turned = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = sampled(drawn(rng, 6, 0.45), rng, ["v0", "v1"], 1000)
        moves = cr.learn(rows, "bic", "ges", intervened="set").record.details["moves"]
        turned += any(what == "turn" for what, _, _ in moves)
    assert turned


class Oracle:
    """d-separation for tests, ancestors for experiments."""

    undone = 0

    def __init__(self, dag, sets):
        self.dag, self.sets = dag, sets

    def p(self, asked):
        return [float(self.dag.d_separated(x, y, given=z)) for x, y, z in asked]

    def moved(self, rows, pairs, alpha):
        return {
            (a, b): a in self.dag.ancestors(b)
            for a, b in pairs if any(a in s and b not in s for s in self.sets)
        }  # fmt: skip


def test_pc_with_true_answers_gives_the_class_of_the_experiments(monkeypatch) -> None:
    rng = np.random.default_rng(2)
    for _ in range(40):
        dag = drawn(rng, 6, 0.4).dag
        sets = [list(rng.choice(list(dag), size, replace=False)) for size in (1, 1, 2)]
        oracle = Oracle(dag, sets)
        monkeypatch.setattr(constraint_based, "many_tests", lambda *_, o=oracle: o)
        monkeypatch.setattr(constraint_based, "moved", oracle.moved)
        rows = {v: rng.integers(0, 2, 40) for v in dag}
        found = cr.learn(rows, search="pc", intervened={v: [1] + [0] * 39 for v in dag})
        assert found.dag.equivalent(dag, interventions=sets)


def test_fci_with_true_answers_has_only_true_marks_and_more_of_them() -> None:
    rng = np.random.default_rng(3)
    more = 0
    for _ in range(40):
        dag, names = random_dag(rng, 6, 2)
        plain = by_oracle(dag, names)
        sets = [[names[0]], [names[1], names[2]]]
        oracle = Oracle(dag, sets)

        def independent(asked, oracle=oracle, names=names):
            return oracle.p([(names[i], names[j], [names[v] for v in z]) for i, j, z in asked])

        def told(pairs, oracle=oracle, names=names):
            found = oracle.moved(None, [(names[a], names[b]) for a, b in pairs], 0)
            return {(names.index(a), names.index(b)): m for (a, b), m in found.items()}

        pag = fci(names, independent, None, told)
        marks, before = pag._marks(), plain._marks()
        assert set(marks) == set(before)
        for (a, b), mark in marks.items():
            assert before[a, b] in ("o", mark)
            more += before[a, b] != mark
            if mark != "o":
                assert (mark == "-") == (b in dag.ancestors(a))
    assert more > 40


def cell(rng, rows=3000):
    """a → b ← hidden → c, and d apart; a was set, and c."""
    u = rng.random(rows) < 0.5
    told = rng.choice(["", "a", "c"], rows)
    a = rng.random(rows) < 0.5
    b = rng.random(rows) < 0.1 + 0.5 * a + 0.3 * u
    c = np.where(told == "c", rng.random(rows) < 0.5, rng.random(rows) < 0.2 + 0.6 * u)
    return {"a": a, "b": b, "c": c, "set": told}


def test_fci_of_a_table_knows_what_setting_moves() -> None:
    rows = cell(np.random.default_rng(4), 6000)
    seen = {n: v[rows["set"] == ""] for n, v in rows.items() if n != "set"}
    assert str(cr.learn(seen, search="fci")) == "a o→ b, c o→ b"
    pag = cr.learn(rows, search="fci", intervened="set")
    assert str(pag) == "a → b, b ↔ c" or str(pag) == "a → b, c ↔ b"
    assert "setting a moves b" in pag.why("a", "b")
    assert "setting c does not move b" in pag.why("c", "b")
    assert pag.causes("a", "b") is True and pag.causes("c", "b") is False
    with pytest.raises(InputError, match="nothing was set, and there are none"):
        cr.learn({k: v[rows["set"] != ""] for k, v in rows.items()}, search="fci", intervened="set")


def test_tests_of_a_pair_take_the_rows_in_which_neither_was_set() -> None:
    rows = cell(np.random.default_rng(5), 600)
    table, told = cr.read(rows), rows["set"]
    many = many_tests(experiments(table, "set"))
    p = many.p([("a", "b", ["c"]), ("b", "c", []), ("a", "c", ["b"])])
    for found, (x, y, z, left_out) in zip(
        p, [("a", "b", ["c"], "a"), ("b", "c", [], "c"), ("a", "c", ["b"], "ac")], strict=True
    ):
        kept = np.array([t == "" or t not in left_out for t in told])
        own = {n: rows[n][kept] for n in "abc"}
        assert found == pytest.approx(cr.independence_test(own, x, y, z).p, rel=1e-9)
    always = experiments(cr.read({**rows, "set": np.where(told == "a", "a", "c")}), "set")
    many = many_tests(always)
    assert np.isnan(many.p([("a", "c", [])])).all() and many.undone == 1


def test_what_setting_moves(tmp_path) -> None:
    rng = np.random.default_rng(6)
    n = 900
    told = rng.choice(["", "x", "g"], n)
    g = rng.random(n) < 0.5
    x = np.where(told == "x", rng.normal(size=n) + 1, g + rng.normal(size=n))
    y = x + rng.normal(size=n)
    held = {"g": g, "x": x, "y": y, "set": told}
    pairs = [("x", "g"), ("g", "x"), ("x", "y"), ("g", "y")]
    want = {("x", "g"): False, ("g", "x"): True, ("x", "y"): True, ("g", "y"): True}
    rows = experiments(cr.read(held), "set")
    assert moved(rows, pairs, 0.01) == want
    lines = [",".join(held), *(",".join(map(str, r)) for r in zip(*held.values(), strict=True))]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    stream = cr.read(path, memory="100 B")
    assert isinstance(stream, cr.Stream)
    assert moved(experiments(stream, "set"), pairs, 0.01) == want
    soft = experiments(cr.read(held), "set", soft=True)
    assert moved(soft, [("x", "y"), ("x", "g")], 0.01) == {("x", "y"): True, ("x", "g"): False}
    constant = {
        **held,
        "x": np.where(told == "x", 3.0, x),
        "y": np.where(told == "x", 3, x) + y - x,
    }
    assert moved(experiments(cr.read(constant), "set"), [("x", "y")], 0.01) == {("x", "y"): True}


def test_pc_and_mmhc_turn_what_rows_alone_leave_open() -> None:
    rng = np.random.default_rng(7)
    net = cr.Network(
        "[A][B|A][C|B]",
        {"A": [0.6, 0.4], "B": [[0.8, 0.2], [0.3, 0.7]], "C": [[0.9, 0.1], [0.2, 0.8]]},
    )
    rows = sampled(net, rng, ["A", "B"], 1000)
    back = {n: rows[{"A": "C", "C": "A"}.get(n, n)] for n in "ABC"}
    told = [{"A": "C", "": ""}.get(s, s) for s in rows["set"]]
    for search in ("pc", "mmhc", "ges", "chow-liu"):
        assert str(cr.learn(rows, search=search, intervened="set").dag) == "[A][B|A][C|B]"
        assert str(cr.learn({**back, "set": told}, search=search, intervened="set").dag) == (
            "[A|B][B|C][C]"
        )
