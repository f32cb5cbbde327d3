"""A softmax in EM: what it is learned from is complete, so it is that of fit, and the rest EM's."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError

GRAPH = "[h][g|h][k|h][age][ill|age:g][sign|ill:h]"


def rows(n=400, seed=2):
    rng = np.random.default_rng(seed)
    h = rng.integers(2, size=n)
    g, k = (np.where(rng.random(n) < np.where(h, 0.8, 0.3), "a", "b").astype(object) for _ in "gk")
    age = rng.uniform(20, 80, n)
    ill = np.where(rng.random(n) < 1 / (1 + np.exp(-(age - 50) / 8 - (g == "a"))), "yes", "no")
    sign = np.where(rng.random(n) < np.where((ill == "yes") ^ (h > 0), 0.8, 0.2), "on", "off")
    return {"g": g, "k": k, "age": age, "ill": ill, "sign": sign.astype(object)}, rng


@pytest.mark.parametrize("prior", [None, cr.BDeu(1)])
def test_the_softmax_is_that_of_fit_and_the_score_that_of_the_rows(prior):
    table, rng = rows()
    table["sign"][rng.random(400) < 0.2] = None
    net = cr.em(GRAPH, table, prior, hidden={"h": 2}, restarts=2, tol=1e-5, rng=1)
    alone = cr.fit("[g][age][ill|age:g]", {n: table[n] for n in ("g", "age", "ill")}, prior)
    assert net.cpt("ill") == alone.cpt("ill")
    assert net.record.details["missing"]["sign"] > 0.1
    # ln P(rows) by summing over h by hand, for each row
    total = np.zeros(400)
    for h in (0, 1):
        part = np.full(400, net.cpt("h").row()[h])
        for name in ("g", "k"):
            part *= [net.cpt(name).row({"h": h})[s] for s in table[name]]
        part *= [
            1.0 if s is None else net.cpt("sign").row({"ill": i, "h": h})[s]
            for s, i in zip(table["sign"], table["ill"], strict=True)
        ]
        total += part
    line = net.p("age")
    more = sum(np.log(net.cpt("ill").given({"age": a, "g": g})[i])
               for a, g, i in zip(table["age"], table["g"], table["ill"], strict=True))  # fmt: skip
    expected = np.log(total).sum() + more + line.logpdf(table["age"]).sum()
    assert net.record.score == pytest.approx(expected, rel=1e-9)


def test_a_leaf_may_be_missing_and_a_start_goes_on():
    table, rng = rows()
    gone = rng.random(400) < 0.3
    leaf = {"g": table["g"], "age": table["age"], "ill": np.where(gone, None, table["ill"])}
    net = cr.em("[g][age][ill|age:g]", leaf)
    kept = {n: np.asarray(c)[~gone] for n, c in leaf.items()}
    np.testing.assert_allclose(
        net.cpt("ill").coefficients, cr.fit("[g][age][ill|age:g]", kept).cpt("ill").coefficients
    )
    again = cr.em(net, leaf, start=net)
    assert again.cpt("ill") == net.cpt("ill")
    assert again.record.score == pytest.approx(net.record.score)


def test_what_it_cannot_is_said():
    table, _ = rows(60)
    holes = table | {"age": [None, *table["age"][1:]]}
    with pytest.raises(InputError, match=r"'age' has missing cells.*numbers={'age': 'binned'}"):
        cr.em(GRAPH, holes, hidden={"h": 2})
    with pytest.raises(InputError, match="'h' has missing cells"):
        cr.em("[h][age][ill|age:h]", table, hidden={"h": 2})
