"""Mixed answers on the command line, an update with a new state, counts in words."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import credo as cr
from credo import cli
from credo.errors import InputError, TableError


@pytest.fixture
def model(tmp_path):
    net = cr.fit(
        "[sex][height|sex][weight|height]", cr.examples.gender_measurements(), prior=cr.BDeu(1)
    )
    path = tmp_path / "people.credo"
    net.save(path)
    return net, str(path)


def asked(path, question, *options):
    done = CliRunner().invoke(cli.app, ["ask", path, question, "--json", *options])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["answers"][0]


def test_mixtures_as_json(model):
    net, path = model
    one = asked(path, "P(weight)", "--interval", "0.9", "--draws", "100")
    assert [c["states"]["sex"] for c in one["components"]] == ["female", "male"]
    assert one["mean"] == pytest.approx(net.p("weight").mean)
    assert one["mean_interval"]["draws"] == 100 and len(one["weight_interval"]["low"]) == 2
    both = asked(path, "P(height, weight)", "--interval", "0.9")
    assert np.shape(both["covariance"]) == (2, 2) and both["variables"] == ["height", "weight"]
    assert np.shape(both["correlation_interval"]["low"]) == (2, 2)
    kinds = asked(path, "P(sex, weight | height=6)", "--interval", "0.9")
    assert [c["state"] for c in kinds["distribution"]] == [["female"], ["male"]]
    assert len(kinds["p_interval"]["low"]) == 2
    drawn = asked(path, "P(sex, weight)", "--method", "weighting", "--budget", "500 samples")
    assert drawn["approximation"]["samples"] == 500
    gauss = asked(path, "P(height, weight | sex=male)")
    assert np.shape(gauss["covariance"]) == (2, 2)


def test_tables_and_refusals_in_the_terminal(model):
    _, path = model
    done = CliRunner().invoke(cli.app, ["ask", path, "P(weight)", "--explain"])
    assert "a mixture of 2 Gaussians" in done.output and "integrated out: height" in done.output
    with pytest.raises(InputError, match="draws=50 goes with interval="):
        CliRunner().invoke(
            cli.app, ["ask", path, "P(weight)", "--draws", "50"], catch_exceptions=False
        )


def test_an_update_with_a_new_state_says_what_can_be_done(model):
    net, _ = model
    rows = {"sex": ["other"], "height": [5.5], "weight": [150.0]}
    with pytest.raises(TableError, match="holds 'other'") as caught:
        net.update(rows)
    assert "fit all rows together" in str(caught.value) and "Add it to" not in str(caught.value)


def test_one_edge_is_an_edge():
    net = cr.Network("[a][b|a]", {"a": 0.2, "b": {False: 0.1, True: 0.8}})
    assert repr(net) == "Network(2 variables, 1 edge, 3 parameters)"
    assert repr(cr.Network("[a]", {"a": 0.2})) == "Network(1 variable, 0 edges, 1 parameter)"
    assert repr(net.to_markov_network()) == "MarkovNetwork(2 variables, 1 edge, 2 potentials)"
