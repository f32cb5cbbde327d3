"""The standard networks without their directions: the same marginals from the moral graph."""

import numpy as np
import pytest
from tests.conftest import SHARED

import credo as cr


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "insurance", "hailfinder", "win95pts"])
def test_moralised_networks_answer_alike(name):
    path = SHARED / "data" / "networks" / f"{name}.bif.gz"
    if not path.exists():
        pytest.skip("the shared networks are not on this machine")
    net = cr.load(path)
    rng = np.random.default_rng(1)
    row = {n: c[0] for n, c in net.sample(1, rng=1, to="dict").items()}
    given = {n: row[n] for n in rng.choice(net.names, len(net.names) // 8, replace=False)}
    for model in (net.to_markov_network(), net.to_factor_graph()):
        assert model.log_partition == pytest.approx(0.0, abs=1e-9)
        assert model.log_evidence(given) == pytest.approx(net.log_evidence(given), rel=1e-9)
        assert model.mpe(given).log_p == pytest.approx(net.mpe(given).log_p, rel=1e-9)
        for n, found in model.marginals(given).items():
            np.testing.assert_allclose(found.p, net.p(n, given).p, atol=1e-9)
