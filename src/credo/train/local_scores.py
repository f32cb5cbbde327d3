"""Local scores computed in Python, a batch of families at a time.

Conditional Gaussian: a continuous child with discrete parents D and continuous parents C is one
regression for each configuration d of D, with residual variance σ²_d over n_d rows:

    local = −½ Σ_d n_d (ln 2πσ²_d + 1) − penalty · (free parameters)

BDe with a prior network B: pseudo-counts α_ijk = ess · P_B(x_i = k, parents = j).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.errors import InputError, SchemaError, unknown_name
from credo.model.network import Network
from credo.model.reals import shown
from credo.schema import Variable
from credo.stats.family import Families, Family
from credo.stats.moments import Moments
from credo.stats.tally import Source

__all__ = ["of_function", "of_mixed", "of_prior_network"]

Floats = NDArray[np.float64]
Asked = Sequence[tuple[int, Sequence[int]]]
Local = Callable[[Asked], Floats]

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
    from scipy.special import gammaln

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
            out[i] = (gammaln(alpha[cell] + n[cell]) - gammaln(alpha[cell])).sum() - (
                gammaln(above[row] + rows[row]) - gammaln(above[row])
            ).sum()
        return out

    return local


def of_mixed(
    source: Source, variables: Sequence[Variable], tables: _core.FamilyScores, penalty: float
) -> Local:
    """Conditional Gaussian scores; `tables` scores the families of discrete variables alone."""
    names = [v.name for v in variables]
    discrete = [i for i, v in enumerate(variables) if v.is_discrete]
    continuous = [i for i, v in enumerate(variables) if not v.is_discrete]
    at = {v: k for k, v in enumerate(discrete)}
    kept: dict[tuple[int, ...], Moments] = {}

    def moments(groups: set[tuple[int, ...]]) -> None:
        """The moments of all continuous variables by each set of discrete parents, in one pass."""
        new = [g for g in sorted(groups) if g not in kept]
        *others, last = (names[c] for c in continuous)
        families = [Family(last, (*(names[d] for d in g), *others)) for g in new]
        if not families:
            return
        tally = source.tally(Families.of(families))
        for group, family in zip(new, families, strict=True):
            found = tally[family]
            assert isinstance(found, Moments)
            kept[group] = found

    def line(child: int, parents: Sequence[int]) -> float:
        group = tuple(sorted(p for p in parents if p in at))
        found = kept[group]
        order = [v.name for v in found.continuous]
        inside = [order.index(names[p]) for p in sorted(parents) if p not in at]
        with_child = [*inside, order.index(names[child])]
        seen = found.n > 0
        n, scatter = found.n[seen], found.scatter[seen]
        own = scatter[:, with_child[-1], with_child[-1]]
        if not (own > 0).all():
            return -math.inf
        left = own
        if inside:
            scale = np.sqrt(np.diagonal(scatter, axis1=1, axis2=2)[:, with_child])
            if not (scale > 0).all() or (n <= len(inside) + 1).any():
                return -math.inf
            unit = scatter[:, with_child][:, :, with_child] / scale[:, :, None] / scale[:, None, :]
            sign, whole = np.linalg.slogdet(unit)
            sign_above, above = np.linalg.slogdet(unit[:, :-1, :-1])
            if (sign <= 0).any() or (sign_above <= 0).any():
                return -math.inf
            share = np.exp(whole - above)
            if (share <= COLLINEAR).any():
                return -math.inf
            left = own * share
        likelihood = -0.5 * float((n * (np.log(2 * np.pi * left / n) + 1)).sum())
        rows = math.prod(variables[d].arity for d in group)
        return likelihood - penalty * rows * (2 + len(inside))

    def local(asked: Asked) -> Floats:
        out = np.full(len(asked), -math.inf)
        of_tables = [i for i, (c, _) in enumerate(asked) if c in at]
        families = [(at[asked[i][0]], [at.get(p, -1) for p in asked[i][1]]) for i in of_tables]
        fine = [k for k, (_, ps) in enumerate(families) if -1 not in ps]
        found = tables.score([families[k] for k in fine])
        for k, value in zip(fine, found, strict=True):
            out[of_tables[k]] = value
        lines = [i for i, (c, _) in enumerate(asked) if c not in at]
        moments({tuple(sorted(p for p in asked[i][1] if p in at)) for i in lines})
        for i in lines:
            out[i] = line(*asked[i])
        return out

    return local
