"""ln P of rows, gaps and all: against brute force, one row at a time."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from tests.unit.checking.nets import SPRINKLER, gaussian, mixed, with_gaps

import credo as cr
from credo.checking.again.row_scores import family_terms, score_rows
from credo.errors import LimitError
from credo.predict.rows.rows import log_at


def test_discrete_rows_with_gaps_are_their_log_evidence():
    rows = with_gaps(SPRINKLER.sample(60, rng=0), 0.3, 1)
    found = score_rows(SPRINKLER, rows)
    assert found.known.all()
    for i in range(len(rows)):
        seen = {n: rows[n][i] for n in rows.schema.names if rows[n][i] is not None}
        assert found.log[i] == pytest.approx(SPRINKLER.log_evidence(seen) if seen else 0.0)


def test_gaussian_rows_with_gaps_are_marginal_densities():
    net = gaussian()
    rows = with_gaps(net.sample(40, rng=0), 0.3, 1)
    # the joint, by hand
    mean = np.array([1.0, 0.8, -1.0 - 1.2 * 0.8])
    mix = np.array([[2**0.5, 0, 0], [0.8 * 2**0.5, 0.5**0.5, 0], [0, 0, 1.0]])
    mix[2, :2] = -1.2 * mix[1, :2]
    cov = mix @ mix.T
    found = score_rows(net, rows)
    for i in range(len(rows)):
        x = np.array([rows[n][i] for n in "xyz"], dtype=float)
        at = np.flatnonzero(~np.isnan(x))
        want = multivariate_normal(mean[at], cov[np.ix_(at, at)]).logpdf(x[at]) if len(at) else 0.0
        assert found.log[i] == pytest.approx(want, abs=1e-9)


def test_mixed_rows_with_gaps_sum_over_states_and_integrate_numbers():
    net = mixed()
    rows = with_gaps(net.sample(80, rng=3), 0.35, 4)
    found = score_rows(net, rows)
    assert found.known.all()
    grid = np.linspace(-10, 13, 1001)
    step = grid[1] - grid[0]
    p_s = [0.4, 0.6]
    for i in range(0, len(rows), 4):
        s, x, y, z = (rows[n][i] for n in ("s", "x", "y", "z"))
        total = 0.0
        for k, state in enumerate(("off", "on")):
            if s is not None and s != state:
                continue
            a, v = [0.0, 2.0][k], [1.0, 0.5][k]
            b0, b1, w = [1.0, -1.0][k], [0.5, 2.0][k], [0.3, 0.8][k]
            xs = np.array([x]) if not np.isnan(x) else grid
            px = norm(a, v**0.5).pdf(xs) * (1.0 if not np.isnan(x) else step)
            ys = np.array([y]) if not np.isnan(y) else grid
            joint = px[:, None] * norm.pdf(ys[None, :], b0 + b1 * xs[:, None], w**0.5)
            py = joint.sum(axis=0) * (1.0 if not np.isnan(y) else step)
            if np.isnan(z):
                total += p_s[k] * py.sum()
            else:
                total += p_s[k] * (py * norm.pdf(z, 0.5 + 1.5 * ys, 0.4**0.5)).sum()
        assert found.log[i] == pytest.approx(np.log(total), abs=1e-4)


def test_family_terms_add_up_to_the_row():
    rows = SPRINKLER.sample(50, rng=1)
    terms, whole = family_terms(SPRINKLER, rows)
    assert whole.all()
    assert terms.sum(axis=1) == pytest.approx(score_rows(SPRINKLER, rows).log)


def test_impossible_rows_are_minus_infinity_not_refused():
    net = cr.Network("[a][b|a]", {"a": 0.5, "b": {False: 0.0, True: 0.5}})
    found = score_rows(net, cr.read({"a": [False, True, None], "b": [True, True, True]},
                                    schema=net.schema))  # fmt: skip
    assert found.log[0] == -np.inf
    assert found.possible.tolist() == [False, True, True]
    assert found.log[2] == pytest.approx(np.log(0.25))


def test_rows_with_too_many_cases_are_summed_out_one_by_one(monkeypatch):
    import credo.checking.again.row_scores as module

    net = mixed()
    rows = with_gaps(net.sample(60, rng=3), 0.35, 4)
    want = score_rows(net, rows)

    def too_large(net, part):
        raise LimitError("too many Gaussians")

    monkeypatch.setattr(module, "encoded_log_likelihoods", too_large)
    monkeypatch.setattr(module, "MAX_STATES", 0)
    found = score_rows(net, rows)
    assert found.known.all() and found.log == pytest.approx(want.log, abs=1e-12)
    few = score_rows(net, rows, most=3)
    assert not few.known.all()  # told, not guessed
    assert few.log[few.known] == pytest.approx(want.log[few.known], abs=1e-12)


def test_gaps_with_too_many_cases_are_drawn_from_the_story_of_each_row(monkeypatch):
    import credo.predict.rows.impute_mixed as module

    net = mixed()
    rows = cr.read({"s": [None] * 4000, "x": [0.8] * 4000, "y": [None] * 4000, "z": [2.0] * 4000},
                   schema=net.schema).take(slice(0, 800))  # fmt: skip
    want = net.impute(rows, "sample", rng=0)
    monkeypatch.setattr(module, "MAX_STATES", 0)
    found = net.impute(rows, "sample", rng=0)
    for name, statistic in (
        ("s", lambda t: np.mean(t["s"] == "on")),
        ("y", lambda t: t["y"].mean()),
    ):
        a, b = statistic(want), statistic(found)
        spread = np.std(want["y"]) if name == "y" else 0.5
        assert abs(a - b) < 5 * spread * (2 / 800) ** 0.5


def test_logs_of_entries_of_a_table_larger_and_smaller_than_the_rows():
    values = np.random.default_rng(0).random((4, 3))
    values[1, 2] = 0
    for rows in (1, 2, 100):
        at = tuple(np.random.default_rng(rows).integers(0, k, rows) for k in values.shape)
        assert np.array_equal(log_at(values, at), [np.log(values[i, j]) if values[i, j] else -np.inf for i, j in zip(*at, strict=True)])  # fmt: skip
    assert np.array_equal(log_at(values[0], ()), np.log(values[0]))
