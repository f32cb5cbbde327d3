"""Noisy-MAX: a table told by one column of numbers for each state of each parent, and a leak.

Each parent on its own would bring the child to some state, Y_i ~ column of the parent's state, and
so would what is not modelled, Y_0 ~ leak; the child is the strongest of them. With states from the
strongest to the weakest,

    P(Y weaker or equal to y | x) = P(Y_0 ≤ y) Π_i P(Y_i ≤ y | x_i)

(Díez 1993, the `parameters` of GeNIe). `strengths` lists each parent's states in the order of the
columns. The parameters are kept in the network's record, so that they can be written back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credo.formats.reading import Reading
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network

Floats = NDArray[np.float64]


def read(
    name: str, strengths: Sequence[str], parts: Sequence[str], line: int, reading: Reading
) -> None:
    """The table of a noisy-MAX node, and its parameters for the record."""
    family, k = reading.families[name], len(reading.states[name])
    arities = [len(reading.states[p]) for p in family.parents]
    natural = [str(i) for n in arities for i in range(n)]
    order = list(strengths) or natural
    at = 0
    for parent, n in zip(family.parents, arities, strict=True):
        if sorted(order[at : at + n]) != sorted(natural[at : at + n]):
            raise reading.error(
                line, f"The strengths of {name!r} must name each of the {n} states of {parent!r}."
            )
        at += n
    if len(order) != at or len(parts) != (at + 1) * k:
        raise reading.error(
            line,
            f"The noisy-MAX node {name!r} needs {at} strengths and {(at + 1) * k} parameters, "
            f"got {len(order)} and {len(parts)}.",
        )
    columns = reading.rows(
        name,
        reading.numbers(parts, line),
        lambda row: line,
        lambda row: parts[row * k : (row + 1) * k],
    )
    numbers = [int(s) for s in order]
    family.values = expand(columns, numbers, arities)
    reading.noisy[name] = {"strengths": numbers, "parameters": columns.reshape(-1).tolist()}


def expand(columns: Floats, strengths: Sequence[int], arities: Sequence[int]) -> Floats:
    """The whole table, the child's axis last.

    >>> expand(np.array([[0.9, 0.1], [0, 1], [0.2, 0.8]]), [0, 1], [2]).round(3).tolist()
    [[0.92, 0.08], [0.2, 0.8]]
    """
    table, at = columns[-1], 0
    for n in arities:
        own = np.empty_like(columns[:n])
        own[list(strengths[at : at + n])] = columns[at : at + n]
        table = _stronger(table[..., None, :], own)
        at += n
    return np.asarray(table)


def _stronger(a: Floats, b: Floats) -> Floats:
    """The distribution of the stronger of two: sums of products, so that nothing cancels."""
    below = np.cumsum(b[..., ::-1], axis=-1)[..., ::-1]
    weaker = np.zeros_like(a)
    weaker[..., :-1] = np.cumsum(a[..., :0:-1], axis=-1)[..., ::-1]
    return a * below + weaker * b


def parameters(net: Network, cpt: Cpt) -> dict[str, Sequence[float]] | None:
    """The strengths and parameters that were read for a table, if it still is what they say."""
    details = net.record.details if net.record is not None else {}
    said = (details.get("noisy-max") or {}).get(cpt.name)
    if said is None:
        return None
    arities = [p.arity for p in cpt.parents]
    try:
        columns = np.array(said["parameters"], dtype=np.float64).reshape(-1, cpt.child.arity)
        strengths = [int(s) for s in said["strengths"]]
        same = expand(columns, strengths, arities).shape == cpt.values.shape
    except (KeyError, TypeError, ValueError, IndexError):  # a record that another program wrote
        return None
    if not same or len(columns) != sum(arities) + 1 or len(strengths) != sum(arities):
        return None
    if not np.allclose(expand(columns, strengths, arities), cpt.values, rtol=0, atol=1e-12):
        return None
    return {"strengths": strengths, "parameters": columns.reshape(-1).tolist()}
