"""What was set goes through streams, gaps, averaging, soft experiments and unknown targets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from tests.experiment_rows import DAG, all_dags, mbde, network, simulate

import credo as cr
from credo.errors import CredoError


def written(rows, path):
    """The rows as a text file."""
    names = list(rows)
    lines = [",".join(names), *(",".join(map(str, r)) for r in zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    return simulate(rng, 600, network(rng), [None, "A", "B"])


@pytest.mark.parametrize("soft", [False, True])
def test_a_stream_gives_what_a_table_gives(rows, tmp_path, soft) -> None:
    path = written(rows, tmp_path / "rows.csv")
    table, stream = cr.read(path), cr.read(path, memory="100 B")
    assert isinstance(stream, cr.Stream)
    told = {"intervened": "set", "soft": soft}
    mask = np.array(rows["set"]) == "A"
    for intervened in ("set", {"A": mask}):
        told["intervened"] = intervened
        one, two = (cr.score(DAG, s, "bdeu", **told) for s in (table, stream))
        assert one.families == two.families
    told["intervened"] = "set"
    one, two = (cr.learn(s, **told) for s in (table, stream))
    assert one.dag == two.dag and one.record.score == two.record.score
    assert one.record.details["pairs"] == two.record.details["pairs"]
    one, two = (cr.average(s, **told) for s in (table, stream))
    assert np.array_equal(one.edge_p, two.edge_p)
    if not soft:
        one, two = (cr.fit(DAG, s, intervened="set") for s in (table, stream))
        assert all(np.array_equal(one.cpt(n).values, two.cpt(n).values) for n in "ABC")
    one, two = (
        cr.em("[H][A|H][B|A:H][C|B]", s, hidden={"H": 2}, max_iter=20, **told)
        for s in (table, stream)
    )
    assert one.record.score == pytest.approx(two.record.score, abs=1e-9)
    two.save(tmp_path / "model.credo")
    net = cr.load(tmp_path / "model.credo")
    again = cr.em(net, table, start=net, max_iter=1, **told)  # goes on from where it was
    assert again.record.trace[0] == pytest.approx(two.record.trace[-1], abs=1e-6)


def test_average_is_the_sum_over_all_graphs(rows) -> None:
    """Every one of the 25 graphs weighed by the closed form of its families."""
    post = cr.average(rows, ess=1, intervened="set")
    graphs = [cr.Dag([tuple("ABC"[int(v[1])] for v in e) for e in g.edges], list("ABC"))
              for g in all_dags(3)]  # fmt: skip
    logs = np.array([sum(mbde(rows, n, g.parents(n), 1) for n in "ABC") for g in graphs])
    p = np.exp(logs - logs.max())
    p /= p.sum()
    for a, b in product("ABC", repeat=2):
        if a != b:
            want = sum(w for w, g in zip(p, graphs, strict=True) if (a, b) in g.edges)
            assert float(post.edge(a, b)) == pytest.approx(want, abs=1e-9)
    assert post.record.details["interventions"] == (("A",), ("B",))


def closed(counts, ess):
    n = counts.reshape(-1, 2)
    a, b = ess / len(n), ess / (2 * len(n))
    return float(
        (gammaln(a) - gammaln(a + n.sum(axis=1))).sum() + (gammaln(b + n) - gammaln(b)).sum()
    )


def test_a_soft_experiment_gives_the_family_a_table_of_its_own(rows) -> None:
    found = cr.score(DAG, rows, "bdeu", ess=2, intervened="set", soft=True)
    told = np.array(rows["set"])
    for n in "ABC":
        parents = DAG.parents(n)
        want = 0.0
        for part in (told != n, told == n):
            counts = np.zeros([2] * (len(parents) + 1))
            np.add.at(counts, tuple(np.array(rows[m])[part] for m in (*parents, n)), 1)
            want += closed(counts, 2) if part.any() else 0.0
        assert found[n, list(parents)] == pytest.approx(want, abs=1e-8)


def test_a_soft_experiment_shows_what_moves_the_variable_it_changes() -> None:
    """B still follows A where its table was changed; taken as cut, B would have to move A."""
    rng = np.random.default_rng(5)
    set_ = np.arange(120) >= 20
    a = rng.integers(0, 2, 120)
    b = (rng.random(120) < np.where(set_, 0.8 - 0.6 * a, 0.2 + 0.3 * a)).astype(int)
    rows = {"A": a, "B": b}
    soft, cut = (
        cr.average(rows, intervened={"B": set_}, soft=s).edge("A", "B") for s in (True, False)
    )
    assert soft > 0.9 and cut < 0.1


def test_unknown_targets_are_found() -> None:
    rng = np.random.default_rng(6)
    lab = rng.integers(0, 2, 800)
    a = rng.integers(0, 2, 800)
    b = (rng.random(800) < np.where(lab, 0.5 + 0.4 * a, 0.1 + 0.5 * a)).astype(int)
    c = (rng.random(800) < 0.1 + 0.8 * b).astype(int)
    post = cr.average({"A": a, "lab": lab, "B": b, "C": c}, contexts="lab")
    touched = post.touched("lab")
    assert next(iter(touched)) == "B" and touched["B"] > 0.99
    assert touched["A"] < 0.1 and touched["C"] < 0.1
    assert all(post.edge(n, "lab") == 0 for n in "ABC")
    assert post.edge("A", "B") > 0.9 > post.edge("B", "A")  # what it touched orients the edge
    with pytest.raises(CredoError, match="'B' is not among contexts="):
        post.touched("B")
    with pytest.raises(CredoError, match="'plate'"):
        cr.average({"A": a, "B": b}, contexts=["plate"])


@pytest.mark.parametrize("soft", [False, True])
def test_structural_em_scores_what_was_not_set(soft) -> None:
    """BIC of the observed cells by enumeration, the families of what was set left out or apart."""
    rng = np.random.default_rng(8)
    net = cr.Network(
        DAG, {"A": [0.6, 0.4], "B": [[0.8, 0.2], [0.3, 0.7]], "C": [[0.9, 0.1], [0.2, 0.8]]}
    )
    rows = simulate(rng, 500, net, [None, "A", "B"])
    told = rows["set"]
    gaps = {
        n: [
            None if rng.random() < 0.15 and (soft or told[i] != n) else x
            for i, x in enumerate(rows[n])
        ]
        for n in "ABC"
    }
    found = cr.learn({**gaps, "set": told}, "bic", intervened="set", soft=soft, parameters="mle")
    assert found.dag == DAG  # which rows alone would leave open
    tables = {n: found.cpt(n).values for n in "ABC"}
    under = {n: np.asarray(found.record.details["soft"][f"{n} under {n}"]) for n in "AB" if soft}
    total = 0.0
    for i, set_ in enumerate(told):
        p = 0.0
        for state in product((0, 1), repeat=3):
            value = dict(zip("ABC", state, strict=True))
            if any(gaps[n][i] not in (None, value[n]) for n in "ABC"):
                continue
            own = [
                (under if n == set_ else tables)[n][tuple(value[q] for q in (*DAG.parents(n), n))]
                for n in "ABC"
                if soft or n != set_
            ]
            p += np.prod(own)
        total += np.log(p)
    free = {"A": 1, "B": 2, "C": 2}
    penalty = sum(free[n] * 0.5 * np.log(sum(s != n for s in told)) for n in "ABC")
    penalty += sum(free[n] * 0.5 * np.log(sum(s == n for s in told)) for n in "AB" if soft)
    assert found.record.score == pytest.approx(total - penalty, abs=1e-4)
    assert found.record.details["interventions"] == (("A",), ("B",))


@pytest.mark.parametrize("soft", [False, True])
def test_em_draws_the_gaps_of_rows_from_experiments(soft) -> None:
    rng = np.random.default_rng(9)
    rows = simulate(rng, 300, network(rng), [None, "B"])
    told = rows["set"]
    rows["C"] = [None if rng.random() < 0.3 else x for x in rows["C"]]
    net = cr.em(DAG, rows, cr.BDeu(1), intervened="set", soft=soft, draws=50)
    assert net.record.details["completions"] == 50
    drawn = net.cpt("C").learned.completed
    assert np.allclose(drawn.sum(axis=(1, 2)), len(told) + 1)  # every row, and the prior
    assert np.allclose(net.cpt("A").learned.observed.total, len(told))


def test_a_column_that_names_one_variable_is_no_constant(tmp_path) -> None:
    rng = np.random.default_rng(10)
    rows = simulate(rng, 200, network(rng), [None, "A"])
    path = written(rows, tmp_path / "rows.csv")
    assert "set" in cr.read(path).schema.set_aside
    want = cr.score(DAG, rows, intervened="set")
    assert cr.score(DAG, path, intervened="set") == want
    assert cr.learn(path, intervened="set").record.details["interventions"] == (("A",),)
    assert cr.average(path, intervened="set").record.details["interventions"] == (("A",),)
    fitted = cr.fit(DAG, path, intervened="set")
    again = cr.fit(fitted, path, intervened="set")
    found = cr.em(DAG, path, intervened="set")
    for net in (fitted, again, found):
        assert net.cpt("A").learned.observed.total == sum(s != "A" for s in rows["set"])
    never = {**rows, "I": [0] * 200}
    assert cr.score(DAG, {n: never[n] for n in "ABCI"}, intervened={"A": "I"}) == cr.score(
        DAG, {n: never[n] for n in "ABC"}
    )
    with pytest.raises(CredoError, match="Read the table with schema="):
        cr.learn(cr.read(path), intervened="set")


def test_numbers_that_were_set(tmp_path) -> None:
    rng = np.random.default_rng(12)
    set_ = rng.random(300) < 0.5
    a = rng.normal(size=300)
    b = np.where(set_, 2 * rng.normal(size=300), 2 * a + rng.normal(size=300))
    rows = {"a": a, "b": b, "c": b + rng.normal(size=300), "set": np.where(set_, "b", "no")}
    stream = cr.read(written(rows, tmp_path / "rows.csv"), memory="100 B")
    one, two = (cr.learn(r, intervened="set") for r in (rows, stream))
    assert str(one.dag) == str(two.dag) == "[a][b|a][c|b]"
    assert one.record.score == pytest.approx(two.record.score, abs=1e-8)
    assert one.cpt("b").learned.observed.total == (~set_).sum()
    logs = {**rows, "a": np.exp(a), "b": np.exp(b / 4)}
    net = cr.learn(logs, intervened="set", numbers={"a": "log", "b": "log"})
    plain = cr.learn({**rows, "b": b / 4}, intervened="set", numbers="gaussian")
    slopes = -a.sum() - (b / 4)[~set_].sum()  # of the rows that each family counts
    assert net.record.score == pytest.approx(plain.record.score + slopes, abs=1e-6)
