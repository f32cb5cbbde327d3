"""Cpt: a conditional probability table, one distribution of the child for each parent row.

    θ[u₁, …, u_k, x] = P(child = x | parents = u),   Σ_x θ[u, x] = 1

The axes are the parents in order, then the child: each row of the last axis is one distribution.
Its posterior is θ_u ~ Dirichlet(α_u), so each entry alone is a Beta and its interval exact:

    θ_ux ~ Beta(α_ux, Σ α_u − α_ux)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from credo.core.errors import InputError, LimitError, SchemaError, unknown_name
from credo.core.render import Shown, View, short_probability
from credo.core.schema import Variable
from credo.model.answers.credible import Credible
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval, tails
from credo.model.distributions.quantiles import beta_quantile
from credo.model.networks.cpt_reading import table_values
from credo.model.networks.family import MAX_CELLS, Conditional, cells, family
from credo.model.values.learned import Learned
from credo.model.values.reals import Floats
from credo.model.values.value import readonly

__all__ = ["Cpt", "TableInterval", "completed_intervals", "entry_intervals"]

_DRAWS = 4000  # of an entry whose posterior is a mixture
_COLUMNS = 1000  # entries drawn at once
_SHOWN = 64  # rows of a table that are printed


@dataclass(frozen=True, slots=True, eq=False)
class TableInterval(Shown, Interval):
    """The intervals of a table's entries; it prints as the table does.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.Beta(3, 4))
    >>> print(net.cpt("Fev").interval(0.95))
    P(Fev | Pneu), 95 % intervals
    Pneu        Fev=F        Fev=T
    F     0.316–0.808  0.192–0.684
    T     0.234–0.766  0.234–0.766
    """

    variables: tuple[Variable, ...] = ()
    error: Any = 0.0
    """The Monte Carlo error of the ends, where gaps had to be drawn; else they are exact."""

    def _view(self) -> View:
        low, high = (np.asarray(end).reshape(-1, self.variables[-1].arity) for end in self)

        def row(i: int) -> list[str]:
            ends = zip(low[i].tolist(), high[i].tolist(), strict=True)
            return ["–".join(map(short_probability, pair)) for pair in ends]

        said = f", {100 * self.level:.10g} % intervals"
        view = _table_view(self.variables, said, row)
        worst = float(np.max(self.error, initial=0.0))
        if not worst:
            return view
        return view._replace(note="\n".join(filter(None, [view.note, f"(ends ± {worst:.2g})"])))


def _title(variables: tuple[Variable, ...]) -> str:
    *parents, child = (v.name for v in variables)
    return f"P({child}{' | ' if parents else ''}{', '.join(parents)})"


def _table_view(
    variables: tuple[Variable, ...], said: str, cells_of: Callable[[int], list[str]]
) -> View:
    """A row for each configuration of the parents, a column for each state of the child."""
    *parents, child = variables
    head = [*(p.name for p in parents), *(f"{child.name}={s}" for s in child.texts)]
    each = itertools.islice(itertools.product(*(p.texts for p in parents)), _SHOWN)
    rows = [[*states, *cells_of(i)] for i, states in enumerate(each)]
    hidden = cells(parents) - len(rows)
    note = f"… {hidden:,} more rows" if hidden else ""
    return View(_title(variables) + said, head, rows, range(len(parents), len(head)), note)


def entry_intervals(counts: Floats, level: float) -> Interval:
    """The central intervals of every entry of posterior pseudo-counts, rows along the last axis.

    >>> low, high = entry_intervals(np.array([6.0, 6.0]), 0.95)
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([0.233794, 0.233794], [0.766206, 0.766206])
    """
    share = tails(level)[0]
    if counts.shape[-1] == 1:  # one state is certain
        return Interval(np.ones(counts.shape), np.ones(counts.shape), level)
    # Rows repeat (unseen configurations, binary tables): each different pair is worked out once.
    # The rest is added up, not subtracted, so that nothing is lost beside a large count.
    rest = np.zeros_like(counts)
    rest[..., 1:] = counts[..., :-1].cumsum(axis=-1)
    rest[..., :-1] += counts[..., :0:-1].cumsum(axis=-1)[..., ::-1]
    pairs = np.stack([counts.ravel(), rest.ravel()], axis=1)
    different, where = np.unique(pairs, axis=0, return_inverse=True)
    ends = _quantiles(different, share)[where.ravel()]
    lower, upper = (ends[:, i].reshape(counts.shape) for i in (0, 1))
    return Interval(lower, upper, level)


def completed_intervals(completed: Floats, level: float) -> Credible:
    """The same where the first axis has the pseudo-counts of some completions of the rows.

    Each entry alone is a mixture of Betas, from each of which some draws are taken.

    >>> interval = completed_intervals(np.array([[5.0, 7.0], [7.0, 5.0]]), 0.95)
    >>> np.round(interval.lower, 1).tolist(), interval.draws
    ([0.2, 0.2], 4000)
    """
    chance = np.random.default_rng(0)
    times = -(-_DRAWS // len(completed))
    rest = completed.sum(axis=-1, keepdims=True) - completed
    shape = completed.shape[1:]
    flat = [x.reshape(len(completed), -1) for x in (completed, np.maximum(rest, 0.0))]
    parts = []
    for first in range(0, flat[0].shape[1], _COLUMNS):
        a, b = (np.repeat(x[:, first : first + _COLUMNS], times, axis=0) for x in flat)
        certain = b <= 0  # one state
        drawn = np.where(certain, 1.0, chance.beta(a, np.where(certain, 1.0, b)))
        parts.append(Credible.of(drawn, level, chained=True))
    ends = [np.concatenate([np.asarray(getattr(p, f)) for p in parts]).reshape(shape)
            for f in ("lower", "upper", "error")]  # fmt: skip
    return Credible(ends[0], ends[1], level, times * len(completed), ends[2])


def _quantiles(pairs: Floats, share: float) -> Floats:
    """Both ends for each Beta(a, b), each by the share that lies beyond it."""
    a, b = pairs[:, :1], pairs[:, 1:]
    known = (a > 0) & (b > 0)
    alpha, beta = np.where(known, a, 1.0), np.where(known, b, 1.0)
    low, high = (beta_quantile(alpha, beta, share, above) for above in (False, True))
    out: Floats = np.hstack([low, np.maximum(low, high)])
    for none, value in ((a, 0.0), (b, 1.0)):  # a count of 0 is certain, as far as it goes
        out[none[:, 0] == 0] = value
    return out


TOLERANCE = 1e-6
"""A row may miss 1 by this much; it is then divided by its sum, and the table says so."""


@dataclass(frozen=True, eq=False)
class Cpt(Conditional, Shown):
    """P(child | parents) as a table.

    `rescaled` is how far a row was from adding up to 1 before it was divided by its sum
    (0 when every row was right). `counts`, if there are any, are the pseudo-counts of the
    posterior: a Dirichlet for each row. `learned` says what it was learned from.

    >>> rain = Variable("rain", "discrete", ("no", "yes"))
    >>> wet = Variable("wet", "discrete", ("no", "yes"))
    >>> cpt = Cpt(wet, (rain,), [[0.9, 0.1], [0.2, 0.8]])
    >>> cpt.row({"rain": "yes"})["yes"]
    0.8
    >>> print(cpt)
    P(wet | rain)
    rain  wet=no  wet=yes
    no       0.9      0.1
    yes      0.2      0.8
    """

    child: Variable
    parents: tuple[Variable, ...]
    values: Floats
    counts: Floats | None = None
    rescaled: float = field(default=0.0, compare=False)
    learned: Learned | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", family(self.child, self.parents))
        for v in self.variables:
            if not v.is_discrete:
                raise SchemaError(f"A table cannot have the continuous variable {v.name!r}.")
        if cells(self.variables) > MAX_CELLS:
            raise LimitError(
                f"The table of {self.child.name!r} would have {cells(self.variables):,} numbers; "
                f"at most {MAX_CELLS:,} are allowed.",
                hint="Give it fewer parents, or parents with fewer states.",
            )
        try:
            given = np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"The table of {self.child.name!r} must hold numbers.") from None
        if given.size == cells(self.variables) and given.ndim == 1:
            given = given.reshape(self.shape)
        if given.shape != self.shape:
            raise InputError(
                f"The table of {self.child.name!r} must have the shape {self.shape} "
                f"({', '.join(v.name for v in self.variables)}), got {given.shape}."
            )
        object.__setattr__(self, "values", readonly(self._normalised(given)))
        if self.counts is not None:
            try:
                counts = readonly(self.counts)
            except (TypeError, ValueError):
                counts = readonly(np.nan)
            if counts.shape != self.shape or not (counts >= 0).all():
                raise InputError(f"The pseudo-counts of {self.child.name!r} do not fit its table.")
            object.__setattr__(self, "counts", counts)

    def _normalised(self, given: Floats) -> Floats:
        for bad, what in ((~np.isfinite(given), "is not finite"), (given < 0, "is negative")):
            if bad.any():
                at = tuple(int(i) for i in np.argwhere(bad)[0])
                state = self.child.states[at[-1]]
                raise InputError(
                    f"P({self.child.name}={state}{self._given(at[:-1])}) {what}: {given[at]:g}."
                )
        with np.errstate(over="ignore"):
            total = given.sum(axis=-1, keepdims=True)
        off = np.abs(total - 1.0)
        worst = float(off.max(initial=0.0))
        if worst > TOLERANCE:
            at = tuple(int(i) for i in np.argwhere(off[..., 0] == worst)[0])
            raise InputError(
                f"The probabilities of {self.child.name!r}{self._given(at, ' given')} add up to "
                f"{float(total[(*at, 0)]):.9g}, not to 1.",
                hint="Divide them by their sum if they are weights.",
            )
        if worst > 1e-13:  # dividing again would move the last bits of numbers that are right
            object.__setattr__(self, "rescaled", max(worst, self.rescaled))
            given = given / total
        return given

    def _given(self, at: Sequence[int], word: str = " |") -> str:
        pairs = [f"{v.name}={v.states[i]}" for v, i in zip(self.parents, at, strict=True)]
        return f"{word} {', '.join(pairs)}" if pairs else ""

    # --- building -----------------------------------------------------------------------

    @classmethod
    def trusted(
        cls,
        child: Variable,
        parents: tuple[Variable, ...],
        values: Floats,
        counts: Floats | None,
        learned: Learned | None,
    ) -> Cpt:
        """A table from numbers that need no checking, such as a learner's; not copied."""
        out = object.__new__(cls)
        values.flags.writeable = False
        if counts is not None:
            counts.flags.writeable = False
        out.__dict__.update(
            child=child, parents=parents, values=values, counts=counts, rescaled=0.0,
            learned=learned,
        )  # fmt: skip
        return out

    @classmethod
    def of(cls, child: Variable, parents: Sequence[Variable], given: Any) -> Cpt:
        """A table from an array, nested dicts, a dict by parent states, or a data frame.

        >>> a = Variable("A", "discrete", ("f", "t")); b = Variable("B", "discrete", (0, 1))
        >>> Cpt.of(a, [b], {0: {"f": 0.9, "t": 0.1}, 1: {"t": 0.7, "f": 0.3}}).values.tolist()
        [[0.9, 0.1], [0.3, 0.7]]
        >>> Cpt.of(a, [], {"t": 0.2}).values.tolist()
        [0.8, 0.2]
        """
        parents = family(child, parents)
        if isinstance(given, Cpt):
            return given.on(child, parents)
        return cls(child, parents, table_values(child, parents, given))

    def on(self, child: Variable, parents: tuple[Variable, ...]) -> Cpt:
        """The same table with its parents in another order."""
        if (child, parents) == (self.child, self.parents):
            return self
        if child != self.child or set(parents) != set(self.parents):
            raise SchemaError(
                f"The table is {self.title} and cannot be that of {child.name!r} given "
                f"{[p.name for p in parents]}."
            )
        order = [*(self.parents.index(p) for p in parents), len(parents)]
        counts = None if self.counts is None else self.counts.transpose(order)
        names = tuple(v.name for v in (*parents, child))
        learned = None if self.learned is None else self.learned.on(order, names)
        values = self.values.transpose(order)
        return Cpt(child, parents, values, counts, self.rescaled, learned)

    # --- what it is ---------------------------------------------------------------------

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of states on each axis."""
        return tuple(v.arity for v in self.variables)

    @property
    def free_parameters(self) -> int:
        """How many numbers the table could choose: one less than the states, for each row."""
        return cells(self.parents) * (self.child.arity - 1)

    @property
    def prior(self) -> Floats | None:
        """The pseudo-counts before any row was seen; None without a prior."""
        prior = None if self.learned is None else self.learned.prior
        return prior if isinstance(prior, np.ndarray) else None

    @property
    def has_posterior(self) -> bool:
        """Whether it knows how sure it is."""
        return self.counts is not None

    def interval(self, level: float = 0.95) -> Interval:
        """The central credible interval of every entry: exact, each entry alone is a Beta.

        After EM, which draws the gaps of its rows, a mixture of Betas, with the error of its ends.

        >>> import credo as cr
        >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.Beta(3, 4))
        >>> low, high = net.cpt("Fev").interval(0.95)
        >>> low.round(3).tolist()
        [[0.316, 0.192], [0.234, 0.234]]
        """
        if self.counts is None:
            raise InputError(
                f"The table of {self.child.name!r} has no posterior, so it has no interval.",
                hint="Learn it with a prior, such as cr.fit(dag, rows, prior=cr.BDeu(1)).",
            )
        ends = self.ends(level)
        error = ends.error if isinstance(ends, Credible) else 0.0
        return TableInterval(ends.lower, ends.upper, ends.level, self.variables, error)

    def ends(self, level: float, at: tuple[int, ...] = (), rows: int | None = None) -> Interval:
        """The intervals of the entries below some first states, or of the first rows alone."""
        assert self.counts is not None
        completed = None if self.learned is None else self.learned.completed
        if rows is None:
            if completed is None:
                return entry_intervals(self.counts[at], level)
            return completed_intervals(completed[(slice(None), *at)], level)
        if completed is None:
            return entry_intervals(self.counts.reshape(-1, self.child.arity)[:rows], level)
        flat = completed.reshape(len(completed), -1, self.child.arity)
        return completed_intervals(flat[:, :rows], level)

    def row(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        **states: Any,
    ) -> Distribution:
        """The distribution of the child for one configuration of its parents.

        With `interval=0.95` it carries the credible interval of each probability.
        """
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"A row is named by a mapping from parent to state, got {given!r}.")
        wanted = {**(given or {}), **states}
        names = [p.name for p in self.parents]
        for name in wanted:
            if name not in names:
                raise unknown_name("Parent", name, names, f"one of {self.child.name!r}")
        lacking = [n for n in names if n not in wanted]
        if lacking:
            raise InputError(f"A row of {self.child.name!r} needs a state for {lacking[0]!r} too.")
        at = tuple(p.code(wanted[p.name]) for p in self.parents)
        row = Distribution((self.child,), self.values[at])
        if interval is None:
            return row
        if not self.has_posterior:
            self.interval(interval)  # refuses
        ends = self.ends(interval, at)
        return row.with_interval(ends.lower, ends.upper, ends.level)

    def __getitem__(self, given: Any) -> Distribution:
        """A row by the parents' states in order: `cpt["yes", "no"]`."""
        states = given if isinstance(given, tuple) else (given,)
        if len(states) != len(self.parents):
            raise InputError(
                f"{self.child.name!r} has {len(self.parents)} parents, got {len(states)} states."
            )
        return self.row(dict(zip((p.name for p in self.parents), states, strict=True)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cpt):
            return NotImplemented
        return (
            self.variables == other.variables
            and np.array_equal(self.values, other.values)
            and (self.counts is None) == (other.counts is None)
            and (self.counts is None or np.array_equal(self.counts, other.counts))  # type: ignore[arg-type]
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.values.tobytes()))

    # --- how it looks -------------------------------------------------------------------

    @property
    def title(self) -> str:
        """`P(child | parents)`."""
        return _title(self.variables)

    def _view(self) -> View:
        table = self.values.reshape(-1, self.child.arity)
        return _table_view(self.variables, "", lambda i: [f"{x:.6g}" for x in table[i]])

    def __repr__(self) -> str:
        return f"Cpt({self.title}, {'×'.join(map(str, self.shape))})"
