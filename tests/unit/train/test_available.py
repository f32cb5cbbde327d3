"""Available cases: what parents gain, on the rows that have them."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

import credo as cr
from credo.errors import InputError
from credo.stats.family import Family
from credo.train.scores.family_scores import family_scores
from credo.train.scores.scores import ScoreSpec


def table(seed=0, n=600, rate=0.2):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.8, a, 1 - a)
    c = rng.integers(0, 3, n)
    codes = np.stack([a, b, c], axis=1)
    gone = rng.random(codes.shape) < rate
    columns = {
        m: np.where(gone[:, k], None, codes[:, k].astype(object)) for k, m in enumerate("abc")
    }
    return cr.read(columns, {"a": [0, 1], "b": [0, 1], "c": [0, 1, 2]}), codes, gone


def bdeu(n, ess):
    n = n.reshape(-1, n.shape[-1])
    a = ess / n.size
    return (gammaln(n + a) - gammaln(a)).sum() - (
        gammaln(n.sum(axis=1) + a * n.shape[1]) - gammaln(a * n.shape[1])
    ).sum()


def test_it_is_the_gain_on_the_rows_that_have_the_family():
    rows, codes, gone = table()
    scores = family_scores(rows, ScoreSpec.of("bdeu", ess=2), available=True)
    both = ~gone[:, 0] & ~gone[:, 2]
    n = np.zeros((3, 2))
    np.add.at(n, (codes[both, 2], codes[both, 0]), 1)
    single = np.bincount(codes[~gone[:, 0], 0], minlength=2).astype(float)
    expected = bdeu(n, 2) - bdeu(n.sum(axis=0, keepdims=True), 2) + bdeu(single[None], 2)
    found = scores.of([Family("a", ("c",)), Family("a", ())])
    assert found[0] == pytest.approx(expected, rel=1e-12)
    assert found[1] == pytest.approx(bdeu(single[None], 2), rel=1e-12)


@pytest.mark.parametrize("name", ["loglik", "aic", "bic", "mdl", "bdeu", "bds", "k2"])
def test_without_gaps_it_is_the_score_itself(name):
    rows, *_ = table(rate=0.0)
    gaps, *_ = table(rate=0.2)
    whole = gaps.take(
        np.array(
            [
                i
                for i in range(len(gaps))
                if all(
                    a[i] != v.arity
                    for v, a in zip(gaps.schema.variables, gaps.block.arrays, strict=True)
                )
            ]
        )
    )
    families = [Family("b", ("a",)), Family("b", ("a", "c")), Family("c", ())]
    for t in (rows, whole):
        from credo.train.scores.available import of_available

        plain = family_scores(t, ScoreSpec.of(name))
        native = plain.of(families)
        local = of_available(t, plain.variables, ScoreSpec.of(name))
        at = plain.index
        found = local([(at[f.child], [at[p] for p in f.parents]) for f in families])
        extra = 0.0
        if name == "mdl":  # the bits of structure are added outside
            n = 3
            extra = np.array(
                [-math.log(n) - math.log(math.comb(n - 1, len(f.parents))) for f in families]
            )
        assert np.allclose(found + extra, native, rtol=1e-10)


def test_a_parent_with_gaps_does_not_look_good():
    """Fewer rows are not a gain: a coin that is mostly missing is no one's parent."""
    rng = np.random.default_rng(1)
    n = 2000
    x = rng.integers(0, 2, n)
    coin = np.where(rng.random(n) < 0.7, None, rng.integers(0, 2, n).astype(object))
    rows = cr.read({"x": x, "coin": coin}, {"x": [0, 1], "coin": [0, 1]})
    net = cr.learn(rows, "bic", missing="available-cases", search="hill-climb")
    assert not net.dag.edges
    assert any("rows that have them" in note for note in net.record.notes)


def test_the_graph_is_found_discrete_and_continuous():
    rows, *_ = table(n=2000)
    net = cr.learn(rows, "bdeu", missing="available-cases")
    assert {frozenset(e) for e in net.dag.edges} == {frozenset("ab")}
    rng = np.random.default_rng(2)
    s = rng.integers(0, 2, 1000)
    x = s + rng.normal(0, 0.5, 1000)
    y = 2 * x + rng.normal(0, 0.5, 1000)
    z = rng.normal(size=1000)
    columns = {
        "s": np.where(rng.random(1000) < 0.1, None, s.astype(object)),
        "x": np.where(rng.random(1000) < 0.1, np.nan, x),
        "y": np.where(rng.random(1000) < 0.1, np.nan, y),
        "z": z,
    }
    net = cr.learn(cr.read(columns, {"s": [0, 1]}), "bic", missing="available-cases")
    assert {frozenset(e) for e in net.dag.edges} == {frozenset("sx"), frozenset("xy")}


def test_auto_climbs_where_there_are_many_columns():
    rng = np.random.default_rng(0)
    rows = {
        f"x{k}": np.where(rng.random(40) < 0.1, None, rng.integers(0, 2, 40).astype(object))
        for k in range(14)
    }
    net = cr.learn(rows, "bic", missing="available-cases")
    climbed = cr.learn(rows, "bic", "hill-climb", missing="available-cases")
    assert "auto (hill-climb)" in net.record.how and net.record.score == climbed.record.score


def test_scores_that_do_not_fit_are_refused():
    rows, *_ = table()
    with pytest.raises(InputError, match="available cases"):
        cr.learn(rows, "qnml", missing="available-cases")


def test_structural_em_from_several_starts():
    rows, *_ = table(n=800)
    one = cr.learn(rows, "bic", search="hill-climb")
    three = cr.learn(rows, "bic", search="hill-climb", starts=3)
    assert len(three.record.details["starts"]) == 3
    assert three.record.score == max(three.record.details["starts"]) >= one.record.score
    assert any("3 of 3 starts" in n for n in three.record.notes)
    with pytest.raises(InputError, match="starts"):
        cr.learn(rows, "bic", starts=0)


def test_families_whose_table_would_not_fit_are_left_out():
    """Rows that are nearly all incomplete: parents that few rows have seem to tell much."""
    rng = np.random.default_rng(0)
    rows = {f"v{k}": rng.integers(0, 6, 60).astype(str).astype(object) for k in range(14)}
    for cells in rows.values():
        cells[rng.random(60) < 0.5] = None
    net = cr.learn(rows, missing="available-cases", search="hill-climb")
    assert all(np.prod(net.cpt(n).shape) <= 1e7 for n in net.names)
