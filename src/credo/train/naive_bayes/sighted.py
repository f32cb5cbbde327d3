"""Statistics by class of a table of which no column is decided yet; see `naive_bayes_open`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.data.columns.coder import Coder
from credo.data.columns.columns import Column, Columns
from credo.data.columns.identifiers import FEW_INTEGERS
from credo.data.columns.infer import Declared
from credo.data.columns.sighting import Sighted
from credo.data.reading import warn_doubtful
from credo.stats.by_class import ByClass, Part, Points, Spread, StateCounts, Totals
from credo.stats.class_blocks import Spreads, StateTables
from credo.stats.configurations import frozen
from credo.train.naive_bayes.groups import GroupSpread
from credo.train.naive_bayes.open import OpenColumns, settled
from credo.train.naive_bayes.plan import Plan
from credo.train.naive_bayes.rows import by_class, spreads_by_class, tables_by_class
from credo.train.naive_bayes.seen import Seen, may_number_rows, with_moments

__all__ = ["columns_to_learn", "kinds_of", "open_by_class", "seen_by_coder", "word_for_all"]

Codes = NDArray[np.uint32]

_KINDS: dict[type, str] = {
    StateCounts: "categorical",
    StateTables: "categorical",
    Spread: "gaussian",
    GroupSpread: "gaussian",
    Spreads: "gaussian",
    Totals: "counts",
    Points: "kernel",
}


def word_for_all(statistic: ByClass, plan: Plan) -> str | None:
    """The kind of every feature, where one look at the statistic and the plan tells it."""
    parts, given = statistic.parts, plan.word
    if given is None:
        return None
    if isinstance(parts, (StateTables, Spreads)):
        every = len(parts) == len(plan)
        found = _KINDS[type(parts)] if given == "auto" else given
    else:
        every = len(parts) == 1 and type(parts[0]) is Totals and len(parts[0].words) == len(plan)
        found = "counts"
    return found if every else None


def kinds_of(statistic: ByClass, plan: Plan) -> Mapping[str, str]:
    """The kind of each feature: as it was given, or as it was found.

    >>> y, x = (Variable(n, "discrete", (0, 1)) for n in "yx")
    >>> s = ByClass(y, np.ones(2), (StateCounts(x, np.ones((2, 2))),))
    >>> kinds_of(s, Plan({"x": "auto"})), kinds_of(s, Plan({"x": "bernoulli"}))
    ({'x': 'categorical'}, {'x': 'bernoulli'})
    """
    parts, word = statistic.parts, word_for_all(statistic, plan)
    if word is not None:
        return dict.fromkeys(statistic.names, word)
    found = {n: _KINDS[type(p)] for p in parts for n in p.names}
    given = plan.kinds
    order = [n for n in given if n in found]
    return {n: found[n] if given[n] == "auto" else given[n] for n in order}


def open_by_class(
    table: Sighted,
    group: Codes,
    target: Variable,
    plan: Plan,
    weights: NDArray[Any] | None = None,
    threads: int = 1,
    *,
    strict: bool = True,
    more: bool = False,
) -> ByClass:
    """The statistics of a table by class, what may change with more rows kept beside them.

    A `strict` plan names kinds column by column: one that is to be set aside is refused, unless
    `more` rows are to come. Otherwise one word was given for all columns that can be used.

    >>> from credo.data.columns.sighting import sighted
    >>> y = Variable("y", "discrete", (0, 1))
    >>> s = open_by_class(sighted({"a": ["u", "u"]}), np.zeros(2, "u4"), y, Plan({"a": "auto"}))
    >>> s.names, s.open.aside
    ((), {'a': "every cell is 'u'"})
    """
    if not table.coders:
        return by_class(table.plain, group, target, plan, weights, threads)
    names = [n for n in table.names if plan.kinds.get(n, "ignore") != "ignore"]
    left = {n: plan.kinds[n] for n in names if _by_rules(table, n, plan, strict)}
    if plan.full:  # which vary together cannot change any more
        columns, gone = columns_to_learn(table, plan, strict=strict, more=more)
        out = by_class(columns, group, target, plan, weights, threads)
        return replace(out, open=OpenColumns(tuple(names), {}, gone)) if gone else out
    found = {
        n: replace(
            seen_by_coder(table.coders[n], table.declared.get(n)),
            kind=kind,
            raw=n in table.numbers,
        )
        for n, kind in left.items()
    }
    found = _counted(table, found, group, target.arity, weights, threads)
    others = {n: _column(table, n, plan.kinds[n], strict, more) for n in names if n not in found}
    used = {n: c for n, c in others.items() if c is not None}
    rest = Plan({n: plan.kinds[n] for n in used}, plan.together, plan.states, False, plan.pending)
    known = by_class(Columns(table.rows, used), group, target, rest, weights, threads)
    held: dict[str, Seen] = {}
    if isinstance(known.open, OpenColumns):
        held |= known.open.seen()
    parts: dict[str, Part] = {p.names[0]: p for p in known.parts}
    order = tuple(names)
    if plan.pending:
        still: Any = OpenColumns(order, held | found) if held or found else None
        return ByClass(target, known.weight, known.parts, known.unlabelled, still)
    out = settled(target, known.weight, order, held | found, parts, known.unlabelled)
    plan.kinds = dict(kinds_of(out, Plan({n: rest.kinds.get(n, "auto") for n in plan.kinds})))
    still = out.open
    assert isinstance(still, OpenColumns) or still is None
    if still is None or not still.aside:
        return out
    found_so = [table.decision(n) for n in still.aside]  # with numbers of rows
    warn_doubtful(found_so)
    aside = {d.column.name: d.column.reason for d in found_so}
    return replace(out, open=replace(still, aside=aside))


def columns_to_learn(
    table: Sighted, plan: Plan, *, strict: bool = True, more: bool = False
) -> tuple[Columns, dict[str, str]]:
    """Every column decided by these rows, and why others are set aside; `plan` loses those.

    >>> from credo.data.columns.sighting import sighted
    >>> table = sighted({"a": ["u", "u"], "b": ["v", "w"]})
    >>> found, aside = columns_to_learn(table, Plan({"a": "auto", "b": "categorical"}))
    >>> found.names, aside
    (('b',), {'a': "every cell is 'u'"})
    """
    if not table.coders:
        return table.plain, {}
    columns: dict[str, Column] = {}
    aside: dict[str, str] = {}
    for name in table.names:
        kind = plan.kinds.get(name, "ignore")
        if kind == "ignore":
            continue
        column = _column(table, name, kind, strict, more)
        if column is None:
            del plan.kinds[name]
            aside[name] = table.decision(name).column.reason
        else:
            columns[name] = column
    return Columns(table.rows, columns), aside


def _by_rules(table: Sighted, name: str, plan: Plan, strict: bool) -> bool:
    """Whether the rules say of a column what it is, or at least whether it can be used."""
    kind, coder = plan.kinds[name], table.coders.get(name)
    if coder is None or name in plan.states or name in table.wanted:
        return False
    if kind == "auto":
        return True
    grouped = any(name in g for g in plan.together)
    return (
        not strict
        and not grouped
        and (kind == "gaussian" or (kind == "categorical" and coder.holds_codes))
    )


_UNUSED = ("identifier", "text", "date", "doubtful", "unsupported")


def _column(table: Sighted, name: str, kind: str, strict: bool, more: bool) -> Column | None:
    """A column as its kind wants it, were it empty or constant; None if it cannot be used."""
    coder = table.coders.get(name)
    if kind == "auto" or coder is None or name in table.wanted:
        return table.column(name)
    if kind == "bernoulli":
        numbers = coder.holds_numbers or np.isfinite(coder.state_numbers()).all()
        return table.column(name, "continuous" if numbers else "discrete")
    if kind != "categorical":
        return table.column(name, "continuous")
    if coder.holds_numbers and name not in table.numbers:
        return table.column(name, "continuous")  # decimals, each its own state
    found = table.decision(name).column
    if found.kind in _UNUSED and not more and not np.isfinite(coder.state_numbers()).all():
        if not strict:
            return None
        raise InputError(
            f"The column {name!r} was set aside: {found.reason}.",
            hint=f"Read the table with schema={{{name!r}: 'discrete'}} to use it.",
        )
    return table.column(name, "discrete")


def seen_by_coder(coder: Coder, declared: Declared | None = None) -> Seen:
    """What a coder has seen of a column, without its counts by class.

    >>> coder = Coder("a")
    >>> coder.add(np.array(["u", None], dtype=object))
    >>> seen = seen_by_coder(coder)
    >>> seen.values, seen.rows, seen.missing
    (('u',), 2, 1)
    """
    profile = coder.profile()
    seen = Seen(
        coder.name,
        profile.rows,
        profile.missing,
        profile.types,
        profile.values,
        text=profile.text,
        declared=declared,
        doubts=profile.doubts,
    )
    if not coder.holds_numbers:
        return seen
    low, high, whole = profile.low, profile.high, profile.whole
    seen = replace(seen, low=low, high=high, whole=whole)
    return replace(seen, different=may_number_rows(seen, coder.different))


def _counted(
    table: Sighted,
    found: Mapping[str, Seen],
    group: Codes,
    k: int,
    weights: NDArray[Any] | None,
    threads: int,
) -> dict[str, Seen]:
    """The same with the counts or the moments by class."""
    coders = {n: table.coders[n] for n in found}
    codes = {n: c.cells() for n, c in coders.items() if c.holds_codes and c.states}
    numbers = {n: Column(c.numbers()) for n, c in coders.items() if c.holds_numbers}
    for name in [n for n in codes if found[n].never_states]:
        if len(coders[name].states) > FEW_INTEGERS:
            values = np.append(coders[name].state_numbers(), np.nan)
            numbers[name] = Column(values[codes.pop(name)])
    windows = {n: (0, len(coders[n].states) + 2, None, len(coders[n].states)) for n in codes}
    counts = tables_by_class(codes, windows, group, k, weights, threads)
    floats = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    moments = spreads_by_class(
        Columns(table.rows, numbers), list(numbers), group, k, floats, threads
    )
    out: dict[str, Seen] = {}
    for name, seen in found.items():
        spread = moments.get(name)
        if isinstance(spread, Spread):
            out[name] = with_moments(seen, spread)
        elif coders[name].holds_codes:
            d = len(coders[name].states)
            table_here = counts[name][:, :d] if d else np.zeros((k, 0), dtype=np.int64)
            out[name] = replace(seen, counts=frozen(np.ascontiguousarray(table_here)))
        else:
            out[name] = replace(seen, reason=table.decision(name).column.reason)
    return out
