"""Every estimator passes scikit-learn's own list of checks; none is excused, none is skipped."""

import os
import subprocess
import sys
from functools import cache

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from credo.estimators import NaiveBayes, NetworkClassifier, TextNaiveBayes

# Tiny tables make credo warn (a constant column, a state not seen); the checks want no silence.
pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")


@cache
def array_api_checks() -> str:
    """The checks of the array API, in a process that has it: SciPy asks when it is imported."""
    command = [sys.executable, "-m", "pytest", __file__, "-q", "-k", "array_api"]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return "passed" if told.returncode == 0 and "skipped" not in told.stdout else told.stdout


@parametrize_with_checks(
    [
        NaiveBayes(),
        NaiveBayes(numbers="binned"),
        NaiveBayes(unlabelled="em"),
        NaiveBayes(covariance="full", variance="sample"),
        NaiveBayes(kinds="kernel"),
        TextNaiveBayes(),
        TextNaiveBayes("complement"),
        TextNaiveBayes("bernoulli"),
        NetworkClassifier(),
        NetworkClassifier("aode"),
        NetworkClassifier("naive-bayes", bins=None, unseen="smooth"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    name = getattr(check, "func", check).__name__
    if name == "check_array_api_input" and os.environ.get("SCIPY_ARRAY_API") != "1":
        assert array_api_checks() == "passed"
        return
    check(estimator)
