"""Scores of scaled tables are on the user's scale, so that they compare."""

import numpy as np
import pytest
from tests.unit.predict.test_scaled_answers import BINS

import credo as cr
from credo.core.scales import Transform

RNG = np.random.default_rng(3)
SEX = RNG.choice(["f", "m"], 300)
FARE = RNG.lognormal(np.where(SEX == "f", 3.0, 2.0), 0.6)


def table():
    return cr.read({"sex": SEX, "fare": FARE})


@pytest.mark.parametrize("scale", [BINS, Transform("log"), Transform("square-root", 10, 5)])
@pytest.mark.parametrize("graph", ["[sex][fare]", "[sex][fare|sex]"])
def test_loglik_is_the_likelihood_of_the_rows(scale, graph):
    rows = table().scaled({"fare": scale})
    net = cr.fit(graph, rows)
    assert cr.score(graph, rows, "loglik") == pytest.approx(net.log_likelihood(rows))
    plain = {"sex": SEX, "fare": FARE}
    assert net.log_likelihood(plain) == pytest.approx(net.log_likelihood(rows))


def test_scores_of_other_scales_compare():
    best = cr.score("[sex][fare|sex]", table().scaled({"fare": Transform("log")}), "bic")
    plain = cr.score("[sex][fare|sex]", table(), "bic")
    line = Transform("yeo-johnson", 3.0, 7.0, 1.0)  # a straight line changes nothing
    same = cr.score("[sex][fare|sex]", table().scaled({"fare": line}), "bic")
    assert same == pytest.approx(plain)
    assert best > plain + 50


def test_weights_gaps_and_streams(tmp_path):
    path = tmp_path / "rows.csv"
    rows = zip(SEX, FARE.tolist(), RNG.integers(0, 3, 300), strict=True)
    lines = [f"{s},{f!r},{w}" for s, f, w in rows]
    path.write_text("sex,fare,w\n" + "\n".join(lines))
    for scale in (BINS, Transform("log")):
        whole = cr.read(path, weights="w").scaled({"fare": scale})
        stream = cr.read(path, weights="w", memory="1 kB").scaled({"fare": scale})
        assert isinstance(stream, cr.Stream)
        one, two = (cr.score("[sex][fare|sex]", t, "bic") for t in (whole, stream))
        assert one == pytest.approx(two)
        loglik = cr.score("[sex][fare|sex]", whole, "loglik")
        assert loglik == pytest.approx(cr.fit("[sex][fare|sex]", whole).log_likelihood(whole))
