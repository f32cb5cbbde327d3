"""Scores of numbers that count, beside those of all others.

A number that counts has discrete parents and no children: its own local scores are those of its law
(`count_families.py`), those of others are what they would be without it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.schema import Variable
from credo.model.networks.count_table import counts
from credo.model.networks.family import cells
from credo.stats.family import Families, Family
from credo.stats.tally import Source
from credo.train.parameters.count_families import count_score
from credo.train.scores.local_scores import Asked, Local

__all__ = ["with_counts"]

_LARGEST = 10_000_000  # cells of a table, beyond which a family is left out


def with_counts(
    source: Source,
    variables: Sequence[Variable],
    inner: Any,
    rows: float,
    penalty: float,
    weight: float,
) -> Local:
    """Local scores of all variables; `inner` are those of the others, numbered without counts.

    `rows` are what all are worth to each configuration (0: the largest likelihood, less a penalty),
    `weight` is that of all rows, to which families with gaps are scaled.
    """
    names = [v.name for v in variables]
    others = [i for i, v in enumerate(variables) if not counts(v)]
    place = {i: k for k, i in enumerate(others)}

    def fits(child: int, parents: Sequence[int]) -> bool:
        above = [variables[p] for p in parents]
        if any(counts(p) or (counts(variables[child]) and not p.is_discrete) for p in above):
            return False
        return not counts(variables[child]) or cells([variables[child], *above]) <= _LARGEST

    def local(asked: Asked) -> NDArray[np.float64]:
        out = np.full(len(asked), -math.inf)
        fine = [i for i, (c, ps) in enumerate(asked) if fits(c, ps)]
        plain = [i for i in fine if asked[i][0] in place]
        if plain:
            wanted = [(place[asked[i][0]], [place[p] for p in asked[i][1]]) for i in plain]
            out[plain] = inner.score(wanted)
        own = [i for i in fine if asked[i][0] not in place]
        if own:
            families = [
                Family(names[c], tuple(sorted(names[p] for p in ps)))
                for c, ps in (asked[i] for i in own)
            ]
            tally = source.tally(Families.of(families))
            for i, family in zip(own, families, strict=True):
                dense = np.asarray(tally[family], dtype=np.float64)
                table = dense.reshape(-1, dense.shape[-1])
                total = float(table.sum())
                scale = weight / total if total > 0 else 1.0
                out[i] = scale * count_score(table, rows, penalty / scale)
        return out

    return local
