"""The value of evidence: against the definition, by brute force."""

import numpy as np
import pytest
from tests.unit.checking.nets import SPRINKLER, continuous, gaussian, mixed

import credo as cr


def entropy(p):
    p = np.array([v for v in p if v > 0])
    return float(-(p * np.log2(p)).sum())


@pytest.mark.parametrize("target", ["rain", "wet", "late"])
@pytest.mark.parametrize("given", [{}, {"sprinkler": "yes"}])
def test_bits_are_what_is_expected_to_go(target, given):
    found = SPRINKLER.evidence_value(target, given)
    now = entropy(SPRINKLER.p(target, given=given).values())
    assert found.uncertainty == pytest.approx(now)
    for gain in found.gains:
        left = 0.0
        for state, p in SPRINKLER.p(gain.variable, given=given).items():
            more = SPRINKLER.p(target, given={**given, gain.variable: state})
            left += p * entropy(more.values())
        assert gain.bits == pytest.approx(now - left, abs=1e-12)
        assert gain.share == pytest.approx(gain.bits / now)
    assert [g.bits for g in found.gains] == sorted((g.bits for g in found.gains), reverse=True)
    assert {g.variable for g in found.gains} == set(SPRINKLER.names) - {target, *given}


def test_soft_evidence_counts():
    given = {"wet": {"yes": 0.9, "no": 0.2}}
    found = SPRINKLER.evidence_value("rain", given)
    joint = SPRINKLER.p(["rain", "late"], given=given)
    p = np.array([[joint[r, s] for s in "abc"] for r in ("no", "yes")])
    want = (p * np.log2(p / np.outer(p.sum(1), p.sum(0)))).sum()
    assert found["late"].bits == pytest.approx(want)


def test_gaussian_networks_by_their_correlation():
    found = gaussian().evidence_value("x")
    rows = gaussian().sample(200_000, rng=0)
    for name in "yz":
        r = np.corrcoef(rows["x"], rows[name])[0, 1]
        assert found[name].bits == pytest.approx(-0.5 * np.log2(1 - r**2), rel=0.02)
    assert found.uncertainty is None
    assert gaussian().evidence_value("x", {"y": 0.5})["z"].bits == pytest.approx(0, abs=1e-9)


def by_sampling(net, target, name, given, n=4000):
    """The mean of ln p(t | y) / p(t) over draws."""
    both = net.p([name, target], given=given)
    alone = net.p(target, given=given)
    logs = []
    for state, p in both.discrete.items():
        t = np.atleast_1d(both[state].sample(n, 1))
        logs.append(p * (both[state].logpdf(t) - alone.logpdf(t)).mean())
    return sum(logs) / np.log(2)


@pytest.mark.parametrize("given", [{}, {"z": 1.0}, {"y": 0.5}])
@pytest.mark.parametrize("target", ["x", "y"])
def test_a_number_that_is_a_mixture(target, given):
    if target in given:
        given = {"x": 1.0}
    found = mixed().evidence_value(target, given)
    assert found.left_out == () and found.uncertainty is None
    assert {g.variable for g in found.gains} == set(mixed().names) - {target, *given}
    assert found["s"].bits == pytest.approx(by_sampling(mixed(), target, "s", given), abs=0.03)


def test_two_numbers_that_are_a_mixture():
    net = mixed()
    both = net.p(["x", "y"])
    draws = both.sample(100_000, 0)
    log = both.logpdf(draws) - net.p("x").logpdf(draws[:, 0]) - net.p("y").logpdf(draws[:, 1])
    found = net.evidence_value("x")["y"].bits
    assert found == pytest.approx(log.mean() / np.log(2), abs=0.02)
    assert net.evidence_value("y")["x"].bits == pytest.approx(found, abs=1e-7)


def test_a_mixture_of_one_gaussian_is_a_gaussian():
    given = {"s": "on"}
    found = mixed().evidence_value("y", given)
    for name in "xz":
        r = mixed().p(["y", name], given=given).correlation[0, 1]
        assert found[name].bits == pytest.approx(-0.5 * np.log2(1 - r**2))


def test_many_gaussians_are_told_not_guessed():
    s = cr.Variable("s", "discrete", tuple(range(13)))
    x, y = continuous("x"), continuous("y")
    net = cr.Network(
        "[s][x|s][y|x]",
        [
            cr.Cpt(s, (), np.full(13, 1 / 13)),
            cr.LinearGaussian(x, (s,), np.arange(13.0), np.zeros((13, 0)), np.ones(13)),
            cr.LinearGaussian(y, (x,), 0.0, [1.0], 1.0),
        ],
    )
    found = net.evidence_value("x")
    assert found.left_out == ("y",) and "more than 12 Gaussians" in str(found)
    assert 1 < found["s"].bits < np.log2(13)


def test_evidence_whose_parents_are_not_observed():
    net = mixed()
    found = net.evidence_value("s", {"z": 1.0})
    assert found.uncertainty == pytest.approx(entropy(net.p("s", given={"z": 1.0}).values()))


def test_costs_and_choices():
    found = SPRINKLER.evidence_value("rain", among=["wet", "late"], costs={"wet": 100.0})
    assert [g.variable for g in found.gains] == ["late", "wet"]
    assert found["wet"].worth == pytest.approx(found["wet"].bits / 100)
    assert "cost" in str(found)


def test_numbers_beside_a_state_are_told_not_guessed():
    found = mixed().evidence_value("s")
    assert found.left_out == ("x", "y", "z")
    assert "continuous" in str(found)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: SPRINKLER.evidence_value("rian"), "Did you mean 'rain'"),
        (lambda: SPRINKLER.evidence_value("rain", {"rain": "yes"}), "asked about and observed"),
        (lambda: SPRINKLER.evidence_value("rain", among=["rain"]), "observed already"),
        (lambda: SPRINKLER.evidence_value("rain", costs={"wet": 0}), "must be above 0"),
        (lambda: SPRINKLER.evidence_value(["rain"]), "one variable, by name"),
    ],
)
def test_what_cannot_be_asked(call, said):
    with pytest.raises(cr.errors.CredoError, match=said):
        call()


def test_impossible_evidence_is_refused():
    net = cr.Network(
        "[a][b|a][c|a]", {"a": 0.3, "b": {False: 0.0, True: 0.0}, "c": {False: 0.1, True: 0.2}}
    )
    with pytest.raises(cr.errors.ImpossibleError):
        net.evidence_value("a", {"b": True})
