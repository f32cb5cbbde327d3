"""Tipping points of decisions against closed forms and against networks built anew."""

import numpy as np
import pytest
from tests.decision_networks import simple
from tests.unit.predict.decisions.test_solving import wildcatter

import credo as cr
from credo.predict.decisions.solving import utility_of_strategy


def umbrella(p=0.3, worth=100.0):
    return cr.DecisionNetwork(
        "[Rain][Take?][U$|Rain:Take]",
        {"Rain": p},
        utilities={"U": {False: {"yes": 20, "no": worth}, True: {"yes": 70, "no": 0}}},
    )


def test_closed_form():
    found = umbrella().sensitivity()
    rain = found["P(Rain=True)"]  # 20 + 50 p = 100 − 100 p
    assert rain.above == pytest.approx(80 / 150, abs=1e-9) and rain.below is None
    assert rain.change == "Take: yes" and not rain.in_range
    assert rain.low == pytest.approx(umbrella(rain.bottom).solve().utility)
    assert rain.high == pytest.approx(umbrella(rain.top).solve().utility)
    number = found["U(Rain=False, Take=no)"]
    assert number.below == pytest.approx(50, abs=1e-9)  # 0.7 u = 35
    assert number.high == pytest.approx(umbrella(worth=110).solve().utility)
    assert found.answer == pytest.approx(70) and "no parameter changes" in str(found)
    assert found.to_dict()["parameters"][0]["parameter"] == "P(Rain=True)"


def moved(net, name, at, theta):
    """The network with one entry of a table moved, the rest in proportion."""
    cpt = net.chance.cpt(name)
    values = cpt.values.copy()
    row = values[at[:-1]] * (1 - theta) / (1 - values[at])
    row[at[-1]] = theta
    values[at[:-1]] = row
    tables = {**net.chance.distributions, name: cr.Cpt(cpt.child, cpt.parents, values)}
    return net.but(chance=cr.Network(net.chance.dag, tables))


def test_a_strategy_is_the_best_up_to_its_tipping_points():
    seen = 0
    for seed in range(5):
        net = simple(np.random.default_rng(seed), most=400)
        now = net.solve(interval=None)
        found = {p.parameter: p for p in net.sensitivity().parameters}
        for name in net.chance.names:
            if name in net.decisions:
                continue
            cpt = net.chance.cpt(name)
            for at in map(tuple, np.argwhere((cpt.values > 0) & (cpt.values < 1)).tolist()):
                given = ", ".join(
                    f"{p.name}={p.states[i]}" for p, i in zip(cpt.parents, at, strict=False)
                )
                key = f"P({name}={cpt.child.states[at[-1]]}{' | ' if given else ''}{given})"
                if key not in found:
                    continue
                for tip, far in ((found[key].below, 0.0), (found[key].above, 1.0)):
                    inner = (tip if tip is not None else far) * 0.999 + cpt.values[at] * 0.001
                    one = moved(net, name, at, inner)
                    own = utility_of_strategy(one, now.policy)
                    assert own == pytest.approx(one.solve(interval=None).utility, abs=1e-8)
                    if tip is not None and abs(far - tip) > 1e-3:
                        seen += 1
                        two = moved(net, name, at, tip + 0.5 * (far - tip))
                        best = two.solve(interval=None).utility
                        assert utility_of_strategy(two, now.policy) < best
    assert seen > 8


def test_ranges_are_intervals_where_parameters_were_learned():
    rows = {"Rain": [True] * 6 + [False] * 14}
    net = cr.fit("[Rain]", rows, prior=cr.Laplace(1))
    d = net.decide({"Take": ["yes", "no"]}, {"U|Rain:Take": [[20, 100], [70, 0]]})
    p = d.sensitivity()["P(Rain=True)"]
    low, high = net.cpt("Rain").interval(0.95)
    assert (p.bottom, p.top) == pytest.approx((low[1], high[1]))
    assert p.above == pytest.approx(80 / 150, abs=1e-9)
    assert "95% interval" in str(d.sensitivity())


def test_evidence_and_limited_memory():
    d = wildcatter()
    assert d.sensitivity(given={"Test": "open"}).answer == pytest.approx(32.857142857)
    same = wildcatter(memory="limited").sensitivity()
    assert same["P(Oil=dry)"].above == pytest.approx(d.sensitivity()["P(Oil=dry)"].above)


def test_the_tornado():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = wildcatter().sensitivity().plot(most=5)
    assert len(ax.patches) == 5 and ax.get_title() == "EU = 32.5"
