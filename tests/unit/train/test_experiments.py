"""Rows in which a variable was set: masks in the tally, scores term by term, arrows they decide."""

from __future__ import annotations

import numpy as np
import pytest
from tests.experiment_rows import DAG, all_dags, mbde, network, simulate

import credo as cr
from credo.errors import CredoError, InputError
from credo.model.graphs.reversible import reversible
from credo.train.structure.recipe import arguments_of


def test_scores_equal_the_closed_form_term_by_term() -> None:
    rng = np.random.default_rng(0)
    rows = simulate(rng, 300, network(rng), [None, "A", "B"])
    for text in ("[A][B|A][C|B]", "[A|B][B|C][C]", "[A][B][C|A:B]"):
        found = cr.score(text, rows, "bdeu", ess=3, intervened="set")
        dag = cr.Dag.parse(text)
        for n in dag.nodes:
            want = mbde(rows, n, dag.parents(n), 3)
            assert abs(found[n, list(dag.parents(n))] - want) < 1e-8
    assert "left out of its own family" in found.notes[-1]


def test_all_ways_to_tell_what_was_set_agree() -> None:
    rng = np.random.default_rng(1)
    rows = simulate(rng, 200, network(rng), [None, "A", "B"])
    told = np.array(rows["set"])
    plain = {n: rows[n] for n in "ABC"}
    columns = plain | {f"I{n}": (told == n).astype(int).tolist() for n in "AB"}
    want = cr.score(DAG, rows, "bic", intervened="set")
    masks = {n: told == n for n in "AB"}
    assert abs(cr.score(DAG, plain, "bic", intervened=masks) - want) < 1e-9
    named = {"A": "IA", "B": "IB"}
    assert abs(cr.score(DAG, columns, "bic", intervened=named) - want) < 1e-9
    net = cr.fit(DAG, rows, prior=cr.BDeu(1), intervened="set")
    for n in "ABC":
        assert net.cpt(n).learned.observed.total == (told != n).sum()
    kept = {k: [x for x, t in zip(v, told, strict=True) if t != "B"] for k, v in plain.items()}
    assert np.allclose(
        net.cpt("B").values, cr.fit(DAG, kept, prior=cr.BDeu(1)).cpt("B").values, atol=1e-12
    )


def test_two_variables_set_in_one_row() -> None:
    rows = {"A": [0, 1, 0, 1], "B": [0, 1, 1, 0], "set": ["", "A, B", "B+A", "B"]}
    tally = cr.fit("[A][B|A]", rows, intervened="set")
    assert tally.cpt("A").learned.observed.total == 2
    assert tally.cpt("B").learned.observed.total == 1


def test_experiments_orient_what_rows_alone_cannot() -> None:
    rng = np.random.default_rng(2)
    better = plain = 0
    for _ in range(6):
        net = network(rng)
        rows = simulate(rng, 1500, net, [None, "A", "B"])
        told = cr.learn(rows, intervened="set", search="exact")
        seen = cr.learn(simulate(rng, 1500, net, [None]), search="exact")
        better += DAG.shd(told.dag, of="dag")
        plain += DAG.shd(seen.dag, of="dag")
        assert told.record.details["interventions"] == (("A",), ("B",))
    assert better < plain


@pytest.mark.slow
def test_experiments_orient_over_fifty_tables() -> None:
    rng = np.random.default_rng(3)
    better = plain = 0
    for _ in range(50):
        net = network(rng)
        told = cr.learn(simulate(rng, 1000, net, [None, "A", "B"]), intervened="set")
        seen = cr.learn(simulate(rng, 1000, net, [None]))
        better += DAG.shd(told.dag, of="dag")
        plain += DAG.shd(seen.dag, of="dag")
    assert better < 0.6 * plain


SACHS = (
    "[Plcg][PIP3|Plcg][PIP2|Plcg:PIP3][PKC][PKA|PKC][Raf|PKC:PKA][Mek|PKC:PKA:Raf][Erk|Mek:PKA]"
    "[Akt|Erk:PKA][P38|PKC:PKA][Jnk|PKC:PKA]"
)
"""The graph of signals in a cell that Sachs and others (2005) agreed on."""


def sachs_distances(times, seed):
    """SHD to the truth of what is learned from 2,000 rows, with half of them from experiments and
    with none.
    """
    dag, rng = cr.Dag.parse(SACHS), np.random.default_rng(seed)
    set_ = ["PKC", "PKA", "Mek", "Akt", "PIP2"]
    told, seen = [], []
    for _ in range(times):
        net = cr.Network(
            dag, {n: rng.dirichlet([0.6, 0.6], size=[2] * len(dag.parents(n)) or None) for n in dag}
        )
        parts = [("", net.sample(1000, rng=rng))]
        parts += [(n, net.do({n: s}).sample(100, rng=rng)) for n in set_ for s in (0, 1)]
        rows = {n: np.concatenate([p[n] for _, p in parts]) for n in dag}
        rows["set"] = np.concatenate([[t] * len(p) for t, p in parts])
        told.append(dag.shd(cr.learn(rows, intervened="set").dag, of="dag"))
        seen.append(dag.shd(cr.learn(net.sample(2000, rng=rng)).dag, of="dag"))
    return np.array(told), np.array(seen)


@pytest.mark.slow
def test_experiments_orient_the_graph_of_sachs_over_fifty_tables() -> None:
    told, seen = sachs_distances(50, 0)
    better = seen - told
    assert better.mean() > 4 * better.std() / np.sqrt(50) and told.mean() < 0.75 * seen.mean()


def test_interventional_classes_are_those_of_enumeration() -> None:
    """Equal v-structures, and equal skeletons after each experiment (Hauser & Bühlmann 2012)."""
    rng = np.random.default_rng(4)
    dags = list(all_dags(4))
    assert len(dags) == 543
    for sets in ([["v0"]], [["v1"], ["v2"]], [["v0", "v1"]]):
        classes = {}
        for dag in dags:
            key = (
                frozenset(map(frozenset, dag.edges)),
                frozenset(dag.v_structures()),
                *(frozenset(map(frozenset, dag.do(s).edges)) for s in sets),
            )
            classes.setdefault(key, []).append(dag)
        for at in rng.choice(len(classes), 40, replace=False):
            members = list(classes.values())[at]
            shared = set.intersection(*(set(d.edges) for d in members))
            for dag in members[:2]:
                found = dag.cpdag(interventions=sets)
                assert set(found.directed) == shared
            assert all(d.equivalent(members[0], interventions=sets) for d in members[:4])


def test_learned_arrows_that_experiments_decide_are_not_called_loose(tmp_path) -> None:
    rng = np.random.default_rng(5)
    net = cr.Network("[A][B|A]", {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.2, 0.8]]})
    a = rng.integers(0, 2, 600)
    b = (rng.random(600) < net.cpt("B").values[a, 1]).astype(int)
    told = np.where(rng.random(600) < 0.3, "A", "")
    rows = {"A": a.tolist(), "B": b.tolist(), "set": told.tolist()}
    assert len(reversible(cr.learn({k: rows[k] for k in "AB"}))) == 1
    found = cr.learn(rows, intervened="set")
    assert reversible(found) == ()
    found.save(tmp_path / "model.credo")
    assert reversible(cr.load(tmp_path / "model.credo")) == ()
    assert arguments_of(found.record) == "some of its rows are from experiments"


@pytest.mark.parametrize(
    ("intervened", "said"),
    [
        ("nothing", "nothing"),
        ({"A": [1, 0]}, "for each of the 4 rows"),
        ({"A": [0, 1, 2, 0]}, "must be 0 or 1"),
        ({"Q": [0, 1, 1, 0]}, "'Q'"),
        ({"A": [1, 1, 1, 1]}, "set in every row"),
        (3, "a column that names what was set"),
        ("B", "What was set by 'B'"),
    ],
)
def test_refusals(intervened, said) -> None:
    rows = {"A": [0, 1, 0, 1], "B": ["u", "v", "v", "u"]}
    with pytest.raises(CredoError, match=said):
        cr.fit("[A]", rows, intervened=intervened)


def test_soft_experiments_that_are_refused() -> None:
    rows = {"A": [0, 1, 0, 1], "B": [0, 1, 1, 0], "set": ["", "A", "", ""]}
    fixed = {"A": cr.Cpt(cr.read(rows).schema["A"], (), [0.5, 0.5])}
    with pytest.raises(InputError, match="changes the table of 'A', which is fixed="):
        cr.em("[A][B|A]", rows, intervened="set", soft=True, fixed=fixed)
    with pytest.raises(InputError, match="intervened= is needed"):
        cr.score("[A]", rows, soft=True)


def test_em_without_gaps_is_fit() -> None:
    rng = np.random.default_rng(1)
    rows = simulate(rng, 300, network(rng), [None, "A", "B"])
    fitted = cr.fit(DAG, rows, intervened="set")
    found = cr.em(DAG, rows, intervened="set")
    for n in "ABC":
        np.testing.assert_allclose(found.cpt(n).values, fitted.cpt(n).values, atol=1e-8)


def test_em_with_a_hidden_cause_climbs_the_likelihood_of_what_was_not_set() -> None:
    """The objective is ln P(rows) with P(x | parents) left out where x was set, by enumeration."""
    rng = np.random.default_rng(7)
    dag = cr.Dag.parse("[H][A|H][B|H:A]")
    h = rng.random(400) < 0.4
    set_ = rng.random(400) < 0.5
    a = np.where(set_, rng.random(400) < 0.5, rng.random(400) < np.where(h, 0.9, 0.2))
    b = rng.random(400) < 0.1 + 0.4 * h + 0.4 * a
    told = {"A": a.astype(int), "B": b.astype(int), "set": np.where(set_, "A", "")}
    net = cr.em(dag, told, hidden={"H": 2}, intervened="set", rng=0, restarts=3)
    ph, pa, pb = (net.cpt(n).values for n in "HAB")
    total = 0.0
    for i in range(400):
        x, y = int(a[i]), int(b[i])
        total += np.log(sum(ph[k] * (1.0 if set_[i] else pa[k, x]) * pb[k, x, y] for k in (0, 1)))
    assert abs(net.record.score - total) < 1e-5
    assert np.all(np.diff(net.record.trace) > -1e-6)
    assert abs(net.cpt("A").learned.observed.total - (~set_).sum()) < 1e-6
    with pytest.raises(InputError, match="stepwise"):
        cr.em(dag, told, hidden={"H": 2}, intervened="set", method="stepwise")
    gap = {**told, "A": [None, *a.astype(int)[1:].tolist()], "set": ["A", *told["set"][1:]]}
    with pytest.raises(InputError, match="its cell is missing"):
        cr.em(dag, gap, hidden={"H": 2}, intervened="set")


def test_em_of_a_soft_experiment_has_a_table_for_it() -> None:
    """The objective is ln P(rows), in which A has one table seen and one under the experiment."""
    rng = np.random.default_rng(8)
    dag = cr.Dag.parse("[H][A|H][B|H:A]")
    h = rng.random(600) < 0.4
    set_ = rng.random(600) < 0.5
    a = rng.random(600) < np.where(set_, np.where(h, 0.3, 0.8), np.where(h, 0.9, 0.2))
    b = rng.random(600) < 0.1 + 0.4 * h + 0.4 * a
    told = {"A": a.astype(int), "B": b.astype(int), "set": np.where(set_, "A", "")}
    net = cr.em(dag, told, hidden={"H": 2}, intervened="set", soft=True, restarts=3)
    ph, pa, pb = (net.cpt(n).values for n in "HAB")
    under = net.record.details["soft"]["A under A"]
    total = 0.0
    for i in range(600):
        x, y, table = int(a[i]), int(b[i]), under if set_[i] else pa
        total += np.log(sum(ph[k] * table[k, x] * pb[k, x, y] for k in (0, 1)))
    assert abs(net.record.score - total) < 1e-5
    assert np.all(np.diff(net.record.trace) > -1e-6)
    assert abs(net.cpt("A").learned.observed.total - (~set_).sum()) < 1e-6
    again = cr.em(dag, told, hidden={"H": 2}, intervened="set", soft=True, start=net)
    assert (
        again.record.score == pytest.approx(total, abs=1e-5)
        and again.record.details["iterations"] < net.record.details["iterations"]
    )
    gap = {**told, "A": [None, *a.astype(int)[1:].tolist()], "set": ["A", *told["set"][1:]]}
    assert cr.em(dag, gap, hidden={"H": 2}, intervened="set", soft=True, max_iter=3)


def test_soft_em_without_gaps_is_fit_of_either_part() -> None:
    rng = np.random.default_rng(9)
    rows = simulate(rng, 400, network(rng), [None, "A", "B", "B, C"])
    told = np.array(rows["set"])
    prior = cr.BDeu(2)
    found = cr.em(DAG, rows, prior, intervened="set", soft=True)
    fitted = cr.fit(DAG, rows, prior=prior, intervened="set")
    for n in "ABC":
        np.testing.assert_allclose(found.cpt(n).values, fitted.cpt(n).values, atol=1e-8)
    soft = found.record.details["soft"]
    assert set(soft) == {"A under A", "B under B", "B under B, C", "C under B, C"}
    for name, values in soft.items():
        n, set_ = name.split(" under ")
        part = {m: np.array(rows[m])[told == set_] for m in "ABC"}
        np.testing.assert_allclose(values, cr.fit(DAG, part, prior=prior).cpt(n).values, atol=1e-8)
