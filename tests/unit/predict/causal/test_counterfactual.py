"""Counterfactuals: the twin network against enumeration of noises, and bounds around it."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError, InputError

TEXT = "[z][x|z][m|x][y|m:z:x]"


def random_net(rng, states=2):
    dag = cr.Dag.parse(TEXT)
    tables = {}
    for n in dag.nodes:
        shape = [states] * len(dag.parents(n))
        tables[n] = rng.dirichlet(np.ones(states), size=shape or None)
    return cr.Network(dag, tables)


def enumerated(net, event, given, cuts=40_000, seed=0):
    """P(event | given) by drawing uniform noises and walking both worlds."""
    rng = np.random.default_rng(seed)
    noise = {n: rng.random(cuts) for n in net.names}

    def world(do):
        values = {}
        for n in net.dag.order:
            if n in do:
                values[n] = np.full(cuts, do[n])
                continue
            local = net.cpt(n)
            rows = local.values[tuple(values[p.name] for p in local.parents)]
            rows = np.broadcast_to(rows, (cuts, rows.shape[-1]))
            values[n] = (np.cumsum(rows, axis=1)[:, :-1] < noise[n][:, None]).sum(axis=1)
        return values

    real = world({})
    known = np.all([real[n] == v for n, v in given.items()], axis=0)
    wanted = known.copy()
    for (n, do), v in event.items():
        wanted &= world(dict(do))[n] == v
    return wanted.sum() / known.sum()


def test_the_twin_network_is_the_walk_of_two_worlds() -> None:
    rng = np.random.default_rng(0)
    for i in range(4):
        net = random_net(rng, 2 + i % 2)
        got = net.ask("P(y_{x=0}=1 | x=1, y=1)")
        want = enumerated(net, {("y", (("x", 0),)): 1}, {"x": 1, "y": 1})
        assert abs(got - want) < 0.02
        both = net.ask("P(y_{x=0}=0, y_{x=1}=1 | z=0)")
        want = enumerated(net, {("y", (("x", 0),)): 0, ("y", (("x", 1),)): 1}, {"z": 0})
        assert abs(both - want) < 0.02


def test_laws() -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        net = random_net(rng)
        # consistency: had x been what it was, y would be what it was
        assert abs(net.ask("P(y_{x=1}=1 | x=1, y=1)") - 1) < 1e-12
        # with nothing observed it is the intervention
        for x in (0, 1):
            assert abs(net.ask(f"P(y_{{x={x}}}=1)") - net.ask(f"P(y=1 | do(x={x}))")) < 1e-12
        # what lies above x stays as it was; the world of x itself is what it is set to
        assert abs(net.ask("P(z_{x=0}=1 | y=1)") - net.ask("P(z=1 | y=1)")) < 1e-12
        assert net.ask("P(x_{x=0}=0 | x=1)") == 1.0
        dist = net.ask("P(y_{x=0} | x=1)")
        assert abs(sum(dist.values()) - 1) < 1e-12 and "functional model" in dist.notes[-1]


def test_bounds_hold_whatever_the_functions() -> None:
    """Any coupling of the tables' rows lies between; the canonical answer too."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        p = rng.dirichlet(np.ones(4)).reshape(2, 2)
        net = cr.Network("[x][y|x]", {"x": p.sum(axis=1), "y": p / p.sum(axis=1, keepdims=True)})
        found = net.ask("P(y_{x=0}=0 | x=1, y=1)")
        low, high = found.bounds
        assert low - 1e-9 <= found <= high + 1e-9
        a, b = net.cpt("y").values[:, 1]
        for joint11 in np.linspace(max(0, a + b - 1), min(a, b), 5):  # P(y_0 = y_1 = 1)
            assert low - 1e-9 <= (b - joint11) / b <= high + 1e-9
        assert abs(low - max(0, (b - a) / b)) < 1e-9 and abs(high - min(1, (1 - a) / b)) < 1e-9
    net = random_net(rng)
    found = net.ask("P(y_{x=0}=0 | x=1, y=1)")
    assert found.bounds[0] - 1e-9 <= found <= found.bounds[1] + 1e-9
    assert net.ask("P(y_{x=0}=0 | x=1, m=1)").bounds is None
    assert "whatever the functions" in str(found) and "noise of y" in found.model.names
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.bounds == found.bounds


def test_worlds_with_two_things_set_and_quoted_names() -> None:
    rng = np.random.default_rng(3)
    net = random_net(rng)
    want = net.ask("P(y=1 | do(x=0, m=1))")
    assert abs(net.ask("P(y_{x=0, m=1}=1)") - want) < 1e-12
    odd = cr.Network([("the x", "the y")], {"the x": 0.5, "the y": {False: 0.1, True: 0.3}})
    assert abs(odd.ask('P("the y"_{"the x"=false}=true)') - 0.1) < 1e-12


def test_every_sum_is_one() -> None:
    net = random_net(np.random.default_rng(4), 3)
    total = sum(
        net.ask(f"P(y_{{x=0}}={a}, y_{{x=2}}={b} | x=1)") for a, b in product(range(3), repeat=2)
    )
    assert abs(total - 1) < 1e-12


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("P(q_{x=0}=1)", "Variable 'q' is not in the model"),
        ("P(y_{q=0}=1)", "'q'"),
        ("P(y_{x=7}=1)", "'7'"),
        ("P(y_{x=0}=1 | do(m=1))", "do not go together"),
    ],
)
def test_refusals(question, said) -> None:
    with pytest.raises(CredoError, match=said):
        random_net(np.random.default_rng(5)).ask(question)


def test_no_credible_interval() -> None:
    with pytest.raises(InputError, match="bounds over functional models"):
        random_net(np.random.default_rng(5)).ask("P(y_{x=0}=1)", interval=0.95)
    rows = {"x": [0, 1, 0, 1, 1], "y": [0.5, 1.5, 0.1, 2.5, 2.0]}
    net = cr.fit("[x][y|x]", rows)
    with pytest.raises(CredoError, match="is a number"):
        net.ask("P(y_{x=0} | x=1)")
