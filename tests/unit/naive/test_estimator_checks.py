"""Every estimator passes scikit-learn's own list of checks; none is excused."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from credo.estimators import NaiveBayes, NetworkClassifier, TextNaiveBayes

# Tiny tables make credo warn (a constant column, a state not seen); the checks want no silence.
pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")


@parametrize_with_checks(
    [
        NaiveBayes(),
        NaiveBayes(covariance="full", variance="sample"),
        NaiveBayes(kinds="kernel"),
        TextNaiveBayes(),
        TextNaiveBayes("complement"),
        NetworkClassifier(),
        NetworkClassifier("aode"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
