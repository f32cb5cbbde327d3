"""No learned network foretells new rows worse than independent columns, by more than its error."""

import warnings

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoWarning
from credo.predict.rows.rows import row_log_likelihoods

TABLES = [
    "adult.csv.gz", "asia.csv", "breast_cancer_diagnostic.csv", "breast_cancer_ljubljana.csv",
    "breast_cancer_wisconsin.csv", "cad2.csv", "car_evaluation.csv", "class_preference.csv",
    "clgaussian_test.csv.gz", "coronary.csv", "gaussian_test.csv.gz", "gender_measurements.csv",
    "german_credit.csv", "heart_cleveland.csv", "horse_colic.csv", "house_votes_84.csv",
    "insurance.csv.gz", "iris.csv", "learning_test.csv", "letter.csv.gz", "lizards.csv", "marks.csv",
    "mushroom.csv.gz", "nursery.csv.gz", "penguins.csv", "penguins_raw.csv", "pima_tr2.csv",
    "play_tennis.csv", "pneumonia.csv", "restaurant.csv", "sachs_continuous.csv.gz",
    "sachs_discrete.csv", "seattle_weather.csv", "sonar.csv", "soybean.csv", "student_survey.csv",
    "titanic.csv", "wine.csv", "zoo.csv",
]  # fmt: skip


def lead(table, rows=1000, folds=5):
    """How many nats a row the learned network is ahead on rows it has not seen, and the error."""
    order = np.random.default_rng(0).permutation(len(table))[:rows]
    ahead = np.zeros(len(order))
    for k in range(folds):
        mine = np.arange(len(order)) % folds == k
        seen, new = table.take(np.sort(order[~mine])), table.take(np.sort(order[mine]))
        net = cr.learn(seen, search="hill-climb", seconds=20)
        alone = cr.fit(cr.Dag([], seen.schema.names), seen, prior=cr.BDeu(1))
        ahead[mine] = row_log_likelihoods(net, new) - row_log_likelihoods(alone, new)
    return float(ahead.mean()), float(ahead.std() / np.sqrt(len(ahead)))


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_tables_of_the_world(shared_tables, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ahead, error = lead(cr.read(shared_tables / name))
    assert ahead > -error


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "linnerud"])
def test_tables_of_scikit_learn(name):
    datasets = pytest.importorskip("sklearn.datasets")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
        ahead, error = lead(cr.read(frame))
    assert ahead > -error


def test_rows_that_maximum_likelihood_rules_out_have_a_finite_probability():
    """Few rows of a mixed table: states unseen with others, a class whose numbers agree."""
    rng = np.random.default_rng(0)
    group = rng.choice(list("abcdefgh"), 60, p=[0.6, 0.3, 0.05, *[0.01] * 5])
    zeros = np.where(group == "a", rng.normal(3, 1, 60), 0.0)
    seen = {"group": group, "zeros": zeros, "size": rng.normal(size=60) + zeros}
    table = cr.read(seen, {"group": list("abcdefgh")})
    net = cr.learn(table)
    assert ("group", "zeros") in net.dag.edges
    new = {"group": list("abcdefgh"), "zeros": [1.0] * 8, "size": [0.5] * 8}
    each = row_log_likelihoods(net, new)
    assert np.isfinite(each).all() and each.min() > -60
    with pytest.warns(CredoWarning, match="zeros: some values do not vary"):
        by_likelihood = cr.learn(table, parameters="mle", numbers="gaussian")
    assert row_log_likelihoods(by_likelihood, new).min() < -1000
