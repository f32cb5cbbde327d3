"""The EM driver on the smallest problem: two coins, ten tosses each time, nobody saw which coin."""

import math
import time

import numpy as np
import pytest

from credo.errors import InputError
from credo.train.em.run import INTERRUPTED, LATE, EMProblem, Run, run_em

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
