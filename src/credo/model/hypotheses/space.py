"""A space: all hypotheses side by side, as one table where they list their outcomes.

When every hypothesis lists its outcomes (mappings, sets, distributions over states, or any
of them with `outcomes=`), the space is a table of P(outcome | h), one row for each outcome;
sets alone are a table of bits, membership, with one size for each set, so that thousands of
concepts fit. Otherwise the space is open: it can only be asked about an observation.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError, LimitError, unknown_name
from credo.core.frozen import fixed
from credo.core.schema import is_missing, position, state_key
from credo.model.distributions.conjugate import Conjugate
from credo.model.hypotheses.composite import Composite
from credo.model.hypotheses.evidence import Evidence
from credo.model.hypotheses.likelihoods import (
    CLOSE,
    Chances,
    Likelihood,
    Members,
    Sampling,
    in_order,
    read_hypothesis,
)
from credo.model.hypotheses.observations import kept
from credo.model.values.reals import Floats, absent, shown
from credo.model.values.value import listed, same

MAX_CELLS = 100_000_000
"""A table of more outcomes × hypotheses than this is refused before it is made."""

_BLOCK = 4_000_000  # numbers in memory at once while observations are looked up

_FLAGS = {bool, np.bool_}

Block = tuple[Floats, Floats, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class TableSpace:
    """Hypotheses that list their outcomes.

    For sets `inside` is membership and `log_inside[k]` = ln P(member | h_k); otherwise
    `chance` and `log_chance` hold P(outcome | h) and its logarithm. Rows are outcomes. `learners`
    are the columns of beliefs: what they say changes with what they have learned.
    """

    names: tuple[Any, ...]
    outcomes: tuple[Any, ...]
    inside: NDArray[np.bool_] | None
    log_inside: Floats | None
    chance: Floats | None
    log_chance: Floats | None
    weak: bool
    _codes: dict[Any, int] = field(repr=False)
    learners: Mapping[int, Composite] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableSpace):
            return NotImplemented
        parts = ("names", "outcomes", "weak", "inside", "log_inside", "chance", "learners")
        return all(same(getattr(self, part), getattr(other, part)) for part in parts)

    def __hash__(self) -> int:
        return hash((self.names, self.outcomes))

    def encode(self, xs: Sequence[Any]) -> NDArray[np.int64]:
        """The row of each observation; an unknown outcome is refused with near names."""
        if self._plain is not None and not _FLAGS & set(map(type, xs)):
            try:
                return np.array([self._plain[x] for x in xs], dtype=np.int64)
            except (KeyError, TypeError):
                pass  # the long way says what is wrong
        out = np.empty(len(xs), dtype=np.int64)
        for i, x in enumerate(xs):
            code = position(x, self._codes, self.outcomes)
            if code is None:
                raise self._unknown(x)
            out[i] = code
        return out

    @cached_property
    def _plain(self) -> dict[Any, int] | None:
        """The row of each outcome, where none is True or False and 1 can only be 1."""
        return _plain_codes(self.outcomes)

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
        if self.inside is not None:
            assert self.log_inside is not None
            return np.where(self.inside[codes], self.log_inside, -np.inf)
        assert self.log_chance is not None
        return self.log_chance[codes]

    def blocks(self, codes: NDArray[np.int64], counts: Floats) -> Iterator[Block]:
        """Likelihoods of the distinct observations, each with its count and first position."""
        seen, first, which = np.unique(codes, return_index=True, return_inverse=True)
        times = np.bincount(which, weights=counts, minlength=len(seen)).astype(np.float64)
        order = np.argsort(first)
        size = max(1, _BLOCK // len(self.names))
        for start in range(0, len(seen), size):
            part = order[start : start + size]
            yield self.rows(seen[part]), times[part], first[part].astype(np.int64)

    def after(self, codes: NDArray[np.int64], counts: Floats) -> TableSpace:
        """The space when its beliefs have learned from some more observations."""
        assert self.chance is not None
        assert self.log_chance is not None
        times = np.bincount(codes, weights=counts, minlength=len(self.outcomes)).astype(np.float64)
        seen = np.flatnonzero(times)
        xs = [self.outcomes[i] for i in seen]
        learners = {k: h.after(xs, times[seen]) for k, h in self.learners.items()}
        log_chance, chance = self.log_chance.copy(), self.chance.copy()
        for k, h in learners.items():
            log_chance[:, k] = _column(h, self.outcomes, self._codes)
            chance[:, k] = np.exp(log_chance[:, k])
        return replace(self, chance=fixed(chance), log_chance=fixed(log_chance), learners=learners)

    def prediction(self, weights: Floats) -> Floats:
        """Σ_k w_k · P(outcome | h_k), for every outcome."""
        if self.inside is None:
            assert self.chance is not None
            return self.chance @ weights
        assert self.log_inside is not None
        return self.inside @ (weights * np.exp(self.log_inside))

    def prediction_of(self, k: int) -> Floats:
        """P(outcome | h_k), for every outcome."""
        if self.inside is None:
            assert self.chance is not None
            return self.chance[:, k]
        assert self.log_inside is not None
        return np.where(self.inside[:, k], np.exp(self.log_inside[k]), 0.0)


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
        """The observations themselves, as copies that nobody can change."""
        out = np.empty(len(xs), dtype=object)
        for i, x in enumerate(xs):
            out[i] = kept(x)
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
    if outcomes is not None:
        every = list(listed(outcomes, "The outcomes"))
        missing = [x for x in every if absent(x)]
        if missing:
            raise InputError(f"The outcomes cannot hold the missing value {missing[0]!r}.")
        try:
            different = len(set(map(state_key, every)))
        except TypeError:
            raise InputError("Each of the outcomes must be a single value, not a list.") from None
        if different < len(every) or not every:
            raise InputError("The outcomes must be given once each, and at least one.")
        return _table(names, each, every, weak, complete=True)
    if any(h.outcomes is None for h in each):
        return OpenSpace(names, tuple(each), weak)
    return _table(names, each, _union(each), weak)


def _union(each: Sequence[Likelihood]) -> list[Any]:
    """Every listed outcome: those of mappings in their order, then those of sets, sorted.

    True and 1 are one outcome if all are 0 or 1, and two otherwise, as in `schema.position`.
    """
    ordered = [h.outcomes or () for h in each if not isinstance(h, Members)]
    members = [h.members for h in each if isinstance(h, Members)]
    first = dict.fromkeys(x for xs in ordered for x in xs)
    sets = {x for xs in members for x in xs}
    kinds: set[type] = set().union(*(map(type, xs) for xs in (*ordered, *members)))
    if not kinds & _FLAGS or first.keys() | sets <= {0, 1}:
        return [*first, *in_order(sets - first.keys())]
    apart = {state_key(x): x for xs in ordered for x in xs}
    more = {state_key(x): x for xs in members for x in xs}
    return [*apart.values(), *in_order(x for key, x in more.items() if key not in apart)]


def _table(
    names: tuple[Any, ...],
    each: Sequence[Likelihood],
    outcomes: list[Any],
    weak: bool,
    *,
    complete: bool = False,
) -> TableSpace:
    cells = len(names) * len(outcomes)
    if cells > MAX_CELLS:
        raise LimitError(
            f"{len(names):,} hypotheses over {len(outcomes):,} outcomes would take {cells:,} "
            f"cells; at most {MAX_CELLS:,} are allowed.",
            hint="Use fewer hypotheses, or likelihood functions in place of listed outcomes.",
        )
    codes = {state_key(x): i for i, x in enumerate(outcomes)}
    sets = [h for h in each if isinstance(h, Members)]
    if complete:
        _check_complete(names, each, outcomes, codes)
    if len(sets) == len(each):
        inside = np.zeros((len(outcomes), len(names)), dtype=bool)
        plain = _plain_codes(outcomes)
        for k, members in enumerate(sets):
            rows = (
                _places(members.members, outcomes, codes)
                if plain is None
                else [plain[x] for x in members.members]
            )
            inside[rows, k] = True
        log_inside = np.array([h.log_inside for h in sets])
        return TableSpace(
            names, tuple(outcomes), fixed(inside), fixed(log_inside), None, None, weak, codes
        )
    log_chance = np.stack([_column(h, outcomes, codes) for h in each], axis=1)
    chance = np.exp(log_chance)
    for k, h in enumerate(each):  # the user's own digits, not exp(log(p))
        if isinstance(h, Chances):
            chance[_places(h.outcomes, outcomes, codes), k] = list(h.p.values())
    learners = {k: h for k, h in enumerate(each) if isinstance(h, Composite)}
    return TableSpace(
        names,
        tuple(outcomes),
        None,
        None,
        fixed(chance),
        fixed(log_chance),
        weak,
        codes,
        learners,
    )


def _plain_codes(outcomes: Sequence[Any]) -> dict[Any, int] | None:
    if _FLAGS & set(map(type, outcomes)):
        return None
    return {x: i for i, x in enumerate(outcomes)}


def _places(own: Iterable[Any], outcomes: Sequence[Any], codes: dict[Any, int]) -> list[int]:
    """The rows of some outcomes of a table that has them all."""
    found = [codes.get(state_key(x)) for x in own]
    if None in found:  # True in place of 1, where all are 0 or 1
        found = [position(x, codes, outcomes) for x in own]
    return [i for i in found if i is not None]


def _column(h: Likelihood, outcomes: Sequence[Any], codes: dict[Any, int]) -> Floats:
    """ln P(outcome | h) for every outcome of a table; −∞ for those that h does not list."""
    if h.outcomes is None:
        return h.log_p(outcomes)
    column = np.full(len(outcomes), -np.inf)
    column[_places(h.outcomes, outcomes, codes)] = h.log_p(h.outcomes)
    return column


def _check_complete(
    names: tuple[Any, ...], each: Sequence[Likelihood], outcomes: list[Any], codes: dict[Any, int]
) -> None:
    """With outcomes given, a hypothesis must have its whole probability on them."""
    for name, h in zip(names, each, strict=True):
        own = h.outcomes or (h.members if isinstance(h, Members) else ())  # a long range too
        for x in own:
            if position(x, codes, outcomes) is None:
                raise InputError(
                    f"The hypothesis {name!r} has the outcome {shown(x)}, "
                    "which is not one of the outcomes given."
                )
        if isinstance(h, Members) and h.sampling == "weak":
            continue
        with np.errstate(over="ignore"):
            total = float(np.exp(_column(h, outcomes, codes)).sum())
        if abs(total - 1) > CLOSE:
            raise InputError(
                f"Over the outcomes given, the hypothesis {name!r} must sum to 1, "
                f"it sums to {total:.12g}."
            )
