"""Local scores computed in Python, a batch of families at a time, and what native ones ask for.

BDe with a prior network B: pseudo-counts α_ijk = ess · P_B(x_i = k, parents = j).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.schema import Variable
from credo.model.distributions.log_rising import log_rising
from credo.model.networks.network import Network
from credo.model.values.reals import shown
from credo.stats.family import Families, Family
from credo.stats.moments import Moments
from credo.stats.tally import Source

__all__ = ["moments_by_group", "of_function", "of_prior_network"]

Floats = NDArray[np.float64]
Asked = Sequence[tuple[int, Sequence[int]]]
Local = Callable[[Asked], Floats]
MomentsOf = Callable[[Sequence[int], Sequence[int]], tuple[Floats, Floats, Floats]]

COLLINEAR = 1e-11  # the least share of a variance that is left after regression


def of_function(source: Source, variables: Sequence[Variable], function: Any) -> Local:
    """The user's own score: a function of a family's statistic."""
    names = [v.name for v in variables]

    def local(asked: Asked) -> Floats:
        families = [Family(names[c], tuple(sorted(names[p] for p in ps))) for c, ps in asked]
        tally = source.tally(Families.of(families))
        out = np.empty(len(families))
        for i, family in enumerate(families):
            value = function(tally[family])
            try:
                out[i] = float(value)
            except (TypeError, ValueError):
                out[i] = math.nan
            if math.isnan(out[i]) or out[i] == math.inf:
                raise InputError(
                    f"The score function must return a number, got {shown(value)} for the family "
                    f"{family}."
                )
        return out

    return local


def of_prior_network(
    source: Source, variables: Sequence[Variable], prior: Network, ess: float
) -> Local:
    """BDe (Heckerman, Geiger & Chickering 1995): pseudo-counts from a prior network."""
    names = [v.name for v in variables]
    for variable in variables:
        if variable.name not in prior.names:
            raise unknown_name("Variable", variable.name, prior.names, "in the prior network")
        if prior.variable(variable.name) != variable:
            raise SchemaError(
                f"The states of {variable.name!r} differ between the table and the prior network.",
                hint="Read the table with the network's schema: cr.read(…, net.schema).",
            )

    def local(asked: Asked) -> Floats:
        families = [Family(names[c], tuple(sorted(names[p] for p in ps))) for c, ps in asked]
        tally = source.tally(Families.of(families))
        out = np.empty(len(families))
        for i, family in enumerate(families):
            n = np.asarray(tally[family], dtype=np.float64)
            joint = prior.p(list(family.names) if len(family.names) > 1 else family.names[0])
            p = np.fromiter(joint.values(), dtype=np.float64, count=n.size).reshape(n.shape)
            alpha = ess * p
            if ((alpha == 0) & (n > 0)).any():
                out[i] = -math.inf
                continue
            above, rows = alpha.sum(axis=-1), n.sum(axis=-1)
            cell, row = alpha > 0, above > 0
            cells = log_rising(alpha[cell], n[cell]).sum()
            out[i] = cells - log_rising(above[row], rows[row]).sum()
        return out

    return local


def moments_by_group(source: Source, variables: Sequence[Variable]) -> MomentsOf:
    """What conditional Gaussian scores ask for: moments of columns by sets of discrete parents."""
    names = [v.name for v in variables]

    def moments(group: Sequence[int], columns: Sequence[int]) -> tuple[Floats, Floats, Floats]:
        *others, last = (names[c] for c in columns)
        family = Family(last, (*(names[d] for d in group), *others))
        found = source.tally([family])[family]
        assert isinstance(found, Moments)
        place = {v.name: i for i, v in enumerate(found.continuous)}
        order = [place[names[c]] for c in columns]
        mean, scatter = found.mean, found.scatter
        if order != list(range(len(order))):
            mean, scatter = mean[:, order], scatter[:, order][:, :, order]
        return tuple(np.ascontiguousarray(a) for a in (found.n, mean, scatter))  # type: ignore[return-value]

    return moments
