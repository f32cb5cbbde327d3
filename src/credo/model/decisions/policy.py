"""Policy: what to do in each situation. A strategy is a policy for each decision.

δ(d | situation) ≥ 0,   Σ_d δ(d | situation) = 1        (0 or 1 where one choice is best)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.render import many, number, short_probability
from credo.core.schema import Variable
from credo.model.networks.cpt import Cpt
from credo.model.values.reals import shown
from credo.model.values.tables import filled
from credo.model.values.value import Value, View

__all__ = ["Policy", "Strategy", "policy_of"]

Floats = NDArray[np.float64]

_MOST = 60  # situations printed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Policy(Value):
    """What is done at one decision, by what is known then.

    `table` has an axis for each of `parents` and one for the choices. `situations` is how probable
    each situation is under the strategy, `utility` the expected utility of each choice in it; both
    are there where the policy was worked out, not given.

    >>> act = Variable("Act", "discrete", ("go", "stay"))
    >>> sky = Variable("Sky", "discrete", ("clear", "dark"))
    >>> policy = policy_of(act, (sky,), {"clear": "go", "dark": "stay"})
    >>> policy["dark"]
    'stay'
    >>> print(policy)
    Sky    Act
    clear  go
    dark   stay
    """

    decision: Variable
    parents: tuple[Variable, ...]
    table: Floats
    situations: Floats | None = None
    utility: Floats | None = None

    @property
    def name(self) -> str:
        """The decision."""
        return self.decision.name

    @property
    def choice(self) -> Any:
        """What is done, where that is the same in every situation; else None.

        >>> act = Variable("Act", "discrete", ("go", "stay"))
        >>> policy_of(act, (), "go").choice
        'go'
        """
        codes = np.unique(self.codes if self.situations is None else self._met())
        return self.decision.states[int(codes[0])] if len(codes) == 1 else None

    @property
    def codes(self) -> NDArray[np.intp]:
        """The place of the choice among the options, for each situation."""
        out: NDArray[np.intp] = self.table.argmax(axis=-1)
        return out

    def _met(self) -> NDArray[np.intp]:
        assert self.situations is not None
        return self.codes[self.situations > 0]

    def __getitem__(self, situation: Any) -> Any:
        """The choice for a state of the one parent, or a tuple of states of several."""
        states = situation if isinstance(situation, tuple) else (situation,)
        if len(self.parents) == 1 and self.parents[0].find(situation) is not None:
            states = (situation,)
        if len(states) != len(self.parents):
            raise InputError(
                f"{self.name!r} is decided knowing {[p.name for p in self.parents]}: a state for "
                f"each is needed, got {shown(situation)}."
            )
        return self.given(dict(zip((p.name for p in self.parents), states, strict=True)))

    def given(self, known: Mapping[str, Any]) -> Any:
        """The choice for what is known; more may be known than the policy looks at."""
        for parent in self.parents:
            if parent.name not in known:
                raise InputError(
                    f"What to do at {self.name!r} hangs on {parent.name!r}, which is not given."
                )
        at = tuple(p.code(known[p.name]) for p in self.parents)
        return self.decision.states[int(self.table[at].argmax())]

    def as_cpt(self) -> Cpt:
        """The policy as a table P(choice | situation)."""
        return Cpt(self.decision, self.parents, self.table)

    def _view(self) -> View:
        situations, codes = self.situations, self.codes.ravel().tolist()
        grid = list(product(*(p.texts for p in self.parents)))
        met = [i for i in range(len(grid)) if situations is None or situations.ravel()[i] > 0]
        rows: list[list[str]] = []
        plain = bool(((self.table == 0) | (self.table == 1)).all())
        for i in met[:_MOST]:
            row = self.table.reshape(len(grid), -1)[i]
            done = [self.decision.texts[codes[i]]] if plain else [number(p, 4) for p in row]
            rows.append([*grid[i], *done])
            if situations is not None and self.utility is not None:
                worth = self.utility.reshape(len(grid), -1)[i]
                rows[-1] += [short_probability(float(situations.ravel()[i]))]
                rows[-1] += [number(float(w)) for w in worth]
        head = [p.name for p in self.parents]
        head += [self.name] if plain else [f"{self.name}={s}" for s in self.decision.texts]
        if situations is not None and self.utility is not None:
            head += ["probability", *(f"EU({s})" for s in self.decision.texts)]
        left = len(grid) - len(met)
        notes = (
            [f"{many(left, 'situation')} that the strategy never meets left out"] if left else []
        )
        notes += [f"… {len(met) - _MOST} more"] if len(met) > _MOST else []
        right = range(len(self.parents) + plain, len(head))
        return View("", head, rows, tuple(right), "\n".join(notes))

    def __repr__(self) -> str:
        seen = ", ".join(p.name for p in self.parents)
        done = repr(self.choice) if self.choice is not None else "by situation"
        return f"Policy({self.name}{' | ' if seen else ''}{seen}: {done})"


class Strategy(Mapping[str, Policy]):
    """A policy for each decision, by name, in the order of the decisions.

    >>> act = Variable("Act", "discrete", ("go", "stay"))
    >>> Strategy({"Act": policy_of(act, (), "go")})["Act"].choice
    'go'
    """

    __slots__ = ("_policies",)

    def __init__(self, policies: Mapping[str, Policy]) -> None:
        self._policies = dict(policies)

    def __getitem__(self, decision: str) -> Policy:
        if decision not in self._policies:
            raise unknown_name("Decision", decision, self._policies, "one of the strategy")
        return self._policies[decision]

    def __iter__(self) -> Iterator[str]:
        return iter(self._policies)

    def __len__(self) -> int:
        return len(self._policies)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.values()))

    def __repr__(self) -> str:
        return f"Strategy({', '.join(map(repr, self.values()))})"

    def _repr_html_(self) -> str:
        return "".join(p._repr_html_() for p in self.values())


def policy_of(decision: Variable, parents: tuple[Variable, ...], given: Any) -> Policy:
    """A policy from one choice, choices by situation, a `Cpt` or a `Policy`.

    >>> act = Variable("Act", "discrete", ("go", "stay"))
    >>> policy_of(act, (), "stay").table.tolist()
    [0.0, 1.0]
    """
    if isinstance(given, Policy):
        return given
    if isinstance(given, Cpt):
        if given.child != decision:
            raise InputError(f"The policy of {decision.name!r} is for {given.child.name!r}.")
        return Policy(decision, given.parents, given.values)
    if not isinstance(given, Mapping):
        given = dict.fromkeys(parents[0].states, given) if parents else given

    def chosen(choice: Any, left: tuple[Variable, ...]) -> Floats:
        if isinstance(choice, Mapping):
            raise InputError(f"{what} is a choice for each situation, got {shown(choice)}.")
        one: Floats = np.eye(decision.arity)[decision.code(choice)]
        return one

    what = f"The policy of {decision.name!r}"
    if not parents:
        return Policy(decision, parents, chosen(given, ()))
    return Policy(
        decision, parents, filled(parents, given, what, chosen, (decision.arity,), "choice")
    )
