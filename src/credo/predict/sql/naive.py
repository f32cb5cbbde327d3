"""Naive Bayes as sums in SQL: ln P(c) and, for each feature, ln P(x | c) or 0 where it is missing.

ln P(c, x) = ln P(c) + Σ_j ln P(x_j | c)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import combinations
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.model.naive_bayes.features import Bag, Normal, Normals, States
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.sql.reading import Reader
from credo.predict.sql.steps import IMPOSSIBLE, added

_TOGETHER = 4  # numbers that vary together of which every pattern of gaps is written
_FARTHEST = 1e145  # how many spreads away a number may be: its square stays finite


def naive_numbers(model: NaiveBayesModel, present: Collection[str]) -> int:
    """How many numbers the statement of a model writes."""
    total = 0
    for f in model.features:
        if isinstance(f, States) and f.variable.name in present:
            total += f.variable.arity
        elif not isinstance(f, States):
            k = len(f.names)
            total += k * (k + 3) // 2 if isinstance(f, Normals) else 2 * k
    return total * len(model.classes)


def naive_scores(
    model: NaiveBayesModel, reader: Reader, present: Collection[str], smooth: bool
) -> list[str]:
    """The columns of ln P(class, row), one a class."""
    n = reader.dialect.number
    terms = [[n(v)] for v in finite_logs(model.log_prior)]
    for f in model.features:
        if not any(name in present for name in f.names):
            continue
        for each, term in zip(terms, _terms(f, reader, present, smooth), strict=False):
            each.append(term)
    return [reader.steps.define(added(each)) for each in terms]


def _terms(f: Any, reader: Reader, present: Collection[str], smooth: bool) -> Iterator[str]:
    """ln P(value | class) of a feature, for each class; nothing of one that tells nothing."""
    if isinstance(f, States):
        return _of_states(f, reader, smooth)
    if isinstance(f, Normal):
        return iter(()) if f.idle else _of_normal(f, reader)
    if isinstance(f, Normals):
        return _of_normals(f, reader, present) if f.n.any() else iter(())
    if isinstance(f, Bag):
        return _of_counts(f, reader, present)
    raise InputError(
        f"The feature {f.names[0]!r} is a {type(f).__name__.lower()} density, with a bump for each "
        "row of training, which has no short form in SQL.",
        hint="Use kinds='gaussian' or 'binned' for it.",
    )


def _of_states(f: States, reader: Reader, smooth: bool) -> Iterator[str]:
    x = reader.above(f.variable.name) if f.above else reader.code(f.variable)
    new = finite_logs(f.unseen)
    for c, row in enumerate(f.log_theta):
        values = [*finite_logs(row), 0.0, new[c] if smooth else 0.0]
        yield reader.dialect.lookup(values, f"{x} + 1")


def _of_normal(f: Normal, reader: Reader) -> Iterator[str]:
    y = reader.number(f.name, scale=f.scale)  # its slope is the same for all classes
    zero = reader.dialect.number(0.0)
    for mean, variance in zip(f.mean.tolist(), f.variance.tolist(), strict=True):
        n = reader.dialect.number
        found = density(
            reader, f"{y} - {n(mean)}", n(1 / math.sqrt(2 * variance)),
            n(-0.5 * math.log(2 * math.pi * variance)),
        )  # fmt: skip
        yield f"CASE WHEN {y} IS NULL THEN {zero} ELSE {found} END"


def density(reader: Reader, away: str, scale: str, top: str) -> str:
    """ln of a Gaussian density: `top` − (|away| · `scale`)², finite however far away."""
    n = reader.dialect.number
    return f"{top} - POWER(LEAST(ABS({away}) * {scale}, {n(_FARTHEST)}), {n(2.0)})"


def _of_normals(f: Normals, reader: Reader, present: Collection[str]) -> Iterator[str]:
    """Numbers that vary together: each pattern of gaps has a density of its own.

    Beyond a few numbers only rows with all of them, or none, are answered.
    """
    n = reader.dialect.number
    places = [k for k, name in enumerate(f.names) if name in present]
    columns = {k: reader.number(f.names[k]) for k in places}
    sizes = range(1, len(places) + 1) if len(places) <= _TOGETHER else [len(places)]
    patterns = [p for size in sizes for p in combinations(places, size)]
    if len(places) > _TOGETHER:
        seen = " + ".join(f"CASE WHEN {y} IS NULL THEN 0 ELSE 1 END" for y in columns.values())
        there = reader.steps.define(seen)
        reader.refused.append(f"{there} > 0 AND {there} < {len(places)}")
    for mean, covariance in zip(f.mean, f.covariance, strict=True):
        cases = []
        for pattern in patterns:
            seen = " AND ".join(
                f"{y} IS {'NOT ' if k in pattern else ''}NULL" for k, y in columns.items()
            )
            at = list(pattern)
            root = np.linalg.cholesky(covariance[np.ix_(at, at)])
            whiten = np.linalg.inv(root) / math.sqrt(2)
            top = -0.5 * len(at) * math.log(2 * math.pi) - float(np.log(np.diagonal(root)).sum())
            found = [n(top)]
            for row in range(len(at)):
                line = added([
                    f"{n(whiten[row, j])} * ({columns[at[j]]} - {n(mean[at[j]])})"
                    for j in range(row + 1)
                ])  # fmt: skip
                found.append(f"-POWER(LEAST(ABS({line}), {n(_FARTHEST)}), {n(2.0)})")
            cases.append(f"WHEN {seen} THEN {added(found)}")
        yield f"CASE {' '.join(cases)} ELSE {n(0.0)} END"


def _of_counts(f: Bag, reader: Reader, present: Collection[str]) -> Iterator[str]:
    """Words: a count times ln θ, 0 where nobody looked; a negative count has no answer."""
    n = reader.dialect.number
    words = [(k, reader.number(name)) for k, name in enumerate(f.names) if name in present]
    reader.refused += [f"{y} < {n(0.0)}" for _, y in words]
    for row in f.log_theta:
        terms = []
        for k, y in words:
            here = f"{y} * {n(row[k])}" if np.isfinite(row[k]) else n(IMPOSSIBLE)
            terms.append(f"CASE WHEN {y} > {n(0.0)} THEN {here} ELSE {n(0.0)} END")
        yield added(terms)


def finite_logs(values: Any) -> list[float]:
    """Logarithms with `IMPOSSIBLE` in the place of −∞."""
    return [float(v) if v > -math.inf else IMPOSSIBLE for v in values]
