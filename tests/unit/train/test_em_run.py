"""The EM driver on the smallest problem; what rows tell of each variable."""

import math
import time

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError
from credo.train.em import finish as em_finish
from credo.train.em.run import INTERRUPTED, LATE, EMProblem, Run, run_em

# --- The EM driver on the smallest problem: two coins, ten tosses each time, nobody saw which
#     coin ---


HEADS, TOSSES = np.array([5, 9, 8, 4, 7, 1, 9, 2]), 10


class Coins(EMProblem[np.ndarray, np.ndarray]):
    """θ = (P(heads) of each coin); statistics = expected heads and tosses [2, coins]."""

    weight = float(len(HEADS))
    plain = 3

    def expect(self, parameters):
        if (parameters <= 0).any():
            raise InputError("A coin must be able to show heads.")
        p = parameters[:, None]
        logs = HEADS * np.log(p) + (TOSSES - HEADS) * np.log1p(-p) + math.log(0.5)
        whole = np.logaddexp.reduce(logs, axis=0)
        share = np.exp(logs - whole)
        return np.array([share @ HEADS, share.sum(axis=1) * TOSSES]), float(whole.sum())

    def maximise(self, statistics):
        return statistics[0] / statistics[1]

    def change(self, old, new, gain):
        return float(np.abs(new - old).max())

    def vector(self, parameters):
        return parameters

    def parameters(self, vector, near):
        return np.clip(vector, 0.01 * near, 1 - 0.01 * (1 - near))


def test_squarem_ends_where_plain_steps_do_and_sooner():
    start = [np.array([0.6, 0.5])]
    plain, _ = run_em(Coins(), start, tol=1e-9, max_iter=1000, accelerate=False)
    fast, _ = run_em(Coins(), start, tol=1e-9, max_iter=1000)
    assert fast.iterations < plain.iterations and fast.converged
    np.testing.assert_allclose(fast.parameters, plain.parameters, atol=1e-7)
    for run in (plain, fast):
        assert run.trace[:3] == plain.trace[:3] and (np.diff(run.trace) >= 0).all()
        assert run.reason == "a step changed no parameter by more than 1e-09"


def test_the_poorer_half_of_the_starts_is_dropped_and_a_bad_start_is_no_harm():
    starts = [np.array(s) for s in ([0.6, 0.5], [0.0, 0.5], [0.9, 0.2], [0.5, 0.45])]
    best, dropped = run_em(Coins(), starts, tol=1e-9, max_iter=1000)
    assert len(dropped) == 2 and all(value <= best.objective + 1e-9 for _, value in dropped)
    with pytest.raises(InputError, match="able to show heads"):
        run_em(Coins(), [starts[1], starts[1]], tol=1e-9, max_iter=9)


def test_why_a_run_ends():
    start = [np.array([0.6, 0.5])]
    run, _ = run_em(Coins(), start, tol=0, max_iter=2)
    assert run.reason == "the budget of 2 iterations was used up" and not run.converged
    run, _ = run_em(Coins(), start, tol=0, max_iter=900, until=time.perf_counter())
    assert run.reason == LATE and run.iterations == 1
    run, _ = run_em(Coins(), start, tol=0, max_iter=900)
    assert run.converged  # at the last digit, though no tolerance asks for it


def test_ctrl_c_keeps_the_best_of_all_starts(monkeypatch):
    calls, real = [], Coins.expect

    def stop(self, parameters):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return real(self, parameters)

    monkeypatch.setattr(Coins, "expect", stop)
    run, _ = run_em(Coins(), [np.array([0.6, 0.5]), np.array([0.9, 0.2])], tol=0, max_iter=99)
    assert run.reason == INTERRUPTED and run.iterations > 0


def test_a_paused_run_goes_on_as_if_it_had_not():
    one, two = (Run(Coins(), np.array([0.6, 0.5]), 1e-9) for _ in range(2))
    one.finish(1000)
    for pause in (2, 5, 9):
        list(two.steps(1000, pause))
    two.finish(1000)
    assert two.trace == one.trace


# --- Expected information: what the rows tell of each variable ---


def test_observed_columns_are_told_whole_and_gaps_as_far_as_their_rows_say():
    rng = np.random.default_rng(0)
    n = 200
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.9, a, 1 - a)
    gone = rng.random(n) < 0.4
    rows = cr.read(
        {"a": np.where(gone, None, a.astype(object)), "b": b}, {"a": [0, 1], "b": [0, 1]}
    )
    net = cr.em("[a][b|a]", rows)
    told = net.record.details["information"]
    assert told["b"] == 1.0
    # by hand: the entropies of P(a | b) over the rows in which a is missing
    h = lambda p: -sum(x * np.log(x) for x in p if x > 0)  # noqa: E731
    posterior = {v: list(net.p("a", given={"b": v}).values()) for v in (0, 1)}
    left = np.mean([h(posterior[v]) for v in b[gone]])
    share = gone.mean()
    own = np.bincount(a[~gone], minlength=2) / (~gone).sum()
    mixed = (1 - share) * own + share * np.mean([posterior[v] for v in b[gone]], axis=0)
    assert told["a"] == pytest.approx(1 - share * left / h(mixed), rel=1e-9)
    assert 1 - share < told["a"] < 1


def test_a_hidden_class_is_told_by_its_children():
    rng = np.random.default_rng(1)
    z = rng.integers(0, 2, 400)
    clear = {f"q{i}": np.where(rng.random(400) < 0.97, z, 1 - z) for i in range(5)}
    dag = cr.Dag([("C", q) for q in clear])
    net = cr.em(dag, clear, hidden={"C": 2}, rng=0)
    assert net.record.details["information"]["C"] > 0.95


def test_continuous_gaps():
    rng = np.random.default_rng(2)
    x = rng.normal(size=500)
    y = x + rng.normal(0, 0.1, 500)
    z = rng.normal(size=500)
    z[::2] = np.nan
    y[::2] = np.nan
    net = cr.em("[x][y|x][z]", {"x": x, "y": y, "z": z})
    told = net.record.details["information"]
    assert told["x"] == 1.0 and told["y"] > 0.98 and told["z"] == pytest.approx(0.5, abs=0.05)


def test_networks_on_the_way_to_another_do_not_ask_what_the_rows_tell(monkeypatch):
    """A look at 256 rows for each: once for what is handed out, never for folds and baselines."""
    asked = []
    real = em_finish.information
    monkeypatch.setattr(em_finish, "information", lambda *a: asked.append(1) or real(*a))
    rows = {"a": ["y", "n", None, "n"] * 10, "b": ["y", "n", "y", None] * 10}
    net = cr.learn(rows, parameters=cr.BDeu(1))
    assert len(asked) == 1 and net.record.details["information"]
    cr.check(cr.em("[a][b|a]", rows, prior=cr.BDeu(1)), rows, sections=["held_out"], folds=3)
    assert len(asked) == 2
