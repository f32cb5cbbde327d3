"""Blocks of features as the kernel reads them: tables, windows and Gaussians from whole arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.model.naive_bayes.blocks import FeatureBlock, NormalBlock, StateBlock

__all__ = ["Reading", "block_reading", "block_scorer"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the matrix of all columns is read: the windows of states, or the places of numbers."""

    windows: Any
    places: NDArray[np.int64] | None

    def inputs(self, matrix: NDArray[Any]) -> tuple[Any, Any, Any]:
        """Columns of states, their windows, and columns of numbers, for the scorer."""
        if self.windows is not None:
            return matrix, self.windows, []
        return [], [], matrix if self.places is None else (matrix, self.places)


def block_reading(block: FeatureBlock) -> Reading:
    """The windows in which the states of each feature lie; or which numbers tell anything."""
    if isinstance(block, NormalBlock):
        return Reading(None, np.flatnonzero(~block.idle) if block.idle.any() else None)
    assert isinstance(block, StateBlock)
    if block.above:
        return Reading((0, -1, None, 2), None)
    d, width = block.known.shape
    count = block.known.sum(axis=1)
    first = block.known.argmax(axis=1)
    span = width - block.known[:, ::-1].argmax(axis=1) - first
    begin = np.full(d, -1, dtype=np.int64)
    gaps = np.flatnonzero(span != count)  # states that are not next to each other
    luts = np.zeros(0, dtype=np.uint16)
    if len(gaps):
        begin[gaps] = np.arange(len(gaps)) * width
        code = np.where(block.known, block.known.cumsum(axis=1) - 1, (count + 1)[:, None])[gaps]
        shifted = np.minimum(first[gaps][:, None] + np.arange(width), width - 1)
        luts = np.take_along_axis(code, shifted, axis=1).astype(np.uint16).ravel()
    low = (first + block.low).astype(np.int64)
    return Reading((low, span.astype(np.int64), count.astype(np.int64), luts, begin), None)


def block_scorer(block: FeatureBlock, log_prior: Floats, smooth: bool) -> Any:
    """The tables of a block, in native memory."""
    k = len(log_prior)
    empty = np.zeros((0, k))
    prior = np.ascontiguousarray(log_prior)
    if isinstance(block, NormalBlock):
        mean, variance = block.mean, block.variance
        if block.idle.any():
            mean, variance = mean[~block.idle], variance[~block.idle]
        none = np.zeros(0, dtype=np.int64)
        return _core.NaiveScorer(prior, none, [], empty, mean, variance)
    assert isinstance(block, StateBlock)
    d, width = block.known.shape
    rows = np.zeros((d, width + 2, k))  # the states, missing (nothing), not seen
    rows[:, :width] = block.log_theta.transpose(0, 2, 1)
    if smooth:
        rows[:, width + 1] = block.unseen
    if block.known.all():
        many, tables = np.full(d, width + 2), rows.reshape(-1, k)
    else:
        used = np.ones((d, width + 2), dtype=bool)
        used[:, :width] = block.known
        many, tables = used.sum(axis=1), rows[used]
    return _core.NaiveScorer(prior, many, [], tables, empty, empty)
