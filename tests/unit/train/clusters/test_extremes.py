"""Numbers very small, very large or far apart: right, or refused before anything is made."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError
from credo.estimators import GaussianMixture, LatentClasses


def two(scale: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(0, 1, (40, 2)), rng.normal(6, 1, (40, 2))]) * scale
    return {"x": x[:, 0], "y": x[:, 1]}


@pytest.mark.parametrize("scale", [1e-160, 1e-200, 1e-300])
@pytest.mark.parametrize("form", ["full", "tied", "diagonal", "spherical"])
def test_mixtures_refuse_squares_that_are_0(scale: float, form: str) -> None:
    with pytest.raises(InputError, match="The values of 'x' are too close together"):
        cr.mixture(two(scale), 2, covariance=form)


def test_estimators_refuse_squares_that_are_0() -> None:
    x = np.column_stack(list(two(1e-200).values()))
    for model in (GaussianMixture(2), LatentClasses(2)):
        with pytest.raises(InputError, match="'x0' are too close together"):
            model.fit(x)


@pytest.mark.parametrize("method", ["gaussian", "latent-class"])
def test_groups_that_were_made_can_be_printed(method: str) -> None:
    rows = two(1e-250)
    rows["x"] = np.where(np.arange(80) % 7 == 0, np.nan, rows["x"])  # Gower's distance, made late
    with pytest.raises(InputError, match="too close together"):
        cr.cluster(rows, method, k=2)


def test_what_is_too_large_is_named() -> None:
    rows = two()
    rows["y"] = rows["y"] * 1e160
    with pytest.raises(InputError, match="The values of 'y' are too large"):
        cr.mixture(rows, 2)


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12])
def test_the_spread_of_groups_far_apart(far: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=90) + np.repeat([0.0, far, -far], 30)
    groups = cr.cluster({"x": x}, k=3)
    for cluster in range(3):
        inside = groups.profiles[cluster][0].inside
        mine = x[groups.labels == cluster]
        assert inside["mean"] == pytest.approx(mine.mean(), rel=1e-12)
        assert inside["sd"] == pytest.approx(mine.std(), rel=1e-3)
        assert groups.profiles[cluster][0].whole["sd"] == pytest.approx(x.std())


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.filterwarnings("error")
def test_columns_aside_are_described_in_any_unit(scale: float) -> None:
    rows = two() | {"z": np.random.default_rng(3).normal(size=80) * scale}
    groups = cr.cluster(rows, k=2, aside="z")
    for tellings in groups.profiles:
        found = next(t for t in tellings if t.column == "z")
        assert found.whole["sd"] == pytest.approx(
            (rows["z"] / scale).std() * scale, rel=1e-9, abs=0
        )
    assert "inf" not in str(groups.profiles) and "nan" not in str(groups.profiles)


def test_profiles_of_a_stream_are_those_of_its_table(tmp_path) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=4000) + np.repeat([0.0, 1e6], 2000)
    w = rng.integers(0, 4, 4000)
    file = tmp_path / "rows.csv"
    file.write_text("x,w\n" + "".join(f"{a!r},{b}\n" for a, b in zip(x.tolist(), w, strict=True)))
    stream = cr.read(file, weights="w", memory="40kB")
    assert isinstance(stream, cr.Stream)
    table = cr.read({"x": x, "w": w}, weights="w")
    one, other = cr.cluster(stream, k=2), cr.cluster(table, k=2)
    for a, b in zip(one.profiles, other.profiles, strict=True):
        assert a[0].inside == pytest.approx(b[0].inside, rel=1e-9)
        assert a[0].whole == pytest.approx(b[0].whole, rel=1e-9)


def test_a_network_says_that_a_variance_is_too_large_for_it() -> None:
    with pytest.raises(InputError, match=r"variance of 'x' must be at most 1e150, got \d.*unit"):
        cr.mixture(two(1e100), 2).to_network()


FAR = (1e3, 1e7, 1e12, 1e20, 1e155, 1e300)


def groups_of_rows() -> np.ndarray:
    rng = np.random.default_rng(0)
    middles = [[0, 0, 0], [8, 8, -3], [-8, 8, 5]]
    return np.concatenate([rng.normal(m, 1, (20, 3)) for m in middles])


def directions(n: int = 40) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n, 3))


def exact_square(a: np.ndarray, b: np.ndarray) -> Fraction:
    return sum(((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))


@pytest.mark.parametrize("far", FAR)
def test_k_means_assigns_by_exact_distances(far: float) -> None:
    x = groups_of_rows()
    groups = cr.cluster(x, k=3)
    centres = groups.model.centres[groups.order]
    rows = far * directions()
    exact = [min(range(3), key=lambda c: exact_square(row, centres[c])) for row in rows]
    assert groups.assign(rows).tolist() == exact
    assert set(exact) == {0, 1, 2}


@pytest.mark.parametrize("link", ["single", "complete"])
@pytest.mark.parametrize("far", FAR)
def test_links_assign_by_exact_distances(link: str, far: float) -> None:
    x = groups_of_rows()
    groups = cr.cluster(x, link, k=3)
    rows = far * directions(10)
    pick = min if link == "single" else max
    for row, found in zip(rows, groups.assign(rows).tolist(), strict=True):
        by = [pick(exact_square(row, p) for p in x[groups.labels == c]) for c in range(groups.k)]
        assert by[found] == min(by)


@pytest.mark.parametrize("method", ["k-means", "single", "complete", "average", "ward", "spectral"])
def test_a_row_far_out_goes_where_its_direction_points(method: str) -> None:
    x = groups_of_rows()
    groups = cr.cluster(x, method, k=3)
    rows = np.array([[1.0, 1, -1], [-1, 1, 1]])
    near = groups.assign(1e5 * rows).tolist()
    assert near == [groups.labels[20], groups.labels[40]]
    for far in FAR:
        assert groups.assign(far * rows).tolist() == near


def test_halves_of_a_plane_are_told_apart_far_out() -> None:
    rows = {"x": [0.0, 0.0, 0.0, 1.0, 1.0], "y": [0.0] * 5}
    groups = cr.cluster(cr.read(rows, dict.fromkeys(rows, "continuous")), k=2, scale="none")
    rows = {"x": [0.4, 0.5, 0.6], "y": [1e20, 1e20, 1e20]}
    assert groups.assign(rows).tolist() == [0, 0, 1]


def test_gaps_and_states_far_out() -> None:
    rows = {
        "x": [0.0, 0.5, 0.2, 9.0, 9.5, 9.2],
        "y": [1.0, None, 2.0, 8.0, 9.0, 8.5],
        "z": ["a", "a", "b", "c", "c", "c"],
    }
    new = {"x": [1e20, -1e20, 1e300], "y": [None, None, None], "z": ["a", None, None]}
    for method in ("k-means", "average", "complete"):
        groups = cr.cluster(rows, method, k=2)
        low, high = groups.labels[0], groups.labels[3]
        assert groups.assign(new).tolist() == [high, low, high]


@pytest.mark.parametrize("form", ["tied", "full", "diagonal", "spherical"])
def test_classes_of_a_mixture_far_out(form: str) -> None:
    mixture = cr.mixture(groups_of_rows(), 3, covariance=form, rng=0)
    rows = directions()
    near = mixture.responsibilities(1e5 * rows)
    for far in FAR[1:]:
        assert mixture.responsibilities(far * rows) == pytest.approx(near, abs=1e-6)


def test_labels_of_a_far_row_are_those_that_assign_gives() -> None:
    x = np.concatenate([groups_of_rows(), [[1e9, -1e9, 1e9], [1e9 + 1, -1e9, 1e9]]])
    start = [[0.0, 0, 0], [8, 8, -3], [-8, 8, 5]]
    groups = cr.cluster(x, k=3, start=start, max_iter=1, scale="none")
    assert (groups.assign(x) == groups.labels).all()
