"""Which kind each feature of naive Bayes is, as far as it is known before rows are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["KINDS", "Plan", "wanted_kinds"]

KINDS = ("categorical", "bernoulli", "gaussian", "counts", "kernel", "ignore")
"""What a feature can be."""


class Plan:
    """Which kind each feature is ('auto' while that is open), and which vary together.

    `kinds` is a mapping by name, or a pair of names and the one word for all of them. With
    `pending` the statistic will be added to another: what is open stays so until then.

    >>> Plan((("a", "b"), "gaussian")).kinds
    {'a': 'gaussian', 'b': 'gaussian'}
    """

    def __init__(
        self,
        kinds: Mapping[str, str] | tuple[Sequence[str], str],
        together: Sequence[Sequence[str]] = (),
        states: Mapping[str, Sequence[Any]] | None = None,
        full: bool = False,
        pending: bool = False,
    ) -> None:
        self.pending = pending
        self.together = tuple(tuple(g) for g in together)
        self.full = full
        self.states = dict(states or {})
        self._alike: Any = kinds if isinstance(kinds, tuple) else None
        self._kinds: Any = None if isinstance(kinds, tuple) else dict(kinds)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each feature by name; it may be written to."""
        if self._kinds is None:
            self._kinds = dict.fromkeys(*self._alike)
        self._alike = None  # from here on they may differ
        found: dict[str, str] = self._kinds
        return found

    @kinds.setter
    def kinds(self, kinds: dict[str, str]) -> None:
        self._alike, self._kinds = None, kinds

    @property
    def word(self) -> str | None:
        """The kind of every feature, where all are of one.

        >>> Plan({"a": "gaussian", "b": "gaussian"}).word, Plan({"a": "auto", "b": "counts"}).word
        ('gaussian', None)
        """
        if self._alike is not None:
            return str(self._alike[1])
        found = set(self.kinds.values())
        return found.pop() if len(found) == 1 else None

    def all_are(self, word: str) -> None:
        """All features are of one kind; thousands of names are not looked at."""
        names = self._alike[0] if self._alike is not None else tuple(self.kinds)
        self._alike, self._kinds = (names, word), None

    def copy(self) -> Plan:
        """The same plan, to be settled on its own."""
        kinds = self._alike if self._alike is not None else self.kinds
        return Plan(kinds, self.together, self.states, self.full, self.pending)

    def __len__(self) -> int:
        return len(self._alike[0] if self._alike is not None else self.kinds)

    def settle(self) -> None:
        """When every kind is known: with full covariance all Gaussian features vary together."""
        real = self.of("gaussian")
        if self.full and len(real) > 1:
            self.together = (tuple(real),)

    def of(self, *kinds: str) -> list[str]:
        """The features of some kinds, in order."""
        return [n for n, k in self.kinds.items() if k in kinds]


_WORDS = {
    "categorical": "discrete",
    "gaussian": "continuous",
    "counts": "continuous",
    "kernel": "continuous",
}


def wanted_kinds(plan: Plan) -> dict[str, Any]:
    """What the kinds of the features say of the columns, as `read` wants to hear it.

    >>> wanted_kinds(Plan({"a": "auto", "b": "gaussian", "c": "ignore"}))
    {'b': 'continuous', 'c': 'drop'}
    """
    out: dict[str, Any] = {n: _WORDS[k] for n, k in plan.kinds.items() if k in _WORDS}
    out |= {n: "drop" for n, k in plan.kinds.items() if k == "ignore"}
    return out | {n: list(s) for n, s in plan.states.items() if plan.kinds.get(n) != "ignore"}
