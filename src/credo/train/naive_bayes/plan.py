"""Which kind each feature of naive Bayes is: as it was given, or as the first rows say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from credo.core.errors import InputError, close_names, unknown_name
from credo.core.interval_states import cuts_of
from credo.core.scales import Transform

KINDS = (
    "categorical", "bernoulli", "gaussian", "transformed", "binned", "counts", "kernel", "ignore",
)  # fmt: skip
"""What a feature can be."""
NUMBER = "number"
"""What 'auto' becomes for a number, until the rows say how it is modelled."""


class Plan:
    """Which kind each feature is ('auto' until rows are counted), and which vary together.

    `kinds` is a mapping by name, or a pair of names and the one word for all of them: thousands of
    names are not looked at then. `numbers` is what a number becomes whose kind is left to the
    rules: 'gaussian', 'transformed', 'binned', or 'auto' for what the rows ask for. `states` are
    those that are known beforehand, or the intervals of a number, `scales` its transforms. With
    `more` rows to come, each number has a say.

    >>> Plan((("a", "b"), "gaussian")).kinds
    {'a': 'gaussian', 'b': 'gaussian'}
    """

    def __init__(
        self,
        kinds: Mapping[str, str] | tuple[Sequence[str], str],
        together: Sequence[Sequence[str]] = (),
        states: Mapping[str, Sequence[Any]] | None = None,
        full: bool = False,
        numbers: str = "gaussian",
    ) -> None:
        self.together = tuple(tuple(g) for g in together)
        self.full, self.settled = full, False
        self.numbers, self.more = numbers, False
        self.states = dict(states or {})
        self.scales: dict[str, Transform] = {}
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

    @property
    def number(self) -> str:
        """The kind of a number that is left to the rules; `NUMBER` where the rows are to say."""
        return NUMBER if self.numbers == "auto" else self.numbers

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
        """All features are of one kind."""
        names = self._alike[0] if self._alike is not None else tuple(self.kinds)
        self._alike, self._kinds = (names, word), None

    def settle(self) -> None:
        """When every kind is known: with full covariance all Gaussian features vary together."""
        if self.full:
            real = self.of("gaussian")
            self.together = (tuple(real),) if len(real) > 1 else ()
        self.full, self.settled = False, True

    def of(self, *kinds: str) -> list[str]:
        """The features of some kinds, in order."""
        return [n for n, k in self.kinds.items() if k in kinds]


def plan_of(
    names: Sequence[str],
    kinds: Any,
    covariance: Any = "diagonal",
    states: Any = None,
    numbers: str = "gaussian",
) -> Plan:
    """Which kind each feature is, from one word for all, a mapping, or a list in order.

    >>> plan_of(["a", "b"], {"b": "gaussian"}).kinds
    {'a': 'auto', 'b': 'gaussian'}
    """
    known = (*KINDS, "auto")
    if isinstance(kinds, str):
        alone = isinstance(covariance, str) and covariance in ("diagonal", "full")
        if kinds in known and alone and not states:
            full = covariance == "full"
            return Plan((tuple(names), kinds), full=full, numbers="gaussian" if full else numbers)
        found = dict.fromkeys(names, kinds)
    elif isinstance(kinds, Mapping):
        for name in kinds:
            if name not in names:
                raise unknown_name("The kind of", name, names, "for a feature")
        found = {n: kinds.get(n, "auto") for n in names}
    elif isinstance(kinds, Iterable):
        given = list(kinds)
        if len(given) != len(names):
            raise InputError(f"kinds= has {len(given)} entries for {len(names)} features.")
        found = dict(zip(names, given, strict=True))
    else:
        raise InputError(f"kinds must be a word, a mapping or a list, got {kinds!r}.")
    for name, kind in found.items():
        if kind not in known:
            near = close_names(kind, KINDS)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"The kind of {name!r} must be one of {', '.join(KINDS)}, got {kind!r}.{hint}"
            )
    for name in states or {}:
        if name not in names:
            raise unknown_name("The states of", name, names, "for a feature")
        if found[name] == "auto":
            found[name] = "categorical" if cuts_of(tuple(states[name])) is None else "binned"
    together = _groups(names, found, covariance)
    full = covariance == "full"
    return Plan(found, together, states, full, "gaussian" if full else numbers)


def check_numbers(numbers: Any, kinds: Any) -> tuple[str, Any]:
    """How numbers are modelled, as one word and the kinds of those that a mapping names.

    >>> check_numbers({"age": "binned"}, "auto"), check_numbers("gaussian", "auto")
    (('auto', {'age': 'binned'}), ('gaussian', 'auto'))
    """
    words = ("auto", "gaussian", "transformed", "binned")
    given = numbers if isinstance(numbers, Mapping) else {"": numbers}
    for name, word in given.items():
        if word not in words:
            of = f" for {name!r}" if name else ""
            raise InputError(
                f"numbers must be {', '.join(map(repr, words[:-1]))} or {words[-1]!r}{of}, "
                f"got {word!r}.",
                hint="Other kinds of a column are given in kinds=.",
            )
    if not isinstance(numbers, Mapping):
        return numbers, kinds
    if kinds != "auto" and not isinstance(kinds, Mapping):
        raise InputError("With one kind for all, or a list of them, numbers is one word.")
    return "auto", {**numbers, **({} if kinds == "auto" else kinds)}


def _groups(names: Sequence[str], kinds: dict[str, str], covariance: Any) -> list[list[str]]:
    if isinstance(covariance, str) and covariance in ("diagonal", "full"):
        return []
    if isinstance(covariance, str) or not isinstance(covariance, Iterable):
        raise InputError(
            f"covariance must be 'diagonal', 'full' or lists of names, got {covariance!r}."
        )
    groups = [list(g) for g in covariance]
    seen: set[str] = set()
    for group in groups:
        for name in group:
            if name not in names:
                raise unknown_name("Feature", name, names, "in the table")
            if name in seen:
                raise InputError(f"{name!r} stands in two groups of covariance=.")
            if kinds[name] not in ("auto", "gaussian"):
                raise InputError(f"{name!r} is {kinds[name]!r} and cannot vary with others.")
            seen.add(name)
            kinds[name] = "gaussian"
    return [g for g in groups if len(g) > 1]
