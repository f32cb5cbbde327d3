"""How numbers are modelled: transforms, fine densities, cuts with the graph, and the choice."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln
from sklearn.datasets import load_wine

import credo as cr
from credo.core.errors import InputError, UnknownNameError
from credo.core.scales import Bins, Transform
from credo.train.numbers.densities import fine_density, shape
from credo.train.numbers.revising import revised_cuts
from credo.train.numbers.transforms import best_transform, named_transform, transform_gain
from credo.train.numbers.ways import asked_numbers

RNG = np.random.default_rng(7)
NORMAL = RNG.normal(10, 2, 600)
SKEWED = np.exp(RNG.normal(3, 1, 600))
ZEROS = np.concatenate([np.zeros(250), np.round(RNG.exponential(10, 350), 1) + 0.1])


# --- transforms ---------------------------------------------------------------------------


def test_a_gaussian_column_keeps_its_scale_and_a_skewed_one_does_not():
    assert best_transform(NORMAL) is None
    found = best_transform(SKEWED)
    assert found.kind == "yeo-johnson" and found.power < 0.3
    mirrored = best_transform(-SKEWED)
    assert mirrored.power > 1.7


def test_the_gain_is_what_the_gaussian_density_gains():
    t = best_transform(SKEWED)
    z = t.forward(SKEWED)
    plain = -0.5 * len(z) * np.log(SKEWED.var())
    with_ = -0.5 * len(z) * np.log(z.var()) + t.log_slope(SKEWED).sum()
    assert transform_gain(t, SKEWED) == pytest.approx(with_ - plain, rel=1e-12)


def test_the_transform_does_not_hang_on_the_unit_or_on_copies():
    small = best_transform(SKEWED * 1e-6)
    big = best_transform(SKEWED)
    assert small.power == big.power
    assert transform_gain(small, SKEWED * 1e-6) == pytest.approx(transform_gain(big, SKEWED), 1e-2)
    doubled = best_transform(SKEWED, np.full(len(SKEWED), 2))
    assert doubled == best_transform(np.repeat(SKEWED, 2))


def test_the_next_number_beyond_an_end_is_not_ruled_out():
    """A centre at the least number with a tiny spread would be steep there."""
    x = load_wine(as_frame=True).data["magnesium"].to_numpy()
    least = x.min()
    x = x[x > least]
    t = best_transform(x)
    z = t.forward(x)
    assert (t.forward(least) - z.mean()) / z.std() > -5


@pytest.mark.parametrize(
    "column",
    [np.ones(40), np.array([1.0, 2.0]), np.full(9, np.nan), np.append(NORMAL, 1e12)],
    ids=["one value", "two values", "all missing", "an outlier"],
)
def test_odd_columns(column):
    found = best_transform(column)
    if found is not None:
        there = column[~np.isnan(column)]
        assert np.allclose(found.backward(found.forward(there)), there, rtol=1e-9)


def test_a_named_transform_refuses_what_it_cannot_take():
    assert named_transform("log", "fare", SKEWED).kind == "log"
    with pytest.raises(InputError, match="'log' takes numbers above 0; 'wait' has 0"):
        named_transform("log", "wait", ZEROS)


# --- fine densities -----------------------------------------------------------------------


def test_the_fine_density_is_one():
    for column in (NORMAL, SKEWED, ZEROS):
        fine = fine_density(column)
        bins = fine.bins(fine.shares(4))
        mass = bins._mass
        assert float(bins.cdf(1e9, mass)) == pytest.approx(1.0, abs=1e-9)
        grid = np.sort(np.concatenate([np.linspace(-50, 900, 20_001), bins.edges]))
        inner = bins.pdf((grid[1:] + grid[:-1]) / 2, mass) @ np.diff(grid)
        assert inner == pytest.approx(1.0, abs=5e-3)


def test_a_value_that_repeats_is_a_bin_of_its_own():
    fine = fine_density(ZEROS)
    assert fine.atoms.tolist() == [0.0]
    bins = fine.bins(fine.shares(3))
    assert bins.codes([0.0])[0] != bins.codes([0.1])[0]
    assert bins.draw(bins.codes([0.0]), 0.3).tolist() == [0.0]


def test_the_evidence_of_a_density_is_the_product_of_its_predictions():
    x = np.array([1.0, 1.2, 2.0, 2.1, 2.2, 5.0, 9.0, 9.5])
    fine = fine_density(x)
    cuts = [2.15]
    edges, _ = fine._cells(cuts)
    cell = np.searchsorted(edges, x)
    width = np.concatenate([[np.nan], np.diff(edges), [np.nan]])
    starts = [0, int(np.searchsorted(edges, cuts[0])) + 1, len(edges) + 1]
    seen, total = np.zeros(len(edges) + 1), 0.0
    for value, c in zip(x, cell, strict=True):
        b = int(np.searchsorted(starts, c, side="right")) - 1
        inside = slice(starts[b], starts[b + 1])
        total += np.log((seen[c] + 1) / (seen[inside].sum() + starts[b + 1] - starts[b]))
        left, right = fine._tails(edges)
        if c == 0:
            total += -np.log(left) - (edges[0] - value) / left
        elif c == len(edges):
            total += -np.log(right) - (value - edges[-1]) / right
        else:
            total -= np.log(width[c])
        seen[c] += 1
    chosen, there = int(((fine.edges > x[0]) & (fine.edges < x[-1])).sum()), len(x)
    total -= gammaln(there + 1) - gammaln(chosen + 1) - gammaln(there - chosen + 1) + np.log(there)
    assert fine.log_marginal(cuts) == pytest.approx(total, rel=1e-9)


# --- cuts with the graph ------------------------------------------------------------------


def test_cuts_recover_planted_steps_of_a_child():
    x = RNG.uniform(0, 10, 800)
    y = np.where(RNG.random(800) < np.where((x > 3) & (x < 7), 0.9, 0.1), "b", "a")
    table = cr.read({"x": x, "y": y})
    fine = fine_density(x)
    scaled = table.scaled({"x": fine.bins(fine.shares(5))})
    cuts = revised_cuts("x", x, fine, cr.Dag([("x", "y")]), scaled)
    assert len(cuts) == 2
    assert cuts == pytest.approx([3, 7], abs=0.3)


def test_cuts_are_the_best_of_all():
    x = RNG.integers(0, 6, 120).astype(float)
    y = RNG.integers(0, 2, 120)
    y[x > 2] |= RNG.integers(0, 2, (x > 2).sum())
    u = RNG.integers(0, 2, 120)
    table = cr.read({"x": x, "y": y, "u": u}, schema={"x": "continuous"})
    fine = fine_density(x)
    dag = cr.Dag([("u", "x"), ("x", "y")])
    scaled = table.scaled({"x": fine.bins([2.5])})
    found = revised_cuts("x", x, fine, dag, scaled)

    def cost(cuts):
        bin_ = np.searchsorted(cuts, x)
        k, out = len(cuts) + 1, 0.0
        for b in range(k):
            n = (bin_ == b).sum()
            ny = np.bincount(y[bin_ == b], minlength=2)
            nu = np.bincount(u[bin_ == b], minlength=2)
            out += n * np.log(n) - gammaln(nu + 1).sum()
            out += gammaln(n + 2) - gammaln(2) - gammaln(ny + 1).sum()
        totals = np.bincount(u, minlength=2)
        out += (gammaln(totals + k) - gammaln(k)).sum()
        return out + np.log(k) + k * np.log(6) / 2

    edges = [0.5, 1.5, 2.5, 3.5, 4.5]
    every = [list(c) for k in range(6) for c in combinations(edges, k)]
    best = min(every, key=cost)
    assert np.searchsorted(edges, found).tolist() == np.searchsorted(edges, best).tolist()


# --- the choice ---------------------------------------------------------------------------


def mixed(n=700, seed=3):
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    return {
        "ill": np.where(ill, "yes", "no"),
        "height": rng.normal(170, 9, n),
        "price": np.round(np.exp(rng.normal(3 + ill, 0.8, n)), 3),
        "visits": np.where(rng.random(n) < 0.5, 0.0, rng.gamma(2, 3, n).round(2) + 0.01),
    }


def test_auto_asks_the_rows():
    net = cr.learn(mixed(), numbers="auto")
    scales = {v.name: v.scale for v in net.variables}
    assert scales["height"] is None
    assert isinstance(scales["price"], Transform)
    assert isinstance(scales["visits"], Bins)
    said = [n for n in net.record.notes if n.startswith("numbers: ")]
    assert len(said) == 1 and "ln P of 700 rows" in said[0]
    assert net.record.details["numbers"]["price"] == "transformed"
    assert "numbers" not in net.record.details["recipe"]  # it is the default


def test_what_is_asked_for_by_name_is_done():
    rows = mixed()
    net = cr.learn(rows, numbers={"price": "log", "height": [160, 175]})
    kinds = {v.name: v.scale for v in net.variables}
    assert kinds["price"] == Transform("log")
    assert kinds["height"].cuts.tolist() == [160, 175]
    assert kinds["visits"] is None
    assert all(isinstance(v.scale, Bins) for v in cr.learn(rows, numbers="binned").variables[1:])


def test_a_number_can_be_the_parent_of_a_state():
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 600)
    ill = np.where(rng.random(600) < np.where(age > 55, 0.8, 0.1), "yes", "no")
    net = cr.fit("[age][ill|age]", {"age": age, "ill": ill}, cr.BDeu(1), numbers="auto")
    bins = net.schema["age"].scale
    assert bins.cuts == pytest.approx([55], abs=2)
    table = net.cpt("ill")
    assert table.row({"age": bins.labels[1]})["yes"] == pytest.approx(0.8, abs=0.07)


def test_parts_of_the_rows_choose_the_same():
    rows = mixed(2_000)
    table = cr.read(rows)
    again = table.take(np.random.default_rng(1).permutation(len(table)))
    a, b = cr.learn(table, numbers="auto"), cr.learn(again, numbers="auto")
    assert a.dag == b.dag and a.variables == b.variables


def test_unknown_ways_are_refused():
    with pytest.raises(InputError, match="numbers must be one of 'auto', 'gaussian'"):
        cr.learn(mixed(), numbers="normal")
    with pytest.raises(UnknownNameError, match="The column 'pric'"):
        cr.learn(mixed(), numbers={"pric": "log"})
    with pytest.raises(InputError, match="modelled as 'auto'"):
        asked_numbers({"a": "lgo"}, ["a"])
    with pytest.raises(InputError, match="rising numbers"):
        cr.learn(mixed(), numbers={"height": [175, 160]})
    with pytest.raises(InputError, match="counted already"):
        cr.fit("[height]", cr.tally(cr.read(mixed()), ["height"]), numbers="auto")


@pytest.mark.parametrize("n", [60, 400, 3000])
def test_no_density_and_no_transform_gains_more_than_the_shape_of_a_column(n):
    rng = np.random.default_rng(n)
    for x in (
        rng.normal(size=n), rng.exponential(size=n), rng.standard_t(3, n), rng.uniform(size=n),
        np.where(rng.random(n) < 0.4, rng.normal(-4, 1, n), rng.normal(4, 1, n)),
    ):  # fmt: skip
        gaussian = -0.5 * n * np.log(2 * np.pi * np.e * x.var()) - np.log(n)
        most = shape(x)
        assert fine_density(x).log_marginal([]) - gaussian < most
        found = best_transform(x)
        assert found is None or transform_gain(found, x) < most
    assert shape(rng.integers(0, 9, n).astype(float)) == np.inf
