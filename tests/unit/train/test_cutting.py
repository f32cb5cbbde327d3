"""Cutting numbers: criteria against enumeration, planted steps, every kind of source."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb, factorial, lgamma, log

import numpy as np
import pytest

import credo as cr
from credo.core.interval_states import cuts_of
from credo.errors import InputError, SchemaError, UnknownNameError
from credo.stats.histogram import Histogram, fine_edges
from credo.train.numbers.criteria import best_cuts, cost_of
from credo.train.numbers.cutting import cut_points


def modl(groups: list[np.ndarray]) -> float:
    """The criterion as Boullé (2006) writes it, with whole numbers."""
    n, k, j = int(sum(g.sum() for g in groups)), len(groups), len(groups[0])
    cost = log(n) + log(comb(n + k - 1, k - 1))
    for g in (g.astype(int) for g in groups):
        cost += log(comb(int(g.sum()) + j - 1, j - 1)) + log(factorial(int(g.sum())))
        cost -= sum(log(factorial(int(c))) for c in g)
    return cost


def histogram_cost(groups: list[np.ndarray], widths: list[float], edges: int) -> float:
    """−ln of: a choice of edges, uniform contents, uniform within an interval."""
    n, k = sum(g.sum() for g in groups), len(groups)
    cost = log(comb(edges - 1, k - 1)) + lgamma(n + k) - lgamma(k)
    for g, width in zip(groups, widths, strict=True):
        cost += g.sum() * log(width) - lgamma(g.sum() + 1)
    return cost


def partitions(size: int) -> list[tuple[int, ...]]:
    return [c for k in range(size) for c in combinations(range(1, size), k)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("classes", [1, 2, 3])
def test_the_cheapest_of_all_partitions(seed: int, classes: int) -> None:
    rng = np.random.default_rng([seed, classes])
    numbers = rng.integers(0, 9, 40) * 0.5
    codes = ((numbers > 2) + (rng.random(40) < 0.2)).astype(np.int64) % classes
    edges = fine_edges(numbers)
    whole = Histogram.of(edges, numbers, codes if classes > 1 else None, classes)
    ends = [whole.low, *edges, whole.high]
    costs = {}
    for inner in partitions(len(edges) + 1):
        at = [0, *inner, len(edges) + 1]
        groups = [whole.counts[a:b].sum(axis=0) for a, b in pairwise(at)]
        if classes > 1:
            cost = modl(groups)
        else:
            widths = [ends[b] - ends[a] for a, b in pairwise(at)]
            cost = histogram_cost(groups, widths, len(edges) + 1)
        cuts = [float(edges[i - 1]) for i in inner]
        assert cost_of(whole, cuts) == pytest.approx(cost, abs=1e-9)
        costs[tuple(cuts)] = cost
    found = tuple(best_cuts(whole))
    assert costs[found] == pytest.approx(min(costs.values()), abs=1e-9)


def test_planted_steps_are_found() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, 4000)
    p = np.select([x < 3, x < 7], [0.1, 0.8], 0.3)
    y = (rng.random(4000) < p).astype(int)
    cuts = cuts_of(cr.cut({"x": x, "y": y}, by="y").schema["x"].states)
    assert cuts == pytest.approx((3, 7), abs=0.1)
    steps = np.concatenate([rng.uniform(0, 1, 3000), rng.uniform(1, 5, 1000)])
    alone = cuts_of(cr.cut({"x": steps}).schema["x"].states)
    assert alone == pytest.approx((1.0,), abs=0.05)


def test_what_tells_nothing_is_not_cut() -> None:
    rng = np.random.default_rng(2)
    cut = 0
    for _ in range(40):
        x, y = rng.normal(size=300), rng.integers(0, 2, 300)
        table = cr.cut({"x": x, "y": y}, by="y")
        cut += table.schema["x"].arity > 1
    assert cut <= 2
    assert "tells nothing of 'y'" in table.schema.column("x").reason or cut


@pytest.mark.parametrize("by", [None, "y"])
def test_a_stream_gives_the_same_cuts_and_stays_a_stream(tmp_path, by: str | None) -> None:
    rng = np.random.default_rng(3)
    x = np.round(rng.gamma(2, 3, 3000), 2)
    rows = {"x": x, "y": np.where(rng.random(3000) < x / (x + 5), "b", "a")}
    path = tmp_path / "rows.csv"
    lines = [f"{a},{b}" for a, b in zip(rows["x"], rows["y"], strict=True)]
    path.write_text("x,y\n" + "\n".join(lines))
    table, stream = cr.cut(cr.read(path), by), cr.cut(cr.read(path, memory="1 kB"), by)
    assert isinstance(stream, cr.Stream)
    assert stream.schema == table.schema
    assert stream.tally(["x", ("y", ["x"])]) == table.tally(["x", ("y", ["x"])])


def test_histograms_of_parts_add_up() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=500), rng.integers(0, 3, 500)
    x[::7] = np.nan
    edges = fine_edges(x)
    whole = Histogram.of(edges, x, y, 3)
    parts = [Histogram.of(edges, x[i::5], y[i::5], 3) for i in range(5)]
    total = parts[0] + parts[1] + parts[2] + parts[3] + parts[4]
    assert np.array_equal(total.counts, whole.counts)
    assert (total.low, total.high) == (whole.low, whole.high)
    with pytest.raises(InputError, match="edges and classes are the same"):
        whole + Histogram.of(edges[1:], x, y, 3)


def test_whole_weights_are_copies() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=200), rng.integers(0, 2, 200)
    w = rng.integers(1, 4, 200)
    copies = cut_points(np.repeat(x, w), np.repeat(y, w), 2)
    assert cut_points(x, y, 2, w) == copies


@pytest.mark.parametrize(
    "x",
    [
        [5.0] * 30, [np.nan] * 29 + [1.0], [0.0] * 20 + [1e12] * 10,
        [1.0, np.nextafter(1.0, 2.0)] * 15, [-1e300, 1e300] * 15,
    ],
)  # fmt: skip
@pytest.mark.parametrize("by", [None, "y"])
def test_odd_columns(x: list[float], by: str | None) -> None:
    rows = {"x": x, "y": ["a", "b"] * 15}
    table = cr.cut(rows, by, schema={"x": "continuous"})
    seen = ~np.isnan(x)
    assert (table.codes("x")[seen] < table.schema["x"].arity).all()
    assert (table.codes("x")[~seen] == table.schema["x"].arity).all()


def test_more_than_1024_values_are_cut_nearly_as_well() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=20_000)
    y = ((x > 0.7) ^ (rng.random(20_000) < 0.1)).astype(int)
    assert len(fine_edges(x)) <= 1023
    assert cut_points(x, y, 2) == pytest.approx([0.7], abs=0.01)


def test_max_bins() -> None:
    x = np.random.default_rng(7).normal(size=3000)
    assert cr.cut({"x": x}).schema["x"].arity > 3
    assert cr.cut({"x": x}, max_bins=3).schema["x"].arity == 3


def test_only_the_columns_asked_for() -> None:
    table = cr.cut({"a": np.arange(50.0) ** 1.5, "b": np.arange(50.0) ** 2}, columns=["b"])
    assert table.schema.continuous == ("a",)


def test_a_network_takes_numbers_for_its_intervals(tmp_path) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=1000)
    rows = {"x": x, "y": np.where(x + rng.normal(size=1000) > 0, "yes", "no")}
    net = cr.learn(cr.cut(rows, by="y"))
    net.save(tmp_path / "net.bif")
    again = cr.load(tmp_path / "net.bif")
    p = net.ask("P(y=yes | x=1.7)")
    assert p > 0.7
    assert again.ask("P(y=yes | x=1.7)") == pytest.approx(p, abs=1e-6)
    assert net.predict_proba({"x": [1.7]}, "y")[0, 1] == pytest.approx(p)
    assert net.predict_proba(cr.read(rows), "y").shape == (1000, 2)


def test_refusals() -> None:
    rows = {"x": np.arange(60.0) ** 1.5, "y": ["a", "b"] * 30}
    with pytest.raises(InputError, match="'x' is continuous; columns are cut by a variable"):
        cr.cut(rows, by="x")
    with pytest.raises(UnknownNameError, match="Variable 'z' is not in the table"):
        cr.cut(rows, by="z")
    with pytest.raises(InputError, match="'y' is discrete, so it cannot be cut"):
        cr.cut(rows, columns=["y"])
    with pytest.raises(InputError, match="max_bins must be a whole number, 2 or more, got 1"):
        cr.cut(rows, max_bins=1)
    with pytest.raises(SchemaError, match="set aside"):
        cr.cut({**rows, "c": ["k"] * 60}, by="c")
    with pytest.raises(InputError, match="Cut points are found from rows"):
        cr.cut(cr.tally(cr.read(rows), ["y"]))
