"""Continuous evidence that is too much for tables: it weighs samples of the discrete variables.

    w(u) = P(u, e_d) / q(u) · Π_g p(y_g | u_g)

Only the discrete variables are drawn. Given them every group of lines is one Gaussian, whose
density is exact, so nothing continuous is drawn at all (Rao and Blackwell). Groups that fit as
tables stay tables, which lead the draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import LimitError
from credo.predict.exact.engine import engine_of
from credo.predict.exact.reduction import Reduced, reduced
from credo.predict.mixed.engine import MixedEngine
from credo.predict.mixed.line_algebra import conditioned
from credo.predict.mixed.line_groups import LineGroup, line_groups, refuse_large

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.predict.questions.evidence import Evidence

__all__ = ["codes_of", "weighed_problem"]

_NUMBERS = 30_000_000  # of a block of rows, were none dropped
_ROWS = 8192

Floats = NDArray[np.float64]


def weighed_problem(
    net: Network, evidence: Evidence, targets: Sequence[str]
) -> tuple[Reduced, tuple[str, ...]]:
    """The factors of a question, and the discrete variables that weights depend on."""
    groups = line_groups(net, evidence.values.keys()) if evidence.values else ()
    large = [g for g in groups if _is_large(g, evidence)]
    if not large:
        return reduced(net, evidence, targets), ()
    small = [g for g in groups if not _is_large(g, evidence)]
    more = tuple(dict.fromkeys(p.name for g in large for p in g.free(evidence.hard)))
    engine = MixedEngine(engine_of(net), small, evidence.hard)
    problem = reduced(net, evidence, [*targets, *more], engine)
    values = {n: np.array([v]) for n, v in evidence.values.items()}

    def weigh(rows: Mapping[str, NDArray[Any]]) -> Floats:
        n = len(next(iter(rows.values())))
        out = np.zeros(n)
        for group in large:
            step = max(min(_NUMBERS // len(group.lines) ** 2, _ROWS), 1)
            for start in range(0, n, step):
                part = slice(start, start + step)
                some = {name: column[part] for name, column in rows.items()}
                log = conditioned(group, codes_of(group, some, evidence), values).log
                out[part] += np.where(np.isnan(log), -np.inf, log)
        return out

    return replace(problem, weigh=weigh), more


def codes_of(
    group: LineGroup, rows: Mapping[str, NDArray[Any]], evidence: Evidence
) -> dict[str, Any]:
    """The codes of a group's discrete parents: drawn, or known."""
    return {
        p.name: evidence.hard[p.name]
        if p.name in evidence.hard
        else np.asarray(rows[p.name], dtype=np.intp)
        for p in group.parents
    }


def _is_large(group: LineGroup, evidence: Evidence) -> bool:
    try:
        refuse_large(group, evidence.hard)
    except LimitError:
        return True
    return False
