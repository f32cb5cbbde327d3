"""Evidence far from every row of the model: its lines go on there, rows do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.predict.questions.telling import tell
from credo.stats.moments import Moments

if TYPE_CHECKING:
    from credo.model.networks.network import Network

__all__ = ["FAR", "far_evidence", "warn_far"]

FAR = 10.0
"""Standard deviations from the mean of the rows."""


def far_evidence(net: Network, given: Mapping[str, Any]) -> list[str]:
    """What is said of each number that no row is near.

    >>> import credo as cr
    >>> net = cr.fit("[age]", {"age": [21.0, 35.5, 48.0, 62.5]})
    >>> far_evidence(net, {"age": 3000.0})
    ['age=3000 (rows: mean 41.8, standard deviation 15.3)']
    """
    out = []
    for name, value in given.items():
        local = net.distributions.get(name)
        learned = getattr(local, "learned", None)
        if learned is None or not isinstance(value, float):
            continue
        if not isinstance(learned.observed, Moments):
            continue
        alone = learned.observed.marginal([name])
        mean, total = float(np.ravel(alone.mean)[0]), float(np.ravel(alone.n)[0])
        sd = float(np.sqrt(np.ravel(alone.scatter)[0] / total))
        if sd > 0 and abs(value - mean) > FAR * sd:
            out.append(f"{name}={value:.6g} (rows: mean {mean:.3g}, standard deviation {sd:.3g})")
    return out


def warn_far(net: Network, given: Mapping[str, Any]) -> None:
    """Say it where there is something to say."""
    found = far_evidence(net, given)
    if found:
        tell(
            f"Far outside of the rows that the model was learned from: {'; '.join(found)}. The "
            "answer goes along lines that no row supports."
        )
