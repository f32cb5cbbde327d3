"""`naive_bayes`: from a table and the name of its class to a model.

The statistics by class come from a table's columns, a stream's batches, or what a source can tally.
One of another make is asked for the families (feature | class) and nothing else, so naive
Bayes learns wherever a tally can be made.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.core.errors import CredoWarning, InputError, SchemaError, TableError
from credo.core.schema import Schema, Variable
from credo.data import Columns, Stream, Table, are_states, columns_of, read, split_columns
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.stats.by_class import ByClass, ClassMoments, JointMoments, StateCounts
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.stats.tally import Source
from credo.train.naive_bayes.count import by_class
from credo.train.naive_bayes.fit import Options, train
from credo.train.naive_bayes.numbers import LOOKED_AT, model_numbers
from credo.train.naive_bayes.plan import NUMBER, Plan, plan_of
from credo.train.numbers.cutting import some_rows


def naive_bayes(
    table: Any,
    target: str,
    *,
    smoothing: Any = 1.0,
    class_prior: Any = None,
    class_smoothing: float = 0.0,
    kinds: Any = "auto",
    numbers: Any = "auto",
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
        'categorical', 'bernoulli', 'gaussian', 'transformed', 'binned', 'counts', 'kernel' or
        'ignore'.
    numbers : "auto", "gaussian", "transformed", "binned", or a mapping from feature to one of them
        How numbers are modelled whose kind is left to the rules: as a Gaussian in each class, as
        one after a transform, by intervals cut for the class (MODL), or each by what tells the
        class best on rows left out. Without a prior (`smoothing=0`, `variance="ml"` or "sample")
        'auto' is Gaussian.
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
    numbers, kinds = options.numbers_of(numbers, kinds)
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
    plan = plan_of_source(source, target, kinds, covariance, states, numbers)
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
        source = read(table, None, weights).unscaled
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
    if more and aside.get(target) == EMPTY:
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
    return reason.startswith("every cell") and reason != EMPTY


EMPTY = "every cell is missing"


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
        constant, empty = is_constant(reason), reason == EMPTY
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


def plan_of_source(
    source: Any, target: str, kinds: Any, covariance: Any, states: Any, numbers: str
) -> Plan:
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
    names = [n for n in source.schema.names if n != target]
    return plan_of(names, kinds, covariance, states, numbers)


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


def classed_rows(source: Table | Stream, target: str) -> Iterator[tuple[Columns, Any, Any]]:
    """The rows of a table, or of a stream batch by batch: columns, classes and weights."""
    for table in source.batches() if isinstance(source, Stream) else (source,):
        names = [n for n in table.schema.names if n != target]
        columns = columns_of(table.select(names)) if names else Columns(len(table), {})
        yield columns, table.codes(target).astype(np.uint32), table.weights


def source_by_class(source: Any, target: str, plan: Plan, threads: int | None = None) -> ByClass:
    """The statistics of a source that was read; `plan` is settled.

    >>> import credo as cr
    >>> table = cr.read({"a": [1, 2, 1, 2], "y": [0, 1, 1, 0]})
    >>> source_by_class(table, "y", Plan({"a": "gaussian"})).moments.mean.tolist()
    [[1.5, 1.5]]
    """
    if not isinstance(source, (Table, Stream)):
        return tally_by_class(source, target, plan, threads)
    variable = source.schema[target]
    if isinstance(source, Stream):
        settle_stream(source, target, plan)
    found = source.fold(_ByClass(variable, plan, threads or 1))
    if found is None:
        raise TableError("There are no rows to learn from.")
    return found


@dataclass(frozen=True)
class _ByClass:
    """A task: the statistics of a table, wherever it is."""

    target: Variable
    plan: Plan
    threads: int

    def __call__(self, table: Table) -> ByClass:
        ((columns, group, weights),) = classed_rows(table, self.target.name)
        return by_class(columns, group, self.target, self.plan, weights, self.threads)


def settle_stream(source: Stream, target: str, plan: Plan) -> None:
    """Settle a plan by the schema of a stream, and how its numbers are modelled by rows that lie
    evenly in it: no batch says what a column is.
    """
    _by_schema(source, plan)
    open_ = plan.of(NUMBER, "transformed", "binned")
    if open_:
        some = some_rows(source, LOOKED_AT, [target, *open_])
        ((columns, group, weights),) = classed_rows(some, target)
        model_numbers(plan, columns, group, source.schema[target].arity, weights)


def _by_schema(source: Any, plan: Plan) -> None:
    for name in plan.of("auto"):
        plan.kinds[name] = "categorical" if source.schema[name].is_discrete else plan.number
    plan.settle()


def tally_by_class(source: Any, target: str, plan: Plan, threads: int | None = None) -> ByClass:
    """The same statistics from anything that can tally, in one pass; its numbers are Gaussian."""
    variable = source.schema[target]
    plan.numbers = "gaussian" if plan.numbers == "auto" else plan.numbers
    _by_schema(source, plan)
    for name, kind in plan.kinds.items():
        _refuse_other(source.schema[name], kind)
    grouped = {n for g in plan.together for n in g}
    states = plan.of("categorical", "bernoulli")
    reals = [n for n in plan.of("gaussian") if n not in grouped]
    families: list[Any] = [(n, [target]) for n in (*states, *reals)]
    families += [(g[0], [target, *g[1:]]) for g in plan.together]
    options = {} if threads is None else {"threads": threads}
    tally = source.tally([(target, []), *families], **options)
    labels = tally[target, []]
    assert isinstance(labels, Counts)
    k = variable.arity
    joint = [_moments(tally[g[0], [target, *g[1:]]], g, k) for g in plan.together]
    single = [_moments(tally[n, [target]], (n,), k) for n in reals]
    moments = None
    if single:
        n, mean, scatter = (
            np.stack([getattr(m, what).reshape(k) for m in single])
            for what in ("n", "mean", "scatter")
        )
        moments = ClassMoments(tuple(reals), n, mean, scatter)
    return ByClass(
        variable,
        labels.values,
        tuple(n for n, kind in plan.kinds.items() if kind != "ignore"),
        tuple(_states(tally[n, [target]]) for n in states),
        moments,
        tuple(joint),
        unlabelled=labels.skipped,
    )


def _refuse_other(v: Variable, kind: str) -> None:
    """Refuse a kind that cannot be made of what the source counts."""
    own = ("categorical", "bernoulli") if v.is_discrete and v.arity == 2 else ("categorical",)
    if kind in (*(own if v.is_discrete else ("gaussian",)), "ignore"):
        return
    what = "discrete" if v.is_discrete else "continuous"
    raise InputError(
        f"The column {v.name!r} of the source is {what} and cannot be tallied as {kind!r}.",
        hint="Load the source first, or choose another kind.",
    )


def _states(counts: Any) -> StateCounts:
    assert isinstance(counts, Counts)
    return StateCounts(counts.variables[-1], counts.dense().values)


def _moments(found: Any, names: Sequence[str], k: int) -> JointMoments:
    assert isinstance(found, Moments)
    moments = found.marginal([found.discrete[0].name, *names])
    d = len(names)
    n, mean, scatter = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    at = moments.configurations[:, 0]
    n[at], mean[at], scatter[at] = moments.n, moments.mean, moments.scatter
    return JointMoments(tuple(names), n, mean, scatter)
