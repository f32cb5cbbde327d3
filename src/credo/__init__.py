"""credo: from a table of data to a probabilistic model you can question, with its uncertainty.

The names below load when they are first used, so that `import credo` is quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.lazy import lazy_names

__version__ = "0.1.0"

# public name → the module it lives in
_WHERE = {
    "read": "credo.data",
    "tally": "credo.data",
    "Table": "credo.data",
    "Stream": "credo.data",
    "Variable": "credo.schema",
    "Schema": "credo.schema",
    "Counts": "credo.stats",
    "Moments": "credo.stats",
    "Rows": "credo.stats",
    "Tally": "credo.stats",
    "Families": "credo.stats",
    "Dag": "credo.model",
    "between": "credo.model.between",
    "compare": "credo.model",
    "Network": "credo.model",
    "Approximation": "credo.model",
    "Estimate": "credo.model",
    "Cpt": "credo.model",
    "LinearGaussian": "credo.model",
    "MarkovNetwork": "credo.model",
    "FactorGraph": "credo.model",
    "Factor": "credo.model",
    "Feature": "credo.model",
    "UndirectedGraph": "credo.model",
    "ising_grid": "credo.model",
    "fit_markov": "credo.train.markov",
    "load": "credo.formats",
    "write_report": "credo.reports",
    "Distribution": "credo.model",
    "Bernoulli": "credo.model",
    "Categorical": "credo.model",
    "Gaussian": "credo.model",
    "MultivariateGaussian": "credo.model",
    "NormalMixture": "credo.model",
    "MultivariateMixture": "credo.model",
    "MixedJoint": "credo.model",
    "Beta": "credo.model",
    "Dirichlet": "credo.model",
    "BDeu": "credo.model",
    "K2": "credo.model",
    "Laplace": "credo.model",
    "LinePrior": "credo.model",
    "em": "credo.train",
    "find_hidden": "credo.train",
    "missingness": "credo.train",
    "fit": "credo.train",
    "learn": "credo.train",
    "edge_strengths": "credo.train",
    "independence_test": "credo.train",
    "score": "credo.train",
    "NormalInverseGamma": "credo.model",
    "NormalInverseWishart": "credo.model",
    "NormalMean": "credo.model",
    "StudentT": "credo.model",
    "MultivariateT": "credo.model",
    "predictive_check": "credo.model",
    "Hypotheses": "credo.model",
    "number_game": "credo.model",
    "naive_bayes": "credo.train.naive_bayes_learn",
    "check": "credo.checking",
    "compare_models": "credo.checking",
    "cross_validate": "credo.checking",
    "evidence_value": "credo.checking",
    "sensitivity": "credo.checking",
    "cluster": "credo.train.clusters.clustering",
    "which_k": "credo.train.clusters.clustering",
    "Clusters": "credo.train.clusters.result",
    "Mixture": "credo.model.mixture",
    "Gaussians": "credo.model.mixture_parts",
    "Tables": "credo.model.mixture_parts",
    "Rates": "credo.model.mixture_parts",
    "gaussian_mixture": "credo.train.mixtures.learn",
    "latent_classes": "credo.train.mixtures.learn",
}
_MODULES = ("examples", "plot", "errors", "estimators")

__all__ = ["__version__", *_WHERE, *_MODULES]

if TYPE_CHECKING:
    from credo import errors as errors
    from credo import estimators as estimators
    from credo import examples as examples
    from credo import plot as plot
    from credo.checking import check as check
    from credo.checking import compare_models as compare_models
    from credo.checking import cross_validate as cross_validate
    from credo.checking import evidence_value as evidence_value
    from credo.checking import sensitivity as sensitivity
    from credo.data import Stream as Stream
    from credo.data import Table as Table
    from credo.data import read as read
    from credo.data import tally as tally
    from credo.formats import load as load
    from credo.model import K2 as K2
    from credo.model import Approximation as Approximation
    from credo.model import BDeu as BDeu
    from credo.model import Bernoulli as Bernoulli
    from credo.model import Beta as Beta
    from credo.model import Categorical as Categorical
    from credo.model import Cpt as Cpt
    from credo.model import Dag as Dag
    from credo.model import Dirichlet as Dirichlet
    from credo.model import Distribution as Distribution
    from credo.model import Estimate as Estimate
    from credo.model import Factor as Factor
    from credo.model import FactorGraph as FactorGraph
    from credo.model import Feature as Feature
    from credo.model import Gaussian as Gaussian
    from credo.model import Hypotheses as Hypotheses
    from credo.model import Laplace as Laplace
    from credo.model import LinearGaussian as LinearGaussian
    from credo.model import LinePrior as LinePrior
    from credo.model import MarkovNetwork as MarkovNetwork
    from credo.model import MixedJoint as MixedJoint
    from credo.model import MultivariateGaussian as MultivariateGaussian
    from credo.model import MultivariateMixture as MultivariateMixture
    from credo.model import MultivariateT as MultivariateT
    from credo.model import Network as Network
    from credo.model import NormalInverseGamma as NormalInverseGamma
    from credo.model import NormalInverseWishart as NormalInverseWishart
    from credo.model import NormalMean as NormalMean
    from credo.model import NormalMixture as NormalMixture
    from credo.model import StudentT as StudentT
    from credo.model import UndirectedGraph as UndirectedGraph
    from credo.model import compare as compare
    from credo.model import ising_grid as ising_grid
    from credo.model import number_game as number_game
    from credo.model import predictive_check as predictive_check
    from credo.model.between import between as between
    from credo.model.mixture import Mixture as Mixture
    from credo.model.mixture_parts import Gaussians as Gaussians
    from credo.model.mixture_parts import Rates as Rates
    from credo.model.mixture_parts import Tables as Tables
    from credo.reports import write_report as write_report
    from credo.schema import Schema as Schema
    from credo.schema import Variable as Variable
    from credo.stats import Counts as Counts
    from credo.stats import Families as Families
    from credo.stats import Moments as Moments
    from credo.stats import Rows as Rows
    from credo.stats import Tally as Tally
    from credo.train import edge_strengths as edge_strengths
    from credo.train import em as em
    from credo.train import find_hidden as find_hidden
    from credo.train import fit as fit
    from credo.train import independence_test as independence_test
    from credo.train import learn as learn
    from credo.train import missingness as missingness
    from credo.train import score as score
    from credo.train.clusters.clustering import cluster as cluster
    from credo.train.clusters.clustering import which_k as which_k
    from credo.train.clusters.result import Clusters as Clusters
    from credo.train.markov import fit_markov as fit_markov
    from credo.train.mixtures.learn import gaussian_mixture as gaussian_mixture
    from credo.train.mixtures.learn import latent_classes as latent_classes
    from credo.train.naive_bayes_learn import naive_bayes as naive_bayes


__getattr__, __dir__ = lazy_names(
    "credo", {"__version__": "credo", **_WHERE, **{m: f"credo.{m}" for m in _MODULES}}
)
