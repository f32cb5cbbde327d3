"""Scales in files: .credo keeps them, text formats have bins as interval states."""

import json

import numpy as np
import pytest
from tests.unit.formats.test_credo_file import opened
from tests.unit.predict.test_scaled_answers import BINS, lines, tables
from tests.unit.predict.test_scaled_rows import mixed

import credo as cr
from credo.core.bins import Bins
from credo.core.scales import Transform
from credo.errors import InputError
from credo.formats import dumps, loads

NETWORKS = [tables, mixed, lambda: lines(Transform("yeo-johnson", 2.0, 3.0, 0.3))]


@pytest.mark.parametrize("make", NETWORKS)
def test_a_credo_file_keeps_scales(make, tmp_path):
    net = make()
    net.save(tmp_path / "net.credo")
    again = cr.load(tmp_path / "net.credo")
    assert again == net and again.schema.scales == net.schema.scales
    assert json.loads(opened(dumps(net, "credo"))["model.json"])["version"] == 3


def test_a_learned_network_with_scales_comes_back(tmp_path):
    rng = np.random.default_rng(0)
    rows = {"sex": rng.choice(["f", "m"], 200), "fare": rng.exponential(20, 200)}
    table = cr.read(rows).scaled({"fare": BINS})
    net = cr.fit("[sex][fare|sex]", table, prior=cr.BDeu(1))
    net.save(tmp_path / "net.credo")
    again = cr.load(tmp_path / "net.credo")
    low, high = net.p("fare", interval=0.9).mean_interval
    assert tuple(again.p("fare", interval=0.9).mean_interval) == (low, high)


def test_bins_with_bounds_come_back():
    bins = Bins([2.0], [1.0, 2.0], [0.2, 0.5, 0.3], [np.nan, 1.5, np.nan], (np.inf, 1.0), 0.0)
    x = cr.Variable("x", "discrete", scale=bins)
    net = cr.Network("[x]", [cr.Cpt(x, (), [0.5, 0.5])])
    assert loads(dumps(net, "credo"), "credo") == net


@pytest.mark.parametrize("form", ["bif", "xdsl", "net", "xmlbif", "dsc"])
def test_text_formats_have_bins_as_interval_states(form):
    net = tables()
    again = loads(dumps(net, form), form)
    fare = again.variable("fare")
    assert fare.scale is None and tuple(fare.states) == BINS.labels
    np.testing.assert_allclose(
        again.p("sex", given={"fare": 33.0}).p, net.p("sex", given={"fare": 33.0}).p
    )
    with pytest.raises(InputError, match="discrete variables only; 'fare' is continuous"):
        dumps(mixed(), form)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s["bins"].update(cuts=[7.0]),
        lambda s: s["bins"].update(masses="many"),
        lambda s: s["bins"].pop("tails"),
        lambda s: s.clear() or s.update(transform="cube"),
    ],
)
def test_a_scale_that_is_none_is_refused(change):
    from credo.formats.archive_scales import scale_of, scale_said

    said = json.loads(json.dumps(scale_said(BINS)))
    assert scale_of(said, "x") == BINS
    change(said)
    with pytest.raises(InputError, match="'x' has a scale that cannot be read"):
        scale_of(said, "The variable 'x'")
