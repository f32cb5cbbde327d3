"""What was believed after each step."""

from __future__ import annotations

import numpy as np
import pytest

from credo.errors import InputError, LimitError
from credo.model.hypotheses import history as hypotheses_history
from credo.model.hypotheses.hypotheses import Hypotheses

COIN = {"fair": {"H": 0.5, "T": 0.5}, "two heads": {"H": 1.0}}


def test_rows_and_columns():
    history = Hypotheses(COIN).observe(["H"]).observe(["H", "T"]).history
    assert len(history) == 4
    assert history.observations == (None, "H", "H", "T")
    assert history.n.tolist() == [0, 1, 2, 3]
    assert history.of("two heads") == pytest.approx([0.5, 2 / 3, 0.8, 0.0])
    assert repr(history) == "<History: 3 steps of 2 hypotheses>"
    assert "<td>H</td>" in history._repr_html_()


def test_counted_observations_are_one_step():
    h = Hypotheses(COIN).observe({"H": 1000}, counts=True).observe("T")
    assert len(h.history) == 3
    assert h.history.n.tolist() == [0, 1000, 1001]
    assert h.history.predictions("H")["mle"].tolist() == [0.5, 1.0, 0.5]


def test_without_data():
    history = Hypotheses(COIN).history
    assert history.posteriors.tolist() == [[0.5, 0.5]]
    assert str(history).splitlines()[1].split() == ["0", "0.5", "0.5", "0.75", "0.25"]


def test_every_so_many_steps():
    h = Hypotheses(COIN).observe(["H", "T"] * 50)
    thin = h.history.every(30)
    assert thin.n.tolist() == [0, 30, 60, 90, 100]
    assert len(thin) == 5 == len(thin.observations)
    np.testing.assert_array_equal(thin.posteriors, h.history.posteriors[[0, 30, 60, 90, 100]])
    exact = h.history.every(50)
    assert exact.n.tolist() == [0, 50, 100] and len(exact) == 3
    for bad in (0, 1.5):
        with pytest.raises(InputError, match="The step must be a whole number of 1 or more"):
            h.history.every(bad)


def test_a_history_that_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(hypotheses_history, "MAX_CELLS", 100)
    h = Hypotheses(COIN).observe(["H"] * 100)
    with pytest.raises(LimitError) as caught:
        h.history.posteriors
    assert str(caught.value) == (
        "The posteriors of 2 hypotheses at 101 steps would take 202 numbers; at most 100 are "
        "allowed. Take fewer steps with history.every(100)."
    )
    assert h.history.every(10).posteriors.shape == (11, 2)
    assert h.history.predictions("H")["average"].shape == (101,)


def test_long_histories_print_their_ends():
    text = str(Hypotheses(COIN).observe(["H"] * 100).history)
    lines = text.splitlines()
    assert len(lines) == 1 + 21 + 1 + 2
    assert lines[11].startswith("  …") and lines[21].startswith("100")
    assert len(lines[-1]) <= len("two heads  ") + 60


def test_of_many_hypotheses_the_highest_are_shown():
    h = Hypotheses({i: range(1, i + 1) for i in range(1, 30)}).observe([3, 2])
    head = str(h.history).splitlines()[0].split()
    assert head == ["n", "seen", "3", "4", "5", "6", "7", "8"]
    assert "… 9 more" in str(h)
    assert "… 9 more" in h._repr_html_()
