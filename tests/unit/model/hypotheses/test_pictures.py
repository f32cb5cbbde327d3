"""The pictures, drawn without a screen."""

from __future__ import annotations

import pytest

from credo.errors import InputError, LimitError, UnknownNameError
from credo.model.hypotheses.hypotheses import Hypotheses
from credo.model.hypotheses.number_game import number_game

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from credo.plot.hypotheses import generalisation, posterior_curves, prediction_curve  # noqa: E402

BAGS = {f"h{i + 1}": {"cherry": 1 - q, "lime": q} for i, q in enumerate([0, 0.25, 0.5, 0.75, 1])}


@pytest.fixture
def ten():
    h = Hypotheses(BAGS, prior=[0.1, 0.2, 0.4, 0.2, 0.1])
    return h.observe(["lime"] * 10)


def test_posterior_curves(ten, tmp_path):
    ax = posterior_curves(ten)
    assert [line.get_label() for line in ax.lines] == list(BAGS)
    assert ax.lines[4].get_ydata().tolist() == ten.history.of("h5").tolist()
    assert ax.lines[4].get_xdata().tolist() == list(range(11))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("observations", "P(hypothesis | observations)")
    assert ax.get_ylim() == (-0.02, 1.02)
    ax.figure.savefig(tmp_path / "posterior.png")
    assert (tmp_path / "posterior.png").stat().st_size > 5000


def test_prediction_curve_on_given_axes(ten):
    _, mine = plt.subplots()
    ax = prediction_curve(ten, "lime", mine, by=("average", "map", "mle", "mdl"))
    assert ax is mine
    assert [line.get_label() for line in ax.lines] == ["average", "map", "mle", "mdl"]
    assert ax.lines[0].get_ydata()[10] == pytest.approx(0.973, abs=5e-4)
    assert len(prediction_curve(ten, "lime", by="map").lines) == 1


def test_long_histories_and_many_hypotheses_are_thinned():
    h = Hypotheses({i: range(1, i + 1) for i in range(1, 30)}).observe([3, 2] * 1000)
    ax = posterior_curves(h, most=3)
    assert [line.get_label() for line in ax.lines] == ["3", "4", "5"]
    assert len(ax.lines[0].get_xdata()) <= 502


def test_a_density_keeps_its_scale():
    h = Hypotheses({"a": lambda x: 5.0, "b": lambda x: 7.0}).observe([1.0, 2.0])
    assert prediction_curve(h, 0.0).get_ylim()[1] > 5


def test_bad_input(ten):
    with pytest.raises(UnknownNameError, match="The rule 'mpa' is not a way to predict"):
        prediction_curve(ten, "lime", by=["mpa"])
    with pytest.raises(UnknownNameError, match="Did you mean 'lime'"):
        prediction_curve(ten, "lme")
    with pytest.raises(InputError, match="At least one hypothesis must be drawn, got most=0"):
        posterior_curves(ten, most=0)


def test_generalisation():
    h = number_game(20).observe([2, 8])
    ax = generalisation(h)
    assert [p.get_height() for p in ax.patches] == list(h.generalise().values())
    assert ax.patches[1].get_facecolor() == ax.patches[7].get_facecolor()
    assert ax.patches[0].get_facecolor() != ax.patches[1].get_facecolor()
    named = Hypotheses({"a": {"x", "y"}, "b": {"y", "z"}}).observe("y").generalise()
    assert [t.get_text() for t in generalisation(named).get_xticklabels()] == ["x", "y", "z"]
    wide = Hypotheses({"a": range(2000)}).generalise()
    with pytest.raises(LimitError, match="2,000 bars do not fit in a picture; at most 1,000 do"):
        generalisation(wide)


def test_a_name_that_matplotlib_would_hide_is_in_the_legend(tmp_path):
    same = {0: 0.5, 1: 0.5}
    ax = posterior_curves(Hypotheses({"_a": same, "": same, "b": same}).observe(0))
    ax.figure.savefig(tmp_path / "legend.png")
    shown = [text.get_text().strip("\u200b") for text in ax.get_legend().get_texts()]
    assert shown == ["_a", "", "b"]
