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
from credo.predict.rows.mixture_rows import Parameters, Statistics
from credo.train.em.run import Run, best_run
from credo.train.mixtures.evidence import cheeseman_stutz, complete
from credo.train.mixtures.maximise import MixtureEM, raised
from credo.train.mixtures.problem import Problem
from credo.train.mixtures.start import STARTS, started

Floats = NDArray[np.float64]
MixtureRun = Run[Parameters, Statistics]

MOST_WORK = 2e11
"""Starts × classes × columns³ beyond which nothing is begun: some minutes."""

_LEAST = 1e-9  # mixtures of a smaller probability are left out of an average
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
    given: Callable[[Mixture], Mixture] | None = None  # puts parameters in the place of a start's
    tol: float = 1e-6
    max_iter: int = 1000
    variance_floor: float = 1e-6
    least_variance: float = 0.0  # in the columns' own units
    accelerate: bool = True
    name: str | None = None

    def __post_init__(self) -> None:
        choice(self.covariance, FORMS, "covariance")
        choice(self.criterion, CRITERIA, "criterion")
        whole(self.restarts, 1, "restarts")
        whole(self.max_components, 1, "max_components")
        whole(self.max_iter, 1, "max_iter")
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
    """A mixture, and the run that led to it."""

    mixture: Mixture
    run: MixtureRun
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
    em = problem.em(k, options.prior, floor)
    notes: tuple[str, ...] = ()

    def run(em: MixtureEM, start: Parameters) -> MixtureRun:
        return Run(em, start, options.tol or -math.inf, options.accelerate)

    def placed(start: Parameters) -> Parameters:
        """A start with what was given in the place of its own, and no variance below the floor."""
        if options.given is not None:
            start = problem.parameters(options.given(problem.mixture(start, "Class")))
        if not isinstance(floor, np.ndarray):
            return start
        return replace(start, spread=(raised if em.joint else np.maximum)(start.spread, floor))

    if isinstance(options.start, Mixture):
        if options.start.k != k:
            raise InputError(f"The start has {options.start.k} classes, and k is {k}.")
        best = first = run(em, placed(problem.parameters(options.start)))
    else:
        many = 1 if k == 1 else options.restarts
        n = problem.cells.rows
        part = problem
        care = placed(started(problem, k, options.start, rng, care=True))
        if many > 1 and n > _RACE:
            part = problem.some(np.sort(rng.choice(n, _RACE, replace=False)))
            notes = (f"the {many} starts were raced on {_RACE:,} of the rows",)
        more = (placed(started(part, k, options.start, rng)) for _ in range(many - 1))
        raced = em if part is problem else replace(em, rows=part.rows)
        starts = _different([care, *more])
        runs = [run(raced, s) for s in starts]
        best, _ = best_run(runs, options.max_iter)
        first = runs[0]
        if part is not problem:
            alone, first = best is first, run(em, care)
            best = first if alone else run(em, best.parameters)
    best.finish(options.max_iter)
    if first is not best:
        best = _higher(best, first, options.max_iter)
    mixture, candidate = _judged(problem, best, options)
    return Found(mixture, best, candidate, notes)


def _higher(best: MixtureRun, first: MixtureRun, most: int) -> MixtureRun:
    """The run that won, or the first if it ends higher: more starts never end lower."""
    try:
        first.finish(most)
    except CredoError:
        return best
    gain = first.objective - best.objective
    return first if gain > 1e-12 * abs(best.objective) else best


def _different(starts: list[Parameters]) -> list[Parameters]:
    """The starts without those that are another with its classes in another order."""
    found: dict[tuple[bytes, ...], Parameters] = {}
    for x in starts:
        parts = [x.weights[:, None], *x.tables, x.means, x.rates]
        found.setdefault(tuple(sorted(row.tobytes() for row in np.hstack(parts))), x)
    return list(found.values())


def _judged(problem: Problem, run: MixtureRun, options: Options) -> tuple[Mixture, Candidate]:
    """The mixture of a run, heaviest class first unless a start gave the classes their order."""
    em, x = run.problem, run.parameters
    assert isinstance(em, MixtureEM)
    if not isinstance(options.start, Mixture) and options.given is None:
        x = x.by_size()
    mixture = problem.mixture(x, _name(options.name, problem))
    height, parameters = run.log_likelihood + problem.left, mixture.free_parameters
    bic = height - 0.5 * parameters * math.log(max(problem.cells.weight, 1.0))
    whole = complete(run.expected, em)
    stutz = cheeseman_stutz(height, run.expected, em, whole)
    icl = bic - _entropy(problem, run, em, whole)
    return mixture, Candidate(mixture.k, height, parameters, bic, icl, stutz)


def _name(given: str | None, problem: Problem) -> str:
    """The name of the class: the one that was asked for, or one that no column has."""
    if given is not None:
        return given
    names = ("Class", "Group", "Latent class")
    taken = problem.cells.plan.names
    return next((n for n in names if n not in taken), "Class " + "'" * len(taken))


def _entropy(problem: Problem, run: MixtureRun, em: MixtureEM, whole: float) -> float:
    """−Σ P(c | row) ln P(c | row) over the rows.

    It is ln P(rows) less the expected ln P(rows, classes), `whole`, unless cells of a joint
    Gaussian were completed too.
    """
    if em.rows.order is None:
        return max(run.log_likelihood - whole, 0.0)
    share, _ = em.rows.score(run.parameters, problem.threads)
    logs = np.log(share, where=share > 0, out=np.zeros_like(share))
    terms = np.einsum("nc,nc->n", share, logs)
    w = problem.cells.weights
    return -float(terms.sum() if w is None else w @ terms)


def _recorded(
    best: Found, table: Candidates | None, how: str, source: str, began: float, problem: Problem
) -> Found:
    run = best.run
    tables = table or Candidates((best.candidate,), "bic")
    record = Record(
        how=how,
        source=source,
        score=best.candidate.log_likelihood,
        trace=tuple(v + problem.left for v in run.trace),
        reason=run.reason,
        seconds=time.perf_counter() - began,
        notes=(*best.notes, *_told_of_light_weights(problem, best.candidate)),
        details={
            "rows": problem.cells.weight,
            "iterations": run.iterations,
            "converged": run.converged,
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
    """The mixture of all that were tried, with a record of its own."""
    whole_of = averaged([t.mixture for t in tried], table.probabilities)
    record = best.mixture.record
    assert record is not None
    of = f"average over {len(tried)} numbers of classes"
    record = replace(
        record,
        how=f"{record.how}, {of}",
        score=_log_likelihood(tried, table.probabilities, problem),
        trace=(),
        reason=f"each of {len(tried)} mixtures was learned to its end, and counts by P(k | rows)",
        details={
            "rows": problem.cells.weight,
            "iterations": sum(t.run.iterations for t in tried),
            "converged": all(t.run.converged for t in tried),
        },
    )
    made = replace(whole_of, name=best.mixture.name, record=record, candidates=table)
    return replace(best, mixture=made.by_size())


def _log_likelihood(tried: Sequence[Found], shares: Floats, problem: Problem) -> float:
    """Σ_i ln Σ_k P(k | rows) P(row_i | θ_k)."""
    kept = [(t, float(p)) for t, p in zip(tried, shares, strict=True) if p > _LEAST]
    logs = []
    for t, p in kept:
        em = t.run.problem
        assert isinstance(em, MixtureEM)
        logs.append(em.rows.score(t.run.parameters, problem.threads)[1] + math.log(p))
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
