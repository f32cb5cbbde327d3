"""The number game: concepts over the whole numbers 1 … upto, learned from examples alone.

    P(examples | C) = (1 / |C|)ⁿ if all lie in C, else 0          (the size principle)

A small concept that holds every example beats a large one, more so with each example: that
is how a few positive examples are enough. The library and its prior follow Tenenbaum
(*A Bayesian framework for concept learning*, 1999) and Murphy (*Machine Learning*, 3.2):
mathematical concepts share one part of the prior, intervals the rest, in proportion to an
Erlang density of their length.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from credo.core.errors import InputError, LimitError
from credo.model.hypotheses.hypotheses import Hypotheses
from credo.model.hypotheses.likelihoods import Sampling
from credo.model.hypotheses.space import MAX_CELLS
from credo.model.values.reals import real_or_nan, shown
from credo.model.values.value import flag, whole

MAX_NUMBER = 100_000
"""The number game is played up to this number at most."""


def _upto(upto: Any) -> int:
    most = whole(upto, 1, "The largest number of the number game")
    if most > MAX_NUMBER:
        raise LimitError(
            f"The number game is played up to {MAX_NUMBER:,} at most, got {shown(upto)}."
        )
    return most


def mathematical_concepts(upto: int = 100, *, one: bool = True) -> dict[str, frozenset[int]]:
    """The named concepts over 1 … upto; those with no member there are left out.

    A power starts at k⁰ = 1, so there are seven powers of 2 up to 100, as the lecture notes
    count them (7⁻⁴); `one=False` starts at k, as Murphy does.

    >>> sorted(mathematical_concepts()["powers of 2"])
    [1, 2, 4, 8, 16, 32, 64]
    >>> len(mathematical_concepts())
    35
    """
    upto = _upto(upto)
    one = flag(one, "one")
    numbers = range(1, upto + 1)

    def powers(k: int) -> Iterable[int]:
        x = 1 if one else k
        while x <= upto:
            yield x
            x *= k

    out: dict[str, Iterable[int]] = {
        "even": range(2, upto + 1, 2),
        "odd": range(1, upto + 1, 2),
        "squares": (i * i for i in range(1, math.isqrt(upto) + 1)),
        "cubes": (i**3 for i in numbers if i**3 <= upto),
        "primes": (p for p in numbers if p > 1 and all(p % d for d in range(2, math.isqrt(p) + 1))),
    }
    for k in range(3, 13):
        out[f"multiples of {k}"] = range(k, upto + 1, k)
    for k in range(2, 11):
        out[f"powers of {k}"] = powers(k)
    for d in range(10):
        out[f"ending in {d}"] = range(d or 10, upto + 1, 10)
    out["everything"] = numbers
    concepts = {name: frozenset(members) for name, members in out.items()}
    return {name: members for name, members in concepts.items() if members}


def number_game(
    upto: int = 100,
    intervals: bool = True,
    *,
    maths: float = 2 / 3,
    scale: float = 10.0,
    one: bool = True,
    sampling: Sampling = "strong",
) -> Hypotheses:
    """The number game: mathematical concepts and all intervals over 1 … upto, with a prior.

    The concepts share the part `maths` of the prior evenly, the intervals [a, b] the rest in
    proportion to the Erlang density l·exp(−l / scale) of their length l. Concepts with the same
    members are one hypothesis: the names are joined with ' = ' and the priors added, so up to 100
    there are 5,083, as Tenenbaum counts them.

    >>> h = number_game()
    >>> len(h), h.names[0], [n for n in h.names if " = " in n]
    (5083, 'even', ['multiples of 10 = ending in 0', 'everything = [1, 100]'])
    >>> h = h.observe([16, 8, 2, 64])
    >>> h.choose(), round(h.posterior["powers of 2"], 4)
    ('powers of 2', 0.9996)
    >>> round(h.generalise()[32], 4), round(h.generalise()[10], 6)
    (1.0, 0.000409)
    """
    upto = _upto(upto)
    if not 0 <= real_or_nan(maths) <= 1:
        raise InputError(f"The part of the mathematical concepts is 0 to 1, got {shown(maths)}.")
    if not 0 < real_or_nan(scale) < math.inf:
        raise InputError(f"The scale of the intervals must be above 0, got {shown(scale)}.")
    maths, scale = real_or_nan(maths), real_or_nan(scale)
    intervals = flag(intervals, "intervals")
    cells = upto * upto * (upto + 1) // 2
    if intervals and cells > MAX_CELLS:
        raise LimitError(
            f"All intervals up to {upto:,} would take {cells:,} cells; "
            f"at most {MAX_CELLS:,} are allowed.",
            hint="Use intervals=False, or a smaller number.",
        )
    concepts = mathematical_concepts(upto, one=one)
    share = (maths if intervals else 1.0) / len(concepts)
    pairs: list[tuple[str, Any, float]] = [(n, members, share) for n, members in concepts.items()]
    if intervals:
        pairs += _intervals(upto, 1.0 - maths, scale)
    return _merged(pairs, sampling)


def _intervals(upto: int, share: float, scale: float) -> list[tuple[str, Any, float]]:
    lengths = range(1, upto + 1)
    # the exponent counts from length 1, so a small scale does not underflow to no prior at all
    density = {n: n * math.exp(-(n - 1) / scale) for n in lengths}
    total = math.fsum(density[n] * (upto - n + 1) for n in lengths)
    return [
        (f"[{a}, {b}]", range(a, b + 1), share * density[b - a + 1] / total)
        for a in lengths
        for b in range(a, upto + 1)
    ]


def _merged(pairs: list[tuple[str, Any, float]], sampling: Sampling) -> Hypotheses:
    """Concepts with the same members become one."""
    names: dict[frozenset[int], list[str]] = {}
    prior: dict[frozenset[int], float] = {}
    for name, members, p in pairs:
        key = frozenset(members)
        names.setdefault(key, []).append(name)
        prior[key] = prior.get(key, 0.0) + p
    return Hypotheses(
        {" = ".join(names[key]): key for key in names},
        prior=[prior[key] for key in names],
        sampling=sampling,
    )
