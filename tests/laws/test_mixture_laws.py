"""Laws of mixtures: the climb never falls, rows have no order, a weight is a repetition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from tests.kernels.mixture_twin import log_joint

FORMS = ("full", "tied", "diagonal", "spherical")


def gaussian_rows(seed, n=60, d=3, k=2, gaps=0.15):
    rng = np.random.default_rng(seed)
    middle = rng.normal(0, 2, (k, d))
    x = middle[rng.integers(0, k, n)] + rng.normal(size=(n, d)) @ rng.normal(0, 0.7, (d, d))
    x[rng.random(x.shape) < gaps] = np.nan
    x[:, 0] = np.where(np.isnan(x).all(axis=1), 0.0, x[:, 0])
    return x


def table_of(x, weights=None):
    return cr.read(
        {f"x{j}": c for j, c in enumerate(x.T)},
        {f"x{j}": "continuous" for j in range(x.shape[1])},
        weights,
    )


def states_of(seed, n=50, arities=(2, 3, 2), gaps=0.15):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, a, n) for a in arities], axis=1)
    codes[: n // 2] = np.minimum(codes[: n // 2], 1) * 0
    gone = rng.random(codes.shape) < gaps
    names = [f"d{j}" for j in range(len(arities))]
    schema = {n: [f"s{i}" for i in range(a)] for n, a in zip(names, arities, strict=True)}
    columns = {
        n: [None if g else f"s{c}" for c, g in zip(codes[:, j], gone[:, j], strict=True)]
        for j, n in enumerate(names)
    }
    return columns, schema


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000), form=st.sampled_from(FORMS), k=st.integers(1, 4),
    prior=st.sampled_from([0.0, 0.5, 1.0]), accelerate=st.booleans(),
)  # fmt: skip
def test_the_objective_never_falls(seed, form, k, prior, accelerate):
    table = table_of(gaussian_rows(seed))
    mixture = cr.mixture(
        table, k, covariance=form, prior=prior, accelerate=accelerate, restarts=1, max_iter=60,
        start="random", rng=seed,
    )  # fmt: skip
    trace = np.array(mixture.record.trace)
    assert (np.diff(trace) >= 0).all()
    assert np.isfinite(trace).all()
    assert mixture.log_likelihood(table) == pytest.approx(mixture.record.score, rel=1e-10)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), form=st.sampled_from(FORMS))
def test_missing_cells_are_integrated_out(seed, form):
    """Against the marginal density of the observed cells, row by row."""
    x = gaussian_rows(seed, 40, gaps=0.3)
    mixture = cr.mixture(table_of(x), 2, covariance=form, restarts=1, max_iter=10)
    part = mixture.gaussians
    joint = log_joint(x, np.zeros((len(x), 0), int), mixture.weights, [], part.means, part.matrices)
    top = joint.max(axis=1, keepdims=True)
    logs = np.log(np.exp(joint - top).sum(axis=1)) + top[:, 0]
    np.testing.assert_allclose(mixture.log_densities(table_of(x)), logs, rtol=1e-9)
    share = np.exp(joint - logs[:, None])
    np.testing.assert_allclose(mixture.responsibilities(table_of(x)), share, atol=1e-9)


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), form=st.sampled_from(FORMS))
def test_a_whole_weight_is_a_repetition(seed, form):
    x = gaussian_rows(seed, 30)
    times = np.random.default_rng(seed).integers(1, 4, len(x))
    options = {"covariance": form, "restarts": 2, "max_iter": 15, "prior": 1.0, "rng": 3}
    weighted = cr.mixture(table_of(x, times), 2, **options)
    repeated = cr.mixture(table_of(np.repeat(x, times, axis=0)), 2, **options)
    assert weighted.record.score == pytest.approx(repeated.record.score, rel=1e-7)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-5)


def test_a_weight_of_counts_and_states_with_gaps_is_a_repetition():
    """The prior's mean rate and the points of the start are those of the copies."""
    rng = np.random.default_rng(5)
    z, times = rng.integers(2, size=60), rng.integers(1, 5, 60)
    state = np.where(rng.random(60) < 0.2, None, np.where(rng.random(60) < 0.8, z, 1 - z))
    columns = {"calls": rng.poisson(2 + 6 * z), "state": state.astype(object)}
    copies = {name: np.repeat(values, times) for name, values in columns.items()}
    options = {"counts": ["calls"], "tol": 1e-10}
    weighted = cr.mixture(cr.read(columns, weights=times), 2, **options)
    repeated = cr.mixture(cr.read(copies), 2, **options)
    assert weighted.record.score == pytest.approx(repeated.record.score, rel=1e-9)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-6)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), form=st.sampled_from(FORMS))
def test_rows_and_columns_have_no_order(seed, form):
    x = gaussian_rows(seed, 40)
    rng = np.random.default_rng(seed)
    options = {"covariance": form, "restarts": 2, "max_iter": 15, "prior": 1.0, "rng": 3}
    one = cr.mixture(table_of(x), 2, **options)
    shuffled = cr.mixture(table_of(x[rng.permutation(len(x))]), 2, **options)
    assert one.record.score == pytest.approx(shuffled.record.score, rel=1e-7)
    turned = one.log_densities(table_of(x).select(["x2", "x0", "x1"]))
    np.testing.assert_allclose(turned, one.log_densities(table_of(x)), rtol=1e-12)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 3))
def test_latent_classes_by_enumeration(seed, k):
    """ln P(row) is the sum over every class and every completion of the row."""
    columns, schema = states_of(seed, 30)
    table = cr.read(columns, schema)
    mixture = cr.mixture(table, k, restarts=2, max_iter=20, rng=seed)
    tables = [p.values for p in mixture.parts]
    logs = mixture.log_densities(table)
    for i in range(len(table)):
        total = 0.0
        cells = [columns[n][i] for n in schema]
        free = [range(len(s)) if c is None else [s.index(c)] for c, s in
                zip(cells, schema.values(), strict=True)]  # fmt: skip
        for c, *states in itertools.product(range(k), *free):
            p = mixture.weights[c]
            for j, s in enumerate(states):
                p *= tables[j][c, s]
            total += p
        assert logs[i] == pytest.approx(np.log(total), rel=1e-10)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 3), prior=st.sampled_from([0.0, 1.0]))
def test_a_step_of_latent_classes_by_enumeration(seed, k, prior):
    """One step of EM from a known start, its counts by brute force."""
    columns, schema = states_of(seed, 25)
    table = cr.read(columns, schema)
    rng = np.random.default_rng(seed)
    parts = [
        cr.distributions.Tables(table.schema[n], rng.dirichlet(np.ones(len(s)), size=k))
        for n, s in schema.items()
    ]
    start = cr.Mixture(rng.dirichlet(np.ones(k)), parts)
    made = cr.mixture(table, k, start=start, max_iter=1, tol=0, prior=prior)
    mass = np.zeros(k)
    counts = [np.zeros_like(p.values) for p in parts]
    for i in range(len(table)):
        p = start.weights.copy()
        for part, (name, states) in zip(parts, schema.items(), strict=True):
            cell = columns[name][i]
            p = p if cell is None else p * part.values[:, states.index(cell)]
        p /= p.sum()
        mass += p
        for count, (name, states) in zip(counts, schema.items(), strict=True):
            if columns[name][i] is not None:
                count[:, states.index(columns[name][i])] += p
    np.testing.assert_allclose(made.weights, (mass + prior) / (mass + prior).sum(), rtol=1e-10)
    for part, count in zip(made.parts, counts, strict=True):
        raw = count + prior / count.shape[1]
        np.testing.assert_allclose(part.values, raw / raw.sum(axis=1, keepdims=True), rtol=1e-9)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), form=st.sampled_from(FORMS))
def test_a_mixture_is_a_network_with_a_hidden_class_and_back(seed, form):
    x = gaussian_rows(seed, 40, gaps=0.0)
    columns, schema = states_of(seed, 40)
    rows = {f"x{j}": c for j, c in enumerate(x.T)} | columns
    table = cr.read(rows, schema | {f"x{j}": "continuous" for j in range(3)})
    mixture = cr.mixture(table, 2, covariance=form, restarts=1, max_iter=10)
    network = mixture.to_network()
    expected = mixture.log_likelihood(table)
    assert network.log_likelihood(table) == pytest.approx(expected, rel=1e-9)
    back = cr.Mixture.from_network(network)
    assert back.log_likelihood(table) == pytest.approx(expected, rel=1e-9)
    assert back.gaussians.form == form
    assert back.free_parameters == mixture.free_parameters
    assert back.bic(table) == pytest.approx(mixture.bic(table), rel=1e-9)
    bare = cr.Mixture.from_network(network.with_record(None))  # the lines show it by themselves
    assert bare.free_parameters == mixture.free_parameters
    np.testing.assert_allclose(back.gaussians.matrices, mixture.gaussians.matrices, rtol=1e-8,
                               atol=1e-9)  # fmt: skip


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), form=st.sampled_from(FORMS))
def test_one_class_is_the_closed_form(seed, form):
    x = gaussian_rows(seed, 50, gaps=0.0)
    part = cr.mixture(table_of(x), 1, covariance=form).gaussians
    np.testing.assert_allclose(part.means[0], x.mean(axis=0), rtol=1e-9, atol=1e-12)
    cov = np.cov(x.T, bias=True)
    expected = {
        "full": cov, "tied": cov, "diagonal": np.diag(cov.diagonal()),
        "spherical": np.eye(3) * cov.diagonal().mean(),
    }[form]  # fmt: skip
    np.testing.assert_allclose(part.matrices[0], expected, rtol=1e-8, atol=1e-9)


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), threads=st.integers(2, 4))
def test_threads_change_no_bit(seed, threads):
    table = table_of(gaussian_rows(seed, 5000))
    one = cr.mixture(table, 3, restarts=1, max_iter=5, threads=1, rng=seed)
    many = cr.mixture(table, 3, restarts=1, max_iter=5, threads=threads, rng=seed)
    assert one.record.trace == many.record.trace
    np.testing.assert_array_equal(one.gaussians.covariances, many.gaussians.covariances)
