"""`cluster`: groups of rows, by one of several methods. `which_k`: how many groups there are."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.render import shortened
from credo.data import Stream, Table, array_in, is_plain
from credo.model.values.randomness import Rng, generator
from credo.model.values.record import Record
from credo.train.clusters.candidates import Candidates
from credo.train.clusters.choosing import (
    chosen,
    compared,
    criterion,
    mixed,
    refuse_two_choices,
    sizes_to_try,
)
from credo.train.clusters.distinct import refuse_same_rows
from credo.train.clusters.graphs import GraphTask, graph_task
from credo.train.clusters.k_means import whole_number
from credo.train.clusters.linkage import LINKS, checked_rows, cut_reason, partition_of
from credo.train.clusters.partition import (
    Partition,
    told_of_absent,
    told_of_aside,
    told_of_empty,
)
from credo.train.clusters.quality import Stability
from credo.train.clusters.result import Clusters, canonical
from credo.train.clusters.task import (
    MIXTURES,
    Task,
    checked_method,
    checked_settings,
    columns_of,
    partition_in_parts,
    renamed,
    usual_method,
)
from credo.train.mixtures.spread import SAMPLE
from credo.train.parameters.sources import Opened

_NOTHING, _GIVE = "There is nothing to cluster.", "Give a table, or graph=."


def cluster(
    table: Any = None,
    method: str = "auto",
    k: int | str = "auto",
    *,
    rng: Rng = 0,
    columns: Sequence[str] | None = None,
    aside: Sequence[str] | str | None = (),
    distance: str = "auto",
    scale: str = "auto",
    by: str | None = None,
    k_max: int = 10,
    height: float | None = None,
    graph: Any = None,
    stability: int = 0,
    memory: int | str | None = None,
    schema: Any = None,
    weights: Any = None,
    **options: Any,
) -> Clusters:
    """Find groups of similar rows.

    Parameters
    ----------
    table : anything `cr.read` takes
        Mixed kinds and missing cells are welcome. A stream is clustered batch by batch, by
        k-means or a mixture, from the clusters of some rows.
        The columns of an array are x0, x1, …, or as a `columns` as long as it is wide names them.
    method : str
        'auto' (latent classes where numbers stand beside states, else k-means); 'k-means';
        'single', 'complete', 'average' or 'ward' link; 'spectral'; 'gaussian' (a mixture of
        Gaussians); 'latent-class' (a mixture of naive Bayes models).
    k : int or "auto"
        The number of clusters. 'auto' tries 2 to `k_max` and chooses by `by`: 'silhouette' (usual
        for k-means) or 'gap'; 'height', the largest gap of a tree; 'eigengap'; 'bic', 'icl' or
        'cheeseman-stutz'.
    columns, aside : names, optional
        The columns that count; or those that do not, and are only described.
    distance : "auto", "euclidean" or "gower"
        Gower's is for mixed columns and gaps; auto takes it where they are.
    scale : "auto", "sd", "range" or "none"
        What numbers are divided by. Auto is 'none' for numbers in like units (standard deviations
        within a factor of ten), else 'sd', and 'range' for Gower's distance.
    height : number, optional
        Cut a tree at this height, instead of k.
    graph : edges, matrix or graph, optional
        Ties between rows (or, without a table, between nodes): pairs or triples with a strength, a
        square matrix (sparse, an array or nested lists), a networkx graph. Linkage then joins only
        what is tied; spectral clustering takes the ties as its affinity.
    stability : int
        Repeat the clustering on so many resamples of the rows, or of a graph's nodes, and report
        the agreement.
    memory : bytes or text such as "2GB", optional
        The most memory for distances of all pairs; half of what is free by default.
    options
        k-means: `restarts`, `max_iter`, `tol`, `start` (centres, scaled as the columns are).
        Spectral: `affinity`, `neighbours`, `gamma`, `landmarks`. Mixtures: see docs/mixtures.md.

    >>> import credo as cr
    >>> rows = {"x": [1.0, 1.2, 0.9, 5.0, 5.1, 4.8, 5.3], "y": [0.1, 0.2, 0.1, 3.0, 3.1, 2.9, 3.2]}
    >>> groups = cr.cluster(rows, k=2)
    >>> print(groups)
    k-means: 2 clusters in 7 rows of dict of columns
    <BLANKLINE>
    cluster  size   share          most telling
          0     4  57.1 %  █████▊  x 5.05 (mean 3.33); y 3.05 (mean 1.8)
          1     3  42.9 %  ████▎   x 1.03 (mean 3.33); y 0.133 (mean 1.8)
    <BLANKLINE>
    quality: within 0.23333, explained 99.5 %, silhouette 0.945
    stopped: ...
    noticed: Euclid's distance of the numbers as they are
    >>> groups.assign({"x": [0.0, 4.0], "y": [0.0, 2.0]}).tolist()
    [1, 0]
    """
    begun = time.perf_counter()
    asked = checked_method(method)
    method = "k-means" if asked == "auto" else asked
    seed = _seed(rng)
    k = _checked_k(k, options)
    whole_number(k_max, "k_max", 2)
    whole_number(stability, "stability", 0)
    checked_settings(method, distance, scale, memory)
    if height is not None and method not in LINKS:
        raise InputError(f"height= cuts a tree, and {method} makes none.", hint="Use k=.")
    if is_plain(table):
        table, columns = array_in(table, columns, schema, weights)
        schema = weights = None
    told: tuple[str, ...] = ()
    task: Task | GraphTask
    if graph is not None:
        whole, task = graph_task(
            table, graph, method, seed, scale, distance, columns, aside, schema, weights, options
        )
        names = task.columns
        how, of = f"{method} of a graph", "rows" if whole is not None else "nodes"
    elif table is None:
        raise InputError(_NOTHING, hint=_GIVE)
    else:
        whole = Opened(table, {}, weights, schema).plain
        names = columns_of(whole, columns, aside)
        if asked == "auto" and isinstance(whole, Table):
            method, told = usual_method(whole, names, _set(by, distance, scale, options))
        else:
            names, told = _for_method(whole, names, method, columns)
        options = renamed(method, options)
        if isinstance(whole, Stream) and method in MIXTURES and len(whole) <= SAMPLE:
            whole = whole.load()
        if isinstance(whole, Stream):
            return _streamed(
                whole, names, method, k, seed, scale, by, stability, options,
                _aside(whole, columns), begun,
            )  # fmt: skip
        if not isinstance(whole, Table):
            raise InputError("Clusters need a table or a stream.", hint="Read it with cr.read.")
        used = whole if names == whole.schema.names else whole.select(names)
        checked_rows(used.rows, k)
        task = Task(used, method, seed, distance, scale, memory, options)
        how, of = method, "rows"
    part, found = _solved(task, k, height, by, k_max)
    again = task.resampled(part, stability, of) if stability else None
    told = (*told, *_aside(whole, columns))
    how = f"{how} with k = {part.k}"
    done = _finished(whole, names, method, part, how, seed, found, again, begun, told)
    return replace(done, nodes=task.nodes) if isinstance(task, GraphTask) else done


def _set(by: Any, distance: Any, scale: Any, options: Mapping[str, Any]) -> set[str]:
    """The settings that were given."""
    given = {"distance": distance, "scale": scale}
    return {str(by), *(n for n, v in given.items() if v != "auto"), *options}


def _checked_k(k: Any, options: Mapping[str, Any]) -> int | str:
    """A whole number, or 'auto', which centres to start from leave no room for."""
    if not isinstance(k, str):
        return whole_number(k, "k")
    if k != "auto":
        hint = f"Write k={k}, without quotes." if k.isdecimal() else ""
        raise InputError(f"k must be a whole number or 'auto', got {k!r}.", hint=hint)
    if options.get("start") is not None and not isinstance(options["start"], str):
        raise InputError("start= begins from given clusters, so k= must say how many they are.")
    return k


def _aside(whole: Table | Stream | None, columns: Any) -> tuple[str, ...]:
    """Where no columns were asked for, those that reading has set aside are told."""
    return () if columns is not None else tuple(told_of_aside(whole))


def _solved(
    task: Task | GraphTask, k: Any, height: float | None, by: str | None, k_max: int
) -> tuple[Partition, Candidates | None]:
    """The partition asked for, and the candidates if k was chosen."""
    refuse_two_choices(k, by, height)
    if height is not None:
        return task.at_height(height), None
    if k != "auto":
        if task.method in MIXTURES and task.table is not None:
            refuse_same_rows(task.table, k)
        return task.partition(int(k)), None
    if isinstance(task, GraphTask):
        found, part = task.compared(by, sizes_to_try(task.most, None, k_max))
        return part, found
    criteria = criterion(task.method, by)
    if task.method in MIXTURES and criteria != "silhouette":
        found, part = mixed(task, criteria, k_max, by is not None)
        return part, found
    ks = task.within_reach(sizes_to_try(task.table.rows, None, k_max, table=task.table))
    found, part = chosen(task, criteria, ks)
    return part, found


def which_k(
    table: Any = None,
    method: str = "auto",
    k: Any = None,
    *,
    by: str | None = None,
    rng: Rng = 0,
    columns: Sequence[str] | None = None,
    aside: Sequence[str] | str | None = (),
    distance: str = "auto",
    scale: str = "auto",
    graph: Any = None,
    memory: int | str | None = None,
    schema: Any = None,
    weights: Any = None,
    **options: Any,
) -> Candidates:
    """Numbers of clusters side by side: what each gives, and which one a criterion chooses.

    `k` is a range or a list of candidates, 2 to 10 if it is left out; `by`, `graph` and the others
    as in `cr.cluster`.

    >>> import credo as cr
    >>> rows = {"x": [0.0, 0.1, 0.3, 5.0, 5.2, 5.1, 9.0, 9.1, 9.5]}
    >>> print(cr.which_k(rows, k=range(2, 5), scale="none"))
    k   within  explained  silhouette
    2    25.42     0.7948      0.7264
    3   0.2067     0.9983      0.9488  ◀ by silhouette
    4  0.07167     0.9994      0.8142
    """
    asked = checked_method(method)
    method = "k-means" if asked == "auto" else asked
    checked_settings(method, distance, scale, memory)
    if is_plain(table):
        table, columns = array_in(table, columns, schema, weights)
        schema = weights = None
    if graph is not None:
        _, task = graph_task(
            table, graph, method, _seed(rng), scale, distance, columns, aside, schema, weights,
            options,
        )  # fmt: skip
        return task.compared(by, sizes_to_try(task.most, k, 10))[0]
    if table is None:
        raise InputError(_NOTHING, hint=_GIVE)
    whole = Opened(table, {}, weights, schema).plain
    if not isinstance(whole, Table):
        raise InputError(
            "Numbers of clusters are compared on a table in memory.", hint="Use stream.load()."
        )
    names, _ = _for_method(whole, columns_of(whole, columns, aside), method, columns)
    if asked == "auto":
        method, _ = usual_method(whole, names, _set(by, distance, scale, options))
    options = renamed(method, options)
    used = whole.select(names)
    checked_rows(used.rows, None)
    rows = Task(used, method, _seed(rng), distance, scale, memory, options)
    criteria = criterion(method, by)
    if method in MIXTURES and criteria != "silhouette" and k is None:
        return mixed(rows, criteria, 10, by is not None)[0]
    ks = sizes_to_try(used.rows, k, 10, table=used)
    if k is None:
        ks = rows.within_reach(ks)
    if criteria in ("height", "eigengap", "gap"):
        return chosen(rows, criteria, ks)[0]
    return compared(rows, criteria, ks)[0]


def cut_again(groups: Clusters, labels: NDArray[np.intp], how: str) -> Clusters:
    """The same tree cut elsewhere; `how` says where."""
    begun = time.perf_counter()
    assert groups.tree is not None
    k = int(labels.max()) + 1
    reason = cut_reason(groups.tree, k, how)
    linked = groups.model
    if groups.table is None:
        part = linked.partition(labels, reason)
    else:
        if isinstance(groups.used, Table) and not linked.tied:
            refuse_same_rows(groups.used, k)
        part = partition_of(linked, labels, reason)
    seed = groups.record.seed or 0
    how = f"{groups.method} with k = {k}"
    told = tuple(n for n in groups.record.notes if n not in groups.partition.notes)
    made = _finished(
        groups.table, groups.columns, groups.method, part, how, seed, None, None, begun, told
    )
    return replace(made, nodes=groups.nodes)


def _seed(rng: Rng) -> int:
    if type(rng) is int and rng >= 0:
        return rng
    chance = generator(rng)
    return int(rng) if not isinstance(rng, np.random.Generator) else int(chance.integers(1 << 31))


def _for_method(
    table: Any, names: tuple[str, ...], method: str, asked: Any
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that a method can take, where none were asked for; and what is left out."""
    if method != "gaussian" or asked is not None:
        return names, ()
    numbers = tuple(n for n in names if not table.schema[n].is_discrete)
    states = [n for n in names if n not in numbers]
    if not numbers or not states:
        return names, ()
    told = f"a Gaussian mixture groups by numbers; only described: {shortened(states)}"
    return numbers, (f"{told} (method='latent-class' takes states too)",)


def _streamed(
    whole: Stream,
    names: tuple[str, ...],
    method: str,
    k: Any,
    seed: int,
    scale: str,
    by: str | None,
    stability: int,
    options: dict[str, Any],
    told: tuple[str, ...],
    begun: float,
) -> Clusters:
    """k-means, or a mixture, of rows that are read again for every pass."""
    if method != "k-means" and method not in MIXTURES:
        raise InputError(
            f"{method} compares every row with every other, and this table is read in parts.",
            hint="Use method='k-means', 'gaussian' or 'latent-class', or cluster a sample of it.",
        )
    if (k == "auto" and method == "k-means") or stability:
        raise InputError(
            "Choosing k and resampling need the rows in memory.",
            hint="Give k= (cr.which_k on a sample helps) and leave stability= out.",
        )
    refuse_two_choices(k, by, None)
    checked_rows(len(whole), k)
    if method in MIXTURES:
        part = partition_in_parts(whole, names, method, k, seed, options)
    else:
        from credo.train.clusters.spread import partition_stream

        part = partition_stream(whole, names, int(k), seed=seed, scale=scale, options=options)
    how = f"{method} with k = {part.k}, read batch by batch"
    return _finished(whole, names, method, part, how, seed, None, None, begun, told)


def _sizes(whole: Table | Stream | None, part: Partition) -> NDArray[Any]:
    """The weight of each group: whole numbers where the weights are."""
    if part.sizes is not None:
        return part.sizes
    weights = whole.weights if isinstance(whole, Table) else None
    sizes = np.bincount(part.labels, weights, minlength=part.k)
    fractions = weights is not None and not np.issubdtype(weights.dtype, np.integer)
    return sizes if fractions else sizes.astype(np.int64)


def _finished(
    whole: Table | Stream | None,
    names: tuple[str, ...],
    method: str,
    part: Partition,
    how: str,
    seed: int,
    found: Candidates | None,
    stability: Stability | None,
    begun: float,
    told: tuple[str, ...] = (),
) -> Clusters:
    """Labels in their order, everything else about the groups around them."""
    labels, order, sizes = canonical(part.labels, _sizes(whole, part))
    membership = part.membership
    if membership is not None:
        membership = np.ascontiguousarray(membership[:, order])
    details: dict[str, Any] = {"rows": len(labels), "columns": names}
    notes = (*part.notes, *told, *told_of_empty(sizes), *told_of_absent(whole))
    notes = tuple(dict.fromkeys(notes))
    if found is not None:
        details["candidates"] = found
    source = "" if whole is None else whole.schema.source
    record = Record(
        how, source, trace=part.trace, reason=part.reason, seconds=time.perf_counter() - begun,
        seed=seed, notes=notes, details=details,
    )  # fmt: skip
    tree = getattr(part.model, "tree", None)
    return Clusters(
        method, labels, part.k, sizes, record, names, whole, part, order, membership, tree,
        stability,
    )  # fmt: skip
