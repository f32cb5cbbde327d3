"""The front doors of mixtures: any table in, a frozen `Mixture` out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from credo.core.errors import InputError
from credo.core.state_values import is_number
from credo.core.threads import checked_threads
from credo.data import Stream, Table, read
from credo.data.sources.unnamed import array_in, is_plain
from credo.model.mixtures.mixture import Mixture
from credo.model.values.randomness import Rng, generator
from credo.model.values.value import text, whole
from credo.predict.rows.mixture_columns import Plan, Taken, taken
from credo.stats.configurations import named
from credo.train.mixtures.choose import Found, Options, found
from credo.train.mixtures.problem import problem_of

__all__ = ["gaussian_mixture", "gaussian_plan", "latent_classes", "latent_plan", "learned"]


def gaussian_mixture(
    source: Any,
    k: int | str = "auto",
    *,
    covariance: str = "full",
    criterion: str = "bic",
    restarts: int = 5,
    prior: float = 0.0,
    max_components: int = 9,
    average: bool = False,
    start: str | Mixture = "k-means++",
    tol: float = 1e-6,
    budget: int = 1000,
    variance_floor: float = 1e-6,
    accelerate: bool = True,
    name: str | None = None,
    rng: Rng = 0,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
) -> Mixture:
    """Learn a mixture of Gaussians from the numbers of a table; any cell may be missing.

    Parameters
    ----------
    source : anything `cr.read` takes, a Table or a Stream
        The rows. Every column must hold numbers; those of a NumPy array are x0, x1, …
    k : int or "auto"
        The number of classes; "auto" tries 1 to `max_components` and lets the criterion choose.
    covariance : "full", "tied", "diagonal" or "spherical"
        A covariance for each class, one for all, columns apart, or balls.
    criterion : "bic", "icl" or "cheeseman-stutz"
        What chooses k; all of them stand in `mixture.candidates`.
    average : bool
        With k="auto": keep every k by its probability, as one mixture of all their classes.
    restarts : int
        Climbs from different starts; the poorer half is dropped again and again (on a sample of
        50,000 rows if there are more).
    prior : number
        0 is maximum likelihood; 1 adds the weak prior of Fraley & Raftery (2007) to each class.
    start : "k-means++", "random", or a Mixture
        Where to start.
    tol, budget : number, int
        Stop when a step gains no more than `tol` a row in ln P (0: never), or after so many steps.
    variance_floor : number
        No direction of a class varies less than this share of the column's own variance.
    accelerate : bool
        Leap ahead after the first 10 plain steps (SQUAREM); never at the cost of a fall.
    name : str, optional
        What the class is called: "Class", or "Group" where a column is called that.

    >>> import credo as cr
    >>> x = [1.0, 1.2, 0.8, 1.1, 0.9, 5.0, 5.3, None, 4.9, 5.1]
    >>> y = [0.1, 0.0, 0.2, None, 0.1, 3.0, 3.2, 2.9, 3.1, 3.0]
    >>> mixture = cr.gaussian_mixture({"x": x, "y": y}, 2, covariance="diagonal")
    >>> mixture.predict({"x": [1.0, None], "y": [None, 3.0]}).tolist()
    [0, 1]
    """
    table = _table(source, weights, schema)
    options = Options(
        covariance=covariance, criterion=criterion, restarts=restarts, prior=prior,
        max_components=max_components, average=average, start=start, tol=tol, budget=budget,
        variance_floor=variance_floor, accelerate=accelerate, name=name,
    )  # fmt: skip
    return learned(table, gaussian_plan(table), k, options, generator(rng), threads).mixture


def latent_classes(
    source: Any,
    k: int | str = "auto",
    *,
    counts: Sequence[str] = (),
    covariance: str = "diagonal",
    criterion: str = "bic",
    restarts: int = 10,
    prior: float = 1.0,
    max_components: int = 9,
    average: bool = False,
    start: str | Mixture = "k-means++",
    tol: float = 1e-6,
    budget: int = 1000,
    variance_floor: float = 1e-6,
    accelerate: bool = True,
    name: str | None = None,
    rng: Rng = 0,
    weights: Any = None,
    schema: Any = None,
    threads: int | None = None,
) -> Mixture:
    """Learn classes within which the columns are independent: a mixture of naive Bayes.

    Columns of any kind side by side, any cell may be missing: discrete ones have a table for each
    class, continuous ones a Gaussian, those named in `counts` a Poisson rate. `prior` is in
    imagined rows a class, spread evenly over the states (0 is maximum likelihood). The other
    parameters are those of `cr.gaussian_mixture`.

    >>> import credo as cr
    >>> rows = {"milk": ["y", "y", "n", "n", "y", "n"], "eggs": ["n", "n", "y", "y", "n", None],
    ...         "legs": [4.0, 4.1, 2.0, 2.1, 3.9, 1.9]}
    >>> mixture = cr.latent_classes(rows, 2)
    >>> mixture.predict({"eggs": ["y", "n"]}).tolist() in ([0, 1], [1, 0])
    True
    """
    table = _table(source, weights, schema)
    options = Options(
        covariance=covariance, criterion=criterion, restarts=restarts, prior=prior,
        max_components=max_components, average=average, start=start, tol=tol, budget=budget,
        variance_floor=variance_floor, accelerate=accelerate, name=name,
    )  # fmt: skip
    plan = latent_plan(table, counts)
    return learned(table, plan, k, options, generator(rng), threads).mixture


def _table(source: Any, weights: Any, schema: Any) -> Table:
    if is_plain(source):
        source, schema, weights = array_in(source, None, schema, weights)[0], None, None
    if not isinstance(source, (Table, Stream)) or weights is not None or schema is not None:
        source = read(source, schema, weights)
    if isinstance(source, Stream):
        source = source.load()
    assert isinstance(source, Table)
    return source


def gaussian_plan(table: Table) -> Plan:
    """Every column as numbers; a column of states that are no numbers is refused by name."""
    for variable in table.schema:
        if variable.is_discrete and not all(map(is_number, variable.states)):
            raise InputError(
                f"A Gaussian mixture needs numbers, and the column {variable.name!r} holds states.",
                hint="Leave it out (table.select), or use latent classes.",
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
