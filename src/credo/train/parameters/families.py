"""From the statistics of all families to a network and its record."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from credo.core.errors import CredoWarning, TableError
from credo.core.render import number, shortened
from credo.core.schema import Variable
from credo.model.graphs.dag import Dag
from credo.model.networks.count_table import CountTable
from credo.model.networks.count_table import counts as counts_on
from credo.model.networks.cpt import Cpt
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Local, Network
from credo.model.values.learned import Learned
from credo.model.values.record import Record
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.train.parameters.count_families import fit_counts
from credo.train.parameters.lines import Lines, fit_lines, line_log_likelihood, line_log_marginal
from credo.train.parameters.pooled_lines import FLOOR
from credo.train.parameters.tables import Fitted, TableSpec, fit_tables, table_log_likelihood
from credo.train.parameters.tied import renamed

__all__ = ["FamilySpec", "distributions_of", "learn"]

_LISTED = 10  # configurations named in the record, of each family


@dataclass(frozen=True)
class FamilySpec:
    """One family to be learned: what from, and the distribution itself where it is known."""

    child: Variable
    parents: tuple[Variable, ...]
    learned: Learned
    held: Local | None
    prior: str


def learn(
    graph: Dag,
    specs: Sequence[FamilySpec],
    rows: int | float,
    source: str,
    how: str,
    began: float,
    kept: Mapping[str, Local] | None = None,
    told: Mapping[str, dict[str, Any]] | None = None,
) -> Network:
    """The network of all families, with its record; `kept` are learned already, as `told`."""
    if not rows:
        raise TableError("There are no rows to learn from.")
    if not np.isfinite(rows):
        raise TableError(
            "The weights add up to more than a number can hold.",
            hint="Multiply all weights by the same number, so that they are near 1.",
        )
    by_name = {s.child.name: s for s in specs}
    locals_: dict[str, Local] = dict(kept or {})
    report: dict[str, dict[str, Any]] = dict(told or {})
    _tables(by_name, locals_, report)
    _lines(by_name, locals_, report)
    for spec in specs:
        if spec.held is not None:
            _hold(spec, locals_, report)
    items = [report[n] for n in graph.nodes if n in report]
    notes = _notes(items)
    _warn(specs, items)
    total = sum(i["log_likelihood"] for i in items)
    evidence = [i["log_marginal"] for i in items if i["tied"][:1] in ((), (i["child"],))]
    whole = None if None in evidence or not evidence else sum(evidence)
    details = {
        "rows": rows, "log_likelihood": total, "log_marginal": whole, "families": tuple(items),
    }  # fmt: skip
    record = Record(
        how=how,
        source=source,
        score=total,
        seconds=time.perf_counter() - began,
        notes=notes,
        details=details,
    )
    return Network.trusted(graph, {n: locals_[n] for n in graph.nodes}, record)


def distributions_of(specs: Sequence[FamilySpec]) -> list[Local]:
    """The distribution of each family; together they need not make up a graph."""
    out: list[Local] = []
    tables = [s for s in specs if isinstance(s.learned.observed, Counts) and not _counts(s)]
    jobs: list[Any] = [
        TableSpec(s.child, s.parents, (s.learned.observed,), s.learned.prior, s.learned.estimate)  # type: ignore[arg-type]
        for s in tables
    ]
    fitted = iter(fit_tables(jobs))
    for s in specs:
        if _counts(s):
            out.append(_count_table(s, s.learned.observed)[0])
            continue
        if isinstance(s.learned.observed, Counts):
            found = next(fitted)
            out.append(Cpt.trusted(s.child, s.parents, found.values, found.posterior, s.learned))
            continue
        prior: Any = s.learned.prior
        line = fit_lines(s.learned.observed, prior, s.learned.estimate)
        numbers = (line.intercept, line.coefficients, line.variance, line.posterior)
        out.append(LinearGaussian(s.child, s.parents, *numbers, s.learned))
    return out


# --- each kind ----------------------------------------------------------------------------


def _groups(by_name: Mapping[str, FamilySpec], kind: type) -> list[list[FamilySpec]]:
    """The families of one kind that are learned, those that are tied together."""
    out, done = [], set()
    for name, spec in by_name.items():
        if name in done or spec.held is not None or not isinstance(spec.learned.observed, kind):
            continue
        group = [by_name[n] for n in spec.learned.tied] or [spec]
        done |= {s.child.name for s in group}
        out.append(group)
    return out


def _tables(
    by_name: Mapping[str, FamilySpec], out: dict[str, Local], report: dict[str, dict[str, Any]]
) -> None:
    groups = []
    for group in _groups(by_name, Counts):
        if _counts(group[0]):
            _counted(group, out, report)
        else:
            groups.append(group)
    jobs = []
    for group in groups:
        first = group[0]
        counts = tuple(s.learned.observed for s in group)
        prior: Any = first.learned.prior
        jobs.append(
            TableSpec(first.child, first.parents, counts, prior, first.learned.estimate)  # type: ignore[arg-type]
        )
    for group, fitted in zip(groups, fit_tables(jobs), strict=True):
        for spec in group:
            out[spec.child.name] = Cpt.trusted(
                spec.child, spec.parents, fitted.values, fitted.posterior, spec.learned
            )
            report[spec.child.name] = _table_item(spec, group, fitted)


def _table_item(spec: FamilySpec, group: list[FamilySpec], fitted: Fitted) -> dict[str, Any]:
    counts = spec.learned.observed
    assert isinstance(counts, Counts)
    alone = len(group) == 1
    item = _item(spec)
    shape = tuple(p.arity for p in spec.parents)
    unseen = []
    for at in fitted.unseen[:_LISTED].tolist():
        where = np.unravel_index(at, shape) if shape else ()
        unseen.append(tuple(p.states[i] for p, i in zip(spec.parents, where, strict=True)))
    item.update(
        parameters=prod(shape) * (spec.child.arity - 1),
        unseen=len(fitted.unseen),
        unseen_first=tuple(unseen),
        zeros=fitted.zeros,
        log_likelihood=(
            fitted.log_likelihood if alone else table_log_likelihood(counts, fitted.values)
        ),
        log_marginal=fitted.log_marginal if spec is group[0] else None,
    )
    return item


def _counts(spec: FamilySpec) -> bool:
    """Whether a family is one of a number that counts."""
    return spec.held is None and counts_on(spec.child)


def _count_table(spec: FamilySpec, observed: Any) -> tuple[CountTable, float | None]:
    prior = spec.learned.prior
    rows = prior.like_all if isinstance(prior, LinePrior) else 0.0
    rows = 0.0 if spec.learned.estimate == "mle" else rows
    return fit_counts(spec.child, spec.parents, observed, rows, spec.learned)


def _counted(
    group: list[FamilySpec], out: dict[str, Local], report: dict[str, dict[str, Any]]
) -> None:
    first = group[0]
    parts: list[Any] = [spec.learned.observed for spec in group]
    total = parts[0].dense()
    for part in parts[1:]:
        total = Counts(total.variables, total.values + part.dense().values, None, total.skipped)
    table, evidence = _count_table(first, total)
    seen = np.asarray(total.values).sum(axis=-1)
    unseen = [
        tuple(p.states[i] for p, i in zip(first.parents, at, strict=True))
        for at in np.argwhere(seen == 0)[:_LISTED].tolist()
    ]
    for spec in group:
        counts = spec.learned.observed
        assert isinstance(counts, Counts)
        own = table
        if spec is not first:
            own = replace(table, child=spec.child, parents=spec.parents, learned=spec.learned)
        out[spec.child.name] = own
        report[spec.child.name] = _item(spec) | {
            "parameters": table.free_parameters,
            "unseen": int((seen == 0).sum()),
            "unseen_first": tuple(unseen),
            "zeros": 0,
            "log_likelihood": table_log_likelihood(counts, table.values),
            "log_marginal": evidence if spec is first else None,
            "law": table.law,
        }


def _lines(
    by_name: Mapping[str, FamilySpec], out: dict[str, Local], report: dict[str, dict[str, Any]]
) -> None:
    for group in _groups(by_name, Moments):
        first = group[0]
        prior = first.learned.prior
        assert prior is None or isinstance(prior, LinePrior)
        parts = [s.learned.observed for s in group]
        total: Any = parts[0]
        for part in parts[1:]:
            total = total + renamed(part, parts[0])
        lines = fit_lines(total, prior, first.learned.estimate)
        evidence = None if prior is None else line_log_marginal(total, prior)
        for spec in group:
            out[spec.child.name] = LinearGaussian(
                spec.child, spec.parents, lines.intercept, lines.coefficients, lines.variance,
                lines.posterior, spec.learned,
            )  # fmt: skip
            report[spec.child.name] = _line_item(spec, lines, evidence if spec is first else None)


def _line_item(spec: FamilySpec, lines: Lines, evidence: float | None) -> dict[str, Any]:
    moments = spec.learned.observed
    assert isinstance(moments, Moments)
    borrowed = [
        tuple(v.states[i] for v, i in zip(moments.discrete, at, strict=True))
        for at in np.argwhere(lines.borrowed)[:_LISTED].tolist()
    ]
    item = _item(spec)
    item.update(
        parameters=int(lines.variance.size) * (1 + len(moments.continuous)),
        unseen=int(lines.borrowed.sum()),
        unseen_first=tuple(borrowed),
        zeros=0,
        log_likelihood=line_log_likelihood(moments, lines),
        log_marginal=evidence,
        floored=lines.floored,
    )
    return item


def _item(spec: FamilySpec) -> dict[str, Any]:
    found = spec.learned.observed
    return {
        "child": spec.child.name,
        "parents": tuple(p.name for p in spec.parents),
        "prior": "fixed" if spec.held is not None else spec.prior,
        "estimate": spec.learned.estimate,
        "tied": spec.learned.tied,
        "rows": found.total,
        "skipped": found.skipped,
    }


def _hold(spec: FamilySpec, out: dict[str, Local], report: dict[str, dict[str, Any]]) -> None:
    """A distribution that is known: it stays, and the rows only tell how well it does."""
    local, learned = spec.held, spec.learned
    assert local is not None
    observed = learned.observed.marginal([v.name for v in local.variables])
    learned = Learned(observed, learned.estimate, learned.prior, learned.tied)
    if isinstance(local, Cpt):
        assert isinstance(observed, Counts)
        out[local.name] = Cpt.trusted(local.child, local.parents, local.values, None, learned)
        value = table_log_likelihood(observed, local.values)
    else:
        assert isinstance(observed, Moments) and isinstance(local, LinearGaussian)
        parts = (local.intercept, local.coefficients, local.variance)
        out[local.name] = LinearGaussian(local.child, local.parents, *parts, None, learned)
        value = line_log_likelihood(observed, Lines(*parts, None, np.array(False), False))
    report[local.name] = _item(spec) | {
        "parameters": 0, "unseen": 0, "unseen_first": (), "zeros": 0,
        "log_likelihood": value, "log_marginal": value,
    }  # fmt: skip


# --- what to tell -------------------------------------------------------------------------


def _notes(items: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    notes = []
    for i in items:
        if not i["unseen"]:
            continue
        first = i["unseen_first"][0]
        where = ", ".join(f"{p}={s}" for p, s in zip(_discrete(i), first, strict=False))
        plural = "s" * (i["unseen"] != 1)
        if "floored" in i:
            how = "leaned on" if "like_all" in i["prior"] else "took"
            what = f"{i['unseen']:,} configuration{plural} with too few rows {how} the line of all"
        elif "law" in i:
            what = f"{i['unseen']:,} parent configuration{plural} never seen: like all rows"
        elif i["estimate"] == "mle":
            what = f"{i['unseen']:,} parent configuration{plural} never seen: uniform"
        else:
            what = f"{i['unseen']:,} parent configuration{plural} never seen: the prior alone"
        notes.append(f"{i['child']}: {what}" + (f" (first {where})" if where else ""))
    zeros = [i for i in items if i["zeros"]]
    sure = [i["child"] for i in zeros if i["estimate"] == "mle"]
    if zeros:
        cells = sum(i["zeros"] for i in zeros)
        what = f"{_many(cells, 'cell')} without a row in {_many(len(zeros), 'family')}"
        what += f"; their probability is 0 in {shortened(sure)}" if sure else ""
        notes.append(what)
    gaps = [i for i in items if i["skipped"]]
    if gaps:
        most = max(i["skipped"] for i in gaps)
        notes.append(
            f"up to {_many(most, 'row')} skipped in {_many(len(gaps), 'family')} for missing "
            "cells; EM (cr.em) uses them too"
        )
    return tuple(notes)


def _many(n: int | float, noun: str) -> str:
    plural = noun if n == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number(n)} {plural}"


def _discrete(item: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(item["parents"])


def _warn(specs: Sequence[FamilySpec], items: Sequence[Mapping[str, Any]]) -> None:
    constant = [s.child.name for s in specs if _is_constant(s.child)]
    flat = [i["child"] for i in items if i.get("floored")]
    if constant:
        warnings.warn(
            f"{shortened(constant)}: one state only, so there is nothing to learn.",
            CredoWarning,
            stacklevel=4,
        )
    if flat:
        warnings.warn(
            f"{shortened(flat)}: some values do not vary around their line; the variance was "
            f"set to {FLOOR:g} of the variable's own.",
            CredoWarning,
            stacklevel=4,
        )


def _is_constant(variable: Variable) -> bool:
    """Whether a variable has one state; a number in one bin has its density."""
    return variable.is_discrete and variable.arity == 1 and variable.scale is None
