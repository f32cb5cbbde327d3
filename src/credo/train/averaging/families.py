"""The distributions of families under the prior that their score had.

Under BDeu and K2 the answer averaged over graphs is then the ratio of marginal likelihoods
P(rows, x) / P(rows). Of BGe each line has the conditional of the normal-Wishart prior (Geiger &
Heckerman 2002): for n variables and p parents, t the prior's scale, α_w its degrees of freedom,

    σ² ~ inverse-gamma((α_w − n + p + 1)/2, t/2),   b | σ² ~ N(0, σ²/t),   a | σ² ~ N(ν, σ²/α_μ)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from credo.core.schema import Variable
from credo.model.networks.count_table import counts
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.network import Local
from credo.model.networks.priors import K2, BDeu, pseudocounts_of
from credo.model.values.learned import Learned
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.parameters.families import FamilySpec, distributions_of
from credo.train.parameters.pooled_lines import LIKE_ALL, UNIT
from credo.train.parameters.sources import Opened
from credo.train.scores.scores import MARGINAL, ScoreSpec

__all__ = ["learned_families", "prior_said", "table_prior"]


def prior_said(spec: ScoreSpec, variables: Sequence[Variable]) -> str:
    """The prior of the parameters, in words."""
    parts = []
    if any(v.is_discrete for v in variables):
        parts.append(str(table_prior(spec)) if not isinstance(table_prior(spec), K2) else "K2()")
    if not all(v.is_discrete for v in variables):
        own = "normal-Wishart" if spec.name == "bge" else str(_lines(spec))
        parts.append(own)
    return " and ".join(parts)


def table_prior(spec: ScoreSpec) -> BDeu | K2:
    """The prior of tables under a score."""
    return K2() if spec.function is None and spec.name == "k2" else BDeu(spec.ess)


def _lines(spec: ScoreSpec) -> LinePrior:
    return LinePrior(like_all=UNIT if spec.name in MARGINAL else LIKE_ALL)


def learned_families(
    opened: Any,
    families: Sequence[tuple[str, tuple[str, ...], int]],
    spec: ScoreSpec,
    variables: int,
    threads: int,
    counted: Mapping[tuple[str, tuple[str, ...], int], Counts | Moments],
) -> tuple[Local, ...]:
    """The posterior of each family, from one pass over the rows, or from counts that are here."""
    source = Opened(opened, {}, None, None)
    asked = [key[:2] for key in families if key not in counted]
    known = source.variables([key[:2] for key in families])
    tally = source.tally(asked, threads)
    specs = []
    for key in families:
        child, parents, _ = key
        found = counted[key] if key in counted else tally[child, list(parents)]
        own, above = known[child], tuple(known[p] for p in parents)
        belief: Any
        if counts(own):
            belief = _lines(spec)
        elif own.is_discrete:
            belief = pseudocounts_of(table_prior(spec), own, above)
        elif spec.name == "bge" and isinstance(found, Moments):
            belief = _wishart(spec, found, above, variables)
        else:
            belief = _lines(spec)
        specs.append(FamilySpec(own, above, Learned(found, "mean", belief), None, ""))
    return tuple(distributions_of(specs))


def _wishart(
    spec: ScoreSpec, found: Moments, parents: Sequence[Variable], variables: int
) -> LinePrior:
    """The conditional of the normal-Wishart prior for one child."""
    freedom = variables + 2.0 if spec.freedom is None else spec.freedom
    scale = spec.prior_rows * (freedom - variables - 1) / (spec.prior_rows + 1)
    at = {name: i for i, name in enumerate(found.names)}
    mean = np.asarray(found.mean)[0]
    child = next(n for n in found.names if n not in {p.name for p in parents})
    return LinePrior(
        mean=float(mean[at[child]]), kappa=spec.prior_rows, ridge=scale,
        alpha=(freedom - variables + len(parents) + 1) / 2, beta=scale / 2,
        centre=[float(mean[at[p.name]]) for p in parents] or 0.0,
    )  # fmt: skip
