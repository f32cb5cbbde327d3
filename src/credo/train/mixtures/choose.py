"""How many classes: mixtures of 1, 2, 3, … classes, and the criterion that chooses.

`average=True` keeps them all: P(row) = Σ_k P(k | rows) P(row | θ_k), a mixture of the mixtures,
with the criterion for ln P(rows | k).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError, LimitError
from credo.core.progress import track
from credo.model.mixtures.candidates import CRITERIA, Candidate, Candidates
from credo.model.mixtures.mixture import Mixture
from credo.model.mixtures.parts import FORMS, Gaussians, Part, Rates, Tables
from credo.model.values.record import Record
from credo.model.values.value import at_least, choice, flag, whole
from credo.predict.rows.mixture_rows import Numbers
from credo.train.mixtures.climb import Climb
from credo.train.mixtures.evidence import cheeseman_stutz, complete
from credo.train.mixtures.maximise import raised
from credo.train.mixtures.problem import Problem
from credo.train.mixtures.start import STARTS, started
from credo.train.mixtures.turned import Turned, turned_of

__all__ = ["Found", "Options", "found"]

Floats = NDArray[np.float64]

MOST_WORK = 2e11
"""Starts × classes × columns³ beyond which nothing is begun: some minutes."""

_LEAST = 1e-9  # mixtures of a smaller probability are left out of an average
_FIRST = 8  # iterations every start gets before the poorer half is dropped
_RACE = 50_000  # rows that the starts are raced on, at most


@dataclass(frozen=True, slots=True)
class Options:
    """How mixtures are learned; see `cr.gaussian_mixture`."""

    covariance: str = "full"
    criterion: str = "bic"
    restarts: int = 5
    prior: float = 0.0
    max_components: int = 9
    average: bool = False
    start: str | Mixture = "k-means++"
    given: Callable[[Mixture], Mixture] | None = None  # puts numbers in the place of a start's
    tol: float = 1e-6
    budget: int = 1000
    variance_floor: float = 1e-6
    least_variance: float = 0.0  # in the columns' own units
    accelerate: bool = True
    name: str | None = None

    def __post_init__(self) -> None:
        choice(self.covariance, FORMS, "covariance")
        choice(self.criterion, CRITERIA, "criterion")
        whole(self.restarts, 1, "restarts")
        whole(self.max_components, 1, "max_components")
        whole(self.budget, 1, "budget")
        at_least(self.prior, 0.0, "prior")
        at_least(self.tol, 0.0, "tol")
        if not 0 < at_least(self.variance_floor, 0.0, "variance_floor") < 1:
            raise InputError("variance_floor must be a share of the variance, above 0 and below 1.")
        flag(self.average, "average")
        flag(self.accelerate, "accelerate")
        if not isinstance(self.start, Mixture):
            choice(self.start, STARTS, "start")


@dataclass(frozen=True)
class Found:
    """A mixture, the climb that led to it, and P(class | row) of the rows it was learned from."""

    mixture: Mixture
    climb: Climb
    candidate: Candidate
    notes: tuple[str, ...] = ()


def found(
    problem: Problem,
    k: int | str,
    options: Options,
    rng: np.random.Generator,
    how: str,
    source: str,
) -> Found:
    """The mixture of k classes, or of as many as the criterion says."""
    began = time.perf_counter()
    seeds = rng.integers(2**63, size=2)
    if k != "auto":
        number = whole(k, 1, "k")
        if options.average:
            raise InputError(
                f"average=True keeps every number of classes, and k is given: {number:,}.",
                hint="Leave k= or average= out.",
            )
        _enough(problem, number)
        _guard(problem, [number], options)
        best = _of_size(problem, number, options, np.random.default_rng(seeds[0]))
        return _recorded(best, None, how, source, began, problem)
    if isinstance(options.start, Mixture) or options.given is not None:
        raise InputError("A start that is given has its k: give the same instead of 'auto'.")
    most = min(options.max_components, problem.cells.rows)
    sizes = range(1, most + 1)
    _guard(problem, sizes, options)
    tried = []
    for size in track(sizes, "mixtures", total=len(sizes)):
        draws = np.random.default_rng([int(seeds[0] % 2**32), size])
        tried.append(_of_size(problem, size, options, draws))
    table = Candidates(tuple(t.candidate for t in tried), options.criterion)
    best = next(t for t in tried if t.candidate is table.best)
    notes = best.notes
    if best.candidate.k == most == options.max_components and most > 1:
        notes = (*notes, f"the largest number of classes tried is the best: {most} "
                 "(max_components allows more)")  # fmt: skip
    best = replace(best, notes=notes)
    done = _recorded(best, table, how, source, began, problem)
    return _averaged(done, tried, table, problem) if options.average else done


def _enough(problem: Problem, k: int) -> None:
    n = problem.cells.rows
    if k > n:
        raise InputError(
            f"{k:,} classes are more than there are rows (n_samples = {n:,}).",
            hint="Ask for fewer classes.",
        )


def _guard(problem: Problem, sizes: Sequence[int], options: Options) -> None:
    """Refuse covariances of so many columns that their roots would take hours."""
    d = len(problem.cells.reals)
    if options.covariance not in ("full", "tied") or not d:
        return
    starts = sum(k * (1 if k == 1 else options.restarts) for k in sizes)
    work = float(starts) * d**3
    if work > MOST_WORK:
        raise LimitError(
            f"The {options.covariance} covariances of {d:,} columns are too much work: "
            f"{sum(sizes):,} class{'es' * (sum(sizes) != 1)} and their restarts need {work:.2g} "
            f"operations for one step, and {MOST_WORK:.2g} are allowed.",
            hint="Use covariance='diagonal', or fewer columns, classes or restarts.",
        )


def _of_size(problem: Problem, k: int, options: Options, rng: np.random.Generator) -> Found:
    floor = problem.floor(options.variance_floor, options.least_variance)
    maximiser = problem.maximiser(k, options.prior, floor)

    def climb(part: Problem, numbers: Numbers) -> Climb:
        if isinstance(floor, np.ndarray):
            lift = raised if maximiser.joint else np.maximum
            numbers = replace(numbers, spread=lift(numbers.spread, floor))
        return Climb(
            part.rows, maximiser, numbers, options.tol, options.accelerate, problem.threads,
            problem.order,
        )  # fmt: skip

    notes: tuple[str, ...] = ()
    few: Turned | None = None
    if isinstance(options.start, Mixture):
        if options.start.k != k:
            raise InputError(f"The start has {options.start.k} classes, and k is {k}.")
        best = first = climb(problem, problem.numbers(options.start))
    else:
        many = 1 if k == 1 else options.restarts
        n = problem.cells.rows
        part = problem
        care = _placed(started(problem, k, options.start, rng, care=True), problem, options)
        if many > 1 and n > _RACE:
            part = problem.some(np.sort(rng.choice(n, _RACE, replace=False)))
            notes = (f"the {many} starts were raced on {_RACE:,} of the rows",)
        more = (started(part, k, options.start, rng) for _ in range(many - 1))
        starts = [care, *(_placed(s, problem, options) for s in more)]
        climbs = [climb(part, s) for s in _different(starts)]
        few = turned_of(part) if options.given is None and np.ndim(floor) == 0 else None
        climbs = climbs if few is None else [few.climb(c) for c in climbs]
        first, best = climbs[0], _raced(climbs, options.budget)
        if part is not problem:
            alone, first = best is first, climb(problem, care)
            best = first if alone else climb(problem, _whole(best.numbers, few, problem))
            few = None
    for _ in track(best.steps(options.budget), "em", total=None):
        pass
    best = _higher(best, first, options.budget)
    if not best.reason:
        best.reason = f"the budget of {options.budget:,} iterations was used up"
    numbers = _whole(best.numbers, few, problem)
    return Found(*_judged(problem, best, numbers, options), notes)


def _placed(start: Numbers, problem: Problem, options: Options) -> Numbers:
    """A start with the numbers that were given in the place of its own."""
    if options.given is None:
        return start
    return problem.numbers(options.given(problem.mixture(start, "Class")))


def _higher(best: Climb, first: Climb, most: int) -> Climb:
    """The climb that won a race, or the first if it ends higher: more starts never end lower."""
    if first is best:
        return best
    try:
        first.run(most)
    except CredoError:
        return best
    gain = first.objective - best.objective
    return first if gain > 1e-12 * abs(best.objective) else best


def _whole(numbers: Numbers, few: Turned | None, problem: Problem) -> Numbers:
    """The numbers of all columns, of a climb that was made in a few directions or not."""
    return numbers if few is None else few.wide(numbers, problem.form == "tied")


def _different(starts: list[Numbers]) -> list[Numbers]:
    """The starts without those that are another with its classes in another order."""
    found: dict[tuple[bytes, ...], Numbers] = {}
    for x in starts:
        parts = [x.weights[:, None], *x.tables, x.means, x.rates]
        found.setdefault(tuple(sorted(row.tobytes() for row in np.hstack(parts))), x)
    return list(found.values())


def _raced(climbs: list[Climb], most: int) -> Climb:
    """The best of several climbs: after a while the poorer half is dropped, and again."""
    running, rounds = list(climbs), _FIRST
    failed: CredoError | None = None
    while len(running) > 1:
        for climb in list(running):
            try:
                climb.run(most, rounds)
            except CredoError as error:
                failed = error
                running.remove(climb)
        running.sort(key=lambda c: -c.objective)
        running = running[: max((len(running) + 1) // 2, 1) if len(running) > 1 else 1]
        if running and all(c.reason or c.iterations >= most for c in running):
            running = running[:1]
        rounds *= 2
    if not running:
        assert failed is not None
        raise failed
    return running[0]


def _judged(
    problem: Problem, climb: Climb, numbers: Numbers, options: Options
) -> tuple[Mixture, Climb, Candidate]:
    """The mixture of a climb, heaviest class first unless a start gave the classes their order."""
    assert climb.expected is not None
    if not isinstance(options.start, Mixture) and options.given is None:
        numbers = numbers.by_size()
    mixture = problem.mixture(numbers, _name(options.name, problem))
    height = climb.expected.log_likelihood + problem.left
    n = problem.cells.weight
    bic = height - 0.5 * mixture.free_parameters * math.log(max(n, 1.0))
    whole = complete(climb.expected, climb.numbers, climb.maximiser)
    stutz = cheeseman_stutz(height, climb.expected, climb.numbers, climb.maximiser, whole)
    icl = bic - _entropy(problem, climb, whole)
    candidate = Candidate(mixture.k, height, mixture.free_parameters, bic, icl, stutz)
    return mixture, climb, candidate


def _name(given: str | None, problem: Problem) -> str:
    """The name of the class: the one that was asked for, or one that no column has."""
    if given is not None:
        return given
    names = ("Class", "Group", "Latent class")
    taken = problem.cells.plan.names
    return next((n for n in names if n not in taken), "Class " + "'" * len(taken))


def _entropy(problem: Problem, climb: Climb, whole: float) -> float:
    """−Σ P(c | row) ln P(c | row) over the rows.

    It is ln P(rows) less the expected ln P(rows, classes), `whole`, unless cells of a joint
    Gaussian were completed too.
    """
    assert climb.expected is not None
    rows = climb.rows
    if rows.order is None:
        return max(climb.expected.log_likelihood - whole, 0.0)
    share, _ = rows.score(climb.numbers, problem.threads)
    logs = np.log(share, where=share > 0, out=np.zeros_like(share))
    terms = np.einsum("nc,nc->n", share, logs)
    w = problem.cells.weights
    return -float(terms.sum() if w is None else w @ terms)


def _recorded(
    best: Found, table: Candidates | None, how: str, source: str, began: float, problem: Problem
) -> Found:
    climb = best.climb
    tables = table or Candidates((best.candidate,), "bic")
    record = Record(
        how=how,
        source=source,
        score=best.candidate.log_likelihood,
        trace=tuple(v + problem.left for v in climb.trace),
        reason=climb.reason,
        seconds=time.perf_counter() - began,
        notes=(*best.notes, *_told_of_light_weights(problem, best.candidate)),
        details={
            "rows": problem.cells.weight,
            "iterations": climb.iterations,
            "converged": climb.converged,
        },
    )
    return replace(best, mixture=replace(best.mixture, record=record, candidates=tables))


def _told_of_light_weights(problem: Problem, best: Candidate) -> tuple[str, ...]:
    """A note where weights, taken for copies, are so few rows that no criterion can judge."""
    n, rows = problem.cells.weight, problem.cells.rows
    if n >= min(rows, best.parameters):
        return ()
    sums = f"{n:.3g} row{'s' * (n != 1)} for {best.parameters:,} parameters"
    return (
        f"weights count as copies, and these add up to {sums}: BIC and ICL hardly hold a larger "
        f"k back; weights divided by their mean add up to the {rows:,} rows",
    )


def _averaged(best: Found, tried: list[Found], table: Candidates, problem: Problem) -> Found:
    """The mixture of all that were tried, with a record of its own: it did not climb."""
    whole_of = averaged([t.mixture for t in tried], table.probabilities)
    record = best.mixture.record
    assert record is not None
    of = f"average over {len(tried)} numbers of classes"
    record = replace(
        record,
        how=f"{record.how}, {of}",
        score=_log_likelihood(tried, table.probabilities, problem),
        trace=(),
        reason=f"each of {len(tried)} mixtures climbed to its end, and counts by P(k | rows)",
        details={
            "rows": problem.cells.weight,
            "iterations": sum(t.climb.iterations for t in tried),
            "converged": all(t.climb.converged for t in tried),
        },
    )
    made = replace(whole_of, name=best.mixture.name, record=record, candidates=table)
    return replace(best, mixture=made.by_size())


def _log_likelihood(tried: Sequence[Found], shares: Floats, problem: Problem) -> float:
    """Σ_i ln Σ_k P(k | rows) P(row_i | θ_k)."""
    kept = [(t, float(p)) for t, p in zip(tried, shares, strict=True) if p > _LEAST]
    climbs = [(t.climb, math.log(p)) for t, p in kept]
    logs = [c.rows.score(c.numbers, problem.threads)[1] + p for c, p in climbs]
    rows = np.logaddexp.reduce(logs, axis=0) - math.log(sum(p for _, p in kept))
    w = problem.cells.weights
    return float(rows.sum() if w is None else w @ rows) + problem.left


def averaged(mixtures: Sequence[Mixture], shares: Floats) -> Mixture:
    """One mixture of several: every class of each, by the share of its mixture."""
    kept = [(m, float(p)) for m, p in zip(mixtures, shares, strict=True) if p > _LEAST]
    total = sum(p for _, p in kept)
    weights = np.concatenate([m.weights * (p / total) for m, p in kept])
    parts: list[Part] = []
    for i, part in enumerate(kept[0][0].parts):
        same = [m.parts[i] for m, _ in kept]
        if isinstance(part, Tables):
            values = np.concatenate([p.values for p in same if isinstance(p, Tables)])
            parts.append(Tables(part.variable, values))
        elif isinstance(part, Rates):
            rates = np.concatenate([p.rates for p in same if isinstance(p, Rates)])
            parts.append(Rates(part.name, rates))
        else:
            bells = [p for p in same if isinstance(p, Gaussians)]
            form = "full" if part.form == "tied" else part.form
            own = [p.matrices if part.form == "tied" else p.covariances for p in bells]
            means = np.concatenate([p.means for p in bells])
            parts.append(Gaussians(part.names, means, np.concatenate(own), form))
    return Mixture(weights / weights.sum(), tuple(parts))
