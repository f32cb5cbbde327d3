"""EM: parameters from rows with gaps, and of variables that were never observed.

    E: n_ijk = Σ_rows P(x_i = k, parents = j | row, θ)        M: θ_ijk = n_ijk / Σ_k n_ijk

Each turn raises ln P(rows | θ), the gaps summed out (Dempster, Laird & Rubin 1977). Nothing is
imputed and no row is dropped: a gap counts for each of its states as much as it is probable.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import CredoError, InputError
from credo.core.progress import Ticker, track
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng, generator
from credo.model.values.reals import shown
from credo.model.values.value import at_least, choice, flag, whole
from credo.train.em.climb import Climb
from credo.train.em.finish import finished
from credo.train.em.problem import Expected, Numbers
from credo.train.em.saddle import refuse_saddle
from credo.train.em.setup import Setup, held_locals, opened, prepared
from credo.train.em.start import available_start, held, random_start, uniform_start
from credo.train.em.stepwise import Stepwise, batches_of

__all__ = ["BUDGET", "INTERRUPTED", "LATE", "em", "em_until"]

BUDGET = 10_000
"""Iterations, unless `budget` says otherwise."""

INTERRUPTED = "interrupted"
"""The reason a climb stopped, when it was Ctrl-C."""

LATE = "the time was spent"
"""The reason a climb stopped, when it was the clock."""

METHODS = ("em", "gradient", "conjugate-gradient", "gradient-steps", "stepwise")
"""How to climb."""

_FIRST = 15  # iterations that every start gets before the poorer half is dropped


def em(
    dag: Dag | Network | str | Iterable[tuple[str, str]],
    source: Any,
    prior: Any = None,
    *,
    start: Network | str | None = None,
    restarts: int | None = None,
    hidden: Mapping[str, Any] | None = None,
    method: str = "em",
    tol: float = 1e-9,
    budget: int | None = None,
    rng: Rng = 0,
    estimate: str | None = None,
    default: Any = None,
    fixed: Mapping[str, Any] | Sequence[str] | None = None,
    tied: Sequence[Sequence[str]] = (),
    accelerate: bool = True,
    batch: int = 1000,
    passes: int = 1,
    decay: float = 0.7,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
) -> Network:
    """Learn the distributions of a graph from rows with missing cells or hidden variables.

    Parameters
    ----------
    dag : Dag, text, edges, or Network
        The graph. A network gives its variables and states too; its numbers are not used.
    source : anything `cr.read` takes, a Table or a Stream
        The rows. Any cell may be missing.
    prior, default, estimate, fixed, tied : optional
        As in `cr.fit`. With a prior, what is climbed is ln P(rows) plus the prior's terms.
    start : None, "available", "random", "uniform", or Network
        Where to start. None is the rows in which a family is observed, and noise for what never
        is; a network goes on from its numbers.
    restarts : int, optional
        Climbs from different starts; the poorer half is dropped again and again. Ten where a
        variable is hidden, else one.
    hidden : mapping from variable to its number of states (or a list of them, or "continuous")
        Variables that were never observed.
    method : "em", "gradient", "conjugate-gradient", "gradient-steps" or "stepwise"
        Expectation maximisation; the gradient of the log-likelihood (adaptive probabilistic
        networks) by L-BFGS, by conjugate gradients, or in plain steps; or stepwise EM, which
        looks at each batch of rows once and never holds more.
    tol : float
        Stop when a step changes no parameter by more than this.
    budget : int, optional
        The most iterations. Ctrl-C also ends the climb: the best so far is given, and the record's
        reason is 'interrupted'.
    rng : seed or generator
        For random starts.
    accelerate : bool
        Leap ahead after the first 20 plain steps (SQUAREM); never at the cost of a fall.
    batch, passes, decay : optional
        For method="stepwise": rows in a batch, looks at the whole source, and how fast the first
        batches are forgotten (above ½, at most 1). Its trace has ln P of a row of each batch
        under the parameters before it, which may fall.

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
    return _fitted(
        dag, source, prior, until=math.inf, start=start, restarts=restarts, hidden=hidden,
        method=method, tol=tol, budget=budget, rng=rng, estimate=estimate, default=default,
        fixed=fixed, tied=tied, accelerate=accelerate, batch=batch, passes=passes, decay=decay,
        weights=weights, schema=schema, threads=threads,
    )  # fmt: skip


def em_until(
    until: float, dag: Any, source: Any, prior: Any = None, *, told: bool = True, **options: Any
) -> Network:
    """`em`, which also ends after the step during which the clock passes `until`.

    With `told=False` the record leaves out how much the rows tell of each variable: for networks on
    the way to another, or that judge one, this can take longer than the climb.
    """
    settings = {**(em.__kwdefaults__ or {}), **options}
    return _fitted(dag, source, prior, until=until, told=told, **settings)


def _fitted(
    dag: Any,
    source: Any,
    prior: Any,
    *,
    until: float,
    start: Any,
    restarts: Any,
    hidden: Any,
    method: str,
    tol: float,
    budget: Any,
    rng: Any,
    accelerate: bool,
    batch: Any,
    passes: Any,
    decay: Any,
    told: bool = True,
    **options: Any,
) -> Network:
    began = time.perf_counter()
    choice(method, METHODS, "method")
    most = BUDGET if budget is None else whole(budget, 1, "budget")
    tol = at_least(tol, 0.0, "tol")
    flag(accelerate, "accelerate")
    if method == "stepwise":
        if restarts is not None and whole(restarts, 1, "restarts") > 1:
            raise InputError(
                f"restarts={restarts} is not for method='stepwise', which climbs once.",
                hint="Try several rng= and take the one whose record has the best score.",
            )
        return _stepwise(
            dag, source, prior, whole(batch, 1, "batch"), whole(passes, 1, "passes"),
            at_least(decay, 0.0, "decay"), rng, began, start=start, hidden=hidden, **options,
        )  # fmt: skip
    setup = prepared(dag, source, prior, start=start, hidden=hidden, **options)
    draws = generator(rng)
    many = _restarts(start, restarts, setup)
    climbs = []
    for numbers in _starts(setup, start, many, draws):
        refuse_saddle(setup.maximiser, numbers, _unlearned(setup, start))
        climbs.append(Climb(setup.problem, setup.maximiser, numbers, tol, accelerate))
    with Ticker("em") as ticker:
        best, dropped = _raced(climbs, most, ticker, method)
    try:
        if not best.reason:
            _climb(best, most, method, until, shown=True)
    except KeyboardInterrupt:
        if best.expected is None:
            raise  # not one step was made
        best.reason = INTERRUPTED
    if not best.reason:
        best.reason = f"the budget of {most:,} iterations was used up"
    random = many > 1 or start == "random"
    return finished(setup, best, dropped, began, rng, method, random, told=told)


def _climb(
    climb: Climb, most: int, method: str, until: float = math.inf, shown: bool = False
) -> None:
    """Go on with a climb by the method asked for, up to `most` iterations in all."""
    if method != "em":
        from credo.train.em.gradient import ascend

        ascend(climb, most, method)
        return
    steps = climb.steps(most)
    for _ in track(steps, "em", total=None) if shown else steps:
        if time.perf_counter() > until and not climb.reason:
            climb.reason = LATE
            return


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


def _unlearned(setup: Setup, start: Any) -> list[str]:
    """The hidden variables that a saddle would trap: not where rows have led there."""
    if not isinstance(start, Network):
        return list(setup.hidden)
    return [n for n in setup.hidden if start.cpt(n).learned is None]


def _starts(setup: Setup, start: Any, many: int, rng: np.random.Generator) -> Iterable[Numbers]:
    problem, maximiser = setup.problem, setup.maximiser
    if isinstance(start, Network):
        numbers = problem.numbers_of(held_locals(setup, start))
        yield held(maximiser, numbers)
        return
    if start == "uniform":
        yield uniform_start(problem, maximiser)
        return
    if start == "available" or (start is None and not setup.hidden):
        yield available_start(problem, maximiser)
        many -= 1
    everywhere = setup.hidden if setup.hidden and start is None else problem.layout.names
    for _ in range(many):
        yield random_start(problem, maximiser, everywhere, setup.sample, rng)


def _raced(
    climbs: list[Climb], most: int, ticker: Ticker, method: str
) -> tuple[Climb, list[tuple[int, float]]]:
    """The best of several climbs: after a while the poorer half is dropped, and again."""
    dropped: list[tuple[int, float]] = []
    running, rounds = list(climbs), _FIRST
    failed: CredoError | None = None
    while len(running) > 1:
        for climb in list(running):
            try:
                _climb(climb, min(rounds, most), method)
                ticker.say(f"{len(running)} starts, this one at {climb.objective:.6g}")
            except CredoError as error:
                failed = error
                running.remove(climb)
            except KeyboardInterrupt:
                return _highest(climbs), dropped
        running.sort(key=lambda c: -c.objective)
        keep = (len(running) + 1) // 2 if len(running) > 1 else len(running)
        dropped += [(c.iterations, c.objective) for c in running[keep:]]
        running = running[:keep]
        if all(c.reason or c.iterations >= most for c in running):
            dropped += [(c.iterations, c.objective) for c in running[1:]]
            running = running[:1]
        rounds *= 2
    if not running:
        assert failed is not None
        raise failed
    return running[0], dropped


def _highest(climbs: list[Climb]) -> Climb:
    """The best of climbs that were stopped by Ctrl-C."""
    begun = [c for c in climbs if c.expected is not None]
    if not begun:
        raise KeyboardInterrupt
    best = max(begun, key=lambda c: c.objective)
    best.reason = INTERRUPTED
    return best


def _stepwise(
    dag: Any,
    source: Any,
    prior: Any,
    batch: int,
    passes: int,
    decay: float,
    rng: Any,
    began: float,
    *,
    start: Any,
    weights: Any,
    schema: Any,
    fixed: Any,
    hidden: Any,
    **options: Any,
) -> Network:
    """Stepwise EM: parameters from the first batch, then each batch moves them."""
    if not 0.5 < decay <= 1:
        raise InputError(f"decay must be above 0.5 and at most 1, got {decay:g}.")
    rows, label = opened(dag, source, start, fixed, hidden, weights, schema)
    draws = generator(rng)
    names = list(rows.schema.names)
    first = next(batches_of(rows, names, batch, 1, np.random.default_rng(0)), None)
    if first is None:
        raise InputError("There are no rows to learn from.")
    setup = prepared(
        dag, first, prior, start=start, fixed=fixed, hidden=hidden, weights=None, schema=None,
        **options,
    )  # fmt: skip
    setup = replace(setup, source=label)
    numbers = next(iter(_starts(setup, start, 1, draws)))
    refuse_saddle(setup.maximiser, numbers, _unlearned(setup, start))
    state = Stepwise(setup.maximiser, numbers, decay)
    wanted = [n for n in setup.graph.nodes if n in rows.schema]
    weigh = getattr(rows, "block", None)
    all_of = None if weigh is None else float(weigh.weight)
    parts = batches_of(rows, wanted, batch, passes, draws)
    for part in track(parts, "stepwise em", total=None):
        state.take(part, all_of)
    total = all_of if all_of is not None else state.weight / passes
    climb = Climb(setup.problem, setup.maximiser, state.numbers, 0.0)
    climb.before = state.scaled(total)
    height = state.log_likelihood(batches_of(rows, wanted, max(batch, 100_000), 1, draws))
    climb.expected = Expected(climb.before.counts, climb.before.moments, height)
    climb.trace = state.trace
    taken = "1 batch" if state.seen == 1 else f"{state.seen:,} batches"
    looks = "1 pass" if passes == 1 else f"{passes:,} passes"
    climb.reason = f"{taken} in {looks} {'was' if state.seen == 1 else 'were'} taken"
    return finished(
        setup, climb, [], began, rng, "stepwise", random=False, rows=total, iterations=state.seen
    )
