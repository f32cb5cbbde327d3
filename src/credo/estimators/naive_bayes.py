"""NaiveBayes: scikit-learn's protocol over a frozen `NaiveBayesModel`.

Features of every kind side by side, gaps in fit and in predict, states never seen before, weights,
updating with new rows: what the model knows; this class only opens the door to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from credo.core.errors import CredoWarning, InputError, unknown_name
from credo.core.schema import Variable
from credo.data import Stream, Table
from credo.data.columns.once import comes_in_batches, feed_of_any
from credo.data.columns.sighting import Sighted
from credo.estimators.answers import Answers, MixedTags, ScoredByName
from credo.estimators.inputs import (
    class_name,
    given_classes,
    on_classes,
    row_weights,
    threads_of,
    without_absent,
)
from credo.estimators.late_model import as_before_if_refused
from credo.estimators.named_columns import NamedColumns
from credo.estimators.open_rows import (
    classed_table,
    encoded_target,
    is_final,
    kinds_for,
    next_plan,
    refuse_nothing,
    refuse_unsettled,
    source_with_class,
    warn_aside,
    weights_elsewhere,
)
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.intervals.naive_bayes import intervals_of_columns
from credo.predict.rows.naive import check_unseen, predict_columns
from credo.predict.rows.naive_explain import Contributions, explain
from credo.predict.rows.naive_linear import LinearForm, linear_form
from credo.stats.by_class import ByClass
from credo.train.naive_bayes.em import ClassedRows, check_unlabelled, em_model, rows_of_source
from credo.train.naive_bayes.fit import Options
from credo.train.naive_bayes.learn import (
    keeps_values,
    plan_of,
    plan_of_source,
    read_for,
    source_by_class,
    told_aside,
    warn_of,
    warn_unread,
)
from credo.train.naive_bayes.once import once_by_class
from credo.train.naive_bayes.plan import Plan
from credo.train.naive_bayes.sighted import columns_to_learn, kinds_of, open_by_class

__all__ = ["NaiveBayes"]

Floats = NDArray[np.float64]


class NamedAnswers(NamedColumns, Answers, ScoredByName):
    """What a classifier of tables with names is asked."""


class NaiveBayes(NamedAnswers, MixedTags, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes for tables as they are: mixed kinds, missing cells, new states, weights.

    Parameters
    ----------
    smoothing : number, or mapping from feature to number, default 1
        l of θ = (n + l) / (N + l·J): the posterior mean under a Dirichlet prior of l a state.
        0 is maximum likelihood; then zeros happen, and an impossible row is refused by name.
        For a number: l rows more in each class, which vary as the feature does within the classes.
    class_prior : list or mapping, optional
        P(class), if it is known; else the shares of the classes, after `class_smoothing` (0)
        was added to each count.
    kinds : "auto", a kind, a list, or a mapping from feature to kind
        'categorical', 'bernoulli' (above 0 or not), 'gaussian', 'counts' (a multinomial over all
        such columns), 'kernel' (density) or 'ignore'; it holds for a column that is constant or
        empty, too. Inferred: text and booleans are categorical, whole numbers with few values too,
        other numbers Gaussian.
    covariance : "diagonal", "full", or lists of names
        Which Gaussian features vary together within a class.
    variance : "shrunk", "ml" or "sample"; variance_floor : number above 0
        (scatter + l·w) / (n + l), where w is the variance within the classes; or without that
        prior, divided by n or n − 1, and at least this share of w.
    states, min_states : optional
        States of a feature that training may not show; or only how many there are at least.
    unseen : "missing", "error" or "smooth"
        A state not seen in training: taken as missing with one warning, refused, or given the
        probability of a new state, l / (N + l·(J + 1)).
    unlabelled : "skip" or "em"
        Rows without a class (None or NaN in y): left out with one warning, or shared out among
        the classes by EM until nothing changes by more than `tol`, in at most `budget` turns.
    n_jobs : int, optional
        Threads; None is 1, −1 all. The answers are the same.

    >>> from credo.estimators import NaiveBayes
    >>> X = [["sunny", 21.5], ["rain", 14.0], ["sunny", None], ["rain", 12.5], ["rain", 23.0]]
    >>> clf = NaiveBayes().fit(X, ["out", "in", "out", "in", "out"])
    >>> clf.predict([["sunny", 13.0], [None, 20.0]]).tolist()
    ['in', 'out']
    >>> clf.kinds_
    {'x0': 'categorical', 'x1': 'gaussian'}
    """

    _plan: Plan
    _apart: tuple[str, ...]

    def __init__(
        self,
        smoothing: Any = 1.0,
        *,
        class_prior: Any = None,
        class_smoothing: float = 0.0,
        kinds: Any = "auto",
        covariance: Any = "diagonal",
        variance: str = "shrunk",
        variance_floor: float = 1e-9,
        states: Any = None,
        min_states: Any = None,
        unseen: str = "missing",
        unlabelled: str = "skip",
        tol: float = 1e-8,
        budget: int = 1000,
        n_jobs: int | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.class_smoothing = class_smoothing
        self.kinds = kinds
        self.covariance = covariance
        self.variance = variance
        self.variance_floor = variance_floor
        self.states = states
        self.min_states = min_states
        self.unseen = unseen
        self.unlabelled = unlabelled
        self.tol = tol
        self.budget = budget
        self.n_jobs = n_jobs

    # --- learning -------------------------------------------------------------------------

    @as_before_if_refused
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and their classes; `y` may be the name of a column of X.

        The class is called as that column, or as the Series `y`; where neither has a name, 'y'.

        >>> import credo as cr
        >>> clf = NaiveBayes(smoothing=0).fit(cr.examples.play_tennis(), "PlayTennis")
        >>> clf.classes_.tolist(), clf.class_count_.tolist()
        (['No', 'Yes'], [5, 9])
        """
        self._forget()
        self.__dict__.pop("_plan", None)
        self._fixed = self._more = False
        if check_unlabelled(self.unlabelled) == "em":
            self._take(self._by_em(X, y, sample_weight))
        else:
            statistic = self._statistic(X, y, sample_weight, reset=True)
            refuse_nothing(statistic)
            self._learn(statistic, self._options())
            warn_aside(statistic)
        warn_of(self.model_, stacklevel=3)
        return self

    def _by_em(self, X: Any, y: Any, sample_weight: Any) -> NaiveBayesModel:
        """All rows together, those without a class by EM; a stream is read once a turn."""
        threads = threads_of(self.n_jobs)
        climb = partial(em_model, tol=self.tol, budget=self.budget, threads=threads)
        check_unseen(self.unseen)
        self._by_name = isinstance(y, str)
        if self._by_name and (comes_in_batches(X) or hasattr(X, "tally")):
            if sample_weight is not None:
                raise weights_elsewhere()
            kinds = self.kinds
            if comes_in_batches(X):
                X, kinds = read_for(X, y, kinds, self.states)
                warn_unread(X.schema, stacklevel=4)
            source = source_with_class(X, y)
            if not isinstance(source, (Table, Stream)):
                raise InputError("Rows without a class need a table or a stream: read it first.")
            self._name([n for n in source.schema.names if n != y])
            self._apart = tuple(source.schema.set_aside)
            plan = plan_of_source(source, y, kinds, self.covariance, self.states)
            self._plan = plan.copy()
            rows, label = rows_of_source(source, y), source.schema[y]
            return climb(rows, label, plan, self._options(), source=source.schema.source)
        part, target, plan = self._classed(X, y, sample_weight)
        return climb(lambda: (part,), target, plan, self._options())

    @as_before_if_refused
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows: exactly what `fit` would have learned from all of them.

        `classes` names all classes at the first call; without it classes are added as they come.
        What a column is, if `kinds` does not say so, all rows together decide; with
        `covariance="full"` it must be known before the first rows.

        >>> rows, y = [[2], [7], [5], [9]], ["u", "v", "u", "v"]
        >>> clf = NaiveBayes().partial_fit(rows, y)
        >>> clf.kinds_, clf.partial_fit(rows, y).kinds_
        ({'x0': 'gaussian'}, {'x0': 'categorical'})
        """
        first = not hasattr(self, "_seen")
        if first:
            self._fixed = classes is not None
        self._more = True
        by_em = check_unlabelled(self.unlabelled) == "em"
        statistic = self._statistic(X, y, sample_weight, reset=first, classes=classes)
        if by_em and (statistic.unlabelled or (not first and self.model_.by_em)):
            raise InputError(
                "unlabelled='em' looks at every row in each turn; partial_fit sees only some.",
                hint="Call fit with all rows, or use unlabelled='skip'.",
            )
        known = None if first else self._seen
        statistic = on_classes(statistic, known, classes, self._fixed)
        self._learn(statistic, self._options())
        warn_aside(statistic, known)
        return self

    def merge(self, other: NaiveBayes) -> NaiveBayes:
        """A new estimator that knows what both know, as if their rows had been one table.

        >>> a = NaiveBayes().fit([["u"], ["v"]], [0, 1])
        >>> b = NaiveBayes().fit([["w"], ["v"]], [0, 1])
        >>> a.merge(b).class_count_.tolist()
        [2, 2]
        """
        from sklearn.base import clone

        check_is_fitted(self, "model_")
        check_is_fitted(other, "model_")
        out: NaiveBayes = clone(self)
        kept = ("_plan", "_fixed", "_every", "_called", "_by_name")
        for name in ("n_features_in_", "feature_names_in_", *kept):
            if hasattr(self, name):
                setattr(out, name, getattr(self, name))
        theirs = other.model_
        if not (self._by_name and other._by_name):  # beside X, labels need no common name
            theirs = theirs.with_class_called(self.model_.target.name)
        out._take(self.model_ + theirs)
        return out

    def _options(self) -> Options:
        return Options(
            self.smoothing,
            self.class_prior,
            self.class_smoothing,
            self.variance,
            self.variance_floor,
            self.min_states,
        ).without(getattr(self, "_apart", ()))

    @property
    def kinds_(self) -> dict[str, str]:
        """What each feature turned out to be.

        >>> X = [[0.5, "u"], [1.5, "v"], [2.5, "v"], [2.0, "u"]]
        >>> NaiveBayes().fit(X, [0, 1, 0, 1]).kinds_
        {'x0': 'gaussian', 'x1': 'categorical'}
        """
        if not hasattr(self, "_seen"):
            raise AttributeError("kinds_ is known after fit.")
        return dict(kinds_of(self._seen, self._plan))

    def _statistic(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, classes: Any = None
    ) -> ByClass:
        check_unseen(self.unseen)
        self._options()
        if reset:
            self._by_name = isinstance(y, str)
        if isinstance(y, str):
            return self._from_source(X, y, sample_weight, reset, classes)
        name = class_name(y) if reset else self._seen.target.name
        if sample_weight is not None and y is not None:
            X, y, sample_weight = without_absent(X, y, sample_weight)
        table = self._sighted(X, reset)
        known = self._known_classes(name, classes, reset)
        own = not reset and is_final(self._seen, table)
        target, group = encoded_target(y, known, own=own, name=name)
        if len(group) != table.rows:
            check_consistent_length(np.empty(table.rows), group)
        return self._counted(table, group, target, row_weights(sample_weight, table.rows), reset)

    def _counted(
        self, table: Sighted, group: Any, target: Variable, weights: Any, reset: bool
    ) -> ByClass:
        """The statistics of some rows, in which what a column is may still be open."""
        plan = self._planned(table.names, reset)
        if reset and self._more:
            refuse_unsettled(plan, table)
        threads, strict = threads_of(self.n_jobs), isinstance(self.kinds, Mapping)
        return open_by_class(
            table, group, target, plan, weights, threads, strict=strict, more=self._more
        )

    def _classed(self, X: Any, y: Any, sample_weight: Any) -> tuple[ClassedRows, Variable, Plan]:
        """Rows with their classes, the class, and what each feature is."""
        if isinstance(y, str):
            if sample_weight is not None:
                raise weights_elsewhere()
            table, target, group = classed_table(X, y)
            self._name(table.names)
        else:
            name = class_name(y)
            if sample_weight is not None and y is not None:
                X, y, sample_weight = without_absent(X, y, sample_weight)
            table = self._sighted(X, reset=True)
            target, group = encoded_target(y, name=name)
        if len(group) != table.rows:
            check_consistent_length(np.empty(table.rows), group)
        weights = row_weights(sample_weight, table.rows)
        plan = self._planned(table.names, reset=True)
        columns, aside = columns_to_learn(table, plan, strict=isinstance(self.kinds, Mapping))
        if aside:
            self._apart = tuple(aside)
            warnings.warn(told_aside(aside), CredoWarning, stacklevel=5)
        return ClassedRows(columns, group, weights), target, plan

    def _from_source(
        self, X: Any, target: str, sample_weight: Any, reset: bool, classes: Any
    ) -> ByClass:
        if sample_weight is not None:
            raise weights_elsewhere()
        if comes_in_batches(X) and not keeps_values(self.kinds):
            return self._from_batches(X, target, reset, classes)
        if not (hasattr(X, "tally") and hasattr(X, "schema")):
            known = self._known_classes(target, classes, reset)
            table, variable, group = classed_table(X, target, known, more=self._more)
            if reset:
                self._every = table.names
                self._name(table.names)
            return self._counted(table, group, variable, None, reset)
        source = source_with_class(X, target)
        if reset:
            self._name([n for n in source.schema.names if n != target])
            self._apart = tuple(source.schema.set_aside)
        kinds: Any = self.kinds if reset else next_plan(self._plan, self._seen).kinds
        found, plan = source_by_class(
            source, target, kinds, self.covariance, self.states, threads_of(self.n_jobs)
        )
        if reset:
            self._plan = plan
        return found

    def _known_classes(self, name: str, classes: Any, reset: bool) -> Variable | None:
        """The class as it is known before the next rows: as given at the first call, or as seen."""
        return given_classes(name, classes) if reset else self._seen.target

    def _from_batches(self, X: Any, target: str, reset: bool, classes: Any) -> ByClass:
        """A path, a relation or a stream: read once, whatever its columns turn out to be."""
        feed = feed_of_any(X)
        names = [n for n in feed.names if n != target]
        if reset:
            self._every = tuple(names)
            self._name(names)
        else:
            for name in self.kinds_:
                if name not in feed.names:
                    raise unknown_name("Column", name, feed.names, f"in {feed.label}")
        plan, threads = self._planned(names, reset), threads_of(self.n_jobs)
        if reset and self._more:
            refuse_unsettled(plan)
        known = self._known_classes(target, classes, reset)
        return once_by_class(feed, target, plan, None, threads, self._more, known)[0]

    def _planned(self, names: Sequence[str], reset: bool) -> Plan:
        """Which kind each feature is, 'auto' where these rows or more of them are to say so."""
        if reset or not hasattr(self, "_plan"):
            kinds = kinds_for(self.kinds, names, self._all_names())
            self._plan = plan_of(names, kinds, self.covariance, self.states)
            return self._plan.copy()
        return next_plan(self._plan, self._seen)

    # --- answering ------------------------------------------------------------------------

    def _answer(self, X: Any, answer: str) -> Any:
        if not hasattr(self, "model_"):
            check_is_fitted(self, "model_")
        columns = self._columns(X)
        return predict_columns(self.model_, columns, answer, self.unseen, threads_of(self.n_jobs))

    def linear_form(self, *, reference: bool = True) -> LinearForm:
        """Bias and weights of the log odds (two classes), or of each class; see docs/explain.md."""
        check_is_fitted(self, "model_")
        return linear_form(self.model_, reference, self.unseen)

    def explain(self, row: Any, *, of: Any = None, against: Any = None) -> Contributions:
        """What each cell of one row says for a class against another, in bits.

        `row` is a mapping from feature to value, or the values in the order of training.
        """
        check_is_fitted(self, "model_")
        if not isinstance(row, Mapping):
            values = list(np.asarray(row, dtype=object).ravel())
            names = self._all_names()
            if len(values) != len(names):
                raise InputError(f"The row has {len(values)} values for {len(names)} features.")
            row = dict(zip(names, values, strict=True))
        aside = {*self._all_names(), *getattr(self, "_every", ())} - set(self.model_.names)
        row = {n: v for n, v in row.items() if n not in aside}
        return explain(self.model_, row, of, against, self.unseen)

    def predict_interval(
        self, X: Any, level: float = 0.95, *, draws: int = 1000, rng: Any = 0
    ) -> Floats:
        """A credible interval for each P(class | row): an array [row, class, low and high].

        >>> clf = NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]], [0, 0, 1, 1])
        >>> low, high = clf.predict_interval([["a"]])[0, 0]
        >>> bool(low < clf.predict_proba([["a"]])[0, 0] < high)
        True
        """
        check_is_fitted(self, "model_")
        columns = self._columns(X)
        return intervals_of_columns(self.model_, columns, level, draws, rng, self.unseen)
