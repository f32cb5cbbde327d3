"""Front doors with scikit-learn's protocol: thin, over frozen models.

>>> from credo.estimators import NaiveBayes
>>> NaiveBayes().fit([["red"], ["green"]], ["cherry", "lime"]).predict([["green"]]).tolist()
['lime']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.core.lazy import lazy_names

_WHERE = {
    "NaiveBayes": "naive_bayes",
    "TextNaiveBayes": "text",
    "NetworkClassifier": "network",
    "GaussianMixture": "gaussian_mixture",
    "LatentClasses": "latent_classes",
    "calibration_report": "calibration",
    "recalibrated": "calibration",
    "compare": "comparison",
    "learning_curves": "comparison",
}

__all__ = list(_WHERE)

if TYPE_CHECKING:
    from credo.estimators.calibration import calibration_report as calibration_report
    from credo.estimators.calibration import recalibrated as recalibrated
    from credo.estimators.comparison import compare as compare
    from credo.estimators.comparison import learning_curves as learning_curves
    from credo.estimators.gaussian_mixture import GaussianMixture as GaussianMixture
    from credo.estimators.latent_classes import LatentClasses as LatentClasses
    from credo.estimators.naive_bayes import NaiveBayes as NaiveBayes
    from credo.estimators.network import NetworkClassifier as NetworkClassifier
    from credo.estimators.text import TextNaiveBayes as TextNaiveBayes


__getattr__, __dir__ = lazy_names(
    "credo.estimators", {name: f"credo.estimators.{module}" for name, module in _WHERE.items()}
)
