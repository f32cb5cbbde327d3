"""Choosing k: each candidate is tried, and what is known of it is kept in a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.progress import track
from credo.data import Table
from credo.train.clusters.candidates import Candidates, largest
from credo.train.clusters.distinct import different_rows
from credo.train.clusters.k_means import partition_k_means
from credo.train.clusters.linkage import LINKS, cut_reason, partition_of
from credo.train.clusters.partition import Partition
from credo.train.clusters.quality import share_explained, silhouette, squares_of
from credo.train.clusters.task import MIXTURES, Task

_USUAL = {"k-means": "silhouette", "spectral": "eigengap"}
_REFERENCES = 10
_COPIES = 100_000  # rows that are drawn for copies, at most
_NO_GAP = (
    "no k met the rule of the gap, not to be worse than the next one: k = {:,} is only the last "
    "that was tried; try more"
)


def refuse_two_choices(k: Any, by: Any, height: Any) -> None:
    """Refuse more than one of k=, by= and height=: each of them says how many clusters."""
    if k != "auto" and height is not None:
        raise InputError("A tree is cut by k= or by height=, not both.")
    if k != "auto" and by is not None:
        raise InputError("by= chooses k, and k is given.", hint="Leave one of them out.")
    if height is not None and by is not None:
        raise InputError("by= chooses k, and height= cuts the tree.", hint="Leave one of them out.")


def criterion(method: str, by: Any) -> str:
    """The criterion for a method: the usual one, or another that it allows."""
    usual = "height" if method in LINKS else "bic" if method in MIXTURES else _USUAL[method]
    allowed = {"silhouette", usual}
    allowed |= {"gap"} if method == "k-means" else set()
    allowed |= {"icl", "cheeseman-stutz"} if method in MIXTURES else set()
    if by is None or by == "auto":
        return usual
    if not isinstance(by, str) or by not in allowed:
        raise InputError(
            f"{method} chooses k by {', '.join(repr(a) for a in sorted(allowed))}, got by={by!r}."
        )
    return str(by)


def sizes_to_try(
    n: int, k: Any, k_max: int, least: int = 2, table: Table | None = None
) -> list[int]:
    """The candidates: those given, or from `least` to `k_max`, below the number of rows.

    Of a table, no more than it has different rows.
    """
    if k is None or (isinstance(k, str) and k == "auto"):
        most = min(k_max, n - 1)
        if table is not None:
            most = min(most, different_rows(table, most))
        return list(range(least, most + 1))
    if isinstance(k, int) or not isinstance(k, Iterable) or isinstance(k, str):
        raise InputError(f"k must be a range or list of numbers of clusters, got {k!r}.")
    ks = list(k)
    if not ks:
        raise InputError("k must hold at least one number of clusters, and is empty.")
    for one in ks:
        if isinstance(one, bool) or not isinstance(one, (int, np.integer)) or not 1 <= one <= n:
            raise InputError(f"Each k must be a whole number from 1 to {n:,}, got {one!r}.")
    return sorted({int(one) for one in ks})


def chosen(task: Task, by: str, ks: Sequence[int]) -> tuple[Candidates, Partition]:
    """The best candidate by the criterion, and the table of all."""
    if not ks:
        held = f"{task.table.rows:,} rows"
        if task.table.rows > 2:
            held += f", {different_rows(task.table, 3)} of them different"
        raise InputError(
            f"The table has {held}, too few to choose a number of clusters.", hint="Give k=."
        )
    if task.method in LINKS and by == "height":
        tree = task.linked.tree
        gaps = tree.gaps(max(ks))
        rows = {k: {"height": tree.height_of(k), "gap in height": gaps.get(k, 0.0)} for k in ks}
        best = largest({k: row["gap in height"] for k, row in rows.items()})
        reason = cut_reason(tree, best, f"at the largest gap up to k = {max(ks)}")
        return (
            Candidates(task.method, by, best, rows),
            partition_of(task.linked, tree.cut(k=best), reason),
        )
    if task.method == "spectral" and by == "eigengap":
        rows = task.spectrum.candidates(ks)
        best, note = task.spectrum.by_gap(rows)
        part = task.partition(best)
        if note:
            part = replace(part, notes=(*part.notes, note))
        return Candidates(task.method, by, best, rows, note), part
    if task.method == "k-means" and by == "gap":
        return _by_gap(task, ks)
    found, parts = compared(task, by, ks)
    return found, parts[found.k]


def compared(task: Task, by: str, ks: Sequence[int]) -> tuple[Candidates, dict[int, Partition]]:
    """Every candidate with its quality; the best has the largest silhouette or score."""
    parts: dict[int, Partition] = {}
    rows: dict[int, dict[str, float]] = {}
    hollow: set[int] = set()
    w = None if task.table.weights is None else task.table.weights.astype(np.float64)
    for k in track(ks, "choosing k", total=len(ks)):
        part = parts[k] = task.partition(k)
        if task.method in MIXTURES:
            row = scores_of(_candidates(part).best)
        else:
            row = dict(part.quality) | _spread(task, part, w)
        if by == "silhouette" and k < task.table.rows and len(np.unique(part.labels)) > 1:
            mean, error = silhouette(task.geometry, part.labels, k, w)
            row["silhouette"] = mean
            if error is not None:
                row["silhouette error"] = error
        rows[k] = row
        if _empty(part):
            hollow.add(k)
    full = {k: row for k, row in rows.items() if k not in hollow}
    return Candidates(task.method, by, _best(full or rows, by), rows), parts


def _empty(part: Partition) -> int:
    """How many clusters are nobody's most probable one."""
    return part.k - len(np.unique(part.labels))


def mixed(task: Task, by: str, k_max: int, asked: bool = False) -> tuple[Candidates, Partition]:
    """A mixture tries 1 to `k_max` classes by itself, no more than there are different rows.

    `asked` says that the user named the criterion, which no other may then overrule.
    If classes of the best one hold no row, the best of the smaller ones is taken.
    """
    given = task.options.get("criterion", by)
    if asked and given != by:
        raise InputError(
            f"by= and criterion= both choose k, and say {by!r} and {given!r}.",
            hint="Leave one of them out.",
        )
    options: dict[str, Any] = {"criterion": by, "max_components": k_max, **task.options}
    most = options["max_components"]
    if isinstance(most, int) and most > 1:
        options["max_components"] = different_rows(task.table, most)
    part = replace(task, options=options).partition("auto")
    rows = {c.k: scores_of(c) for c in _candidates(part).tried}
    by, notes = str(options["criterion"]), part.notes
    if options["max_components"] != most:  # no more can be tried
        notes = tuple(n for n in notes if "max_components" not in n)
    while empty := _empty(part):
        held = "class" if empty == 1 else "classes"
        told = f"k = {part.k:,} is better by {by}, but {empty:,} of its {held} would hold no row"
        part = replace(task, options=options | {"max_components": part.k - 1}).partition("auto")
        notes = (*(n for n in part.notes if "max_components" not in n), told)
    reason = f"{part.reason}; k = {part.k} by {by}".lstrip("; ")
    found = Candidates(task.method, by, part.k, rows)
    return found, replace(part, reason=reason, notes=notes)


def _candidates(part: Partition) -> Any:
    model: Any = part.model
    return model.candidates


def scores_of(candidate: Any) -> dict[str, float]:
    """What a mixture knows of one number of classes."""
    return {
        "log-likelihood": candidate.log_likelihood,
        "parameters": float(candidate.parameters),
        "bic": candidate.bic,
        "icl": candidate.icl,
        "cheeseman-stutz": candidate.cheeseman_stutz,
    }


def _spread(task: Task, part: Partition, w: NDArray[np.float64] | None) -> dict[str, float]:
    plain = task.method != "k-means" and task.geometry.name == "euclidean"
    space = task.geometry.space if plain else task.space
    within, total = squares_of(space, task.table, part.labels, part.k, w)
    within = part.quality.get("within", within)
    return {"within": within, "explained": share_explained(within, total)}


def _best(rows: dict[int, dict[str, float]], by: str) -> int:
    scored = {k: row[by] for k, row in rows.items() if by in row}
    if not scored:
        tried = " or ".join(f"k = {k:,}" for k in rows) or "no k"
        raise InputError(
            f"There is no {by} to choose by for {tried}.",
            hint="It needs 2 clusters or more, and fewer than there are rows.",
        )
    return largest(scored)


def _reference(table: Table) -> tuple[int, float]:
    """How many rows are drawn to compare with, and what each weighs: as much as the table in all.

    A whole weight stands for so many copies, so as many rows are drawn as there would be.
    """
    total = table.block.weight
    if isinstance(total, int) and total <= max(_COPIES, table.rows):
        return total, 1.0
    return table.rows, float(total) / table.rows


def _by_gap(task: Task, ks: Sequence[int]) -> tuple[Candidates, Partition]:
    """The gap statistic: ln W against that of uniform rows in the box of the data."""
    points = task.points
    if np.isnan(points).any():
        raise InputError("The gap statistic needs every cell.", hint="Use by='silhouette'.")
    wanted = sorted({1, *ks})
    chance = np.random.default_rng(task.seed)
    n = task.table.rows
    if wanted[-1] >= n:
        raise InputError(
            f"The gap statistic needs fewer clusters than rows, {n:,}, got k = {wanted[-1]:,}.",
            hint=f"Try numbers up to {n - 1:,}.",
        )
    low, high = points.min(axis=0), points.max(axis=0)
    size, each = _reference(task.table)
    boxes = [chance.uniform(low, high, (size, points.shape[1])) for _ in range(_REFERENCES)]
    parts: dict[int, Partition] = {}
    rows: dict[int, dict[str, float]] = {}
    bare = task.table.take(slice(None))
    unweighted = type(bare)(type(bare.block)(bare.schema, bare.block.arrays))
    for k in track(wanted, "choosing k", total=len(wanted)):
        part = parts[k] = task.partition(k)
        here = np.log(max(part.quality["within"], 1e-300))
        logs = [
            np.log(
                each
                * partition_k_means(
                    unweighted, k, rng=task.seed, restarts=3, space=task.space, points=box
                ).quality["within"]
            )
            for box in boxes
        ]
        rows[k] = {
            "within": part.quality["within"],
            "gap": float(np.mean(logs) - here),
            "gap error": float(np.std(logs) * np.sqrt(1 + 1 / _REFERENCES)),
        }
    best, note = wanted[-1], _NO_GAP.format(wanted[-1])
    for k, after in pairwise(wanted):
        if rows[k]["gap"] >= rows[after]["gap"] - rows[after]["gap error"]:
            best, note = k, ""
            break
    part = parts[best]
    if note:
        part = replace(part, notes=(*part.notes, note))
    return Candidates(task.method, "gap", best, rows, note), part
