"""Clusters: the answer of `cr.cluster`, whatever the method.

Clusters are numbered by their size, the largest 0; of equal sizes, the one with the earlier first
row comes first. Sizes are sums of weights where the rows have weights.
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, UnknownNameError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import bar, number, table_html, table_text
from credo.core.schema import Variable
from credo.data import Stream, Table, is_plain, rows_in
from credo.model.methods.pictures import picture
from credo.model.values.record import Record
from credo.model.values.value import taken_apart
from credo.train.clusters.geometry import Geometry, Unmade, unmade_of
from credo.train.clusters.linkage import Tree
from credo.train.clusters.lloyd import Steps
from credo.train.clusters.partition import Partition
from credo.train.clusters.profiles import Profiled, Profiles, Profiling, edges_of
from credo.train.clusters.quality import Stability, share_explained, silhouette, squares_of
from credo.train.clusters.space import Space, space_of
from credo.train.parameters.sources import Opened

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Clusters(Frozen):
    """Groups of rows: labels, sizes, what each group is, and how good the grouping is.

    >>> import credo as cr
    >>> rows = {"x": [0.0, 0.2, 5.0, 5.2, 5.1], "colour": ["red", "red", "blue", "blue", "blue"]}
    >>> groups = cr.cluster(rows, "average", k=2)
    >>> groups.labels.tolist(), groups.sizes
    ([1, 1, 0, 0, 0], (3, 2))
    >>> groups.assign([{"x": 0.5, "colour": "red"}]).tolist()
    [1]
    """

    method: str
    labels: NDArray[Any]
    k: int
    sizes: tuple[int | float, ...]
    record: Record
    columns: tuple[str, ...]
    table: Table | Stream | None = field(repr=False)
    partition: Partition = field(repr=False)
    order: NDArray[np.intp] = field(repr=False)
    membership: Floats | None = None
    tree: Tree | None = None
    stability: Stability | None = None
    nodes: tuple[Any, ...] = ()

    # --- more about the groups ----------------------------------------------------------

    @property
    def model(self) -> Any:
        """The fitted value behind the groups: centres, a linked tree, a spectrum, a mixture."""
        return self.partition.model

    @property
    def used(self) -> Table | Stream:
        """The table with the columns that made the groups."""
        table = self._table("columns")
        return table if isinstance(table, Stream) else table.select(self.columns)

    @property
    def groups(self) -> tuple[list[Any], ...]:
        """The rows of each cluster, by position; of a graph, its nodes."""
        names = self.nodes or range(len(self.labels))
        out: tuple[list[Any], ...] = tuple([] for _ in range(self.k))
        for name, label in zip(names, self.labels.tolist(), strict=True):
            out[label].append(name)
        return out

    @property
    def notes(self) -> tuple[str, ...]:
        """What a summary says beside the groups."""
        return tuple(self.record.notes)

    @property
    def row_numbers(self) -> list[int]:
        """Where each row of `labels` stood in the table given, from 1; weight 0 leaves rows out."""
        numbers = None if self.table is None else self.table.numbers
        n = range(len(self.labels))
        return [i + 1 for i in n] if numbers is None else [numbers.of(i) for i in n]

    @cached_property
    def profiles(self) -> Profiles:
        """What each cluster is: every column against the whole table, most telling first."""
        table = self._table("columns to describe")
        edges = edges_of(self._some)
        profiling = Profiling(table.schema, self.k, edges)
        if isinstance(table, Table):
            return profiling.profiles(profiling(table, self.labels))
        task = _Describing(profiling, self.partition.assign, self.columns, np.argsort(self.order))
        found = table.fold(task)
        assert found is not None
        return profiling.profiles(found)

    @cached_property
    def geometry(self) -> Geometry:
        """The distance that the method stands on; of a mixture, the one that suits the columns."""
        found = self._distances
        return found if isinstance(found, Geometry) else found.made()

    @cached_property
    def _distances(self) -> Geometry | Unmade:
        """The same; the rows become points only as they are taken, if the method made none."""
        found = getattr(self.model, "geometry", None)
        if isinstance(found, Geometry):
            return found
        table = self.used
        if not isinstance(table, Table):
            raise InputError(
                "Distances between rows need them in memory, and these come from a stream.",
                hint="Cluster stream.load().",
            )
        return _unmade(getattr(self.model, "space", None), table)

    @cached_property
    def space(self) -> Space:
        """The coordinates that sums of squares and pictures are in: the method's own, if any."""
        found = getattr(self.model, "space", None)
        if isinstance(found, Space):
            return found
        distances = self._distances
        return distances.space if distances.name == "euclidean" else space_of(self.used)

    @cached_property
    def quality(self) -> Mapping[str, float]:
        """How good the grouping is, by name.

        'within' is the within-cluster sum of squares of the scaled columns, 'explained' the share
        of the sum of squares that lies between clusters, 'silhouette' from −1 to 1 how much nearer
        rows are to their own cluster, with its 'silhouette_error' where rows were drawn, as they
        are from a stream. A method adds what it maximises or minimises: 'log-likelihood', 'bic',
        'icl', 'modularity'.
        """
        own = dict(self.partition.quality)
        out: dict[str, float] = {}
        if isinstance(self.table, Stream):
            return MappingProxyType(own | self._silhouette_of_the_sample())
        if self.table is None:
            return MappingProxyType(own)
        w = None if self.table.weights is None else self.table.weights.astype(np.float64)
        within, total = squares_of(self.space, self.table, self.labels, self.k, w)
        out["within"] = own.get("within", within)
        out["explained"] = share_explained(out["within"], total)
        out |= _silhouette(self._distances, self.labels, self.k, w)
        return MappingProxyType(out | own)

    @property
    def _some(self) -> Table:
        """The rows in memory: all, or of a stream those that its clusters started from."""
        some = self.table if isinstance(self.table, Table) else self.partition.sample
        assert some is not None
        return some

    def _silhouette_of_the_sample(self) -> dict[str, float]:
        """That of the rows that a stream's clusters started from."""
        sample = self._some.select(self.columns)
        geometry = _unmade(getattr(self.model, "space", None), sample)
        w = None if sample.weights is None else sample.weights.astype(np.float64)
        return _silhouette(geometry, self.partition.assign(sample)[0], self.k, w)

    def assign(self, rows: Any) -> NDArray[np.intp]:
        """The cluster of each new row: anything `cr.read` takes, with the same columns.

        An array has the columns that count, in their order, or all those of the table. A column
        that nobody knows is given as empty cells, where the method takes gaps.
        """
        return self._assigned(rows)[0]

    def assign_membership(self, rows: Any) -> Floats:
        """The probability of each cluster for each new row, where the method has them."""
        found = self._assigned(rows)[1]
        if found is None:
            raise InputError(
                f"{self.method} gives each row one cluster, without probabilities.",
                hint="Use method='gaussian' or 'latent-class'.",
            )
        return found

    def steps(self) -> Steps:
        """The E and M steps of k-means as hard EM, from its best start."""
        found = getattr(self.model, "steps", None)
        if not isinstance(found, Steps):
            raise InputError(f"Only k-means of a table in memory has E and M steps, not {self!r}.")
        return found

    def cut(self, by: str | None = None, *, k: int | None = None, height: Any = None) -> Clusters:
        """The groups of another cut of the same tree: by k=, height= or 'gap'."""
        from credo.train.clusters.clustering import cut_again

        if self.tree is None:
            raise InputError(f"{self.method} makes no tree to cut.")
        labels = self.tree.cut(by, k=k, height=height)
        how = "at the largest gap" if height is None else f"at the height {height:g}"
        return cut_again(self, labels, how if k is None else f"at k = {k}")

    # --- inside -------------------------------------------------------------------------

    def _table(self, what: str) -> Table | Stream:
        if self.table is None:
            raise InputError(f"These clusters come from a graph alone, which has no {what}.")
        return self.table

    def _assigned(self, rows: Any) -> tuple[NDArray[np.intp], Floats | None]:
        if self.table is None:
            raise InputError("Nodes of a graph cannot be assigned: cluster the whole graph again.")
        if is_plain(rows):
            rows = rows_in(rows, self.columns, self.table.schema.names)
        known = {n: self._variable(n, rows) for n in self.columns}
        try:
            table = Opened(rows, known, None, None).source
        except UnknownNameError as error:
            cure = "A column that nobody knows is given as empty cells (None)."
            raise UnknownNameError(error.message, hint=f"{error.hint} {cure}".strip()) from None
        if isinstance(table, Stream):
            table = table.load()
        labels, p = self.partition.assign(table.select(self.columns))
        place = np.argsort(self.order)
        return place[labels], None if p is None else p[:, self.order]

    def _variable(self, name: str, rows: Any) -> Variable:
        """What a column of new rows is read as: a number may be one that was not seen before."""
        assert self.table is not None
        own = self.table.schema[name]
        if name not in self.partition.numbers or not own.is_discrete:
            return own
        read = isinstance(rows, (Table, Stream)) and name in rows.schema.names
        return rows.schema[name] if read else Variable(name, "continuous")

    def __reduce__(self) -> Any:
        if not isinstance(self.table, Stream):
            return taken_apart(self)
        kept = {"profiles": self.profiles}  # the rows will not be there again
        return *taken_apart(replace(self, table=self.table.left_behind(*_LEFT_BEHIND))), kept

    def __copy__(self) -> Clusters:
        return replace(self)

    # --- pictures -----------------------------------------------------------------------

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """The rows on two principal axes, coloured by cluster."""
        return self._drawn("scatter", ax, options)

    def plot_tree(self, ax: Any = None, **options: Any) -> Any:
        """The tree of merges, with the cut."""
        return self._drawn("dendrogram", ax, options)

    def plot_profiles(self, ax: Any = None, **options: Any) -> Any:
        """How telling each column is of each cluster, as bars."""
        return self._drawn("profile_bars", ax, options)

    def plot_heat_map(self, ax: Any = None, **options: Any) -> Any:
        """The rows sorted by cluster, the columns on one scale, as colours."""
        return self._drawn("heat_map", ax, options)

    def _drawn(self, name: str, ax: Any, options: dict[str, Any]) -> Any:
        draw = picture(name)
        known = inspect.signature(draw).parameters.values()
        names = [p.name for p in known if p.name not in ("groups", "ax")]
        if not any(p.kind is p.VAR_KEYWORD for p in known):
            for option in options:
                if option not in names:
                    raise unknown_name("Option", option, names, "one of this picture")
        return draw(self, ax, **options)

    # --- words --------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """One line: method, number of clusters, rows, source."""
        what = "nodes" if self.nodes else "rows"
        source = f" of {self.record.source}" if self.record.source else ""
        plural = "s" * (self.k != 1)
        return f"{self.method}: {self.k} cluster{plural} in {len(self.labels):,} {what}{source}"

    def _size_rows(self) -> list[list[str]]:
        total = sum(self.sizes)
        named = self.groups if self.nodes else ()
        rows = []
        for i, size in enumerate(self.sizes):
            told = "; ".join(str(t) for t in self.profiles[i][:3]) if self.table is not None else ""
            if self.nodes:
                told = ", ".join(map(str, named[i][:6])) + ", …" * (len(named[i]) > 6)
            share = size / total
            rows.append([str(i), number(size), f"{100 * share:.1f} %", bar(share, 10), told])
        return rows

    def _quality_line(self) -> str:
        q = dict(self.quality)
        error = q.pop("silhouette_error", None)
        parts = []
        for name, value in q.items():
            text = f"{100 * value:.1f} %" if name == "explained" else number(value, 5)
            if name == "silhouette":
                text = f"{value:.3f}" + (f" ± {error:.3f}" if error is not None else "")
            parts.append(f"{name.replace('_', ' ')} {text}")
        return ", ".join(parts)

    def __str__(self) -> str:
        out = [self.title, "", table_text(_HEAD, self._size_rows(), right=[0, 1, 2]), ""]
        line = self._quality_line()
        out += [f"quality: {line}"] if line else []
        if self.stability is not None:
            out.append(f"stability: {self.stability}")
        out += [f"stopped: {self.record.reason}"] if self.record.reason else []
        out += [f"noticed: {n}" for n in self.notes]
        return "\n".join(out)

    def __repr__(self) -> str:
        return f"Clusters({self.title})"

    def _repr_html_(self) -> str:
        out = table_html(_HEAD, self._size_rows(), right=[0, 1, 2], caption=self.title)
        lines = [f"quality: {self._quality_line()}"]
        if self.stability is not None:
            lines.append(f"stability: {self.stability}")
        lines += [f"stopped: {self.record.reason}", *self.notes]
        return out + "<ul>" + "".join(f"<li>{html.escape(t)}</li>" for t in lines) + "</ul>"


def _unmade(space: Any, table: Table) -> Unmade:
    """The distances of k-means in its own space, if every cell is there; else the usual ones."""
    if isinstance(space, Space) and table.block.names_with_gaps.isdisjoint(space.names):
        return Unmade("euclidean", space, table)
    return unmade_of(table)


def _silhouette(
    geometry: Geometry | Unmade, labels: NDArray[np.intp], k: int, weights: Floats | None
) -> dict[str, float]:
    """The silhouette by its name, with its error if it has one; nothing if there is none."""
    if len(np.unique(labels)) < 2 or k >= len(labels):
        return {}
    mean, error = silhouette(geometry, labels, k, weights)
    return {"silhouette": mean} | ({} if error is None else {"silhouette_error": error})


_HEAD = ["cluster", "size", "share", "", "most telling"]


def canonical(
    labels: NDArray[Any], sizes: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.intp], tuple[int | float, ...]]:
    """Labels by size and first row; which old label each new one was; the sizes in that order."""
    k = len(sizes)
    first = np.full(k, len(labels))
    head = labels[: 64 * k]
    first[head[::-1]] = np.arange(len(head))[::-1]  # of several, the last one written stays
    missed = () if len(head) == len(labels) else np.flatnonzero(first == len(labels))
    for c in missed:  # not among the first rows
        hit = labels == c
        first[c] = int(hit.argmax()) if sizes[c] or hit.any() else len(labels)
    order = np.lexsort((first, -sizes))
    place = np.empty(k, dtype=labels.dtype)
    place[order] = np.arange(k)
    return place[labels], order, tuple(sizes[order].tolist())


_LEFT_BEHIND = (
    "These groups were pickled without the rows of the stream they are of.",
    "Read the source and cluster it again; groups.assign takes any rows.",
)


@dataclass(frozen=True)
class _Describing:
    """A task: what the profiles need of rows whose clusters are found where they are."""

    profiling: Profiling
    assign: Any
    columns: tuple[str, ...]
    place: NDArray[np.intp]

    def __call__(self, table: Table) -> Profiled:
        return self.profiling(table, self.place[self.assign(table.select(self.columns))[0]])
