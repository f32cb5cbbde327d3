"""A space: all hypotheses side by side, as one table where they list their outcomes.

When every hypothesis lists its outcomes (mappings, sets, distributions over states, or any
of them with `outcomes=`), the space is a table of ln P(outcome | h), one row for each outcome.
Otherwise the space is open: it can only be asked about an observation.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError, LimitError, unknown_name
from credo.core.frozen import fixed
from credo.core.schema import is_missing
from credo.model.distributions.conjugate import Conjugate
from credo.model.hypotheses.composite import Composite
from credo.model.hypotheses.evidence import Evidence
from credo.model.hypotheses.likelihoods import (
    CLOSE,
    Likelihood,
    Members,
    Sampling,
    in_order,
    read_hypothesis,
)
from credo.model.values.reals import Floats, absent, shown
from credo.model.values.value import listed, same

MAX_CELLS = 50_000_000
"""A table of more outcomes × hypotheses than this is refused before it is made."""

_BLOCK = 4_000_000  # numbers in memory at once while observations are looked up

Block = tuple[Floats, Floats, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class TableSpace:
    """Hypotheses that list their outcomes.

    `log_chance` holds ln P(outcome | h): rows are outcomes, columns hypotheses. `learners` are the
    columns of beliefs: what they say changes with what they have learned.
    """

    names: tuple[Any, ...]
    outcomes: tuple[Any, ...]
    log_chance: Floats
    are_sets: bool
    weak: bool
    learners: Mapping[int, Composite] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableSpace):
            return NotImplemented
        parts = ("names", "outcomes", "weak", "log_chance", "learners")
        return all(same(getattr(self, part), getattr(other, part)) for part in parts)

    def __hash__(self) -> int:
        return hash((self.names, self.outcomes))

    @cached_property
    def codes(self) -> dict[Any, int]:
        """The row of each outcome."""
        return {x: i for i, x in enumerate(self.outcomes)}

    @cached_property
    def chance(self) -> Floats:
        """P(outcome | h), a row for each outcome."""
        return np.exp(self.log_chance)

    def encode(self, xs: Sequence[Any]) -> NDArray[np.int64]:
        """The row of each observation; an unknown outcome is refused with near names."""
        codes = self.codes
        try:
            return np.array([codes[x] for x in xs], dtype=np.int64)
        except (KeyError, TypeError):
            unknown = next(x for x in xs if not isinstance(x, Hashable) or x not in codes)
            raise self._unknown(unknown) from None

    def _unknown(self, x: Any) -> CredoError:
        if isinstance(x, Hashable):
            return unknown_name("Outcome", x, self.outcomes, "an outcome of any hypothesis")
        hint = "For counts pass counts=True." if isinstance(x, Mapping) else ""
        return InputError(f"{shown(x)} cannot be an outcome here.", hint=hint)

    def decode(self, code: Any) -> Any:
        """The outcome of a row."""
        return self.outcomes[int(code)]

    def rows(self, codes: NDArray[np.int64]) -> Floats:
        """ln P(x | h): a row for each observation, a column for each hypothesis."""
        return self.log_chance[codes]

    def blocks(self, codes: NDArray[np.int64], counts: Floats) -> Iterator[Block]:
        """Likelihoods of the distinct observations, each with its count and first position."""
        seen, first, which = np.unique(codes, return_index=True, return_inverse=True)
        times = np.bincount(which, weights=counts, minlength=len(seen)).astype(np.float64)
        size = max(1, _BLOCK // len(self.names))
        for start in range(0, len(seen), size):
            part = slice(start, start + size)
            yield self.rows(seen[part]), times[part], first[part].astype(np.int64)

    def after(self, codes: NDArray[np.int64], counts: Floats) -> TableSpace:
        """The space when its beliefs have learned from some more observations."""
        times = np.bincount(codes, weights=counts, minlength=len(self.outcomes)).astype(np.float64)
        seen = np.flatnonzero(times)
        xs = [self.outcomes[i] for i in seen]
        learners = {k: h.after(xs, times[seen]) for k, h in self.learners.items()}
        log_chance = self.log_chance.copy()
        for k, h in learners.items():
            log_chance[:, k] = h.log_p(self.outcomes)
        return replace(self, log_chance=fixed(log_chance), learners=learners)


@dataclass(frozen=True)
class OpenSpace:
    """Hypotheses that can only be asked about an observation."""

    names: tuple[Any, ...]
    likelihoods: tuple[Likelihood, ...]
    weak: bool = False
    outcomes: None = None

    @property
    def learners(self) -> Mapping[int, Composite]:
        """The beliefs among the hypotheses, by position."""
        return {k: h for k, h in enumerate(self.likelihoods) if isinstance(h, Composite)}

    def after(self, xs: NDArray[Any], counts: Floats) -> OpenSpace:
        """The space when its beliefs have learned from some more observations."""
        new: list[Likelihood] = list(self.likelihoods)
        for k, h in self.learners.items():
            new[k] = h.after(list(xs), counts)
        return replace(self, likelihoods=tuple(new))

    def encode(self, xs: Sequence[Any]) -> NDArray[Any]:
        """The observations themselves, as copies: what the user changes later is not ours."""
        out = np.empty(len(xs), dtype=object)
        for i, x in enumerate(xs):
            out[i] = x if isinstance(x, (str, int, float)) else copy.deepcopy(x)
        return out

    def decode(self, code: Any) -> Any:
        """The observation."""
        return fixed(code)

    def rows(self, xs: NDArray[Any]) -> Floats:
        """ln P(x | h): a row for each observation, a column for each hypothesis."""
        listed = xs.tolist() if xs.ndim == 1 else list(xs)
        return np.stack([h.log_p(listed) for h in self.likelihoods], axis=1)

    def blocks(self, xs: NDArray[Any], counts: Floats) -> Iterator[Block]:
        """Likelihoods of the observations, each with its count and position."""
        size = max(1, _BLOCK // len(self.names))
        for start in range(0, len(xs), size):
            part = slice(start, start + size)
            yield self.rows(xs[part]), counts[part], np.arange(len(xs), dtype=np.int64)[part]


Space = TableSpace | OpenSpace


def observed(
    space: Space, evidence: Evidence, values: NDArray[Any], counts: Floats, step: int
) -> tuple[Space, Evidence]:
    """The space and its evidence after some more observations, the first of them at `step`."""
    for rows, times, first in space.blocks(values, counts):
        evidence = evidence.add(rows, times, first + step)
    if not space.learners:
        return space, evidence
    space = space.after(values, counts)
    return space, evidence.with_totals({k: h.log_likelihood for k, h in space.learners.items()})


def refuse_weak(space: Space) -> None:
    """Sets that only say what is possible predict nothing."""
    if space.weak:
        raise InputError(
            "Under weak sampling a set says what is possible, not what comes next.",
            hint="Use generalise(), or sampling='strong'.",
        )


def read_space(
    hypotheses: Mapping[Any, Any], *, outcomes: Iterable[Any] | None, log: bool, sampling: Sampling
) -> Space:
    """The space of some named hypotheses.

    >>> read_space({"a": {1: 0.5, 2: 0.5}, "b": {2, 3}}, outcomes=None, log=False,
    ...            sampling="strong").outcomes
    (1, 2, 3)
    """
    if not isinstance(hypotheses, Mapping):
        raise InputError(
            "Hypotheses must be a mapping from name to hypothesis, "
            f"got {type(hypotheses).__name__} instead."
        )
    if not hypotheses:
        raise InputError("A space needs at least one hypothesis, got none.")
    if not isinstance(sampling, str) or sampling not in ("strong", "weak"):
        raise InputError(f"The sampling must be 'strong' or 'weak', got {shown(sampling)} instead.")
    for name in hypotheses:
        if is_missing(name):
            raise InputError(f"The name of a hypothesis cannot be missing, got {name!r}.")
    each: list[Likelihood] = [
        Composite.of(name, given)
        if isinstance(given, Conjugate)
        else read_hypothesis(name, given, log=log, sampling=sampling)
        for name, given in hypotheses.items()
    ]
    names = tuple(hypotheses)
    weak = sampling == "weak" and any(isinstance(h, Members) for h in each)
    if outcomes is None and any(h.outcomes is None for h in each):
        return OpenSpace(names, tuple(each), weak)
    if outcomes is None:
        return _table(names, each, _union(each), weak)
    every = list(listed(outcomes, "The outcomes"))
    if any(absent(x) or not isinstance(x, Hashable) for x in every):
        raise InputError("Each of the outcomes must be a single value that is not missing.")
    if len(set(every)) < len(every) or not every:
        raise InputError("The outcomes must be given once each, and at least one.")
    found = _table(names, each, every, weak)
    _check_complete(found, each)
    return found


def _union(each: Sequence[Likelihood]) -> list[Any]:
    """Every listed outcome: those of mappings in their order, then those of sets, sorted."""
    first = dict.fromkeys(x for h in each if not isinstance(h, Members) for x in h.outcomes or ())
    sets = {x for h in each if isinstance(h, Members) for x in h.members}
    return [*first, *in_order(sets - first.keys())]


def _table(
    names: tuple[Any, ...], each: Sequence[Likelihood], outcomes: list[Any], weak: bool
) -> TableSpace:
    cells = len(names) * len(outcomes)
    if cells > MAX_CELLS:
        raise LimitError(
            f"{len(names):,} hypotheses over {len(outcomes):,} outcomes would take {cells:,} "
            f"cells; at most {MAX_CELLS:,} are allowed.",
            hint="Use fewer hypotheses, or likelihood functions in place of listed outcomes.",
        )
    log_chance = np.stack([h.log_p(outcomes) for h in each], axis=1)
    are_sets = all(isinstance(h, Members) for h in each)
    learners = {k: h for k, h in enumerate(each) if isinstance(h, Composite)}
    return TableSpace(names, tuple(outcomes), fixed(log_chance), are_sets, weak, learners)


def _check_complete(space: TableSpace, each: Sequence[Likelihood]) -> None:
    """With outcomes given, a hypothesis must have its whole probability on them."""
    with np.errstate(over="ignore"):
        totals = np.exp(space.log_chance).sum(axis=0)
    for name, h, total in zip(space.names, each, totals, strict=True):
        own = h.members if isinstance(h, Members) else h.outcomes or ()
        odd = next((x for x in own if x not in space.codes), None)
        if odd is not None:
            raise InputError(
                f"The hypothesis {name!r} has the outcome {shown(odd)}, "
                "which is not one of the outcomes given."
            )
        if abs(total - 1) > CLOSE and not (isinstance(h, Members) and h.sampling == "weak"):
            raise InputError(
                f"Over the outcomes given, the hypothesis {name!r} must sum to 1, "
                f"it sums to {total:.12g}."
            )
