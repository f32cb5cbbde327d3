"""Pictures, with matplotlib: each takes `ax` (or makes one) and returns it.

The names load when they are first used; `pip install "credo[plot]"` brings matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.core.lazy import lazy_names

_WHERE = {
    "calibration_curves": "checks",
    "candidates": "clusters",
    "dendrogram": "clusters",
    "heat_map": "clusters",
    "profile_bars": "clusters",
    "contributions": "classify",
    "cpt": "tables",
    "density": "distributions",
    "distribution": "distributions",
    "edge_bars": "checks",
    "evidence_bars": "checks",
    "generalisation": "hypotheses",
    "generated": "distributions",
    "held_out_bars": "checks",
    "intervals": "interval_lines",
    "learning_curves": "classify",
    "likelihood_curve": "distributions",
    "lines": "tables",
    "missingness": "gaps",
    "network": "networks.axes",
    "network_svg": "networks.svg",
    "parameter": "answers",
    "posterior_curves": "hypotheses",
    "prediction_curve": "hypotheses",
    "predictive_histogram": "checks",
    "prior_posterior": "distributions",
    "rank_histogram": "checks",
    "reliability": "classify",
    "response": "answers",
    "surprise": "checks",
    "tornado": "checks",
    "scatter": "clusters",
    "trace": "learning",
}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.plot.answers import parameter as parameter
    from credo.plot.answers import response as response
    from credo.plot.checks import calibration_curves as calibration_curves
    from credo.plot.checks import edge_bars as edge_bars
    from credo.plot.checks import evidence_bars as evidence_bars
    from credo.plot.checks import held_out_bars as held_out_bars
    from credo.plot.checks import predictive_histogram as predictive_histogram
    from credo.plot.checks import rank_histogram as rank_histogram
    from credo.plot.checks import surprise as surprise
    from credo.plot.checks import tornado as tornado
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
    from credo.plot.gaps import missingness as missingness
    from credo.plot.hypotheses import generalisation as generalisation
    from credo.plot.hypotheses import posterior_curves as posterior_curves
    from credo.plot.hypotheses import prediction_curve as prediction_curve
    from credo.plot.interval_lines import intervals as intervals
    from credo.plot.learning import trace as trace
    from credo.plot.networks.axes import network as network
    from credo.plot.networks.svg import network_svg as network_svg
    from credo.plot.tables import cpt as cpt
    from credo.plot.tables import lines as lines


__getattr__, __dir__ = lazy_names(
    "credo.plot", {name: f"credo.plot.{module}" for name, module in _WHERE.items()}
)
