"""Whether an effect can be computed from what is observed, by which formula, or why not.

Of several formulas the simplest is given: an adjustment where there is one,

    P(y | do(x)) = Σ_z P(y | x, z) P(z)

else that of the ID algorithm. With variables that are observed besides, P(y | do(x), z), rule 2 of
the do-calculus moves what it can from `given` into `do`; the rest is a ratio (IDC; Shpitser &
Pearl 2006, "Identification of conditional interventional distributions").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from credo.core.errors import InputError, NotIdentifiedError
from credo.core.render import View
from credo.model.causal.formula import Formula, Prob, Ratio, product, summed
from credo.model.values.value import Value, choice
from credo.predict.causal.adjustment import AdjustmentSet, best_set
from credo.predict.causal.c_factors import Admg, Hedge, NotIdentified, identified
from credo.predict.causal.questions import CausalQuestion, read

if TYPE_CHECKING:
    from credo.model.causal.causal_graph import CausalGraph

__all__ = ["Identification", "identify", "of_effect"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Identification(Value):
    """The answer to whether an effect can be known: a formula, or a hedge, with the reason.

    >>> import credo as cr
    >>> print(cr.CausalGraph("[X][Y|X] X<->Y").identify("P(Y | do(X))"))
    P(Y | do(X)) cannot be computed from what is observed.
    A hidden common cause ties X and Y together, and within them everything leads to Y: two models \
can agree on all that is observed and differ in what do(X) does to Y (the hedge {X, Y} over {Y}).
    """

    question: CausalQuestion
    found: Formula | None
    reason: str
    adjustment: tuple[str, ...] | None = None
    hedge: Hedge | None = None
    told: str = "what is observed"
    """What it would be computed from."""

    @property
    def identified(self) -> bool:
        """Whether there is a formula."""
        return self.found is not None

    @property
    def formula(self) -> Formula:
        """The formula; refused, with the hedge, where there is none."""
        if self.found is None:
            raise NotIdentifiedError(
                f"{self.question} cannot be computed from {self.told}: {self.reason}",
                hint="Observe what hides behind an arc, set the variable in an experiment, or look "
                "for an instrument: graph.instruments(…).",
            )
        return self.found

    @property
    def latex(self) -> str:
        """The question and its formula in LaTeX."""
        from credo.model.graphs.statements import latex_name

        of, to, given = (
            ", ".join(map(latex_name, part))
            for part in (self.question.of, self.question.set, self.question.given)
        )
        known = ", ".join([*([f"do({to})"] if to else []), *([given] if given else [])])
        bar = f" \\mid {known}" if known else ""
        return f"P({of}{bar}) = {self.formula.latex}"

    def _repr_latex_(self) -> str | None:
        return f"${self.latex}$" if self.identified else None

    def __str__(self) -> str:
        if self.found is None:
            head = f"{self.question} cannot be computed from {self.told}."
            return f"{head}\n{self.reason[:1].upper()}{self.reason[1:]}"
        return f"{self.question} = {self.found}\n{self.reason}"

    def _view(self) -> View:
        return View(
            str(self.question), ["formula"], [[str(self.found or "none")]], note=self.reason
        )


def identify(
    graph: CausalGraph, question: str, given: Sequence[str] | str = (), by: str = "auto"
) -> Identification:
    """Whether and how P(y | do(x), z) follows from the observed distribution."""
    choice(by, ("auto", "id", "adjustment"), "by")
    return of_effect(graph, read(graph, question, given), by)


def of_effect(graph: CausalGraph, asked: CausalQuestion, by: str = "auto") -> Identification:
    """The same for a question that was read."""
    if by == "adjustment" and (asked.given or not asked.set):
        raise InputError("An adjustment is for P(y | do(x)) with nothing else observed.")
    if by != "id" and asked.set and not asked.given:
        best = best_set(graph, asked.set, asked.of)
        if best is not None:
            return Identification(asked, _adjusted(asked, best), best.reason, best.names)
        if by == "adjustment":
            told = "no set of observed variables blocks every path that is no effect."
            return Identification(asked, None, told)
    return _by_id(graph, asked)


def _adjusted(asked: CausalQuestion, best: AdjustmentSet) -> Formula:
    z = best.names
    inner = Prob(asked.of, (*asked.set, *z))
    return summed(z, product([inner, Prob(z)])) if z else inner


def _by_id(graph: CausalGraph, asked: CausalQuestion) -> Identification:
    to, known = _exchanged(graph, asked)
    y, x = (sum(1 << graph._at(n) for n in names) for names in ((*asked.of, *known), to))
    admg = Admg(graph)
    try:
        formula = identified(graph, y, x)
    except NotIdentified as failed:
        hedge = Hedge(admg.named(failed.larger), admg.named(failed.smaller))
        return Identification(asked, None, _said(asked, hedge), hedge=hedge)
    extra = formula.free - {*asked.of, *asked.set, *asked.given}
    if known:
        formula = Ratio(formula, summed(asked.of, formula))
    if extra:
        rest = tuple(n for n in graph.order if n in extra)
        formula = summed(rest, product([Prob(rest), formula]))
    return Identification(asked, formula, _how(graph, asked, to, extra))


def _exchanged(graph: CausalGraph, asked: CausalQuestion) -> tuple[list[str], list[str]]:
    """Rule 2: what is observed and acts as if it were set goes to `do`."""
    to, known = list(asked.set), list(asked.given)
    moved = True
    while moved:
        moved = False
        for z in known:
            rest = [n for n in known if n != z]
            cut = graph.do(to) if to else graph
            edges = [e for e in cut.edges if e[0] != z]
            under = type(graph)(edges, graph.nodes, hidden=cut.hidden)
            if under.m_separated(asked.of, z, given=[*to, *rest]):
                to, known, moved = [*to, z], rest, True
                break
    return to, known


def _how(
    graph: CausalGraph, asked: CausalQuestion, to: Sequence[str], extra: frozenset[str]
) -> str:
    if not asked.set:
        told = "nothing is set, so it is an observed probability"
    elif not graph.hidden:
        told = "every cause is observed, so each other variable keeps its own distribution"
    else:
        told = "by the ID algorithm: each group that hidden causes tie together is identified"
    moved = [n for n in to if n not in asked.set]
    if moved:
        told += f"; {', '.join(moved)} acts as if it were set (rule 2 of the do-calculus)"
    if extra:
        names = ", ".join(n for n in graph.order if n in extra)
        told += f"; the value is the same for every {names}, so they are averaged over"
    return told


def _said(asked: CausalQuestion, hedge: Hedge) -> str:
    larger, smaller = hedge.larger, hedge.smaller
    *most, last = larger
    tied = f"{', '.join(most)} and {last}"
    whole, part = ", ".join(larger), ", ".join(smaller)
    tie = "a hidden common cause ties" if len(larger) == 2 else "hidden common causes tie"
    return (
        f"{tie} {tied} together, and within them everything leads to {part}: two models can agree "
        f"on all that is observed and differ in what do({', '.join(asked.set)}) does to "
        f"{', '.join(asked.of)} (the hedge {{{whole}}} over {{{part}}})."
    )
