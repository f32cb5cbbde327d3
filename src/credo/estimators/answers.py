"""What classifiers answer: forms of one score; and what those of tables share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from credo.core.engine_frames import lies_with_engine
from credo.core.errors import InputError, unknown_name
from credo.core.schema import Variable
from credo.data import Stream
from credo.estimators.inputs import row_weights
from credo.estimators.named_columns import NamedColumns
from credo.estimators.rows import source_with_class
from credo.model.decisions.costs import Costs
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.model.networks.network import Network
from credo.predict.rows.on_engines import frame_with_classes, frame_with_probabilities
from credo.predict.sql.statement import naive_sql, network_sql
from credo.train.naive_bayes.learn import read_for

Floats = NDArray[np.float64]
Method = TypeVar("Method", bound=Callable[..., Any])


def as_before_if_refused(learn: Method) -> Method:
    """A method that learns; where it refuses its rows, the estimator is as it was before."""

    @wraps(learn)
    def learned(self: Any, *args: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return learn(self, *args, **options)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast(Method, learned)


def with_columns_of(estimator: Any, *kept: str) -> Any:
    """A new estimator of the same parameters that knows the columns, and what else is `kept`."""
    out = clone(estimator)
    for name in ("n_features_in_", "feature_names_in_", "_fixed", *kept):
        if hasattr(estimator, name):
            setattr(out, name, getattr(estimator, name))
    return out


class Answers:
    """The answers of `_answer(X, form)`, as scikit-learn names them."""

    classes_: NDArray[Any]

    @abstractmethod
    def _answer(self, X: Any, answer: str) -> Any:
        """The scores of the classes as 'best', 'posterior' or 'log'."""

    def predict(self, X: Any, *, costs: Any = None, reject: float | None = None) -> Any:
        """The most probable class of each row or document; with costs the cheapest one.

        `costs` is what it costs to call one class another: `{"ham": {"spam": 9}, "spam": {"ham":
        1}}`, or an array with a row for each class and a column for each call. `reject` is what it
        costs not to decide (by hand, say): where every call is expected to cost more, the answer is
        None. Without `costs` every wrong call costs 1.

        >>> from credo.estimators import NaiveBayes
        >>> clf = NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]], ["ham", "ham", "ham", "spam"])
        >>> clf.predict([["b"]]).tolist()
        ['ham']
        >>> clf.predict([["b"]], costs={"ham": {"spam": 1}, "spam": {"ham": 9}}).tolist()
        ['spam']
        >>> clf.predict([["a"], ["b"]], reject=0.3).tolist()
        ['ham', None]
        """
        if lies_with_engine(X):
            target, columns = self._on_engine()
            return frame_with_classes(self, X, target, columns, costs=costs, reject=reject)
        if costs is None and reject is None:
            best = self._answer(X, "best")
            return np.asarray(self.classes_[best])
        chosen = Costs.of(self.classes_.tolist(), costs).choose(self.predict_proba(X), reject)
        if reject is None:
            return np.asarray(self.classes_[chosen])
        out = self.classes_.astype(object)[chosen]
        out[chosen < 0] = None
        return np.asarray(out)

    def threshold(self, costs: Any) -> float:
        """The probability of the second of two classes from which on the costs call it that.

        >>> from credo.estimators import NaiveBayes
        >>> clf = NaiveBayes().fit([["a"], ["a"], ["b"], ["b"]], ["ham", "ham", "ham", "spam"])
        >>> clf.threshold({"ham": {"spam": 9}, "spam": {"ham": 1}})
        0.9
        """
        return Costs.of(self.classes_.tolist(), costs).threshold

    def predict_proba(self, X: Any) -> Any:
        """P(class | row), a column for each of `classes_`; a Dask or Spark frame comes back with
        these columns added.
        """
        if lies_with_engine(X):
            target, columns = self._on_engine()
            return frame_with_probabilities(self, X, target, columns)
        return np.asarray(self._answer(X, "posterior"))

    def _on_engine(self) -> tuple[Variable, list[str] | None]:
        """The class as a variable, and the columns that it is told from."""
        names = getattr(self, "feature_names_in_", None)
        classes = Variable("class", "discrete", tuple(self.classes_.tolist()))
        return classes, None if names is None else [str(n) for n in names]

    def predict_log_proba(self, X: Any) -> Floats:
        """ln P(class | row), a column for each of `classes_`."""
        return np.asarray(self._answer(X, "log"))


class JointAnswers(Answers):
    """The same where `_answer` has 'joint' too."""

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """ln P(class, row), a column for each of `classes_`; of documents, but for a factor that
        all classes share.
        """
        return np.asarray(self._answer(X, "joint"))


class MixedTags:
    """What scikit-learn is told of estimators for mixed tables: gaps, categories and text."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TableAnswers(NamedColumns, MixedTags, Answers):
    """What a classifier of tables is asked: columns by name, gaps, the class by name in `score`."""

    model_: Any
    unseen: str
    _class: str

    def to_sql(
        self,
        dialect: str,
        *,
        target: str | None = None,
        table: str | Sequence[str] = "rows",
        keep: Sequence[str] | str = (),
        columns: Collection[str] | None = None,
        gaps: str = "sum",
    ) -> str:
        """`predict_proba` as one SELECT of 'duckdb', 'spark', 'postgres' or 'bigquery'.

        The columns are called as in training; see `Network.to_sql` and docs/sql.md.

        >>> from credo.estimators import NaiveBayes
        >>> clf = NaiveBayes().fit({"x": ["a", "a", "b", "b"]}, ["ham", "ham", "ham", "spam"])
        >>> import duckdb
        >>> con = duckdb.connect()
        >>> _ = con.sql("CREATE TABLE mails AS SELECT unnest(['a', 'b']) AS x")
        >>> [round(p, 4) for p, _ in con.sql(clf.to_sql("duckdb", table="mails")).fetchall()]
        [0.8438, 0.6429]
        """
        check_is_fitted(self, "model_")
        model = self.model_
        if isinstance(model, NaiveBayesModel):
            return naive_sql(
                model, dialect, target,
                table=table, keep=keep, columns=columns, unseen=self.unseen,
            )  # fmt: skip
        if not isinstance(model, Network):
            raise InputError(
                f"{type(model).__name__} is an average of networks, which one SELECT does not "
                "hold.",
                hint="Use method='tan', or predict_proba.",
            )
        name = self._class
        if target is not None and target != name:
            raise unknown_name("Variable", target, [name], "the class of the model")
        if self.unseen == "smooth":
            raise InputError(
                "unseen='smooth' of a network has no short form in SQL.",
                hint="Use unseen='missing' or 'error', or NaiveBayes.",
            )
        unseen = "refuse" if self.unseen == "error" else "missing"
        return network_sql(
            model, dialect, name, table=table, keep=keep, columns=columns, gaps=gaps, unseen=unseen
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean accuracy of `predict(X)`; `y` may be the name of a column of X, as in `fit`.
        Rows whose class is missing are left out then.
        """
        if not isinstance(y, str):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        found = self.predict(X)
        table = X if hasattr(X, "tally") else read_for(X, y, "auto")[0]
        table = source_with_class(table.load() if isinstance(table, Stream) else table, y)
        variable, group = table.schema[y], table.codes(y)
        sample_weight = table.weights if sample_weight is None else sample_weight
        there = group < variable.arity
        if not there.any():
            raise InputError(f"Every cell of {y!r} is missing, so there is nothing to score.")
        right = np.array(variable.states, dtype=object)[group[there]] == found[there].astype(object)
        weights = row_weights(sample_weight, len(there))
        return float(np.average(right, weights=None if weights is None else weights[there]))
