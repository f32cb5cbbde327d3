"""Pictures of a check: each on its own axes or those given, refusals in a sentence."""

import matplotlib.pyplot as plt
import pytest
from tests.unit.checking.nets import SPRINKLER, mixed

import credo as cr


@pytest.fixture(scope="module")
def report():
    rows = mixed().sample(200, rng=0)
    net = cr.fit(mixed().dag, rows, prior={"s": cr.BDeu(1)}, default=cr.LinePrior())
    return cr.check(net, rows, draws=30, edges=5, folds=3)


@pytest.mark.parametrize(
    "name",
    ["held_out_bars", "predictive_histogram", "calibration_curves", "rank_histogram", "edge_bars",
     "surprise"],
)  # fmt: skip
def test_each_is_drawn_on_the_axes_given(report, name):
    _, ax = plt.subplots()
    assert getattr(cr.plot, name)(report, ax=ax) is ax
    assert ax.get_xlabel() or ax.get_ylabel()
    plt.close("all")
    section = {"held_out_bars": "held_out", "predictive_histogram": "predictive",
               "edge_bars": "edges", "surprise": "outliers"}.get(name, "calibration")  # fmt: skip
    assert getattr(cr.plot, name)(getattr(report, section)) is not None
    plt.close("all")


def test_outliers_and_impossible_rows_are_marked():
    net = cr.fit("[a][b|a]", {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    found = cr.check(net, {"a": [0, 1, 0], "b": [0, 1, 1]}, sections=["outliers"], held_out=True,
                     draws=20)  # fmt: skip
    labels = cr.plot.surprise(found).get_legend_handles_labels()[1]
    assert "probability zero" in labels
    plt.close("all")


def test_refusals(report):
    with pytest.raises(cr.errors.UnknownNameError, match="Statistic 'sharr'"):
        cr.plot.predictive_histogram(report, "sharr")
    with pytest.raises(cr.errors.UnknownNameError, match="a continuous one"):
        cr.plot.rank_histogram(report, "s")
    only = cr.check(SPRINKLER, SPRINKLER.sample(50, rng=0), sections=["calibration"])
    with pytest.raises(cr.errors.InputError, match="no section 'outliers'"):
        cr.plot.surprise(only)
    with pytest.raises(cr.errors.InputError, match="no continuous variable"):
        cr.plot.rank_histogram(only)
    with pytest.raises(cr.errors.InputError, match="no discrete variable"):
        cr.plot.calibration_curves(only, variables=["nothing"])


def test_sensitivity_and_values_draw_themselves():
    assert (
        SPRINKLER.sensitivity("P(rain=yes | wet=yes)").plot().get_title().startswith("P(rain=yes")
    )
    assert SPRINKLER.evidence_value("rain").plot().get_xlabel() == "bits on rain"
    plt.close("all")
