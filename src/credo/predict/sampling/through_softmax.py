"""Rows of a network with softmax families: every variable drawn given its parents, in order.

A cell's chance is a function of the seed, its variable and its row, as for all samples. Evidence
may lie on variables whose ancestors are all observed: nothing above it is left to be told by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from credo import _core
from credo.core.bins import Bins
from credo.core.errors import InputError
from credo.data import Table
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.softmax import Softmax
from credo.predict.questions.evidence import Evidence
from credo.stats.block import Block
from credo.stats.rows import code_type

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["SoftmaxSampler", "softmax_sampler"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SoftmaxSampler:
    """Draws rows of a network in the order of its graph."""

    net: Network
    evidence: Evidence

    def rows(self, n: int, seed: int, *, first: int = 0, threads: int = 1) -> Table:
        """Rows first … first + n of the endless table of a seed."""
        net, schema = self.net, self.net.schema
        columns: dict[str, NDArray[Any]] = {}
        for name in net.dag.order:
            local, at = net.distributions[name], schema.index(name)
            noise = _core.normals(n, seed, at, first, threads)
            codes = tuple(columns[v.name] for v in local.parents if v.is_discrete)
            if isinstance(local, LinearGaussian):
                x = local.intercept[codes] + np.sqrt(local.variance)[codes] * noise
                for k, parent in enumerate(local.continuous):
                    x = x + local.coefficients[..., k][codes] * columns[parent.name]
                value = self.evidence.values.get(name)
                columns[name] = x if value is None else np.full(n, value)
                continue
            if name in self.evidence.hard:
                columns[name] = np.full(n, self.evidence.hard[name], np.intp)
                continue
            if isinstance(local, Softmax):
                numbers = [columns[v.name] for v in local.continuous]
                p = np.exp(local.log_probabilities(codes, numbers))
            else:
                p = np.broadcast_to(local.values[codes], (n, local.child.arity))
            upto = np.cumsum(p, axis=1)
            u = ndtr(noise)[:, None] * upto[:, -1:]
            columns[name] = (upto[:, :-1] <= u).sum(axis=1)
        raw: dict[str, Floats] = {}
        for name, scale in schema.scales.items():
            if name in self.evidence.numbers:
                raw[name] = np.full(n, self.evidence.numbers[name])
            elif isinstance(scale, Bins):
                other = len(schema) + schema.index(name)
                share = ndtr(_core.normals(n, seed, other, first, threads))
                raw[name] = scale.draw(columns[name], share)
        arrays = tuple(
            columns[v.name].astype(code_type(v.arity)) if v.is_discrete else columns[v.name]
            for v in schema.variables
        )
        return Table(Block(schema, arrays), raw=raw)


def softmax_sampler(net: Network, evidence: Evidence) -> SoftmaxSampler:
    """The sampler; evidence below something that is not observed is refused."""
    known = {*evidence.hard, *evidence.values}
    for name in evidence.names:
        above = [n for n in net.dag.ancestors([name]) if n not in known]
        if above or name in evidence.soft:
            what = f"rests on {above[0]!r}, which is not" if above else "is not known for sure"
            raise InputError(
                f"Rows of a network with a softmax are drawn from parents to children: {name!r} is "
                f"given and {what}.",
                hint="Give its ancestors too, or draw without it.",
            )
    return SoftmaxSampler(net, evidence)
