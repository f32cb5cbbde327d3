"""Influence of a row: exactly what learning without it (or with it) gives."""

import numpy as np
import pytest
from tests.unit.checking.nets import SPRINKLER, mixed, with_gaps

import credo as cr


def influence(net, rows, **options):
    return cr.check(net, rows, sections=["influence"], **options).influence


def without(rows, i):
    return rows.take(np.delete(np.arange(len(rows)), i))


@pytest.mark.parametrize("prior", [cr.BDeu(3), cr.Laplace(1)])
def test_a_row_left_out_of_tables(prior):
    rows = SPRINKLER.sample(40, rng=0)
    net = cr.fit(SPRINKLER.dag, rows, prior=prior)
    found = influence(net, rows)
    for i in range(0, 40, 3):
        one = rows.take([i])
        less = cr.fit(SPRINKLER.dag, without(rows, i), prior=prior)
        own = net.log_likelihood(one) - less.log_likelihood(one)
        assert found.nats[i] == pytest.approx(own)
        moved = max(np.abs(net.cpt(n).values - less.cpt(n).values).max() for n in SPRINKLER.names)
        # of a variable with three states another state may move more than the one seen
        assert found.moved[i] <= moved + 1e-12
        assert found.moved[i] >= moved / 2


@pytest.mark.parametrize("prior", [cr.LinePrior(), None])
def test_a_row_left_out_of_lines(prior):
    rows = mixed().sample(40, rng=1)
    net = cr.fit(mixed().dag, rows, prior=dict.fromkeys("xyz", prior) if prior else None,
                 **({"default": cr.BDeu(1)} if prior else {}))  # fmt: skip
    found = influence(net, rows)
    for i in range(0, 40, 5):
        one = rows.take([i])
        less = cr.fit(mixed().dag, without(rows, i),
                      prior=dict.fromkeys("xyz", prior) if prior else None,
                      **({"default": cr.BDeu(1)} if prior else {}))  # fmt: skip
        own = net.log_likelihood(one) - less.log_likelihood(one)
        assert found.nats[i] == pytest.approx(own, abs=1e-9)


def test_a_row_added():
    rows, more = SPRINKLER.sample(40, rng=0), SPRINKLER.sample(10, rng=1)
    net = cr.fit(SPRINKLER.dag, rows, prior=cr.BDeu(3))
    found = influence(net, more)
    assert found.how == "added"
    for i in range(10):
        one = more.take([i])
        grown = net.update(one)
        assert found.nats[i] == pytest.approx(grown.log_likelihood(one) - net.log_likelihood(one))


def test_a_row_that_is_alone():
    rows = cr.read({"a": ["x"] * 5 + ["y"], "b": ["u"] * 3 + ["v"] * 3})
    net = cr.fit("[a][b]", rows)
    report = cr.check(net, rows, sections=["influence"])
    assert report.influence.alone == 1
    assert report.influence.rows[0].row == 6 and report.influence.rows[0].alone
    assert "1 row is the only one of its kind" in report.findings[0].sentence


def test_a_network_without_counts_has_no_influence_to_tell():
    report = cr.check(SPRINKLER, SPRINKLER.sample(20, rng=0), sections=["influence"])
    assert report.influence is None
    assert "keeps no counts" in report.left_out["influence"]


def test_families_with_a_gap_are_left_out_and_told():
    rows = with_gaps(SPRINKLER.sample(100, rng=0), 0.1, 1)
    net = cr.em(SPRINKLER.dag, rows, cr.BDeu(2))
    found = influence(net, rows)
    assert "gap in the row" in str(found)
    assert np.isfinite(found.nats).all()
