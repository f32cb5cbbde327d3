"""NetworkClassifier: TAN, AODE, or any Bayesian network, behind scikit-learn's protocol."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from credo.core.errors import CredoWarning, InputError
from credo.core.schema import Variable
from credo.data import Stream
from credo.data.columns.absent import warn_renamed
from credo.data.columns.columns import Column, Columns, columns_for, columns_of, position_names
from credo.data.sources.unnamed import unmasked
from credo.estimators.answers import MixedTags, ScoredByName
from credo.estimators.inputs import (
    different_lengths,
    given_classes,
    is_named_table,
    label_array,
    not_among_classes,
    refuse_other_classes,
    row_weights,
    threads_of,
    validated,
    without_absent,
)
from credo.estimators.late_model import as_before_if_refused
from credo.estimators.network_counts import Counted, counted_rows, counted_stream, more_counted
from credo.estimators.network_explain import cells_of_row, explained, one_by_one
from credo.estimators.network_first import FirstRows, class_in_network, first_columns, first_table
from credo.estimators.network_rows import (
    by_position,
    check_bins,
    class_name,
    first_block,
    known_stream,
    number_column,
    state_codes,
)
from credo.estimators.network_unseen import model_scores
from credo.estimators.open_rows import encoded_target, weights_elsewhere
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.predict.rows.naive import check_unseen, report_unseen
from credo.predict.rows.naive_explain import Contributions
from credo.train.naive_bayes.class_networks import METHODS
from credo.train.naive_bayes.learn import told_aside
from credo.train.naive_bayes.options import not_negative

__all__ = ["NetworkClassifier"]

Floats = NDArray[np.float64]


class NetworkClassifier(ScoredByName, MixedTags, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian network as a classifier.

    Parameters
    ----------
    method : "tan", "aode", "naive-bayes", a `Dag`, or a `Network`
        Tree-augmented naive Bayes; averaged one-dependence estimators; a graph whose tables are
        learned; or a network that is used as it is (then `fit` only compares names and classes).
    target : str, optional
        The name of the class in the network; else that of y (a Series or a column), or 'y'.
    smoothing : number, default 1
        l of θ = (n + l) / (N + l·J).
    bins : int, optional, default 5, or mapping from column to cut points
        Numbers are cut into this many bins of equal share, or where a mapping says (columns that
        it does not name into 5); None leaves them Gaussian (TAN: leaves of the class; AODE:
        refused). The cut points stand in the states of the network.
    unseen : "missing", "error" or "smooth"
        A state not seen in training: taken as missing with one warning, refused, or given the
        probability of a new state, l / (N + l·(J + 1)).
    n_jobs : int, optional
        Threads of prediction.

    Rows without a class are left out with one warning.

    >>> import credo as cr
    >>> from credo.estimators import NetworkClassifier
    >>> clf = NetworkClassifier().fit(cr.examples.play_tennis(), "PlayTennis")
    >>> clf.network_.dag.parents("Wind")
    ('PlayTennis', 'Outlook')
    """

    _counted: Counted
    _model: Any

    def __init__(
        self,
        method: Any = "tan",
        *,
        target: str | None = None,
        smoothing: float = 1.0,
        bins: Any = 5,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.target = target
        self.smoothing = smoothing
        self.bins = bins
        self.unseen = unseen
        self.n_jobs = n_jobs

    # --- learning -------------------------------------------------------------------------

    @as_before_if_refused
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and their classes; `y` may be the name of a column of X.

        A path, a glob or a relation that does not fit in memory is read batch by batch.

        >>> import credo as cr
        >>> clf = NetworkClassifier("aode").fit(cr.examples.path("play_tennis"), "PlayTennis")
        >>> clf.classes_.tolist(), clf.class_count_.tolist()
        (['No', 'Yes'], [5, 9])
        """
        self._check()
        for name in ("_every", "_counted", "_model", "_l", "class_count_"):
            self.__dict__.pop(name, None)
        self._fixed = False
        self._first(X, y, sample_weight, more=False)
        _ = self.model_  # what cannot be learned is said now
        return self

    @as_before_if_refused
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows: exactly what `fit` would have learned from all of them.

        `classes` names all classes at the first call; without it classes are added as they come,
        and so are states. What a column is and where numbers are cut, the first rows decide, so
        begin with enough of them, or give `bins` the cut points.

        >>> rows, y = [["u", "s"], ["v", "t"], ["w", "t"]], [0, 1, 0]
        >>> clf = NetworkClassifier().partial_fit(rows[:2], y[:2]).partial_fit(rows[2:], y[2:])
        >>> whole = NetworkClassifier().fit(rows, y)
        >>> (clf.predict_proba(rows) == whole.predict_proba(rows)).all().item()
        True
        """
        self._check()
        if hasattr(self, "_counted"):
            refuse_other_classes(self._counted.known.target, classes)
            self._more(X, y, sample_weight)
            return self
        self._fixed = classes is not None
        self._first(X, y, sample_weight, more=True, classes=classes)
        return self

    def merge(self, other: NetworkClassifier) -> NetworkClassifier:
        """A new estimator that knows what both know, as if their rows had been one table.

        Both must have the same method, columns and cut points.

        >>> a = NetworkClassifier().fit([["u", "s"], ["v", "t"]], [0, 1])
        >>> b = NetworkClassifier().fit([["w", "t"], ["v", "s"]], [0, 1])
        >>> a.merge(b).class_count_.tolist()
        [2, 2]
        """
        check_is_fitted(self, "classes_")
        check_is_fitted(other, "classes_")
        if self.method != other.method:
            raise InputError(
                f"Two classifiers are merged by the same method, got {self.method!r} and "
                f"{other.method!r}."
            )
        out: NetworkClassifier = clone(self)
        for name in ("n_features_in_", "feature_names_in_", "_names", "_every", "_fixed"):
            if hasattr(self, name):
                setattr(out, name, getattr(self, name))
        if isinstance(self.method, Network):
            out._use(self.method, self._name)
        else:
            out._know(self._counted.merged(other._counted))
        return out

    def _check(self) -> None:
        """Refuse parameters that mean nothing."""
        threads_of(self.n_jobs)
        if not isinstance(self.method, (Dag, Network)) and self.method not in METHODS:
            raise InputError(
                f"method must be one of {', '.join(METHODS)}, a Dag or a Network, "
                f"got {self.method!r}."
            )
        check_bins(self.bins)
        not_negative(self.smoothing, "smoothing")
        if check_unseen(self.unseen) == "smooth" and isinstance(self.method, Network):
            raise InputError(
                "unseen='smooth' needs the counts of training, which a given network has not.",
                hint="Give its graph instead, method=net.dag, or use 'missing' or 'error'.",
            )

    # --- rows -----------------------------------------------------------------------------

    def _first(
        self, X: Any, y: Any, sample_weight: Any, *, more: bool, classes: Any = None
    ) -> None:
        """The first rows: they say what each column is."""
        if isinstance(y, str):
            if sample_weight is not None:
                raise weights_elsewhere()
            first = first_table(X, y, more=more)
            table, target = first.rows, first.rows.schema[y]
            self._every = (*first.names, y, *table.schema.set_aside)
            self._call(first.names)
            if isinstance(self.method, Network):
                return self._use(self.method, class_in_network(self.method, target, first.names))
            if isinstance(table, Stream):
                known = known_stream(table, y, self.bins).in_order(first.names)
                counted, gone = counted_stream(self.method, known, table)
                return self._begin(counted, gone, classes, first)
            names = [n for n in table.schema.names if n != y]
            columns = columns_of(table.select(names)) if names else Columns(len(table), {})
            group, weights = table.codes(y), table.weights
        else:
            own = y
            if sample_weight is not None:
                X, y, sample_weight = without_absent(X, y, sample_weight)
            first = self._first_columns(X, more)
            columns = first.rows
            target, group = encoded_target(y, given_classes("y", classes))
            if len(group) != columns.rows:
                raise different_lengths(columns.rows, len(group))
            target = Variable(self._class_name(own, first.names), "discrete", target.states)
            weights = row_weights(sample_weight, columns.rows)
            if isinstance(self.method, Network):
                return self._use(self.method, class_in_network(self.method, target, first.names))
        if not (group < target.arity).any():
            raise InputError("There is no row with a class to learn from.")
        known, block = first_block(columns, first.names, target, group, weights, self.bins)
        counted = counted_rows(self.method, known, block)
        return self._begin(counted, columns.rows - block.rows, classes, first)

    def _begin(self, counted: Counted, gone: int, classes: Any, first: FirstRows) -> None:
        """Take the counts of the first rows, among the classes that were given."""
        given = given_classes(counted.known.target.name, classes)
        if given is not None:
            new = set(counted.known.target.states) - set(given.states)
            if new:
                raise not_among_classes(new)
            known = counted.known.with_variables({given.name: given})
            counted = counted.on(known)
        if first.aside:
            warnings.warn(told_aside(first.aside), CredoWarning, stacklevel=5)
        self._know(counted)
        _warn_gone(gone)

    def _more(self, X: Any, y: Any, sample_weight: Any) -> None:
        """More rows, whose columns are known."""
        known, labels, weights = self._counted.known, None, None
        if isinstance(y, str):
            if sample_weight is not None:
                raise weights_elsewhere()
            if y != known.target.name:
                raise InputError(
                    f"The class was called {known.target.name!r} in the first rows, got {y!r}."
                )
        else:
            if sample_weight is not None:
                X, y, sample_weight = without_absent(X, y, sample_weight)
            X = unmasked(X) if is_named_table(X) else self._alike(X)
            target, group = encoded_target(y, Variable("y", "discrete", known.target.states))
            labels = Variable(known.target.name, "discrete", target.states), group
            weights = row_weights(sample_weight, len(group))
        counted, gone = more_counted(
            self._counted, X, labels, weights, fixed=self._fixed, bins=self.bins
        )
        self._know(counted)
        _warn_gone(gone)

    def _know(self, counted: Counted) -> None:
        """Take note of the counts; the model is learned when somebody asks for it."""
        self.__dict__.pop("_model", None)
        self._counted, self._l = counted, float(self.smoothing)
        self._name, self.cuts_ = counted.known.target.name, dict(counted.known.cuts)
        self.classes_ = label_array(counted.known.target.states)
        self.class_count_ = counted.class_count

    def _use(self, net: Network, name: str) -> None:
        """Take a network that was given: its cut points stand in its states."""
        self._model, self._name, self.cuts_ = net, name, {}
        self.classes_ = label_array(net.variable(name).states)

    @property
    def model_(self) -> Any:
        """The model underneath: a `Network`, or the average of AODE.

        >>> NetworkClassifier("aode").fit([["u"], ["v"]], [0, 1]).model_.classes
        (0, 1)
        """
        if not hasattr(self, "_model"):
            if not hasattr(self, "_counted"):
                raise AttributeError("model_ is known after fit.")
            self._model = self._counted.model(self._l)
        return self._model

    @property
    def network_(self) -> Network:
        """The network, with everything that it can be asked; AODE has none.

        >>> NetworkClassifier("naive-bayes").fit([["u"], ["v"]], [0, 1]).network_.names
        ('y', 'x0')
        """
        model = self.model_
        if not isinstance(model, Network):
            raise AttributeError("AODE is an average of networks, so there is no network_.")
        return model

    # --- X --------------------------------------------------------------------------------

    def _class_name(self, y: Any, names: Sequence[str]) -> str:
        graph = None
        if isinstance(self.method, (Dag, Network)):
            graph = self.method.nodes if isinstance(self.method, Dag) else self.method.names
        return class_name(self.target, y, names, graph)

    def _call(self, names: Sequence[str]) -> None:
        self.feature_names_in_ = np.array(list(names), dtype=object)
        self.n_features_in_, self._names = len(names), tuple(names)

    def _first_columns(self, X: Any, more: bool) -> FirstRows:
        """The columns of X, of which nothing is known."""
        if is_named_table(X):
            first = first_columns(unmasked(X), more=more)
            self._call(first.names)
            return first
        X = validated(self, X, True)
        self._names = tuple(map(str, getattr(X, "columns", position_names(self.n_features_in_))))
        return first_columns(X, more=more)

    def _alike(self, X: Any) -> Any:
        """X after scikit-learn's checks, its columns under the names that they had in `fit`."""
        if hasattr(self, "_every"):
            X = _columns_used(X, self.feature_names_in_.tolist(), self._every)
        X = validated(self, X, False)
        if not hasattr(self, "feature_names_in_") or not hasattr(X, "columns"):
            X = by_position(X, self._names)
        return X

    def _columns(self, X: Any) -> Columns:
        """The columns of the features of the model."""
        return columns_for(unmasked(X) if is_named_table(X) else self._alike(X), self._known())

    def _features(self) -> list[Variable]:
        if isinstance(self.model_, Network):
            return [v for v in self.model_.variables if v.name != self._name]
        return list(self.model_.features)

    def _known(self) -> dict[str, Variable | None]:
        """How the columns of new rows are read: None for those that are numbers."""
        return {
            v.name: None if v.name in self.cuts_ or not v.is_discrete else v
            for v in self._features()
        }

    def _coded(self, columns: Columns) -> Columns:
        """The columns as the model's variables, bins cut as in training."""
        known = {v.name: v for v in self._features()}
        if known and not columns.by_name:
            raise InputError(
                "The rows have no column of the model.",
                hint=f"Its features are {', '.join(map(repr, list(known)[:12]))}.",
            )
        warn_renamed(known, [*columns.by_name, *columns.others], stacklevel=5)
        found: dict[str, Column] = {}
        strange: list[Variable] = []
        for name, column in columns.by_name.items():
            v = known[name]
            if name in self.cuts_ or not v.is_discrete:
                column = number_column(v, column, self.cuts_.get(name))
            else:
                codes = state_codes(v, column)
                if (codes > v.arity).any():
                    strange.append(v)
                    codes = codes if self.unseen == "smooth" else np.minimum(codes, v.arity)
                column = Column(codes.astype(np.uint8 if v.arity < 255 else np.uint16), v)
            found[name] = column
        if strange and check_unseen(self.unseen) != "smooth":
            report_unseen(self.unseen, columns, strange)
        return Columns(columns.rows, found)

    # --- answering ------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """P(class | row), a column for each of `classes_`; gaps are summed out."""
        check_is_fitted(self, "model_")
        return self._answer(self._columns(X), "posterior")

    def predict_log_proba(self, X: Any) -> Floats:
        """ln P(class | row), a column for each of `classes_`, however small P is."""
        check_is_fitted(self, "model_")
        return self._answer(self._columns(X), "log")

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self, "model_")
        p = self._answer(self._columns(X), "posterior")
        return np.asarray(self.classes_[p.argmax(axis=1)])

    def explain(self, row: Any, *, of: Any = None, against: Any = None) -> Contributions:
        """What each cell of one row says for a class against another, in bits.

        Cells depend on each other here, so each has what it adds to those of the columns before it:
        the sum is exact, and the order of the columns matters. `row` is a mapping from feature to
        value, or the values in the order of training.

        >>> clf = NetworkClassifier().fit([["u", 1], ["v", 1], ["u", 0], ["v", 0]], [0, 1, 1, 0])
        >>> print(clf.explain(["u", 1]))
        y: 0 against 1, P = 0.66667
        feature  value   bits
        (prior)         0.000
        x1       1      1.000  +███████████
        x0       u      0.000
        total           1.000  +███████████
        """
        check_is_fitted(self, "model_")
        cells = cells_of_row(row, self._names, [v.name for v in self._features()], self._name)
        known = {n: v for n, v in self._known().items() if n in cells}
        given = self._coded(columns_for({n: [v] for n, v in cells.items()}, known))
        target = Variable(self._name, "discrete", tuple(self.classes_.tolist()))
        log_p = self._scores(one_by_one(given, list(cells)), "log")
        return explained(target, cells, log_p, of, against)

    def _answer(self, columns: Columns, form: str) -> Floats:
        """P(class | row), or its logarithm."""
        return self._scores(self._coded(columns), form)

    def _scores(self, columns: Columns, form: str) -> Floats:
        l = getattr(self, "_l", 0.0)  # noqa: E741  (the lecture's letter)
        return model_scores(self.model_, self._name, columns, form, threads_of(self.n_jobs), l)


def _warn_gone(rows: int) -> None:
    if rows:
        warnings.warn(f"{rows:,} rows without a class were left out.", CredoWarning, stacklevel=6)


def _columns_used(x: Any, used: Sequence[str], every: Sequence[str]) -> Any:
    """A frame without the columns that were set aside when it was learned from."""
    names = list(getattr(x, "columns", ()))
    extra = {n for n in names if isinstance(n, str) and n in every} - set(used)
    return x[[n for n in names if n not in extra]] if extra else x
