"""Counts: Poisson and negative-binomial families, against SciPy and brute-force summation."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import logsumexp
from tests.unit.formats.test_credo_file import opened

import credo as cr
from credo.core.bins import Bins
from credo.errors import InputError, SchemaError
from credo.formats import dumps
from credo.model.networks.count_posterior import (
    CountPosterior,
    CountStatistic,
    count_masses,
    log_given_size,
)
from credo.model.networks.count_table import CountTable
from credo.train.parameters.count_families import count_log_marginal, count_score

COUNTS = {"visits": "counts"}
MEANS = {"a": 1.0, "b": 4.0, "c": 9.0}


def drawn(rng, n, size=1.5, zeros=0.25):
    g = rng.choice(list(MEANS), n)
    mean = np.array([MEANS[k] for k in g])
    x = rng.poisson(mean) if math.isinf(size) else rng.negative_binomial(size, size / (size + mean))
    return {"g": g, "visits": np.where(rng.random(n) < zeros, 0, x).astype(float)}


def read(rows):
    return cr.read(rows, {"visits": "continuous"})


ROWS = drawn(np.random.default_rng(0), 900)


@pytest.fixture(scope="module")
def net():
    return cr.fit("[g][visits|g]", read(ROWS), cr.BDeu(1), numbers=COUNTS)


# --- masses -------------------------------------------------------------------------------


def test_masses_are_those_of_scipy_and_add_up():
    x = np.arange(39)
    for mean, size, share in ((3.0, 1.7, 0.2), (0.01, 50.0, 0.0), (12.0, math.inf, 0.3)):
        law = stats.poisson(mean) if math.isinf(size) else stats.nbinom(size, size / (size + mean))
        p = count_masses(mean, size, share, 40)
        np.testing.assert_allclose(p[:-1], (1 - share) * law.pmf(x) + share * (x == 0), rtol=1e-10)
        assert p.sum() == pytest.approx(1, abs=1e-14)
        assert p[-1] == pytest.approx((1 - share) * law.sf(38), abs=1e-12)


def test_the_predictive_of_a_poisson_is_a_negative_binomial():
    """Gamma(k m + s, k + n) beforehand and after: the closed form of the textbook."""
    one = CountPosterior(
        np.array(20.0), np.array(31.0), np.array(3.0), np.array([math.inf]), np.ones(1), 2.0, 1.5,
        None,
    )  # fmt: skip
    shape, rate = 2.0 * 1.5 + 31, 2.0 + 20
    closed = stats.nbinom(shape, rate / (rate + 1))
    np.testing.assert_allclose(one.masses(60)[:-1], closed.pmf(np.arange(59)), rtol=1e-9)
    assert one.means()[0] == pytest.approx(shape / rate)


def test_the_marginal_likelihood_is_the_integral():
    """Over p and the share of extra zeros, by quadrature."""
    x = np.array([0, 0, 0, 2, 1, 5])
    of = CountStatistic.of(np.bincount(x, minlength=12)[None])
    k, m, share, r = 1.0, 1.5, 0.3, 2.0

    def rows(p, extra):
        like = (1 - extra) * stats.nbinom.pmf(x, r, p) + extra * (x == 0)
        return (
            np.prod(like)
            * stats.beta.pdf(p, 1 + k * r, k * m)
            * stats.beta.pdf(extra, k * share, k * (1 - share))
        )

    # the Betas have poles: p = 1 − u², extra = v^(1/a)
    a = k * share
    found, _ = integrate.dblquad(
        lambda u, v: rows(1 - u * u, v ** (1 / a)) * 2 * u * v ** (1 / a - 1) / a, 0, 1, 0, 1
    )
    got = log_given_size(of, np.array([r]), k, m, share)[0]
    assert got == pytest.approx(math.log(found), abs=2e-4)


def test_many_zeros_are_summed_as_few():
    """Nodes of the extra zeros stand for all of them."""
    from credo.model.networks import count_posterior

    cases = ((1e5, 4e4, 3e5), (3000.0, 1500.0, 9000.0), (5000.0, 60.0, 2e4))
    for (n, zeros, total), size in itertools.product(cases, (0.5, 2.0, math.inf)):
        args = (np.array([size]), n, total, zeros, 1.0, 5.0, 0.3)
        some = logsumexp(count_posterior.log_terms(*args)[1], axis=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(count_posterior, "_NODES", 10**6)
            every = logsumexp(count_posterior.log_terms(*args)[1], axis=1)
        np.testing.assert_allclose(some, every, atol=0.02)


# --- fitting ------------------------------------------------------------------------------


def test_maximum_likelihood_is_that_of_scipy():
    """One negative binomial for each configuration, the size shared."""
    rows = drawn(np.random.default_rng(1), 600, zeros=0.0)
    net = cr.fit("[g][visits|g]", read(rows), numbers=COUNTS)
    g = np.searchsorted(list(MEANS), rows["g"])

    def deep(v):
        mean, size = np.exp(v[:3])[g], math.exp(v[3])
        return -stats.nbinom.logpmf(rows["visits"], size, size / (size + mean)).sum()

    best = optimize.minimize(deep, np.zeros(4), method="BFGS")
    table = net.cpt("visits")
    assert table.law == "negative binomial"
    np.testing.assert_allclose(table.means, np.exp(best.x[:3]), rtol=1e-4)
    assert table.size == pytest.approx(math.exp(best.x[3]), rel=1e-4)
    assert net.record.families["visits"]["log_likelihood"] == pytest.approx(-best.fun, abs=1e-6)


def test_extra_zeros_by_maximum_likelihood_are_those_of_scipy():
    x = drawn(np.random.default_rng(2), 800)["visits"]
    of = np.bincount(x.astype(int), minlength=100)[None]

    def deep(v):
        mean, size, share = math.exp(v[0]), math.exp(v[1]), 1 / (1 + math.exp(-v[2]))
        return -np.log(
            (1 - share) * stats.nbinom.pmf(x, size, size / (size + mean)) + share * (x == 0)
        ).sum()

    best = optimize.minimize(deep, [1.0, 0.0, -1.0], method="Nelder-Mead", options={"xatol": 1e-7})
    assert count_score(of, 0.0, 0.0) == pytest.approx(-best.fun, abs=1e-4)


@pytest.mark.parametrize(
    ("size", "zeros", "law"),
    [
        (math.inf, 0.0, "Poisson"),
        (1.5, 0.0, "negative binomial"),
        (math.inf, 0.4, "Poisson with extra zeros"),
        (2.5, 0.4, "negative binomial with extra zeros"),
    ],
)
def test_the_law_is_found(size, zeros, law):
    rows = drawn(np.random.default_rng(3), 2000, size, zeros)
    table = cr.fit("[g][visits|g]", read(rows), cr.BDeu(1), numbers=COUNTS).cpt("visits")
    assert table.law == law or (zeros and table.size > 20)  # as good as Poisson
    np.testing.assert_allclose(table.means, list(MEANS.values()), rtol=0.2)
    np.testing.assert_allclose(table.zeros, zeros, atol=0.1)
    if not math.isinf(size):
        assert table.size == pytest.approx(size, rel=0.25)


def test_a_configuration_of_few_rows_leans_on_all():
    rows = {"g": ["a"] * 200 + ["b"], "visits": [*np.random.default_rng(0).poisson(3, 200), 40.0]}
    schema = {"g": ["a", "b", "c"]}
    table = cr.read(rows, schema | {"visits": "continuous"})
    net = cr.fit("[g][visits|g]", table, cr.BDeu(1), numbers=COUNTS)
    a, b, c = net.cpt("visits").values @ np.arange(net.variable("visits").arity)
    assert 2.5 < a < 3.5 and b < 15 and c == pytest.approx(3.2, abs=0.5)
    assert "like all rows" in " ".join(net.record.notes)


def test_a_weight_is_so_many_copies():
    rows = {"visits": [0.0, 1.0, 4.0, 2.0], "w": [3, 1, 2, 5]}
    copies = {"visits": np.repeat(rows["visits"], rows["w"])}
    one = cr.fit(
        "[visits]", cr.read(rows, {"visits": "continuous"}, "w"), cr.BDeu(1), numbers=COUNTS
    )
    two = cr.fit("[visits]", cr.read(copies, {"visits": "continuous"}), cr.BDeu(1), numbers=COUNTS)
    np.testing.assert_allclose(one.cpt("visits").values, two.cpt("visits").values, rtol=1e-12)


def test_more_rows_are_all_rows_at_once(net):
    half = {n: c[:450] for n, c in ROWS.items()}
    rest = {n: c[450:] for n, c in ROWS.items()}
    scaled = read(half).scaled({"visits": net.variable("visits").scale})
    again = cr.fit("[g][visits|g]", scaled, cr.BDeu(1)).update(rest)
    np.testing.assert_allclose(again.cpt("visits").values, net.cpt("visits").values, rtol=1e-9)


def test_a_stream_is_fitted_as_the_table(net, tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{g},{v:.0f}" for g, v in zip(ROWS["g"], ROWS["visits"], strict=True)]
    path.write_text("g,visits\n" + "\n".join(lines))
    found = cr.fit("[g][visits|g]", cr.read(path, memory="1 kB"), cr.BDeu(1), numbers=COUNTS)
    np.testing.assert_array_equal(found.cpt("visits").values, net.cpt("visits").values)


# --- answers ------------------------------------------------------------------------------


def test_answers_are_sums_over_the_configurations(net):
    """By brute force over g and every whole number."""
    p, table = net.cpt("g").values, net.cpt("visits").values
    joint = p[:, None] * table
    x = np.arange(joint.shape[1])
    assert net.ask("P(visits > 3)") == pytest.approx(joint[:, 4:].sum(), abs=1e-9)
    assert net.ask("P(visits >= 3)") == pytest.approx(joint[:, 3:].sum(), abs=1e-9)
    assert net.ask("P(visits = 3 | g=b)") == pytest.approx(table[1, 3], abs=1e-9)
    for question, kept in (("visits=7", x == 7), ("visits > 7", x > 7), ("visits <= 2", x <= 2)):
        found = net.ask(f"P(g | {question})")
        want = joint[:, kept].sum(axis=1) / joint[:, kept].sum()
        np.testing.assert_allclose(list(found.values()), want, atol=1e-9)
    answer = net.p("visits")
    assert answer.mean == pytest.approx(joint.sum(axis=0) @ x, rel=1e-4)
    upto = np.cumsum(joint.sum(axis=0))
    for q in (0.1, 0.5, 0.9):
        assert answer.quantile(q) == np.searchsorted(upto, q)
    assert str(answer).startswith("visits: a count")


def test_the_likelihood_of_rows_is_that_of_their_masses(net):
    at = np.searchsorted(list(MEANS), ROWS["g"])
    x = ROWS["visits"].astype(int)
    want = np.log(net.cpt("g").values[at] * net.cpt("visits").values[at, x])
    assert net.log_likelihood(ROWS) == pytest.approx(want.sum(), abs=1e-9)


def test_samples_and_gaps_are_whole_numbers(net):
    drawn_ = net.sample(4000, rng=0)
    x = drawn_.values("visits")
    assert (x == np.rint(x)).all() and (x >= 0).all()
    assert x.mean() == pytest.approx(net.p("visits").mean, rel=0.1)
    filled = net.impute({"g": ["a", "c"], "visits": [None, 3.0]})
    assert filled.values("visits").tolist() == [0.0, 3.0]


def test_intervals_come_from_draws_of_the_parameters(net):
    low, high = net.ask("P(visits > 3 | g=b)", interval=0.9).interval
    assert low < net.ask("P(visits > 3 | g=b)") < high < low + 0.15
    for of in ("mean", "zeros", "size"):
        low, high = (np.asarray(e) for e in net.cpt("visits").interval(0.9, of=of))
        assert (low < high).all()
    row = net.cpt("visits").row(g="b", interval=0.9)
    assert (np.asarray(row.interval.lower) < row.p + 1e-9).all()
    posterior = net.cpt("visits").posterior
    both = [np.random.default_rng(i) for i in (0, 1)]
    parts = [posterior.draw(n, *both) for n in (3, 4)]
    whole = posterior.draw(7, *(np.random.default_rng(i) for i in (0, 1)))
    for k in range(3):
        np.testing.assert_array_equal(np.concatenate([a[k] for a in parts]), whole[k])


def test_draws_have_the_posterior_predictive_as_their_mean(net):
    posterior, states = net.cpt("visits").posterior, net.variable("visits").arity
    mean, size, share = posterior.draw(4000, *(np.random.default_rng(i) for i in (0, 1)))
    p = count_masses(mean, size[:, None], share, states).mean(axis=0)
    np.testing.assert_allclose(p, posterior.masses(states), atol=0.003)


def test_a_file_keeps_counts(net, tmp_path):
    net.save(tmp_path / "net.credo")
    again = cr.load(tmp_path / "net.credo")
    assert again == net and isinstance(again.cpt("visits"), CountTable)
    assert again.cpt("visits").law == net.cpt("visits").law
    asked = [n.ask("P(visits > 3)", interval=0.9, rng=1).interval for n in (net, again)]
    assert tuple(asked[0]) == tuple(asked[1])
    assert json.loads(opened(dumps(net, "credo"))["model.json"])["version"] == 4
    net.save(tmp_path / "net.bif")
    found = cr.load(tmp_path / "net.bif").ask("P(g | visits=7)")
    np.testing.assert_allclose(list(found.values()), list(net.ask("P(g | visits=7)").values()))


# --- learning -----------------------------------------------------------------------------


def test_a_graph_with_counts_is_learned():
    rng = np.random.default_rng(4)
    rows = drawn(rng, 500) | {"s": rng.choice(["f", "m"], 500)}
    rows["y"] = rng.normal(size=500) + (rows["g"] == "a")
    net = cr.learn(read(rows), numbers=COUNTS)
    assert set(net.dag.edges) == {("g", "visits"), ("g", "y")}
    auto = cr.learn(read(rows))
    assert auto.record.details["numbers"]["visits"] == "counts"
    assert "counts" in auto.record.notes[-1]
    total = cr.score(net.dag, read(rows).scaled({"visits": Bins.whole(100)}))
    family = total["visits", ["g"]]
    code = np.searchsorted(list(MEANS), rows["g"]) * 102 + rows["visits"].astype(int)
    counted = np.bincount(code, minlength=306).reshape(3, 102)
    assert family == pytest.approx(count_log_marginal(counted, 1.0))


def test_the_score_is_the_gain_of_the_right_parent():
    rng = np.random.default_rng(5)
    rows = drawn(rng, 400) | {"s": rng.choice(["f", "m"], 400)}
    table = read(rows).scaled({"visits": Bins.whole(100)})
    for name in ("bdeu", "bic", "k2", "aic"):
        alone, right, wrong = (
            cr.score(g, table, name)
            for g in ("[g][s][visits]", "[g][s][visits|g]", "[g][s][visits|s]")
        )
        assert wrong < alone < right


def test_gaussians_are_not_taken_for_counts():
    rng = np.random.default_rng(6)
    rows = {"height": rng.normal(170, 10, 400).round(), "g": rng.choice(["a", "b"], 400)}
    assert cr.learn(rows).record.details["numbers"]["height"] != "counts"


def test_what_counts_cannot_be_is_refused(net):
    table = read(ROWS)
    with pytest.raises(SchemaError, match=r"'visits' counts, so it cannot be the parent of 'g'"):
        cr.fit("[visits][g|visits]", table, numbers=COUNTS)
    with pytest.raises(InputError, match=r"'y' has 0.5; counts are whole numbers, 0 or more"):
        cr.fit("[y]", {"y": np.arange(60) + 0.5}, numbers={"y": "counts"})
    with pytest.raises(InputError, match=r"counts are taken up to 2,000"):
        cr.fit(
            "[y]",
            {"y": [0.0, 7.0, 5.0, 3000.0]},
            schema={"y": "continuous"},
            numbers={"y": "counts"},
        )
    with pytest.raises(InputError, match=r"'visits' is 2.5, but it counts"):
        net.ask("P(g | visits=2.5)")
    with pytest.raises(cr.errors.TableError, match=r"Row 1: 'visits' is -1, but it counts"):
        net.log_likelihood({"g": ["a"], "visits": [-1]})
    with pytest.raises(InputError, match="has no laws of counts"):
        cr.em("[g][visits|g]", table, numbers=COUNTS, method="gradient")
    with pytest.raises(SchemaError, match="not one of counts"):
        cr.learn(table, "fnml", numbers=COUNTS)


def test_all_zeros_and_one_number():
    for value in (0.0, 3.0):
        net = cr.fit("[visits]", read({"visits": [value] * 30}), cr.BDeu(1), numbers=COUNTS)
        assert net.p("visits").mean == pytest.approx(value, abs=0.2)
        assert cr.fit("[visits]", read({"visits": [value] * 30}), numbers=COUNTS)


# --- honesty ------------------------------------------------------------------------------


def test_ranks_of_new_rows_are_uniform():
    """The randomised probability integral transform on rows that were not learned from."""
    rng = np.random.default_rng(7)
    net = cr.fit("[g][visits|g]", read(drawn(rng, 3000)), cr.BDeu(1), numbers=COUNTS)
    new = drawn(rng, 1500)
    at = np.searchsorted(list(MEANS), new["g"])
    upto = np.cumsum(net.cpt("visits").values, axis=1)
    x = new["visits"].astype(int)
    high = upto[at, x]
    low = np.where(x > 0, upto[at, np.maximum(x - 1, 0)], 0.0)
    ranks = low + (high - low) * rng.random(len(x))
    assert stats.kstest(ranks, "uniform").pvalue > 0.01


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    hits, rounds = 0, 200
    truth = {k: 0.75 * m for k, m in MEANS.items()}
    for seed in range(rounds):
        rows = drawn(np.random.default_rng([8, seed]), 300)
        net = cr.fit("[g][visits|g]", read(rows), cr.BDeu(1), numbers=COUNTS)
        low, high = (np.asarray(e) for e in net.cpt("visits").interval(0.9))
        hits += int(((low <= list(truth.values())) & (list(truth.values()) <= high)).sum())
    assert abs(hits / (3 * rounds) - 0.9) < 0.05
