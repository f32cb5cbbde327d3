"""STEP 1 of the recipe: models as frozen values.

Distributions with known parameters (`Gaussian`, …), what is believed about their parameters
(`Beta`, …), and answers (`Distribution`). The names load when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.lazy import lazy_names

_WHERE = {
    "BDeu": "priors",
    "Approximation": "approximation",
    "Bernoulli": "bernoulli",
    "Beta": "beta",
    "Categorical": "categorical",
    "Cpdag": "equivalence",
    "Cpt": "cpt",
    "Dag": "dag",
    "Dirichlet": "dirichlet",
    "Distribution": "distribution",
    "Estimate": "approximation",
    "Factor": "factor",
    "FactorGraph": "factor_graph",
    "Feature": "feature",
    "Gaussian": "gaussian",
    "Hypotheses": "hypotheses",
    "Interval": "interval",
    "K2": "priors",
    "Laplace": "priors",
    "LikelihoodCurve": "likelihood",
    "LinePrior": "line_prior",
    "LinearGaussian": "linear_gaussian",
    "MarkovNetwork": "markov_network",
    "MixedJoint": "mixed_joint",
    "MultivariateGaussian": "multivariate",
    "MultivariateMixture": "multivariate_mixture",
    "MultivariateT": "student",
    "Network": "network",
    "NormalInverseGamma": "normal_inverse_gamma",
    "NormalInverseWishart": "normal_inverse_wishart",
    "NormalMean": "normal_mean",
    "NormalMixture": "normal_mixture",
    "Realism": "realism",
    "StudentT": "student",
    "UndirectedGraph": "dag_undirected",
    "compare": "dag_compare",
    "ising_grid": "ising",
    "number_game": "concepts",
    "predictive_check": "realism",
}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.model.approximation import Approximation as Approximation
    from credo.model.approximation import Estimate as Estimate
    from credo.model.bernoulli import Bernoulli as Bernoulli
    from credo.model.beta import Beta as Beta
    from credo.model.categorical import Categorical as Categorical
    from credo.model.concepts import number_game as number_game
    from credo.model.cpt import Cpt as Cpt
    from credo.model.dag import Dag as Dag
    from credo.model.dag_compare import compare as compare
    from credo.model.dag_undirected import UndirectedGraph as UndirectedGraph
    from credo.model.dirichlet import Dirichlet as Dirichlet
    from credo.model.distribution import Distribution as Distribution
    from credo.model.equivalence import Cpdag as Cpdag
    from credo.model.factor import Factor as Factor
    from credo.model.factor_graph import FactorGraph as FactorGraph
    from credo.model.feature import Feature as Feature
    from credo.model.gaussian import Gaussian as Gaussian
    from credo.model.hypotheses import Hypotheses as Hypotheses
    from credo.model.interval import Interval as Interval
    from credo.model.ising import ising_grid as ising_grid
    from credo.model.likelihood import LikelihoodCurve as LikelihoodCurve
    from credo.model.line_prior import LinePrior as LinePrior
    from credo.model.linear_gaussian import LinearGaussian as LinearGaussian
    from credo.model.markov_network import MarkovNetwork as MarkovNetwork
    from credo.model.mixed_joint import MixedJoint as MixedJoint
    from credo.model.multivariate import MultivariateGaussian as MultivariateGaussian
    from credo.model.multivariate_mixture import MultivariateMixture as MultivariateMixture
    from credo.model.network import Network as Network
    from credo.model.normal_inverse_gamma import NormalInverseGamma as NormalInverseGamma
    from credo.model.normal_inverse_wishart import NormalInverseWishart as NormalInverseWishart
    from credo.model.normal_mean import NormalMean as NormalMean
    from credo.model.normal_mixture import NormalMixture as NormalMixture
    from credo.model.priors import K2 as K2
    from credo.model.priors import BDeu as BDeu
    from credo.model.priors import Laplace as Laplace
    from credo.model.realism import Realism as Realism
    from credo.model.realism import predictive_check as predictive_check
    from credo.model.student import MultivariateT as MultivariateT
    from credo.model.student import StudentT as StudentT


__getattr__, __dir__ = lazy_names(
    "credo.model", {name: f"credo.model.{module}" for name, module in _WHERE.items()}
)
