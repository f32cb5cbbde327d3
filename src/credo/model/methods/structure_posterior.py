"""What can be asked of a posterior over graphs; the algorithms live in `credo.predict`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import os

    from credo.model.structures.structure_posterior import StructurePosterior
    from credo.model.values.randomness import Rng
    from credo.predict.averaged.asking import Effect
    from credo.predict.averaged.deciding import AveragedDecisions

__all__ = ["StructureMethods"]


class StructureMethods:
    """The questions of a posterior over graphs; `StructurePosterior` adds the rest."""

    __slots__ = ()

    @property
    def _post(self) -> StructurePosterior:
        return cast("StructurePosterior", self)

    @property
    def _asked(self) -> Any:
        """A network of the same variables, by which questions in text are read."""
        return self._post.best

    def p(
        self,
        target: str | Sequence[str] | Mapping[str, Any],
        given: Mapping[str, Any] | None = None,
        *,
        interval: float | None = None,
        draws: int | None = None,
        rng: Rng = 0,
    ) -> Any:
        """As `p` of a network, averaged over graphs and parameters.

        With `interval=0.95` the interval includes how sure the graph is.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> round(post.p("Cou", given={"Pneu": "T"})["T"], 4)
        0.6824
        """
        from credo.predict.averaged.asking import answer

        return answer(self._post, target, given, interval=interval, draws=draws, rng=rng)

    def ask(
        self,
        question: str,
        *,
        interval: float | None = None,
        draws: int | None = None,
        rng: Rng = 0,
    ) -> Any:
        """Answer a question in text, averaged over graphs and parameters; see docs/averaging.md.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> round(post.ask("P(Cou=T | Pneu=T)"), 4)
        0.6824
        """
        from credo.predict.averaged.asking import ask

        return ask(self._post, question, interval=interval, draws=draws, rng=rng)

    def predict_proba(
        self,
        rows: Any,
        target: str,
        *,
        interval: float | None = None,
        draws: int | None = None,
        rng: Rng = 0,
    ) -> Any:
        """P(target | the other cells) for each row, averaged over graphs and parameters.

        With `interval=0.95` three such arrays: `p`, and the ends `low` and `high`.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> post.predict_proba({"Pneu": ["T", "F"]}, "Cou").round(3).tolist()
        [[0.318, 0.682], [0.634, 0.366]]
        """
        from credo.predict.averaged.rows import predict_proba

        return predict_proba(
            self._post, rows, target, interval=interval, draws=draws, rng=rng
        )  # fmt: skip

    def log_likelihood(self, rows: Any) -> float:
        """Σ ln P(row), each row averaged over graphs and parameters, its gaps summed out.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> round(post.log_likelihood({"Pneu": ["T"], "Cou": ["T"]}), 4)
        -1.2423
        """
        from credo.predict.averaged.rows import log_likelihood

        return log_likelihood(self._post, rows)

    def do(self, values: Mapping[str, Any]) -> StructurePosterior:
        """The posterior after an intervention: in every graph the edges into a variable are cut.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> round(post.do({"Pneu": "T"}).p("Cou")["T"], 4)
        0.5912
        """
        from credo.predict.averaged.asking import intervened

        return intervened(self._post, values)

    def effect(
        self,
        cause: str,
        outcome: str,
        *,
        interval: float = 0.95,
        draws: int | None = None,
        rng: Rng = 0,
    ) -> Effect:
        """P(outcome | do(cause)) for each state of the cause, over all graphs.

        Equivalent graphs fit the rows alike and differ in effects, so the interval is wide where
        the rows do not tell which way an edge points.

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> found = post.effect("Pneu", "Cou")
        >>> round(found["T"]["T"], 4), round(found.path, 2)
        (0.5912, 0.33)
        """
        from credo.predict.averaged.asking import effect

        return effect(self._post, cause, outcome, interval=interval, draws=draws, rng=rng)

    def decide(
        self,
        decisions: Mapping[str, Any] | Sequence[str] | str,
        utilities: Mapping[str, Any],
        *,
        memory: str = "full",
        combine: str = "add",
        costs: Mapping[str, float] | None = None,
    ) -> AveragedDecisions:
        """What to do when the graph itself is not sure: a decision problem over all graphs.

        As `decide` of a network, with `solve`, `best`, `ask`, `compare`, `value_of_information` and
        `next_question`. A decision that is a variable is set in every graph (do).

        >>> import credo as cr
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> d = post.decide({"treat|Cou": ["no", "yes"]}, {"harm|treat:Pneu": {
        ...     "no": {"F": 0, "T": -100}, "yes": {"F": -10, "T": -30}}})
        >>> round(d.best(given={"Cou": "T"})["yes"], 4)
        -21.5484
        """
        from credo.predict.averaged.deciding import decide

        return decide(self._post, decisions, utilities, memory=memory, combine=combine, costs=costs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the posterior to a `.credo` file, which `cr.load` reads.

        >>> import credo as cr, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "graphs.credo")
        >>> cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"])).save(path)
        >>> cr.load(path)
        StructurePosterior(2 variables, 3 graphs, prior uniform)
        """
        from credo.formats import save

        save(self._post, path)

    def plot(self, threshold: float = 0.1, ax: Any = None) -> Any:
        """Draw the pairs that are joined at least that probably, wider the more probable.

        >>> import credo as cr
        >>> import matplotlib; matplotlib.use("Agg")
        >>> post = cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"]))
        >>> type(post.plot()).__name__
        'Axes'
        """
        from credo.model.methods.pictures import picture

        return picture("network")(
            self._post.consensus(threshold), strengths=self._strengths(threshold), ax=ax
        )

    def svg(self, threshold: float = 0.1) -> Any:
        """The same picture as SVG text, which needs nothing but credo.

        >>> import credo as cr
        >>> cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"])).svg()[:4]
        '<svg'
        """
        from credo.model.methods.pictures import picture

        return picture("network_svg")(
            self._post.consensus(threshold), strengths=self._strengths(threshold)
        )

    def _strengths(self, threshold: float) -> dict[tuple[str, str], float]:
        """How probably each pair of the picture is joined."""
        post = self._post
        return {(a, b): float(post.adjacent(a, b)) for a, b in post.consensus(threshold).edges}

    def to_arviz(self) -> Any:
        """The edges of the graphs that chains drew as ArviZ's InferenceData, where it is installed.

        >>> import credo as cr
        >>> cr.average(cr.examples.pneumonia().select(["Pneu", "Cou"])).to_arviz()
        Traceback (most recent call last):
        credo.errors.InputError: Every graph is weighed here: there are no draws to give to ArviZ.
        """
        from credo.core.errors import InputError, MissingPackageError

        post = self._post
        if post.complete:
            raise InputError("Every graph is weighed here: there are no draws to give to ArviZ.")
        try:
            import arviz  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise MissingPackageError(
                "to_arviz() needs ArviZ.", hint="Install it: pip install arviz"
            ) from None
        drawn = post.adjacency[post.draws].astype(float)
        return arviz.from_dict(
            posterior={"edge": drawn},
            coords={"parent": list(post.names), "child": list(post.names)},
            dims={"edge": ["parent", "child"]},
        )
