"""Expected information: what the rows tell of each variable."""

import numpy as np
import pytest

import credo as cr
from credo.train.em import finish as em_finish


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
