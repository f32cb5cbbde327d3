"""What can be asked of a naive Bayes model; the algorithms live in `credo.predict`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from credo.core.engine_frames import lies_with_engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from credo.model.answers.distribution import Distribution
    from credo.model.answers.interval import Interval
    from credo.model.naive_bayes.model import NaiveBayesModel
    from credo.predict.rows.naive_linear import LinearForm
    from credo.predict.rows.naive_row import Contributions

    Floats = NDArray[np.float64]

__all__ = ["NaiveBayesMethods"]


class NaiveBayesMethods:
    """The questions of a naive Bayes model; `NaiveBayesModel` adds the rest."""

    __slots__ = ()

    @property
    def _model(self) -> NaiveBayesModel:
        return cast("NaiveBayesModel", self)

    def p(self, row: Mapping[str, Any] | None = None, *, unseen: str = "error") -> Distribution:
        """P(class | the cells of one row); cells that are not given are summed out.

        A name or state that the model does not know is refused, with what is near; `unseen=`
        "missing" or "smooth" treats such a state as in rows of a table.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis")
        >>> model.p({"Outlook": "sunny"})
        Traceback (most recent call last):
        credo.errors.UnknownNameError: State 'sunny' is not one of 'Outlook'. Did you mean 'Sunny'?
        """
        from credo.predict.rows.naive_row import posterior_of_row

        return posterior_of_row(self._model, {} if row is None else row, unseen)

    def log_joint(self, row: Mapping[str, Any], *, unseen: str = "error") -> Floats:
        """ln P(class, row) for each class.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis", smoothing=0)
        >>> import numpy as np
        >>> [round(float(v), 4) for v in np.exp(model.log_joint({"Wind": "Strong"}))]
        [0.2143, 0.2143]
        """
        from credo.predict.rows.naive_row import joint_of_row

        return joint_of_row(self._model, row, unseen)

    def predict_proba(self, rows: Any, *, unseen: str = "missing", threads: int = 1) -> Any:
        """P(class | row) for each row of a table, a column for each class.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis")
        >>> model.predict_proba({"Wind": ["Strong", None]}).round(4).tolist()
        [[0.4661, 0.5339], [0.3571, 0.6429]]
        """
        if lies_with_engine(rows):
            from credo.predict.rows.on_engines import frame_with_probabilities

            return frame_with_probabilities(self._model, rows, self._model.target, unseen=unseen)
        from credo.predict.rows.naive import predict_table

        out: Floats = predict_table(self._model, rows, "posterior", unseen, threads)
        return out

    def predict(self, rows: Any, *, unseen: str = "missing", threads: int = 1) -> Any:
        """The most probable class of each row of a table."""
        if lies_with_engine(rows):
            from credo.predict.rows.on_engines import frame_with_classes

            return frame_with_classes(self._model, rows, self._model.target, unseen=unseen)
        from credo.predict.rows.naive import predict_table

        best = predict_table(self._model, rows, "best", unseen, threads)
        return [self._model.classes[int(k)] for k in best]

    def to_sql(
        self,
        dialect: str,
        *,
        target: str | None = None,
        table: str | Sequence[str] = "rows",
        keep: Sequence[str] | str = (),
        columns: Collection[str] | None = None,
        unseen: str = "missing",
    ) -> str:
        """P(class | row) as one SELECT of 'duckdb', 'spark', 'postgres' or 'bigquery'.

        It gives what `predict_proba` gives, a column `p_…` for each class, and carries the columns
        that `keep` names; `columns` names the features that the table has, if not all. A missing
        cell drops out. NULL stands for what `predict_proba` refuses, and for a row that lacks some
        of more than four numbers that vary together. See docs/sql.md.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis")
        >>> import duckdb
        >>> con = duckdb.connect()
        >>> _ = con.sql("CREATE TABLE days AS SELECT unnest(['Strong', NULL]) AS Wind")
        >>> answers = con.sql(model.to_sql("duckdb", table="days", columns=["Wind"]))
        >>> [[round(p, 4) for p in row] for row in answers.fetchall()]
        [[0.4661, 0.5339], [0.3571, 0.6429]]
        """
        from credo.predict.sql.statement import naive_sql

        return naive_sql(
            self._model, dialect, target, table=table, keep=keep, columns=columns, unseen=unseen
        )

    def explain(
        self,
        row: Mapping[str, Any],
        *,
        of: Any = None,
        against: Any = None,
        unseen: str = "error",
    ) -> Contributions:
        """What each cell of a row says for one class against another, in bits.

        Without names, the most probable class against the next.
        """
        from credo.predict.rows.naive_row import explain

        return explain(self._model, row, of, against, unseen)

    def linear_form(self, *, reference: bool = True, unseen: str = "error") -> LinearForm:
        """The model as a linear classifier: bias and weights of the log odds; see docs."""
        from credo.predict.rows.naive_linear import linear_form

        return linear_form(self._model, reference, unseen)

    def interval(
        self, row: Mapping[str, Any], level: float = 0.95, *, draws: int = 2000, rng: Any = 0
    ) -> dict[Any, Interval]:
        """How sure P(class | row) is: a credible interval for each class, from the posterior.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis")
        >>> low, high = model.interval({"Outlook": "Sunny"})["Yes"]
        >>> low < model.p({"Outlook": "Sunny"})["Yes"] < high
        True
        """
        from credo.model.answers.interval import Interval
        from credo.predict.intervals.naive_bayes import intervals_of_row

        found = intervals_of_row(self._model, row, level, draws, rng)
        return {
            c: Interval(float(low), float(high), level)
            for c, (low, high) in zip(self._model.classes, found, strict=True)
        }
