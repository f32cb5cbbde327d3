"""What a distribution was learned from, as JSON and arrays: statistic, prior, estimate, ties.

The arrays stand in the file in the order in which they are written here, and are taken in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.model.networks.line_prior import LINE_FIELDS, LinePrior
from credo.model.networks.linear_gaussian import LinePosterior
from credo.model.values.learned import Learned
from credo.stats.counts import Counts
from credo.stats.moments import Moments

__all__ = ["learned_json", "learned_of", "posterior_json", "posterior_of"]

Floats = NDArray[np.float64]
Put = Callable[[Floats], dict[str, Any]]
Take = Callable[[Any, str], Floats]

_POSTERIOR = ("weight", "centre", "mean", "slope", "spread", "alpha", "beta")
_MOMENTS = ("configurations", "n", "mean", "scatter")


def posterior_json(posterior: LinePosterior, array: Put) -> dict[str, Any]:
    """The posterior of lines."""
    return {what: array(getattr(posterior, what)) for what in _POSTERIOR}


def posterior_of(said: Any, take: Take, what: str) -> LinePosterior | None:
    """The posterior that was written, or None."""
    if said is None:
        return None
    _mapping(said, what)
    return LinePosterior(*(take(said.get(part), what) for part in _POSTERIOR))


def learned_json(learned: Learned, array: Put) -> dict[str, Any]:
    """What a distribution was learned from."""
    out: dict[str, Any] = {"estimate": learned.estimate, "tied": list(learned.tied)}
    found = learned.observed
    if isinstance(found, Counts):
        dense = found.dense().values
        out["whole"] = dense.dtype.kind == "i"
        out["skipped"] = found.skipped
        out["counts"] = array(dense.astype(np.float64))
    else:
        out["skipped"] = found.skipped
        out["moments"] = {m: array(getattr(found, m).astype(np.float64)) for m in _MOMENTS}
    if isinstance(learned.prior, LinePrior):
        out["line prior"] = {p: np.asarray(getattr(learned.prior, p)).tolist() for p in LINE_FIELDS}
    elif learned.prior is not None:
        out["prior"] = array(_compact(learned.prior))
    return out


def _compact(prior: Floats) -> Floats:
    """The one number or row behind pseudo-counts that repeat."""
    if prior.size and (prior == prior.flat[0]).all():
        return np.array(prior.flat[0])
    if prior.ndim > 1 and (prior == prior[(0,) * (prior.ndim - 1)]).all():
        return np.array(prior[(0,) * (prior.ndim - 1)])
    return prior


def learned_of(said: Any, family: tuple[Variable, ...], take: Take, what: str) -> Learned | None:
    """What was written of a family: parents in order, then the child; None if nothing was."""
    if said is None:
        return None
    _mapping(said, what)
    skipped, tied = said.get("skipped", 0), said.get("tied", [])
    if not isinstance(tied, list) or not all(isinstance(t, str) for t in tied):
        raise InputError(f"{what}: the names it is tied to are not names.")
    if not isinstance(skipped, (int, float)) or isinstance(skipped, bool):
        raise InputError(f"{what}: the rows it skipped are not a number.")
    observed: Counts | Moments
    if "counts" in said:
        values: NDArray[Any] = take(said["counts"], what)
        if said.get("whole") is True:
            if not ((values == np.floor(values)) & (values < 2**53)).all():
                raise InputError(f"{what}: its counts are not whole.")
            values = values.astype(np.int64)
        observed = Counts(family, values, None, skipped)
    else:
        observed = _moments(said.get("moments"), family, take, what, skipped)
    return Learned(
        observed, str(said.get("estimate")), _prior(said, family, take, what), tuple(tied)
    )


def _moments(
    said: Any, family: tuple[Variable, ...], take: Take, what: str, skipped: float
) -> Moments:
    _mapping(said, what)
    where, n, mean, scatter = (take(said.get(m), what) for m in _MOMENTS)
    discrete = tuple(v for v in family if v.is_discrete)
    continuous = tuple(v for v in family if not v.is_discrete)
    arities = np.array([v.arity for v in discrete])
    if (
        where.ndim != 2
        or where.shape[1] != len(discrete)
        or not ((where >= 0) & (where < arities) & (where == np.floor(where))).all()
    ):
        raise InputError(f"{what}: the configurations it was learned from are not its own.")
    if not ((n > 0) & np.isfinite(n)).all() or n.ndim != 1:
        raise InputError(f"{what}: the weights it was learned from are not all above 0.")
    return Moments(discrete, continuous, where.astype(np.uint32), n, mean, scatter, skipped)


def _prior(said: Any, family: tuple[Variable, ...], take: Take, what: str) -> Any:
    if "line prior" in said:
        line = said["line prior"]
        if not isinstance(line, dict) or {*line, LINE_FIELDS[-1]} != set(LINE_FIELDS):
            raise InputError(f"{what}: its prior is not one of a line.")
        prior = LinePrior(**line)
        shape = tuple(v.arity for v in family[:-1] if v.is_discrete)
        if {np.shape(prior.mean), np.shape(prior.kappa)} not in ({()}, {shape}):
            raise InputError(f"{what}: its prior is not one of its configurations.")
        return prior
    if "prior" not in said:
        return None
    values = take(said["prior"], what)
    shape = tuple(v.arity for v in family if v.is_discrete)
    try:
        whole = np.broadcast_to(values, shape)
    except ValueError:
        raise InputError(f"{what}: its prior does not fit its table.") from None
    if not ((whole > 0) & np.isfinite(whole)).all():
        raise InputError(f"{what}: its prior pseudo-counts must be above 0.")
    return whole


def _mapping(said: Any, what: str) -> None:
    if not isinstance(said, dict):
        raise InputError(f"{what}: what it was learned from cannot be read.")
