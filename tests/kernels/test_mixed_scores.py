"""The native conditional Gaussian scores against their twin in NumPy."""

import math

import numpy as np
import pytest
from tests.kernels.mixed_score_twin import line

import credo as cr
from credo import _core
from credo.stats.family import Family
from credo.train.parameters.lines import line_score
from credo.train.scores import score_sources
from credo.train.scores.family_scores import family_scores
from credo.train.scores.local_scores import moments_by_group
from credo.train.scores.scores import ScoreSpec


def mixed_table(rows=300, seed=0, weights=False):
    """Two discrete columns and six numbers: one a copy, one nearly so, one constant in a state."""
    rng = np.random.default_rng(seed)
    d, e = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    x = rng.normal(size=rows) + d
    y = 1e3 * (x * (1 + e) + rng.normal(size=rows)) + 1e6
    z = rng.normal(size=rows) - y / 1e3
    columns = {
        "d": [f"d{v}" for v in d],
        "e": [f"e{v}" for v in e],
        "x": x,
        "y": y,
        "z": z,
        "copy": 2 * x,
        "close": x + 1e-2 * rng.normal(size=rows),
        "still": np.where(d == 1, 0.0, rng.normal(size=rows)),
    }
    if weights:
        columns["w"] = rng.uniform(0.5, 2.0, rows)
        return cr.read(columns, weights="w")
    return cr.read(columns)


def random_families(variables, rng, count):
    names = [v.name for v in variables]
    continuous = [v.name for v in variables if not v.is_discrete]
    out = []
    for _ in range(count):
        child = continuous[rng.integers(len(continuous))]
        others = [n for n in names if n != child]
        k = int(rng.integers(0, len(others)))
        out.append(Family(child, tuple(sorted(rng.choice(others, k, replace=False)))))
    return out


def agree(found, expected):
    return found == expected or math.isclose(found, expected, rel_tol=1e-9)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("score, penalty", [("bic", "ln"), ("aic", 1.0), ("loglik", 0.0)])
def test_scores_are_those_of_the_twin(score, penalty, threads, weights):
    table = mixed_table(weights=weights)
    scores = family_scores(table, ScoreSpec.of(score), threads=threads)
    penalty = 0.5 * math.log(scores.rows) if penalty == "ln" else penalty
    families = random_families(scores.variables, np.random.default_rng(1), 400)
    found = scores.of(families)
    finite = 0
    for family, value in zip(families, found, strict=True):
        parents = list(family.parents)
        if {"x", "copy"} <= {family.child, *parents}:
            assert value == -math.inf, family  # collinear, whichever of them is the child
            continue
        assert agree(value, line(table, scores.variables, penalty, family.child, parents)), family
        finite += math.isfinite(value)
    assert finite > 30


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("rows", [9, 40, 300])
def test_marginal_likelihoods_are_those_of_the_prior_in_numpy(rows, weights):
    """`LinePrior(like_all=1)` with its numbers, lines integrated out, slopes as few rows ask."""
    table = mixed_table(rows, weights=weights)
    scores = family_scores(table, ScoreSpec.of("bdeu"), threads=2)
    names = [v.name for v in scores.variables if v.name != "copy"]  # which of two is left out hangs
    families = random_families(
        [v for v in scores.variables if v.name in names], np.random.default_rng(1), 300
    )
    finite = 0
    for family, value in zip(families, scores.of(families), strict=True):
        moments = table.tally([family])[family]
        expected = line_score(moments)
        if expected == -math.inf:
            assert value == -math.inf and rows == 9
            continue
        assert math.isclose(value, expected, rel_tol=1e-7, abs_tol=1e-6), family
        finite += 1
    assert finite > 30


def test_no_family_of_a_marginal_likelihood_is_left_out():
    """A copy, a state without spread, a state of one row: each has a finite score."""
    table = mixed_table()
    scores = family_scores(table, ScoreSpec.of("bdeu"))
    asked = [Family("copy", ("x",)), Family("still", ("d",)), Family("x", ("copy", "y"))]
    assert np.isfinite(scores.of(asked)).all()
    alone, told = scores.of([Family("copy", ()), Family("copy", ("x",))])
    assert told > alone + 1000
    rare = {"g": ["a", "b"] * 150 + ["c"], "x": [10.0, 0.1, 10.1, 0.0] * 75 + [5.0]}
    net = cr.learn(rare)
    assert net.dag.edges == (("g", "x"),) and np.isfinite(net.log_likelihood(rare))


def test_many_families_in_one_batch_on_threads():
    table = mixed_table(120, seed=3)
    one = family_scores(table, ScoreSpec.of("bic"), threads=1)
    many = family_scores(table, ScoreSpec.of("bic"), threads=4)
    families = random_families(one.variables, np.random.default_rng(2), 5000)
    assert np.array_equal(one.of(families), many.of(families))
    shuffled = [Family(f.child, f.parents[::-1]) for f in families[::-1]]
    again = family_scores(table, ScoreSpec.of("bic"), threads=2)
    assert np.array_equal(again.of(shuffled)[::-1], one.of(families))


def test_discrete_children():
    table = mixed_table()
    scores = family_scores(table, ScoreSpec.of("bic"))
    only = family_scores(table, ScoreSpec.of("bic"), names=["d", "e"])
    asked = [Family("d", ()), Family("e", ("d",))]
    assert scores.of(asked).tolist() == only.of(asked).tolist()
    assert scores.of([Family("d", ("x",))])[0] == -math.inf


def test_empty_configurations_and_few_rows():
    """Configurations never seen cost parameters and nothing else; those of few rows have no line."""
    rows = {"d": ["a"] * 20 + ["b"] * 2, "e": ["u", "v"] * 10 + ["u", "u"]}
    rng = np.random.default_rng(5)
    table = cr.read({**rows, "x": rng.normal(size=22), "y": rng.normal(size=22)})
    scores = family_scores(table, ScoreSpec.of("bic"))
    penalty = 0.5 * math.log(22)
    for child, parents in (("x", ("d", "e")), ("x", ("e", "y")), ("x", ("d",)), ("y", ())):
        expected = line(table, scores.variables, penalty, child, parents)
        assert math.isfinite(expected)
        assert agree(scores.of([Family(child, parents)])[0], expected)
    assert scores.of([Family("x", ("d", "y"))])[0] == -math.inf  # two rows, two of them needed


@pytest.mark.parametrize("most", [1, 20, 200, 1000])
def test_a_bound_on_memory_changes_no_score(monkeypatch, most):
    """With little room matrices are asked for again, or in parts of their columns."""
    table = mixed_table()
    free = family_scores(table, ScoreSpec.of("bic"), threads=2)
    families = random_families(free.variables, np.random.default_rng(4), 600)
    monkeypatch.setattr(score_sources, "_MOMENTS", most)
    bound = family_scores(table, ScoreSpec.of("bic"), threads=2)
    for a, b in zip(free.of(families), bound.of(families), strict=True):
        assert agree(a, b)


def test_what_is_kept_stays_within_the_bound():
    """The least used group goes: with room for one, each new group is asked for again."""
    table = mixed_table()
    variables = sorted(table.schema.variables, key=lambda v: v.name)
    names = [v.name for v in variables]
    discrete = [v for v in variables if v.is_discrete]
    asked = []
    moments = moments_by_group(table, variables)

    def counting(group, columns):
        asked.append(tuple(names[g] for g in group))
        return moments(group, columns)

    tables = family_scores(table, ScoreSpec.of("bic"), names=[v.name for v in discrete]).native
    arities = [v.arity if v.is_discrete else 0 for v in variables]
    native = _core.FamilyScores.mixed(
        tables, counting, arities, 300.0, 1.0, 0.0, 6 * 6 * 3.0, [], None, 1
    )
    at = {n: i for i, n in enumerate(names)}
    for child, parent in (("x", "d"), ("y", "d"), ("x", "e"), ("z", "d")):
        native.score([(at[child], [at[parent]])])
        native.score([(at[child], [at[parent], at["close"]])])
    assert asked == [("d",), ("e",), ("d",)]


def test_a_limit_ends_a_batch_and_nothing_wrong_is_kept():
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=50) for i in range(120)}
    for kinds in ({}, {"d": ["a", "b"] * 25}):
        table = cr.read({**columns, **kinds})
        scores = family_scores(table, ScoreSpec.of("bic"), threads=1)
        n = len(scores.names)
        asked = [(c, [p]) for c in range(n) for p in range(n) if c != p]
        scores.native.limit(0.0)
        cut = scores.native.score(asked)
        assert scores.native.stopped
        assert np.isinf(cut).any()
        scores.native.limit(None)
        assert not scores.native.stopped
        whole = scores.native.score(asked)
        done = np.isfinite(cut)
        assert np.array_equal(cut[done], whole[done])
        assert np.isfinite(whole).sum() > done.sum()
