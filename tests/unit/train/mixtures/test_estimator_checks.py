"""The estimators of mixtures pass scikit-learn's own list of checks; none is excused."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from credo.estimators import GaussianMixture, LatentClasses

# Tiny tables make credo warn (a state not seen); the checks want no silence.
pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")


@parametrize_with_checks(
    [
        GaussianMixture(),
        GaussianMixture(2, covariance_type="diag", n_init=2),
        GaussianMixture(2, covariance_type="tied"),
        LatentClasses(),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
