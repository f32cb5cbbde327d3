"""Continuous variables by sampling, where the mixture has too many Gaussians to list.

    p(t | e) ≈ Σ_i w_i N(t; m_{u_i}, S_{u_i}) / Σ_i w_i

Each weighted sample of the discrete variables is one Gaussian of the answer, exact given those. The
interval is that of the mean, by the delta method for a ratio of means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.model.answers.approximation import Approximation
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval
from credo.model.answers.mixed_joint import MixedJoint
from credo.model.answers.multivariate_mixture import MultivariateMixture
from credo.model.answers.normal_mixture import NormalMixture
from credo.predict.approximate.estimate import RULE_OF_THREE, ended, sampled, stated
from credo.predict.approximate.importance import Sampler, proposed
from credo.predict.approximate.method import asked_part, say
from credo.predict.exact.reduction import Reduced
from credo.predict.mixed.conditioning import conditioned
from credo.predict.mixed.engine import codes_of
from credo.predict.mixed.gaussian_groups import gaussian_groups
from credo.predict.questions.impossible import refuse_unfound
from credo.predict.questions.request import Request

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["mixed_samples"]

USUAL = 20_000
"""Samples when no budget is given: each is a Gaussian of the answer."""
MOST = 200_000
"""At most so many samples become Gaussians."""
_Z = 1.959963984540054

Floats = NDArray[np.float64]


def mixed_samples(request: Request) -> Any:
    """The continuous targets (with discrete ones, if any) given evidence, approximately."""
    net, evidence = request.net, request.evidence
    continuous, discrete = request.named(discrete=False), request.named(discrete=True)
    if request.method in ("loopy", "gibbs"):
        raise InputError(
            f"method={request.method!r} answers for discrete variables; {continuous[0]!r} is "
            "continuous.",
            hint='Use method="importance" or method="weighting", or leave it out.',
        )
    if request.error is not None:
        raise InputError(
            "error= is that of a probability; it does not go with a continuous variable.",
            hint='Give a budget, such as "50000 samples" or "2 s".',
        )
    groups = gaussian_groups(net, evidence.values.keys(), continuous)
    group = next(g for g in groups if continuous[0] in g.hidden)
    needed = dict.fromkeys([*discrete, *(p.name for p in group.free(evidence.hard))])
    problem = asked_part(request, list(needed))
    columns, log_weights, stopped = _draw(problem, request)
    w = np.exp(log_weights - log_weights.max())
    kept = np.flatnonzero(w > 0)
    w, columns = w[kept] / w[kept].sum(), {n: c[kept] for n, c in columns.items()}
    values = {n: np.array([v]) for n, v in evidence.values.items()}
    found = conditioned(group, codes_of(group, columns, evidence), values, continuous)
    means = np.broadcast_to(found.mean, (len(w), len(continuous)))
    covariances = np.broadcast_to(found.covariance, (len(w), len(continuous), len(continuous)))
    middle = w @ means
    se = np.sqrt((w**2) @ (means - middle) ** 2)
    # Draws that all agree leave a mean that n of them have not seen, about one deviation away.
    unseen = RULE_OF_THREE * (w @ w) * np.sqrt(w @ np.einsum("ijj->ij", covariances))
    se = np.where(se > 0, se, unseen)
    account = Approximation(
        "importance" if request.method == "auto" else request.method,
        interval=Interval(middle - _Z * se, middle + _Z * se, 0.95),
        standard_error=se,
        samples=len(log_weights),
        effective=float(1 / (w @ w)),
        largest_weight=float(w.max()),
        variables=len(problem.names),
        seed=request.seed,
        stopped=stopped,
        why=request.why,
        seconds=request.spent,
        of="mean",
    )
    if request.method == "auto" and not request.agreed:
        say(account)
    names = tuple(continuous)
    if discrete:
        return _joint(net, names, discrete, columns, w, means, covariances, account)
    return _mixture(names, w, means, covariances, account)


def _mixture(
    names: tuple[str, ...], w: Floats, means: Floats, covariances: Floats, account: Any
) -> Any:
    rows = np.concatenate([means, covariances.reshape(len(w), -1)], axis=1)
    unique, inverse = np.unique(rows, axis=0, return_inverse=True)
    weights: Floats = np.bincount(inverse.ravel(), w).astype(np.float64)
    t = len(names)
    m, c = unique[:, :t], unique[:, t:].reshape(-1, t, t)
    if t == 1:
        return NormalMixture(weights, m[:, 0], c[:, 0, 0], names[0], None, account)
    return MultivariateMixture(weights, m, c, names, None, account)


def _joint(
    net: Network,
    names: tuple[str, ...],
    discrete: Sequence[str],
    columns: dict[str, NDArray[Any]],
    w: Floats,
    means: Floats,
    covariances: Floats,
    account: Approximation,
) -> MixedJoint:
    variables = tuple(net.variable(n) for n in discrete)
    shape = tuple(v.arity for v in variables)
    at = np.ravel_multi_index([columns[n].astype(np.intp) for n in discrete], shape)
    p: Floats = np.bincount(at, w, prod(shape)).astype(np.float64)
    parts = [
        _mixture(names, w[at == k] / p[k], means[at == k], covariances[at == k], account)
        if p[k] > 0
        else None
        for k in range(prod(shape))
    ]
    square = np.bincount(at, w**2, prod(shape))
    se = np.sqrt(np.maximum((1 - 2 * p) * square + p**2 * (w @ w), 0.0)).reshape(shape)
    p = p.reshape(shape)
    about = replace(account, **stated(p, se, account.effective, account.samples), of="")
    return MixedJoint(Distribution(variables, p, None, about), names, tuple(parts))


def _draw(problem: Reduced, request: Request) -> tuple[dict[str, NDArray[Any]], Floats, str]:
    """Codes by variable, ln weights, and why the sampling ended."""
    most = USUAL if request.samples is None and request.seconds is None else min(request.most, MOST)
    if request.samples is not None and request.samples > MOST:
        raise LimitError(
            f"{request.samples:,} samples would make as many Gaussians of the answer; at most "
            f"{MOST:,} are kept.",
            hint=f'Give budget="{MOST} samples" or less.',
        )
    proposal = proposed(problem, request)
    if proposal is None:
        refuse_unfound(request, 0)
    assert proposal is not None
    sampler = Sampler(proposal, problem)
    parts: list[list[Any]] = []
    logs: list[Floats] = []
    done = 0

    def batch() -> tuple[int, str]:
        nonlocal done
        n = min(2048, most - done)
        columns, log_weights = sampler.run(n, request.seed, done)
        parts.append(columns)
        logs.append(log_weights)
        done += n
        return n, ended(request, done, most)

    stopped = sampled(batch, most)
    log_weights = np.concatenate(logs)
    if not log_weights.max() > -np.inf:
        refuse_unfound(request, done)
    columns = {name: np.concatenate([p[i] for p in parts]) for i, name in enumerate(problem.names)}
    return columns, log_weights, stopped
