"""Eigenvectors of an affinity: those that tell where a graph is weakest.

    W_ij = affinity of two nodes,  d_i = Σ_j c_j W_ij,  D^−½ W D^−½ v = μ v

A node may stand for c copies of itself. Eigenvectors are the same on copies, so that the problem of
all copies is that of the nodes alone: √c_i c_j W_ij / √d_i d_j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError

__all__ = ["eigen"]

Floats = NDArray[np.float64]

_SMALL = 1_000  # rows up to which a sparse affinity is decomposed as a dense one
_SETTLED = 1e-5  # how far eigenvalues of larger ones may still be off, relatively


def eigen(
    affinity: Any, r: int, seed: int, flat: bool = False, copies: Floats | None = None
) -> tuple[Floats, Floats]:
    """The r largest eigenvalues of D^−½ W D^−½, and the vectors over √d; W sparse or dense.

    Every node has a tie, if only to itself. The first vectors are known: √d on each piece of the
    graph, with the eigenvalue 1. The others are found beside them. `flat` says that the graph lies
    in at most three dimensions, where a factorisation of it stays sparse. Each vector's largest
    entry is positive.
    """
    from scipy import sparse
    from scipy.linalg import eigh

    n = affinity.shape[0]
    many = np.ones(n) if copies is None else copies
    degree = np.asarray(affinity @ many).ravel()
    root = np.sqrt(many * degree)
    half = many / root
    if sparse.issparse(affinity):
        both = sparse.diags_array(half)
        matrix = (both @ affinity @ both).tocsr()
    else:
        matrix = affinity * half * half[:, None]
    if n <= _SMALL or r >= n - 1 or not sparse.issparse(matrix):
        whole = matrix.toarray() if sparse.issparse(matrix) else matrix
        values, vectors = eigh(whole, subset_by_index=[max(n - r, 0), n - 1])
    else:
        values, vectors = _sparse_eigen(matrix, root, r, seed, flat)
    order = np.argsort(-values, kind="stable")
    vectors = vectors[:, order] / root[:, None]
    sign = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])])
    return values[order], vectors * np.where(sign == 0, 1.0, sign)


def _sparse_eigen(
    matrix: Any, root: Floats, r: int, seed: int, flat: bool
) -> tuple[Floats, Floats]:
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = len(root)
    start = np.random.default_rng(seed).uniform(-1, 1, n)
    if flat:
        laplacian = (sparse.eye_array(n) - matrix).tocsc()
        values, vectors = eigsh(laplacian, r, sigma=-1e-5, which="LM", v0=start)
        return 1.0 - values, vectors
    count, piece = connected_components(matrix, directed=False)
    sizes = np.bincount(piece)
    largest = np.argsort(-sizes, kind="stable")[:r]
    rank = np.full(count, -1)
    rank[largest] = np.arange(len(largest))
    known = np.zeros((n, len(largest)))
    inside = rank[piece] >= 0
    known[np.flatnonzero(inside), rank[piece[inside]]] = root[inside]
    known /= np.sqrt((known**2).sum(axis=0))
    ones = np.ones(len(largest))
    left = r - len(largest)
    if left == 0:
        return ones, known
    rest = LinearOperator(
        (n, n), matvec=lambda x: matrix @ x - known @ (known.T @ x), dtype=np.float64
    )
    try:
        values, vectors = eigsh(
            rest, left, which="LA", v0=start, ncv=min(n, max(4 * left, 40)), tol=_SETTLED
        )
    except ArpackNoConvergence:
        raise InputError(
            "The eigenvectors of the affinity did not settle.",
            hint="Use more neighbours=, or affinity='rbf'.",
        ) from None
    return np.concatenate([ones, values]), np.concatenate([known, vectors], axis=1)
