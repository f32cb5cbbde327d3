"""Independence tests against SciPy, and their refusals."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import psi
from tests.structure_data import discrete, random_table

import credo as cr
from credo.errors import InputError, SchemaError
from credo.train.independence.tests import ManyTests


@pytest.mark.parametrize(("test", "power"), [("g2", "log-likelihood"), ("x2", "pearson")])
def test_tables_against_scipy(test, power):
    rng = np.random.default_rng(0)
    columns = random_table(rng, 500, [3, 4, 2])
    table = discrete(columns, [3, 4, 2])
    counts = np.zeros((2, 3, 4))
    for x, y, z in zip(*columns.values(), strict=True):
        counts[z, x, y] += 1
    alone = stats.chi2_contingency(counts.sum(axis=0), correction=False, lambda_=power)
    found = cr.independence_test(table, "v0", "v1", test=test)
    assert found.statistic == pytest.approx(alone.statistic)
    assert (found.freedom, found.p) == (alone.dof, pytest.approx(alone.pvalue))
    parts = [stats.chi2_contingency(c, correction=False, lambda_=power) for c in counts]
    given = cr.independence_test(table, "v0", "v1", "v2", test=test)
    assert given.statistic == pytest.approx(sum(p.statistic for p in parts))
    assert given.freedom == sum(p.dof for p in parts)


def test_adjusted_freedom_counts_what_was_seen():
    table = cr.read(
        {"x": [0, 1, 0, 1, 0], "y": [0, 1, 1, 0, 0], "z": ["a", "a", "a", "a", "b"]},
        schema={"x": [0, 1, 2]},
    )
    plain = cr.independence_test(table, "x", "y", "z", test="g2")
    adjusted = cr.independence_test(table, "x", "y", "z", test="g2-adjusted")
    assert (plain.freedom, adjusted.freedom) == (4, 1)
    assert plain.statistic == adjusted.statistic


def test_fishers_z_is_the_test_of_a_partial_correlation():
    rng = np.random.default_rng(1)
    z = rng.normal(size=200)
    x, y = z + rng.normal(size=200), z + rng.normal(size=200)
    table = cr.read({"x": x, "y": y, "z": z})
    design = np.stack([np.ones(200), z], axis=1)
    left = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y)]
    r = np.corrcoef(*left)[0, 1]
    found = cr.independence_test(table, "x", "y", ["z"])
    assert found.statistic == pytest.approx(np.sqrt(200 - 1 - 3) * np.arctanh(r))
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(found.statistic)))
    assert cr.independence_test(table, "x", "y").p < 1e-6
    assert "fisher-z" in str(found)


def test_mixed_tests_are_ratios_of_likelihoods():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, 400), rng.integers(0, 2, 400)
    w = rng.normal(size=400) + b
    y = 0.3 * a + w * (1 + b) + rng.normal(size=400)
    table = cr.read({"a": [f"s{v}" for v in a], "b": [f"s{v}" for v in b], "w": w, "y": y})
    found = cr.independence_test(table, "a", "y")
    parts = [y[a == v] for v in range(3)]
    by_hand = 400 * np.log(y.var()) - sum(len(p) * np.log(p.var()) for p in parts)
    assert found.test == "g2-mixed" and found.freedom == 4
    assert found.statistic == pytest.approx(by_hand)
    usual = 400 * (psi(399 / 2) - np.log(400 / 2)) - sum(
        len(p) * (psi((len(p) - 1) / 2) - np.log(len(p) / 2)) for p in parts
    )  # what G² is expected to be: a little more than its 4 degrees of freedom
    assert found.p == pytest.approx(stats.chi2.sf(by_hand * 4 / usual, 4))
    assert 4 < usual < 4.2
    back = cr.independence_test(table, "y", "a")
    assert (back.statistic, back.freedom) == (pytest.approx(by_hand), 4)
    # given b and w: a Gaussian regression in each configuration of b, with and without a

    def left(rows):
        design = np.column_stack([np.ones(rows.sum()), w[rows]])
        return np.sum((y[rows] - design @ np.linalg.lstsq(design, y[rows])[0]) ** 2)

    expected = 0.0
    for v in range(2):
        n = (b == v).sum()
        expected += n * np.log(left(b == v) / n)
        for u in range(3):
            rows = (b == v) & (a == u)
            expected -= rows.sum() * np.log(left(rows) / rows.sum())
    given = cr.independence_test(table, "a", "y", given=["b", "w"])
    assert given.freedom == 2 * 2 * 3
    assert given.statistic == pytest.approx(expected)
    assert cr.independence_test(table, "w", "y", given="b").test == "g2-mixed"


def test_sparse_tables_are_tested_from_what_was_seen():
    rng = np.random.default_rng(2)
    arities = [4] * 10
    table = discrete(random_table(rng, 50, arities), arities)
    names = list(table.schema.names)
    found = cr.independence_test(table, names[0], names[1], names[2:], test="x2-adjusted")
    assert 0 <= found.p <= 1 and found.statistic >= 0


def test_refusals():
    table = cr.read(
        {"a": ["u", "v", "u"], "b": ["u", "v", "v"], "x": [0.5, 1.5, 2.5], "y": [1.5, 0.5, 2.0]}
    )
    with pytest.raises(SchemaError, match="is for discrete variables"):
        cr.independence_test(table, "a", "x", test="g2")
    with pytest.raises(SchemaError, match="is for mixed variables"):
        cr.independence_test(table, "x", "y", test="g2-mixed")
    assert cr.independence_test(table, "a", "x").p == 1.0  # too few rows to say anything
    with pytest.raises(InputError, match="stands twice"):
        cr.independence_test(table, "a", "a")
    with pytest.raises(InputError, match="test must be one of"):
        cr.independence_test(table, "a", "b", test="chi")
    with pytest.raises(SchemaError, match="is for continuous variables"):
        cr.independence_test(table, "a", "b", test="fisher-z")
    with pytest.raises(InputError, match="needs more than 3 rows"):
        cr.independence_test(table, "x", "y")


def test_mutual_information_is_g2_by_another_name():
    rng = np.random.default_rng(5)
    columns = random_table(rng, 300, [3, 2, 2])
    table = discrete(columns, [3, 2, 2])
    for given in ([], ["v2"]):
        for name, twin in (("mi", "g2"), ("mi-adjusted", "g2-adjusted")):
            found = cr.independence_test(table, "v0", "v1", given, test=name)
            other = cr.independence_test(table, "v0", "v1", given, test=twin)
            assert (found.statistic, found.freedom, found.p) == (
                other.statistic, other.freedom, other.p,
            )  # fmt: skip
            assert found.information == pytest.approx(found.statistic / 600)
            assert found.bits == pytest.approx(found.information / np.log(2))
            assert f"{found.information:.4g} nats" in str(found)
    joint = np.zeros((3, 2))
    np.add.at(joint, (columns["v0"], columns["v1"]), 1 / 300)
    by_hand = stats.entropy(joint.ravel(), np.outer(joint.sum(axis=1), joint.sum(axis=0)).ravel())
    assert cr.independence_test(table, "v0", "v1", test="mi").information == pytest.approx(by_hand)
    pearson = cr.independence_test(table, "v0", "v1", test="x2")
    assert pearson.information == pytest.approx(by_hand) and pearson.test == "x2"


def test_the_information_of_gaussian_variables():
    rng = np.random.default_rng(6)
    x = rng.normal(size=500)
    y = x + rng.normal(size=500)
    r = np.corrcoef(x, y)[0, 1]
    found = cr.independence_test(cr.read({"x": x, "y": y}), "x", "y")
    assert found.information == pytest.approx(-0.5 * np.log(1 - r * r))


def test_collinear_conditions_are_refused():
    rng = np.random.default_rng(7)
    a, b, e = rng.normal(size=(3, 200))
    table = cr.read({"a": a, "b": b, "e": e, "twice": 2 * a, "sum": a + b})
    for x, y, z in [("e", "b", ["a", "twice"]), ("e", "sum", ["a", "b"]), ("a", "e", ["b", "sum"])]:
        with pytest.raises(InputError, match="one is a sum of others"):
            cr.independence_test(table, x, y, z)
    assert cr.independence_test(table, "a", "b", ["sum"]).p < 1e-20  # well defined: r = −1
    many = ManyTests(table)  # for a search they are tests that were not made
    found = many.p([("e", "b", ["a", "twice"]), ("e", "b", ["a"])])
    assert np.isnan(found[0]) and 0 <= found[1] <= 1 and many.undone == 1


def test_a_search_does_not_test_two_discrete_variables_given_a_continuous_one():
    rng = np.random.default_rng(8)
    a = rng.integers(0, 2, 300)
    d = a + rng.normal(size=300)
    b = (d + rng.normal(size=300) > 0.5).astype(int)
    table = cr.read({"a": a, "b": b, "d": d}, schema={"a": "discrete", "b": "discrete"})
    assert cr.independence_test(table, "a", "b", given="d").test == "logistic"
    net = cr.learn(table, search="pc")  # never asked there: the pair keeps its edge
    assert {"a", "b"} in [set(e) for e in net.dag.edges]


def test_the_size_of_mixed_tests():
    """A continuous variable and a discrete one, independent given what is between them."""
    rng = np.random.default_rng(9)
    small = 0
    for _ in range(200):
        a = rng.integers(0, 2, 200)
        d = a + rng.normal(size=200)
        e = d + rng.normal(size=200)
        table = cr.read({"a": a, "d": d, "e": e}, schema={"a": "discrete"})
        small += cr.independence_test(table, "a", "e", given="d").p < 0.05
    assert stats.binomtest(small, 200, 0.05).pvalue > 0.001


def test_configurations_without_a_gaussian_are_left_out():
    rng = np.random.default_rng(10)
    a = np.repeat(["u", "v", "w"], 50)
    x, y = rng.normal(size=(2, 150))
    x[a == "w"] = 3.0  # constant there
    table = cr.read({"a": a, "x": x, "y": y})
    kept = cr.read({"a": a[:100], "x": x[:100], "y": y[:100]})
    one, two = (cr.independence_test(t, "x", "y", given="a") for t in (table, kept))
    assert (one.statistic, one.freedom) == (pytest.approx(two.statistic), two.freedom)
    flat = cr.read({"a": a, "x": (a == "u").astype(float), "y": y}, schema={"x": "continuous"})
    with pytest.raises(InputError, match="a column is constant or a sum of others"):
        cr.independence_test(flat, "x", "y", given="a")
    for search in ("pc", "mmhc"):
        assert np.isfinite(cr.learn(table, search=search).record.score)


def test_no_row_has_all_columns_of_a_test():
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    table = cr.read({"x": np.r_[x[:20], [np.nan] * 20], "y": np.r_[[np.nan] * 20, y[20:]]})
    with pytest.raises(InputError, match="No row has all of x, y"):
        cr.independence_test(table, "x", "y")


def test_the_strongest_dependences_have_their_information():
    x = np.random.default_rng(0).normal(size=5000)
    table = cr.read({"x": x, "y": x + 1e-6 * np.random.default_rng(1).normal(size=5000)})
    found = cr.independence_test(table, "x", "y")
    assert found.p == 0
    r = np.corrcoef(x, table["y"])[0, 1]
    assert found.information == pytest.approx(-0.5 * np.log1p(-(r**2)), rel=1e-3)


def test_the_moments_of_x2_given_the_margins_are_those_of_shuffled_rows():
    rng = np.random.default_rng(4)
    z, x, y = rng.integers(0, 3, 60), rng.integers(0, 3, 60), rng.integers(0, 4, 60)

    def tested(y):
        table = cr.read({"x": x, "y": y, "z": z}, schema=dict.fromkeys("xyz", "discrete"))
        return cr.independence_test(table, "x", "y", "z", test="x2-adjusted")

    shuffled = []
    for _ in range(400):
        other = y.copy()
        for k in range(3):
            other[z == k] = rng.permutation(y[z == k])
        shuffled.append(tested(other).statistic)
    found = tested(y)
    assert found.p == pytest.approx(np.mean(np.array(shuffled) >= found.statistic), abs=0.06)


def _rejected(test, given, n, arities, runs, rng):
    """The share of tables of independent columns that a test at 5 % rejects."""
    out = []
    for _ in range(runs):
        z = rng.integers(0, arities[2], n)
        columns = {"z": z}
        for name, k in zip("xy", arities[:2], strict=True):
            ends = rng.dirichlet(np.ones(k), arities[2]).cumsum(axis=1)[z]
            columns[name] = np.minimum((rng.random(n)[:, None] > ends).sum(axis=1), k - 1)
        columns["w"] = rng.normal(size=n) + z
        schema = {m: list(range(k)) for m, k in zip("xyz", arities, strict=True)}
        table = cr.read(columns, schema=schema)
        pair = ("x", "w") if test == "g2-mixed" else ("x", "y")
        out.append(cr.independence_test(table, *pair, given, test=test).p < 0.05)
    return np.mean(out)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "arities"), [(50, (2, 2, 4)), (300, (3, 3, 27)), (1000, (3, 4, 12))])
def test_adjusted_tests_keep_their_level_in_sparse_tables(n, arities):
    rng = np.random.default_rng(n)
    assert _rejected("g2-adjusted", ["z"], n, arities, 500, rng) == pytest.approx(0.05, abs=0.025)


@pytest.mark.slow
def test_the_mixed_test_keeps_its_level_with_few_rows():
    rng = np.random.default_rng(0)
    found = _rejected("g2-mixed", ["z"], 50, (3, 2, 2), 500, rng)
    assert found == pytest.approx(0.05, abs=0.025)
