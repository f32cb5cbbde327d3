"""Random tables for property tests: discrete and continuous columns, gaps, weights."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import credo as cr
from credo.stats.block import Block


@st.composite
def blocks(draw, *, min_rows=0, max_rows=60, continuous=True, weights=(None, "int", "float")):
    """A block with 1–4 discrete and 0–2 continuous variables; some cells missing."""
    arities = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    reals = draw(st.integers(0, 2)) if continuous else 0
    n = draw(st.integers(min_rows, max_rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gaps = draw(st.sampled_from([0.0, 0.2, 1.0]))
    variables, arrays = [], []
    for i, k in enumerate(arities):
        variables.append(cr.Variable(f"d{i}", "discrete", tuple(f"s{j}" for j in range(k))))
        codes = rng.integers(0, k, n)
        codes[rng.random(n) < gaps * (i % 2)] = k
        arrays.append(codes.astype(np.uint8))
    shift = draw(st.sampled_from([0.0, 1e6]))
    for i in range(reals):
        variables.append(cr.Variable(f"c{i}", "continuous"))
        x = rng.normal(size=n) * 10.0**i + shift
        x[rng.random(n) < gaps * 0.5] = np.nan
        arrays.append(x)
    kind = draw(st.sampled_from(weights))
    w = None
    if kind == "int":
        w = rng.integers(1, 5, n)
    elif kind == "float":
        w = rng.random(n) + 0.1
    return Block(cr.Schema(tuple(variables)), tuple(arrays), w)


def part(block: Block, rows) -> Block:
    weights = None if block.weights is None else block.weights[rows]
    return Block(block.schema, tuple(a[rows] for a in block.arrays), weights)


def families_of(block: Block, rng: np.random.Generator, most: int = 6):
    """Some families of the block's variables."""
    names = list(block.schema.names)
    out = []
    for _ in range(most):
        size = int(rng.integers(1, len(names) + 1))
        chosen = [str(n) for n in rng.permutation(names)[:size]]
        out.append((chosen[0], chosen[1:]))
    return out
