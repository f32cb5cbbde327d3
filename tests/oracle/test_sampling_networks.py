"""Rows drawn from the standard networks, given evidence and without, against exact posteriors."""

import os
from pathlib import Path

import numpy as np
import pytest

import credo as cr

BESIDE = Path(__file__).resolve().parents[3] / "shared"
FOLDER = Path(os.environ.get("CREDO_SHARED", BESIDE)) / "data" / "networks"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the shared networks are not here")

ROWS = 50_000


@pytest.mark.parametrize(
    "name", ["asia", "alarm", "child", "insurance", "hailfinder", "hepar2", "win95pts", "barley"]
)
def test_every_marginal_within_five_standard_errors(name):
    net = cr.load(FOLDER / f"{name}.bif.gz")
    row = net.sample(1, rng=5)
    rng = np.random.default_rng(5)
    seen = {n: row[n][0] for n in net.names if rng.random() < 0.15}
    for given in ({}, seen):
        rows = net.sample(ROWS, rng=6, given=given)
        for variable, marginal in net.marginals(given).items():
            states = net.variable(variable).states
            p = np.array([marginal[s] for s in states])
            found = np.bincount(rows.codes(variable), minlength=len(states)) / ROWS
            # Rare states: the chance of k or more draws is below e^-13 beyond these bounds too.
            error = 5 * np.sqrt(p * (1 - p) / ROWS) + 13 / ROWS
            assert (np.abs(found - p) < error).all(), (variable, given)
            assert (found[p == 0] == 0).all()


def test_rare_evidence_costs_no_more_than_any():
    net = cr.load(FOLDER / "alarm.bif.gz")
    given = {"LVFAILURE": "TRUE", "ANAPHYLAXIS": "TRUE", "KINKEDTUBE": "TRUE", "BP": "HIGH"}
    assert net.log_evidence(given) < np.log(1e-4)
    rows = net.sample(10_000, rng=0, given=given)
    assert all((rows[n] == s).all() for n, s in given.items())
    assert net.log_likelihood(rows) > -np.inf
