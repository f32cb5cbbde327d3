"""NetworkClassifier: TAN, AODE, or any Bayesian network, behind scikit-learn's protocol."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from credo import _core
from credo.data import Stream, Table, read
from credo.data.columns import Column, Columns, columns_for, columns_of
from credo.errors import CredoWarning, ImpossibleError, InputError, unknown_name
from credo.estimators.answers import MixedTags
from credo.estimators.inputs import (
    encode_labels,
    is_named_table,
    row_weights,
    threads_of,
    validated,
)
from credo.model.dag import Dag
from credo.model.network import Network
from credo.predict.naive import coded, plain_codes
from credo.schema import Schema, Variable
from credo.stats.block import Block
from credo.train.aode import aode, as_states
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
        learned; or a network that is used as it is (then `fit` only looks at the names).
    target : str
        The name of the class in a graph or network that is given.
    smoothing : number, default 1
        l of θ = (n + l) / (N + l·J).
    bins : int, optional, default 5
        Numbers are cut into this many bins of equal share; None leaves them Gaussian (TAN: leaves
        of the class; AODE: refused).
    n_jobs : int, optional
        Threads of prediction.

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
        target: str = "y",
        smoothing: float = 1.0,
        bins: int | None = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.target = target
        self.smoothing = smoothing
        self.bins = bins
        self.n_jobs = n_jobs

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
        table = self._table(X, y, sample_weight)
        self._train(table)
        return self

    def _train(self, table: Table) -> None:
        name = self._name
        self.model_: Any
        if isinstance(self.method, Network):
            self.model_ = self.method
            if name not in self.method.names:
                self.method.variable(name)  # says what is there instead
        elif isinstance(self.method, Dag):
            self.model_ = _fitted(self.method, table, name, self.smoothing)
        elif self.method == "aode":
            self.model_ = aode(table, name, smoothing=self.smoothing)
        elif self.method == "tan":
            self.model_ = tan_network(table, name, smoothing=self.smoothing)
        else:
            dag = Dag(
                [(name, n) for n in table.schema.names if n != name], nodes=table.schema.names
            )
            self.model_ = _fitted(dag, table, name, self.smoothing)
        if isinstance(self.model_, Network):
            self.network_ = self.model_
            states = self.model_.variable(name).states
        else:
            self.__dict__.pop("network_", None)
            states = self.model_.classes
        self.classes_ = _array(states)

    # --- X --------------------------------------------------------------------------------

    def _table(self, X: Any, y: Any, sample_weight: Any) -> Table:
        """X and y as one table, its numbers cut into bins."""
        if isinstance(y, str):
            table = X if isinstance(X, Table) else read(X)
            if isinstance(table, Stream):
                table = table.load()
            if y not in table.schema:
                table.schema[y]
            self._name = y
            names = [n for n in table.schema.names if n != y]
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
            group, target = table.codes(y), table.schema[y]
            columns = columns_of(table.select(names)) if names else Columns(len(table), {})
            weights = table.weights
            if sample_weight is not None:
                raise InputError("With a column's name as y, weights are given to credo.read.")
        else:
            self._name = self.target
            columns = self._columns(X, reset=True)
            labels, group = encode_labels(y)
            if len(group) != columns.rows:
                raise InputError(
                    f"Found input variables with inconsistent numbers of samples: "
                    f"{columns.rows:,} rows and {len(group):,} classes."
                )
            target = Variable(self.target, "discrete", tuple(labels.tolist()))
            weights = row_weights(sample_weight, columns.rows)
        self.cuts_: dict[str, Floats] = {}
        variables, arrays = (
            [target],
            [group.astype(np.uint32 if target.arity > 65534 else np.uint16)],
        )
        for name, column in columns.by_name.items():
            variable, array = self._variable(name, column, weights)
            variables.append(variable)
            arrays.append(array)
        kept = slice(None) if weights is None else weights != 0
        weights = None if weights is None else weights[kept]
        arrays = [np.ascontiguousarray(a[kept]) for a in arrays]
        return Table(Block(Schema(tuple(variables)), tuple(arrays), weights))

    def _variable(self, name: str, column: Column, weights: Any) -> tuple[Variable, NDArray[Any]]:
        if column.variable is not None:
            return column.variable, column.values.astype(np.uint16)
        values = column.values
        if values.dtype.kind != "f" and len(np.unique(values[:1000])) <= 20:
            different, codes = np.unique(values, return_inverse=True)
            if len(different) <= 20:
                return Variable(name, "discrete", tuple(different.tolist())), codes.astype(
                    np.uint16
                )
        numbers = values.astype(np.float64)
        if np.isinf(numbers).any():
            raise InputError(f"{name!r} holds an infinity; a value must be finite.")
        if self.bins is None:
            return Variable(name, "continuous"), numbers
        weight = np.ones(len(numbers)) if weights is None else weights.astype(np.float64)
        there = ~np.isnan(numbers) & (weight > 0)
        cuts = np.zeros(0)
        if there.any():
            shares = np.linspace(0, 1, int(self.bins) + 1)[1:-1]
            ends = np.quantile(numbers[there], shares, weights=weight[there], method="inverted_cdf")
            cuts = np.unique(ends)
        self.cuts_[name] = cuts
        labels = _bin_labels(cuts)
        return Variable(name, "discrete", labels), _binned(numbers, cuts)

    def _columns(self, X: Any, reset: bool) -> Columns:
        known = None
        if not reset:
            schema = self._features()
            known = {
                v.name: None if v.name in self.cuts_ or not v.is_discrete else v for v in schema
            }
        if is_named_table(X):
            found = columns_of(X) if known is None else columns_for(X, known)
            if reset:
                self.feature_names_in_ = np.array(list(found.by_name), dtype=object)
                self.n_features_in_ = len(found.by_name)
            return found
        X = validated(self, X, reset)
        return columns_of(X) if known is None else columns_for(X, known)

    def _features(self) -> list[Variable]:
        if isinstance(self.model_, Network):
            return [v for v in self.model_.variables if v.name != self._name]
        return list(self.model_.features)

    def _rows(self, X: Any) -> Columns:
        """The columns of X as the model's variables, bins cut as in training."""
        columns = self._columns(X, reset=False)
        known = {v.name: v for v in self._features()}
        found: dict[str, Column] = {}
        strange: list[str] = []
        for name, column in columns.by_name.items():
            if name in self.cuts_:
                numbers = column.values.astype(np.float64)
                column = Column(_binned(numbers, self.cuts_[name]), known[name])
            elif known[name].is_discrete:
                column = _as_codes(known[name], column, strange)
            found[name] = column
        if strange:
            warnings.warn(
                f"States not seen in training were taken as missing in {', '.join(strange[:6])}.",
                CredoWarning,
                stacklevel=4,
            )
        return Columns(columns.rows, found)

    # --- answering ------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """P(class | row), a column for each of `classes_`; gaps are summed out."""
        check_is_fitted(self, "model_")
        columns = self._rows(X)
        threads = threads_of(self.n_jobs)
        if isinstance(self.model_, Network):
            return self._by_network(columns, threads)
        joint = self.model_.joint(columns, threads)
        _, bad = _core.naive_finish(joint, "posterior", threads)
        if bad >= 0:
            raise ImpossibleError(
                f"Row {bad + 1:,} has probability zero in every class.",
                hint="Use smoothing above 0.",
            )
        return np.asarray(joint)

    def _by_network(self, columns: Columns, threads: int) -> Floats:
        net = self.model_
        variables, arrays = [], []
        for v in self._features():
            column = columns.by_name.get(v.name)
            if column is None:
                continue
            variables.append(v)
            if not v.is_discrete:
                arrays.append(column.values.astype(np.float64))
                continue
            arrays.append(column.values)
        if not variables:
            p = net.p(self._name)
            return np.tile([p[s] for s in net.variable(self._name).states], (columns.rows, 1))
        table = Table(Block(Schema(tuple(variables)), tuple(arrays)))
        return np.asarray(net.predict_proba(table, self._name, threads=threads))

    def predict_log_proba(self, X: Any) -> Floats:
        """ln P(class | row)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        p = self.predict_proba(X)
        return np.asarray(self.classes_[p.argmax(axis=1)])


def _array(states: tuple[Any, ...]) -> NDArray[Any]:
    return np.array(states)


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


def _bin_labels(cuts: Floats) -> tuple[str, ...]:
    ends = [f"{c:.6g}" for c in cuts]
    if len(set(ends)) < len(ends):
        ends = [repr(float(c)) for c in cuts]
    if not ends:
        return ("any",)
    middle = [f"({a}, {b}]" for a, b in pairwise(ends)]
    return (f"≤ {ends[0]}", *middle, f"> {ends[-1]}")


def _binned(numbers: Floats, cuts: Floats) -> NDArray[np.uint16]:
    codes = np.searchsorted(cuts, numbers, side="left").astype(np.uint16)
    codes[np.isnan(numbers)] = len(cuts) + 1
    return codes


def _as_codes(v: Variable, column: Column, strange: list[str]) -> Column:
    """Codes of a variable; what is no state of it is missing, and its column is named."""
    array, window = coded(as_states(v), column, len(column.values))
    codes = plain_codes(array, window)
    if (codes > v.arity).any():
        strange.append(repr(v.name))
    width = np.uint8 if v.arity <= 255 else np.uint16
    return Column(np.minimum(codes, v.arity).astype(width), v)
