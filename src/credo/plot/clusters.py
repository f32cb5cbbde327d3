"""Pictures of clusters: rows on two principal axes, the tree with its cut, profiles, a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.data import Stream, Table
from credo.model.values.reals import shown
from credo.model.values.value import whole
from credo.plot.axes import axes, legend, name_columns, name_rows, plain, words

_DOTS = 5_000  # dots of a scatter, rows of a heat map
_CELLS, _LEAST = 1 << 22, 500  # of rows with very many coordinates fewer are drawn, but so many
_LEAVES = 60
_LEGIBLE = 150  # leaves whose names do not lie on each other
_DEEP = 500  # merges within each other that SciPy, which recurses, can draw from any caller
_MANY = 20  # clusters that a legend names, and that have bars; of more, a scale of colours
_BITS = "bits: relative entropy against the whole table"
_NAMED = 40  # columns of a heat map, at most: of more, every second, third, …


def _colours(k: int) -> Any:
    import matplotlib as mpl

    name = "tab10" if k <= 10 else "tab20" if k <= _MANY else "turbo"
    map_ = mpl.colormaps[name]
    return [map_(i if k <= _MANY else i / max(k - 1, 1)) for i in range(k)]


def _name_clusters(ax: Any, k: int) -> None:
    """Which colour is which cluster: a legend, or a scale of colours for very many."""
    if k <= _MANY:
        legend(ax)
        return
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(0, k - 1), "turbo")
    ax.figure.colorbar(scale, ax=ax, label="cluster")


def _points(groups: Any) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Rows (a draw of many) as points, gaps at the mean; and their clusters.

    Of a stream, the rows are drawn from the sample that its clusters started from.
    """
    table = getattr(groups, "used", None)
    sample = getattr(getattr(groups, "partition", None), "sample", None)
    drawn = isinstance(table, Stream)
    if isinstance(table, Stream) and isinstance(sample, Table):
        table = sample.select(groups.columns)
    if not isinstance(table, Table):
        raise InputError(f"There are no rows in memory to draw in {shown(groups)}.")
    rows = np.arange(table.rows)
    most = max(min(_DOTS, _CELLS // groups.space.width), _LEAST)
    if table.rows > most:
        rows = np.sort(np.random.default_rng(0).choice(table.rows, most, replace=False))
    some = table.take(rows)
    points = groups.space.points(some)
    seen = ~np.isnan(points)
    mean = np.where(seen, points, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return np.where(seen, points, mean), groups.assign(some) if drawn else groups.labels[rows]


def scatter(groups: Any, ax: Any = None, **dots: Any) -> Any:
    """The rows on the two axes along which they vary most, coloured by cluster.

    Of many rows 5,000 are drawn, fewer where a column has thousands of states; of a stream they
    come from the sample that it started from.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> groups = cr.cluster({"x": [0.0, 0.1, 5.0, 5.2], "y": [1.0, 1.1, 3.0, 3.3]}, k=2)
    >>> cr.plot.scatter(groups).get_title()
    'k-means: 2 clusters in 4 rows of dict of columns'
    """
    points, labels = _points(groups)
    ax = axes(ax)
    centred = points - points.mean(axis=0)
    _, s, axes_ = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(points), 2))
    flat[:, : min(2, len(axes_))] = centred @ axes_[:2].T
    share = s**2 / max(float((s**2).sum()), 1e-300)
    for c, colour in enumerate(_colours(groups.k)):
        hit = labels == c
        style = {"s": 14, "alpha": 0.8, "linewidths": 0} | dots
        try:
            ax.scatter(flat[hit, 0], flat[hit, 1], color=colour, label=f"cluster {c}", **style)
        except (AttributeError, TypeError, ValueError) as error:
            raise InputError(
                f"matplotlib cannot draw dots with {', '.join(dots)}: {error}.",
                hint="Options are those of Axes.scatter, such as s=20 or alpha=0.5.",
            ) from None
    for i, name in enumerate(("first", "second")):
        part = f" ({100 * share[i]:.0f} % of the variance)" if i < len(share) else ""
        words(ax, **{"xy"[i]: f"{name} principal axis{part}"})
    words(ax, title=groups.title, fontsize="small")
    _name_clusters(ax, groups.k)
    return ax


def dendrogram(groups: Any, ax: Any = None, leaves: int = _LEAVES) -> Any:
    """The tree of merges up to its last `leaves` clusters (2 or more), and where it is cut.

    Branches have the colours that their clusters have in `scatter`.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> groups = cr.cluster({"x": [0.0, 0.1, 5.0, 5.2]}, "average", k=2)
    >>> cr.plot.dendrogram(groups).get_ylabel()
    'height of the merge'
    """
    tree = getattr(groups, "tree", groups)
    links = getattr(tree, "links", None)
    if links is None:
        raise InputError(f"There is no tree to draw in {shown(groups)}.")
    leaves = whole(leaves, 2, "leaves")
    deep = _depth(links, leaves)
    if deep > _DEEP:
        raise InputError(
            f"With leaves={leaves:,} the tree has {deep:,} merges within each other, and at most "
            f"{_DEEP:,} can be drawn.",
            hint="Ask for fewer, such as leaves=200.",
        )
    from matplotlib.colors import to_hex
    from scipy.cluster.hierarchy import dendrogram as draw

    ax = axes(ax)
    k = int(getattr(groups, "k", tree.gap_k()))
    labels = groups.labels if hasattr(groups, "labels") else tree.cut(k=k)
    merged, colours = _merged(links, labels), [to_hex(c) for c in _colours(k)]
    cut = tree.height_of(k)
    names = [str(n) for n in getattr(groups, "nodes", ()) or _row_numbers(groups, tree.rows)]
    draw(
        links,
        p=leaves,
        truncate_mode="lastp" if tree.rows > leaves else None,
        link_color_func=lambda node: colours[merged[node]] if merged[node] >= 0 else "grey",
        ax=ax,
        labels=names,
        leaf_rotation=90,
    )
    bare = min(leaves, tree.rows) > _LEGIBLE
    if bare:
        ax.set_xticks([])
    for text in ax.get_xticklabels():
        text.set(**plain(text.get_text()))
    ax.axhline(cut, color="black", linestyle="--", linewidth=0.8)
    ax.annotate(
        f"k = {k}", (0.99, cut), xycoords=("axes fraction", "data"), ha="right", va="bottom"
    )
    words(ax, y="height of the merge")
    many = tree.rows > leaves
    words(
        ax,
        x="rows (in brackets: how many are in a branch)" if many and not bare else "",
        title=str(tree),
        fontsize="small",
    )
    return ax


def _row_numbers(groups: Any, rows: int) -> Sequence[int]:
    """Where each row stands in its table, from 1."""
    return getattr(groups, "row_numbers", None) or range(1, rows + 1)


def _depth(links: NDArray[np.float64], leaves: int) -> int:
    """How many merges of the last `leaves` clusters lie within each other."""
    deep: dict[int, int] = {}
    first = max(len(links) - leaves + 1, 0)
    for i, (a, b) in enumerate(links[first:, :2].astype(np.int64).tolist(), len(links) + 1 + first):
        deep[i] = 1 + max(deep.get(a, 0), deep.get(b, 0))
    return max(deep.values())


def _merged(links: NDArray[np.float64], labels: NDArray[Any]) -> list[int]:
    """The cluster of each row and each merge; −1 for a merge of several clusters."""
    out: list[int] = labels.tolist()
    for a, b in links[:, :2].astype(np.int64).tolist():
        out.append(out[a] if out[a] == out[b] else -1)
    return out


def profile_bars(groups: Any, ax: Any = None, most: int = 10) -> Any:
    """How telling the columns are of each cluster, in bits; the `most` telling columns first.

    Of more than 20 clusters bars would be lines: colours stand for the bits instead.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> groups = cr.cluster({"x": [0.0, 0.1, 5.0, 5.2], "y": list("aabb")}, k=2)
    >>> cr.plot.profile_bars(groups).get_xlabel()
    'bits: relative entropy against the whole table'
    """
    most = whole(most, 1, "most")
    profiles = groups.profiles
    ax = axes(ax)
    bits = profiles.bits
    order = np.argsort(-bits.max(axis=0), kind="stable")[:most]
    names = [profiles.columns[i] for i in order]
    if groups.k > _MANY:
        shade = {"cmap": "Blues", "vmin": 0.0, "aspect": "auto", "interpolation": "nearest"}
        image = ax.imshow(bits[:, order].T, **shade)
        name_rows(ax, names, turned=False)
        words(ax, x="cluster", title=groups.title, fontsize="small")
        ax.figure.colorbar(image, ax=ax, label=_BITS)
        return ax
    height = 0.8 / groups.k
    for c, colour in enumerate(_colours(groups.k)):
        at = np.arange(len(order)) + (c - (groups.k - 1) / 2) * height
        ax.barh(at, bits[c, order], height=height, color=colour, label=f"cluster {c}")
    name_rows(ax, names)
    words(ax, x=_BITS, title=groups.title, fontsize="small")
    legend(ax)
    return ax


def heat_map(groups: Any, ax: Any = None) -> Any:
    """The rows sorted by cluster: each column from its mean, in standard deviations, as colour.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> groups = cr.cluster({"x": [0.0, 0.1, 5.0, 5.2], "y": [1.0, 1.1, 3.0, 3.3]}, k=2)
    >>> cr.plot.heat_map(groups).get_ylabel()
    'rows, by cluster'
    """
    points, labels = _points(groups)
    ax = axes(ax)
    names = [
        f"{a.variable.name}={s}" if a.variable.is_discrete else a.variable.name
        for a in groups.space.axes
        for s in (a.variable.states if a.variable.is_discrete else (None,))
    ]
    order = np.argsort(labels, kind="stable")
    spread = points.std(axis=0)
    z = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    image = ax.imshow(
        z[order], aspect="auto", cmap="coolwarm", vmin=-2.5, vmax=2.5, interpolation="nearest"
    )
    for border in np.flatnonzero(np.diff(labels[order])):
        ax.axhline(border + 0.5, color="black", linewidth=0.8)
    named = range(0, len(names), -(-len(names) // _NAMED))  # more would lie on each other
    name_columns(ax, [names[i] for i in named], named, rotation=90, fontsize="small")
    ax.set_yticks([])
    words(ax, y="rows, by cluster")
    ax.figure.colorbar(image, ax=ax, label="standard deviations from the mean")
    words(ax, title=groups.title, fontsize="small")
    return ax


def candidates(found: Any, ax: Any = None, name: str | None = None) -> Any:
    """What the criterion says of each number of clusters, the chosen one marked.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> import credo as cr
    >>> found = cr.which_k({"x": [0.0, 0.1, 5.0, 5.2, 9.0, 9.1]}, k=range(2, 5))
    >>> cr.plot.candidates(found).get_ylabel()
    'silhouette'
    """
    found = getattr(getattr(found, "record", None), "details", {}).get("candidates", found)
    rows = getattr(found, "rows", None)
    if not isinstance(rows, dict):
        raise InputError(f"There are no candidates to draw in {shown(found)}.")
    ax = axes(ax)
    usual = {"height": "gap in height", "eigengap": "gap to next"}
    name = usual.get(found.by, found.by) if name is None else name
    ks = [k for k in rows if name in rows[k]]
    if not ks:
        raise InputError(
            f"The candidates have no {name!r}.", hint=f"They have {', '.join(found.names)}."
        )
    values = [rows[k][name] for k in ks]
    error = [rows[k].get(f"{name} error", 0.0) for k in ks]
    if any(error):
        ax.errorbar(ks, values, yerr=error, marker="o", capsize=3)
    else:
        ax.plot(ks, values, marker="o")
    if found.k in ks:
        ax.plot([found.k], [rows[found.k][name]], marker="o", markersize=11, color="tab:orange")
    ax.set_xticks(ks)
    words(
        ax,
        x="clusters",
        y=name,
        title=f"{found.method}: k = {found.k} by {found.by}",
        fontsize="small",
    )
    return ax
