"""The best strategy by pyAgrum's solver of LIMIDs, on random diagrams and the pigs."""

import numpy as np
import pytest
from tests.decision_networks import random_network
from tests.unit.predict.decisions.test_solving import pigs, wildcatter


def meu(gum, net, path):
    net.save(path)
    diagram = gum.InfluenceDiagram()
    diagram.loadBIFXML(str(path))
    engine = gum.ShaferShenoyLIMIDInference(diagram)
    if net.memory == "full" and len(net.decisions) > 1:
        engine.addNoForgettingAssumption(list(net.decisions))
    engine.makeInference()
    return engine.MEU()["mean"]


def test_the_same_expected_utility(tmp_path):
    gum = pytest.importorskip("pyagrum", reason="pyagrum is not installed")
    nets = [random_network(np.random.default_rng(s), nodes=8) for s in range(20)]
    for net in (wildcatter(), pigs("full"), pigs("limited"), *nets):
        said = meu(gum, net, tmp_path / "diagram.bifxml")
        assert net.solve(interval=None).utility == pytest.approx(said, abs=1e-9)
