"""Clusters: against the libraries they stand on, and spectra and trees of many rows.

k-means is scikit-learn's, complete, average and ward link are fastcluster's, and single link is a
minimum spanning tree of our own: the question is whether the whole call, with
the table, its scaling and the answer around them, takes longer than a library's bare work. Spectral
clustering stands on landmarks where scikit-learn decomposes the affinity
of all pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task, installed

K = 8


def run(bench: Bench) -> None:
    for rows in bench.sizes(10_000, 100_000, 1_000_000, quick=[10_000, 100_000]):
        k_means(bench, rows)
    for rows in (100, 1_000):
        k_means(bench, rows)
    for rows in (100, 500, 2_000) if bench.quick else (100, 500, 1_000, 2_000, 5_000, 10_000):
        for width in (8,) if bench.quick or rows > 2_000 else (2, 8, 16):
            linkage(bench, rows, width)
    single(bench, 20_000 if bench.quick else 100_000, 8)
    single(bench, 100_000 if bench.quick else 1_000_000, 2)
    mixed(bench, 2_000 if bench.quick else 5_000)
    for rows in (3_000,) if bench.quick else (3_000, 20_000):
        spectral(bench, rows)


def blobs(rows: int, width: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    centres = 6 * rng.normal(size=(K, width))
    return centres[rng.integers(0, K, rows)] + rng.normal(size=(rows, width))


def table(x: Any) -> Any:
    import credo as cr

    return cr.read(x, columns=[f"x{j}" for j in range(x.shape[1])])


# --- k-means, from the same starts ---------------------------------------------------------------


def k_means(bench: Bench, rows: int) -> None:
    import credo as cr

    x = blobs(rows, 16)
    start = x[np.random.default_rng(1).choice(rows, K, replace=False)]
    seed = int(np.random.default_rng(0).integers(1 << 31))  # what credo makes of rng=0

    def peer(x: Any, _: Any, **how: Any) -> Any:
        from sklearn.cluster import KMeans

        return KMeans(K, **how).fit(x).inertia_

    for title, ours, theirs in (
        ("one start", {"start": start}, {"init": start, "n_init": 1}),
        ("ten starts", {"rng": 0}, {"n_init": 10, "random_state": seed}),
    ):
        entries = [
            Entry(
                "credo cluster",
                lambda t, _, o=ours: cr.cluster(t, k=K, scale="none", **o).partition.quality,
                setup=lambda: table(x),
                answer=lambda q, _: [np.array(q["within"])],
                threads=2,
                steady=rows <= 1_000,
            ),
            Entry(
                "scikit-learn KMeans",
                lambda x, _, o=theirs: peer(x, _, **o),
                "scikit-learn",
                setup=lambda: x,
                answer=lambda w, _: [np.array(w)],
                threads=2,
                steady=rows <= 1_000,
            ),
        ]
        bench.compare(Task(f"k-means, {title}, {rows:,} × 16, k = {K}", entries, tolerance=1e-9))


# --- trees --------------------------------------------------------------------------------------


def linkage(bench: Bench, rows: int, width: int) -> None:
    import fastcluster
    from scipy.cluster import hierarchy

    import credo as cr

    x = blobs(rows, width)

    def alone(x: Any, method: str) -> Any:
        if method == "ward":
            return fastcluster.linkage_vector(x, method)
        return fastcluster.linkage(x, method)

    def cut(x: Any, method: str) -> Any:
        tree = alone(x, method)
        hierarchy.fcluster(tree, K, "maxclust")
        return tree

    for method in ("complete", "average", "ward"):
        bench.compare(
            Task(
                f"{method} link, {rows:,} × {width}",
                [
                    Entry(
                        "credo cluster",
                        lambda t, _, m=method: cr.cluster(t, m, k=K, scale="none").tree.heights,
                        setup=lambda: table(x),
                        answer=lambda h, _: [h],
                        steady=True,
                    ),
                    Entry(
                        "fastcluster, the tree alone",
                        lambda x, _, m=method: alone(x, m),
                        setup=lambda: x,
                        answer=lambda z, _: [z[:, 2]],
                        steady=True,
                    ),
                    Entry(
                        "fastcluster, and SciPy's cut of its tree",
                        lambda x, _, m=method: cut(x, m),
                        setup=lambda: x,
                        answer=lambda z, _: [z[:, 2]],
                        steady=True,
                    ),
                    Entry(
                        "SciPy",
                        lambda x, _, m=method: hierarchy.linkage(x, m),
                        "scipy",
                        setup=lambda: x,
                        answer=lambda z, _: [z[:, 2]],
                        steady=True,
                    ),
                ],
                tolerance=1e-7,
            )
        )


def single(bench: Bench, rows: int, width: int) -> None:
    import fastcluster

    import credo as cr

    x = blobs(rows, width)
    entries = [
        Entry(
            "credo cluster",
            lambda t, _: cr.cluster(t, "single", k=K, scale="none").tree.heights,
            setup=lambda: table(x),
            answer=lambda h, _: [np.sort(h)],
            threads=2,
        ),
        Entry(
            "quitefastmst, the spanning tree alone",
            lambda x, _: spanning(x)[0],
            "quitefastmst",
            setup=lambda: x,
            answer=lambda d, _: [np.sort(d)],
            threads=2,
        ),
    ]
    if installed("genieclust"):
        entries.append(
            Entry(
                "genieclust, without its correction for unequal sizes",
                lambda x, _: genie(x),
                "genieclust",
                setup=lambda: x,
                answer=lambda d, _: [np.sort(d)],
                threads=2,
            )
        )
    if installed("scikit-learn"):
        entries.append(
            Entry(
                "quitefastmst, and the tree of merges by scikit-learn",
                lambda x, _: merged(x)[:, 2],
                "quitefastmst",
                setup=lambda: x,
                answer=lambda d, _: [np.sort(d)],
                threads=2,
            )
        )
    if rows <= 20_000:
        entries.append(
            Entry(
                "fastcluster linkage_vector",
                lambda x, _: fastcluster.linkage_vector(x, "single")[:, 2],
                setup=lambda: x,
                answer=lambda d, _: [np.sort(d)],
            )
        )
    bench.compare(Task(f"single link, {rows:,} × {width}", entries, tolerance=1e-7))


def spanning(x: Any) -> Any:
    """The lengths and edges of quitefastmst's least spanning tree."""
    import quitefastmst

    return quitefastmst.mst_euclid(x)


def genie(x: Any) -> Any:
    """Single link of genieclust, which stands on the same spanning tree."""
    from genieclust import Genie

    return Genie(n_clusters=K, gini_threshold=1.0).fit(x).distances_


def merged(x: Any) -> Any:
    """Single link as one would make it of public parts: without cutting the tree."""
    from sklearn.cluster import _hierarchical_fast

    lengths, edges = spanning(x)
    return _hierarchical_fast._single_linkage_label(np.column_stack([edges, lengths]))


def mixed(bench: Bench, rows: int) -> None:
    """Gower's distances of all pairs: the kernel against NumPy, column by column."""
    from credo import _core

    rng = np.random.default_rng(0)
    reals = [rng.random(rows) for _ in range(8)]
    for column in reals:
        column[rng.random(rows) < 0.1] = np.nan
    codes = [rng.integers(-1, 4, rows).astype(np.int32) for _ in range(8)]

    def plain(_: Any, __: Any) -> Any:
        above = np.triu_indices(rows, 1)
        total, seen = np.zeros((rows, rows)), np.zeros((rows, rows))
        for c in reals:
            d = np.abs(c[:, None] - c)
            there = ~np.isnan(d)
            total += np.where(there, d, 0.0)
            seen += there
        for c in codes:
            there = (c[:, None] >= 0) & (c >= 0)
            total += there & (c[:, None] != c)
            seen += there
        return (total / seen)[above]

    bench.compare(
        Task(
            f"Gower's distances of all pairs, {rows:,} rows, 8 numbers and 8 states, gaps",
            [
                Entry("credo", lambda _, __: _core.gower_pairs(reals, codes, 1.0, 1)[0],
                      answer=lambda d, _: [d]),
                Entry("NumPy", plain, "numpy", answer=lambda d, _: [d]),
            ],
            tolerance=1e-12,
        )
    )  # fmt: skip


# --- spectra ------------------------------------------------------------------------------------


def spectral(bench: Bench, rows: int) -> None:
    """The same affinity exp(−γ d²); both find the groups that are there."""
    import credo as cr

    x = blobs(rows, 8)
    gamma = 0.02

    def sorted_sizes(labels: Any) -> Any:
        return [np.sort(np.bincount(labels)).astype(float)]

    def peer(x: Any, _: Any) -> Any:
        from sklearn.cluster import SpectralClustering

        return SpectralClustering(K, gamma=gamma, random_state=0).fit_predict(x)

    peers = [
        Entry(
            "scikit-learn SpectralClustering",
            peer,
            "scikit-learn",
            setup=lambda: x,
            answer=lambda labels, _: sorted_sizes(labels),
            threads=2,
        )
    ]
    bench.compare(
        Task(
            f"spectral clustering, exp(−γ d²), {rows:,} × 8, k = {K}",
            [
                Entry(
                    "credo cluster, 500 landmarks",
                    lambda t, _: (
                        cr.cluster(
                            t,
                            "spectral",
                            k=K,
                            affinity="rbf",
                            gamma=gamma,
                            landmarks=500,
                            scale="none",
                        ).labels
                    ),
                    setup=lambda: table(x),
                    answer=lambda labels, _: sorted_sizes(labels),
                    threads=2,
                ),
                Entry(
                    "credo cluster, nearest neighbours",
                    lambda t, _: cr.cluster(t, "spectral", k=K, scale="none").labels,
                    setup=lambda: table(x),
                    answer=lambda labels, _: sorted_sizes(labels),
                    threads=2,
                ),
                *(peers if rows <= 10_000 else ()),  # beyond, it takes minutes and gigabytes
            ],
            tolerance=0.02,
        )
    )
