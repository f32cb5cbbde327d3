"""Moments: weight, mean and scatter of continuous variables in each discrete configuration.

    n = Σ w,   mean = Σ w·x / n,   scatter = Σ w·(x − mean)(x − mean)ᵀ

Two parts merge without a second look at their rows (Chan, Golub and LeVeque 1983):

    mean = Σ nᵢ·meanᵢ / n,   scatter = Σ scatterᵢ + Σ nᵢ·(meanᵢ − mean)(meanᵢ − mean)ᵀ

Only configurations that were seen are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, SchemaError, shown, unknown_name
from credo.core.render import number, one_line, statistic_tail, table_html, table_text
from credo.core.schema import Variable
from credo.stats.configurations import grouped, named
from credo.stats.given import (
    given_axes,
    given_codes,
    given_skipped,
    given_tolerance,
    in_order,
    owned,
    restore,
    sealed,
    total_of,
)
from credo.stats.labelled import described, labelled
from credo.stats.squares import refuse_squares, with_small_squares

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the continuous variables `continuous` by configuration of `discrete`.

    `configurations` has one row of state codes per configuration seen (a single empty row when
    there is no discrete variable); `n`, `mean` and `scatter` run along it. `skipped` is the
    weight of the rows left out because a cell was missing. It is known of the whole and not of its
    slices, whose `skipped` is 0.

    >>> m = Moments.of({"x": [1.0, 2.0, 3.0]})
    >>> m.n.tolist(), m.mean.tolist(), m.scatter.tolist()
    ([3.0], [[2.0]], [[[2.0]]])
    """

    discrete: tuple[Variable, ...]
    continuous: tuple[Variable, ...]
    configurations: NDArray[np.uint32]
    n: Floats
    mean: Floats
    scatter: Floats
    skipped: int | float = 0

    def __post_init__(self) -> None:
        discrete, continuous = tuple(self.discrete), tuple(self.continuous)
        given_axes((*discrete, *continuous), "moments")
        object.__setattr__(self, "discrete", discrete)
        object.__setattr__(self, "continuous", continuous)
        object.__setattr__(self, "skipped", given_skipped(self.skipped))
        n = _given_floats(self.n, "n")
        u, d = len(n) if n.ndim else 0, len(continuous)
        for name, shape in {"n": (u,), "mean": (u, d), "scatter": (u, d, d)}.items():
            array = n if name == "n" else _given_floats(getattr(self, name), name)
            if array.shape != shape:
                raise InputError(f"The {name} of moments must have the shape {shape}.")
            object.__setattr__(self, name, owned(array))
        where = given_codes(self.configurations, discrete, u, "Moments")
        object.__setattr__(self, "configurations", owned(where))
        self._check_numbers()
        self.check_range()
        self._check_definite()
        if not in_order(where):
            merged = Moments.pooled(discrete, continuous, where, self.n, self.mean, self.scatter)
            for name in ("configurations", "n", "mean", "scatter"):
                object.__setattr__(self, name, getattr(merged, name))

    def __setstate__(self, state: dict[str, Any]) -> None:
        restore(self, state)

    @classmethod
    def trusted(
        cls,
        discrete: tuple[Variable, ...],
        continuous: tuple[Variable, ...],
        arrays: tuple[NDArray[np.uint32], Floats, Floats, Floats],
        skipped: int | float,
    ) -> Moments:
        """Moments whose arrays were made here, and that nobody else has: nothing is checked."""
        out = object.__new__(cls)
        put = object.__setattr__
        put(out, "discrete", discrete)
        put(out, "continuous", continuous)
        where, n, mean, scatter = arrays
        put(out, "configurations", sealed(where))
        put(out, "n", sealed(n))
        put(out, "mean", sealed(mean))
        put(out, "scatter", sealed(scatter))
        put(out, "skipped", skipped)
        return out

    @classmethod
    def pooled(
        cls,
        discrete: tuple[Variable, ...],
        continuous: tuple[Variable, ...],
        where: NDArray[Any],
        n: Floats,
        mean: Floats,
        scatter: Floats,
        skipped: int | float = 0,
    ) -> Moments:
        """Moments of configurations in any order, which may repeat: those of one are merged."""
        if in_order(where):
            arrays = (np.array(where, np.uint32), np.array(n), np.array(mean), np.array(scatter))
            return cls.trusted(discrete, continuous, arrays, skipped)
        found, group = grouped(where)
        first = np.zeros(len(found), dtype=np.intp)
        first[group[::-1]] = np.arange(len(group))[::-1]
        weight = np.zeros(len(found))
        np.add.at(weight, group, n)
        share = (n / weight[group])[:, None]
        middle = mean[first]  # about which the means of the parts are near
        shift = np.zeros_like(middle)
        np.add.at(shift, group, share * (mean - middle[group]))
        middle = middle + shift
        root = np.sqrt(n)[:, None] * (mean - middle[group])
        spread = np.zeros((len(found), *scatter.shape[1:]))
        with np.errstate(over="ignore", invalid="ignore"):  # which `check_range` refuses
            np.add.at(spread, group, scatter + root[:, :, None] * root[:, None, :])
        codes = np.ascontiguousarray(found, dtype=np.uint32)
        return cls.trusted(discrete, continuous, (codes, weight, middle, spread), skipped)

    def merged(self, other: Moments) -> Moments:
        """These and those of other rows with the same variables; only the whole is checked."""
        return Moments.pooled(
            self.discrete,
            self.continuous,
            np.concatenate([self.configurations, other.configurations]),
            np.concatenate([self.n, other.n]),
            np.concatenate([self.mean, other.mean]),
            np.concatenate([self.scatter, other.scatter]),
            self.skipped + other.skipped,
        )

    def _check_numbers(self) -> None:
        """Weights are above 0, and no sum of squares is below 0."""
        if not ((self.n > 0) & np.isfinite(self.n)).all():
            raise InputError(
                f"The n of moments must be finite and above 0, got {self.n.tolist()[:5]}.",
                hint="Leave out the configurations that no row has.",
            )
        if (np.diagonal(self.scatter, axis1=1, axis2=2) < 0).any():
            raise InputError("The scatter of moments must not be negative on its diagonal.")
        size = np.sqrt(np.diagonal(self.scatter, axis1=1, axis2=2))
        with np.errstate(invalid="ignore"):  # infinite ones are refused by their names
            off = np.abs(self.scatter - self.scatter.transpose(0, 2, 1))
        if np.isnan(self.mean).any() or np.isnan(self.scatter).any():
            raise InputError("The means and the scatter of moments must be numbers, got NaN.")
        if (off > 1e-6 * size[:, :, None] * size[:, None, :]).any():
            raise InputError("The scatter of moments must be symmetric.")

    def check_range(self) -> Moments:
        """Refuse squares that floats cannot hold, since every later number would be wrong."""
        names = [v.name for v in self.continuous]
        refuse_squares(names, self.n, self.mean, self.scatter)
        return self

    def _check_definite(self) -> None:
        """Refuse products that no rows have: some sum of squares would be below 0."""
        size = np.sqrt(np.diagonal(self.scatter, axis1=1, axis2=2))
        unit = np.where(size > 0, size, 1.0)
        scaled = self.scatter / unit[:, :, None] / unit[:, None, :]
        if scaled.size and np.linalg.eigvalsh(scaled).min() < -1e-6:
            raise InputError(
                "The scatter of moments must be positive semi-definite: no rows have products as "
                "large as these beside their squares."
            )

    @classmethod
    def of(
        cls, columns: Mapping[str, Sequence[float]], weights: Sequence[float] | None = None
    ) -> Moments:
        """The moments of columns of numbers, without groups; `weights` says how often each came.

        >>> float(Moments.of({"wait": [4, 8, 6]}).mean[0, 0])
        6.0
        >>> Moments.of({"wait": [4, 6]}, weights=[1, 3]) == Moments.of({"wait": [4, 6, 6, 6]})
        True
        """
        names = tuple(Variable(name, "continuous") for name in columns)
        try:
            data = np.array([np.asarray(c, dtype=np.float64) for c in columns.values()])
        except (TypeError, ValueError):
            data = np.zeros(0)
        if data.ndim != 2:
            raise InputError("The columns must be sequences of numbers of the same length.")
        if np.isinf(data).any():
            raise InputError("The columns must hold finite numbers.")
        rows = data.shape[1]
        w = None if weights is None else _checked_weights(weights, rows)
        gone = np.isnan(data).any(axis=0)
        skipped = int(gone.sum()) if w is None else total_of(w[gone])
        n, mean, scatter = _core.moments(list(data), None, 1, w)
        with_small_squares(list(data), n, mean, scatter)
        seen = np.flatnonzero(n)
        where = np.zeros((len(seen), 0), np.uint32)
        arrays = (where, n[seen], mean[seen], scatter[seen])
        return cls.trusted((), names, arrays, skipped).check_range()

    # --- what it is ---------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The discrete variables, then the continuous ones."""
        return tuple(v.name for v in (*self.discrete, *self.continuous))

    @property
    def total(self) -> float:
        """The weight of all rows counted."""
        return float(self.n.sum())

    @property
    def variance(self) -> Floats:
        """The maximum-likelihood variance of each variable in each configuration."""
        variance: Floats = np.diagonal(self.scatter, axis1=1, axis2=2) / self.n[:, None]
        return variance

    @property
    def covariance(self) -> Floats:
        """The maximum-likelihood covariance in each configuration."""
        return self.scatter / self.n[:, None, None]

    @property
    def correlation(self) -> Floats:
        """The correlations in each configuration; a constant variable has none and is refused.

        >>> Moments.of({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 0.0]}).correlation.round(3).tolist()
        [[[1.0, -0.5], [-0.5, 1.0]]]
        """
        return _correlations(self)

    def columns(self, name: str = "n") -> dict[str, list[Any]]:
        """The configurations as columns: a row for each, with its states, its weight `n`, and the
        mean and sd of each variable.

        Every frame library takes them: `pd.DataFrame(moments.columns())`.

        >>> Moments.of({"x": [1.0, 3.0]}).columns()
        {'n': [2.0], 'mean x': [2.0], 'sd x': [1.0]}
        """
        numbers: dict[str, NDArray[Any]] = {name: self.n}
        sd = np.sqrt(self.variance)
        for j, v in enumerate(self.continuous):
            numbers |= {f"mean {v.name}": self.mean[:, j], f"sd {v.name}": sd[:, j]}
        return labelled(self.discrete, self.configurations, numbers)

    # --- the algebra --------------------------------------------------------------------

    def __add__(self, other: object) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        return self.merged(other._on(self)).check_range()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return (
            self.discrete == other.discrete
            and self.continuous == other.continuous
            and self.skipped == other.skipped
            and all(
                np.array_equal(getattr(self, a), getattr(other, a))
                for a in ("configurations", "n", "mean", "scatter")
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __radd__(self, other: object) -> Moments:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def close_to(self, other: Moments, tolerance: float = 1e-12) -> bool:
        """Equal up to rounding: each number within `tolerance` of the scale it lives on."""
        tolerance = given_tolerance(tolerance)
        if not (
            isinstance(other, Moments)
            and self.discrete == other.discrete
            and self.continuous == other.continuous
            and abs(self.skipped - other.skipped) <= tolerance * (self.total + self.skipped)
            and np.array_equal(self.configurations, other.configurations)
        ):
            return False
        size = np.sqrt(np.diagonal(self.scatter, axis1=1, axis2=2))
        root = np.sqrt(self.n)[:, None]
        scale = np.abs(self.mean) * root + size
        return bool(
            np.allclose(self.n, other.n, rtol=tolerance, atol=0)
            and (np.abs(self.mean - other.mean) * root <= tolerance * scale).all()
            and (
                np.abs(self.scatter - other.scatter)
                <= tolerance * scale[:, :, None] * scale[:, None, :]
            ).all()
        )

    def marginal(self, names: Sequence[str] | str) -> Moments:
        """The moments of some of the variables; groups that become one are merged."""
        wanted = named(names)
        k = {v.name: i for i, v in enumerate(self.discrete)}
        d = {v.name: i for i, v in enumerate(self.continuous)}
        for name in wanted:
            if name not in k and name not in d:
                raise unknown_name("Variable", name, self.names, "in these moments")
        keep_k = [k[n] for n in wanted if n in k]
        keep_d = [d[n] for n in wanted if n in d]
        where = np.ascontiguousarray(self.configurations[:, keep_k])
        discrete = tuple(self.discrete[i] for i in keep_k)
        continuous = tuple(self.continuous[i] for i in keep_d)
        mean, scatter = self.mean[:, keep_d], self.scatter[:, keep_d][:, :, keep_d]
        return Moments.pooled(
            discrete, continuous, where, self.n, mean, scatter, self.skipped
        ).check_range()

    def __getitem__(self, key: Any) -> Moments:
        """The moments of one slice: `m["male"]` or `m[{"sex": "male"}]`.

        Nobody knows which slice a skipped row belongs to, so that a slice has skipped none.
        """
        names = [v.name for v in self.discrete]
        if not isinstance(key, Mapping):
            labels = key if isinstance(key, tuple) and len(names) > 1 else (key,)
            if len(labels) != len(names):
                raise InputError(
                    f"Expected {len(names)} labels, one for each of {', '.join(names) or 'none'}, "
                    f"got {len(labels)}."
                )
            key = dict(zip(names, labels, strict=True))
        hit = np.ones(len(self.n), dtype=bool)
        for name, state in key.items():
            if name not in names:
                raise unknown_name("Discrete variable", name, names, "in these moments")
            axis = names.index(name)
            hit &= self.configurations[:, axis] == self.discrete[axis].code(state)
        rest = [i for i, name in enumerate(names) if name not in key]
        parts = (self.configurations[hit][:, rest], self.n[hit], self.mean[hit], self.scatter[hit])
        discrete = tuple(self.discrete[i] for i in rest)
        return Moments.trusted(discrete, self.continuous, parts, 0 if key else self.skipped)

    # --- inside -------------------------------------------------------------------------

    def _on(self, like: Moments) -> Moments:
        if self.discrete == like.discrete and self.continuous == like.continuous:
            return self
        if set(self.names) != set(like.names):
            raise SchemaError(
                f"Moments of ({', '.join(self.names)}) cannot be added to moments of "
                f"({', '.join(like.names)})."
            )
        other = self.marginal(like.names)
        if other.discrete != like.discrete or other.continuous != like.continuous:
            raise SchemaError(
                "The states or kinds of the variables differ between the two moments.",
                hint="Read both tables with the same schema.",
            )
        return other

    def _rows(self, most: int = 60) -> tuple[list[str], list[list[str]], list[int], int]:
        head = [v.name for v in self.discrete] + ["n"]
        for v in self.continuous:
            head += [f"mean {v.name}", f"sd {v.name}"]
        sd = np.sqrt(self.variance)
        rows = []
        for i, codes in enumerate(self.configurations[:most]):
            row = [str(v.states[c]) for v, c in zip(self.discrete, codes, strict=True)]
            row.append(number(float(self.n[i])))
            for j in range(len(self.continuous)):
                row += [number(float(self.mean[i, j])), number(float(sd[i, j]))]
            rows.append(row)
        return head, rows, list(range(len(self.discrete), len(head))), len(self.n) - len(rows)

    def __str__(self) -> str:
        head, rows, right, more = self._rows()
        return table_text(head, rows, right=right) + statistic_tail(more, self.skipped)

    def __repr__(self) -> str:
        return f"Moments({one_line(', '.join(self.names))}; n = {number(self.total)})"

    def _repr_html_(self) -> str:
        head, rows, right, more = self._rows()
        return table_html(head, rows, right=right, more=more)


def _given_floats(given: Any, name: str) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The {name} of moments must be numbers, got {shown(given)}.") from None


def _checked_weights(weights: Sequence[float], rows: int) -> Floats:
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        w = np.zeros(0)
    if w.shape != (rows,) or not np.isfinite(w).all() or (w < 0).any():
        raise InputError(
            f"The weights must be a number of 0 or more for each of the {rows:,} rows."
        )
    return w


def _correlations(moments: Moments) -> Floats:
    """The correlation matrix of each configuration, or an error that names what is constant: what
    varies by no more than the rounding of its mean, as wherever a Gaussian is fitted.
    """
    rounding = (4 * np.finfo(float).eps * np.abs(moments.mean)) ** 2
    for row, column in np.argwhere(moments.variance <= rounding)[:1].tolist():
        raise _constant(moments, row, moments.continuous[column].name)
    size = np.sqrt(np.diagonal(moments.scatter, axis1=1, axis2=2))
    r: Floats = np.clip(moments.scatter / size[:, :, None] / size[:, None, :], -1.0, 1.0)
    np.einsum("ijj->ij", r)[...] = 1.0
    return r


def _constant(moments: Moments, row: int, name: str) -> InputError:
    where = described(moments.discrete, moments.configurations[row].tolist())
    apart = "Take the slices apart: moments[{…}].correlation." if moments.discrete else ""
    if moments.n[row] <= 1:
        why = f"One row has no spread, so that {name!r} has no correlation{where}."
        return InputError(why, hint=apart or "Give more rows.")
    rest = [n for n in moments.names if n != name]
    out = f"Leave it out: moments.marginal({rest})." if len(moments.continuous) > 1 else ""
    why = f"{name!r} is constant{where}, so that it has no correlation."
    return InputError(why, hint=f"{out} {apart}".strip())
