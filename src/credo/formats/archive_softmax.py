"""Softmax families in `model.json`, from version 4 on: their coefficients and their posterior.

The arrays stand in the file in the order in which they are written here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError
from credo.core.schema import Variable
from credo.model.networks.softmax import Softmax, SoftmaxPosterior

Floats = NDArray[np.float64]

_POSTERIOR = ("mean", "covariance", "centre", "spread")


def softmax_json(local: Softmax, array: Callable[[Floats], dict[str, Any]]) -> dict[str, Any]:
    """A softmax as plain data."""
    out: dict[str, Any] = {"kind": "softmax", "ridge": local.ridge}
    out |= {what: array(getattr(local, what)) for what in ("intercept", "coefficients")}
    if local.posterior is not None:
        out["posterior"] = {what: array(getattr(local.posterior, what)) for what in _POSTERIOR}
    return out


def softmax_of(
    said: Any, family: tuple[Variable, ...], take: Callable[[Any, str], Floats], what: str
) -> Softmax:
    """The softmax that was written."""
    try:
        intercept, slopes = (take(said.get(name), what) for name in ("intercept", "coefficients"))
        posterior = None
        if said.get("posterior") is not None:
            mean, covariance, centre, spread = (
                take(said["posterior"].get(name), what) for name in _POSTERIOR
            )
            wide = sum(v.arity for v in family[:-1] if v.is_discrete) + 1 + len(centre)
            right = (family[-1].arity - 1, wide)
            if mean.shape != right or covariance.shape != (mean.size, mean.size):
                raise ValueError("the posterior does not fit")
            if not (spread > 0).all() or spread.shape != centre.shape:
                raise ValueError("the spread of a number must be above 0")
            posterior = SoftmaxPosterior(mean, covariance, centre, spread)
        ridge = float(said.get("ridge", 1.0))
        return Softmax(family[-1], family[:-1], intercept, slopes, posterior, ridge)
    except (CredoError, AttributeError, TypeError, ValueError) as error:
        raise InputError(f"{what}: its softmax cannot be read ({error}).") from None
