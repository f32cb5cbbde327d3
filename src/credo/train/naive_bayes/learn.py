"""`naive_bayes`: from a table and the name of its class to a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from credo.core.errors import CredoWarning, InputError, SchemaError, TableError
from credo.core.schema import Schema
from credo.data import Stream, Table, read
from credo.data.columns.columns import split_columns
from credo.data.columns.identifiers import are_states
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.stats.tally import Source
from credo.train.naive_bayes.fit import Options, train
from credo.train.naive_bayes.plan import Plan, plan_of
from credo.train.naive_bayes.tally import source_by_class

__all__ = [
    "given_words",
    "is_constant",
    "naive_bayes",
    "plan_of_source",
    "read_again",
    "read_for",
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
        Anything `read` takes. What does not fit in memory is counted batch by batch.
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
    plan = plan_of_source(source, target, kinds, covariance, states)
    statistic = source_by_class(source, target, plan, threads)
    model = train(statistic, options.without(source.schema.set_aside), source.schema.source)
    if source is not table:
        warn_unread(source.schema)
    warn_of(model, stacklevel=3)
    return model


def read_again(x: Any) -> Any:
    """A table that can be read more than once: a reader of Arrow batches becomes a table.

    >>> import pyarrow as pa
    >>> read_again(pa.table({"a": [1, 2]}).to_reader()).num_rows
    2
    """
    return x.read_all() if type(x).__name__ == "RecordBatchReader" else x


def read_for(
    table: Any,
    target: str,
    kinds: Any,
    states: Any = None,
    weights: Any = None,
    *,
    more: bool = False,
    classes: Any = None,
) -> tuple[Any, dict[str, str]]:
    """A table, read with the kinds that were given, even if a column is constant; and the kinds.

    Where `more` rows are to come, a column that has one value so far is kept, and so is a class of
    which `classes` are named but none is shown.

    >>> table, kinds = read_for({"a": [1, 1, 1], "y": [0, 1, 1]}, "y", "counts")
    >>> table.schema.names, kinds
    (('a', 'y'), {'a': 'counts'})
    """
    table = read_again(table)
    weigher = weights if isinstance(weights, str) else None
    source, aside = None, dict[str, str]()
    try:
        source = read(table, None, weights)
        every = [c.name for c in source.schema.columns]
        aside = dict(source.schema.set_aside)
    except TableError:  # the one class, or the kinds that were given, may save it
        every = list(split_columns(table)[0])
        if target not in every or len(every) == 1:
            raise
    if target not in every:
        return source, {}
    plan = plan_of([n for n in every if n not in (target, weigher)], kinds, states=states)
    words = given_words(plan, aside, one=isinstance(kinds, str), more=more)
    if more and aside.get(target) == _EMPTY:
        if classes is None:
            raise InputError(
                f"Every label in {target!r} is missing: there is no class to learn.",
                hint="Begin with rows that have a class, or name all of them with classes=.",
            )
        words[target] = sorted(np.asarray(classes).tolist())
    elif source is None or is_constant(aside.get(target, "")) or _whole_class(source, target, more):
        words[target] = "discrete"  # one class alone is a class too
    if words or source is None:
        source = read(table, words or None, weights)
    gone = source.schema.set_aside if isinstance(kinds, str) else ()
    return source, {n: k for n, k in plan.kinds.items() if n not in gone and k != "ignore"}


def is_constant(reason: str) -> bool:
    """Whether a column was set aside since all its cells are equal.

    >>> is_constant("every cell is 'u'"), is_constant("every cell is missing")
    (True, False)
    """
    return reason.startswith("every cell") and reason != _EMPTY


_EMPTY = "every cell is missing"


def given_words(
    plan: Plan, aside: Mapping[str, str], *, one: bool, more: bool = False
) -> dict[str, Any]:
    """How columns are to be read whose kind was given, also those that the rules set `aside`.

    `one` word for all columns holds for those that can be used, such as constant ones; where
    `more` rows are to come, a column that has one value so far is kept.

    >>> given_words(Plan({"a": "auto", "b": "gaussian"}), {"a": "every cell is 'u'"}, one=False)
    {'b': 'continuous'}
    """
    words: dict[str, Any] = {}
    for name, kind in () if plan.word == "auto" and not aside else plan.kinds.items():
        reason = aside.get(name, "")
        constant, empty = is_constant(reason), reason == _EMPTY
        if kind == "ignore":
            words[name] = "drop"
        elif name in plan.states:
            words[name] = list(plan.states[name])
        elif kind == "auto":
            words |= {name: "discrete"} if constant and more else {}
        elif one and reason and not constant and not empty:
            continue
        elif empty:  # no state is known yet
            words[name] = "continuous"
        elif kind == "bernoulli":
            words |= {name: "discrete"} if reason else {}
        else:
            words[name] = "discrete" if kind == "categorical" else "continuous"
    return words


def _whole_class(source: Any, target: str, more: bool) -> bool:
    """Whether classes that are read as numbers are whole ones: all that were seen where `more`
    are to come, else a few that stand beside gaps, which make decimals of them.
    """
    if target not in source.schema or source.schema[target].is_discrete:
        return False
    if not isinstance(source, Table):
        return more
    values = source.values(target)
    seen = np.unique(values[np.isfinite(values)])
    if not len(seen) or (seen % 1 != 0).any() or more:
        return more and not (seen % 1 != 0).any()
    n = int(np.isfinite(values).sum())
    few = are_states("class", len(seen), n, float(seen[0]), float(seen[-1]))[0]
    return few and n < len(values)


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
