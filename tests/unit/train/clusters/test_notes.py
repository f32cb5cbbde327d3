"""What a summary says beside the groups: columns that no method sees, rows, ties and their order."""

from __future__ import annotations

import datetime
import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app

METHODS = ("k-means", "single", "average", "ward", "spectral", "gaussian", "latent-class")


def table(rows: int = 30) -> dict[str, list]:
    day = datetime.date(2020, 1, 1)
    return {
        "id": [f"u{i}" for i in range(rows)],
        "day": [str(day + datetime.timedelta(i)) for i in range(rows)],
        "c": ["z"] * rows,
        "x": [float(i * i % 7) + 0.5 for i in range(rows)],
        "y": [float(i % 2) * 9 + i * 0.01 for i in range(rows)],
    }


def told(groups: cr.Clusters, words: str) -> list[str]:
    return [n for n in groups.record.notes if words in n]


@pytest.mark.parametrize("method", METHODS)
def test_columns_that_reading_set_aside_are_named(method: str) -> None:
    groups = cr.cluster(table(), method, k=2)
    (note,) = told(groups, "set aside")
    assert "id (30 different values in 30 rows)" in note
    assert "day (dates, 30 different)" in note
    assert "c (every cell is 'z')" in note
    assert note in str(groups)


def test_columns_asked_for_or_dropped_leave_nothing_to_tell() -> None:
    assert not told(cr.cluster(table(), k=2, columns=["x", "y"]), "set aside")
    dropped = cr.cluster(table(), k=2, schema={"id": "drop", "day": "drop", "c": "drop"})
    assert not told(dropped, "set aside")


def test_another_cut_keeps_what_was_told() -> None:
    groups = cr.cluster(table(), "average", k=2)
    assert told(groups.cut(k=3), "set aside") == told(groups, "set aside")


def test_the_command_line_names_them_by_its_own_options(tmp_path) -> None:
    rows = table()
    path = tmp_path / "t.csv"
    lines = [",".join(rows), *(",".join(map(str, r)) for r in zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    run = CliRunner().invoke(app, ["cluster", str(path), "--k", "2"])
    assert "set aside when the table was read: id (30 different" in run.output
    assert "--kind 'id=discrete' keeps a column" in run.output
    run = CliRunner().invoke(app, ["cluster", str(path), "--k", "2", "--json"])
    assert any("set aside" in n for n in json.loads(run.output)["notes"])


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_column_that_is_kept_is_named(method: str) -> None:
    rows = {n: table()[n] for n in ("x", "y")} | {"c": [1.0] * 30}
    assert told(cr.cluster(rows, method, k=2, schema={"c": "continuous"}), "c is constant")


@pytest.mark.parametrize("method", ["k-means", "average", "spectral", "latent-class"])
def test_a_constant_state_that_is_kept_is_named(method: str) -> None:
    groups = cr.cluster(table(), method, k=2, schema={"c": "discrete"})
    assert told(groups, "c is constant and tells nothing")


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_a_cell_are_named(method: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 2)) + 9 * np.repeat([0, 1], 20)[:, None]
    x[7] = np.nan
    assert told(cr.cluster(x, method, k=2), "1 row has no cell (row 8)")


@pytest.mark.parametrize("method", ["gaussian", "latent-class"])
def test_mixtures_say_that_they_are_models_and_what_the_silhouette_is_in(method: str) -> None:
    words = "a model of each class makes the groups, not a distance; the silhouette is in"
    plain = {"x": table()["x"], "y": table()["y"]}
    groups = cr.cluster(plain, method, k=2)
    assert f"{words} Euclid's distance of the numbers as they are" in groups.record.notes
    gaps = plain | {"x": [None, *plain["x"][1:]]}
    (note,) = told(cr.cluster(gaps, method, k=2), words)
    assert "Gower's distance, numbers divided by their range" in note


def test_k_means_with_gaps_says_what_its_silhouette_is_in() -> None:
    gaps = {"x": [None, *table()["x"][1:]], "y": table()["y"]}
    assert told(cr.cluster(gaps, k=2), "the silhouette is in Gower's distance")
    assert not told(cr.cluster({"y": table()["y"]}, k=2), "silhouette")


@pytest.mark.parametrize("method", ["ward", "k-means"])
def test_states_as_coordinates_are_told(method: str) -> None:
    rows = {"x": table()["x"], "s": ["a", "b", "b"] * 10}
    words = "states are 0/1 coordinates, each column weighing as one number"
    assert told(cr.cluster(rows, method, k=2), words)


def test_numbers_that_gower_leaves_as_they_are() -> None:
    rows = {"x": table()["x"], "s": ["a", "b", "b"] * 10}
    groups = cr.cluster(rows, "average", k=2, scale="none")
    words = "Gower's distance, numbers as they are, gaps left out pair by pair"
    assert words in groups.record.notes


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward"])
def test_merges_that_tie_at_the_cut_are_told(method: str) -> None:
    even = {"x": np.arange(8.0)}
    assert told(cr.cluster(even, method, k=6), "merges tie at the cut (height 1)")
    uneven = {"x": np.arange(8.0) ** 2.5}
    assert not told(cr.cluster(uneven, method, k=6), "merges tie")
    assert not told(cr.cluster(even, method, k=8), "merges tie")
    assert not told(cr.cluster(even, method, k=6).cut(height=0.5), "merges tie")


def test_ties_of_a_graph_that_tie_at_the_cut_are_told() -> None:
    pairs = [(i, i + 1) for i in range(5)]
    assert told(cr.cluster(graph=pairs, method="single", k=2), "merges tie at the cut")


@pytest.mark.parametrize("leaves", [6, 4])
def test_leaves_have_the_numbers_of_rows(leaves):
    table = {"x": [0.0, 0.1, 0.2, 0.35, 50.0, 0.6], "w": [0, 0, 1, 1, 1, 1]}
    groups = cr.cluster(cr.read(table, weights="w"), "average", k=2)
    assert list(groups.row_numbers) == [3, 4, 5, 6]
    ax = groups.plot_tree(leaves=min(leaves, 4))
    assert {t.get_text() for t in ax.get_xticklabels()} == {"3", "4", "5", "6"}
    plt.close("all")
    ax = cr.cluster({"x": table["x"]}, "average", k=2).plot_tree(leaves=leaves)
    assert "5" in {t.get_text() for t in ax.get_xticklabels()}
    plt.close("all")
