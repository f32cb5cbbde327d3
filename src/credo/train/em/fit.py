"""EM: parameters from rows with gaps, and of variables that were never observed.

    E: n_ijk = Σ_rows P(x_i = k, parents = j | row, θ)        M: θ_ijk = n_ijk / Σ_k n_ijk

Each turn raises ln P(rows | θ), the missing values summed out (`train/em/run.py`). Nothing is
imputed and no row is dropped: a gap counts for each of its states as much as it is probable.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.lazy import renamed_arguments
from credo.data import Stream, Table
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import shown
from credo.model.values.value import at_least, choice, flag, whole
from credo.train.em.augment import DRAWS, FEWEST, with_gaps
from credo.train.em.finish import finished
from credo.train.em.layout import Parameters
from credo.train.em.run import INTERRUPTED, run_em
from credo.train.em.setup import Setup, opened, prepared, start_of
from credo.train.em.softmax import beside_softmax, softmax_names
from credo.train.em.start import available_start, random_start, refuse_saddle, uniform_start
from credo.train.em.stepwise import batches_of, stepwise
from credo.train.numbers.choosing import scaled_for
from credo.train.parameters.parameters import _graph as graph_given
from credo.train.parameters.parameters import _priors as priors_given
from credo.train.parameters.told import schema_with

__all__ = ["MAX_ITER", "em", "em_until"]

MAX_ITER = 10_000
"""Iterations, unless `max_iter` says otherwise."""

METHODS = ("em", "gradient", "conjugate-gradient", "gradient-steps", "stepwise")
"""How to raise the likelihood."""


@renamed_arguments(dag="graph", budget="max_iter")
def em(
    graph: Dag | Network | str | Iterable[tuple[str, str]],
    source: Any,
    prior: Any = None,
    *,
    start: Network | str | None = None,
    restarts: int | None = None,
    hidden: Mapping[str, Any] | None = None,
    method: str = "em",
    tol: float = 1e-9,
    max_iter: int | None = None,
    seconds: float | None = None,
    rng: Rng = 0,
    estimate: str | None = None,
    default: Any = None,
    fixed: Mapping[str, Any] | Sequence[str] | None = None,
    tied: Sequence[Sequence[str]] = (),
    accelerate: bool = True,
    batch: int = 1000,
    passes: int = 1,
    decay: float = 0.7,
    draws: int = DRAWS,
    intervened: Any = None,
    soft: bool = False,
    numbers: Any = "gaussian",
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
) -> Network:
    """Learn the distributions of a graph from rows with missing cells or hidden variables.

    Parameters
    ----------
    graph : Dag, text, edges, or Network
        The graph. A network gives its variables and states too; its numbers are not used.
    source : anything `cr.read` takes, a Table or a Stream
        The rows. Any cell may be missing.
    prior, default, estimate, fixed, tied, intervened : optional
        As in `cr.fit`. With a prior, what EM raises is ln P(rows) plus the prior's terms.
    soft : bool
        Whether experiments change a variable's table and do not cut it: it has another one in
        those rows, which the record keeps as `details["soft"]`.
    start : None, "available", "random", "uniform", or Network
        Where to start. None is the rows in which a family is observed, and noise for what never
        is; a network goes on from its numbers.
    restarts : int, optional
        EM runs from different starts; the poorer half is dropped again and again. Ten where a
        variable is hidden, else one.
    hidden : mapping from variable to its number of states (or a list of them, or "continuous")
        Variables that were never observed.
    method : "em", "gradient", "conjugate-gradient", "gradient-steps" or "stepwise"
        Expectation maximisation; the gradient of the log-likelihood (adaptive probabilistic
        networks) by L-BFGS, by conjugate gradients, or in plain steps; or stepwise EM, which
        looks at each batch of rows once and never holds more.
    tol : float
        Stop when a step changes no parameter by more than this.
    max_iter, seconds : optional
        The most iterations, and the most time. Ctrl-C also ends the run: the best so far is given,
        and the record's reason is 'interrupted'.
    rng : seed or generator
        For random starts.
    accelerate : bool
        SQUAREM after the first 20 plain steps; never at the cost of a fall.
    batch, passes, decay : optional
        For method="stepwise": rows in a batch, looks at the whole source, and how fast the first
        batches are forgotten (above ½, at most 1). Its trace has ln P of a row of each batch
        under the parameters before it, which may fall.
    draws : int
        How often the missing cells are drawn once EM has ended, each time with parameters that go
        with them, so that intervals include what the gaps leave uncertain; 0 for none. Needs a
        prior; not for method="stepwise", nor with a hidden continuous variable.
    numbers : "gaussian", "auto", "transformed", "binned", "counts", or a mapping from column to one
        How continuous columns are modelled, as in `cr.fit`. A state given a number is a softmax
        where the rows have all of that family.

    The record has the trace (the objective at the start and after each iteration; it never
    falls), the reason it stopped, the seed and the seconds.

    >>> import credo as cr
    >>> rows = {"Burglary": ["no", "no", None, "yes"], "Alarm": ["off", "off", "on", "on"]}
    >>> net = cr.em("[Burglary][Alarm|Burglary]", rows)
    >>> round(net.p("Burglary")["yes"], 6)  # the third day: the alarm, as on the fourth
    0.5
    >>> net.record.reason
    'a step changed no parameter by more than 1e-09'
    """
    if numbers != "gaussian" or intervened is None:
        schema = schema_with(source, schema, intervened)
        rows = opened(graph, source, start, fixed, hidden, weights, schema)
        if numbers != "gaussian":
            rows = scaled_for(graph_given(graph), rows, numbers)
        source, weights, schema = rows, None, None

    def run(graph: Any, start: Any, fixed: Any) -> Network:
        return _fitted(
            graph, source, prior, seconds=seconds, start=start, restarts=restarts, hidden=hidden,
            method=method, tol=tol, max_iter=max_iter, rng=rng, estimate=estimate, default=default,
            fixed=fixed, tied=tied, accelerate=accelerate, batch=batch, passes=passes, decay=decay,
            draws=draws, intervened=intervened, soft=soft, weights=weights, schema=schema,
            threads=threads,
        )  # fmt: skip

    dag = graph_given(graph)
    known = fixed or ()
    names = [] if intervened is not None else softmax_names(dag, source, known)
    if not names:
        return run(graph, start, fixed)
    if not isinstance(known, Mapping):
        known = {n: graph.cpt(n) for n in known}  # type: ignore[union-attr]
    chosen = priors_given(prior, default, dag)
    return beside_softmax(
        dag, source, names, chosen, start, lambda d, s, f: run(d, s, {**known, **f})
    )


def em_until(
    until: float, graph: Any, source: Any, prior: Any = None, *, told: bool = True, **options: Any
) -> Network:
    """`em`, which also ends after the step during which the clock passes `until`.

    With `told=False` the record leaves out how much the rows tell of each variable: for networks on
    the way to another, or that judge one, this can take longer than EM. The gaps are not drawn
    unless `draws` says so.
    """
    settings = {**(em.__wrapped__.__kwdefaults__ or {}), "draws": 0, **options}  # type: ignore[attr-defined]
    settings.pop("numbers")
    settings["seconds"] = None if until == math.inf else until - time.perf_counter()
    return _fitted(graph, source, prior, told=told, **settings)


def _fitted(
    graph: Any,
    source: Any,
    prior: Any,
    *,
    seconds: float | None,
    start: Any,
    restarts: Any,
    method: str,
    tol: float,
    max_iter: Any,
    rng: Any,
    accelerate: bool,
    batch: Any,
    passes: Any,
    decay: Any,
    draws: Any,
    told: bool = True,
    **options: Any,
) -> Network:
    began = time.perf_counter()
    until = math.inf if seconds is None else began + seconds
    choice(method, METHODS, "method")
    most = MAX_ITER if max_iter is None else whole(max_iter, 1, "max_iter")
    tol = at_least(tol, 0.0, "tol")
    flag(accelerate, "accelerate")
    chance, draws = generator(rng), whole(draws, 0, "draws")
    if draws and draws < FEWEST:
        raise InputError(
            f"draws={draws} completions say too little of the gaps.",
            hint=f"Use {FEWEST} or more ({DRAWS} is usual), or draws=0 for none.",
        )
    if method == "stepwise":
        if options.get("intervened") is not None:
            raise InputError(
                "method='stepwise' takes all rows as observed, so it does not go with intervened=.",
                hint="Use method='em'.",
            )
        if restarts is not None and whole(restarts, 1, "restarts") > 1:
            raise InputError(
                f"restarts={restarts} is not for method='stepwise', which makes one run.",
                hint="Try several rng= and take the one whose record has the best score.",
            )
        size, passes = whole(batch, 1, "batch"), whole(passes, 1, "passes")
        rows, setup = _first_batch(graph, source, prior, size, start, **options)
        first = next(_starts(setup, start, 1, chance))
        names = [n for n in setup.graph.nodes if n in rows.schema]
        decay = at_least(decay, 0.0, "decay")
        run, weight, seen = stepwise(setup.em, first, rows, names, size, passes, decay, chance)
        return finished(setup, run, (), began, rng, method, False, weight, seen)
    if method == "em":
        steps = None
    else:
        from credo.train.em.gradient import by_gradient

        steps = by_gradient(method)
    with ExitStack() as stack:
        setup = prepared(graph, source, prior, start=start, stack=stack, **options)
        counted = [setup.em.layout.names[i] for i in setup.em.counted]
        if counted and steps is not None:
            raise InputError(
                f"{counted[0]!r} counts, and method={method!r} has no laws of counts.",
                hint="Use method='em'.",
            )
        many = _restarts(start, restarts, setup)
        run, dropped = run_em(
            setup.em, _starts(setup, start, many, chance), tol=tol, max_iter=most,
            accelerate=accelerate, until=until, steps=steps,
        )  # fmt: skip
        random = many > 1 or start == "random"
        net = finished(setup, run, dropped, began, rng, method, random, told=told)
        if run.reason == INTERRUPTED:
            return net
        net = with_gaps(setup, net, draws, int(chance.integers(2**63)), until)
    assert net.record is not None
    return net.with_record(replace(net.record, seconds=time.perf_counter() - began))


def _first_batch(
    graph: Any, source: Any, prior: Any, size: int, start: Any, **options: Any
) -> tuple[Table | Stream, Setup]:
    """The rows, and what stepwise EM knows of them from its first batch."""
    rows = opened(graph, source, start, **options)
    first = next(batches_of(rows, list(rows.schema.names), size, 1, np.random.default_rng(0)), None)
    if first is None:
        raise InputError("There are no rows to learn from.")
    options |= {"weights": None, "schema": None}
    setup = prepared(graph, first, prior, start=start, **options)
    return rows, replace(setup, source=str(rows.schema.source))


def _restarts(start: Any, restarts: Any, setup: Setup) -> int:
    if start is not None and not isinstance(start, Network):
        choice(start, ("available", "random", "uniform"), "start")
    free = start == "random" or (start is None and setup.hidden)
    if restarts is None:
        return 10 if free and setup.hidden else 1
    many = whole(restarts, 1, "restarts")
    if many > 1 and not free and (start is not None):
        raise InputError(
            f"restarts={many} needs different starts, and start={shown(start)} is always the same.",
            hint="Use start='random'.",
        )
    return many


def _starts(setup: Setup, start: Any, many: int, rng: np.random.Generator) -> Iterator[Parameters]:
    """The parameters to start from, none of them a saddle point."""
    em, hidden = setup.em, setup.hidden
    first: list[Parameters] = []
    if isinstance(start, Network):
        first, many = [start_of(setup, start)], 0
        # states that rows have led to being alike are no trap
        hidden = tuple(n for n in hidden if start.cpt(n).learned is None)
    elif start == "uniform":
        first, many = [uniform_start(em)], 0
    elif start == "available" or (start is None and not hidden):
        first, many = [available_start(em)], many - 1
    everywhere = hidden if hidden and start is None else em.layout.names
    for i in range(len(first) + many):
        x = first[i] if i < len(first) else random_start(em, everywhere, setup.sample, rng)
        refuse_saddle(em, x, hidden)
        yield x
