"""ln of a rising factorial: what n more observations do to a pseudo-count.

    ln a (a + 1) … (a + n − 1) = lnΓ(a + n) − lnΓ(a)

Marginal likelihoods are made of these. Where a is large the two terms agree in most of their
digits, so that their difference has few: 10⁻⁵ of it is lost at a = 10⁹, all of it at 10¹⁵. There
Stirling's series is subtracted term by term,

    n ln a + (a + n − ½) ln(1 + n/a) − n + δ(a + n) − δ(a),   δ(x) = 1/12x − 1/360x³ + 1/1260x⁵ − …

(Abramowitz & Stegun 1964, 6.1.41), which is right to the last digits for any n ≥ 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["LARGE", "log_rising", "stirling_rest"]

LARGE = 20.0  # from here on four terms of the series have all digits


def log_rising(a: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """lnΓ(a + n) − lnΓ(a) for a > 0 and n ≥ 0, cell by cell.

    >>> float(np.exp(log_rising(3.0, 2.0)).round(12))
    12.0
    >>> float(log_rising(1e15, 1.0) - np.log(1e15))
    0.0
    """
    from scipy.special import gammaln

    a, n = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(n, np.float64))
    large = a >= LARGE
    big, few = np.where(large, a, LARGE), np.where(large, 1.0, a)
    series = (
        n * np.log(big) + (big + n - 0.5) * np.log1p(n / big) - n + stirling_rest(big + n)
    ) - stirling_rest(big)
    out: NDArray[np.float64] = np.where(large, series, gammaln(few + n) - gammaln(few))
    return out


def stirling_rest(x: Any) -> Any:
    """δ(x), what Stirling's formula leaves out of lnΓ(x), for x ≥ LARGE.

    >>> round(stirling_rest(20.0), 12)
    0.004166319692
    """
    y = 1 / (x * x)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y / 1680))) / x
