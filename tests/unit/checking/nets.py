"""Small networks that the tests of checking share."""

from __future__ import annotations

import numpy as np

import credo as cr

SPRINKLER = cr.Network(
    "[rain][sprinkler|rain][wet|rain:sprinkler][late|rain]",
    {
        "rain": {"no": 0.7, "yes": 0.3},
        "sprinkler": {"no": {"no": 0.5, "yes": 0.5}, "yes": {"no": 0.9, "yes": 0.1}},
        "wet": {
            ("no", "no"): {"no": 0.95, "yes": 0.05},
            ("no", "yes"): {"no": 0.3, "yes": 0.7},
            ("yes", "no"): {"no": 0.2, "yes": 0.8},
            ("yes", "yes"): {"no": 0.05, "yes": 0.95},
        },
        "late": {"no": {"a": 0.5, "b": 0.3, "c": 0.2}, "yes": {"a": 0.2, "b": 0.3, "c": 0.5}},
    },
)


def continuous(name: str) -> cr.Variable:
    return cr.Variable(name, "continuous")


def mixed() -> cr.Network:
    """s → x → y ← s, y → z: a switch and three numbers."""
    s = cr.Variable("s", "discrete", ("off", "on"))
    x, y, z = map(continuous, "xyz")
    return cr.Network(
        "[s][x|s][y|s:x][z|y]",
        {
            "s": {"off": 0.4, "on": 0.6},
            "x": cr.LinearGaussian(x, (s,), [0.0, 2.0], np.zeros((2, 0)), [1.0, 0.5]),
            "y": cr.LinearGaussian(y, (s, x), [1.0, -1.0], [[0.5], [2.0]], [0.3, 0.8]),
            "z": cr.LinearGaussian(z, (y,), 0.5, [1.5], 0.4),
        },
    )


def gaussian() -> cr.Network:
    x, y, z = map(continuous, "xyz")
    return cr.Network(
        "[x][y|x][z|y]",
        {
            "x": cr.LinearGaussian(x, (), 1.0, [], 2.0),
            "y": cr.LinearGaussian(y, (x,), 0.0, [0.8], 0.5),
            "z": cr.LinearGaussian(z, (y,), -1.0, [-1.2], 1.0),
        },
    )


def with_gaps(table: cr.Table, share: float, seed: int) -> cr.Table:
    """The same rows with some cells gone."""
    rng = np.random.default_rng(seed)
    frame = {n: list(table[n]) for n in table.schema.names}
    for column in frame.values():
        for i in np.flatnonzero(rng.random(len(column)) < share):
            column[i] = None
    return cr.read(frame, schema=table.schema)


def kolmogorov(p) -> float:
    """The p-value of Kolmogorov's test that p-values are uniform."""
    from scipy.stats import kstest

    return float(kstest(np.asarray(p), "uniform").pvalue)
