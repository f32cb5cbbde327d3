"""What can be asked of a Bayesian network beyond what every model answers.

Its parameters may have a posterior, so that answers carry intervals; its arrows say what an
intervention cuts. The algorithms live in `credo.predict` and `credo.checking`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from credo.core.engine_frames import lies_with_engine
from credo.core.errors import InputError
from credo.model.methods.questions import Questions

if TYPE_CHECKING:
    import os

    import numpy as np
    from numpy.typing import NDArray

    from credo.checking.questions.information_gain import EvidenceValue
    from credo.checking.questions.tipping import Sensitivity
    from credo.core.progress import Report
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.model.networks.network import Network
    from credo.model.values.randomness import Rng

__all__ = ["NetworkMethods"]


class NetworkMethods(Questions):
    """The questions of a Bayesian network; `Network` adds the rest."""

    __slots__ = ()

    def predict_proba(
        self,
        rows: Any,
        target: str,
        *,
        threads: int = 1,
        interval: float | None = None,
        draws: int | None = None,
        rng: Any = 0,
    ) -> NDArray[np.float64] | Any:
        """P(target | the other cells) for each row of a table, a column for each state.

        With `interval=0.95` three such arrays: `p`, and the ends `low` and `high`. A Dask or Spark
        frame comes back with a column for each state, computed where its rows are, lazily.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.predict_proba({"wet": [True, False, None]}, "rain").round(4).tolist()
        [[0.3333, 0.6667], [0.9474, 0.0526], [0.8, 0.2]]
        """
        from credo.predict.questions.request import draws_of

        n = draws_of(draws, interval)
        if lies_with_engine(rows) and interval is None and target in self._asked.schema:
            from credo.predict.rows.on_engines import frame_with_probabilities

            net = self._asked
            return frame_with_probabilities(net, rows, net.variable(target), target=target)
        if interval is not None:
            from credo.predict.intervals.interval import predict_proba_interval

            return predict_proba_interval(self._asked, rows, target, interval, n, rng, threads)
        from credo.predict.rows.rows import predict_proba

        return predict_proba(self._asked, rows, target, threads=threads)

    def to_sql(
        self,
        dialect: str,
        *,
        target: str,
        table: str | Sequence[str] = "rows",
        keep: Sequence[str] | str = (),
        columns: Collection[str] | None = None,
        gaps: str = "sum",
    ) -> str:
        """P(target | row) as one SELECT of 'duckdb', 'spark', 'postgres' or 'bigquery'.

        It gives what `predict_proba` gives, a column `p_…` for each state, and carries the columns
        that `keep` names; `columns` names those that the table has, if not all. Missing cells are
        summed over; with `gaps="null"` a row with a gap in the Markov blanket has no answer, in a
        shorter statement. NULL stands for what `predict_proba` refuses (a state that the network
        does not have, a row of probability zero in the families that were read), and for a row
        without a number that an observed number is a line of. See docs/sql.md.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> import duckdb
        >>> con = duckdb.connect()
        >>> _ = con.sql("CREATE TABLE rows AS SELECT unnest([true, false, NULL]) AS wet")
        >>> answers = con.sql(net.to_sql("duckdb", target="rain", keep="wet"))
        >>> answers.columns
        ['wet', 'p_False', 'p_True']
        >>> [round(p, 4) for _, _, p in answers.fetchall()]
        [0.6667, 0.0526, 0.2]
        """
        from credo.predict.sql.statement import network_sql

        return network_sql(
            self._asked, dialect, target, table=table, keep=keep, columns=columns, gaps=gaps
        )

    def sample(
        self,
        n: int,
        rng: Rng | None = None,
        given: Mapping[str, Any] | None = None,
        *,
        to: str = "table",
        path: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        report: Report | None = None,
        engine: Any = None,
    ) -> Any:
        """Rows drawn from the network, all of it or given evidence, exactly; see docs/sampling.md.

        A `Table`; `to="pandas"`, `"polars"`, `"arrow"` or `"dict"` asks for another kind of frame,
        and `path="rows.parquet"` writes a file of any length instead (and returns its path), with
        a progress bar on terminals, or `report=`, a function of (done, total). The same seed gives
        the same rows for any number of threads, and with `engine=` (a Dask client, a Spark session,
        an executor), whose workers write Parquet files in parallel into the folder `path=`.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.sample(3, rng=0))
        rain   wet
        False  False
        False  False
        True   False
        >>> rows = net.sample(10_000, rng=0, given={"wet": True})
        >>> round(float(rows["rain"].mean()), 1)  # P(rain | wet) is 2/3
        0.7
        """
        from credo.predict.sampling.sample import sample

        if rng is None:
            raise InputError(
                "rng must be a whole-number seed or a generator, so that rows can be drawn again.",
                hint=f"Write net.sample({n!r}, rng=0).",
            )
        if engine is not None:
            from credo.predict.sampling.on_engine import sample_on

            return sample_on(engine, self._asked, n, rng, given, path, report)
        return sample(self._asked, n, rng, given, to=to, path=path, threads=threads, report=report)

    def impute(self, rows: Any, method: str = "mode", **options: Any) -> Any:
        """Fill the gaps of a table from what the rest of each row says.

        `method="mode"` takes the most probable states of a row's gaps together, `"sample"` draws
        them (`rng=0`; `copies=5` gives five tables), `"posterior"` tells what is known of each gap.
        After `cr.em` with a prior each sample has parameters of its own, drawn given the observed
        cells, so that copies differ as much as the rows leave open. A Dask or Spark frame is filled
        where its rows are, lazily.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> print(net.impute({"rain": [None, False], "wet": [True, None]}))
        rain   wet
        True   True
        False  False
        """
        if lies_with_engine(rows):
            from credo.predict.rows.on_engines import filled_frame

            return filled_frame(self._asked, rows, method, **options)
        from credo.predict.rows.impute import impute

        return impute(self._asked, rows, method, notes=True, uncertain=True, **options)

    def do(self, values: Mapping[str, Any]) -> Network:
        """The network after an intervention: the variables are set, not observed.

        Where the graph was learned and rows cannot tell which way an arrow at such a variable
        points, a warning says so.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.do({"wet": True}).p("rain")[True]  # wetting the grass does not make it rain
        0.2
        """
        from credo.predict.questions.intervention import intervene, reversible_note
        from credo.predict.questions.notes import tell

        changed = intervene(self._asked, values)
        told = reversible_note(self._asked, values, set(self._asked.names))
        if told:
            tell(f"{told[:1].upper()}{told[1:]}.")
        return changed

    def sensitivity(
        self, question: str, *, threshold: float | None = None, level: float = 0.95
    ) -> Sensitivity:
        """How far each parameter must move to change an answer; see docs/sensitivity.md.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> found = net.sensitivity("P(rain=true | wet=true)", threshold=0.5)
        >>> round(found["P(rain=True)"].needed, 4)  # from 0.2, for P to fall to a half
        0.1111
        """
        from credo.checking.questions.tipping import sensitivity

        return sensitivity(self._asked, question, threshold=threshold, level=level)

    def evidence_value(
        self,
        target: str,
        given: Mapping[str, Any] | None = None,
        *,
        among: Sequence[str] | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> EvidenceValue:
        """Which unobserved variable would tell most of the target, in bits.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.evidence_value("rain").best.variable
        'wet'
        """
        from credo.checking.questions.information_gain import evidence_value

        return evidence_value(self._asked, target, given, among=among, costs=costs)

    def decide(
        self,
        decisions: Mapping[str, Any] | Sequence[str] | str,
        utilities: Mapping[str, Any],
        *,
        memory: str = "full",
        combine: str = "add",
        costs: Mapping[str, float] | None = None,
    ) -> DecisionNetwork:
        """A decision network: what can be done, and what the outcomes are worth.

        `decisions` gives the options of each decision; one that is a variable of the network is
        set (its options are its states). What is known at a decision, and what a utility depends
        on, stands after a bar: `"take|forecast"`. The rest is as in `DecisionNetwork`; see
        docs/decide.md.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> d = net.decide({"take|wet": ["no", "yes"]}, {"comfort|take:rain": {
        ...     "no": {False: 100, True: 0}, "yes": {False: 80, True: 70}}})
        >>> d.best(given={"wet": True}).choice
        'yes'
        """
        from credo.predict.decisions.deciding import decide

        return decide(
            self._asked, decisions, utilities, memory=memory, combine=combine, costs=costs
        )

    def update(self, rows: Any, *, weights: Any = None, threads: int | None = None) -> Network:
        """The network after more rows: the same as if all rows had been fitted at once.

        >>> import credo as cr
        >>> table = cr.examples.pneumonia()
        >>> whole = cr.fit("[Pneu][Fev|Pneu]", table, prior=cr.BDeu(1))
        >>> net = cr.fit("[Pneu][Fev|Pneu]", table.take(slice(0, 7)), prior=cr.BDeu(1))
        >>> net.update(table.take(slice(7, 12))) == whole
        True
        """
        from credo.train.parameters.update import update

        return update(self._asked, rows, weights=weights, threads=threads)

    def widget(self, data: Any = None) -> Any:
        """The network to click on in a notebook: every posterior moves with each click.

        In Jupyter, marimo, Colab and VS Code, through anywidget; `data` are rows to step through
        as evidence. After `%load_ext credo` a network at the end of a cell is shown so. See
        docs/studio.md.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> net.widget()  # doctest: +SKIP
        """
        from credo.studio.widget import widget

        return widget(self._asked, data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file; the ending says the format.

        >>> from credo import Network
        >>> net = Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
        >>> import credo as cr, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "rain.bif")
        >>> net.save(path)
        >>> cr.load(path)
        Network(2 variables, 1 edge, 3 parameters)
        """
        from credo.formats import save

        save(self._asked, path)
