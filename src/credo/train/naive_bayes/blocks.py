"""Blocks of statistics to blocks of features, a few passes for all of them.

The equations are those of `credo.train.naive_bayes.fit`; one test holds the two to each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.model.naive_bayes.blocks import FeatureBlock, NormalBlock, StateBlock
from credo.stats.by_class import Block
from credo.stats.class_blocks import Spreads, StateTables
from credo.train.naive_bayes.notes import Notes, SpreadNotes, StateNotes
from credo.train.naive_bayes.options import Options

__all__ = ["feature_block", "log_shares", "normal_block"]

Floats = NDArray[np.float64]


def feature_block(
    block: Block, options: Options, classes: Sequence[Any]
) -> tuple[FeatureBlock, Notes]:
    """The features of a block, and what was noticed."""
    if isinstance(block, Spreads):
        return normal_block(block, options, classes)
    assert isinstance(block, StateTables)
    return _state_block(block, options)


def normal_block(
    block: Spreads, options: Options, classes: Sequence[Any]
) -> tuple[NormalBlock, SpreadNotes]:
    """Gaussian features, each alone."""
    n, scatter = block.n, block.scatter
    sample, prior = options.variance == "sample", options.prior_rows(block.names)
    mean, variance, floored, idle = _core.naive_gaussians(
        n, block.mean, scatter, options.variance_floor, sample, prior
    )
    mean = block.mean if mean is None else mean  # every class has rows
    if options.variance == "shrunk":
        scatter = variance * n
    found = NormalBlock(block.names, mean, variance, n, scatter, floored, idle)
    return found, SpreadNotes(block.names, tuple(classes), n, floored, idle)


def log_shares(n: Floats, smoothing: Any, states: Any) -> tuple[Floats, Floats]:
    """ln (n + l) / (N + l·J) for each state, and for one never seen; unseen classes are uniform.

    The states are the last axis of `n`; l and J are numbers, or arrays for the axes before it.
    """
    total = n.sum(axis=-1) + smoothing * states
    empty = total == 0
    each = smoothing[..., None] if isinstance(smoothing, np.ndarray) else smoothing
    with np.errstate(divide="ignore", invalid="ignore"):
        theta = np.log(n + each) - np.log(total)[..., None]
        new = np.log(smoothing) - np.log(total + smoothing)
    if empty.any():
        many = np.broadcast_to(np.asarray(states, dtype=np.float64), empty.shape)[empty]
        theta[empty] = -np.log(many)[:, None]
        new[empty] = -np.log(many + 1)
    return theta, new


def _state_block(block: StateTables, options: Options) -> tuple[StateBlock, StateNotes]:
    names, known = block.names, block.known
    count = known.sum(axis=1)
    if isinstance(options.smoothing, Mapping):
        smoothing: Any = np.array([options.smoothing_of(n) for n in names])
    else:
        smoothing = options.smoothing_of(names[0])
    if isinstance(options.min_states, Mapping):
        least: Any = np.array([options.least_of(n) for n in names])
    else:
        least = options.least_of(names[0])
    states = np.maximum(count, least).astype(np.float64)
    each = np.broadcast_to(np.asarray(smoothing, dtype=np.float64), states.shape)
    counts = np.ascontiguousarray(block.values)
    theta, new = _core.naive_log_shares(counts, np.ascontiguousarray(each), states)
    found = StateBlock(names, block.low, known, theta, counts, new, smoothing, block.above)
    alone = np.flatnonzero((count == 1) & (np.asarray(least) < 2))
    only = tuple((known[alone].argmax(axis=1) + block.low).tolist())
    return found, StateNotes(names, alone, only)
