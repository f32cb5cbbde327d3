"""Pictures, with matplotlib: each takes `ax` (or makes one) and returns it.

The names load when they are first used; `pip install "credo[plot]"` brings matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.lazy import lazy_names

_WHERE = {
    "candidates": "clusters",
    "dendrogram": "clusters",
    "heat_map": "clusters",
    "profile_bars": "clusters",
    "contributions": "classify",
    "density": "distributions",
    "distribution": "distributions",
    "generalisation": "hypotheses",
    "generated": "distributions",
    "intervals": "interval_lines",
    "learning_curves": "classify",
    "likelihood_curve": "distributions",
    "posterior_curves": "hypotheses",
    "prediction_curve": "hypotheses",
    "prior_posterior": "distributions",
    "reliability": "classify",
    "scatter": "clusters",
    "trace": "learning",
}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.plot.classify import contributions as contributions
    from credo.plot.classify import learning_curves as learning_curves
    from credo.plot.classify import reliability as reliability
    from credo.plot.clusters import candidates as candidates
    from credo.plot.clusters import dendrogram as dendrogram
    from credo.plot.clusters import heat_map as heat_map
    from credo.plot.clusters import profile_bars as profile_bars
    from credo.plot.clusters import scatter as scatter
    from credo.plot.distributions import density as density
    from credo.plot.distributions import distribution as distribution
    from credo.plot.distributions import generated as generated
    from credo.plot.distributions import likelihood_curve as likelihood_curve
    from credo.plot.distributions import prior_posterior as prior_posterior
    from credo.plot.hypotheses import generalisation as generalisation
    from credo.plot.hypotheses import posterior_curves as posterior_curves
    from credo.plot.hypotheses import prediction_curve as prediction_curve
    from credo.plot.interval_lines import intervals as intervals
    from credo.plot.learning import trace as trace


__getattr__, __dir__ = lazy_names(
    "credo.plot", {name: f"credo.plot.{module}" for name, module in _WHERE.items()}
)
