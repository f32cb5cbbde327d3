"""Statistics by class in one pass over rows whose columns are not known yet, in bounded memory.

Each batch of cells comes as codes into the values met so far. They are counted by class in tables
that grow with the values; a column of numbers has its moments added up instead. What a column is,
which states it has and in which order, is decided when the last row has come, by the rules of
`read`; the tables are then put in that order. The counts are those of the table in memory, to the
last one; the moments agree to 1e-12.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, LimitError, SchemaError
from credo.core.schema import MAX_STATES, Schema, Variable
from credo.data.columns.coder import Batch, Coder
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.data.columns.once import Once
from credo.data.sources.feed import Feed
from credo.stats.by_class import ByClass, Part, Spread, StateCounts, Totals
from credo.stats.configurations import frozen
from credo.train.naive_bayes.groups import GroupSpread, group_spread
from credo.train.naive_bayes.open import OpenColumns
from credo.train.naive_bayes.plan import Plan, wanted_kinds
from credo.train.naive_bayes.reorder import (
    cell_numbers,
    counts_above,
    moments_of_counts,
    placed,
    room_for,
    spread_in_order,
)
from credo.train.naive_bayes.rows import ABOVE
from credo.train.naive_bayes.seen import Seen, with_moments
from credo.train.naive_bayes.sighted import seen_by_coder

__all__ = ["once_by_class"]

Floats = NDArray[np.float64]
Codes = NDArray[np.uint32]
Where = NDArray[np.intp]
Cells = tuple[NDArray[Any], NDArray[np.int64]]

_WIDE = 512  # columns of more states are counted one by one, in place
_ROOM = 2**31  # bytes that the tables may take


def once_by_class(
    feed: Feed,
    target: str,
    plan: Plan,
    weights: Any = None,
    threads: int = 1,
    more: bool = False,
    known: Variable | None = None,
) -> tuple[ByClass, Schema]:
    """The statistics of some batches, and what their columns are; `plan` is settled.

    With `more` rows to come, one class alone is a class too; where no row has a class, there are
    those that are `known`.

    >>> from credo.data.columns.once import feed_of_any
    >>> plan = Plan({"a": "auto"})
    >>> feed = feed_of_any({"a": ["u", "v", "u"], "y": [0, 1, 1]})
    >>> s, _ = once_by_class(feed, "y", plan)
    >>> s.parts[0].values.tolist(), plan.kinds
    ([[1, 0], [1, 1]], {'a': 'categorical'})
    """
    for name in plan.of("kernel"):
        raise InputError(
            f"A kernel density keeps every value of {name!r}: it is not learned batch by batch.",
            hint="Load the table first with credo.read, or choose 'gaussian'.",
        )
    wanted = wanted_kinds(plan) | ({target: "discrete"} if more and target in feed.names else {})
    once = Once(feed, wanted or None, weights)
    if target not in once.coders:
        raise _no_column(once, target)
    counting = _Counting(once, target, plan, threads)
    for batch, w in once.batches():
        counting.add(batch, w)
    labels = once.coders[target].states
    if len(labels) == 1:  # one class alone is a class too
        once.take_as(target, "discrete")
    if more and not len(labels) and known is None:
        raise InputError(
            f"Every label in {target!r} is missing: there is no class to learn.",
            hint="Begin with rows that have a class, or name all of them with classes=.",
        )
    if more and not len(labels) and known is not None:
        once.take_as(target, known)
    schema = once.schema()
    found = counting.finish(schema, known if more and not len(labels) else None)
    if found is not None:
        return found, schema
    if feed.once:
        raise InputError(
            "Which features vary together is not known before the last row, and "
            f"{feed.label} can be read only once.",
            hint="Give kinds= for every feature, or lists of names as covariance=.",
        )
    return once_by_class(feed, target, plan, weights, threads, more, known)  # kinds are known now


def _no_column(once: Once, target: Any) -> Exception:
    if not isinstance(target, str):
        return InputError(f"The target must be the name of a column, got {target!r}.")
    try:
        Schema(tuple(Variable(n, "continuous") for n in once.feed.names))[target]
    except Exception as error:
        return error
    return InputError(f"The class {target!r} cannot be its own weight.")


class _Counting:
    """Tables of counts and moments that grow with the classes and the states."""

    def __init__(self, once: Once, target: str, plan: Plan, threads: int) -> None:
        self.once, self.target, self.plan, self.threads = once, target, plan, threads
        self.k = 4  # room for classes
        self.weight = np.zeros(self.k)
        self.unlabelled = 0.0
        self.weighted = False
        self.tables: dict[str, NDArray[Any]] = {}
        self.spreads: dict[str, Spread] = {}
        self.above: dict[str, NDArray[Any]] = {}
        self.totals: dict[str, NDArray[Any]] = {}
        self.joint: dict[tuple[str, ...], GroupSpread] = {}
        self.full: tuple[str, ...] | None = None
        self.gone: set[str] = set()

    # --- a batch --------------------------------------------------------------------------

    def add(self, batch: dict[str, Batch | None], weights: Floats | None) -> None:
        """Count the rows of one batch."""
        group = self._group(batch[self.target], weights)
        counted: dict[str, Cells] = {}
        numbers: dict[str, Floats] = {}
        for name, cells in batch.items():
            if name == self.target or name in self.gone:
                continue
            coder = self.once.coders[name]
            if cells is None or (coder.kind == "declared" and not coder.holds_codes):
                self._let_go(name)
            elif isinstance(cells, np.ndarray):
                self._to_numbers(name, coder)
                numbers[name] = cells
            elif name in self.spreads or self._too_many(name, coder):
                if not self._to_numbers(name, coder):
                    continue
                numbers[name] = cell_numbers(cells, coder)
            else:
                counted[name] = cells
        self._count(counted, group, weights)
        self._sum(numbers, group, weights)
        self._together(numbers, counted, group, weights)

    def _group(self, cells: Batch | None, weights: Floats | None) -> Codes:
        """The class of each row; the number of classes there is room for where it has none."""
        coder = self.once.coders[self.target]
        if not isinstance(cells, tuple) or len(coder.states) > MAX_STATES:
            raise self._continuous()
        if len(coder.states) > self.k:
            self._more_classes(room_for(len(coder.states)))
        where, lut = cells
        codes = lut.astype(np.uint32)
        codes[-1] = self.k
        group = np.empty(len(where), dtype=np.uint32)
        _core.take_codes(where, codes, group)
        found = np.bincount(group, weights, minlength=self.k + 1)
        self.weight += found[: self.k]
        self.unlabelled += float(found[self.k])
        self.weighted |= weights is not None
        return group

    def _continuous(self) -> SchemaError:
        return SchemaError(
            f"The class {self.target!r} is continuous.",
            hint=f"Read the table with schema={{{self.target!r}: 'discrete'}}, or learn a "
            "regression.",
        )

    def _too_many(self, name: str, coder: Coder) -> bool:
        """Whether values are too many to be states, whatever comes."""
        n = len(coder.states)
        if coder.kind == "declared":
            return False  # the coder lets go of them
        if coder.kind == "discrete":
            if n > MAX_STATES:
                raise LimitError(
                    f"{name!r} has {n:,} states; at most {MAX_STATES:,} are allowed.",
                    hint="Make it 'gaussian', or group its values.",
                )
            return False
        whole = coder.types == {"int"} and not coder.text
        return n > (FEW_INTEGERS if whole else MAX_STATES)

    def _more_classes(self, k: int) -> None:
        def wider(a: NDArray[Any]) -> NDArray[Any]:
            out = np.zeros((k, *a.shape[1:]), dtype=a.dtype)
            out[: len(a)] = a
            return out

        for held in (self.tables, self.above, self.totals):
            for name, a in held.items():
                held[name] = wider(a)
        where = np.arange(self.k)
        self.spreads = {n: s.on_classes(where, k) for n, s in self.spreads.items()}
        self.joint = {n: s.on_classes(where, k) for n, s in self.joint.items()}
        self.weight, self.k = wider(self.weight), k

    def _table(self, name: str, states: int) -> NDArray[Any]:
        """The counts of a column, with room for its states; missing ones stand last but one."""
        kind = np.float64 if self.weighted else np.int64
        old = self.tables.get(name)
        most = room_for(states)
        if old is not None and old.shape[1] >= most + 2:
            return old
        held = sum(t.nbytes for t in self.tables.values())
        if held + 8 * self.k * most > _ROOM:
            raise LimitError(
                f"The counts of {name!r} for {self.k:,} classes and {states:,} states would pass "
                f"{_ROOM / 1e9:.0f} GB.",
                hint="Leave the column out with kinds={…: 'ignore'}, or group its values.",
            )
        table = np.zeros((self.k, most + 2), dtype=kind)
        if old is not None:
            table[:, : old.shape[1] - 2] = old[:, :-2]
        self.tables[name] = table
        return table

    def _count(self, columns: dict[str, Cells], group: Codes, weights: Floats | None) -> None:
        narrow: dict[str, tuple[NDArray[Any], Any]] = {}
        for name, (where, lut) in columns.items():
            table = self._table(name, len(self.once.coders[name].states))
            missing = table.shape[1] - 2
            if missing > _WIDE:
                lut[-1] = missing
                place = group.astype(np.int64) * table.shape[1] + lut[where]
                seen = group < self.k
                w: Any = 1 if weights is None else weights[seen]
                np.add.at(table.reshape(-1), place[seen], w)
                continue
            codes = lut.astype(np.uint16)
            codes[-1] = missing
            narrow[name] = where, (0, len(codes), codes, missing)
        if not narrow:
            return
        arrays, windows = zip(*narrow.values(), strict=True)
        flat = _core.naive_counts(list(arrays), list(windows), group, self.k, weights, self.threads)
        at = 0
        for name in narrow:
            table = self.tables[name]
            table += flat[at : at + table.size].reshape(table.shape)
            at += table.size

    def _sum(self, columns: dict[str, Floats], group: Codes, weights: Floats | None) -> None:
        plain = {n: a for n, a in columns.items() if self._kind(n) in ("auto", "gaussian")}
        if plain:
            with np.errstate(all="ignore"):
                n, mean, scatter = _core.naive_moments(
                    list(plain.values()), group, self.k, weights, self.threads
                )
            for j, name in enumerate(plain):
                part = Spread((name,), n[j], mean[j, :, None], scatter[j, :, None, None])
                old = self.spreads.get(name)
                self.spreads[name] = part if old is None else old + part
        for name, values in columns.items():
            if self._kind(name) == "bernoulli":
                flat = _core.naive_counts([values], [ABOVE], group, self.k, weights, self.threads)
                found = flat.reshape(self.k, 4)[:, :2]
                self.above[name] = self.above[name] + found if name in self.above else found
            elif self._kind(name) == "counts":
                if (values < 0).any():
                    raise InputError(f"The counts {name!r} must be finite and not negative.")
                x = np.nan_to_num(values) * (1.0 if weights is None else weights)
                total = np.bincount(group, x, minlength=self.k + 1)[: self.k]
                self.totals[name] = self.totals.get(name, np.zeros(self.k)) + total

    def _kind(self, name: str) -> str:
        return self.plan.kinds.get(name, "auto")

    def _together(
        self,
        numbers: dict[str, Floats],
        counted: dict[str, Cells],
        group: Codes,
        weights: Floats | None,
    ) -> None:
        """Moments of columns that vary together; with full covariance of all that may."""
        groups = list(self.plan.together)
        if self.plan.full:
            whole = {n: c for n, c in counted.items() if self.once.coders[n].types <= {"int"}}
            here = tuple(n for n in self.plan.kinds if n in numbers or n in whole)
            numbers = numbers | {n: cell_numbers(c, self.once.coders[n]) for n, c in whole.items()}
            here = tuple(n for n in here if self._kind(n) in ("auto", "gaussian"))
            if self.full is None:
                self.full = here
            if self.full != here:
                self.full = ()
            groups = [self.full] if len(self.full) > 1 else []
        for names in groups:
            if not all(n in numbers for n in names):
                continue
            arrays = [np.ascontiguousarray(numbers[n]) for n in names]
            part = group_spread(names, arrays, group, self.k, weights, self.threads)
            old = self.joint.get(names)
            self.joint[names] = part if old is None else old + part

    # --- changing one's mind --------------------------------------------------------------

    def _let_go(self, name: str) -> None:
        self.gone.add(name)
        self.tables.pop(name, None)
        self.spreads.pop(name, None)

    def _to_numbers(self, name: str, coder: Coder) -> bool:
        """What was counted as states becomes moments; False if they are no numbers."""
        table = self.tables.pop(name, None)
        if table is None:
            return True
        values = coder.state_numbers()
        if len(coder.states) > MAX_STATES and np.isnan(values).all():
            self._let_go(name)
            return False
        if self._kind(name) == "bernoulli":
            self.above[name] = counts_above(table, values)
        else:
            self.spreads[name] = moments_of_counts(name, table, values)
        return True

    # --- the end --------------------------------------------------------------------------

    def finish(self, schema: Schema, known: Variable | None = None) -> ByClass | None:
        """The statistics; None if the rows must be read again, now that every kind is known.

        The class is the `known` one where no row has a label.
        """
        variable = known or schema[self.target]
        if not variable.is_discrete:
            raise self._continuous()
        plan = self.plan
        names = [n for n in plan.kinds if n in schema or self._is_above(n)]
        every = tuple(n for n, kind in plan.kinds.items() if kind != "ignore")
        left = [] if plan.full else plan.of("auto")
        plan.kinds = {n: k for n, k in plan.kinds.items() if n in names}
        for n in plan.of("auto"):
            plan.kinds[n] = "categorical" if schema[n].is_discrete else "gaussian"
        plan.settle()
        joint = self._joint()
        if joint is None:
            plan.full = False
            return None
        order = self.once.codes(variable).astype(np.intp)
        reasons = schema.set_aside
        seen = {n: self._seen(n, order, variable.arity, reasons.get(n, "")) for n in left}
        parts: dict[str, Part] = {}
        for name in names:
            kept = schema[name] if name in schema else Variable(name, "continuous")
            part = self._part(kept, order, variable.arity)
            if part is not None:
                parts[name] = part
        for group, spread in joint.items():
            for name in group:
                parts.pop(name, None)
            parts[group[0]] = spread.in_order(order, variable.arity)
        bag = plan.of("counts")
        if bag:
            totals = np.stack([placed(self.totals[n], order, variable.arity) for n in bag], 1)
            parts[bag[0]] = Totals(tuple(bag), frozen(totals))
        weight = self._whole(placed(self.weight, order, variable.arity))
        lost = int(self.unlabelled) if self._counts_whole else self.unlabelled
        ordered = tuple(parts[n] for n in plan.kinds if n in parts)
        aside = {n: reasons[n] for n in left if n in reasons}
        still = OpenColumns(every, seen, aside) if seen else None
        return ByClass(variable, weight, ordered, lost, still)

    def _is_above(self, name: str) -> bool:
        """Whether a column holds numbers that are told apart as above 0 or not."""
        if self._kind(name) != "bernoulli":
            return False
        if name in self.above:
            return True
        return name in self.tables and bool(
            np.isfinite(self.once.coders[name].state_numbers()).all()
        )

    def _seen(self, name: str, order: Where, k: int, reason: str) -> Seen:
        """What was seen of a column whose kind more rows may change."""
        coder = self.once.coders[name]
        seen = replace(seen_by_coder(coder, self.once.feed.declared.get(name)), reason=reason)
        moments, table = self.spreads.get(name), self.tables.get(name)
        if moments is not None:
            return with_moments(seen, spread_in_order(moments, order, k))
        if name in self.gone or not coder.holds_codes:
            return replace(seen, values=None)
        d = len(coder.states)
        found = np.zeros((k, d), np.int64) if table is None else placed(table[:, :d], order, k)
        return replace(seen, counts=frozen(self._whole(found)))

    @property
    def _counts_whole(self) -> bool:
        return not self.weighted or self.once.whole_weights

    def _whole(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Counts as whole numbers, if the weights are."""
        return counts.astype(np.int64) if self._counts_whole else counts

    def _joint(self) -> dict[tuple[str, ...], GroupSpread] | None:
        """The moments of the columns that vary together; None if they are not known."""
        out: dict[tuple[str, ...], GroupSpread] = {}
        for names in self.plan.together:
            if names in self.joint:
                out[names] = self.joint[names]
                continue
            (held,) = self.joint.values() or (None,) if len(self.joint) < 2 else (None,)
            if held is None or not set(names) <= set(held.names):
                return None
            if any(self.once.coders[n].missing for n in set(held.names) - set(names)):
                return None
            at = [held.names.index(n) for n in names]
            out[names] = GroupSpread(names, held.n, held.mean[:, at], held.scatter[:, at][:, :, at])
        return out

    def _part(self, v: Variable, order: Where, k: int) -> Part | None:
        kind = self._kind(v.name)
        table = self.tables.get(v.name)
        if kind == "counts":
            return None
        if v.is_discrete and not self._is_above(v.name):
            if kind == "bernoulli" and v.arity > 2:
                raise InputError(
                    f"A Bernoulli feature has two states; {v.name!r} has {v.arity}.",
                    hint="Make it 'categorical'.",
                )
            out = np.zeros((k, v.arity), dtype=np.float64 if self.weighted else np.int64)
            if table is not None:  # None: every cell is missing
                codes = self.once.codes(v).astype(np.intp)
                np.add.at(out, np.ix_(order, codes), table[: len(order), : len(codes)])
            return StateCounts(v, frozen(self._whole(out)))
        if table is not None:
            self._to_numbers(v.name, self.once.coders[v.name])
        if kind == "bernoulli":
            counts = self.above.get(v.name, np.zeros((self.k, 2)))
            named = Variable(v.name, "discrete", (0, 1))
            return StateCounts(named, frozen(self._whole(placed(counts, order, k))), True)
        return spread_in_order(self.spreads[v.name], order, k)
