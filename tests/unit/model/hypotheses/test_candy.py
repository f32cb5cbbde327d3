"""The candy bags of the lecture, against exact fractions."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from fractions import Fraction as F

import numpy as np
import pytest

from credo.model.hypotheses.hypotheses import Hypotheses

PRIOR = [F(1, 10), F(2, 10), F(4, 10), F(2, 10), F(1, 10)]
LIME = [F(0), F(1, 4), F(1, 2), F(3, 4), F(1)]
BAGS = {f"h{i + 1}": {"cherry": 1 - q, "lime": q} for i, q in enumerate(LIME)}


@pytest.fixture
def candy():
    return Hypotheses(BAGS, prior=PRIOR)


@pytest.mark.parametrize("n", range(11))
def test_posterior_and_prediction_after_each_lime(candy, n):
    h = candy.observe(["lime"] * n)
    joint = [p * q**n for p, q in zip(PRIOR, LIME, strict=True)]
    for name, j in zip(BAGS, joint, strict=True):
        assert h.posterior[name] == pytest.approx(float(j / sum(joint)), rel=1e-14, abs=0)
    lime = sum(j * q for j, q in zip(joint, LIME, strict=True)) / sum(joint)
    assert h.predict()["lime"] == pytest.approx(float(lime), rel=1e-14)


def test_golden_numbers(candy):
    five, ten = candy.observe(["lime"] * 5), candy.observe(["lime"] * 10)
    assert five.posterior["h1"] == 0.0
    assert five.posterior["h2"] == pytest.approx(1 / 820, rel=1e-14)
    assert five.p("lime") == pytest.approx(1453 / 1640, rel=1e-15)
    assert five.log_evidence == pytest.approx(np.log(41 / 256), rel=1e-15)
    assert round(ten.p("lime"), 3) == 0.973
    assert round(ten.posterior["h5"], 4) == 0.8956


def test_a_value_stays_as_it_is(candy):
    five = candy.observe(["lime"] * 5)
    assert candy.n == 0 and five.n == 5
    assert candy.posterior == candy.prior and candy.log_evidence == 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        candy._past = None
    assert candy.observe([]) is candy
    for array in (five.history.posteriors, five.history.n):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_ruled_out_says_by_what_first(candy):
    h = candy.observe(["lime", "lime", "cherry"])
    assert dict(h.ruled_out) == {"h1": "lime", "h5": "cherry"}
    assert dict(candy.ruled_out) == {}
    assert dict(Hypotheses(BAGS, prior=[0, 1, 1, 1, 1]).observe("cherry").ruled_out) == {
        "h1": None,
        "h5": "cherry",
    }
    later = candy.observe("lime").observe({"lime": 3, "cherry": 2}, counts=True)
    assert dict(later.ruled_out) == {"h1": "lime", "h5": "cherry"}


def test_four_rules(candy):
    h = candy.observe("lime")
    assert [h.choose(by) for by in ("map", "mle", "mdl")] == ["h3", "h5", "h3"]
    assert [h.p("lime", by=by) for by in ("map", "mle", "mdl")] == [0.5, 1.0, 0.5]
    assert h.predict(by="mle").to_dict() == {"cherry": 0.0, "lime": 1.0}
    assert h.predict("lime", by="average") == h.p("lime") == pytest.approx(0.65, rel=1e-15)
    assert candy.ties("mle") == tuple(BAGS)
    assert candy.observe(["lime", "cherry"] * 7).ties("mle") == ("h3",)
    assert Hypotheses(BAGS).observe(["lime", "cherry"]).ties("mle") == ("h3",)
    two = Hypotheses({k: BAGS[k] for k in ("h2", "h4")}).observe(["cherry", "lime"] * 33)
    assert two.ties("map") == ("h2", "h4") and two.choose("map") == "h2"


def test_mle_looks_past_the_prior():
    h = Hypotheses(BAGS, prior=[1, 1, 1, 1, 0]).observe("lime")
    assert h.choose("mle") == "h5" and h.choose("map") == "h4" and h.choose("mdl") == "h4"
    assert str(h.compare("lime")).splitlines()[3].split()[2:] == ["∞", "0", "∞", "1"]


def test_bits_for_mdl_and_prior_for_bayes():
    bits = {"h1": 1, "h2": 6, "h3": 2, "h4": 6, "h5": 9}
    h = Hypotheses(BAGS, prior=PRIOR, bits=bits).observe(["lime"] * 3)
    assert (h.choose("map"), h.choose("mdl")) == ("h5", "h3")
    row = h.compare()["mdl"]
    assert (row.hypothesis, row.hypothesis_bits) == ("h3", 2.0)
    assert row.data_bits == pytest.approx(3, rel=1e-15)
    assert row.total_bits == pytest.approx(5, rel=1e-15)
    assert h.compare()["average"].total_bits is None
    alone = Hypotheses(BAGS, bits=bits)
    assert alone.prior["h1"] / alone.prior["h3"] == pytest.approx(2, rel=1e-15)
    assert Hypotheses(BAGS, bits=[5000] * 5).prior["h1"] == pytest.approx(0.2, rel=1e-15)


def test_a_million_candies(candy):
    h = candy.observe({"lime": 750_000, "cherry": 250_000}, counts=True)
    assert h.n == 1_000_000 and h.posterior["h4"] == 1.0
    assert h.log_posterior["h3"] == pytest.approx(
        750_000 * np.log(0.5 / 0.75) + 250_000 * np.log(0.5 / 0.25) + np.log(2), rel=1e-12
    )
    assert list(h.ruled_out) == ["h1", "h5"]  # h3 is beyond a float, yet not ruled out
    assert h.posterior["h3"] == 0.0


def test_ten_thousand_one_by_one(candy):
    data = (["lime"] * 3 + ["cherry"]) * 2500
    h = candy
    for x in data:
        h = h.observe(x)
    batch = candy.observe(data)
    assert h.log_evidence == pytest.approx(batch.log_evidence, rel=1e-12)
    assert len(h.history) == 10_001
    np.testing.assert_array_equal(h.history.posteriors[-1], h.posterior.p)
    assert str(h.history).count("\n") == 27


def test_copies_and_pickles(candy):
    h = candy.observe(["lime"] * 5)
    for other in (copy.copy(h), copy.deepcopy(h), pickle.loads(pickle.dumps(h))):
        assert other.posterior == h.posterior and other.n == 5
        assert other.observe("lime").n == 6
