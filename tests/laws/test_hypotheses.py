"""Laws of hypothesis spaces, on random spaces, priors and data."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from credo.errors import ImpossibleError
from credo.model.hypotheses.hypotheses import Hypotheses

OUTCOMES = ("a", "b", "c")


@st.composite
def spaces(draw, zeros=False):
    """Exact chances (in fractions), exact priors, and some data."""
    k = draw(st.integers(1, 5))
    low = 0 if zeros else 1
    chances = []
    for _ in range(k):
        w = draw(st.lists(st.integers(low, 20), min_size=3, max_size=3).filter(any))
        chances.append([Fraction(v, sum(w)) for v in w])
    w = draw(st.lists(st.integers(1, 50), min_size=k, max_size=k))
    prior = [Fraction(v, sum(w)) for v in w]
    data = draw(st.lists(st.sampled_from(OUTCOMES), max_size=25))
    return chances, prior, data


def build(chances, prior, names=None, **options):
    names = names or [f"h{i}" for i in range(len(chances))]
    each = {
        n: dict(zip(OUTCOMES, map(float, c), strict=True))
        for n, c in zip(names, chances, strict=True)
    }
    return Hypotheses(each, prior=[float(p) for p in prior], **options)


def exact_posterior(chances, prior, data):
    joint = [
        p * math.prod((c[OUTCOMES.index(x)] for x in data), start=Fraction(1))
        for c, p in zip(chances, prior, strict=True)
    ]
    return (joint, sum(joint))


@given(spaces(zeros=True))
def test_posterior_and_evidence_are_those_of_exact_arithmetic(space):
    chances, prior, data = space
    joint, total = exact_posterior(chances, prior, data)
    h = build(chances, prior)
    if total == 0:
        with pytest.raises(ImpossibleError):
            h.observe(data)
        return
    h = h.observe(data)
    assert abs(sum(h.posterior.values()) - 1) < 1e-12
    for got, want in zip(h.posterior.values(), joint, strict=True):
        assert got == pytest.approx(float(want / total), rel=1e-12, abs=0)
        assert (got == 0) == (want == 0)
    exact = math.log(total.numerator) - math.log(total.denominator)
    assert h.log_evidence == pytest.approx(exact, rel=1e-12, abs=1e-12)
    assert set(h.ruled_out) == {n for n, want in zip(h.names, joint, strict=True) if want == 0}


@given(spaces())
def test_one_at_a_time_is_all_at_once_is_counted(space):
    chances, prior, data = space
    h = build(chances, prior)
    step = h
    for x in data:
        step = step.observe(x)
    counts = {x: data.count(x) for x in OUTCOMES}
    for other in (h.observe(data), h.observe(counts, counts=True), h.observe(np.array(data, str))):
        np.testing.assert_allclose(other.posterior.p, step.posterior.p, rtol=1e-12)
        assert other.log_evidence == pytest.approx(step.log_evidence, rel=1e-12, abs=1e-12)
        assert other.n == step.n == len(data)


@given(spaces(), st.randoms(use_true_random=False))
def test_the_order_of_observations_is_irrelevant(space, random):
    chances, prior, data = space
    h = build(chances, prior)
    other = list(data)
    random.shuffle(other)
    one, two = h.observe(data), h.observe(other)
    np.testing.assert_allclose(one.posterior.p, two.posterior.p, rtol=1e-12)
    for rule in ("map", "mle", "mdl"):
        assert one.ties(rule) == two.ties(rule)


@given(spaces())
def test_average_is_posterior_times_likelihood(space):
    chances, prior, data = space
    h = build(chances, prior).observe(data)
    for i, x in enumerate(OUTCOMES):
        want = sum(p * float(c[i]) for p, c in zip(h.posterior.values(), chances, strict=True))
        assert h.predict()[x] == pytest.approx(want, rel=1e-12)
        assert h.p(x) == pytest.approx(want, rel=1e-12)
    assert abs(sum(h.predict().values()) - 1) < 1e-12


@given(spaces())
def test_prediction_is_a_ratio_of_evidences(space):
    chances, prior, data = space
    h = build(chances, prior).observe(data)
    for x in OUTCOMES:
        ratio = math.exp(h.observe(x).log_evidence - h.log_evidence)
        assert h.p(x) == pytest.approx(ratio, rel=1e-12)


@given(spaces())
def test_renaming_and_reordering_change_only_names(space):
    chances, prior, data = space
    h = build(chances, prior).observe(data)
    back = build(chances[::-1], prior[::-1], [f"x{i}" for i in range(len(chances))][::-1])
    back = back.observe(data)
    for i in range(len(chances)):
        assert back.posterior[f"x{i}"] == pytest.approx(h.posterior[f"h{i}"], rel=1e-12)


@given(spaces(), st.floats(1e-300, 1e300))
def test_scaling_the_prior_changes_nothing(space, factor):
    chances, prior, data = space
    assume(all(0 < float(p) * factor < math.inf for p in prior))
    one = build(chances, prior).observe(data)
    two = build(chances, [float(p) * factor for p in prior]).observe(data)
    np.testing.assert_allclose(two.posterior.p, one.posterior.p, rtol=1e-12)


@given(spaces(), st.lists(st.integers(0, 12), min_size=5, max_size=5))
def test_bits_are_a_prior_of_powers_of_two(space, bits):
    chances, _, data = space
    bits = bits[: len(chances)]
    each = build(chances, [1] * len(chances))
    by_prior = build(chances, [2.0**-b for b in bits]).observe(data)
    spaces_ = {
        n: dict(zip(OUTCOMES, map(float, c), strict=True))
        for n, c in zip(each.names, chances, strict=True)
    }
    by_bits = Hypotheses(spaces_, bits=bits).observe(data)
    np.testing.assert_allclose(by_bits.posterior.p, by_prior.posterior.p, rtol=1e-12)
    assert by_bits.choose("mdl") == by_bits.choose("map") == by_prior.choose("mdl")


@given(spaces())
def test_a_uniform_prior_makes_map_the_best_fit(space):
    chances, _, data = space
    h = build(chances, [1] * len(chances)).observe(data)
    assert h.ties("map") == h.ties("mle") == h.ties("mdl")


@given(spaces())
def test_a_mapping_a_function_and_a_log_function_agree(space):
    chances, prior, data = space
    h = build(chances, prior).observe(data)

    def function(c, log):
        return lambda x: math.log(c[OUTCOMES.index(x)]) if log else float(c[OUTCOMES.index(x)])

    for log in (False, True):
        f = Hypotheses(
            {n: function(c, log) for n, c in zip(h.names, chances, strict=True)},
            prior=[float(p) for p in prior],
            log=log,
        ).observe(data)
        np.testing.assert_allclose(f.posterior.p, h.posterior.p, rtol=1e-11)
        for by in ("average", "map", "mle", "mdl"):
            assert f.p("b", by=by) == pytest.approx(h.p("b", by=by), rel=1e-11)


@given(spaces())
def test_history_is_the_sequence_of_posteriors_and_predictions(space):
    chances, prior, data = space
    h = build(chances, prior)
    history = h.observe(data).history
    predictions = history.predictions("a")
    assert history.posteriors.shape == (len(data) + 1, len(chances))
    for i in range(len(data) + 1):
        now = h.observe(data[:i])
        np.testing.assert_allclose(history.posteriors[i], now.posterior.p, rtol=1e-12)
        for by in ("average", "map", "mle", "mdl"):
            assert predictions[by][i] == pytest.approx(now.p("a", by=by), rel=1e-12)


@settings(max_examples=20)
@given(spaces(), st.integers(1, 10**6))
def test_many_observations_do_not_underflow(space, n):
    chances, prior, _ = space
    h = build(chances, prior).observe({"a": n, "b": 2 * n, "c": 1}, counts=True)
    assert math.isfinite(h.log_evidence)
    assert abs(sum(h.posterior.values()) - 1) < 1e-12
    halves = build(chances, prior).observe({"c": 1, "b": n}, counts=True)
    halves = halves.observe({"a": n, "b": n}, counts=True)
    np.testing.assert_allclose(halves.posterior.p, h.posterior.p, rtol=1e-12, atol=1e-300)


@given(
    st.lists(st.frozensets(st.integers(1, 8), min_size=1), min_size=1, max_size=6),
    st.lists(st.integers(1, 8), max_size=6),
)
def test_size_principle(sets, data):
    h = Hypotheses({f"C{i}": s for i, s in enumerate(sets)})
    known = set().union(*sets)
    assume(all(x in known for x in data))
    weights = [Fraction(1, len(s)) ** len(data) if set(data) <= s else Fraction(0) for s in sets]
    if not sum(weights):
        with pytest.raises(ImpossibleError):
            h.observe(data)
        return
    h = h.observe(data)
    for got, w in zip(h.posterior.values(), weights, strict=True):
        assert got == pytest.approx(float(w / sum(weights)), rel=1e-12)
    members = h.generalise()
    for x in known:
        want = sum(w for w, s in zip(weights, sets, strict=True) if x in s) / sum(weights)
        assert members[x] == pytest.approx(float(want), rel=1e-12)
        assert 0 <= members[x] <= 1
        next_one = sum(w / len(s) for w, s in zip(weights, sets, strict=True) if x in s)
        assert h.predict()[x] == pytest.approx(float(next_one / sum(weights)), rel=1e-12)
