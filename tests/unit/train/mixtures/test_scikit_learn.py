"""Mixtures against scikit-learn on complete data, from the same start, step by step to 1e-8."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer

from credo.errors import InputError
from credo.estimators import GaussianMixture, LatentClasses

TYPES = ("full", "tied", "diag", "spherical")


def start_of(x, k, kind, rng):
    d = x.shape[1]
    means = x[rng.choice(len(x), k, replace=False)]
    precision = 1 / x.var(axis=0)
    precisions = {
        "full": np.repeat(np.diag(precision)[None], k, axis=0),
        "tied": np.diag(precision),
        "diag": np.repeat(precision[None], k, axis=0),
        "spherical": np.full(k, precision.mean()),
    }[kind]
    assert d == len(precision)
    return {
        "weights_init": np.full(k, 1 / k),
        "means_init": means,
        "precisions_init": precisions,
    }


def table(name):
    if name == "iris":
        return load_iris().data
    if name == "wine":
        return load_wine().data
    rng = np.random.default_rng(3)
    middle = rng.normal(0, 3, (3, 4))
    return middle[rng.integers(0, 3, 600)] + rng.normal(size=(600, 4)) @ rng.normal(size=(4, 4))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["iris", "wine", "drawn"])
def test_every_step_is_scikit_learns(kind, name):
    x = table(name)
    k = 3 if name != "wine" or kind != "full" else 2
    start = start_of(x, k, kind, np.random.default_rng(0))
    for steps in (1, 2, 3, 7, 15):
        peer = Peer(k, covariance_type=kind, tol=0, max_iter=steps, reg_covar=0, **start)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer.fit(x)
        mine = GaussianMixture(
            k, covariance_type=kind, tol=0, max_iter=steps, accelerate=False,
            variance_floor=1e-12, **start,
        ).fit(x)  # fmt: skip
        assert mine.n_iter_ == peer.n_iter_ == steps
        for a, b in (
            (mine.weights_, peer.weights_),
            (mine.means_, peer.means_),
            (mine.covariances_, peer.covariances_),
        ):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * np.abs(b).max())
        assert mine.score(x) == pytest.approx(peer.score(x), rel=1e-8)
        # scikit-learn's bound is that of the step before
        assert mine.lower_bounds_[-2] == pytest.approx(peer.lower_bound_, rel=1e-8)
        np.testing.assert_allclose(mine.predict_proba(x), peer.predict_proba(x), atol=1e-8)
        np.testing.assert_allclose(mine.score_samples(x), peer.score_samples(x), rtol=1e-7)
        assert mine.bic(x) == pytest.approx(peer.bic(x), rel=1e-8)
        assert mine.aic(x) == pytest.approx(peer.aic(x), rel=1e-8)


@pytest.mark.parametrize("kind", TYPES)
def test_the_same_shapes_and_names(kind):
    x = load_iris().data
    mine = GaussianMixture(3, covariance_type=kind, random_state=0).fit(x)
    peer = Peer(3, covariance_type=kind, random_state=0).fit(x)
    assert mine.covariances_.shape == peer.covariances_.shape
    assert mine.means_.shape == peer.means_.shape
    assert mine.converged_
    drawn, label = mine.sample(50)
    assert drawn.shape == (50, 4) and label.shape == (50,)


def test_as_good_as_scikit_learn_from_its_own_starts():
    x = load_wine().data
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    for kind in ("tied", "diag", "spherical"):
        mine = GaussianMixture(3, covariance_type=kind, n_init=10, random_state=0).fit(x)
        peer = Peer(3, covariance_type=kind, n_init=10, random_state=0, tol=1e-6, max_iter=1000)
        assert mine.score(x) >= peer.fit(x).score(x) - 1e-3


def test_starts_that_do_not_fit_are_refused():
    x = [[0.0], [1.0], [2.0]]
    for given, says in (
        ({"means_init": [[0.0], [1.0], [2.0]]}, r"means_init must have the shape \(2, 1\)"),
        ({"weights_init": [1.0]}, r"weights_init must have the shape \(2,\), got \(1,\)"),
        ({"weights_init": [0.9, 0.9]}, "add up to 1"),
        ({"precisions_init": [[[0.0]], [[1.0]]]}, "positive definite"),
        ({"precisions_init": [[[-1.0]], [[1.0]]]}, "positive definite"),
        ({"precisions_init": [[1.0, 2.0]]}, "symmetric"),
        ({"means_init": [[0.0], [1.0]], "n_components": "auto"}, "has its k"),
        ({"reg_covar": -1}, "reg_covar"),
    ):
        with pytest.raises(InputError, match=says):
            GaussianMixture(**{"n_components": 2} | given).fit(x)
    with pytest.raises(InputError, match="covariance_type must be"):
        GaussianMixture(2, covariance_type="diagonal").fit([[0.0], [1.0], [2.0]])


DAYS = pd.date_range("2020-01-01", periods=20)
NUMBERS = np.arange(20) + 0.5


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (
            pd.DataFrame({"a": DAYS, "b": NUMBERS}),
            r"'a' holds .*Timestamp.*drop\(columns=\['a'\]\)",
        ),
        (pd.DataFrame({"a": DAYS - DAYS[0], "b": NUMBERS}), "'a' holds something else"),
        (pd.DataFrame({"a": DAYS.to_period("M"), "b": NUMBERS}), "'a' holds something else"),
        (pd.DataFrame({"a": list(DAYS.date), "b": NUMBERS}), "'a' holds something else"),
        (pl.DataFrame({"a": DAYS.to_numpy(), "b": NUMBERS}), r"'a' holds .*drop\('a'\)"),
        (pl.DataFrame({"a": ["x", "y"] * 10, "b": NUMBERS}), "'a' holds text, such as 'x'"),
        (pl.DataFrame({"a": [[1, 2]] * 20, "b": NUMBERS}), "'a' holds something else"),
        (pd.DataFrame(np.eye(20, 3), columns=["a", "a", "b"]), "several columns 'a'"),
    ],
)
def test_columns_that_are_no_numbers_are_named(frame, words):
    with pytest.raises(InputError, match=words):
        GaussianMixture(2).fit(frame)


def test_columns_of_one_name_are_kept_apart_by_latent_classes():
    x = np.random.default_rng(0).normal(size=(40, 3))
    frame = pd.DataFrame(x, columns=["a", "a", "b"])
    model = LatentClasses(2, random_state=0).fit(frame)
    assert model.mixture_.names == ("a", "a_2", "b")
    assert (model.predict(frame) == LatentClasses(2, random_state=0).fit(x).predict(x)).all()


def test_numbers_of_every_frame_are_taken():
    wanted = GaussianMixture(2, random_state=0).fit(np.column_stack([NUMBERS, NUMBERS % 3]))
    for frame in (
        pd.DataFrame({"a": NUMBERS, "b": NUMBERS % 3}).convert_dtypes(),
        pd.DataFrame({"a": NUMBERS.astype(object), "b": NUMBERS % 3}),
        pl.DataFrame({"a": pl.Series(NUMBERS).cast(pl.Decimal(10, 2)), "b": NUMBERS % 3}),
    ):
        found = GaussianMixture(2, random_state=0).fit(frame)
        np.testing.assert_allclose(found.means_, wanted.means_)


@pytest.mark.parametrize("kind", TYPES)
def test_each_part_of_a_start_may_be_given_alone(kind):
    x = table("drawn")
    start = start_of(x, 3, kind, np.random.default_rng(1))
    for name, value in start.items():
        found = GaussianMixture(3, covariance_type=kind, random_state=0, **{name: value}).fit(x)
        assert found.converged_ and np.isfinite(found.score(x))
    apart = np.array([[-40.0] * 4, [40.0] * 4])  # each class stays where it was put
    far = np.concatenate([x[:50] - 40, x[50:80] + 40])
    for order in ([0, 1], [1, 0]):
        given = GaussianMixture(2, covariance_type=kind, means_init=apart[order]).fit(far)
        assert (given.means_[order[0]] < given.means_[order[1]]).all()


@pytest.mark.parametrize("kind", TYPES)
def test_precisions_are_those_of_scikit_learn(kind):
    x = table("iris")
    start = start_of(x, 3, kind, np.random.default_rng(0))
    options = {"covariance_type": kind, "max_iter": 4, "tol": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = Peer(3, reg_covar=0, **options, **start).fit(x)
        mine = GaussianMixture(
            3, accelerate=False, variance_floor=1e-12, **options, **start
        ).fit(x)  # fmt: skip
    np.testing.assert_allclose(mine.precisions_, peer.precisions_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", TYPES)
def test_reg_covar_is_the_least_variance(kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)) * [1, 100, 0.001]
    x[:, 1] = 100 * x[:, 0]  # no spread in one direction
    found = GaussianMixture(2, covariance_type=kind, reg_covar=0.04, random_state=0).fit(x)
    least = [np.linalg.eigvalsh(m)[0] for m in found.mixture_.gaussians.matrices]
    assert min(least) > 0.04 * (1 - 1e-9)
    assert (np.diff(found.lower_bounds_) >= -1e-10).all() and len(found.lower_bounds_) > 2
    loose = GaussianMixture(2, covariance_type=kind, random_state=0).fit(x)
    assert min(np.linalg.eigvalsh(m)[0] for m in loose.mixture_.gaussians.matrices) < 0.03 or (
        kind == "spherical"
    )


def test_a_warm_start_goes_on_and_a_cold_one_says_when_it_stopped():
    x = table("iris")
    model = GaussianMixture(3, max_iter=2, tol=1e-12, random_state=0, warm_start=True)
    heights = []
    for _ in range(4):
        with pytest.warns(ConvergenceWarning, match="did not converge: the budget of 2 iter"):
            heights.append(model.fit(x).score(x))
    assert heights == sorted(heights) and heights[-1] > heights[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(max_iter=5000, tol=1e-6).fit(x)
    assert model.converged_


def test_no_rows_are_no_sample():
    model = GaussianMixture().fit([[0.0], [1.0], [3.0]])
    for many in (0, -1, 1.5):
        with pytest.raises(InputError, match="n_samples must be"):
            model.sample(many)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_more_starts_never_end_lower(kind):
    rng = np.random.default_rng(5)
    for seed in range(6):
        x = rng.normal(size=(60, 2)) + rng.integers(0, 3, (60, 1)) * rng.normal(size=2)
        one, five = (
            GaussianMixture(4, covariance_type=kind, n_init=many, random_state=seed).fit(x)
            for many in (1, 5)
        )
        assert five.lower_bound_ >= one.lower_bound_ - 1e-10
