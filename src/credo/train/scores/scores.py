"""Scores of graphs: how well a graph explains a table, and what its freedom costs.

    score(G) = Σ_i local(i | parents_i)          natural logarithm, larger is better

Every score falls apart into families, so a search that changes one edge scores one family or two
again. Likelihood scores take the maximum likelihood and subtract a penalty; Bayesian scores take
the marginal likelihood, which pays for its own freedom (Occam's razor).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from credo.core.errors import InputError, SchemaError, unknown_name
from credo.core.render import table_html, table_text
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.reals import shown
from credo.stats.family import Family
from credo.train.scores.edge_prior import EdgePrior

__all__ = ["MARGINAL", "SCORES", "Score", "ScoreSpec", "score"]

SCORES: Mapping[str, str] = MappingProxyType(
    {
        "loglik": "ln P(rows | θ̂), the maximum likelihood",
        "aic": "loglik − d for d free parameters (Akaike 1974)",
        "bic": "loglik − d/2 · ln N (Schwarz 1978)",
        "mdl": "minus ln 2 times the bits of structure, parameters and data (Rissanen 1978)",
        "bdeu": "marginal likelihood, uniform prior of weight ess (Heckerman et al. 1995)",
        "bde": "marginal likelihood with the pseudo-counts ess · P(cell) of a prior network",
        "bds": "marginal likelihood, prior on the parent rows seen alone (Scutari 2016)",
        "k2": "marginal likelihood with all pseudo-counts 1 (Cooper & Herskovits 1992)",
        "fnml": "factorised normalised maximum likelihood (Silander et al. 2008)",
        "qnml": "quotient normalised maximum likelihood (Silander et al. 2018)",
        "bge": "Gaussian marginal likelihood, normal-Wishart prior (Geiger & Heckerman 2002)",
    }
)
"""Every score by its name, with its formula in a line."""

DISCRETE_ONLY = ("bde", "fnml", "qnml")
MARGINAL = ("bdeu", "bds", "k2")
"""Marginal likelihoods of tables; beside them lines are scored by theirs (`pooled_lines.py`)."""
_WITH_ESS = ("bdeu", "bde", "bds")

LocalScore = Callable[[Any], float]


@dataclass(frozen=True)
class ScoreSpec:
    """A score and its settings, checked."""

    name: str
    ess: float = 1.0
    prior: Network | None = None
    prior_rows: float = 1.0
    freedom: float | None = None
    edge_prior: EdgePrior | None = None
    function: LocalScore | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        score: str | LocalScore,
        *,
        ess: float | None = None,
        prior: Any = None,
        prior_rows: float | None = None,
        freedom: float | None = None,
        edge_prior: EdgePrior | None = None,
    ) -> ScoreSpec:
        """The settings of a score; what does not belong to it is refused."""
        if callable(score):
            name, function = getattr(score, "__name__", "a function"), score
        elif isinstance(score, str):
            name, function = score.lower().replace("_", "-"), None
            name = {"loglikelihood": "loglik", "log-likelihood": "loglik", "ll": "loglik"}.get(
                name, name
            )
            if name not in SCORES:
                raise unknown_name("The score", score, SCORES, "one that credo knows")
        else:
            raise InputError(f"A score is a name or a function of a family, got {shown(score)}.")
        own = name if function is None else ""
        for given, what, names in (
            (ess, "ess", _WITH_ESS),
            (prior, "prior", ("bde",)),
            (prior_rows, "prior_rows", ("bge",)),
            (freedom, "freedom", ("bge",)),
        ):
            if given is not None and own not in names:
                raise InputError(
                    f"{what}= goes with the score {' or '.join(map(repr, names))}, not {name!r}."
                )
        if own == "bde":
            if not isinstance(prior, Network):
                raise InputError(
                    f"The score 'bde' needs a prior network, got prior={shown(prior)}.",
                    hint="Give prior=net, or use 'bdeu'.",
                )
            if not prior.is_discrete:
                raise SchemaError("The prior network of 'bde' must be discrete.")
        return cls(
            name,
            _positive(1.0 if ess is None else ess, "ess"),
            prior,
            _positive(1.0 if prior_rows is None else prior_rows, "prior_rows"),
            None if freedom is None else _positive(freedom, "freedom"),
            edge_prior,
            function,
        )


def _positive(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not 0 < number < math.inf:
        raise InputError(f"{what} must be a number above 0, got {shown(value)}.")
    return number


class Score(float):
    """The score of a graph: a number that knows what its families contribute.

    >>> import credo as cr
    >>> s = cr.score("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), "k2")
    >>> round(s, 4), s.name
    (-18.9686, 'k2')
    >>> round(s["Fev", ["Pneu"]], 4)
    -9.7291
    >>> print(s)
    k2 -18.968645
    family       score
    Pneu      -9.23951
    Fev|Pneu  -9.72913
    """

    __slots__ = ("families", "name", "notes", "parts")

    name: str
    families: Mapping[Family, float]
    parts: Mapping[str, float]
    notes: tuple[str, ...]

    def __new__(
        cls,
        name: str,
        families: Mapping[Family, float],
        parts: Mapping[str, float] | None = None,
        notes: Sequence[str] = (),
    ) -> Score:
        out = super().__new__(cls, math.fsum(families.values()))
        out.name = name
        out.families = MappingProxyType(dict(families))
        out.parts = MappingProxyType(dict(parts or {}))
        out.notes = tuple(notes)
        return out

    def __reduce__(self) -> Any:
        return Score, (self.name, dict(self.families), dict(self.parts), self.notes)

    def __getitem__(self, family: Any) -> float:
        """The contribution of one family: `s["Fever", ["Pneumonia"]]`."""
        wanted = Family.of(family)
        for known, value in self.families.items():
            if known.key == wanted.key:
                return value
        raise unknown_name("The family", str(wanted), self.families, "in this score")

    def _rows(self) -> Iterator[list[str]]:
        for family, value in self.families.items():
            given = f"|{':'.join(family.parents)}" if family.parents else ""
            yield [f"{family.child}{given}", f"{value:.6g}"]

    def __str__(self) -> str:
        lines = [f"{self.name} {float(self):.6f}"]
        lines += [f"{what}: {value:.2f}" for what, value in self.parts.items()]
        table = table_text(["family", "score"], self._rows(), right=[1])
        return "\n".join([*lines, table, *self.notes])

    def __repr__(self) -> str:
        return float.__repr__(self)

    def __format__(self, spec: str) -> str:
        return format(float(self), spec)

    def _repr_html_(self) -> str:
        caption = f"{self.name} {float(self):.6f}"
        return table_html(["family", "score"], self._rows(), right=[1], caption=caption)


def score(
    dag: Dag | Network | str | Sequence[tuple[str, str]],
    source: Any,
    score: str | LocalScore = "bdeu",
    *,
    ess: float | None = None,
    prior: Network | None = None,
    prior_rows: float | None = None,
    freedom: float | None = None,
    edge_prior: EdgePrior | None = None,
    intervened: Any = None,
    soft: bool = False,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
) -> Score:
    """The score of a graph on a table: a natural logarithm, larger is better.

    Parameters
    ----------
    dag : Dag, Network, text or edges
        The graph; its nodes are columns of the table.
    source : anything `cr.read` takes, a Table, a Stream or another source
        The rows.
    score : name or function
        One of 'loglik', 'aic', 'bic', 'mdl', 'bdeu', 'bde', 'bds', 'k2', 'fnml', 'qnml' for
        discrete variables; 'loglik', 'aic', 'bic', 'bge' for continuous ones; 'loglik', 'aic',
        'bic', 'bdeu', 'bds', 'k2' where both kinds meet. Of these the last three are marginal
        likelihoods; lines have theirs under `LinePrior(like_all=1)`. A function takes a family's
        statistic (`Counts` with the child's axis last, or `Moments`) and returns its local score.
    ess : float
        The equivalent sample size of 'bdeu', 'bde' and 'bds': how many rows the prior weighs.
    prior : Network
        The prior network of 'bde'.
    prior_rows, freedom : float
        Of 'bge': the weight of the prior mean (α_μ, 1), and the degrees of freedom of the
        Wishart (α_w, number of variables + 2).
    edge_prior : float, mapping from edge to float, or matrix
        A prior over structures: the probability of each edge before the rows are seen. Each
        edge adds ln p/(1 − p); edges that a mapping leaves out add nothing. A matrix (array, nested
        list or data frame) has parents in its rows and children in its columns, in the order of
        the table's columns or by the frame's labels.
    intervened : column, or mapping from variable to a 0/1 column or a mask
        What was set by an experiment in each row; such a row is left out of the variable's own
        family. A column names the variables (empty: nothing was set).
    soft : bool
        Whether experiments change a variable's family and do not cut it: in such rows it has a
        table of its own, and both count.

    Numbers with a scale (transformed, or in bins) are scored as the user's numbers: the score has
    the logarithm of their densities there, so that scores with other scales compare.

    Where cells of discrete columns are missing, 'loglik', 'aic', 'bic' and 'mdl' take each family
    on the rows that have all its cells, scaled to all rows, and the result's `notes` say so; the
    others ask for complete rows. Graphs are then scored on different rows, and gaps make large
    families look good: to choose a graph use `cr.learn`.

    >>> import credo as cr
    >>> table = cr.examples.pneumonia()
    >>> one, two = (cr.score(g, table, "bic") for g in ("[Pneu][Fev]", "[Pneu][Fev|Pneu]"))
    >>> round(one, 3), round(two, 3)  # the edge is not worth its parameter
    (-18.953, -20.023)
    >>> round(cr.score("[Pneu][Fev|Pneu]", table, "bdeu", ess=10), 3)
    -17.685
    """
    from credo.train.parameters.experiments import experiments
    from credo.train.parameters.sources import Opened
    from credo.train.parameters.told import schema_with
    from credo.train.scores.family_scores import family_scores
    from credo.train.scores.scale_terms import scale_terms

    spec = ScoreSpec.of(
        score, ess=ess, prior=prior, prior_rows=prior_rows, freedom=freedom, edge_prior=edge_prior
    )
    graph = graph_of(dag)
    schema = schema_with(source, schema, intervened)
    opened = experiments(Opened(source, {}, weights, schema).source, intervened, soft)
    scores = family_scores(opened, spec, names=graph.nodes, threads=threads)
    families = [Family(n, tuple(graph.parents(n))) for n in graph.nodes]
    found = scores.of(families)
    for family, value in zip(families, found, strict=True):
        if not math.isfinite(value):
            raise InputError(
                f"The family {family} has no finite {spec.name} score: "
                f"{scores.why_infinite(family)}."
            )
    terms = scale_terms(opened, graph.nodes)
    each = {f: float(x) + terms.get(f.child, 0.0) for f, x in zip(families, found, strict=True)}
    return Score(spec.name, each, scores.parts(families), scores.notes)


def graph_of(dag: Any) -> Dag:
    """A graph from a graph, a network, edges or text."""
    if isinstance(dag, Network):
        return dag.dag
    if isinstance(dag, Dag):
        return dag
    if isinstance(dag, str):
        return Dag.parse(dag)
    from credo.train.parameters.sources import refuse_rows

    refuse_rows(dag)
    if isinstance(dag, Sequence):
        return Dag(dag)
    raise InputError(f"A graph is needed: a Dag, a Network, edges or text, got {shown(dag)}.")
