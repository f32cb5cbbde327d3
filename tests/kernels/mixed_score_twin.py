"""Conditional Gaussian scores in NumPy, one family at a time."""

import math

import numpy as np

from credo.stats.family import Family

COLLINEAR = 1e-11


def line(source, variables, penalty, child, parents) -> float:
    """The score of a continuous child, from the moments of its own columns."""
    by_name = {v.name: v for v in variables}
    discrete = [p for p in parents if by_name[p].is_discrete]
    inside = [p for p in parents if not by_name[p].is_discrete]
    family = Family(child, (*discrete, *inside))
    found = source.tally([family])[family]
    place = {v.name: i for i, v in enumerate(found.continuous)}
    order = [place[n] for n in (*inside, child)]
    seen = found.n > 0
    n, scatter = found.n[seen], found.scatter[seen][:, order][:, :, order]
    own = scatter[:, -1, -1]
    if not (own > 0).all():
        return -math.inf
    left = own
    if inside:
        scale = np.sqrt(np.diagonal(scatter, axis1=1, axis2=2))
        if not (scale > 0).all() or (n <= len(inside) + 1).any():
            return -math.inf
        unit = scatter / scale[:, :, None] / scale[:, None, :]
        sign, whole = np.linalg.slogdet(unit)
        sign_above, above = np.linalg.slogdet(unit[:, :-1, :-1])
        if (sign <= 0).any() or (sign_above <= 0).any():
            return -math.inf
        share = np.exp(whole - above)
        if (share <= COLLINEAR).any():
            return -math.inf
        left = own * share
    likelihood = -0.5 * float((n * (np.log(2 * np.pi * left / n) + 1)).sum())
    rows = math.prod(by_name[d].arity for d in discrete)
    return likelihood - penalty * rows * (2 + len(inside))
