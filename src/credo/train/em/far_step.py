"""The E-step of a source: folded problems of its parts, merged, or solved where the rows are.

Mostly rows fold to far fewer problems, which come here and are solved in every step. Where they are
about as many as the rows, as where a hidden variable touches many columns, they stay with the
workers of the engine, who get the parameters and give back what they expect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, TableError
from credo.data import Held, held
from credo.train.em.e_step import EStep, refuse
from credo.train.em.folded import MIXED_STATES, Folded, Folding
from credo.train.em.layout import Layout, Parameters, Statistics

Floats = NDArray[np.float64]

_STATES = 256  # a component of gaps with more states than this goes through the engine
_WIDE = 1 << 13  # or this, where the engine would have much to do
_WORTH = 20  # multiplications of the engine that a state more is worth
_MOST = 1 << 19  # problems that come here from the workers


def e_step_of(
    layout: Layout,
    source: Any,
    names: Sequence[str] | None,
    scales: Mapping[str, tuple[float, float]],
    threads: int,
    stack: ExitStack,
) -> EStep:
    """The E-step of a source, folded here or, until the stack closes, where its rows are."""
    most = MIXED_STATES if layout.line_numbers > 0 else _STATES

    def folded(most: int) -> Held[Folded]:
        how = Folding(layout, scales, most)
        return stack.enter_context(held(source, how, Folded.merged, names))

    rows = folded(most)
    told = rows.fold(_Told.of, _Told.__add__)
    if told is None:
        raise TableError("There are no rows to learn from.")
    if rows.parts is not None and told.sums[-1] > _MOST:
        return FarStep(rows, told, layout, scales, threads)
    step = EStep(_gathered(rows), threads)
    if step.plan is not None:
        # where the engine's work is large, larger components are enumerated before it is asked
        more = int(min(max(step.plan.flops / _WORTH, most), _WIDE))
        if more > 2 * most:
            return EStep(_gathered(folded(more)), threads)
    return step


def _gathered(rows: Held[Folded]) -> Folded:
    found = rows.fold(lambda folded, number: folded, Folded.merged)
    assert found is not None
    return found


@dataclass(frozen=True)
class _Told:
    """What the driver must know of rows that are folded elsewhere."""

    sums: tuple[float, ...]  # weight, shift, rows, problems
    gaps: Floats
    observed: Floats
    marginals: tuple[Floats, ...]
    counts: Floats
    moments: Floats
    too_large: tuple[int, ...]

    @classmethod
    def of(cls, folded: Folded, number: int) -> _Told:
        """What one part says."""
        native = folded.native
        counts, moments = native.counted()
        return cls(
            (native.total, folded.shift, folded.rows, native.problems),
            np.array(list(folded.gaps.values())),
            np.array(list(folded.observed.values())),
            tuple(folded.marginals.values()),
            counts,
            moments,
            tuple(native.too_large),
        )

    def __add__(self, other: _Told) -> _Told:
        return _Told(
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            self.gaps + other.gaps,
            self.observed + other.observed,
            tuple(a + b for a, b in zip(self.marginals, other.marginals, strict=True)),
            self.counts + other.counts,
            self.moments + other.moments,
            self.too_large or other.too_large,
        )


class FarStep(EStep):
    """The E-steps of parts that stay where they are, as one."""

    def __init__(
        self,
        held: Held[Folded],
        told: _Told,
        layout: Layout,
        scales: Mapping[str, tuple[float, float]],
        threads: int,
    ) -> None:
        self.held, self.told = held, told
        self.layout, self.scales, self.threads = layout, scales, threads
        total, self.shift, rows, problems = told.sums
        self.total, self.rows, self.problems = total, int(rows), int(problems)
        self.gaps = dict(zip(layout.names, told.gaps.tolist(), strict=True))
        self.observed = dict(zip(layout.names, told.observed.tolist(), strict=True))
        discrete = (child.name for child, _ in layout.families if child.is_discrete)
        self.marginals = dict(zip(discrete, told.marginals, strict=True))
        refuse(layout, told.too_large, total)
        self.native = self

    def counted(self) -> tuple[Floats, Floats]:
        """What the families without gaps count."""
        return self.told.counts, self.told.moments

    def expect(self, x: Parameters) -> tuple[Statistics, float]:
        """Expected counts and moments under some parameters, and ln P(rows)."""
        found = self.held.fold(_Expecting(x), _added)
        assert found is not None
        counts, moments, log = found
        return Statistics(counts, moments), float(log)

    def draw(
        self, theta: Floats, lines: Floats, seed: int, threads: int
    ) -> tuple[Floats, Floats, int]:
        """Counts and moments with the gaps drawn under some parameters."""
        found = self.held.fold(_Drawing(theta, lines, seed), _added)
        assert found is not None
        counts, moments, impossible = found
        return counts, moments, int(impossible)

    def left(self) -> tuple[NDArray[np.int32], Floats]:
        """No rows: a part with rows that have too many ways to be completed refuses to draw."""
        return np.zeros((0, len(self.layout.names)), np.int32), np.zeros(0)


@dataclass(frozen=True)
class _Expecting:
    x: Parameters

    def __call__(self, folded: Folded, number: int) -> tuple[Floats, Floats, float]:
        statistics, log = folded.e_step.expect(self.x)
        return statistics.counts, statistics.moments, log


@dataclass(frozen=True)
class _Drawing:
    theta: Floats
    lines: Floats
    seed: int

    def __call__(self, folded: Folded, number: int) -> tuple[Floats, Floats, float]:
        if len(folded.native.left()[1]):
            raise CredoError("rows with the engine have too many ways to be completed")
        own = int(np.random.default_rng([self.seed, number]).integers(2**63))
        counts, moments, impossible = folded.native.draw(self.theta, self.lines, own, 1)
        return counts, moments, float(impossible)


def _added(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x + y for x, y in zip(a, b, strict=True))
