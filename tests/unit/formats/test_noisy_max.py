"""Noisy-MAX nodes of GeNIe: expanded to tables, kept for writing back."""

import itertools

import numpy as np
import pytest

from credo.errors import InputError
from credo.formats import dumps, loads
from credo.formats.noisy_max import expand

XDSL = """<smile version="1.0" id="N"><nodes>
 <cpt id="Smoker"><state id="Two"/><state id="One"/><state id="No"/>
  <probabilities>0.1 0.2 0.7</probabilities></cpt>
 <cpt id="Diet"><state id="Good"/><state id="Bad"/><state id="Mid"/>
  <probabilities>0.5 0.2 0.3</probabilities></cpt>
 <noisymax id="Cancer"><state id="Malignant"/><state id="Benign"/><state id="No"/>
  <parents>Smoker Diet</parents><strengths>0 1 2 1 2 0</strengths>
  <parameters>0.23 0.25 0.52 0.11 0.14 0.75 0 0 1 0.04 0.63 0.33 0.13 0.22 0.65 0 0 1
   0.005 0.015 0.98</parameters></noisymax></nodes></smile>"""


def brute(columns: np.ndarray, strengths: list[list[int]], arities: list[int]) -> np.ndarray:
    """The table by its story: each parent and the leak draw a state, the strongest (first) wins."""
    k = columns.shape[1]
    out = np.zeros((*arities, k))
    for states in itertools.product(*map(range, arities)):
        starts = np.cumsum([0, *arities])
        own = [columns[starts[i] + strengths[i].index(s)] for i, s in enumerate(states)]
        for drawn in itertools.product(range(k), repeat=len(own) + 1):
            p = np.prod([c[y] for c, y in zip([*own, columns[-1]], drawn, strict=True)])
            out[(*states, min(drawn))] += p
    return out


def test_a_node_is_expanded():
    net = loads(XDSL, "xdsl")
    table = net.cpt("Cancer")
    # all parents in their weakest state: the leak alone
    assert table.row(Smoker="No", Diet="Good").values() == pytest.approx([0.005, 0.015, 0.98])
    # a smoker of two packs on a medium diet: the columns 0.23 0.25 0.52 and 0.13 0.22 0.65
    row = table.row(Smoker="Two", Diet="Mid")
    assert row["No"] == pytest.approx(0.52 * 0.65 * 0.98)
    assert row["Malignant"] == pytest.approx(1 - 0.77 * 0.87 * 0.995)


def test_the_table_is_that_of_the_story():
    rng = np.random.default_rng(3)
    columns = rng.dirichlet(np.ones(4), size=8)
    strengths = [[1, 0], [2, 0, 1], [1, 0]]
    table = expand(columns, [s for one in strengths for s in one], [2, 3, 2])
    assert table == pytest.approx(brute(columns, strengths, [2, 3, 2]), abs=1e-15)


def test_it_is_written_back_as_it_was():
    net = loads(XDSL, "xdsl")
    text = dumps(net, "xdsl")
    assert "<strengths>0 1 2 1 2 0</strengths>" in text
    assert "<parameters>0.23 0.25 0.52 0.11" in text
    again = loads(text, "xdsl")
    assert again == net
    assert dumps(again, "xdsl") == text
    kept = loads(dumps(net, "credo"), "credo")
    assert dumps(kept, "xdsl") == text
    # in another format it is a table, and a table it stays
    assert "noisymax" not in dumps(loads(dumps(net, "bif"), "bif"), "xdsl")


def test_a_changed_table_is_written_as_a_table():
    net = loads(XDSL, "xdsl")
    other = net.do({"Cancer": "No"}) if hasattr(net, "do") else net
    assert "<noisymax" not in dumps(other, "xdsl")
    odd = net.with_record(
        type(net.record)(how="h", details={"noisy-max": {"Cancer": {"strengths": "x"}}})
    )
    assert "<noisymax" not in dumps(odd, "xdsl")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("0 1 2 1 2 0", "0 1 2 1 2 2", "must name each of the 3 states of 'Diet'"),
        ("0 1 2 1 2 0", "0 1 2 1 2", "must name each of the 3 states of 'Diet'"),
        ("0.015 0.98", "0.995", "needs 6 strengths and 21 parameters, got 6 and 20"),
        ("0 1 2 1 2 0", "0 1 2 1 2 0 0", "needs 6 strengths and 21 parameters, got 7 and 21"),
        ("0.005 0.015", "0.005 0.01", "line 8: The probabilities of 'Cancer' add up to 0.995"),
        ("0.23 0.25", "0.23 x", "line 8: Expected a number, got 'x'"),
    ],
)
def test_refusals(old, new, says):
    with pytest.raises(InputError, match=says):
        loads(XDSL.replace(old, new), "xdsl")


def test_without_strengths_the_columns_are_in_the_order_of_the_states():
    net = loads(XDSL.replace("<strengths>0 1 2 1 2 0</strengths>", ""), "xdsl")
    assert net.cpt("Cancer").row(Smoker="No", Diet="Mid")["No"] == pytest.approx(0.98)
