"""Learning from scaled tables: the score counts gaps as the engine does, others see plain numbers."""

from itertools import pairwise

import numpy as np
import pytest
from tests.unit.predict.test_scaled_answers import BINS

import credo as cr
from credo.core.scales import Transform

RNG = np.random.default_rng(5)
SEX = RNG.choice(["f", "m"], 400)
FARE = RNG.lognormal(np.where(SEX == "f", 3.2, 2.0), 0.6)
AGE = RNG.normal(np.where(SEX == "f", 30, 40), 8)


def plain(gaps=False):
    fare = np.where(RNG.random(400) < 0.1, np.nan, FARE) if gaps else FARE
    return cr.read({"sex": SEX, "fare": fare, "age": AGE})


SCALES = {"fare": BINS, "age": Transform("log", low=-20.0)}


def test_structural_em_of_a_scaled_table():
    rows = plain(gaps=True).scaled(SCALES)
    net = cr.learn(rows)
    assert net.schema.scales == SCALES and {"fare", "sex"} in map(set, net.dag.edges)
    trace = net.record.trace
    assert all(a <= b + 1e-6 * abs(b) for a, b in pairwise(trace))


def test_a_stream_learns_what_the_table_learns(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{s},{f!r},{a!r}" for s, f, a in zip(SEX, FARE.tolist(), AGE.tolist(), strict=True)]
    path.write_text("sex,fare,age\n" + "\n".join(lines))
    stream = cr.read(path, memory="1 kB").scaled(SCALES)
    one, two = cr.learn(stream, "bic"), cr.learn(cr.read(path).scaled(SCALES), "bic")
    assert one.dag == two.dag and one.schema.scales == SCALES
    assert one.log_likelihood(stream) == pytest.approx(two.log_likelihood(path))


def test_who_knows_no_scales_sees_the_numbers():
    table = plain()
    scaled = table.scaled(SCALES)
    one, two = (cr.naive_bayes(t, "sex") for t in (table, scaled))
    np.testing.assert_allclose(one.predict_proba(table), two.predict_proba(scaled))
    for made in (cr.cut(table, by="sex"), cr.cut(scaled, by="sex")):
        assert made.schema["fare"].states == cr.cut(table, by="sex").schema["fare"].states
    groups = [cr.cluster(t.select(["fare", "age"]), k=2, rng=0).labels for t in (table, scaled)]
    np.testing.assert_array_equal(*groups)
    parts = [cr.mixture(t.select(["fare", "age"]), 2, rng=0) for t in (table, scaled)]
    assert parts[0].log_likelihood(table) == pytest.approx(parts[1].log_likelihood(table))


def test_an_undirected_model_answers_in_numbers():
    rows = plain().scaled({"fare": BINS}).select(["sex", "fare"])
    net = cr.fit(cr.UndirectedGraph([("sex", "fare")]), rows)
    answer = net.p("fare", given={"sex": "f"})
    assert answer.mean == pytest.approx(float(BINS.mean(answer.bins.p)))
    assert net.ask("P(fare > 10)") == pytest.approx(1 - net.p("fare").cdf(10.0))
    with pytest.raises(cr.errors.InputError, match="a bound of 'fare' is one of its cuts"):
        net.ask("P(fare > 12)")
    drawn = net.sample(2000, rng=0)["fare"]
    assert drawn.mean() == pytest.approx(net.p("fare").mean, rel=0.1)
