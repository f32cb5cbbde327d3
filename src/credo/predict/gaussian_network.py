"""Questions about continuous variables, where every discrete variable that matters is observed.

A network of lines with Gaussian noise is one multivariate Gaussian:

    x = a + B x + ε   ⇒   mean = (I − B)⁻¹ a,   cov = (I − B)⁻¹ D (I − B)⁻ᵀ

and conditioning on any of its variables is a Schur complement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import InputError
from credo.model.gaussian import Gaussian
from credo.model.linear_gaussian import LinearGaussian
from credo.model.multivariate import MultivariateGaussian
from credo.predict.engine import MIXED

if TYPE_CHECKING:
    from credo.model.network import Network
    from credo.predict.evidence import Evidence

__all__ = ["gaussian_log_evidence", "gaussian_posterior", "joint_gaussian"]

Floats = NDArray[np.float64]


def joint_gaussian(
    net: Network, names: Sequence[str], evidence: Evidence
) -> tuple[list[str], Floats, Floats]:
    """The joint mean and covariance of the continuous variables that `names` rest on."""
    wanted = set(names)
    for name in names:
        wanted |= set(net.dag.ancestors(name))
    order = [n for n in net.dag.order if n in wanted and not net.variable(n).is_discrete]
    at = {n: i for i, n in enumerate(order)}
    mean = np.zeros(len(order))
    cov = np.zeros((len(order), len(order)))
    for name in order:
        line = net.distributions[name]
        assert isinstance(line, LinearGaussian)
        codes = []
        for parent in line.discrete:
            if parent.name not in evidence.hard:
                raise InputError(
                    f"{name!r} depends on {parent.name!r}, which is discrete and not observed.",
                    hint=MIXED,
                )
            codes.append(evidence.hard[parent.name])
        row = tuple(codes)
        parents = [at[p.name] for p in line.continuous]
        slope = line.coefficients[row]
        i = at[name]
        mean[i] = line.intercept[row] + slope @ mean[parents]
        across = slope @ cov[parents, :] if parents else np.zeros(len(order))
        cov[i, :] = cov[:, i] = across
        cov[i, i] = line.variance[row] + (slope @ across[parents] if parents else 0.0)
    return order, mean, cov


def gaussian_posterior(
    net: Network, targets: Sequence[str], evidence: Evidence
) -> Gaussian | MultivariateGaussian:
    """The distribution of continuous variables given evidence."""
    _discrete_matters(net, targets, evidence)
    known = list(evidence.values)
    order, mean, cov = joint_gaussian(net, [*targets, *known], evidence)
    at = {n: i for i, n in enumerate(order)}
    t, k = [at[n] for n in targets], [at[n] for n in known]
    if k:
        away = np.array([evidence.values[n] for n in known]) - mean[k]
        gain = np.linalg.solve(cov[np.ix_(k, k)], cov[np.ix_(k, t)]).T
        m = mean[t] + gain @ away
        c = cov[np.ix_(t, t)] - gain @ cov[np.ix_(k, t)]
    else:
        m, c = mean[t], cov[np.ix_(t, t)]
    c = (c + c.T) / 2
    if len(targets) == 1:
        return Gaussian(float(m[0]), float(c[0, 0]), name=targets[0])
    return MultivariateGaussian(m, c, names=tuple(targets))


def _discrete_matters(net: Network, targets: Sequence[str], evidence: Evidence) -> None:
    """Soft evidence, or a discrete variable below a continuous target, would need more."""
    if evidence.soft:
        name = next(iter(evidence.soft))
        raise InputError(
            f"Soft evidence on {name!r} does not go with a continuous target.", hint=MIXED
        )


def gaussian_log_evidence(net: Network, evidence: Evidence) -> float:
    """ln p of the observed continuous variables, given the observed discrete ones."""
    known = list(evidence.values)
    if not known:
        return 0.0
    order, mean, cov = joint_gaussian(net, known, evidence)
    at = {n: i for i, n in enumerate(order)}
    k = [at[n] for n in known]
    model = MultivariateGaussian(mean[k], cov[np.ix_(k, k)], names=tuple(known))
    values: Any = np.array([evidence.values[n] for n in known])
    return float(np.asarray(model.logpdf(values)).item())
