"""The pictures of distributions draw what they say, and say what they cannot draw."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import credo.distributions as m
from credo.errors import InputError, LimitError
from credo.plot import distributions as plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")

WAITS = [4.0, 8.0, 6.0, 7.0]


def test_bars():
    d = m.Distribution.of({"a": 0.25, "b": 0.75}, name="v").with_interval(
        [0.1, 0.6], [0.4, 0.9], 0.9
    )
    ax = plot.distribution(d)
    assert [p.get_height() for p in ax.patches] == [0.25, 0.75]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b"] and ax.get_xlabel() == "v"
    joint = m.Distribution.of({("a", 1): 0.5, ("b", 2): 0.5}, name=["A", "B"])
    assert plot.distribution(joint).get_xticklabels()[0].get_text() == "a, 1"
    with pytest.raises(InputError, match="300 bars do not fit in a picture"):
        plot.distribution(m.Distribution.of(dict.fromkeys(range(300), 1 / 300)))


def test_likelihood_curves():
    curve = m.Bernoulli.likelihood_curve([True] * 12 + [False] * 8)
    ax = plot.likelihood_curve(curve)
    line = ax.lines[0]
    assert line.get_xdata()[line.get_ydata().argmax()] == 0.6 and ax.get_xlabel() == "P(True)"
    assert np.isfinite(plot.likelihood_curve(curve, log=True).lines[0].get_ydata()).all()
    surface = m.Gaussian.likelihood_curve(WAITS, (np.linspace(4, 8, 21), np.linspace(0.5, 4, 20)))
    assert plot.likelihood_curve(surface).get_ylabel() == "σ"
    for grid in (([5], [1]), ([5, 6], [1]), ([5], [1, 2])):
        with pytest.raises(InputError, match="Contours need at least two values of μ and of σ"):
            plot.likelihood_curve(m.Gaussian.likelihood_curve(WAITS, grid))


@pytest.mark.filterwarnings("error")
def test_tails_beyond_every_number_are_cut():
    assert plot.density(m.StudentT(1e-3, 5, 1)).get_xlim()[0] > -10
    wide, narrow = m.NormalInverseGamma(5, 1, 1e-3, 1), m.NormalInverseGamma(5, 1, 2e-3, 1)
    assert plot.prior_posterior(wide, narrow).get_xlim()[1] > 5


@pytest.mark.parametrize(
    ("prior", "data", "lines"),
    [
        (m.Beta(0.5, 0.5), [True, False], 2),
        (m.Dirichlet(1, ["a", "b", "c"]), ["a", "b"], 2),
        (m.NormalMean(5, 1, 1), WAITS, 2),
        (m.NormalMean.flat(1), WAITS, 1),
        (m.NormalInverseGamma.default(5, 2), WAITS, 2),
        (m.NormalInverseGamma.reference(), WAITS, 1),
    ],
)
def test_beliefs_before_and_after(prior, data, lines):
    of = "a" if isinstance(prior, m.Dirichlet) else None
    ax = plot.prior_posterior(prior, prior.update(data), of=of)
    assert len(ax.lines) == lines
    for line in ax.lines:
        assert np.isfinite(line.get_ydata()).all()


def test_beliefs_that_are_no_curve():
    wide = m.NormalInverseWishart.default([0, 0], [1, 1])
    with pytest.raises(InputError, match="Only beliefs about one parameter can be drawn"):
        plot.prior_posterior(wide, wide)
    with pytest.raises(InputError, match="A prior and its posterior are of the same kind"):
        plot.prior_posterior(m.Beta(1, 1), wide)


def test_densities():
    ax = plot.density(m.StudentT(2, 6, 1), WAITS)
    assert ax.patches and ax.get_legend_handles_labels()[1] == ["seen", "StudentT"]
    assert not plot.density(m.Gaussian(0, 1)).patches
    assert not plot.density(m.Gaussian(0, 1), []).patches
    assert (
        len(plot.density(m.Gaussian(0, 1), np.r_[np.zeros(500), 1e300, range(400)]).patches) <= 60
    )


def test_generated():
    ax = plot.generated(m.Gaussian.fit(WAITS), WAITS, n=7, rng=1)
    assert ax.get_title() == "4 values seen, 7 data sets generated"
    assert plot.generated(m.NormalInverseGamma.default(6, 2).update(WAITS), WAITS).patches
    ax = plot.generated(m.Beta(2, 3), [True, False, False], n=4)
    assert [p.get_height() for p in ax.patches] == pytest.approx([2 / 3, 1 / 3])
    with pytest.raises(InputError, match="There is no data to compare with"):
        plot.generated(m.Gaussian(0, 1), [])
    with pytest.raises(InputError, match="A histogram shows one variable"):
        plot.generated(m.MultivariateGaussian([0, 0], np.eye(2)), [[1.0, 2.0]])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: plot.distribution(None), "A discrete distribution is needed, got None."),
        (lambda: plot.distribution(m.Gaussian(0, 1)), "A discrete distribution is needed"),
        (lambda: plot.density(None), "A Gaussian or a StudentT is needed, got None."),
        (lambda: plot.density(m.Bernoulli(0.5)), "A Gaussian or a StudentT is needed"),
        (lambda: plot.likelihood_curve(None), "A likelihood curve is needed, got None."),
        (
            lambda: plot.prior_posterior(None, None),
            "A prior and its posterior are of the same kind",
        ),
        (lambda: plot.generated(None, [1.0]), "A distribution or a posterior is needed, got None."),
        (lambda: plot.distribution(m.Bernoulli(0.3), ax=3), "ax must be the axes of a matplotlib"),
    ],
)
def test_odd_arguments(call, text):
    with pytest.raises(InputError, match=text):
        call()


def test_generated_has_a_limit():
    with pytest.raises(LimitError, match="n must be at most 10,000 draws, got 1000000"):
        plot.generated(m.Gaussian(0, 1), WAITS, n=10**6)
    with pytest.raises(LimitError, match=r"at most 20,000,000 are drawn\. Generate fewer sets"):
        plot.generated(m.Gaussian(0, 1), np.zeros(10_000), n=10_000)


def test_seen_and_generated_share_their_bins():
    ax = plot.generated(m.Gaussian.fit(WAITS), WAITS, rng=1)
    bars = [p for p in ax.patches if isinstance(p, matplotlib.patches.Rectangle)]
    edges = [p.get_x() for p in bars] + [bars[-1].get_x() + bars[-1].get_width()]
    for stairs in (p for p in ax.patches if isinstance(p, matplotlib.patches.StepPatch)):
        assert stairs.get_data().edges == pytest.approx(edges)
    assert ax.get_legend_handles_labels()[1] == ["seen", "95 % of generated", "median of generated"]


def test_the_names_of_many_bars_are_thinned():
    ax = plot.distribution(m.Distribution.of({f"state {i}": 0.01 for i in range(100)}))
    assert len(ax.get_xticklabels()) <= 40 and len(ax.patches) == 100
    ax.figure.draw_without_rendering()
    boxes = [t.get_window_extent() for t in ax.get_xticklabels()]
    assert all(a.x1 <= b.x0 + 1 for a, b in pairwise(boxes))
    assert ax.xaxis.label.get_window_extent().y0 >= 0


def test_the_range_follows_the_posterior():
    prior = m.NormalInverseGamma.default(0, 10)
    ax = plot.prior_posterior(prior, prior.update(np.linspace(4, 6, 30)))
    low, high = ax.lines[0].get_xdata()[[0, -1]]
    assert -20 < low < 4 and 6 < high < 20
