"""Between: a number that is known to lie between two ends, or on one side of one.

    2 < x < 5      x > 60      x < 60

For a continuous variable it makes no difference whether an end belongs to it; of a discrete one
with numbers as states it is the set of states from one end to the other, both included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from credo.core.errors import InputError
from credo.core.interval_states import cut_text
from credo.core.scales import Transform
from credo.model.values.reals import real_or_nan, shown


@dataclass(frozen=True, slots=True)
class Between:
    """A range of numbers; see `between`."""

    low: float
    high: float
    told: Between | None = None
    """The range as the user gave it, where this one lies on a scale."""

    def of(self, name: str) -> str:
        """What it says of a variable.

        >>> Between(2, 5).of("bili"), Between(60, float("inf")).of("age")
        ('2 < bili < 5', 'age > 60')
        """
        if self.told is not None:
            return self.told.of(name)
        low, high = cut_text(self.low), cut_text(self.high)
        if self.low == -math.inf:
            return f"{name} < {high}"
        return f"{name} > {low}" if self.high == math.inf else f"{low} < {name} < {high}"

    def __and__(self, other: Between) -> Between:
        """What lies in both."""
        both = between(max(self.low, other.low), min(self.high, other.high))
        if self.told is None or other.told is None:
            return both
        return Between(both.low, both.high, self.told & other.told)

    def on(self, scale: Transform) -> Between:
        """The same range behind a transform.

        >>> Between(1, 20).on(Transform("log")).low
        0.0
        """
        ends = np.array([self.low, self.high])
        low, high = scale.domain
        z = np.where(ends <= low, -np.inf, np.where(ends >= high, np.inf, scale.forward(ends)))
        if z[0] == z[1]:  # outside of the domain
            z = np.array([-np.inf, -1e300] if z[0] < 0 else [1e300, np.inf])
        return Between(float(z[0]), float(z[1]), self)


def between(low: float | None = None, high: float | None = None) -> Between:
    """A range, as evidence or asked about; None leaves an end open.

    >>> import credo as cr
    >>> sex, tall = cr.Variable("sex", "discrete", ("f", "m")), cr.Variable("height", "continuous")
    >>> net = cr.Network("[sex][height|sex]", [
    ...     cr.Cpt(sex, (), [0.5, 0.5]),
    ...     cr.LinearGaussian(tall, (sex,), [1.65, 1.78], [], [0.07**2, 0.08**2]),
    ... ])
    >>> net.p("sex", given={"height": cr.between(1.8, None)})
    Distribution(sex: f 0.0384858, m 0.961514)
    >>> round(net.p({"height": cr.between(1.7, 1.8)}, given={"sex": "f"}), 6)
    0.221463
    """
    ends = []
    for end, given, open_ in (("low", low, -math.inf), ("high", high, math.inf)):
        ends.append(open_ if given is None else real_or_nan(given))
        if math.isnan(ends[-1]):
            raise InputError(
                f"The {end} end of a range must be a number or None, got {shown(given)}."
            )
    if not ends[0] < ends[1]:
        raise InputError(f"No number lies above {ends[0]:g} and below {ends[1]:g}.")
    if ends == [-math.inf, math.inf]:
        raise InputError("A range needs an end: cr.between(2, 5), or cr.between(60, None).")
    return Between(ends[0], ends[1])
