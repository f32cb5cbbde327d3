"""Generalisation: how probable it is that each outcome belongs to the concept.

    P(y ∈ C | data) = Σ_h 1[y ∈ h] · P(h | data)

Not the next example, whose probabilities sum to 1, but membership: every number of a concept
that is certain has probability 1 (Tenenbaum 1999; Murphy, *Machine Learning*, section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from credo.core.errors import unknown_name
from credo.core.render import bar, number
from credo.model.values.reals import Floats
from credo.model.values.value import Value, View, whole

_LEVELS = " ▁▂▃▄▅▆▇█"


def strip(shares: list[float]) -> str:
    """Shares between 0 and 1 as a row of blocks; a share above 0 is always visible.

    >>> strip([0, 0.01, 0.5, 1])
    ' ▁▄█'
    """
    return "".join(_LEVELS[max(round(s * 8), 1 if s >= 1e-3 else 0)] for s in shares)


@dataclass(frozen=True, eq=False, repr=False)
class Generalisation(Mapping[Any, float], Value):
    """A mapping from outcome to P(it belongs to the concept | data); prints as bars.

    >>> import numpy as np
    >>> print(Generalisation((1, 2, 3), np.array([1.0, 0.25, 0.0])))
    outcome  P(in the concept)
    1                        1  ████████████████████
    2                     0.25  █████
    <BLANKLINE>
    1–3      █▂
    """

    outcomes: tuple[Any, ...]
    p: Floats

    @cached_property
    def _by_outcome(self) -> dict[Any, float]:
        return dict(zip(self.outcomes, self.p.tolist(), strict=True))

    def __getitem__(self, outcome: Any) -> float:
        try:
            return self._by_outcome[outcome]
        except (KeyError, TypeError):  # not there, or not hashable
            what = "an outcome of any hypothesis"
            raise unknown_name("Outcome", outcome, self.outcomes, what) from None

    def __contains__(self, outcome: object) -> bool:
        return outcome in self.outcomes

    def __iter__(self) -> Iterator[Any]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def top(self, most: int = 12) -> list[tuple[Any, float]]:
        """The outcomes most probably in the concept, best first; equals in their order.

        >>> import numpy as np
        >>> Generalisation(("a", "b", "c"), np.array([0.2, 1.0, 0.2])).top(2)
        [('b', 1.0), ('a', 0.2)]
        """
        most = whole(most, 0, "The number of outcomes")
        order = sorted(range(len(self.p)), key=lambda i: (-round(float(self.p[i]), 12), i))
        return [(self.outcomes[i], float(self.p[i])) for i in order[:most]]

    def __repr__(self) -> str:
        return f"<Generalisation over {len(self):,} outcomes>"

    def _view(self) -> View:
        rows = [[x, number(p), bar(p)] for x, p in self.top() if p > 0]
        whole = all(type(x) is int for x in self.outcomes)
        below = self._strips() if whole else ""
        return View("", ["outcome", "P(in the concept)", ""], rows, (1,), below=below)

    def _strips(self, wide: int = 50) -> str:
        lines = []
        for start in range(0, len(self), wide):
            part = self.outcomes[start : start + wide]
            blocks = strip(self.p[start : start + wide].tolist())
            lines.append(f"{f'{part[0]}–{part[-1]}':<9}{blocks}".rstrip())
        return "\n".join(lines)
