"""A task: rows, a method and its options; how each method makes a partition of them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, close_names, unknown_name
from credo.core.lazy import renamed_arguments
from credo.data import Stream, Table
from credo.model.mixtures.mixture import Mixture
from credo.model.values.randomness import Rng, generator
from credo.predict.rows.mixture import plan_of_parts
from credo.stats.block import Block
from credo.stats.configurations import named
from credo.train.clusters.distinct import refuse_same_rows
from credo.train.clusters.geometry import (
    Geometry,
    Unmade,
    checked_distance,
    unmade_of,
    usual_distance,
)
from credo.train.clusters.k_means import partition_k_means, points_of
from credo.train.clusters.linkage import (
    LINKS,
    Linked,
    checked_rows,
    cut_reason,
    linked_of,
    partition_of,
)
from credo.train.clusters.partition import (
    COUNTED_ONCE,
    Partition,
    told_of_bare,
    told_of_columns,
    told_of_rows,
)
from credo.train.clusters.quality import Stability, stability_of
from credo.train.clusters.space import Space, checked_scale, free_memory, space_of
from credo.train.clusters.spread import labelled
from credo.train.mixtures.choose import Options
from credo.train.mixtures.learn import GAUSSIAN, LATENT, gaussian_plan, latent_plan, learned
from credo.train.mixtures.spread import learned_in_parts

_OLD = {"starts": "restarts", "iterations": "max_iter", "tolerance": "tol"}
"""Options of k-means by the names that they had."""

MIXTURES = ("gaussian", "latent-class")
METHODS = ("k-means", *LINKS, "spectral", *MIXTURES)


def checked_method(method: Any) -> str:
    """A method by its name, spelled as people spell it."""
    plain = str(method).casefold().replace("_", "-").removesuffix("-link").removesuffix("-linkage")
    known = {"kmeans": "k-means", "gmm": "gaussian", "latent-classes": "latent-class"}
    plain = known.get(plain, plain)
    if plain not in (*METHODS, "auto"):
        near = close_names(plain, METHODS)
        hint = f"Did you mean {near[0]!r}?" if near else ""
        if isinstance(method, Integral):
            hint = f"For so many clusters: k={method}."
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}.", hint=hint)
    return plain


def usual_method(
    table: Table, names: Sequence[str], settings: Collection[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """What 'auto' is for some columns, and why; k-means where one of its own settings was given.

    >>> import credo as cr
    >>> rows = cr.read({"x": [1.5, 2.5, 3.5, 1.0], "sex": ["f", "m", "m", "f"]})
    >>> usual_method(rows, ["x", "sex"])[0], usual_method(rows, ["x"])[0]
    ('latent-class', 'k-means')
    """
    kinds = {table.schema[n].is_discrete for n in names}
    own = ("gap", "distance", "scale", "max_iter", "start", *_OLD)
    if len(kinds) < 2 or not set(own).isdisjoint(settings):
        return "k-means", ()
    why = "numbers stand beside states, which would make the groups of k-means alone"
    return "latent-class", (f"latent classes were chosen: {why} (method='k-means' for those)",)


def renamed(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options by the names that they have now."""
    out = dict(options)
    for old, new in _OLD.items():
        if method == "k-means" and old in out:
            said = f"{old}= is called {new}= now."
            warnings.warn(said, DeprecationWarning, stacklevel=3)
            out.setdefault(new, out.pop(old))
    return out


def checked_settings(method: str, distance: Any, scale: Any, memory: Any) -> None:
    """Refuse what no method knows, and what this one has no use for."""
    checked_scale(scale, "auto")
    checked_distance(distance)
    if memory is not None:
        free_memory(memory)
    if method == "k-means" and distance == "gower":
        raise InputError(
            f"k-means has Euclid's distance only, got distance={distance!r}.",
            hint="Use method='average' for Gower's.",
        )
    for name, given in (("scale", scale), ("distance", distance)):
        if method in MIXTURES and given != "auto":
            raise InputError(
                f"{method} learns the spread of each column and has no use for {name}={given!r}.",
                hint="Leave it out, or use method='k-means' or 'average'.",
            )


@dataclass(frozen=True)
class Task:
    """Rows to cluster, with the columns that count, and how."""

    table: Table
    method: str
    seed: int
    distance: str = "auto"
    scale: str = "auto"
    memory: int | str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def on(self, table: Table, seed: int) -> Task:
        """The same task on other rows."""
        return Task(table, self.method, seed, self.distance, self.scale, self.memory, self.options)

    # --- what is made once, whatever k ----------------------------------------------------

    @cached_property
    def space(self) -> Space:
        """The scaled space of k-means."""
        return space_of(self.table, checked_scale(self.scale, "like"))

    @cached_property
    def points(self) -> Any:
        """The rows in it."""
        return points_of(self.space, self.table)

    @cached_property
    def linked(self) -> Linked:
        """The tree of an agglomerative method."""
        return linked_of(
            self.table,
            self.method,
            distance=self.distance,
            scale=self.scale,
            memory=self.memory,
            **self._known(linked_of, "distance", "scale", "memory"),
        )

    @cached_property
    def spectrum(self) -> Any:
        """The spectrum of a graph of neighbours."""
        from credo.train.clusters.affinity import spectrum_of

        return spectrum_of(
            self.table,
            seed=self.seed,
            distance=self.distance,
            scale=self.scale,
            memory=self.memory,
            **self._known(spectrum_of, "seed", "distance", "scale", "memory"),
        )

    @cached_property
    def geometry(self) -> Geometry | Unmade:
        """The distances that silhouettes are taken in."""
        if self.method in LINKS:
            return self.linked.geometry
        if self.method == "k-means" and not np.isnan(self.points).any():
            return Geometry("euclidean", self.space, points=self.points)
        if self.method == "spectral":
            found: Geometry = self.spectrum.geometry
            return found
        return unmade_of(self.table)

    def within_reach(self, ks: list[int]) -> list[int]:
        """The numbers of clusters that the method can make of the rows."""
        if self.method != "spectral":
            return ks
        found: list[int] = self.spectrum.within_reach(ks)
        return found

    # --- partitions -------------------------------------------------------------------------

    def partition(self, k: Any) -> Partition:
        """The partition into k clusters; mixtures choose theirs by themselves when asked."""
        checked_rows(self.table.rows, k)
        if self.method not in MIXTURES:  # a mixture of them can be compared with others
            refuse_same_rows(self.table, k)
        if self.method in LINKS:
            labels = self.linked.tree.cut(k=k)
            return partition_of(self.linked, labels, cut_reason(self.linked.tree, k, f"at k = {k}"))
        if self.method == "spectral":
            found: Partition = self.spectrum.partition(k)
            return found
        if self.method == "k-means":
            return partition_k_means(
                self.table,
                k,
                rng=self.seed,
                space=self.space,
                points=self.points,
                **self._known(partition_k_means, "rng", "space", "points", "scale"),
            )
        make = mixture(self.method)
        return make(self.table, k, rng=self.seed, **self._known(make, "rng"))

    def at_height(self, height: float) -> Partition:
        """The partition that a cut of the tree at a height makes."""
        tree = self.linked.tree
        labels = tree.cut(height=height)
        reason = cut_reason(tree, int(labels.max()) + 1, f"at the height {height:g}")
        return partition_of(self.linked, labels, reason)

    def resampled(self, part: Partition, samples: int, of: str) -> Stability:
        """How well the partition agrees with those of resamples; whole weights count as copies."""
        w = self.table.weights
        whole = w is not None and np.issubdtype(w.dtype, np.integer)
        copies = w if whole and self.method not in COUNTED_ONCE else None

        def again(rows: NDArray[np.intp], n: NDArray[np.int64], seed: int) -> Partition:
            table = self.table.take(rows)
            if copies is not None:
                table = Table(Block(table.schema, table.block.arrays, n))
            return self.on(table, seed).partition(part.k)

        return stability_of(
            self.table.rows, part.labels, again, samples, self.seed, of, copies=copies
        )

    def _known(self, function: Callable[..., Any], *taken: str) -> dict[str, Any]:
        """The options, once each is one that the method has."""
        if not self.options:
            return {}
        parameters = _parameters(function)
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return dict(self.options)  # it looks at them itself
        names = [n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY and n not in taken]
        for name in self.options:
            if name not in names:
                near = close_names(name, names)
                hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(names)}."
                if not names:
                    hint = "It has none."
                raise InputError(f"{self.method} has no option {name!r}.", hint=hint)
        return dict(self.options)


@cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def mixture(method: str) -> Callable[..., Partition]:
    """The function that fits a mixture."""
    return partition_gaussian if method == "gaussian" else partition_latent_classes


def columns_of(table: Any, columns: Any, aside: Any) -> tuple[str, ...]:
    """The names of the columns that count."""
    asked = () if columns is None else named(columns)
    left = () if aside is None else named(aside)
    for name in (*asked, *left):
        table.schema[name]  # says what is there instead
    names = table.schema.names if columns is None else asked
    if left:
        names = tuple(n for n in names if n not in left)
    if not names:
        raise InputError("No column is left to cluster by.")
    return names


# --- Mixtures as a method of clustering: a row belongs to its most probable class ---


_OPTIONS = (
    "covariance", "criterion", "restarts", "prior", "max_components", "start", "tol", "max_iter",
    "variance_floor", "accelerate",
)  # fmt: skip


_BY_MODEL = "a model of each class makes the groups, not a distance"


@renamed_arguments(budget="max_iter")
def partition_gaussian(
    table: Table, k: int | str, *, rng: Rng = 0, threads: int | None = None, **options: Any
) -> Partition:
    """The classes of a Gaussian mixture; the options are those of `cr.mixture`.

    >>> import credo as cr
    >>> table = cr.read({"x": [1.0, 1.1, 0.9, 1.05, 5.0, 5.1, 4.9]})
    >>> partition_gaussian(table, 2, covariance="spherical").labels.tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    known = GAUSSIAN | {"prior": 1.0} | _checked(options)
    found = learned(table, gaussian_plan(table), k, Options(**known), generator(rng), threads)
    return _partition(found.mixture, table, threads)


@renamed_arguments(budget="max_iter")
def partition_latent_classes(
    table: Table, k: int | str, *, rng: Rng = 0, threads: int | None = None, **options: Any
) -> Partition:
    """Latent classes of columns of any kind; the options are those of `cr.mixture`.

    >>> import credo as cr
    >>> table = cr.read({"a": ["u", "u", "v", "v", "u"], "b": ["p", "p", "q", "q", "p"]})
    >>> partition_latent_classes(table, 2).labels.tolist()
    [0, 0, 1, 1, 0]
    """
    known = LATENT | _checked(options, (*_OPTIONS, "counts"))
    plan = latent_plan(table, known.pop("counts", ()))
    found = learned(table, plan, k, Options(**known), generator(rng), threads)
    return _partition(found.mixture, table, threads)


def partition_in_parts(
    source: Stream, names: Sequence[str], method: str, k: int | str, seed: int, options: Any
) -> Partition:
    """The classes of a mixture of rows that lie in parts: the label of each, but no membership."""
    rows = replace(source, schema=source.schema.select(names))
    if method == "gaussian":
        known, plan_of = GAUSSIAN | {"prior": 1.0} | _checked(dict(options)), gaussian_plan
    else:
        known = LATENT | _checked(dict(options), (*_OPTIONS, "counts"))
        plan_of = partial(latent_plan, counts=known.pop("counts", ()))
    mixture, sample = learned_in_parts(rows, plan_of, k, Options(**known), generator(seed), None)
    found = labelled(rows, partial(_assign, mixture, 1), mixture.k)
    part = _partition(mixture, sample, None)
    notes = [n for n in part.notes if n not in told_of_bare(sample)]
    return replace(
        part, labels=found.labels, membership=None, sizes=found.sizes, sample=sample,
        notes=(*notes, *told_of_rows(found.bare_numbers(rows))),
    )  # fmt: skip


def _checked(options: dict[str, Any], known: tuple[str, ...] = _OPTIONS) -> dict[str, Any]:
    for name in options:
        if name == "average":
            raise InputError("Groups need one mixture: average=True is for cr.mixture.")
        if name not in known:
            raise unknown_name("Option", name, known, "one of a mixture")
    return options


def _assign(
    mixture: Mixture, threads: int | None, rows: Table
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    share = mixture.responsibilities(rows, threads=threads)
    return share.argmax(axis=1), share


def _partition(mixture: Mixture, table: Table, threads: int | None) -> Partition:
    share = mixture.responsibilities(table, threads=threads)
    assert mixture.candidates is not None and mixture.record is not None
    best, plan = mixture.candidates.best, plan_of_parts(mixture.parts)
    distance = usual_distance(table)
    quality = {"log-likelihood": best.log_likelihood, "bic": best.bic, "icl": best.icl}
    return Partition(
        labels=share.argmax(axis=1),
        k=mixture.k,
        assign=partial(_assign, mixture, threads),
        membership=share,
        quality=quality,
        trace=mixture.record.trace,
        reason=mixture.record.reason,
        notes=(
            _BY_MODEL if mixture.k == 1 else f"{_BY_MODEL}; the silhouette is in {distance}",
            *told_of_columns(table),
            *mixture.record.notes,
            *told_of_bare(table),
        ),
        model=mixture,
        numbers=(*plan.reals, *plan.counts),
    )
