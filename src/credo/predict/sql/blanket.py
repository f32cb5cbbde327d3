"""The short way: rows whose Markov blanket is observed, each family looked up in its table.

s(t) = ln P(t | parents) + Σ_children ln P(x | t, other parents)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Variable
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.networks.softmax import Softmax
from credo.predict.sql.naive import density, finite_logs
from credo.predict.sql.reading import Reader
from credo.predict.sql.relevant import Relevant
from credo.predict.sql.steps import added

__all__ = ["blanket_numbers", "blanket_scores", "line", "log_table"]

Floats = NDArray[np.float64]


def blanket_numbers(net: Network, what: Relevant) -> int:
    """How many numbers of tables the short way writes."""
    total = 0
    for name in (what.target, *what.children):
        local = net.distributions[name]
        total += local.values.size if isinstance(local, Cpt) else 3 * local.intercept.size
    return total


def blanket_scores(
    net: Network, what: Relevant, reader: Reader, columns: Mapping[str, str]
) -> list[str]:
    """The expressions of s(t), one a state; `columns` are the codes and numbers of variables."""
    many = net.variable(what.target).arity
    terms: list[list[str]] = [[] for _ in range(many)]
    for name in (what.target, *what.children):
        local = net.distributions[name]
        assert not isinstance(local, Softmax)  # refused before
        found = (
            _of_table(local, what.target, reader, columns)
            if isinstance(local, Cpt)
            else _of_line(local, what.target, reader, columns)
        )
        for each, term in zip(terms, found, strict=True):
            each.append(term)
    return [added(each) for each in terms]


def log_table(local: Cpt) -> Floats:
    """ln P(x | parents), the child's axis last; −∞ for 0."""
    with np.errstate(divide="ignore"):
        out: Floats = np.log(local.values)
    return out


def _of_table(local: Cpt, target: str, reader: Reader, columns: Mapping[str, str]) -> list[str]:
    """ln P(x | t, …) for each t: a place in a list for each configuration of the others."""
    variables = list(local.variables)
    log = log_table(local)
    at = next(k for k, v in enumerate(variables) if v.name == target)
    by_target = np.moveaxis(log, at, 0)
    rest = [v for v in variables if v.name != target]
    if local.name != target:  # a leaf that is missing, or no state, tells nothing
        nothing = np.zeros((*by_target.shape[:-1], 2))
        by_target = np.concatenate([by_target, nothing], axis=-1)
    place = _place(rest, by_target.shape[1:], columns, reader, last_whole=local.name != target)
    if place is None:
        return [reader.dialect.number(v) for v in finite_logs(by_target.ravel())]
    return [reader.dialect.lookup(finite_logs(table.ravel()), place) for table in by_target]


def _of_line(
    local: LinearGaussian, target: str, reader: Reader, columns: Mapping[str, str]
) -> list[str]:
    """ln of the density of a child for each t: the line of the other parents' configuration."""
    discrete = list(local.discrete)
    at = next(k for k, v in enumerate(discrete) if v.name == target)
    rest = [v for v in discrete if v.name != target]
    parts = [local.intercept, local.variance, *np.moveaxis(local.coefficients, -1, 0)]
    first, spread, *slopes = (np.moveaxis(np.asarray(p), at, 0) for p in parts)
    place = _place(rest, first.shape[1:], columns, reader, last_whole=False)

    def one(values: Floats) -> str:
        flat = np.asarray(values, np.float64).ravel().tolist()
        return (
            reader.dialect.number(flat[0]) if place is None else reader.dialect.lookup(flat, place)
        )

    return [
        line(local, reader, columns, one(first[t]), [one(b[t]) for b in slopes],
             one(1 / np.sqrt(2 * spread[t])), one(-0.5 * np.log(2 * math.pi * spread[t])))
        for t in range(len(first))
    ]  # fmt: skip


def line(
    local: LinearGaussian,
    reader: Reader,
    columns: Mapping[str, str],
    intercept: str,
    slopes: Sequence[str],
    scale: str,
    top: str,
    beside: Sequence[str] = (),
) -> str:
    """ln N(y; a + bᵀ parents, σ²), and 0 where a number is missing or `beside` holds."""
    y = columns[local.name]
    above = [columns[p.name] for p in local.continuous]
    mean = added([intercept, *(f"{b} * {p}" for b, p in zip(slopes, above, strict=True))])
    gone = " OR ".join([*beside, *(f"{c} IS NULL" for c in (y, *above))])
    found = density(reader, f"{y} - {mean}", scale, top)
    return f"CASE WHEN {gone} THEN {reader.dialect.number(0.0)} ELSE {found} END"


def _place(
    variables: Sequence[Variable],
    shape: Sequence[int],
    columns: Mapping[str, str],
    reader: Reader,
    *,
    last_whole: bool,
) -> str | None:
    """The place, from 1, of a configuration in a list: a column that all states of t share.

    A code beyond the states is brought back, so that no place lies outside; a row with one is not
    answered this way. None where there is nothing to look up.
    """
    if not variables:
        return None
    if last_whole and len(variables) == 1:
        return f"{columns[variables[0].name]} + 1"
    strides: Any = np.cumprod([1, *shape[:0:-1]])[::-1].tolist()
    terms = ["1"]
    for k, (v, stride) in enumerate(zip(variables, strides, strict=True)):
        code = columns[v.name]
        if not (last_whole and k == len(variables) - 1):
            code = f"LEAST({code}, {v.arity - 1})"
        terms.append(code if stride == 1 else f"{stride} * {code}")
    return reader.steps.define(added(terms))
