"""What is printed of names and observations that are long, wide or hold control characters."""

from __future__ import annotations

import numpy as np
import pytest

from credo.core.render import width
from credo.model.hypotheses.hypotheses import Hypotheses

ODD = "x\n\x1b[31m"


@pytest.fixture
def odd():
    return Hypotheses({"a\n\x1b": {ODD: 0.5, "y": 0.5}, "日本": {ODD: 1.0}}).observe(ODD)


def test_control_characters_are_written_out(odd):
    for printed in (
        str(odd),
        str(odd.history),
        str(odd.history.predictions(ODD)),
        str(odd.compare()),
        str(odd.compare(ODD)),
    ):
        assert all(line.isprintable() for line in printed.splitlines())
    for printed in (repr(odd.compare()), repr(odd.history.predictions(ODD)), repr(odd.history)):
        assert printed.isprintable()
    assert repr(odd.compare()) == "<Comparison: map '日本', mle '日本', mdl '日本'>"
    first = str(odd.history.predictions(ODD)).splitlines()[0]
    assert first == r"P(x\n\x1b[31m next)"


def test_curves_stand_below_each_other(odd):
    one, two = str(odd.history).splitlines()[-2:]
    assert one == r"a\n\x1b  ▄▃" and two == "日本     ▄▅"
    assert width(one) == width(two)


def test_long_observations_are_shortened():
    h = Hypotheses({"a": lambda x: 0.5, "b": lambda x: 0.25})
    numbers = np.linspace(0, 1, 10_000)
    for long in (numbers, numbers.tolist(), "x" * 10_000):
        seen = h.observe_one(long)
        for printed in (
            str(seen.history),
            seen.history._repr_html_(),
            str(seen.history.predictions(long)),
            repr(seen.history.predictions(long)),
            str(seen.compare(long)),
        ):
            assert len(printed) < 1500
        assert "…" in str(seen.history)
