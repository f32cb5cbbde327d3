"""Counts in EM: against SciPy's maximum of the likelihood, complete rows, and the rows themselves."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import nbinom

import credo as cr

COUNTS = {"calls": "counts"}


def drawn(n, seed=1):
    rng = np.random.default_rng(seed)
    h = rng.integers(2, size=n)
    g, k = (np.where(rng.random(n) < np.where(h, 0.9, 0.2), "a", "b").astype(object) for _ in "gk")
    calls = rng.negative_binomial(3, 3 / (3 + np.where(h, 9.0, 1.5))).astype(float)
    return {"g": g, "k": k, "calls": calls}, np.where(h, "y", "n").astype(object), rng


def test_a_hidden_class_is_a_mixture_of_laws_at_the_top_of_its_likelihood() -> None:
    rows, _, _ = drawn(600)
    net = cr.em("[h][g|h][k|h][calls|h]", rows, hidden={"h": 2}, restarts=2, numbers=COUNTS)
    record = net.record
    assert record is not None and (np.diff(record.trace) >= 0).all()
    assert record.score == pytest.approx(net.log_likelihood(rows), rel=1e-10)

    def fall(p):
        share, size = 1 / (1 + np.exp(-p[0])), np.exp(p[1])
        total = 0.0
        for c, part in ((0, 1 - share), (1, share)):
            mean, a, b = np.exp(p[2 + c]), *(1 / (1 + np.exp(-p[[4 + c, 6 + c]])))
            of_g, of_k = np.where(rows["g"] == "a", a, 1 - a), np.where(rows["k"] == "a", b, 1 - b)
            total = (
                total + part * nbinom.pmf(rows["calls"], size, size / (size + mean)) * of_g * of_k
            )
        return -np.log(total).sum()

    best = minimize(fall, np.array([0.0, 1.0, 0.5, 2.0, -1.0, 1.0, -1.0, 1.0]), method="BFGS")
    assert record.score == pytest.approx(-best.fun, abs=1e-6)
    table = net.cpt("calls")
    np.testing.assert_allclose(sorted(table.means), sorted(np.exp(best.x[2:4])), rtol=1e-4)
    assert table.size == pytest.approx(np.exp(best.x[1]), rel=1e-3)


@pytest.mark.parametrize("prior", [None, cr.BDeu(1)])
def test_complete_rows_are_those_of_fit_and_a_missing_count_tells_nothing(prior) -> None:
    rows, _, rng = drawn(400)
    whole = cr.fit("[g][calls|g]", rows, prior, numbers=COUNTS)
    again = cr.em("[g][calls|g]", rows, prior, numbers=COUNTS)
    np.testing.assert_allclose(again.cpt("calls").values, whole.cpt("calls").values, atol=1e-9)
    gone = rng.random(400) < 0.3
    gaps = {"g": rows["g"], "calls": np.where(gone, np.nan, rows["calls"])}
    net = cr.em("[g][calls|g]", gaps, prior, numbers=COUNTS)
    kept = {n: np.asarray(c)[~gone] for n, c in gaps.items()}
    left = cr.fit("[g][calls|g]", kept, prior, numbers=COUNTS)
    same = min(net.cpt("calls").shape[-1], left.cpt("calls").shape[-1]) - 1
    np.testing.assert_allclose(
        net.cpt("calls").values[:, :same], left.cpt("calls").values[:, :same], atol=1e-9
    )
    assert net.record.details["missing"] == pytest.approx({"calls": gone.mean()})


def test_gaps_of_parents_intervals_and_structure() -> None:
    rows, h, rng = drawn(1500)
    h[rng.random(1500) < 0.1] = None
    rows |= {"h": h, "calls": np.where(rng.random(1500) < 0.1, np.nan, rows["calls"])}
    table = cr.read(rows)
    net = cr.em("[h][g|h][calls|h]", table, cr.BDeu(1), numbers=COUNTS)
    assert net.record is not None and (np.diff(net.record.trace) >= 0).all()
    assert any("leaves out the gaps" in note for note in net.record.notes)
    low, high = net.ask("P(calls > 5 | h=y)", interval=0.99).interval
    assert low < nbinom.sf(5, 3, 3 / 12) < high
    learned = cr.learn(table, numbers=COUNTS)
    assert learned.dag.parents("calls") == ("h",)
    assert len(learned.impute(table)) == 1500


def test_a_stream_by_steps_and_what_is_refused() -> None:
    rows, _, _ = drawn(3000)
    steps = cr.em("[g][calls|g]", rows, method="stepwise", batch=300, numbers=COUNTS)
    whole = cr.fit("[g][calls|g]", rows, numbers=COUNTS)
    np.testing.assert_allclose(steps.cpt("calls").means, whole.cpt("calls").means, rtol=0.2)
    rows = {"g": ["a", "b"] * 20, "calls": [None] * 20 + [1.0, 4.0] * 10}
    table = cr.read(rows, {"calls": "continuous"})
    with pytest.raises(cr.errors.InputError, match="has no laws of counts"):
        cr.em("[g][calls|g]", table, numbers=COUNTS, method="gradient")
