"""The picture of intervals."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError


def test_intervals_of_tables_answers_and_marginals():
    import matplotlib.pyplot as plt

    net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.K2())
    ax = cr.plot.intervals(net.cpt("Fev"), level=0.8)
    assert ax.get_xlabel() == "probability, 80 % intervals" and len(ax.get_yticks()) == 4
    low, high = net.cpt("Fev").interval(0.8)
    ends = np.array([s[:, 0] for s in ax.collections[0].get_segments()])
    assert np.allclose(ends, np.stack([low.ravel(), high.ravel()], axis=1))
    ax = cr.plot.intervals(net.p(["Fev", "Pneu"], interval=0.9), ax=plt.subplots()[1])
    assert next(t.get_text() for t in ax.get_yticklabels()) == "Fev=F, Pneu=F"
    ax = cr.plot.intervals(net.marginals(interval=0.9))
    assert len(ax.get_yticks()) == 4
    plt.close("all")
    with pytest.raises(InputError, match="it carries no interval"):
        cr.plot.intervals(net.p("Fev"))
    for bad in (3, {}, {"a": 1}):
        with pytest.raises(InputError, match="A table, an answer with an interval"):
            cr.plot.intervals(bad)
    big = cr.Variable("x", "discrete", tuple(range(120)))
    table = cr.Cpt(big, (), np.full(120, 1 / 120), np.ones(120))
    with pytest.raises(InputError, match="intervals do not fit in a picture"):
        cr.plot.intervals(table)
