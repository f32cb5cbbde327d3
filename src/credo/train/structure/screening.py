"""Candidate parents of a wide table: of many continuous columns, those nearest to each child.

    near(x, y):  |r_xy| is among the `most` largest of x, or of y

r is the correlation over all rows. A thousand columns make a million pairs, most of which tell
nothing, and a search among the near ones is quicker. A parent that tells nothing alone is lost, so
`auto` screens wide tables only, and says so.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from credo.stats.family import Family
from credo.stats.moments import Moments
from credo.train.structure.problem import Problem
from credo.train.structure.rules import Rules

__all__ = ["MOST", "WIDE", "screened"]

WIDE = 200  # continuous columns beyond which `auto` screens
MOST = 20  # nearest columns of each


def screened(problem: Problem, most: int = MOST) -> tuple[Rules, str]:
    """Rules that leave each child its nearest continuous columns, and a sentence that says so."""
    rules = problem.rules
    continuous = [i for i, v in enumerate(problem.scores.variables) if not v.is_discrete]
    names = [rules.names[i] for i in continuous]
    family = Family(names[-1], tuple(names[:-1]))
    moments = problem.scores.source.tally([family])[family]
    assert isinstance(moments, Moments)
    at = {v.name: k for k, v in enumerate(moments.continuous)}
    order = [at[n] for n in names]
    near = _near(moments.scatter[0][np.ix_(order, order)], most)
    kept = np.ones(rules.allowed.shape, dtype=bool)
    kept[np.ix_(continuous, continuous)] = near
    kept |= rules.required.astype(bool)
    for child, parents in enumerate(problem.start):
        kept[child, parents] = True
    allowed = rules.allowed & kept.astype(np.uint8)
    note = (
        f"{len(names):,} continuous columns: only pairs of which one is among the {most} columns "
        "most correlated with the other were tried as edges (a search named with search= tries "
        "all)"
    )
    return replace(rules, allowed=np.ascontiguousarray(allowed)), note


def _near(scatter: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Which pairs are near; ties go to the first."""
    scale = np.sqrt(np.diag(scatter))
    scale[~(scale > 0)] = 1.0
    r = np.abs(scatter / scale[:, None] / scale[None, :])
    np.fill_diagonal(r, -1.0)
    top = np.argsort(-np.round(r, 12), axis=1, kind="stable")[:, :most]
    near = np.zeros(r.shape, dtype=bool)
    np.put_along_axis(near, top, True, axis=1)
    near |= near.T
    np.fill_diagonal(near, False)
    return near
