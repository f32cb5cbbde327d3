"""`cr.average` of numbers on their scales: chosen once, the same in every graph, told in numbers."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.errors import CredoError

N = 300


def rows(n=N, seed=0):
    rng = np.random.default_rng(seed)
    a = np.exp(rng.normal(size=n))
    b = np.exp(0.8 * np.log(a) + 0.5 * rng.normal(size=n))
    c = np.where(rng.random(n) < np.where(b > 2, 0.8, 0.2), "y", "n")
    return {"a": a, "b": b, "c": c}


@pytest.fixture(scope="module")
def table():
    return cr.read(rows())


@pytest.fixture(scope="module", params=["auto", "binned"])
def post(request, table):
    return cr.average(table, numbers=request.param)


def test_the_scales_are_chosen_once_and_told(post, table):
    scales = post.schema.scales
    assert set(scales) == {"a", "b"} and set(post.record.details["numbers"]) == {"a", "b"}
    assert post.record.notes[-1].endswith("; the same in every graph")
    assert all(post.network_of(g).schema.scales == scales for g in range(len(post.weights)))
    again = cr.average(table.scaled(scales), numbers="gaussian")
    np.testing.assert_allclose(again.edge_p, post.edge_p, atol=1e-12)
    plain = cr.average(table, numbers="gaussian")
    assert not plain.schema.scales and "numbers" not in plain.record.details


def test_rows_are_averaged_on_their_own_scale(post):
    """Against each graph as a network of its own, rows with gaps too."""
    new = rows(12, 1)
    new["a"][::3] = np.nan
    new["b"][1::4] = np.nan
    nets = [post.network_of(g) for g in range(len(post.weights))]
    total = 0.0
    for i in range(12):
        row = {n: v[i : i + 1] for n, v in new.items() if v[i] == v[i]}
        total += np.log(post.weights @ np.exp([net.log_likelihood(row) for net in nets]))
    assert post.log_likelihood(new) == pytest.approx(total, rel=1e-9)
    p = post.predict_proba({n: new[n] for n in "ab"}, "c")
    np.testing.assert_allclose(p[2], post.p("c", {"a": new["a"][2], "b": new["b"][2]}).p)


def test_answers_are_in_numbers(post, tmp_path):
    nets = [post.network_of(g) for g in range(len(post.weights))]
    chance = np.array([net.p({"c": "y"}) for net in nets]) * post.weights
    chance /= chance.sum()
    beyond = chance @ [net.ask("P(b > 2 | c=y)") for net in nets]
    assert post.ask("P(b > 2 | c=y)") == pytest.approx(beyond, rel=1e-6)
    mean = chance @ [net.p("b", {"c": "y"}).mean for net in nets]
    answer = post.p("b", {"c": "y"})
    assert answer.mean == pytest.approx(mean, rel=1e-6)
    assert 1 - answer.cdf(2.0) == pytest.approx(beyond, rel=1e-6)
    sure = post.p("b", {"c": "y"}, interval=0.9, draws=200)
    low, high = sure.mean_interval
    assert low < mean < high and sure.mean == pytest.approx(mean, rel=1e-6)
    low, high = post.ask("P(b > 2 | c=y)", interval=0.9, draws=200).interval
    assert low < beyond < high
    post.save(tmp_path / "p.credo")
    again = cr.load(tmp_path / "p.credo")
    assert again.p("b", {"c": "y"}).mean == pytest.approx(mean, rel=1e-9)


def test_a_number_in_one_bin_has_no_edges(table):
    """Every edge of it would leave the rows as probable as they are."""
    waits = np.where(np.arange(N) % 2, 0.0, np.random.default_rng(2).gamma(2, 3, N))
    more = cr.average({**rows(), "d": waits})
    assert more.record.details["numbers"]["d"] == "by its own density"
    assert all(more.edge("d", n) == more.edge(n, "d") == 0 for n in "abc")
    assert "d of one bin: no edges" in more.record.notes
    fewer = cr.average(table.scaled({n: more.schema[n].scale for n in "ab"}), numbers="gaussian")
    assert more.edge("b", "a") == pytest.approx(fewer.edge("b", "a"), abs=1e-12)


def test_the_command_takes_them_too(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(rows()).to_csv(path, index=False)
    run = CliRunner().invoke(app, ["average", str(path), "--numbers", "b=1,2", "--json"])
    assert run.exit_code == 0, run.output
    notes = json.loads(run.output)["notes"]
    assert any("a gaussian; b in 3 bins" in n for n in notes)
    with pytest.raises(CredoError, match="numbers must be one of"):
        cr.average(rows(), numbers="cut")
