"""What answers about decisions look like: a solution, and a ranking of choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from credo.core.frozen import Frozen
from credo.core.render import Told, bar, number, short_probability
from credo.model.answers.credible import Credible
from credo.model.decisions.policy import Policy, Strategy
from credo.model.values.value import Value, View

__all__ = ["Ranked", "Ranking", "Solution"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Solution(Frozen):
    """The best strategy, and how sure that is.

    `policy` has a policy for each decision, `utility` is the expected utility. Where parameters
    were learned with a prior, `interval` is the credible interval of the strategy's expected
    utility, `p_best` the probability that no other strategy is better, and `regret` how much is
    expected to be lost by not knowing the parameters. `exact` is False where limited memory leaves
    a strategy that no single change improves, but several at once might.

    >>> import credo as cr
    >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
    ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
    >>> print(d.solve())
    expected utility 70
    Take  probability  EU(yes)  EU(no)
    no          1.000       35      70
    """

    policy: Strategy
    utility: float
    interval: Credible | None = None
    p_best: float | None = None
    regret: float | None = None
    exact: bool = True
    given: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    """What the interval leaves out."""

    def __getitem__(self, decision: str) -> Policy:
        return self.policy[decision]

    @property
    def said(self) -> str:
        """The expected utility and how sure it is, in a line or two."""
        known = ", ".join(f"{n}={v}" for n, v in (self.given or {}).items())
        lines = [f"expected utility {number(self.utility)}" + (f" given {known}" * bool(known))]
        if self.interval is not None:
            lines[0] += f", {self.interval}"
        if self.p_best is not None and self.regret is not None:
            lines.append(
                f"this strategy is the best with probability {short_probability(self.p_best)}; "
                f"expected regret {number(self.regret, 4)}"
            )
        if not self.exact:
            lines.append("limited memory: no single policy can be improved, several at once might")
        return "\n".join([*lines, *self.notes])

    def __str__(self) -> str:
        return f"{self.said}\n{self.policy}"

    def __repr__(self) -> str:
        return f"Solution(utility={self.utility:.6g}, {', '.join(map(repr, self.policy.values()))})"

    def _repr_html_(self) -> str:
        lines = "<br>".join(map(escape, self.said.split("\n")))
        return f"<p>{lines}</p>" + self.policy._repr_html_()


@dataclass(frozen=True, slots=True, eq=False)
class Ranked(Told, Frozen):
    """One choice: its expected utility, the interval of that, and how probably none is better."""

    choice: Any
    utility: float
    interval: Credible | None = None
    p_best: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranking(Value):
    """The choices of one decision, the best first; a mapping from choice to expected utility.

    `regret` is what is expected to be lost by not knowing the parameters.

    >>> import credo as cr
    >>> d = cr.DecisionNetwork("[Rain][Take?][U$|Rain:Take]", {"Rain": 0.3},
    ...     utilities={"U": {False: {"yes": 20, "no": 100}, True: {"yes": 70, "no": 0}}})
    >>> print(d.best(given={"Rain": True}))
    Take, given Rain=True
    choice  expected utility
    yes                   70  ██████████
    no                     0
    """

    decision: str
    ranked: tuple[Ranked, ...]
    given: Mapping[str, Any]
    regret: float | None = None
    note: str = ""

    @property
    def choice(self) -> Any:
        """The best choice."""
        return self.ranked[0].choice

    @property
    def utility(self) -> float:
        """Its expected utility."""
        return self.ranked[0].utility

    def __getitem__(self, choice: Any) -> float:
        return next(r.utility for r in self.ranked if r.choice == choice)

    def __iter__(self) -> Iterator[Any]:
        return (r.choice for r in self.ranked)

    def __len__(self) -> int:
        return len(self.ranked)

    def _view(self) -> View:
        low, high = self.ranked[-1].utility, self.ranked[0].utility
        sure = self.ranked[0].p_best is not None
        rows = []
        for r in self.ranked:
            rows.append([str(r.choice), number(r.utility)])
            if sure:
                assert r.interval is not None and r.p_best is not None
                low_end, high_end = (float(e) for e in r.interval)
                ends = f"{number(low_end, 4)} to {number(high_end, 4)}"
                rows[-1] += [ends, short_probability(r.p_best)]
            rows[-1].append(bar((r.utility - low) / (high - low) if high > low else 1.0, 10))
        head = ["choice", "expected utility"]
        if sure:
            assert self.ranked[0].interval is not None
            head += [f"{100 * self.ranked[0].interval.level:g} % interval", "P(best)"]
        known = ", ".join(f"{n}={v}" for n, v in self.given.items())
        notes = [] if self.regret is None else [f"expected regret {number(self.regret, 4)}"]
        notes += [self.note] if self.note else []
        title = self.decision + (f", given {known}" if known else "")
        return View(title, [*head, ""], rows, range(1, len(head)), "\n".join(notes))

    def __repr__(self) -> str:
        said = ", ".join(f"{r.choice} {r.utility:.6g}" for r in self.ranked)
        return f"Ranking({self.decision}: {said})"
