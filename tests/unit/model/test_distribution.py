"""Distribution: a mapping that adds up to 1, and says what is wrong when it does not."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from credo.core.schema import Variable
from credo.errors import InputError, LimitError, UnknownNameError
from credo.model.answers.distribution import Distribution

A = Variable("A", "discrete", ("T", "F"))
B = Variable("B", "discrete", (1, 2, 3))


@pytest.fixture
def joint() -> Distribution:
    return Distribution((A, B), np.array([[0.1, 0.2, 0.3], [0.1, 0.1, 0.2]]))


def test_is_a_mapping_from_state_to_probability():
    d = Distribution.of({"no": 0.25, "yes": 0.75}, name="Fever")
    assert dict(d) == {"no": 0.25, "yes": 0.75} == d.to_dict()
    assert list(d.items()) == [("no", 0.25), ("yes", 0.75)]
    assert len(d) == 2 and "yes" in d and "maybe" not in d and [1] not in d
    assert d.get("maybe") is None and d.get("maybe", 0) == 0 and d.get("no") == 0.25
    assert d.names == ("Fever",) and d.states == ("no", "yes")


def test_joint_keys_are_tuples(joint):
    assert joint["T", 3] == pytest.approx(0.3)
    assert joint.mode == ("T", 3)
    assert list(joint)[:2] == [("T", 1), ("T", 2)]
    assert ("T", 3) in joint and "T" not in joint
    assert joint.states[-1] == ("F", 3)


def test_marginal_sums_and_reorders(joint):
    assert joint.marginal("A").isclose(Distribution((A,), [0.6, 0.4]))
    assert joint.marginal(["B", "A"])[3, "T"] == pytest.approx(0.3)
    with pytest.raises(UnknownNameError, match=r"Variable 'Aa' is not in the distribution. Did"):
        joint.marginal("Aa")
    with pytest.raises(InputError, match="Name each variable to keep once"):
        joint.marginal(["A", "A"])


def test_numbers_have_mean_and_variance():
    d = Distribution.of({1: 0.5, 2: 0.25, 3: 0.25})
    assert Fraction(d.mean()) == Fraction(7, 4)
    assert Fraction(d.variance()) == Fraction(11, 16)
    assert Distribution.of({False: 0.25, True: 0.75}).mean() == 0.75


def test_entropy_is_in_bits():
    assert Distribution.of(dict.fromkeys(range(8), 0.125)).entropy() == 3.0
    sure = Distribution.of({"a": 1.0, "b": 0.0}).entropy()
    assert sure == 0.0 and math.copysign(1, sure) == 1


def test_sample_is_seeded_and_never_impossible():
    d = Distribution.of({"a": 0.0, "b": 0.3, "c": 0.7, "d": 0.0})
    assert d.sample(50, rng=1) == d.sample(50, rng=np.random.default_rng(1))
    assert set(d.sample(2000, rng=2)) == {"b", "c"}
    assert d.sample(0, rng=0) == []


def test_small_misses_are_rescaled_exactly():
    d = Distribution((B,), np.array([0.1, 0.2, 0.7]) * (1 + 5e-10))
    assert abs(d.p.sum() - 1) < 1e-15


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 0.45], r"probabilities of 'A' must add up to 1, they add up to 0.95. Divide them"),
        ([1.5, -0.5], r"probabilities of 'A' cannot be negative, got -0.5"),
        ([float("nan"), 1.0], r"probabilities of 'A' must be finite, got nan"),
        ([float("inf"), 1.0], r"probabilities of 'A' must be finite, got inf"),
        ([0.2, 0.3, 0.5], r"probabilities of 'A' must have the shape \(2,\), got \(3,\)"),
        (["x", 1], r"probabilities of 'A' must be numbers"),
    ],
)
def test_bad_probabilities_are_refused(p, message):
    with pytest.raises(InputError, match=message):
        Distribution((A,), p)


def test_bad_variables_are_refused():
    with pytest.raises(InputError, match="needs at least one variable"):
        Distribution((), [1.0])
    with pytest.raises(InputError, match="A variable is named twice"):
        Distribution((A, A), np.full((2, 2), 0.25))
    big = [Variable(n, "discrete", tuple(range(5000))) for n in "abc"]
    with pytest.raises(LimitError, match="would have 125,000,000,000 cells"):
        Distribution(tuple(big), [1.0])
    with pytest.raises(InputError, match="A mapping from state to probability is needed"):
        Distribution.of({})
    with pytest.raises(InputError, match="Each key must be a tuple of 2 states"):
        Distribution.of({"a": 1.0}, name=["A", "B"])
    with pytest.raises(InputError, match="A tuple of 2 states is needed"):
        Distribution.of({("a", "b"): 1.0}, name=["A", "B"])["a"]


def test_unknown_state_offers_near_ones(joint):
    with pytest.raises(
        UnknownNameError, match=r"State 'Yes' is not one of 'x'. Did you mean 'yes'"
    ):
        Distribution.of({"yes": 0.5, "no": 0.5})["Yes"]
    with pytest.raises(UnknownNameError, match="State 4 is not one of 'B'"):
        joint["T", 4]


def test_values_are_frozen(joint):
    with pytest.raises(AttributeError):
        joint.p = joint.p
    with pytest.raises(ValueError, match="read-only"):
        joint.p[0, 0] = 1
    given = np.array([0.5, 0.5])
    d = Distribution(A, given)
    given[0] = 9
    assert d["T"] == 0.5


def test_equality_and_closeness():
    a = Distribution.of({"a": 0.25, "b": 0.75})
    assert a == Distribution.of({"a": 0.25, "b": 0.75}) and hash(a) == hash(copy.copy(a))
    assert a != Distribution.of({"a": 0.75, "b": 0.25}) and a != {"a": 0.25, "b": 0.75}
    assert a.isclose(Distribution.of({"b": 0.75, "a": 0.25}))
    assert not a.isclose(Distribution.of({"b": 0.7, "a": 0.3}))
    assert not a.isclose(Distribution.of({"c": 0.75, "a": 0.25}))
    assert not a.isclose(Distribution.of({"a": 0.25, "b": 0.75}, name="y"))
    assert pickle.loads(pickle.dumps(a)) == a


def test_views(joint):
    d = Distribution.of({"<b>": 1e-7, "b": 1 - 1e-7}, name="x").with_interval(
        [0, 0.5], [0.1, 1], 0.9
    )
    assert str(d).splitlines() == [
        "x           p         90 %",
        "<b>  1.00e-07  0.000–0.100  ╋━┥",
        "b     1.00000  0.500–1.000  ██████████┝━━━━━━━━╋",
    ]
    html = d._repr_html_()
    assert "&lt;b&gt;" in html and "█" in html and "<b>" not in html
    assert str(joint).splitlines()[0].split() == ["A", "B", "p"]
    many = Distribution.of(dict.fromkeys(range(100), 0.01))
    assert str(many).endswith("… 40 more") and "… 40 more" in many._repr_html_()
    assert repr(many).endswith("7 0.01, … 92 more)")


def test_interval_must_fit():
    with pytest.raises(InputError, match="must have an end for each state"):
        Distribution.of({"a": 1.0}).with_interval([0.1, 0.2], [0.3, 0.4], 0.9)
    with pytest.raises(InputError, match="lower end of an interval must not lie above"):
        Distribution.of({"a": 1.0}).with_interval([0.5], [0.3], 0.9)
