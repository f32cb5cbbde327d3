"""`naive_bayes`: from a table and the name of its class to a model, in one pass."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from credo.core.errors import (
    CredoWarning,
    InputError,
    SchemaError,
    TableError,
    close_names,
    unknown_name,
)
from credo.core.schema import Schema
from credo.data import Stream, Table, read
from credo.data.columns.columns import columns_of
from credo.data.columns.once import comes_in_batches, feed_of_any
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.stats.by_class import ByClass
from credo.stats.tally import Source
from credo.train.naive_bayes.fit import Options, train
from credo.train.naive_bayes.once import once_by_class
from credo.train.naive_bayes.plan import KINDS, Plan, wanted_kinds
from credo.train.naive_bayes.rows import by_class
from credo.train.naive_bayes.tally import tally_by_class

__all__ = [
    "keeps_values",
    "naive_bayes",
    "plan_of",
    "plan_of_source",
    "read_for",
    "source_by_class",
    "told_aside",
    "warn_of",
    "warn_unread",
]


def naive_bayes(
    table: Any,
    target: str,
    *,
    smoothing: Any = 1.0,
    class_prior: Any = None,
    class_smoothing: float = 0.0,
    kinds: Any = "auto",
    covariance: Any = "diagonal",
    variance: str = "shrunk",
    variance_floor: float = 1e-9,
    states: Mapping[str, Sequence[Any]] | None = None,
    min_states: Any = None,
    weights: Any = None,
    threads: int | None = None,
) -> NaiveBayesModel:
    """Learn naive Bayes from anything `read` takes: P(class) and P(feature | class).

    Parameters
    ----------
    table : table or source
        Anything `read` takes. A path, a glob, a DuckDB relation, an Arrow stream or a lazy frame is
        read once, in bounded memory; a `Stream`, which was read before, once more.
    target : name of a discrete column
        The class. Rows in which it is missing are left out, and counted.
    smoothing : number, or mapping from feature to number
        l of θ = (n + l) / (N + l·J). 1 is Laplace's; 0 is maximum likelihood. For a number: l
        rows more in each class, which vary as the feature does within the classes.
    class_prior : mapping or list, optional
        P(class), if it is known; otherwise the shares of the classes, with `class_smoothing`
        added to each count (0: the shares themselves).
    kinds : "auto", a kind, or a mapping from feature to kind
        'categorical', 'bernoulli', 'gaussian', 'counts', 'kernel' or 'ignore'.
    covariance : "diagonal", "full", or lists of names
        Which Gaussian features vary together within a class.
    variance : "shrunk", "ml" or "sample"
        (scatter + l·w) / (n + l), where w is the variance within the classes; or without that
        prior, divided by n, or by n − 1.
    variance_floor : number above 0
        The least variance, as a share of w.
    states, min_states : optional
        The states of a feature, where the table does not show them all; or only how many
        there are at least.

    >>> import credo as cr
    >>> model = cr.naive_bayes(cr.examples.gender_measurements(), "sex", variance="sample")
    >>> print(model.p({"height": 6, "weight": 130, "foot_size": 8}))
    sex           p
    female  0.99999  ████████████████████
    male    0.00001
    """
    options = Options(smoothing, class_prior, class_smoothing, variance, variance_floor, min_states)
    if comes_in_batches(table) and not keeps_values(kinds):
        feed = feed_of_any(table)
        weigher = weights if isinstance(weights, str) else None
        names = [n for n in feed.names if n not in (target, weigher)]
        plan = plan_of(names, kinds, covariance, states)
        statistic, schema = once_by_class(feed, target, plan, weights, threads or 1)
        model = train(statistic, options.without(schema.set_aside), schema.source)
        warn_unread(schema)
        warn_of(model, stacklevel=3)
        return model
    if isinstance(table, (Table, Stream, Source)):
        if weights is not None:
            raise InputError("The table has been read already; give weights= to read.")
        source: Any = table
    else:
        source, kinds = read_for(table, target, kinds, states, weights)
    if target not in source.schema:
        raise _no_target(source, target)
    if not source.schema[target].is_discrete:
        raise SchemaError(
            f"The class {target!r} is continuous.",
            hint=f"Read the table with schema={{{target!r}: 'discrete'}}, or learn a network that "
            "predicts numbers: cr.learn(rows).",
        )
    statistic = source_by_class(source, target, kinds, covariance, states, threads)[0]
    options = options.without(source.schema.set_aside)
    model = train(statistic, options, source.schema.source)
    if source is not table:
        warn_unread(source.schema)
    warn_of(model, stacklevel=3)
    return model


def read_for(
    table: Any, target: str, kinds: Any, states: Any = None, weights: Any = None
) -> tuple[Any, dict[str, str]]:
    """A table, read with the kinds that were given, even if a column is constant; and the kinds.

    >>> table, kinds = read_for({"a": [1, 1, 1], "y": [0, 1, 1]}, "y", "counts")
    >>> table.schema.names, kinds
    (('a', 'y'), {'a': 'counts'})
    """
    every = feed_of_any(table).names
    weigher = weights if isinstance(weights, str) else None
    plan = plan_of([n for n in every if n not in (target, weigher)], kinds, states=states)
    words = wanted_kinds(plan)
    source = read(table, words or None, weights)
    if target in every and source.schema.column(target).kind == "constant":
        words[target] = "discrete"  # one class alone is a class too
        source = read(table, words, weights)
    kept = ("constant", "identifier")
    late = [n for n in plan.of("bernoulli") if source.schema.column(n).kind in kept]
    for name in late:  # numbers are above 0 or not, also where all are
        try:
            source = read(table, words | {name: "continuous"}, weights)
        except TableError:
            source = read(table, words | {name: "discrete"}, weights)
        words[name] = source.schema[name].kind
    return source, {n: kind for n, kind in plan.kinds.items() if kind != "ignore"}


def source_by_class(
    source: Any,
    target: str,
    kinds: Any = "auto",
    covariance: Any = "diagonal",
    states: Any = None,
    threads: int | None = None,
) -> tuple[ByClass, Plan]:
    """The statistics of a source that was read, and its plan; the kinds given are kept to.

    >>> table = read({"a": [1, 2, 1, 2], "y": [0, 1, 1, 0]})
    >>> source_by_class(table, "y", {"a": "gaussian"})[0].parts[0].mean.tolist()
    [[1.5], [1.5]]
    """
    plan = plan_of_source(source, target, kinds, covariance, states)
    if not isinstance(source, Table) or not (plan.states or _other_kinds(source, plan)):
        return tally_by_class(source, target, plan, threads), plan
    group = source.codes(target).astype("uint32")
    label, threads = source.schema[target], threads or 1
    columns = columns_of(source)
    return by_class(columns, group, label, plan, source.weights, threads), plan


def plan_of_source(source: Any, target: str, kinds: Any, covariance: Any, states: Any) -> Plan:
    """Which kind each feature of a source is; one that was set aside and has a kind is refused."""
    aside = source.schema.set_aside
    groups = (
        () if isinstance(covariance, str) or not isinstance(covariance, Iterable) else covariance
    )
    for name in [*(states or ()), *(n for group in groups for n in group)]:
        if name in aside:
            source.schema.index(name)  # says why, and what to do
    if isinstance(kinds, Sequence) and not isinstance(kinds, str):
        every = [c.name for c in source.schema.columns if c.name != target]
        kinds = dict(zip(every, kinds, strict=True)) if len(every) == len(kinds) else kinds
    if isinstance(kinds, Mapping):
        for name in [n for n in kinds if n in aside]:
            if kinds[name] not in ("ignore", "auto"):
                source.schema[name]  # says why it was set aside, and what to do
        kinds = {n: kind for n, kind in kinds.items() if n not in aside}
    return plan_of([n for n in source.schema.names if n != target], kinds, covariance, states)


def _other_kinds(table: Table, plan: Plan) -> bool:
    """Whether a kind is not what the table counts by itself."""
    own = {True: ("auto", "categorical", "ignore"), False: ("auto", "gaussian", "ignore")}
    return any(kind not in own[table.schema[n].is_discrete] for n, kind in plan.kinds.items())


def keeps_values(kinds: Any) -> bool:
    """Whether a feature is to be a kernel density, which keeps every value.

    >>> keeps_values("auto"), keeps_values({"a": "kernel"})
    (False, True)
    """
    if isinstance(kinds, str) or not isinstance(kinds, Iterable):
        return bool(kinds == "kernel")
    return "kernel" in (kinds.values() if isinstance(kinds, Mapping) else list(kinds))


def _no_target(source: Any, target: Any) -> Exception:
    if not isinstance(target, str):
        return InputError(f"The target must be the name of a column, got {target!r}.")
    try:
        source.schema[target]
    except Exception as error:
        return error
    return InputError(f"There is no column {target!r}.")  # pragma: no cover


def warn_of(model: NaiveBayesModel, stacklevel: int = 2) -> None:
    """Say once what was noticed while learning."""
    notes = model.record.notes if model.record is not None else ()
    if notes:
        shown = "; ".join(notes[:4]) + (f"; and {len(notes) - 4} more" if len(notes) > 4 else "")
        warnings.warn(f"Naive Bayes: {shown}.", CredoWarning, stacklevel=stacklevel + 1)


def plan_of(
    names: Sequence[str], kinds: Any, covariance: Any = "diagonal", states: Any = None
) -> Plan:
    """Which kind each feature is, from one word for all, a mapping, or a list in order.

    >>> plan_of(["a", "b"], {"b": "gaussian"}).kinds
    {'a': 'auto', 'b': 'gaussian'}
    """
    known = (*KINDS, "auto")
    if isinstance(kinds, str):
        alone = isinstance(covariance, str) and covariance in ("diagonal", "full")
        if kinds in known and alone and not states:
            return Plan((tuple(names), kinds), full=covariance == "full")
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
    for name, kind in () if isinstance(kinds, str) and kinds in known else found.items():
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
            found[name] = "categorical"
    together = _groups(names, found, covariance)
    return Plan(found, together, states, covariance == "full")


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


def told_aside(aside: Mapping[str, str]) -> str:
    """Which columns are set aside, and why, in a sentence.

    >>> told_aside({"id": "its name"})
    "Columns were set aside: 'id' (its name)."
    """
    text = "; ".join(f"{n!r} ({why})" for n, why in list(aside.items())[:6])
    more = f"; and {len(aside) - 6:,} more" if len(aside) > 6 else ""
    return f"Columns were set aside: {text}{more}."


def warn_unread(schema: Schema, stacklevel: int = 2) -> None:
    """Say which columns of a table that was read here are set aside."""
    own = ("dropped", "weights")
    aside = {c.name: c.reason for c in schema.columns if not c.used and c.kind not in own}
    if aside:
        warnings.warn(told_aside(aside), CredoWarning, stacklevel=stacklevel + 1)
