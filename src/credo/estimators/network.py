"""NetworkClassifier: TAN, AODE, or any Bayesian network, behind scikit-learn's protocol."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from credo import _core
from credo.data import Stream, Table
from credo.data.absent import warn_renamed
from credo.data.columns import Column, Columns, columns_for, columns_of, position_names
from credo.errors import CredoWarning, ImpossibleError, InputError, unknown_name
from credo.estimators.answers import MixedTags
from credo.estimators.inputs import (
    encode_labels,
    is_named_table,
    label_array,
    row_weights,
    threads_of,
    validated,
    without_absent,
)
from credo.estimators.network_explain import cells_of_row, explained, one_by_one
from credo.estimators.network_rows import (
    by_position,
    class_name,
    codes_for,
    some_rows,
    trained_column,
)
from credo.estimators.open_rows import source_with_class, weights_elsewhere
from credo.intervals import interval_codes
from credo.model.dag import Dag
from credo.model.network import Network
from credo.predict.naive_explain import Contributions
from credo.predict.rows import log_posteriors
from credo.schema import Schema, Variable
from credo.stats.block import Block
from credo.train.aode import aode
from credo.train.tan import gaussian_leaves, smoothed, tan_network

__all__ = ["NetworkClassifier"]

Floats = NDArray[np.float64]
METHODS = ("tan", "aode", "naive-bayes")


class NetworkClassifier(MixedTags, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
    bins : int, optional, default 5
        Numbers are cut into this many bins of equal share; None leaves them Gaussian (TAN: leaves
        of the class; AODE: refused). The cut points stand in the states of the network.
    n_jobs : int, optional
        Threads of prediction.

    Rows without a class are left out with one warning; states that training did not see are taken
    as missing with one warning.

    >>> import credo as cr
    >>> from credo.estimators import NetworkClassifier
    >>> clf = NetworkClassifier().fit(cr.examples.play_tennis(), "PlayTennis")
    >>> clf.network_.dag.parents("Wind")
    ('PlayTennis', 'Outlook')
    """

    def __init__(
        self,
        method: Any = "tan",
        *,
        target: str | None = None,
        smoothing: float = 1.0,
        bins: int | None = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.target = target
        self.smoothing = smoothing
        self.bins = bins
        self.n_jobs = n_jobs

    # --- learning -------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows and their classes; `y` may be the name of a column of X."""
        threads_of(self.n_jobs)
        if not isinstance(self.method, (Dag, Network)) and self.method not in METHODS:
            raise InputError(
                f"method must be one of {', '.join(METHODS)}, a Dag or a Network, "
                f"got {self.method!r}."
            )
        if self.bins is not None and (
            not isinstance(self.bins, (int, np.integer)) or self.bins < 2
        ):
            raise InputError(
                f"bins must be a whole number of 2 or more, or None, got {self.bins!r}."
            )
        self.__dict__.pop("_every", None)
        columns, target, group, weights = self._classed(X, y, sample_weight)
        known = group < target.arity
        if not known.all():
            warnings.warn(
                f"{int((~known).sum()):,} rows without a class were left out.",
                CredoWarning,
                stacklevel=2,
            )
            columns, group = some_rows(columns, known), group[known]
            weights = None if weights is None else weights[known]
        if isinstance(self.method, Network):
            self._compare(self.method, target, columns)
            self._use(self.method, target.name)
        else:
            self._train(self._table(columns, target, group, weights))
        return self

    def _classed(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Columns, Variable, NDArray[Any], Any]:
        """The columns of X, the class, that of each row, and the weights of the rows."""
        graph = None
        if isinstance(self.method, (Dag, Network)):
            graph = self.method.nodes if isinstance(self.method, Dag) else self.method.names
        if isinstance(y, str):
            if sample_weight is not None:
                raise weights_elsewhere()
            table = source_with_class(X, y)
            if isinstance(table, Stream):
                table = table.load()
            names = [n for n in table.schema.names if n != y]
            self._every = (*table.schema.names, *table.schema.set_aside)
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
            self._names = tuple(names)
            columns = columns_of(table.select(names)) if names else Columns(len(table), {})
            return columns, table.schema[y], table.codes(y), table.weights
        own = y
        if sample_weight is not None:
            X, y, sample_weight = without_absent(X, y, sample_weight)
        columns = self._columns(X, reset=True)
        labels, group = encode_labels(y, gaps=True)
        if len(group) != columns.rows:
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: "
                f"{columns.rows:,} rows and {len(group):,} classes."
            )
        name = class_name(self.target, own, columns.by_name, graph)
        target = Variable(name, "discrete", tuple(labels.tolist()))
        return columns, target, group, row_weights(sample_weight, columns.rows)

    def _table(self, columns: Columns, target: Variable, group: Any, weights: Any) -> Table:
        """Columns and classes as one table, its numbers cut into bins."""
        self.cuts_: dict[str, Floats] = {}
        width = np.uint32 if target.arity > 65534 else np.uint16
        variables, arrays = [target], [group.astype(width)]
        for name, column in columns.by_name.items():
            variable, array, cuts = trained_column(name, column, self.bins, weights)
            if cuts is not None:
                self.cuts_[name] = cuts
            variables.append(variable)
            arrays.append(array)
        arrays = [np.ascontiguousarray(a) for a in arrays]
        return Table(Block(Schema(tuple(variables)), tuple(arrays), weights))

    def _train(self, table: Table) -> None:
        name = table.schema.names[0]
        if isinstance(self.method, Dag):
            model: Any = _fitted(self.method, table, name, self.smoothing)
        elif self.method == "aode":
            model = aode(table, name, smoothing=self.smoothing)
        elif self.method == "tan":
            model = tan_network(table, name, smoothing=self.smoothing)
        else:
            edges = [(name, n) for n in table.schema.names if n != name]
            dag = Dag(edges, nodes=table.schema.names)
            model = _fitted(dag, table, name, self.smoothing)
        self._use(model, name, self.cuts_)

    def _use(self, model: Any, name: str, cuts: dict[str, Floats] | None = None) -> None:
        """Take a model, learned here or given; a given one has its cut points in its states."""
        self.model_, self._name, self.cuts_ = model, name, cuts or {}
        if isinstance(model, Network):
            self.network_ = model
            states = model.variable(name).states
        else:
            self.__dict__.pop("network_", None)
            states = model.classes
        self.classes_ = label_array(states)

    def _compare(self, net: Network, target: Variable, columns: Columns) -> None:
        """Refuse a network that X and y have nothing to do with."""
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
        if not any(n in net.names and n != own.name for n in columns.by_name):
            raise InputError(
                f"X has no column of the network but the class {own.name!r}.",
                hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
            )

    # --- X --------------------------------------------------------------------------------

    def _columns(self, X: Any, reset: bool) -> Columns:
        if is_named_table(X):
            found = columns_of(X) if reset else columns_for(X, self._known())
            if reset:
                self._names = tuple(found.by_name)
                self.feature_names_in_ = np.array(list(found.by_name), dtype=object)
                self.n_features_in_ = len(found.by_name)
            return found
        if not reset and hasattr(self, "_every"):
            X = _columns_used(X, self.feature_names_in_.tolist(), self._every)
        X = validated(self, X, reset)
        if reset:
            width = self.n_features_in_
            self._names = tuple(map(str, getattr(X, "columns", position_names(width))))
            return columns_of(X)
        if not hasattr(self, "feature_names_in_") or not hasattr(X, "columns"):
            X = by_position(X, self._names)
        return columns_for(X, self._known())

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
        strange: list[str] = []
        for name, column in columns.by_name.items():
            if name in self.cuts_:
                numbers = column.values.astype(np.float64)
                codes = interval_codes(numbers, self.cuts_[name].tolist())
                column = Column(codes, known[name])
            elif known[name].is_discrete:
                column = codes_for(known[name], column, strange)
            found[name] = column
        if strange:
            warnings.warn(
                f"States not seen in training were taken as missing in {', '.join(strange[:6])}.",
                CredoWarning,
                stacklevel=5,
            )
        return Columns(columns.rows, found)

    # --- answering ------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """P(class | row), a column for each of `classes_`; gaps are summed out."""
        check_is_fitted(self, "model_")
        return self._answer(self._columns(X, reset=False), "posterior")

    def predict_log_proba(self, X: Any) -> Floats:
        """ln P(class | row), a column for each of `classes_`, however small P is."""
        check_is_fitted(self, "model_")
        return self._answer(self._columns(X, reset=False), "log")

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self, "model_")
        p = self._answer(self._columns(X, reset=False), "posterior")
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
        threads = threads_of(self.n_jobs)
        if isinstance(self.model_, Network):
            return self._by_network(self.model_, columns, form, threads)
        joint = self.model_.joint(columns, threads)
        _, bad = _core.naive_finish(joint, form, threads)
        if bad >= 0:
            raise ImpossibleError(
                f"Row {bad + 1:,} has probability zero in every class: "
                f"{self.model_.zero_cells(columns, bad)}.",
                hint="Use smoothing above 0.",
            )
        return np.asarray(joint)

    def _by_network(self, net: Network, columns: Columns, form: str, threads: int) -> Floats:
        variables = [v for v in self._features() if v.name in columns.by_name]
        if not variables:  # a network of the class alone
            p = np.tile(list(net.p(self._name).values()), (columns.rows, 1))
            return p if form == "posterior" else np.log(p)
        arrays = [
            columns.by_name[v.name].values.astype(None if v.is_discrete else np.float64)
            for v in variables
        ]
        table = Table(Block(Schema(tuple(variables)), tuple(arrays)))
        if form == "log":
            return log_posteriors(net, table, self._name, threads=threads)
        return np.asarray(net.predict_proba(table, self._name, threads=threads))


def _fitted(dag: Dag, table: Table, target: str, smoothing: float) -> Network:
    """The tables of a given graph, by counts."""
    if target not in dag:
        raise unknown_name("The class", target, dag.nodes, "in the graph")
    for n in dag.nodes:
        if n not in table.schema:
            table.schema[n]  # says what is there instead
    families = [(n, list(dag.parents(n))) for n in dag.nodes]
    tally = table.tally(families)
    tables: dict[str, Any] = {}
    for child, parents in families:
        if table.schema[child].is_discrete:
            tables[child] = smoothed(tally[child, parents], 0.0 if child == target else smoothing)  # type: ignore[arg-type]
            continue
        if parents != [target]:
            raise InputError(
                f"The continuous feature {child!r} must have the class as its only parent.",
                hint="Use bins= to cut it into states.",
            )
        tables |= gaussian_leaves(table, target, [child])
    return Network(dag, tables)


def _columns_used(x: Any, used: Sequence[str], every: Sequence[str]) -> Any:
    """A frame without the columns that were set aside when it was learned from."""
    names = list(getattr(x, "columns", ()))
    extra = {n for n in names if isinstance(n, str) and n in every} - set(used)
    return x[[n for n in names if n not in extra]] if extra else x
