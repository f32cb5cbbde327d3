"""Rows drawn from a mixture: first the class, then each part given it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Schema, Variable
from credo.data.table import Table
from credo.model.mixtures.mixture import Mixture
from credo.model.mixtures.parts import Gaussians, Rates, Tables
from credo.stats.block import Block

__all__ = ["drawn", "sampled"]


def drawn(mixture: Mixture, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The class of each of n rows."""
    steps = np.cumsum(mixture.weights)
    where = np.searchsorted(steps, rng.random(n) * steps[-1], side="right")
    label: NDArray[np.intp] = np.minimum(where, mixture.k - 1)
    return label


def sampled(mixture: Mixture, n: int, rng: np.random.Generator) -> Table:
    """The rows, with their class in the last column."""
    label = drawn(mixture, n, rng)
    variables, arrays = [], []
    for part in mixture.parts:
        if isinstance(part, Tables):
            steps = np.cumsum(part.values, axis=1)[label]
            code = (rng.random(n)[:, None] * steps[:, -1:] >= steps).sum(axis=1)
            arity = part.variable.arity
            kind = np.uint8 if arity < 256 else np.uint16
            variables.append(part.variable)
            arrays.append(np.minimum(code, arity - 1).astype(kind))
            continue
        variables += [Variable(name, "continuous") for name in part.names]
        if isinstance(part, Rates):
            arrays.append(rng.poisson(part.rates[label]).astype(np.float64))
            continue
        arrays += list(_normal(part, label, rng).T)
    hidden = Variable(mixture.name, "discrete", tuple(range(mixture.k)))
    variables.append(hidden)
    arrays.append(label.astype(np.uint8 if mixture.k < 256 else np.uint16))
    block = Block(Schema(tuple(variables)), tuple(np.ascontiguousarray(a) for a in arrays))
    return Table(block)


def _normal(
    part: Gaussians, label: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    noise = rng.standard_normal((len(label), len(part.names)))
    out = np.empty_like(noise)
    if part.form in ("diagonal", "spherical"):
        out[:] = part.means[label] + noise * np.sqrt(part.variances[label])
        return out
    for c, root in enumerate(np.linalg.cholesky(part.matrices)):
        mine = label == c
        out[mine] = part.means[c] + noise[mine] @ root.T
    return out
