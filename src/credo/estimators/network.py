"""NetworkClassifier: TAN, AODE, or any Bayesian network, behind scikit-learn's protocol."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from credo.core.errors import CredoWarning, InputError, unknown_name
from credo.core.lazy import renamed_arguments
from credo.core.schema import Variable
from credo.data import Column, Columns, Stream, columns_for, warn_renamed
from credo.estimators.answers import (
    TableAnswers,
    as_before_if_refused,
    with_columns_of,
)
from credo.estimators.inputs import (
    different_lengths,
    given_classes,
    is_named_table,
    label_array,
    not_among_classes,
    refuse_other_classes,
    row_weights,
    threads_of,
)
from credo.estimators.network_bins import check_bins
from credo.estimators.network_counts import (
    Counted,
    counted_rows,
    counted_stream,
    more_counted,
    number_column,
)
from credo.estimators.network_scores import cells_of_row, explained, model_scores, one_by_one
from credo.estimators.rows import (
    continuous_class,
    encoded_target,
    first_columns,
    is_source,
    rows_there,
    source_with_class,
    state_codes,
)
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.structures.structure_posterior import StructurePosterior
from credo.predict.rows.naive import report_unseen
from credo.predict.rows.naive_row import Contributions, check_unseen
from credo.train.naive_bayes.class_networks import METHODS
from credo.train.naive_bayes.fit import not_negative
from credo.train.naive_bayes.learn import classed_rows, read_for, told_aside

Floats = NDArray[np.float64]


class NetworkClassifier(TableAnswers, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian network as a classifier.

    Parameters
    ----------
    structure : "tan", "aode", "naive-bayes", "average", a `Dag`, or a `Network`
        Tree-augmented naive Bayes; averaged one-dependence estimators; all graphs, each weighed by
        the rows (`cr.average`, BDeu of weight `smoothing`; rows with gaps are left out); a graph
        whose tables are learned; or a network that is used as it is (then `fit` only compares names
        and classes).
    target : str, optional
        The name of the class in the network; else that of y (a Series or a column), or 'y'.
    smoothing : number, default 1
        l of θ = (n + l) / (N + l·J).
    bins : "auto", int, mapping from column to cut points, or None
        Numbers are cut for the class (MODL), or at the median where one alone tells nothing of it;
        into this many bins of equal share; or where a mapping says (columns that it does not name
        for the class). None leaves them Gaussian (TAN: leaves of the class; AODE: refused). The cut
        points stand in the states of the network.
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

    @renamed_arguments(method="structure")
    def __init__(
        self,
        structure: Any = "tan",
        *,
        target: str | None = None,
        smoothing: float = 1.0,
        bins: Any = "auto",
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        self.structure = structure
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
        for name in ("_every", "_by_name", "_counted", "_model", "_l", "class_count_"):
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

        Both must have the same structure, columns and cut points.

        >>> a = NetworkClassifier().fit([["u", "s"], ["v", "t"]], [0, 1])
        >>> b = NetworkClassifier().fit([["w", "t"], ["v", "s"]], [0, 1])
        >>> a.merge(b).class_count_.tolist()
        [2, 2]
        """
        check_is_fitted(self, "classes_")
        check_is_fitted(other, "classes_")
        if self.structure != other.structure:
            raise InputError(
                f"Two classifiers are merged by the same structure, got {self.structure!r} and "
                f"{other.structure!r}."
            )
        out: NetworkClassifier = with_columns_of(self, "_called", "_by_name")
        if isinstance(self.structure, Network):
            out._use(self.structure, self._class)
        else:
            out._know(self._counted.merged(other._counted))
        return out

    def _check(self) -> None:
        """Refuse parameters that mean nothing."""
        threads_of(self.n_jobs)
        if not isinstance(self.structure, (Dag, Network)) and self.structure not in METHODS:
            raise InputError(
                f"structure must be one of {', '.join(METHODS)}, a Dag or a Network, "
                f"got {self.structure!r}."
            )
        check_bins(self.bins)
        not_negative(self.smoothing, "smoothing")
        graphs = isinstance(self.structure, str) and self.structure == "average"
        if check_unseen(self.unseen) == "smooth" and graphs:
            raise InputError(
                "unseen='smooth' is for one network, and 'average' weighs many.",
                hint="Use 'missing' or 'error'.",
            )
        if check_unseen(self.unseen) == "smooth" and isinstance(self.structure, Network):
            raise InputError(
                "unseen='smooth' needs the counts of training, which a given network has not.",
                hint="Give its graph instead, structure=net.dag, or use 'missing' or 'error'.",
            )

    # --- rows -----------------------------------------------------------------------------

    def _first(
        self, X: Any, y: Any, sample_weight: Any, *, more: bool, classes: Any = None
    ) -> None:
        """The first rows: they say what each column is."""
        self._by_name, own = isinstance(y, str), y
        X, y, sample_weight = rows_there(X, y, sample_weight)
        if isinstance(y, str):
            source = X if is_source(X) else read_for(X, y, "auto", more=more, classes=classes)[0]
            source = source_with_class(source, y)
            target = source.schema[y]
            if more and source is not X and any(isinstance(s, float) for s in target.states):
                raise continuous_class(y)
            aside = source.schema.set_aside if more and source is not X else {}
            self._name([n for n in source.schema.names if n != y])
            if isinstance(self.structure, Network):
                return self._use(self.structure, self._class_in(self.structure, target))
            if isinstance(source, Stream):
                return self._begin(*counted_stream(self.structure, source, y, self.bins), classes)
            ((columns, group, weights),) = classed_rows(source, y)
        else:
            x = self._first_x(X)
            columns, _, aside = first_columns(x, more=more)
            if is_named_table(X):
                self._name(columns.names)
            target, group = encoded_target(y, given_classes("y", classes))
            if len(group) != columns.rows:
                raise different_lengths(columns.rows, len(group))
            target = Variable(self._class_name(own, columns.names), "discrete", target.states)
            weights = row_weights(sample_weight, columns.rows)
            if isinstance(self.structure, Network):
                return self._use(self.structure, self._class_in(self.structure, target))
        if not (group < target.arity).any():
            raise InputError("There is no row with a class to learn from.")
        if aside:
            warnings.warn(told_aside(aside), CredoWarning, stacklevel=4)
        counted, gone = counted_rows(self.structure, columns, target, group, weights, self.bins)
        return self._begin(counted, gone, classes)

    def _begin(self, counted: Counted, gone: int, classes: Any) -> None:
        """Take the counts of the first rows, among the classes that were given."""
        given = given_classes(counted.known.target.name, classes)
        if given is not None:
            new = set(counted.known.target.states) - set(given.states)
            if new:
                raise not_among_classes(new)
            counted = counted.on(counted.known.with_variables({given.name: given}))
        self._know(counted)
        _warn_gone(gone)

    def _more(self, X: Any, y: Any, sample_weight: Any) -> None:
        """More rows, whose columns are known."""
        known, weights, called = self._counted.known, None, None
        labels: Any = y
        X, y, sample_weight = rows_there(X, y, sample_weight)
        if isinstance(y, str):
            if y != known.target.name:
                raise InputError(
                    f"The class was called {known.target.name!r} in the first rows, got {y!r}."
                )
        else:
            X, called = self._later_x(X)
            target, group = encoded_target(y, Variable("y", "discrete", known.target.states))
            labels = Variable(known.target.name, "discrete", target.states), group
            weights = row_weights(sample_weight, len(group))
        counted, gone = more_counted(self._counted, X, called, labels, weights, fixed=self._fixed)
        self._know(counted)
        _warn_gone(gone)

    def _know(self, counted: Counted) -> None:
        """Take note of the counts; the model is learned when somebody asks for it."""
        self.__dict__.pop("_model", None)
        self._counted, self._l = counted, float(self.smoothing)
        self._class, self.cuts_ = counted.known.target.name, dict(counted.known.cuts)
        self.classes_ = label_array(counted.known.target.states)
        self.class_count_ = counted.class_count

    def _use(self, net: Network, name: str) -> None:
        """Take a network that was given: its cut points stand in its states."""
        self._model, self._class, self.cuts_ = net, name, {}
        self.classes_ = label_array(net.variable(name).states)

    @property
    def model_(self) -> Any:
        """The model underneath: a `Network`, the average of AODE, or a posterior over graphs.

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
            what = "The posterior" if isinstance(model, StructurePosterior) else "AODE"
            raise AttributeError(f"{what} is an average of networks, so there is no network_.")
        return model

    # --- X --------------------------------------------------------------------------------

    def _class_name(self, y: Any, names: Any) -> str:
        """The name of the class: as given, or that of y, or one that no feature has."""
        own_graph, given = self.structure, self.target
        graph = own_graph.nodes if isinstance(own_graph, Dag) else None
        graph = own_graph.names if isinstance(own_graph, Network) else graph
        if given is not None:
            if graph is None and given in names:
                raise InputError(
                    f"The class and a feature are both called {given!r}.",
                    hint="Give the class another name in target=, or rename the column.",
                )
            return str(given)
        own = getattr(y, "name", None)
        able = [*([own] if isinstance(own, str) and own else []), "y", "class", "the class"]
        if graph is not None:
            return next((n for n in able if n in graph), able[0])
        return next((n for n in able if n not in names), "(class)")

    def _class_in(self, net: Network, target: Variable) -> str:
        """The name of the class; a network that X and y have nothing to do with is refused."""
        own = net.variable(target.name)
        if not own.is_discrete:
            raise InputError(f"{own.name!r} is continuous in the network; a class is discrete.")
        for label in target.states:
            try:
                own.code(label)
            except LookupError:
                raise unknown_name(
                    "The class", label, own.states, f"one of {own.name!r} in the network"
                ) from None
        if not any(n in net.names and n != own.name for n in self._all_names()):
            raise InputError(
                f"X has no column of the network but the class {own.name!r}.",
                hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
            )
        return own.name

    def _features(self) -> list[Variable]:
        if isinstance(self.model_, (Network, StructurePosterior)):
            return [v for v in self.model_.variables if v.name != self._class]
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
        cells = cells_of_row(row, self._called, [v.name for v in self._features()], self._class)
        known = {n: v for n, v in self._known().items() if n in cells}
        given = self._coded(columns_for({n: [v] for n, v in cells.items()}, known))
        target = Variable(self._class, "discrete", tuple(self.classes_.tolist()))
        log_p = self._scores(one_by_one(given, list(cells)), "log")
        return explained(target, cells, log_p, of, against)

    def _answer(self, X: Any, answer: str) -> Any:
        check_is_fitted(self, "model_")
        if not isinstance(X, Columns):
            X, called = self._later_x(X)
            X = columns_for(X, self._known(), called)
        columns = self._coded(X)
        if answer == "best":
            return self._scores(columns, "posterior").argmax(axis=1)
        return self._scores(columns, answer)

    def _scores(self, columns: Columns, form: str) -> Floats:
        l = getattr(self, "_l", 0.0)  # noqa: E741  (the lecture's letter)
        return model_scores(self.model_, self._class, columns, form, threads_of(self.n_jobs), l)


def _warn_gone(rows: int) -> None:
    if rows:
        warnings.warn(f"{rows:,} rows without a class were left out.", CredoWarning, stacklevel=6)
