"""Elliptical densities: Gaussian and Student t are functions of the Mahalanobis distance.

    m² = (x − μ)ᵀ Σ⁻¹ (x − μ)

    Gaussian   ln p = −½ (d ln 2π + ln|Σ| + m²)
    Student t  ln p = ln Γ((ν+d)/2) − ln Γ(ν/2) − ½ (d ln νπ + ln|Σ|) − (ν+d)/2 ln(1 + m²/ν)

Σ is used through its Cholesky factor; where there is none, the error names the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credo.core.errors import InputError
from credo.model.distributions.log_rising import log_rising
from credo.model.values.reals import Floats, numbers
from credo.model.values.value import (
    NAME,
    SQUARE,
    flag,
    listed,
    text,
)

COLLINEAR = 1e-12
"""A column is a combination of others when they leave less than this share of its variance."""


def named(names: Sequence[str] | None, d: int) -> tuple[str, ...]:
    """The names of d columns: those given, or x1, x2, ….

    >>> named(None, 2)
    ('x1', 'x2')
    """
    found = column_names(names)
    if not found:
        return (NAME,) if d == 1 else tuple(f"{NAME}{i + 1}" for i in range(d))
    if len(found) != d:
        raise InputError(f"{d} different names are needed, one for each column, got {list(found)}.")
    return found


def column_names(names: Any) -> tuple[str, ...]:
    """The names of columns as the user gave them: none, one text, or a list of different ones.

    >>> column_names("wait"), column_names(None), column_names(["a", "b"])
    (('wait',), (), ('a', 'b'))
    """
    if names is None:
        return ()
    found = (names,) if isinstance(names, str) else listed(names, "The names of the columns")
    for name in found:
        text(name, "The name of a column")
    if len(set(found)) < len(found):
        raise InputError(
            f"{len(found)} different names are needed, one for each column, got {list(found)}."
        )
    return found


def symmetric(matrix: ArrayLike, d: int, what: str) -> Floats:
    """A finite symmetric matrix of d × d, with its halves made equal."""
    out = numbers(matrix, f"{what} must be a matrix of numbers")
    if out.shape != (d, d):
        raise InputError(f"{what} must have the shape {(d, d)}, got {out.shape}.")
    if not np.isfinite(out).all():
        raise InputError(f"{what} must hold finite numbers.")
    if (np.abs(out) > SQUARE).any():
        raise InputError(
            f"{what} is too large: {np.abs(out).max():.6g} passes {SQUARE:g}.",
            hint="Use another unit: divide the values by a power of ten.",
        )
    size = np.sqrt(np.abs(np.diag(out)))
    if (np.abs(out - out.T) > 1e-9 * np.outer(size, size)).any():
        raise InputError(f"{what} must be symmetric.")
    half: Floats = (out + out.T) / 2
    half.flags.writeable = False
    return half


def factor(matrix: Floats, names: Sequence[str], what: str) -> Floats:
    """The Cholesky factor of a covariance; the error names a constant or collinear column.

    >>> factor(np.array([[4.0, 2.0], [2.0, 2.0]]), ("a", "b"), "The covariance").round(9).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    variance = np.diag(matrix)
    for name, v in zip(names, variance, strict=True):
        if not v >= 1 / SQUARE:
            raise InputError(
                f"{what} must be positive definite: the variance of {name!r} is {v:.6g}.",
                hint=f"Leave the constant column {name!r} out, or use a prior.",
            )
    size = np.sqrt(variance)
    scaled = matrix / size[:, None] / size[None, :]
    root: Any
    try:
        root = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        root = None
    if root is None or (np.diag(root) ** 2 < COLLINEAR).any():
        raise _collinear(scaled, names, what)
    out: Floats = root * size[:, None]
    return out


def _collinear(scaled: Floats, names: Sequence[str], what: str) -> InputError:
    """Which column is a linear combination of which before it."""
    left = np.ones(len(names))
    weights = {}
    for j in range(1, len(names)):
        weights[j] = np.linalg.lstsq(scaled[:j, :j], scaled[:j, j], rcond=COLLINEAR)[0]
        left[j] = 1.0 - scaled[:j, j] @ weights[j]
    worst = int(np.argmax(left < COLLINEAR) or left.argmin())
    if left[worst] < -1e-6:
        return InputError(
            f"{what} must be positive definite, but the correlations of "
            f"{', '.join(repr(n) for n in names)} contradict each other."
        )
    others = [n for n, w in zip(names, weights[worst], strict=False) if abs(w) > 1e-6]
    return InputError(
        f"{what} must be positive definite, but the column {names[worst]!r} is a linear "
        f"combination of {', '.join(repr(o) for o in others)}.",
        hint=f"Leave {names[worst]!r} out, or use a prior such as "
        "cr.distributions.NormalInverseWishart.default(…).",
    )


def check_spread(n: float, mean: Floats, scatter: Floats, names: Sequence[str], prior: str) -> None:
    """Refuse data that maximum likelihood would give a variance of zero."""
    rounding = (4 * np.finfo(float).eps * np.abs(mean)) ** 2
    for name, s, r in zip(names, np.diag(scatter), rounding, strict=True):
        if s / n > r:
            continue
        known = ", known_variance=…" if len(names) == 1 else ""
        if n <= 1:
            raise InputError(
                f"One observation of {name!r} has no spread: its maximum-likelihood variance is 0.",
                hint=f"Give a prior such as prior={prior}{known}, or more rows.",
            )
        raise InputError(
            f"The column {name!r} is constant: its maximum-likelihood variance is 0.",
            hint=f"Give a prior such as prior={prior}{known}, or leave {name!r} out.",
        )


def divisor(n: float, sample_variance: bool) -> float:
    """What the scatter is divided by: n, or n − 1 for the sample variance.

    >>> divisor(12, True)
    11
    """
    if not flag(sample_variance, "sample_variance"):
        return n
    if n <= 1:
        raise InputError(f"The sample variance needs more than one row, got a weight of {n:g}.")
    return n - 1


def points(x: ArrayLike, d: int | None = None, what: str = "density") -> Floats:
    """Values at which a density or a share is asked for; with `d`, rows of d numbers."""
    out = numbers(x, f"The {what} is asked for at numbers")
    if np.isnan(out).any():
        raise InputError(f"The {what} is asked for at numbers, got NaN.")
    if d is not None and (out.ndim == 0 or out.shape[-1] != d):
        raise InputError(f"Each point must have {d} numbers, got the shape {out.shape}.")
    return out


def side_by_side(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Means and what stands beside them, one for each of the other or for all of them."""
    try:
        a, b = np.broadcast_arrays(a, b)
    except ValueError:
        raise InputError(
            f"There must be as many means as variances, or one for all: the shapes {a.shape} and "
            f"{b.shape} do not fit."
        ) from None
    return a, b


def distance(x: Floats, mean: Floats, root: Floats) -> Floats:
    """The squared Mahalanobis distance of each row, by the Cholesky factor of Σ."""
    from scipy.linalg import solve_triangular

    away = (x - mean).reshape(-1, len(mean)).T
    with np.errstate(over="ignore"):
        solved = solve_triangular(root, away, lower=True, check_finite=False)
        out: Floats = (solved**2).sum(axis=0).reshape(x.shape[:-1])
    return np.where(np.isnan(out), np.inf, out)


def gaussian_log_density(m2: Any, log_det: float, d: int) -> Any:
    """The Gaussian log-density from the squared distance and ln|Σ|."""
    return -0.5 * (d * np.log(2 * np.pi) + log_det + m2)


def student_log_density(m: Any, log_det: float, d: int, dof: float) -> Any:
    """The Student t log-density from the distance and ln|Σ|; its tails are heavy, so that it is not
    0 where the square of the distance is beyond every number.
    """
    ratio = log_rising(dof / 2, d / 2)  # of gamma functions; exact for a large ν too
    constant = ratio - 0.5 * (d * np.log(dof * np.pi) + log_det)
    with np.errstate(over="ignore", divide="ignore"):
        far = m / np.sqrt(dof)
        logs = 2 * np.log(m) - np.log(dof)
    near = np.minimum(far, 1e9)
    log = np.where(far < 1e9, np.log1p(near * near), logs)
    return constant - (dof + d) / 2 * log
