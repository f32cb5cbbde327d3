"""Notes: what goes with an answer in words, because its numbers do not say it.

They stand in `notes` of the answer, below it in print and HTML, and in JSON: configurations without
a row (`unseen`), arrows that rows could not decide (`intervention`), rows that speak against the
graph (`against_rows`), and what an interval leaves out. An interval is that of the parameters: a
graph that was searched for in the same rows is taken as known, and so are gaps that EM filled.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import CredoWarning
from credo.core.render import text_html
from credo.model.answers.approximation import Estimate
from credo.model.answers.distribution import Distribution
from credo.model.answers.mixed_joint import MixedJoint
from credo.predict.intervals.uncertain import Probability
from credo.predict.questions.evidence import on_line
from credo.predict.questions.unseen import unseen_notes
from credo.stats.moments import Moments

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.model.values.record import Record
    from credo.predict.questions.request import Request

__all__ = ["FAR", "Noted", "far_evidence", "left_out", "noted", "tell", "warn_far", "with_notes"]

_NOT_SEARCHED = ("", "naive-bayes")

FAR = 10.0
"""Standard deviations from the mean of the rows: evidence beyond has no row near it."""


class Noted(float):
    """A probability that is a float and says what it rests on.

    >>> x = Noted(0.5, ("no row has a=1",))
    >>> x + 1, x.notes
    (1.5, ('no row has a=1',))
    >>> print(x)
    0.5
    no row has a=1
    """

    __slots__ = ("notes",)
    notes: tuple[str, ...]

    def __new__(cls, value: float, notes: tuple[str, ...]) -> Noted:
        out = super().__new__(cls, value)
        out.notes = notes
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return Noted, (float(self), self.notes)

    def __str__(self) -> str:
        return "\n".join([f"{float(self):.6g}", *self.notes])

    def _repr_html_(self) -> str:
        return text_html(self)


def noted(
    asked: Request, answer: Any, *, record: Record | None = None, told: tuple[str, ...] = ()
) -> Any:
    """The answer, or each of a dict of them, with what there is to say of it.

    `record` tells how the network was learned, if not its own; `told` is to be said besides.

    >>> import credo as cr
    >>> rows = {"sun": ["no", "yes", "no"], "wind": ["no", "no", "yes"], "sail": [0, 0, 1]}
    >>> net = cr.fit("[sun][wind][sail|sun:wind]", rows, prior=cr.BDeu(1))
    >>> net.p("sail", given={"sun": "yes", "wind": "yes"}).notes
    ('no row has sun=yes, wind=yes: P(sail | sun, wind) is the prior alone there',)
    >>> net.p("sail", given={"sun": "yes", "wind": "no"}).notes
    ()
    """
    record = record or getattr(asked.net, "record", None)
    of = unseen_notes(asked.net, asked.evidence)

    def one(found: Any, names: Collection[str]) -> Any:
        notes = of(names) if type(found) is not Estimate else ()
        return with_notes(found, (*notes, *told, *left_out(record, found)))

    if isinstance(answer, dict):
        return {n: one(found, [n]) for n, found in answer.items()}
    return one(answer, asked.about)


def with_notes(answer: Any, notes: tuple[str, ...]) -> Any:
    """The same answer with more notes.

    >>> with_notes(0.5, ("no row has a=1",)).notes
    ('no row has a=1',)
    """
    if not notes:
        return answer
    if isinstance(answer, MixedJoint):
        return replace(answer, discrete=with_notes(answer.discrete, notes))
    notes = (*getattr(answer, "notes", ()), *notes)
    if isinstance(answer, Probability):
        return Probability(float(answer), answer.interval, notes)
    if isinstance(answer, Estimate):
        return Estimate(float(answer), answer.approximation, notes)
    return Noted(answer, notes) if isinstance(answer, float) else replace(answer, notes=notes)


def left_out(record: Record | None, answer: Any) -> tuple[str, ...]:
    """What the interval of an answer does not count, by how the network was learned.

    >>> import credo as cr
    >>> net = cr.learn(cr.examples.pneumonia())
    >>> net.ask("P(Fev=T)", interval=0.95).notes
    ('the interval is given the learned graph: it leaves out how sure the graph itself is',)
    """
    span = "interval" if isinstance(answer, (Distribution, Probability)) else "mean_interval"
    if record is None or getattr(answer, span, None) is None:
        return ()
    details = record.details
    graph = details.get("search", "") not in _NOT_SEARCHED
    gaps = "iterations" in details and bool(details.get("missing") or details.get("hidden"))
    if graph and gaps:
        return (
            "the interval is given the learned graph and the gaps as EM filled them: it leaves "
            "out how sure both are",
        )
    if graph:
        return (
            "the interval is given the learned graph: it leaves out how sure the graph itself is",
        )
    if gaps:
        return ("the interval takes the gaps as EM filled them: it leaves out how sure that is",)
    return ()


# --- warnings -----------------------------------------------------------------------------


def tell(text: str) -> None:
    """Warn at the first line that is not credo's own."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("credo."):
        frame, level = frame.f_back, level + 1
    warnings.warn(CredoWarning(text), stacklevel=level)


def far_evidence(net: Network, given: Mapping[str, Any]) -> list[str]:
    """What is said of each number that no row is near.

    >>> import credo as cr
    >>> net = cr.fit("[age]", {"age": [21.0, 35.5, 48.0, 62.5]})
    >>> far_evidence(net, {"age": 3000.0})
    ['age=3000 (rows: mean 41.8, standard deviation 15.3)']
    """
    out = []
    for name, value in given.items():
        local = net.distributions.get(name)
        learned = getattr(local, "learned", None)
        if learned is None or not isinstance(value, float):
            continue
        if not isinstance(learned.observed, Moments):
            continue
        told, value = value, on_line(net.variable(name), value)
        alone = learned.observed.marginal([name])
        mean, total = float(np.ravel(alone.mean)[0]), float(np.ravel(alone.n)[0])
        sd = float(np.sqrt(np.ravel(alone.scatter)[0] / total))
        if sd > 0 and abs(value - mean) > FAR * sd:
            rows = f"mean {mean:.3g}, standard deviation {sd:.3g}"
            scale = getattr(net.variable(name), "scale", None)
            rows += "" if scale is None else f" behind its {scale.words}"
            out.append(f"{name}={told:.6g} (rows: {rows})")
    return out


def warn_far(net: Network, given: Mapping[str, Any]) -> None:
    """Say it where there is something to say."""
    found = far_evidence(net, given)
    if found:
        tell(
            f"Far outside of the rows that the model was learned from: {'; '.join(found)}. The "
            "answer goes along lines that no row supports."
        )
