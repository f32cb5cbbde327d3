"""What is known of continuous variables in a mixed network: a mixture of Gaussians.

    p(t | e) = Σ_u P(u | e) · N(t; m_u, S_u)

`u` are the discrete variables, not observed, that the group of lines of the targets depends on.
Their joint posterior comes from the discrete plan, with the continuous evidence in it; m_u and S_u
from the algebra of lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.model.answers.mixed_joint import MixedJoint, conditional
from credo.model.answers.multivariate_mixture import MultivariateMixture
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.mixtures.labels import Labels
from credo.predict.mixed.conditioning import Conditioned, conditioned
from credo.predict.mixed.gaussian_groups import GaussianGroup, gaussian_groups, refuse_large

if TYPE_CHECKING:
    from credo.model.answers.approximation import Approximation
    from credo.model.networks.network import Network
    from credo.predict.questions.evidence import Evidence

__all__ = ["Cases", "cases_of", "mixed_joint", "mixture"]

SMALLEST = 1e-290
"""A variance is at least this."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Cases:
    """The Gaussians of the targets: the discrete variables that choose among them, and those.

    `variables` come first the discrete targets, then the others; the Gaussians depend on
    `parents`, some of them.
    """

    group: GaussianGroup
    targets: tuple[str, ...]
    variables: tuple[Variable, ...]
    parents: tuple[Variable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the discrete variables."""
        return tuple(v.name for v in self.variables)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many states they have."""
        return tuple(v.arity for v in self.variables)

    def conditioned(self, evidence: Evidence, drawn: Any = None) -> tuple[Floats, Floats]:
        """Means [B, u…, t] and covariances [B, u…, t, t] over all the variables' states."""
        values = {n: np.array([v]) for n, v in evidence.values.items()}
        hard = {
            p.name: evidence.hard[p.name] for p in self.group.parents if p.name in evidence.hard
        }
        found = conditioned(self.group, hard, values, self.targets, drawn)
        return self._spread(found)

    def _spread(self, found: Conditioned) -> tuple[Floats, Floats]:
        own = [p.name for p in self.parents]
        kept = [n for n in self.names if n in own]
        turn = [0, *(1 + own.index(n) for n in kept)]
        sizes = [v.arity if v.name in own else 1 for v in self.variables]
        t = len(self.targets)
        mean = found.mean.transpose([*turn, len(turn)])
        cov = found.covariance.transpose([*turn, len(turn), len(turn) + 1])
        return mean.reshape(len(mean), *sizes, t), cov.reshape(len(cov), *sizes, t, t)


def cases_of(
    net: Network, continuous: Sequence[str], discrete: Sequence[str], evidence: Evidence
) -> Cases:
    """Which discrete variables choose among the Gaussians of the targets."""
    groups = gaussian_groups(net, evidence.values.keys(), continuous)
    group = next(g for g in groups if continuous[0] in g.hidden)
    parents = group.free(evidence.hard)
    refuse_large(group, evidence.hard, continuous)
    others = [p for p in parents if p.name not in discrete]
    variables = (*(net.variable(n) for n in discrete), *others)
    return Cases(group, tuple(continuous), variables, parents)


def mixture(
    cases: Cases,
    weights: Floats,
    means: Floats,
    covariances: Floats,
    approximation: Approximation | None = None,
) -> Any:
    """A Gaussian or a mixture of them, of one variable or of several.

    `weights` [u…] over the cases' variables, `means` [u…, t] and `covariances` [u…, t, t] too.
    """
    names, t = cases.targets, len(cases.targets)
    shape = weights.shape
    p = weights.ravel()
    kept = np.flatnonzero(p > 0)
    m = np.broadcast_to(means, (*shape, t)).reshape(-1, t)[kept]
    c = np.broadcast_to(covariances, (*shape, t, t)).reshape(-1, t, t)[kept]
    c = c + SMALLEST * np.eye(t) * (c == 0)
    if len(kept) == 1 and approximation is None:
        return conditional(names, m[0], c[0])
    codes = np.stack(np.unravel_index(kept, shape), axis=1) if shape else None
    labels = None if codes is None else Labels(cases.variables, codes)
    if t == 1:
        return NormalMixture(p[kept], m[:, 0], c[:, 0, 0], names[0], labels, approximation)
    return MultivariateMixture(p[kept], m, c, names, labels, approximation)


def mixed_joint(
    cases: Cases,
    discrete: Sequence[Variable],
    weights: Floats,
    means: Floats,
    covariances: Floats,
    names: tuple[str, ...] | None = None,
    make: Callable[..., Any] | None = None,
) -> MixedJoint:
    """Discrete and continuous targets (`names`, or all of the cases) together.

    `make` turns the Gaussians of one state into an answer: a mixture, if nothing else is said.
    """
    make = mixture if make is None else make
    k = len(discrete)
    shape = tuple(v.arity for v in discrete)
    rest = Cases(cases.group, cases.targets, cases.variables[k:], cases.parents)
    t = len(cases.targets)
    m = np.broadcast_to(means, (*weights.shape, t))
    c = np.broadcast_to(covariances, (*weights.shape, t, t))
    parts: list[Any] = []
    for at in np.ndindex(*shape):
        total = weights[at].sum()
        part = make(rest, np.asarray(weights[at] / total), m[at], c[at]) if total > 0 else None
        parts.append(part)
    p = weights.reshape(*shape, -1).sum(axis=-1)
    return MixedJoint(Distribution(tuple(discrete), p), names or cases.targets, tuple(parts))
