"""Gaussian networks against NumPy, mixed ones against Bayes' rule with scipy, and the refusals."""

import tracemalloc

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

import credo as cr
from credo.core.schema import Variable
from credo.errors import ImpossibleError, InputError, LimitError
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network


def number(name):
    return Variable(name, "continuous")


def lines(seed, n=6):
    """A random Gaussian network, and its joint mean and covariance by matrices."""
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(n)]
    order = rng.permutation(n)
    a, b = rng.normal(size=n), np.zeros((n, n))
    noise = rng.uniform(0.2, 2.0, n)
    tables = []
    for at, i in enumerate(order):
        parents = [int(j) for j in order[:at] if rng.random() < 0.5]
        b[i, parents] = rng.normal(size=len(parents))
        tables.append(
            LinearGaussian(
                number(names[i]),
                tuple(number(names[j]) for j in parents),
                a[i],
                b[i, parents],
                noise[i],
            )
        )
    edges = [(p.name, t.name) for t in tables for p in t.parents]
    net = Network(Dag(edges, nodes=names), {t.name: t for t in tables})
    inverse = np.linalg.inv(np.eye(n) - b)
    return net, inverse @ a, inverse @ np.diag(noise) @ inverse.T


def conditioned(mean, cov, t, k, values):
    gain = cov[np.ix_(t, k)] @ np.linalg.inv(cov[np.ix_(k, k)])
    return mean[t] + gain @ (values - mean[k]), cov[np.ix_(t, t)] - gain @ cov[np.ix_(k, t)]


@pytest.mark.parametrize("seed", range(10))
def test_a_gaussian_network_is_one_gaussian(seed):
    net, mean, cov = lines(seed)
    rng = np.random.default_rng(seed)
    whole = net.p(list(net.names))
    np.testing.assert_allclose(whole.mean, mean, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(whole.covariance, cov, rtol=1e-10, atol=1e-12)
    assert list(net.marginals()) == list(net.names)
    for size in (1, 2, 4):
        k = sorted(rng.choice(6, size, replace=False).tolist())
        t = [i for i in range(6) if i not in k]
        values = mean[k] + rng.normal(size=size)
        given = {f"x{i}": v for i, v in zip(k, values, strict=True)}
        m, c = conditioned(mean, cov, t, k, values)
        found = net.p([f"x{i}" for i in t], given)
        np.testing.assert_allclose(found.mean, m, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(found.covariance, c, rtol=1e-9, atol=1e-10)
        every = net.marginals(given)
        assert list(every) == [f"x{i}" for i in t]
        for at, i in enumerate(t):
            one = net.p(f"x{i}", given)
            assert one == every[f"x{i}"]
            np.testing.assert_allclose(
                [one.mean, one.variance], [m[at], c[at, at]], rtol=1e-9, atol=1e-10
            )
        exact = multivariate_normal(mean[k], cov[np.ix_(k, k)]).logpdf(values)
        assert net.log_evidence(given) == pytest.approx(exact, rel=1e-9)
        best = net.mpe(given)
        np.testing.assert_allclose([best[f"x{i}"] for i in t], m, rtol=1e-9, atol=1e-10)
        point = np.empty(6)
        point[k], point[t] = values, m
        assert best.log_p == pytest.approx(multivariate_normal(mean, cov).logpdf(point), rel=1e-9)
        assert net.map([f"x{t[0]}"], given)[f"x{t[0]}"] == pytest.approx(m[0], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_a_gaussian_network(seed):
    net, mean, cov = lines(seed)
    rng = np.random.default_rng(seed)
    data = rng.multivariate_normal(mean, cov, 40)
    exact = multivariate_normal(mean, cov).logpdf(data).sum()
    columns = {n: data[:, i] for i, n in enumerate(net.names)}
    assert net.log_likelihood(columns) == pytest.approx(exact, rel=1e-9)
    holes = np.where(rng.random(data.shape) < 0.4, np.nan, data)
    total = 0.0
    for row in holes:
        k = np.flatnonzero(~np.isnan(row))
        if len(k):
            total += multivariate_normal(mean[k], cov[np.ix_(k, k)]).logpdf(row[k])
    columns = {n: holes[:, i] for i, n in enumerate(net.names)}
    assert net.log_likelihood(columns) == pytest.approx(total, rel=1e-9)


def test_small_noise_loses_no_digits():
    x, y, z = number("x"), number("y"), number("z")
    net = Network(
        "[x][y|x][z|y]",
        [
            LinearGaussian(x, (), 0.0, [], 1e8),
            LinearGaussian(y, (x,), 0.0, [1.0], 1e-8),
            LinearGaussian(z, (y,), 0.0, [1.0], 1e-8),
        ],
    )
    found = net.p("y", {"x": 3.0, "z": 5.0})  # two reports, equally good
    assert found.mean == pytest.approx(4.0, rel=1e-12)
    assert found.variance == pytest.approx(0.5e-8, rel=1e-9)
    tight = Network("[x][y|x]", [net.cpt("x"), LinearGaussian(y, (x,), 0.0, [1.0], 1e-40)])
    with pytest.raises(InputError, match="determine each other"):
        tight.log_evidence({"x": 1.0, "y": 1.0})


KIND = Variable("kind", "discrete", ("a", "b", "c"))
PRIOR = np.array([0.5, 0.3, 0.2])
MEANS = np.array([0.0, 1.0, 4.0])
SDS = np.array([1.0, 0.5, 2.0])


def naive(features=3):
    tables = [Cpt(KIND, (), PRIOR)]
    for i in range(features):
        tables.append(LinearGaussian(number(f"x{i}"), (KIND,), MEANS + i, np.zeros((3, 0)), SDS**2))
    return Network([("kind", f"x{i}") for i in range(features)], tables)


def by_hand(values):
    logs = np.log(PRIOR)
    for i, v in values.items():
        logs = logs + norm(MEANS + int(i[1:]), SDS).logpdf(v)
    return logs


@pytest.mark.parametrize(
    "values", [{"x0": 0.3}, {"x0": 0.3, "x2": -1.0}, {"x0": 2, "x1": 5.5, "x2": 9.0}]
)
def test_discrete_posteriors_given_numbers(values):
    net, logs = naive(), by_hand(values)
    exact = np.exp(logs - logsumexp(logs))
    np.testing.assert_allclose(net.p("kind", values).p, exact, rtol=1e-12)
    np.testing.assert_allclose(net.marginals(values)["kind"].p, exact, rtol=1e-12)
    assert net.log_evidence(values) == pytest.approx(logsumexp(logs), rel=1e-12)
    assert net.mpe(values)["kind"] == KIND.states[int(exact.argmax())]
    assert net.mpe(values).log_p == pytest.approx(logs.max(), rel=1e-12)
    assert net.map("kind", values).log_p == pytest.approx(logs.max(), rel=1e-12)
    text = ", ".join(f"{k}={v}" for k, v in values.items())
    np.testing.assert_allclose(net.ask(f"P(kind | {text})").p, exact, rtol=1e-12)
    shown = str(net.ask(f"P(kind=b | {text})", explain=True))
    assert all(k in shown for k in values)


def test_rows_with_numbers_and_gaps():
    net = naive()
    rng = np.random.default_rng(0)
    data = rng.normal(1.5, 3, (200, 3))
    data[rng.random(data.shape) < 0.3] = np.nan
    found = net.predict_proba({f"x{i}": data[:, i] for i in range(3)}, "kind")
    each = [by_hand({f"x{i}": v for i, v in enumerate(row) if not np.isnan(v)}) for row in data]
    np.testing.assert_allclose(
        found, [np.exp(e - logsumexp(e)) for e in each], rtol=1e-10, atol=1e-300
    )
    total = net.log_likelihood({f"x{i}": data[:, i] for i in range(3)})
    assert total == pytest.approx(sum(logsumexp(e) for e in each), rel=1e-10)


@pytest.mark.parametrize("far", [40.0, 1e3, 1e6])
def test_values_far_in_the_tails(far):
    """exp(−far²/2) is no number, but the odds are; a known class is never impossible."""
    net = naive()
    values = {"x0": far, "x1": -far, "x2": far}
    logs = by_hand(values)
    exact = np.exp(logs - logsumexp(logs))
    np.testing.assert_allclose(net.p("kind", values).p, exact, rtol=1e-6, atol=1e-300)
    assert net.log_evidence(values) == pytest.approx(logsumexp(logs), rel=1e-12)
    for i, kind in enumerate(KIND.states):
        known = {"kind": kind, **values}
        assert net.log_evidence(known) == pytest.approx(logs[i], rel=1e-12)
    pair = logs[:2]
    either = net.p("kind", {"kind": {"a", "b"}, **values}).p
    np.testing.assert_allclose(either[:2], np.exp(pair - logsumexp(pair)), rtol=1e-6, atol=1e-300)
    rows = {"kind": list("abc"), **{k: [v] * 3 for k, v in values.items()}}
    assert net.log_likelihood(rows) == pytest.approx(logs.sum(), rel=1e-12)
    np.testing.assert_allclose(net.predict_proba(rows, "kind"), [exact] * 3, rtol=1e-6, atol=1e-300)


def test_opposite_tails_of_two_features_cancel():
    """Each by itself says e^±5000; together they say nothing."""
    two = Variable("c", "discrete", ("l", "r"))
    tables = [Cpt(two, (), [0.25, 0.75])]
    tables += [
        LinearGaussian(number(n), (two,), [-50.0, 50.0], np.zeros((2, 0)), 1.0) for n in "xy"
    ]
    net = Network([("c", "x"), ("c", "y")], tables)
    np.testing.assert_allclose(net.p("c", {"x": 50.0, "y": -50.0}).p, [0.25, 0.75], rtol=1e-9)
    rows = {"x": [50.0, 50.0], "y": [-50.0, 50.0]}
    np.testing.assert_allclose(net.predict_proba(rows, "c"), [[0.25, 0.75], [0, 1]], rtol=1e-9)


def test_densities_too_small_to_be_told_are_refused():
    with pytest.raises(LimitError, match="density of 'x' is too small to be told"):
        sharp().p("kind", {"x": 1e140})


def sharp():
    line = LinearGaussian(number("x"), (KIND,), MEANS, np.zeros((3, 0)), 1e-100)
    return Network("[kind][x|kind]", [Cpt(KIND, (), PRIOR), line])


def mixed():
    """kind → group (discrete), kind → x → y (numbers)."""
    group = Variable("group", "discrete", ("g", "h"))
    x, y = number("x"), number("y")
    return Network(
        "[kind][group|kind][x|kind][y|x:group]",
        [
            Cpt(KIND, (), PRIOR),
            Cpt(group, (KIND,), [[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]]),
            LinearGaussian(x, (KIND,), MEANS, np.zeros((3, 0)), SDS**2),
            LinearGaussian(y, (x, group), [0.0, 1.0], [[2.0], [-1.0]], [1.0, 4.0]),
        ],
    )


def test_a_mixed_network():
    net = mixed()
    joint = PRIOR[:, None] * np.array([[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])
    like = norm(MEANS, SDS).pdf(1.2)[:, None] * np.array(
        [norm(2.4, 1).pdf(2.0), norm(1 - 1.2, 2).pdf(2.0)]
    )
    exact = joint * like
    given = {"x": 1.2, "y": 2.0}
    np.testing.assert_allclose(net.p(["kind", "group"], given).p, exact / exact.sum(), rtol=1e-12)
    assert net.log_evidence(given) == pytest.approx(np.log(exact.sum()), rel=1e-12)
    assert list(net.marginals()) == ["kind", "group", "x", "y"]
    np.testing.assert_allclose(net.marginals()["group"].p, joint.sum(axis=0), rtol=1e-12)
    assert list(net.marginals(given)) == ["kind", "group"]
    known = net.p("y", {"kind": "b", "group": "g"})
    assert known.mean == pytest.approx(2.0) and known.variance == pytest.approx(4 * 0.25 + 1)
    back = net.p("x", {"kind": "b", "group": "g", "y": 2.0})
    assert back.mean == pytest.approx(1.0) and back.variance == pytest.approx(0.25 / 2)
    both = net.p(["x", "y"], {"kind": "a", "group": "h"})
    np.testing.assert_allclose(both.covariance, [[1, -1], [-1, 5]], rtol=1e-12)


def test_wider_mixed_questions_by_hand():
    """y = 2x + ε or 1 − x + ε with x from three bells: six Gaussians of y."""
    net = mixed()
    joint = PRIOR[:, None] * np.array([[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])
    mean = np.stack([2 * MEANS, 1 - MEANS], axis=1)
    var = np.stack([4 * SDS**2 + 1, SDS**2 + 4], axis=1)
    like = joint * norm(mean, np.sqrt(var)).pdf(2.0)
    found = net.p("kind", {"y": 2.0}).p
    np.testing.assert_allclose(found, like.sum(axis=1) / like.sum(), rtol=1e-12)
    assert net.log_evidence({"y": 2.0}) == pytest.approx(np.log(like.sum()), rel=1e-12)
    assert net.log_likelihood({"y": [2.0, 2.0]}) == pytest.approx(2 * np.log(like.sum()), rel=1e-12)
    best = net.mpe({"y": 2.0})
    at = np.unravel_index(like.argmax(), like.shape)
    assert dict(best) == {"kind": "abc"[at[0]], "group": "gh"[at[1]]}
    assert best.log_p == pytest.approx(np.log(like.max()), rel=1e-12)
    y = net.p("y")
    assert len(y) == 5  # c never goes with g
    assert y["b", "h"].mean == pytest.approx(0.0) and y["b", "h"].variance == pytest.approx(4.25)
    assert y.mean == pytest.approx((joint * mean).sum())
    x = net.p("x", {"kind": {"a": 0.5, "b": 0.25}})
    np.testing.assert_allclose(x.weights, [0.25 / 0.325, 0.075 / 0.325], rtol=1e-12)
    both = net.p(["x", "y"], {"kind": "a"})
    np.testing.assert_allclose(both.weights, [0.9, 0.1], rtol=1e-12)
    np.testing.assert_allclose(both.covariances[0], [[1, 2], [2, 5]], rtol=1e-12)
    with pytest.raises(InputError, match="map\\(\\) is for discrete variables; 'x' is continuous"):
        net.map(["x"], {"kind": "a"})


def test_other_refusals():
    net = mixed()
    with pytest.raises(InputError, match="is for discrete variables"):
        net.ask("P(x=1)")
    with pytest.raises(InputError, match="'x' is continuous"):
        net.predict_proba({"kind": ["a"]}, "x")
    with pytest.raises(InputError, match="sets 'x' to must be a finite number"):
        net.do({"x": "tall"})
    with pytest.raises(InputError, match="finite number"):
        net.p("kind", {"x": "tall"})
    with pytest.raises(InputError, match="finite number"):
        net.p("kind", {"x": float("inf")})
    with pytest.raises(InputError, match="too large"):
        net.p("kind", {"x": 1e300})
    with pytest.raises(InputError, match="one number"):
        net.ask("P(kind | x in {1, 2})")
    with pytest.raises(InputError, match="one number"):
        net.ask("P(kind | x != 1)")
    for kind, text in (("c", "kind=c and group=g"), ({"c": 2.0}, r"group=g and kind in \['c'\]")):
        with pytest.raises(ImpossibleError, match=f"{text} cannot be true together"):
            net.log_evidence({"kind": kind, "group": "g", "x": 1.0, "y": 2.0})


def test_densities_that_contradict_each_other_beyond_all_numbers():
    """x says e^5000 for l, y says e^5000 for r, of two variables that are always equal."""
    one, two = (Variable(n, "discrete", ("l", "r")) for n in ("one", "two"))
    tables = [Cpt(one, (), [0.5, 0.5]), Cpt(two, (one,), np.eye(2))]
    for name, parent in (("x", one), ("y", two)):
        line = LinearGaussian(number(name), (parent,), [-50.0, 50.0], np.zeros((2, 0)), 1.0)
        tables.append(line)
    net = Network([("one", "two"), ("one", "x"), ("two", "y")], tables)
    with pytest.raises(LimitError, match="densities of 'x', 'y' are too far apart"):
        net.p("one", {"x": -50.0, "y": 50.0})
    np.testing.assert_allclose(net.p("one", {"x": -0.1, "y": 0.1}).p, [0.5, 0.5], rtol=1e-12)


def test_the_account_of_a_mixed_question():
    work = mixed().ask("P(kind=a | x=1.2, y=2.0, group=g)", explain=True).account
    assert set(work.weights) == {"group", "x", "y"}
    work = mixed().ask("P(y | group=g)", explain=True).account
    assert work.gaussians == 3 and work.integrated == ("x",)
    assert "integrated out: x" in str(work) and "3 Gaussians" in str(work)
    line = mixed().cpt("x")
    assert line.given({"kind": "b"}).mean == 1.0


def test_whole_rows_are_looked_up_whatever_the_tables_size():
    """ln P of rows without gaps needs no table of densities for each row."""
    rng = np.random.default_rng(1)
    n, states = 400, 150
    a, b = rng.integers(0, states, n), rng.integers(0, states, n)
    rows = {"a": [f"a{i}" for i in a], "b": [f"b{i}" for i in b], "x": rng.normal(size=n)}
    net = cr.fit("[a][b][x|a:b]", rows, prior=cr.BDeu(1), schema=dict.fromkeys("ab", "discrete"))
    some = {k: list(v[:3]) for k, v in rows.items()}
    each = [net.log_evidence({k: v[i] for k, v in some.items()}) for i in range(3)]
    assert net.log_likelihood(some) == pytest.approx(sum(each), rel=1e-12)
    tracemalloc.start()
    net.log_likelihood(rows)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * n * states * states / 10
