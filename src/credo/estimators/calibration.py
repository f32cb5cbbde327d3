"""Are the probabilities of a classifier honest? A report, and a way to mend them.

Predictions are made by cross-validation, so that no row is judged by a model that has seen it.
What is reported, and how, is in `credo.checking.reliability`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.checking.reliability import CalibrationReport, report_of
from credo.errors import InputError

__all__ = ["CalibrationReport", "calibration_report", "recalibrated", "report_of"]


def calibration_report(
    estimator: Any, X: Any, y: Any, *, cv: Any = 5, bins: int = 10
) -> CalibrationReport:
    """The report of a classifier by cross-validation.

    >>> import credo as cr
    >>> from credo.estimators import NaiveBayes, calibration_report
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 400)
    >>> X = (rng.random((400, 3)) < np.where(y, 0.7, 0.3)[:, None]).astype(int)
    >>> report = calibration_report(NaiveBayes(), X, y)
    >>> 0.7 < report.slope < 1.3
    True
    """
    from sklearn.model_selection import cross_val_predict

    from credo.estimators.inputs import as_table, encode_labels

    _, codes = encode_labels(y)
    p = cross_val_predict(estimator, as_table(X), y, cv=cv, method="predict_proba")
    return report_of(np.asarray(p), codes, bins)


def recalibrated(estimator: Any, method: str = "isotonic", *, cv: Any = 5) -> Any:
    """The classifier with its probabilities mended: isotonic or sigmoid, by scikit-learn.

    >>> from credo.estimators import NaiveBayes, recalibrated
    >>> recalibrated(NaiveBayes(), "sigmoid").method
    'sigmoid'
    """
    from sklearn.calibration import CalibratedClassifierCV

    if method not in ("isotonic", "sigmoid"):
        raise InputError(f"method must be 'isotonic' or 'sigmoid', got {method!r}.")
    return CalibratedClassifierCV(estimator, method=method, cv=cv)
