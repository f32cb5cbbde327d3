"""Bounds on continuous variables: P(x > c | …)."""

import pytest
from scipy.stats import norm

import credo as cr
from credo.errors import InputError

NET = cr.Network(
    "[sex][x|sex]",
    [
        cr.Cpt(cr.Variable("sex", "discrete", ("f", "m")), (), [0.4, 0.6]),
        cr.LinearGaussian(
            cr.Variable("x", "continuous"),
            (cr.Variable("sex", "discrete", ("f", "m")),),
            [1.0, 3.0], [[], []], [1.0, 4.0],
        ),
    ],
)  # fmt: skip


def test_a_bound_is_what_the_distribution_says():
    above = 0.4 * norm.sf(2, 1, 1) + 0.6 * norm.sf(2, 3, 2)
    assert NET.ask("P(x > 2)") == pytest.approx(above, rel=1e-12)
    assert NET.ask("P(x >= 2)") == pytest.approx(above, rel=1e-12)
    assert NET.ask("P(x <= 2)") == pytest.approx(1 - above, rel=1e-12)
    assert NET.ask("P('x'<2)") == pytest.approx(1 - above, rel=1e-12)
    assert NET.ask("P(x > 2 | sex=f)") == pytest.approx(norm.sf(2, 1, 1), rel=1e-12)
    assert NET.ask("P(x > -1e1)") == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("P(x > high)", "a number for 'x'"),
        ("P(x > 2, sex)", "one variable at a time"),
        ("argmax P(x > 2)", "argmax"),
        ("P(sex | x > 2)", "observed as one number"),
        ("P(sex | x = nan)", "a number for 'x'"),
        ("P(sex > 2)", "not in the model"),
    ],
)
def test_what_is_refused_is_told(question, told):
    with pytest.raises(cr.errors.CredoError, match=told):
        NET.ask(question)


def test_a_bound_has_no_interval():
    with pytest.raises(InputError, match="no interval"):
        NET.ask("P(x > 2)", interval=0.9)


def test_states_with_marks_are_still_states():
    net = cr.Network("[age]", {"age": [0.3, 0.7]}, states={"age": ["<30", ">=30"]})
    assert net.ask("P(age=<30)") == pytest.approx(0.3)
    assert net.ask("P(age='>=30')") == pytest.approx(0.7)
