"""Parameters of a known graph, from one pass over any source.

    ln P(rows | θ) = Σ_families Σ_ijk n_ijk ln θ_ijk

The likelihood falls apart into families, so each is learned by itself from its own statistic:
counts for a table, moments for a line. With a prior the posterior is kept beside the estimate.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from credo.core.errors import InputError, LimitError, SchemaError, unknown_name
from credo.core.schema import Variable
from credo.data import read
from credo.model.causal.causal_graph import CausalGraph
from credo.model.distributions.dirichlet import Pseudocounts
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.graphs.dag import Dag
from credo.model.graphs.undirected import UndirectedGraph
from credo.model.networks.count_table import counts
from credo.model.networks.cpt import Cpt
from credo.model.networks.family import MAX_CELLS, cells
from credo.model.networks.line_prior import LinePrior
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Local, Network
from credo.model.networks.priors import K2, BDeu, Laplace, pseudocounts_of
from credo.model.networks.softmax import Softmax
from credo.model.undirected.factor_model import FactorModel
from credo.model.values.learned import Learned
from credo.model.values.reals import shown
from credo.model.values.value import choice, flag
from credo.train.parameters.experiments import experiments
from credo.train.parameters.families import FamilySpec, learn
from credo.train.parameters.pooled_lines import LIKE_ALL
from credo.train.parameters.softmax_families import (
    fit_softmax,
    is_softmax,
    ridge_of,
    softmax_item,
)
from credo.train.parameters.sources import Opened, refuse_rows
from credo.train.parameters.tied import groups_of
from credo.train.parameters.told import schema_with

__all__ = ["fit"]


def fit(
    graph: Dag | Network | UndirectedGraph | FactorModel | str | Iterable[tuple[str, str]],
    source: Any,
    prior: Any = None,
    *,
    default: Any = None,
    estimate: str | None = None,
    sample_variance: bool = False,
    fixed: Mapping[str, Any] | Sequence[str] | None = None,
    tied: Sequence[Sequence[str]] = (),
    intervened: Any = None,
    numbers: Any = "gaussian",
    ordered: bool = False,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
    **undirected: Any,
) -> Any:
    """Learn the distributions of a graph from rows.

    A directed graph gives a `Network`, an undirected one a `MarkovNetwork`.

    Parameters
    ----------
    graph : Dag, text, edges, or Network; UndirectedGraph, MarkovNetwork or FactorGraph
        The graph. A model gives its variables and states too; its parameters are not used.
    source : anything `cr.read` takes, a Table, a Stream, a source, or a Tally
        The rows, or statistics of the graph's families already counted.
    prior : None, BDeu, K2, Laplace, Dirichlet, Beta, LinePrior, NormalInverseGamma, or mapping
        None is maximum likelihood. A mapping gives families priors of their own by the name of
        the child; the others get `default`. A prior of tables leaves the lines of continuous
        variables to `LinePrior(like_all=4)`: configurations of few rows lean on all of them, and
        without discrete parents it is the reference prior. A prior of lines leaves tables to none.
    estimate : "mean", "map" or "mle"
        The point that becomes the table: with a prior the posterior mean, unless said otherwise.
    sample_variance : bool
        With "mle", divide the squared errors of a line by n − p rather than by n.
    fixed : mapping from variable to its distribution, or names (of a given network)
        Distributions that are known and are not learned.
    tied : lists of variables
        The families of each list share one table (or line): their counts are added.
    intervened : column, or mapping from variable to a 0/1 column or a mask
        What was set by an experiment in each row; such a row is left out of the variable's own
        family. A column names the variables (empty: nothing was set).
    numbers : "gaussian", "auto", "transformed", "binned", "counts", or a mapping from column to one
        How continuous columns are modelled, as in `cr.learn`; "auto" puts a number that is the
        parent of a state into bins. As "gaussian" or "transformed" it has a softmax in it, whose
        coefficients have a Gaussian prior of precision 1 in standard deviations of the number
        (`prior={child: cr.LinePrior(ridge=…)}` gives another); see docs/numbers.md.
    ordered : bool
        Let neighbours among ordered states (an Enum, an ordered category, states given in order)
        share what was seen of them, as far as the rows do not tell them apart. It needs a prior.
    weights, schema : optional
        As in `cr.read`, when `source` has not been read yet.
    undirected : method, l2, potentials, max_iter, tol
        For undirected graphs alone; see docs/undirected.md.

    >>> import credo as cr
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia())
    >>> net.cpt("Fev").row(Pneu="T")["T"]  # three of five patients
    0.6
    >>> net = cr.fit("[Pneu][Fev|Pneu]", cr.examples.pneumonia(), prior=cr.Beta(3, 4))
    >>> print(net.cpt("Fev").row(Pneu="T", interval=0.95))  # Beta(6, 6)
    Fev        p         95 %
    F    0.50000  0.234–0.766  ████┝━━━━━╋━━━━┥
    T    0.50000  0.234–0.766  ████┝━━━━━╋━━━━┥
    """
    if isinstance(graph, (UndirectedGraph, FactorModel)):
        from credo.train.markov.fit import fit_markov

        _refuse_directed(prior, default, estimate, sample_variance, fixed, tied, intervened)
        return fit_markov(graph, source, weights=weights, schema=schema, **undirected)
    if undirected:
        raise TypeError(f"fit() has no option {next(iter(undirected))!r} for a directed graph.")
    began = time.perf_counter()
    like = graph if isinstance(graph, Network) else None
    if isinstance(source, (Dag, Network)) or (isinstance(source, str) and "[" in source[:2]):
        raise InputError(
            f"The graph comes first and the rows second, got {shown(source)} for the rows.",
            hint="Write cr.fit('[A][B|A]', rows).",
        )
    dag = _graph(graph)
    known = {v.name: v for v in like.variables} if like is not None else {}
    known |= _known_variables(dag, fixed)
    families = [(n, dag.parents(n)) for n in dag.nodes]
    schema = schema_with(source, schema, intervened, known if like is not None else {})
    if like is not None and schema is not None and intervened is not None:
        source, weights, schema = read(source, schema, weights), None, None
    opened = Opened(source, known if like is not None else {}, weights, schema)
    if numbers != "gaussian":
        opened.scale(dag, numbers)
    opened.source = experiments(opened.source, intervened)
    variables = opened.variables(families)
    for name, variable in known.items():
        if variables[name] != variable:
            raise SchemaError(
                f"The fixed distribution of {name!r} has the states {list(variable.states)}, the "
                f"table has {list(variables[name].states)}."
            )
    _check(families, variables, softmax=True)
    held = _fixed(dag, variables, fixed, like)
    together = groups_of(tied, dag, variables, held)
    chosen = _priors(prior, default, dag)
    _one_prior(together, chosen)
    kept, told = _softmaxes(families, variables, opened.source, chosen, held)
    families = [f for f in families if f[0] not in kept]
    tally = opened.tally(families, threads)
    specs = []
    for name, parents in families:
        own = chosen[name]
        child, above = variables[name], tuple(variables[p] for p in parents)
        belief = None if name in held else _belief(own, child, above)
        how = "fixed" if name in held else _estimate(estimate, belief, child, sample_variance)
        if flag(ordered, "ordered") and how == "mean" and child.ordered and not counts(child):
            how = "ordered"
        learned = Learned(tally[name, list(parents)], how, belief, together.get(name, ()))
        specs.append(FamilySpec(child, above, learned, held.get(name), _said(own, belief, above)))
    if estimate in ("mean", "map") and all(s.learned.prior is None for s in specs):
        raise InputError(
            f"estimate={estimate!r} needs a prior.",
            hint="Give one, such as prior=cr.BDeu(1), or use estimate='mle'.",
        )
    if ordered and not any(s.learned.estimate == "ordered" for s in specs):
        raise InputError(
            "ordered=True is for posterior means of ordered states, and there is none here.",
            hint="Give a prior, and read the column with its states in order: "
            "schema={'pain': ['none', 'some', 'much']}.",
        )
    return learn(dag, specs, tally.rows, opened.label, "fit", began, kept, told)


# --- what was asked for -------------------------------------------------------------------


def _graph(dag: Any) -> Dag:
    if isinstance(dag, Network):
        return dag.dag
    if isinstance(dag, Dag):
        return dag
    if isinstance(dag, str):
        return Dag.parse(dag)
    refuse_rows(dag)
    if isinstance(dag, CausalGraph):
        raise InputError(
            "The tables of a graph with hidden common causes cannot be counted.",
            hint="Ask for an effect, cr.effect(rows, x, y, graph), or make them nodes and use EM.",
        )
    if isinstance(dag, Iterable):
        return Dag(dag)
    raise InputError(f"A graph is needed: a Dag, a Network, edges or text, got {shown(dag)}.")


def _refuse_directed(*options: Any) -> None:
    names = ("prior", "default", "estimate", "sample_variance", "fixed", "tied", "intervened")
    given = [n for n, value in zip(names, options, strict=True) if value]
    if given:
        raise InputError(
            f"{given[0]}= is for tables of a child given its parents, and an undirected graph has "
            "none.",
            hint="Its parameters have a Gaussian prior of precision l2=.",
        )


def _known_variables(graph: Dag, fixed: Any) -> dict[str, Variable]:
    """The variables that fixed distributions bring with them."""
    if not isinstance(fixed, Mapping):
        return {}
    return {
        n: d.child
        for n, d in fixed.items()
        if n in graph.nodes and isinstance(d, Cpt | LinearGaussian | Softmax)
    }


def _softmaxes(
    families: Sequence[tuple[str, Sequence[str]]],
    variables: Mapping[str, Variable],
    source: Any,
    chosen: Mapping[str, Any],
    held: Mapping[str, Local],
) -> tuple[dict[str, Local], dict[str, dict[str, Any]]]:
    """The families of states given numbers, and what their fits tell."""
    out: dict[str, Local] = {n: d for n, d in held.items() if isinstance(d, Softmax)}
    told: dict[str, dict[str, Any]] = {}
    for name, parents in families:
        child, above = variables[name], tuple(variables[p] for p in parents)
        if name in held or not is_softmax(child, above):
            continue
        ridge = ridge_of(chosen[name])
        local, found = fit_softmax(child, above, source, ridge)
        out[name] = local
        told[name] = softmax_item(local, found)
    return out, told


def _check(
    families: Sequence[tuple[str, Sequence[str]]],
    variables: Mapping[str, Variable],
    softmax: bool = False,
) -> None:
    """Refuse what cannot be learned, before a row is counted."""
    total = 0
    for name, parents in families:
        child = variables[name]
        for parent in parents:
            if counts(variables[parent]):
                raise SchemaError(
                    f"{parent!r} counts, so it cannot be the parent of {name!r}.",
                    hint=f"Give numbers={{{parent!r}: 'binned'}}, or turn the edge round.",
                )
        if not child.is_discrete:
            continue
        if softmax and is_softmax(child, [variables[p] for p in parents]):
            continue
        for parent in parents:
            if not variables[parent].is_discrete:
                raise SchemaError(
                    f"The discrete variable {name!r} cannot have the continuous parent {parent!r}.",
                    hint=f"Turn the edge round, or give numbers={{{parent!r}: 'binned'}}.",
                )
        size = cells([child, *(variables[p] for p in parents)])
        total += size
        if max(size, total) > MAX_CELLS:
            raise LimitError(
                f"The table of {name!r} would have {size:,} numbers; at most {MAX_CELLS:,} are "
                "allowed in all tables together.",
                hint="Give it fewer parents, or parents with fewer states.",
            )


def _fixed(
    graph: Dag, variables: Mapping[str, Variable], fixed: Any, like: Network | None
) -> dict[str, Local]:
    """The distributions that are held, by name."""
    if fixed is None:
        return {}
    if isinstance(fixed, str) or not isinstance(fixed, Iterable):
        raise InputError(f"fixed= is a mapping from variable to distribution, got {shown(fixed)}.")
    if not isinstance(fixed, Mapping):
        if like is None:
            raise InputError(
                "fixed= as a list of names needs a network to take the distributions from.",
                hint="Give a mapping from name to distribution, or a network in place of the dag.",
            )
        fixed = {n: like.cpt(n) for n in fixed}
    out: dict[str, Local] = {}
    for name, given in fixed.items():
        if name not in graph.nodes:
            raise unknown_name("The fixed variable", name, graph.nodes, "in the graph")
        child, parents = variables[name], tuple(variables[p] for p in graph.parents(name))
        if isinstance(given, Softmax) and set(given.parents) == set(parents):
            out[name] = given
            continue
        if child.is_discrete:
            table = Cpt.of(child, parents, given)
            out[name] = Cpt(child, parents, table.values, None, table.rescaled)
            continue
        if not isinstance(given, LinearGaussian) or set(given.parents) != set(parents):
            raise InputError(f"The fixed {name!r} needs a LinearGaussian with its parents.")
        out[name] = LinearGaussian(
            child, given.parents, given.intercept, given.coefficients, given.variance
        )
    return out


_POOLED = LinePrior(like_all=LIKE_ALL)
_WORDS = {"bdeu": "cr.BDeu(1)", "k2": "cr.K2()", "laplace": "cr.Laplace(1)", "none": "None"}


def _priors(prior: Any, default: Any, graph: Dag) -> dict[str, Any]:
    """The prior of each family."""
    if isinstance(prior, str):
        raise InputError(
            f"A prior is a value, got the word {prior!r}.",
            hint=f"Give prior={_WORDS.get(prior.lower(), 'cr.BDeu(1)')}.",
        )
    if isinstance(prior, Mapping):
        for name in prior:
            if name not in graph.nodes:
                raise unknown_name("The prior of", name, graph.nodes, "for a node of the graph")
        return {n: prior.get(n, default) for n in graph.nodes}
    if default is not None:
        raise InputError(
            "default= goes with a mapping of priors: the families it does not name get it."
        )
    return dict.fromkeys(graph.nodes, prior)


def _one_prior(together: Mapping[str, Sequence[str]], chosen: Mapping[str, Any]) -> None:
    """Families that share one table have one prior."""
    for name, group in together.items():
        if repr(chosen[name]) != repr(chosen[group[0]]):
            raise InputError(
                f"{group[0]!r} and {name!r} are tied, so they share one prior, got "
                f"{shown(chosen[group[0]])} and {shown(chosen[name])}.",
                hint="Give both the same.",
            )


def _belief(own: Any, child: Variable, parents: tuple[Variable, ...]) -> Any:
    """The pseudo-counts of a table, or the prior of a line; None without a prior.

    One prior for all families may be of the wrong kind for some: a prior of tables leaves lines
    to that of all configurations together, a prior of lines leaves tables to maximum likelihood.
    """
    if own is None:
        return None
    of_lines = isinstance(own, (LinePrior, NormalInverseGamma))
    if counts(child):
        return own if isinstance(own, LinePrior) and own.like_all else _POOLED
    if child.is_discrete:
        return None if of_lines else pseudocounts_of(own, child, parents)
    continuous = sum(not p.is_discrete for p in parents)
    if of_lines:
        return LinePrior.of(own, child.name, continuous)
    if not isinstance(own, (BDeu, K2, Laplace, Pseudocounts)):
        LinePrior.of(own, child.name, continuous)  # refuses it
    return _POOLED


def _said(own: Any, belief: Any, parents: Sequence[Variable]) -> str:
    """The prior in words, for the record."""
    if belief is None:
        return "none"
    if isinstance(belief, LinePrior):
        alone = belief.like_all and not any(p.is_discrete for p in parents)
        return "reference" if alone or belief == LinePrior() else str(belief)
    return (
        "pseudo-counts"
        if isinstance(own, (list, tuple)) or hasattr(own, "shape")
        else (str(own) if not hasattr(own, "pseudocounts") else repr(own))
    )


def _estimate(estimate: str | None, belief: Any, child: Variable, sample: bool) -> str:
    if estimate is not None:
        choice(estimate, ("mean", "map", "mle"), "estimate")
    how = estimate if estimate is not None and belief is not None else None
    how = how or ("mle" if belief is None else "mean")
    if counts(child) and how == "map":
        how = "mean"  # of counts the predictive is taken
    if flag(sample, "sample_variance"):
        if how != "mle":
            raise InputError("sample_variance=True goes with estimate='mle'.")
        return how if child.is_discrete else "sample"
    return how
