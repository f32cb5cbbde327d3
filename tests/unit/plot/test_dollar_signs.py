"""A dollar sign in a name is a dollar sign in every picture, and starts no formula."""

import re
from pathlib import Path

import numpy as np
import pytest

import credo as cr
from credo import plot

pyplot = pytest.importorskip("matplotlib.pyplot")
from matplotlib.text import Text  # noqa: E402

A, B, X, Y = r"$a\frac{$", "cost $b$ in $", "$x$", r"y $\alpha$"
YES, NO = "$yes$", r"no $\frac{$"


def table():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 60)
    b = np.where(rng.random(60) < 0.8, a, 1 - a)
    x = rng.normal(size=60) + 3 * a
    y = x + rng.normal(size=60)
    states = np.array([NO, YES])
    return {A: states[a], B: states[b], X: x, Y: y}


def states():
    rows = table()
    return cr.read({A: rows[A], B: rows[B]})


def numbers():
    rows = table()
    return cr.read({X: rows[X], Y: rows[Y]})


def net():
    return cr.fit(cr.Dag([(A, B)]), states(), prior=cr.BDeu(2))


def mixed():
    return cr.fit(cr.Dag([(A, X), (X, Y)]), cr.read(table()).select([A, X, Y]))


def report(section, model, rows):
    return cr.check(model, rows, draws=40, folds=2, sections=[section])


def lines():
    model = cr.fit(cr.Dag([(X, Y)]), numbers(), prior=cr.LinePrior())
    return report("calibration", model, numbers())


def space():
    bent = {YES: 0.9, NO: 0.1}
    return cr.Hypotheses({"$fair$": {YES: 0.5, NO: 0.5}, "$bent$": bent}).observe([YES, NO])


def gaps():
    rows = table()
    return cr.read({A: [*rows[A][:-1], None], X: [None, *rows[X][1:]]})


def naive():
    return cr.naive_bayes(states(), A)


PICTURES = {
    "calibration_curves": lambda: plot.calibration_curves(report("calibration", net(), states())),
    "candidates": lambda: plot.candidates(cr.which_k(numbers(), k=range(2, 4))),
    "contributions": lambda: plot.contributions(naive().explain({B: YES})),
    "cpt": lambda: plot.cpt(net().cpt(B)),
    "dendrogram": lambda: plot.dendrogram(
        cr.cluster(graph=[(A, B), (B, X), (X, Y)], method="average", k=2)
    ),
    "density": lambda: plot.density(cr.Gaussian(0, 1, name=X)),
    "distribution": lambda: plot.distribution(net().p(B)),
    "edge_bars": lambda: plot.edge_bars(report("edges", net(), states())),
    "evidence_bars": lambda: plot.evidence_bars(net().evidence_value(A)),
    "generalisation": lambda: plot.generalisation(
        cr.Hypotheses({"h": {YES, NO}, "$g$": {YES, "$maybe$"}}).observe(YES)
    ),
    "generated": lambda: plot.generated(cr.Gaussian(0, 1, name=X), [0.5, 1.0, -1.0]),
    "heat_map": lambda: plot.heat_map(cr.cluster(numbers(), k=2)),
    "held_out_bars": lambda: plot.held_out_bars(report("held_out", net(), states())),
    "intervals": lambda: plot.intervals(net().cpt(B)),
    "likelihood_curve": lambda: plot.likelihood_curve(
        cr.Bernoulli.likelihood_curve([True, False, True])
    ),
    "lines": lambda: plot.lines(mixed().cpt(X)),
    "lines over": lambda: plot.lines(mixed().cpt(Y)),
    "missingness": lambda: plot.missingness(gaps()),
    "cost_curve": lambda: plot.cost_curve(
        cr.check(net(), states(), sections=["costs"], costs={A: [[0, 1], [1, 0]]})
    ),
    "network": lambda: plot.network(net(), given={A: YES}, title=A),
    "parameter": lambda: plot.parameter(net().cpt(B), YES, {A: NO}),
    "posterior_curves": lambda: plot.posterior_curves(space()),
    "prediction_curve": lambda: plot.prediction_curve(space(), YES),
    "predictive_histogram": lambda: plot.predictive_histogram(
        report("predictive", net(), states())
    ),
    "prior_posterior": lambda: plot.prior_posterior(cr.Beta(1, 2), cr.Beta(3, 4)),
    "profile_bars": lambda: plot.profile_bars(cr.cluster(numbers(), k=2)),
    "rank_histogram": lambda: plot.rank_histogram(lines(), Y),
    "response": lambda: plot.response(net(), B, over=A),
    "scatter": lambda: plot.scatter(cr.cluster(numbers(), k=2)),
    "surprise": lambda: plot.surprise(report("outliers", net(), states())),
    "tornado": lambda: plot.tornado(net().sensitivity(f'P("{B}"="{YES}")')),
    "trace": lambda: plot.trace(cr.em(cr.Dag([(A, B)]), states())),
}
OTHERS = {"network_svg", "reliability", "learning_curves"}  # no axes; no names of columns


def test_every_picture_is_drawn_here():
    assert {name.split()[0] for name in PICTURES} | OTHERS == set(plot.__all__)


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_of_a_picture_is_a_formula(name):
    ax = PICTURES[name]()
    ax.figure.canvas.draw()  # a formula that is none would fail here
    for text in ax.findobj(lambda found: isinstance(found, Text) and found.get_visible()):
        written, formula = text._preprocess_math(text.get_text())
        if "$" in text.get_text() and "mathdefault" not in text.get_text():
            assert formula is False and r"\$" not in written, text


def test_a_later_title_may_be_a_formula():
    ax = plot.distribution(cr.Distribution.of({"no": 0.4, "yes": 0.6}, name="Fever"))
    ax.set_title(r"$\theta$")
    assert ax.title._preprocess_math(ax.get_title())[1] is True


def test_texts_go_through_one_door():
    """Titles, names beside axes and names of ticks are set in one file."""
    folder = Path(plot.__file__).parent
    for path in folder.glob("*.py"):
        if path.name == "axes.py":
            continue
        found = re.findall(r"\.(?:set_title|set_[xy]label|set_[xy]ticklabels)\(", path.read_text())
        assert not found, (path.name, found)
