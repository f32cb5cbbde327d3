"""Pictures, with matplotlib: each takes `ax` (or makes one) and returns it.

The names load when they are first used; `pip install "credo[plot]"` brings matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_WHERE = {
    "density": "distributions",
    "distribution": "distributions",
    "generalisation": "hypotheses",
    "generated": "distributions",
    "likelihood_curve": "distributions",
    "posterior_curves": "hypotheses",
    "prediction_curve": "hypotheses",
    "prior_posterior": "distributions",
}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.plot.distributions import density as density
    from credo.plot.distributions import distribution as distribution
    from credo.plot.distributions import generated as generated
    from credo.plot.distributions import likelihood_curve as likelihood_curve
    from credo.plot.distributions import prior_posterior as prior_posterior
    from credo.plot.hypotheses import generalisation as generalisation
    from credo.plot.hypotheses import posterior_curves as posterior_curves
    from credo.plot.hypotheses import prediction_curve as prediction_curve


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        from credo.errors import close_names

        near = close_names(name, _WHERE)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"credo.plot has no name {name!r}.{hint}")
    value = getattr(import_module(f"credo.plot.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_WHERE)
