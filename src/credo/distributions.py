"""Distributions and beliefs about their parameters, with those that are rarely named.

>>> from credo.distributions import NormalInverseGamma
>>> NormalInverseGamma(5, 1, 2, 2).update([4.0, 8.0, 6.0])
NormalInverseGamma(mu=5.75, kappa=4, alpha=3.5, beta=6.375)
"""

from credo.model.answers.approximation import Approximation, Estimate
from credo.model.answers.distribution import Distribution
from credo.model.answers.interval import Interval
from credo.model.answers.mixed_joint import MixedJoint
from credo.model.answers.multivariate_mixture import MultivariateMixture
from credo.model.answers.normal_mixture import NormalMixture
from credo.model.answers.number_answer import NumberAnswer
from credo.model.answers.numbers_answer import NumbersAnswer
from credo.model.distributions.beta import Beta
from credo.model.distributions.categorical import Bernoulli, Categorical
from credo.model.distributions.dirichlet import Dirichlet
from credo.model.distributions.gaussian import Gaussian
from credo.model.distributions.likelihood import LikelihoodCurve
from credo.model.distributions.multivariate import MultivariateGaussian
from credo.model.distributions.normal_inverse_gamma import NormalInverseGamma
from credo.model.distributions.normal_inverse_wishart import NormalInverseWishart
from credo.model.distributions.normal_mean import NormalMean
from credo.model.distributions.predictive_check import Realism
from credo.model.distributions.student import MultivariateT, StudentT
from credo.model.mixtures.parts import Gaussians, Rates, Tables

__all__ = [
    "Approximation",
    "Bernoulli",
    "Beta",
    "Categorical",
    "Dirichlet",
    "Distribution",
    "Estimate",
    "Gaussian",
    "Gaussians",
    "Interval",
    "LikelihoodCurve",
    "MixedJoint",
    "MultivariateGaussian",
    "MultivariateMixture",
    "MultivariateT",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "NormalMean",
    "NormalMixture",
    "NumberAnswer",
    "NumbersAnswer",
    "Rates",
    "Realism",
    "StudentT",
    "Tables",
]
