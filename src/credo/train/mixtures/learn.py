"""Mixtures from any table: the columns' kinds decide what a class has for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.lazy import renamed_arguments
from credo.core.state_values import is_number
from credo.core.threads import checked_threads
from credo.data import Stream, Table, array_in, is_plain, read
from credo.model.mixtures.mixture import Mixture
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import text, whole
from credo.predict.rows.mixture import Plan, Taken, taken
from credo.stats.configurations import named
from credo.train.mixtures.choose import Found, Options, found
from credo.train.mixtures.problem import problem_of

GAUSSIAN: dict[str, Any] = {"covariance": "full", "restarts": 5, "prior": 0.0}
"""What is usual for numbers alone."""

LATENT: dict[str, Any] = {"covariance": "diagonal", "restarts": 10, "prior": 1.0}
"""What is usual where some column has states or counts."""


def mixture(
    source: Any,
    k: int | str = "auto",
    *,
    counts: Sequence[str] = (),
    covariance: str | None = None,
    criterion: str = "bic",
    restarts: int | None = None,
    prior: float | None = None,
    max_components: int = 9,
    average: bool = False,
    start: str | Mixture = "k-means++",
    tol: float = 1e-6,
    max_iter: int = 1000,
    variance_floor: float = 1e-6,
    accelerate: bool = True,
    name: str | None = None,
    rng: Rng = 0,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
) -> Mixture:
    """Learn a mixture from a table: rows of k classes that nobody saw; any cell may be missing.

    Continuous columns have a Gaussian for each class, discrete ones a table, those named in
    `counts` a Poisson rate. Numbers alone are a Gaussian mixture; with states or counts, columns
    are independent within a class (latent classes, a mixture of naive Bayes).

    Parameters
    ----------
    source : anything `cr.read` takes, a Table or a Stream
        The rows; columns of a NumPy array are x0, x1, …
    k : int or "auto"
        The number of classes; "auto" tries 1 to `max_components` and lets the criterion choose.
    covariance : "full", "tied", "diagonal" or "spherical"
        A covariance for each class, one for all, columns apart, or balls. Full for numbers alone,
        else diagonal.
    criterion : "bic", "icl" or "cheeseman-stutz"
        What chooses k; all of them stand in `mixture.candidates`.
    average : bool
        With k="auto": keep every k by its probability, as one mixture of all their classes.
    restarts : int
        EM runs from different starts; the poorer half is dropped again and again (on a sample of
        50,000 rows if there are more). 5 for numbers alone, else 10.
    prior : number
        Imagined rows a class, spread evenly over the states; for Gaussians the weak prior of Fraley
        & Raftery (2007). 0 is maximum likelihood, and usual for numbers alone; else 1.
    start : "k-means++", "random", or a Mixture
        Where to start.
    tol, max_iter : number, int
        Stop when a step gains no more than `tol` a row in ln P, or after so many steps.
    variance_floor : number
        No direction of a class varies less than this share of the column's own variance.
    accelerate : bool
        SQUAREM after the first 10 plain steps; never at the cost of a fall.
    name : str, optional
        What the class is called: "Class", or "Group" where a column is called that.

    >>> import credo as cr
    >>> x = [1.0, 1.2, 0.8, 1.1, 0.9, 5.0, 5.3, None, 4.9, 5.1]
    >>> y = [0.1, 0.0, 0.2, None, 0.1, 3.0, 3.2, 2.9, 3.1, 3.0]
    >>> mixture = cr.mixture({"x": x, "y": y}, 2, covariance="diagonal")
    >>> mixture.predict({"x": [1.0, None], "y": [None, 3.0]}).tolist()
    [0, 1]
    >>> rows = {"milk": ["y", "y", "n", "n", "y", "n"], "eggs": ["n", "n", "y", "y", "n", None],
    ...         "legs": [4.0, 4.1, 2.0, 2.1, 3.9, 1.9]}
    >>> cr.mixture(rows, 2).predict({"eggs": ["y", "n"]}).tolist() in ([0, 1], [1, 0])
    True
    """
    table = _table(source, weights, schema)
    numbers = not named(counts) and not table.schema.discrete
    usual = GAUSSIAN if numbers else LATENT
    given: dict[str, Any] = {"covariance": covariance, "restarts": restarts, "prior": prior}
    options = Options(
        criterion=criterion, max_components=max_components, average=average, start=start, tol=tol,
        max_iter=max_iter, variance_floor=variance_floor, accelerate=accelerate, name=name,
        **{n: usual[n] if v is None else v for n, v in given.items()},
    )  # fmt: skip
    return _learned(table, partial(latent_plan, counts=counts), k, options, rng, threads)


@renamed_arguments(budget="max_iter")
def gaussian_mixture(
    source: Any,
    k: int | str = "auto",
    *,
    rng: Rng = 0,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
    **options: Any,
) -> Mixture:
    """The old name of `mixture` for numbers: discrete columns of numbers are taken as such."""
    table = _table(source, weights, schema)
    made = Options(**GAUSSIAN | options)
    return _learned(table, gaussian_plan, k, made, rng, threads)


@renamed_arguments(budget="max_iter")
def latent_classes(source: Any, k: int | str = "auto", **options: Any) -> Mixture:
    """The old name of `mixture` for columns of any kind."""
    return mixture(source, k, **LATENT | options)


def _learned(
    source: Table | Stream,
    plan_of: Callable[[Table], Plan],
    k: int | str,
    options: Options,
    rng: Rng,
    threads: int | None,
) -> Mixture:
    from credo.train.mixtures import spread  # which begins with this one

    if isinstance(source, Stream) and len(source) <= spread.SAMPLE:
        source = source.load()
    if isinstance(source, Table):
        return learned(source, plan_of(source), k, options, generator(rng), threads).mixture
    return spread.learned_in_parts(source, plan_of, k, options, generator(rng), threads)[0]


def _table(source: Any, weights: Any, schema: Any) -> Table | Stream:
    if is_plain(source):
        source, schema, weights = array_in(source, None, schema, weights)[0], None, None
    if not isinstance(source, (Table, Stream)) or weights is not None or schema is not None:
        source = read(source, schema, weights)
    opened: Table | Stream = source.unscaled
    return opened


def gaussian_plan(table: Table) -> Plan:
    """Every column as numbers; a column of states that are no numbers is refused by name."""
    for variable in table.schema:
        if variable.is_discrete and not all(map(is_number, variable.states)):
            raise InputError(
                f"A Gaussian mixture needs numbers, and the column {variable.name!r} holds states.",
                hint="Leave it out (table.select), or use cr.mixture.",
            )
    return Plan(table.schema.names)


def latent_plan(table: Table, counts: Sequence[str] = ()) -> Plan:
    """Discrete columns as states, continuous ones as numbers, those named as counts."""
    counts = named(counts)
    for name in counts:
        table.schema[name]  # an unknown name is an error that offers near ones
    rest = [v for v in table.schema if v.name not in counts]
    return Plan(
        tuple(v.name for v in rest if not v.is_discrete),
        counts,
        tuple(v for v in rest if v.is_discrete),
    )


def learned(
    table: Table,
    plan: Plan,
    k: int | str,
    options: Options,
    rng: np.random.Generator,
    threads: int | None,
) -> Found:
    """The mixture of a table."""
    if k != "auto" and isinstance(k, str):
        raise InputError(f"k must be a whole number or 'auto', got {k!r}.")
    if not len(table):
        raise InputError("There are no rows to learn from.")
    if options.name is not None and text(options.name, "name") in plan.names:
        raise InputError(
            f"A column is called {options.name!r} already.", hint="Give the class another name."
        )
    cells = cells_of(table, plan)
    return learned_cells(cells, k, options, rng, threads, table.schema.source)


def cells_of(table: Table, plan: Plan) -> Taken:
    """The cells of a table; equal rows of states are gathered where that pays."""
    compact = table.block.compact if not plan.reals and not plan.counts else None
    return taken(plan, table if compact is None else Table(compact))


def learned_cells(
    cells: Taken,
    k: int | str,
    options: Options,
    rng: np.random.Generator,
    threads: int | None,
    source: str = "",
) -> Found:
    """The mixture of cells at hand."""
    many = checked_threads(threads)
    most = options.max_components if isinstance(k, str) else whole(k, 1, "k")
    problem = problem_of(cells, options.covariance, many, most)
    plan = cells.plan
    if plan.states or plan.counts:
        how = "latent classes"
    else:
        how = f"Gaussian mixture, {options.covariance} covariance"
    return found(problem, k, options, rng, how, source)
