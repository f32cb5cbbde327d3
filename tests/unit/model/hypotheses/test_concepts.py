"""The number game."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from credo.errors import InputError, LimitError, UnknownNameError
from credo.model.hypotheses.hypotheses import Hypotheses
from credo.model.hypotheses.number_game import mathematical_concepts, number_game


@pytest.fixture(scope="module")
def game():
    return number_game()


def test_the_library_is_tenenbaums(game):
    assert len(game) == 5083
    assert game.outcomes == tuple(range(1, 101))
    assert len(number_game(intervals=False)) == 34  # his 33, and everything
    joined = [n for n in game.names if " = " in n]
    assert joined == ["multiples of 10 = ending in 0", "everything = [1, 100]"]


def test_concepts():
    c = mathematical_concepts()
    assert sorted(c["powers of 2"]) == [1, 2, 4, 8, 16, 32, 64]
    assert sorted(c["powers of 10"]) == [1, 10, 100]
    assert sorted(c["squares"]) == [i * i for i in range(1, 11)]
    assert sorted(c["cubes"]) == [1, 8, 27, 64]
    assert sorted(c["primes"])[:6] == [2, 3, 5, 7, 11, 13] and len(c["primes"]) == 25
    assert sorted(c["ending in 7"]) == list(range(7, 101, 10))
    assert sorted(c["ending in 0"]) == list(range(10, 101, 10))
    assert len(c["everything"]) == 100
    assert sorted(mathematical_concepts(one=False)["powers of 2"]) == [2, 4, 8, 16, 32, 64]
    assert "multiples of 7" not in mathematical_concepts(5)


def test_the_prior(game):
    # Concepts share 2/3, each of the 35 the same; intervals share 1/3 by l·exp(−l/10).
    assert game.prior["even"] == pytest.approx(2 / 3 / 35, rel=1e-12)
    assert game.prior["multiples of 10 = ending in 0"] == pytest.approx(4 / 3 / 35, rel=1e-12)
    total = sum(n * math.exp(-n / 10) * (101 - n) for n in range(1, 101))
    assert game.prior["[11, 30]"] == pytest.approx(20 * math.exp(-2) / total / 3, rel=1e-12)
    assert game.prior["[1, 20]"] == pytest.approx(game.prior["[11, 30]"], rel=1e-15)
    assert sum(game.prior.values()) == pytest.approx(1, abs=1e-12)
    assert number_game(maths=0).prior["even"] == 0.0
    assert number_game(scale=0.001).prior["[5, 5]"] > 0


def test_the_slide(game):
    h = game.observe([16, 8, 2, 64])
    assert math.exp(h.log_likelihood["powers of 2"]) == pytest.approx(7**-4, rel=1e-14)
    assert math.exp(h.log_likelihood["everything = [1, 100]"]) == pytest.approx(1e-8, rel=1e-14)
    assert h.choose() == "powers of 2" and h.posterior["powers of 2"] > 0.999
    assert sum(h.predict().values()) == pytest.approx(1, abs=1e-12)
    assert h.predict(by="map")[32] == h.p(32, by="mle") == pytest.approx(1 / 7, rel=1e-15)
    assert str(h.compare()).endswith("1 0.1429, 2 0.1429, 4 0.1429, …")
    assert game.observe([16, 23, 19, 20]).choose() == "[16, 23]"


def test_generalisation_is_a_mapping_that_prints(game):
    g = game.observe([16, 8, 2, 64]).generalise()
    assert len(g) == 100 and list(g)[:3] == [1, 2, 3] and 101 not in g and [] not in g
    assert g[16] == pytest.approx(1) and g[3] < 1e-4
    assert [x for x, _ in g.top(6)] == [2, 4, 8, 16, 32, 64]
    assert all(0 <= p <= 1 for p in g.values())
    lines = str(g).splitlines()
    assert lines[0].split() == ["outcome", "P(in", "the", "concept)"]
    assert lines[-2].startswith("1–50     ██ █   █       █")
    assert repr(g) == "<Generalisation over 100 outcomes>"
    assert "<td>16</td>" in g._repr_html_()
    with pytest.raises(UnknownNameError, match="Outcome 101 is not an outcome"):
        g[101]
    words = Hypotheses({"pets": {"cat", "dog"}, "wild": {"fox"}}).observe("cat").generalise()
    assert str(words).splitlines()[1].split()[0] == "cat" and len(str(words).splitlines()) == 3


def test_large_spaces_are_quick(game):
    rng = np.random.default_rng(0)
    data = rng.integers(10, 30, 10_000)
    start = time.process_time()
    h = game.observe(data)
    assert h.choose() == "[10, 29]" and h.n == 10_000
    assert time.process_time() - start < 2
    assert h.posterior["[10, 29]"] == pytest.approx(1)


def test_more_hypotheses_than_a_distribution_has_states():
    h = number_game(150).observe([16, 8, 2, 64])
    assert len(h) > 10_000
    with pytest.raises(LimitError, match="Use log_posterior, which has no limit"):
        h.posterior
    assert h.log_posterior["powers of 2"] > math.log(0.99)
    assert h.choose() == "powers of 2" and "powers of 2" in str(h)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"upto": 0},
            "The largest number of the number game must be a whole number of 1 or more, got 0.",
        ),
        (
            {"upto": 9.5},
            "The largest number of the number game must be a whole number of 1 or more, got 9.5.",
        ),
        ({"maths": 2}, "The part of the mathematical concepts is 0 to 1, got 2."),
        ({"scale": 0}, "The scale of the intervals must be above 0, got 0."),
        (
            {"upto": 10_000},
            "All intervals up to 10,000 would take 500,050,000,000 cells; at most 50,000,000 are "
            "allowed. Use intervals=False, or a smaller number.",
        ),
    ],
)
def test_bad_games(options, text):
    with pytest.raises((InputError, LimitError, UnknownNameError)) as caught:
        number_game(**options)
    assert str(caught.value) == text


def test_a_table_that_would_not_fit_is_refused():
    too_many = {i: range(i, i + 9_999) for i in range(0, 50_000_000, 10_000)}
    with pytest.raises(LimitError, match="cells; at most 50,000,000 are allowed"):
        Hypotheses({k: too_many[k] for k in list(too_many)[:120]})
