"""History: what was believed and predicted after each step, from no data to all of it.

    P(h | x₁ … x_i)   and   P(x | x₁ … x_i),     i = 0 … n

The steps are replayed from the record of observations when they are asked for, through the
same sums as `observe`, so the last row is today's posterior and nothing quadratic is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np

from credo.core.errors import LimitError, shown, unknown_name
from credo.core.frozen import fixed
from credo.core.render import number, table_text
from credo.model.hypotheses.evidence import Evidence, posterior
from credo.model.hypotheses.generalise import strip
from credo.model.hypotheses.observations import Past
from credo.model.hypotheses.rules import Rule, best, brief, known_rule, scores
from credo.model.hypotheses.space import MAX_CELLS, Space, TableSpace, observed, refuse_weak
from credo.model.values.reals import Floats
from credo.model.values.value import Value, View, whole

RULES = ("average", *get_args(Rule))

_COLUMNS = 6  # hypotheses shown side by side
_ROWS = 24  # steps shown before the middle is left out
_WIDE = 60  # cells of a curve


def curve(values: Floats, wide: int = _WIDE) -> str:
    """Probabilities over time as one row of blocks; a long row is sampled evenly.

    >>> curve(np.array([0.1, 0.5, 1.0]))
    '▁▄█'
    """
    if len(values) > wide:
        values = values[np.linspace(0, len(values) - 1, wide).round().astype(int)]
    return strip([min(1.0, float(v)) for v in values]).rstrip()


def _steps(
    n: Floats, seen: Sequence[Any], columns: Sequence[Floats], digits: int
) -> list[list[str]]:
    """A row for each step, or for those at the two ends where there are many."""

    def rows(steps: Sequence[int]) -> list[list[str]]:
        return [
            [number(n[i]), brief(seen[i]) if i else "", *(number(c[i], digits) for c in columns)]
            for i in steps
        ]

    every = range(len(seen))
    if len(seen) <= _ROWS:
        return rows(every)
    return [*rows(every[:10]), ["…"] + [""] * (len(columns) + 1), *rows(every[-10:])]


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Value, Mapping[str, Floats]):
    """A mapping from rule to the probability of one outcome at each step; prints as a table.

    >>> p = Predictions("lime", np.array([0.0, 1.0]), (None, "lime"),
    ...                 {"average": np.array([0.5, 0.65]), "mle": np.array([0.0, 1.0])})
    >>> print(p)
    P(lime next)
    n  seen  average  mle
    0            0.5    0
    1  lime     0.65    1
    <BLANKLINE>
    average  ▄▅
    mle       █
    """

    outcome: Any
    n: Floats
    observations: tuple[Any, ...]
    by: Mapping[str, Floats]

    def __getitem__(self, rule: str) -> Floats:
        return self.by[known_rule(rule, tuple(self.by), "a way to predict")]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by)

    def __len__(self) -> int:
        return len(self.by)

    def __hash__(self) -> int:
        return hash((tuple(self.by), self.n.tobytes()))

    def __repr__(self) -> str:
        return f"<Predictions of {shown(self.outcome)} at {len(self.n):,} steps>"

    def _view(self) -> View:
        rows = _steps(self.n, self.observations, list(self.by.values()), 4)
        lines = [f"{rule:<7}  {curve(values)}".rstrip() for rule, values in self.by.items()]
        title, right = f"P({brief(self.outcome)} next)", [0, *range(2, 2 + len(self.by))]
        return View(title, ["n", "seen", *self.by], rows, right, below="\n".join(lines))


@dataclass(frozen=True, eq=False, repr=False)
class History(Value):
    """Beliefs after each step; step 0 is the prior, and counted observations are one step.

    >>> from credo.model.hypotheses.hypotheses import Hypotheses
    >>> h = Hypotheses({"fair": {"H": 0.5, "T": 0.5}, "two heads": {"H": 1.0}})
    >>> history = h.observe(["H", "H"]).history
    >>> history.posteriors.round(3).tolist()
    [[0.5, 0.5], [0.333, 0.667], [0.2, 0.8]]
    >>> history.predictions("H")["average"].round(3)
    array([0.75 , 0.833, 0.9  ])
    >>> print(history)
    n  seen   fair  two heads  P(H next)  P(T next)
    0          0.5        0.5       0.75       0.25
    1  H     0.333      0.667      0.833      0.167
    2  H       0.2        0.8        0.9        0.1
    <BLANKLINE>
    fair       ▄▃▂
    two heads  ▄▅▆
    """

    _space: Space
    _weights: Floats
    _log_prior: Floats = field(compare=False)
    _bits: Floats | None
    _past: Past
    _every: int = 1

    @property
    def names(self) -> tuple[Any, ...]:
        """The hypotheses: the columns of `posteriors`."""
        return self._space.names

    def every(self, step: int) -> History:
        """Only every so many steps, and the last: for long histories of large spaces.

        >>> from credo.model.hypotheses.hypotheses import Hypotheses
        >>> h = Hypotheses({"fair": {0: 0.5, 1: 0.5}}).observe([0, 1] * 500)
        >>> h.history.every(400).n.tolist()
        [0.0, 400.0, 800.0, 1000.0]
        """
        return replace(self, _every=whole(step, 1, "The step"))

    def __len__(self) -> int:
        """The number of rows, the one before any observation included."""
        return 1 + -(-self._past.steps // self._every)

    def _kept(self, step: int) -> bool:
        return step % self._every == 0 or step == self._past.steps

    def _walk(self) -> Iterator[tuple[Space, Evidence]]:
        """The space, which may learn, and the evidence after each kept step."""
        space, evidence = self._space, Evidence.none(len(self.names))
        yield space, evidence
        step = 0
        for values, counts in self._past.chunks:
            for i in range(len(values)):
                at = slice(i, i + 1)
                space, evidence = observed(space, evidence, values[at], counts[at], step)
                step += 1
                if self._kept(step):
                    yield space, evidence

    def _posterior(self, row: int, evidence: Evidence) -> Floats:
        if row == 0:
            return self._weights
        p = np.exp(posterior(self._log_prior, evidence)[0])
        return np.asarray(p / p.sum())

    @cached_property
    def n(self) -> Floats:
        """How many observations had come, repeats counted, at each row."""
        total = [0.0]
        running = 0.0
        for step, (_, count) in enumerate(self._past, 1):
            running += count
            if self._kept(step):
                total.append(running)
        n: Floats = fixed(np.array(total))
        return n

    @cached_property
    def observations(self) -> tuple[Any, ...]:
        """The observation that led to each row; the first row has None."""
        seen = [self._space.decode(x) for i, (x, _) in enumerate(self._past, 1) if self._kept(i)]
        return (None, *seen)

    @cached_property
    def posteriors(self) -> Floats:
        """P(h | the first i observations): a row for each step, a column for each hypothesis."""
        cells = len(self) * len(self.names)
        if cells > MAX_CELLS:
            raise LimitError(
                f"The posteriors of {len(self.names):,} hypotheses at {len(self):,} steps would "
                f"take {cells:,} numbers; at most {MAX_CELLS:,} are allowed.",
                hint="Take fewer steps with history.every(100).",
            )
        out = np.empty((len(self), len(self.names)))
        for i, (_, evidence) in enumerate(self._walk()):
            out[i] = self._posterior(i, evidence)
        found: Floats = fixed(out)
        return found

    def predictions(self, outcome: Any) -> Predictions:
        """P(`outcome` next) at each row, by averaging, MAP, ML and MDL.

        For hypotheses that are functions or densities this is the density of `outcome`.
        """
        refuse_weak(self._space)
        code = self._space.encode([outcome])
        out = {rule: np.empty(len(self)) for rule in RULES}
        with np.errstate(over="ignore"):  # of a density
            for i, (space, evidence) in enumerate(self._walk()):
                chances = np.exp(space.rows(code)[0])
                weights = self._posterior(i, evidence)
                out["average"][i] = weights[weights > 0] @ chances[weights > 0]
                for rule in get_args(Rule):
                    score = scores(rule, evidence.log_likelihood, self._log_prior, self._bits)
                    out[rule][i] = chances[best(score)[0]]
        by = {rule: fixed(values) for rule, values in out.items()}
        return Predictions(outcome, self.n, self.observations, by)

    def of(self, name: Any) -> Floats:
        """The posterior of one hypothesis at each row.

        >>> from credo.model.hypotheses.hypotheses import Hypotheses
        >>> Hypotheses({"a": {0: 1.0}, "b": {0: 0.5, 1: 0.5}}).observe([1]).history.of("a")
        array([0.5, 0. ])
        """
        if name not in self.names:
            raise unknown_name("Hypothesis", name, self.names, "in the space")
        return self.posteriors[:, self.names.index(name)]

    def __hash__(self) -> int:
        return hash((self.names, self._past, self._every))

    # --- for people ---------------------------------------------------------------------

    def _shown(self) -> list[int]:
        """The hypotheses to show: all, or those that were ever most probable."""
        if len(self.names) <= _COLUMNS:
            return list(range(len(self.names)))
        order = np.argsort(-self.posteriors[1:].max(axis=0, initial=0.0), kind="stable")
        return sorted(order[:_COLUMNS].tolist())

    def __repr__(self) -> str:
        return f"<History: {len(self) - 1:,} steps of {len(self.names):,} hypotheses>"

    def _view(self) -> View:
        ks = self._shown()
        head = ["n", "seen", *(str(self.names[k]) for k in ks)]
        columns = [self.posteriors[:, k] for k in ks]
        few = isinstance(self._space, TableSpace) and len(self._space.outcomes) <= 3
        for outcome in (self._space.outcomes or ()) if few and not self._space.weak else ():
            head.append(f"P({brief(outcome)} next)")
            columns.append(
                self.posteriors @ np.exp(self._space.rows(self._space.encode([outcome]))[0])
            )
        rows = _steps(self.n, self.observations, columns, 3)
        curves = [[str(self.names[k]), curve(self.posteriors[:, k])] for k in ks]
        below = table_text(curves[0], curves[1:])
        return View("", head, rows, [0, *range(2, len(head))], below=below)
