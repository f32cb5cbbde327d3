"""NaiveBayes: scikit-learn's protocol over a frozen `NaiveBayesModel`.

Features of every kind side by side, gaps in fit and in predict, states never seen before, weights,
updating with new rows: what the model knows; this class only opens the door to it.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from credo.core.errors import CredoWarning, InputError
from credo.core.interval_states import cuts_of
from credo.core.schema import Variable
from credo.data import Columns, Stream, Table, columns_for, matrix_columns, split_columns
from credo.estimators.answers import (
    TableAnswers,
    as_before_if_refused,
    with_columns_of,
)
from credo.estimators.inputs import (
    class_name,
    different_lengths,
    given_classes,
    is_named_table,
    label_array,
    on_classes,
    row_weights,
    threads_of,
)
from credo.estimators.naive_answers import NaiveAnswers
from credo.estimators.rows import (
    encoded_target,
    first_columns,
    is_source,
    later_rows,
    rows_there,
    source_with_class,
    warn_absent,
    warn_grown,
)
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.predict.rows.naive import (
    are_names,
    predict_columns,
    refuse_no_column,
    variables_of,
)
from credo.predict.rows.naive_row import check_unseen
from credo.stats.by_class import ByClass
from credo.train.naive_bayes.count import by_class
from credo.train.naive_bayes.em import Rows, check_unlabelled, em_model
from credo.train.naive_bayes.fit import Options, check_options, train
from credo.train.naive_bayes.learn import (
    classed_rows,
    plan_of_source,
    read_for,
    settle_stream,
    source_by_class,
    tally_by_class,
    told_aside,
    warn_of,
    warn_unread,
)
from credo.train.naive_bayes.plan import Plan


class NaiveBayes(TableAnswers, NaiveAnswers, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
        'categorical', 'bernoulli' (above 0 or not), 'gaussian', 'transformed' (Gaussian after a
        transform), 'binned' (intervals), 'counts' (a multinomial over all such columns), 'kernel'
        (density) or 'ignore'; it holds for a column
        that is constant or empty, too. Inferred: text and booleans are categorical, whole numbers
        with few values too; other numbers as `numbers` says.
    numbers : "auto", "gaussian", "transformed", "binned", or a mapping from feature to one of them
        As a Gaussian in each class, as one after a transform, by intervals cut for the class
        (MODL), or each by what tells the class best on rows left out. Without a prior
        (`smoothing=0`, `variance="ml"` or "sample") 'auto' is Gaussian.
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

    _seen: ByClass
    _how: Options
    _model: NaiveBayesModel
    _plan: Plan

    def __init__(
        self,
        smoothing: Any = 1.0,
        *,
        class_prior: Any = None,
        class_smoothing: float = 0.0,
        kinds: Any = "auto",
        numbers: Any = "auto",
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
        self.numbers = numbers
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
        by_em = check_unlabelled(self.unlabelled) == "em"
        source, target, rows = self._first(X, y, sample_weight, more=False)
        if by_em:
            if rows is None:
                raise InputError("Rows without a class need a table or a stream: read it first.")
            if isinstance(source, Stream):
                settle_stream(source, target.name, self._plan)
            model = em_model(
                rows,
                target,
                self._plan,
                self._options(),
                tol=self.tol,
                budget=self.budget,
                threads=threads_of(self.n_jobs),
                source="" if source is None else source.schema.source,
            )
            self._model = model
            self._know(model.statistic)
        else:
            self._learn(self._counted(source, target, rows))
        warn_of(self.model_, stacklevel=3)
        return self

    @as_before_if_refused
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows: what `fit` would have learned from all of them.

        `classes` names all classes at the first call; without it classes are added as they come,
        and so are states. What a column is, if `kinds` does not say so, the first rows decide, so
        begin with enough of them; a column without a value there is set aside.

        >>> rows, y = [["u", 2.5], ["v", 1.5], ["w", 3.5]], [0, 1, 0]
        >>> clf = NaiveBayes().partial_fit(rows[:2], y[:2]).partial_fit(rows[2:], y[2:])
        >>> clf.kinds_, clf.model_.feature("x0").variable.states
        ({'x0': 'categorical', 'x1': 'gaussian'}, ('u', 'v', 'w'))
        """
        first = not hasattr(self, "_seen")
        by_em = check_unlabelled(self.unlabelled) == "em"
        if first:
            self._fixed = classes is not None
            source, target, rows = self._first(X, y, sample_weight, more=True, classes=classes)
            statistic = self._counted(source, target, rows)
        else:
            statistic = self._more(X, y, sample_weight)
        if by_em and (statistic.unlabelled or (not first and self.model_.by_em)):
            raise InputError(
                "unlabelled='em' looks at every row in each turn; partial_fit sees only some.",
                hint="Call fit with all rows, or use unlabelled='skip'.",
            )
        known = None if first else self._seen
        statistic = on_classes(statistic, known, classes, self._fixed)
        if known is not None:
            warn_grown(known.counts, statistic.counts)
        self._learn(statistic)
        return self

    def merge(self, other: NaiveBayes) -> NaiveBayes:
        """A new estimator that knows what both know, as if their rows had been one table.

        Both must have the same columns, of the same kinds.

        >>> a = NaiveBayes().fit([["u"], ["v"]], [0, 1])
        >>> b = NaiveBayes().fit([["w"], ["v"]], [0, 1])
        >>> a.merge(b).class_count_.tolist()
        [2, 2]
        """
        check_is_fitted(self, "model_")
        check_is_fitted(other, "model_")
        out: NaiveBayes = with_columns_of(self, "_plan", "_every", "_called", "_by_name")
        theirs = other.model_
        if not (self._by_name and other._by_name):  # beside X, labels need no common name
            theirs = theirs.with_class_called(self.model_.target.name)
        out._model = self.model_ + theirs
        out._know(out._model.statistic)
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

    def _forget(self) -> None:
        for name in ("_seen", "_how", "_model", "_every", "_by_name", "_apart", "_plan"):
            self.__dict__.pop(name, None)
        self._fixed = False

    def _learn(self, statistic: ByClass) -> None:
        """Learn from statistics; what is wrong with the options is said now, not later."""
        options = self._options()
        check_options(statistic, options, some=False)
        self.__dict__.pop("_model", None)
        self._how = options
        self._know(statistic)

    def _know(self, statistic: ByClass) -> None:
        self._seen = statistic
        self.classes_ = label_array(statistic.target.states)
        self.class_count_ = np.array(statistic.weight)

    @property
    def model_(self) -> NaiveBayesModel:
        """The frozen model underneath, with everything that it can be asked.

        It is learned when somebody asks for it: thousands of small parts may come before.

        >>> NaiveBayes().fit([["u"], ["v"]], [0, 1]).model_.names
        ('x0',)
        """
        if not hasattr(self, "_model"):
            if not hasattr(self, "_seen"):
                raise AttributeError("model_ is known after fit.")
            self._model = train(self._seen, self._how)
        return self._model

    @property
    def kinds_(self) -> dict[str, str]:
        """What each feature turned out to be.

        >>> X = [[0.5, "u"], [1.5, "v"], [2.5, "v"], [2.0, "u"]]
        >>> NaiveBayes().fit(X, [0, 1, 0, 1]).kinds_
        {'x0': 'gaussian', 'x1': 'categorical'}
        """
        if not hasattr(self, "_seen"):
            raise AttributeError("kinds_ is known after fit.")
        return {n: kind for n, kind in self._plan.kinds.items() if kind != "ignore"}

    @property
    def cuts_(self) -> dict[str, tuple[float, ...]]:
        """Where the numbers are cut that are modelled by intervals; nowhere: it tells nothing.

        >>> X = [[i] for i in range(60)]
        >>> NaiveBayes(numbers="binned").fit(X, [i > 21 for i in range(60)]).cuts_
        {'x0': (21.5,)}
        """
        if not hasattr(self, "_seen"):
            raise AttributeError("cuts_ is known after fit.")
        found = {n: cuts_of(tuple(s)) for n, s in self._plan.states.items()}
        return {n: cuts for n, cuts in found.items() if cuts is not None}

    # --- rows -----------------------------------------------------------------------------

    def _first(
        self, X: Any, y: Any, sample_weight: Any, *, more: bool, classes: Any = None
    ) -> tuple[Any, Variable, Rows | None]:
        """The first rows, which say what each column is: a source, or columns and classes."""
        check_unseen(self.unseen)
        numbers, kinds = self._options().numbers_of(self.numbers, self.kinds)
        self._by_name, name = isinstance(y, str), class_name(y)
        X, y, sample_weight = rows_there(X, y, sample_weight)
        if isinstance(y, str):
            source = X
            if not is_source(X):
                source, kinds = read_for(X, y, kinds, self.states, more=more, classes=classes)
            source = source_with_class(source, y)
            self._plan = plan_of_source(source, y, kinds, self.covariance, self.states, numbers)
            self._plan.more = more
            self._every = tuple(c.name for c in source.schema.columns if c.name != y)
            self._name([n for n in source.schema.names if n != y])
            self._apart = tuple(source.schema.set_aside)
            if source is not X:
                warn_unread(source.schema, stacklevel=4)
            target, rows = source.schema[y], None
            if isinstance(source, (Table, Stream)):
                held = source
                rows = lambda: classed_rows(held, y)  # noqa: E731
            return source, target, rows
        x = self._first_x(X)
        columns, self._plan, aside = first_columns(
            x, kinds, self.covariance, self.states, numbers, more=more
        )
        self._plan.more = more
        if is_named_table(X):
            read = isinstance(x, (Table, Stream))
            self._name(columns.names if read else split_columns(x)[0])
        self._apart = tuple(aside)
        if aside:
            warnings.warn(told_aside(aside), CredoWarning, stacklevel=4)
        target, group = encoded_target(y, given_classes(name, classes), name=name)
        if len(group) != columns.rows:
            raise different_lengths(columns.rows, len(group))
        weights = row_weights(sample_weight, columns.rows)
        return None, target, lambda: ((columns, group, weights),)

    def _counted(self, source: Any, target: Variable, rows: Rows | None) -> ByClass:
        threads = threads_of(self.n_jobs)
        if source is not None or rows is None:
            return source_by_class(source, target.name, self._plan, threads)
        ((columns, group, weights),) = rows()
        return by_class(columns, group, target, self._plan, weights, threads)

    def _more(self, X: Any, y: Any, sample_weight: Any) -> ByClass:
        """More rows, of columns that are known."""
        known, plan, threads = self._seen, self._plan, threads_of(self.n_jobs)
        target, labels, weights = known.target, None, None
        called: Any = None
        total: Any
        X, y, sample_weight = rows_there(X, y, sample_weight)
        if isinstance(y, str):
            if is_source(X) and not isinstance(X, (Table, Stream)):
                return tally_by_class(source_with_class(X, y), y, plan, threads)
        else:
            X, called = self._later_x(X)
            plain = matrix_columns(X, called)
            if plain is not None and are_names(plain, known.names):
                own, group = encoded_target(y, target, own=True, name=target.name)
                if len(group) != plain.rows:
                    raise different_lengths(plain.rows, len(group))
                weights = row_weights(sample_weight, plain.rows)
                return by_class(plain, group, own, plan, weights, threads)
            labels = encoded_target(y, target, name=target.name)
            weights = row_weights(sample_weight, len(labels[1]))
        readings, total = self._readings(), 0
        for part in later_rows(X, called, lambda: (readings, target), labels or y, weights):
            group = part.group.astype(np.uint32)
            total += by_class(part.columns, group, part.target, plan, part.weights, threads)
        found: ByClass = total
        return found

    def _readings(self) -> dict[str, Variable | None]:
        """How the columns of more rows are read: None for those that are numbers."""
        found: dict[str, Variable | None] = dict.fromkeys(self._seen.names)
        known = (c for c in self._seen.counts if not c.above and cuts_of(c.variable.states) is None)
        return found | {c.variable.name: c.variable for c in known}

    # --- answering ------------------------------------------------------------------------

    def _answer(self, X: Any, answer: str) -> Any:
        if not hasattr(self, "model_"):
            check_is_fitted(self, "model_")
        columns = self._columns(X)
        return predict_columns(self.model_, columns, answer, self.unseen, threads_of(self.n_jobs))

    def _columns(self, X: Any) -> Columns:
        """The columns of the features of the model."""
        model, (X, called) = self.model_, self._later_x(X)
        plain = None if called is None else matrix_columns(X, called)
        if plain is not None and are_names(plain, model.names):
            return plain
        found = columns_for(X, variables_of(model), called)
        if len(found.by_name) < len(model.names):
            refuse_no_column(model, found)
            warn_absent(model.names, found)
        return found
