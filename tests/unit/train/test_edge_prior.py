"""A prior over edges in all its forms, and options that would change nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.structure_data import discrete, random_table

import credo as cr
from credo.errors import InputError, UnknownNameError


@pytest.fixture(scope="module")
def table():
    return discrete(random_table(np.random.default_rng(2), 200, [2, 3, 2]), [2, 3, 2])


GRAPH = "[v0][v1|v0][v2|v0:v1]"


def test_a_matrix_is_the_mapping_of_its_edges(table):
    names = list(table.schema.names)
    p = np.random.default_rng(0).uniform(0.1, 0.9, (3, 3))
    mapping = {(a, b): p[i, j] for i, a in enumerate(names) for j, b in enumerate(names) if a != b}
    plain = cr.score(GRAPH, table, "bic")
    expected = plain + sum(np.log(mapping[e] / (1 - mapping[e])) for e in cr.Dag.parse(GRAPH).edges)
    frame = pd.DataFrame(p, index=names, columns=names).loc[names[::-1], [names[1], *names[::2]]]
    for prior in (mapping, p, p.tolist(), frame, pl.DataFrame(p, schema=names)):
        assert cr.score(GRAPH, table, "bic", edge_prior=prior) == pytest.approx(expected)
        learned = cr.learn(table, "bic", "exact", edge_prior=prior)
        assert set(learned.dag.edges) == set(
            cr.learn(table, "bic", "exact", edge_prior=mapping).dag.edges
        )
    part = cr.score("[v0][v2|v0]", table, "bic", edge_prior=p)  # a graph over some of the columns
    odds = np.log(p[0, 2] / (1 - p[0, 2]))
    assert part == pytest.approx(cr.score("[v0][v2|v0]", table, "bic") + odds)


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        (
            np.full((2, 2), 0.5),
            "a row and a column for each of the 3 columns of the table, got 2 × 2",
        ),
        ([["a", "b"], ["c", "d"]], "must be a number, a mapping from edges"),
        (np.zeros((3, 3)), "v0 → v1 must be between 0 and 1, got 0"),
        ({("v0", "v0"): 0.3}, "an edge from 'v0' to itself"),
        (1.5, "every edge must be between 0 and 1"),
        ("x", "must be a number, a mapping from edges"),
    ],
)
def test_priors_that_are_none(table, prior, text):
    with pytest.raises(InputError, match=text):
        cr.learn(table, "bic", "hill-climb", edge_prior=prior)


def test_labels_must_be_columns(table):
    frame = pd.DataFrame([[0.5, 0.5], [0.5, 0.5]], index=["v0", "w"], columns=["v0", "w"])
    with pytest.raises(UnknownNameError, match="'w'"):
        cr.learn(table, "bic", edge_prior=frame)


@pytest.mark.parametrize(
    ("search", "options", "text"),
    [
        ("hill-climb", {"candidates": {"v0": ["v0"]}}, "lists 'v0' as a parent of itself"),
        ("anneal", {"thin": 0}, "thin must be a whole number, 1 or more, got 0"),
        ("tan", {"target": "v0", "root": "v0"}, "The root 'v0' is the class"),
        ("chow-liu", {"start": "[v0][v1|v0]"}, "so start= would change nothing"),
        ("k2", {"start": "[v0]", "order": ["v0", "v1", "v2"]}, "'k2' does not begin at a graph"),
        ("pc", {"start": "[v0]"}, "'pc' does not begin at a graph"),
    ],
)
def test_what_would_change_nothing_is_refused(table, search, options, text):
    with pytest.raises(InputError, match=text):
        cr.learn(table, "bic", search, **options)


def test_the_rows_gone_through_are_counted(table, tmp_path):
    counters = cr.learn(table, "bic", "hill-climb").record.details["counters"]
    assert counters["rows"] == 200 * counters["batches"] > 0
    lines = cr.read({n: np.random.default_rng(1).normal(size=50) for n in "a"})
    assert cr.learn(lines, "bic").record.details["counters"]["rows"] == 50


def test_a_score_of_rows_with_gaps_says_how():
    rows = cr.read({"a": ["u", "v", None, "v"], "b": ["u", "v", "v", None]})
    found = cr.score("[a][b|a]", rows, "bic")
    assert "scaled to all rows" in found.notes[0] and found.notes[0] in str(found)
    assert cr.score("[a]", cr.read({"a": ["u", "v"]}), "bic").notes == ()
    lines = cr.read({"x": [0.5, 1.5, None, 2.0], "y": [1.0, 0.2, 0.4, 3.0]})
    with pytest.raises(InputError, match="To learn, choose missing='structural-em'"):
        cr.score("[x][y|x]", lines, "bic")
