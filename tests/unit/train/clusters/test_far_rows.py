"""New rows so far out that their distances to all groups round to one: direction still tells."""

from fractions import Fraction

import numpy as np
import pytest

import credo as cr

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
