"""TAN and AODE by their definitions, honest probabilities, intervals that cover, comparisons."""

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.estimators import (
    NaiveBayes,
    NetworkClassifier,
    calibration_report,
    compare,
    learning_curves,
    recalibrated,
)
from credo.estimators.calibration import report_of
from credo.train.tan import conditional_information, spanning_tree, tan


def drawn(n, rng, k=2, d=6):
    """Rows of a naive Bayes model, with the model's own posterior."""
    theta = rng.dirichlet(np.ones(3) * 2, size=(d, k))
    y = rng.integers(0, k, n)
    X = np.stack(
        [(rng.random(n)[:, None] > theta[j, y].cumsum(axis=1)).sum(axis=1) for j in range(d)],
        axis=1,
    )
    return np.minimum(X, 2), y


def test_calibration_of_data_from_the_model():
    """RELIABILITY, test 18: the slope is 1 ± 0.05 with 1e5 rows."""
    X, y = drawn(100_000, np.random.default_rng(18))
    report = calibration_report(NaiveBayes(), X, y)
    assert abs(report.slope - 1) < 0.05 and report.error < 0.01
    X, y = drawn(100_000, np.random.default_rng(19), k=4)
    assert abs(calibration_report(NaiveBayes(), X, y).slope - 1) < 0.05


def test_repeated_features_make_naive_bayes_too_sure_and_it_can_be_mended():
    X, y = drawn(6000, np.random.default_rng(0))
    twice = np.concatenate([X] * 4, axis=1)
    sure = calibration_report(NaiveBayes(), twice, y)
    assert sure.slope < 0.4
    for method in ("isotonic", "sigmoid"):
        mended = calibration_report(recalibrated(NaiveBayes(), method), twice, y)
        assert mended.log_loss < sure.log_loss and mended.error < sure.error
    assert "slope" in str(sure) and sure.plot().get_xlabel() == "predicted probability"


def test_the_report_is_scikit_learns():
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    q = np.clip(rng.random(500) * 0.8 + 0.2 * y, 0.01, 0.99)
    p = np.stack([1 - q, q], axis=1)
    report = report_of(p, y)
    assert report.brier == pytest.approx(brier_score_loss(y, q))
    assert report.log_loss == pytest.approx(log_loss(y, p))
    assert report.accuracy == accuracy_score(y, q > 0.5)
    assert report.curve[:, 2].sum() == 500
    from sklearn.linear_model import LogisticRegression

    for sharper in (1.0, 4.0, 0.2):  # the slope is that of a logistic regression
        odds = sharper * np.log(q / (1 - q))
        r = 1 / (1 + np.exp(-odds))
        peer = LogisticRegression(C=1e12, tol=1e-10).fit(odds[:, None], y).coef_[0, 0]
        assert report_of(np.stack([1 - r, r], axis=1), y).slope == pytest.approx(peer, rel=1e-4)


def test_intervals_cover_the_truth():
    """The true P(class | x) lies in its 90 % interval about 90 % of the time."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        prior = rng.dirichlet([1, 1])
        theta = rng.dirichlet([1, 1, 1], size=(2, 2))  # the prior that smoothing=1 stands for
        y = rng.choice(2, 40, p=prior)
        if len(set(y)) < 2:
            y[:2] = [0, 1]
        X = np.stack([[rng.choice(3, p=theta[c, j]) for j in range(2)] for c in y])
        clf = NaiveBayes(states={"x0": [0, 1, 2], "x1": [0, 1, 2]}).fit(X, y)
        row = rng.integers(0, 3, 2)
        joint = prior * theta[:, 0, row[0]] * theta[:, 1, row[1]]
        low, high = clf.predict_interval(row[None], 0.9, draws=400)[0, 1]
        hits += low <= joint[1] / joint.sum() <= high
    assert 0.84 <= hits / 300 <= 0.95


def test_intervals_of_gaussians_narrow_with_rows():
    rng = np.random.default_rng(4)
    width = []
    for n in (30, 3000):
        y = np.arange(n) % 2
        X = np.c_[rng.normal(size=n) + y, rng.normal(size=n)]
        low, high = NaiveBayes().fit(X, y).predict_interval([[0.2, 0.0]])[0, 0]
        width.append(high - low)
    assert width[1] < width[0] / 5


def test_the_tan_tree_is_the_best_of_all(shared_tables):
    table = cr.read(shared_tables / "car_evaluation.csv")
    target = table.schema.names[-1]
    names = [n for n in table.schema.names if n != target][:5]
    table = table.select([*names, target])
    info = np.zeros((5, 5))
    for i, j in itertools.combinations(range(5), 2):
        counts = np.zeros(
            (table.schema[target].arity, table.schema[names[i]].arity, table.schema[names[j]].arity)
        )
        np.add.at(counts, (table.codes(target), table.codes(names[i]), table.codes(names[j])), 1)
        info[i, j] = info[j, i] = conditional_information(counts)

    def weight(edges):
        return sum(info[i, j] for i, j in edges)

    def is_tree(edges):
        seen = {0}
        for _ in range(5):
            seen |= {b for a, b in edges if a in seen} | {a for a, b in edges if b in seen}
        return len(seen) == 5

    pairs = list(itertools.combinations(range(5), 2))
    best = max(weight(t) for t in itertools.combinations(pairs, 4) if is_tree(t))
    found = [(p, j) for j, p in enumerate(spanning_tree(info)) if p >= 0]
    assert weight(found) == pytest.approx(best)
    dag = tan(table, target)
    assert sorted(tuple(sorted((names[a], names[b]))) for a, b in found) == sorted(
        tuple(sorted(e)) for e in dag.edges if target not in e
    )


def test_tan_sees_what_naive_bayes_cannot():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    X = np.stack([a, b], axis=1)
    y = a ^ b
    assert NetworkClassifier("tan").fit(X, y).score(X, y) == 1.0
    assert NetworkClassifier("aode").fit(X, y).score(X, y) == 1.0
    # a linear separator gets at most three of the four corners right
    assert NaiveBayes().fit(X, y).score(X, y) < 0.8
    assert NetworkClassifier("naive-bayes").fit(X, y).score(X, y) < 0.8


def test_aode_by_its_definition():
    rng = np.random.default_rng(6)
    n, k = 200, 3
    y = rng.integers(0, k, n)
    X = (rng.integers(0, 3, (n, 4)) + y[:, None]) % 3
    clf = NetworkClassifier("aode", smoothing=0.5).fit(X, y)
    rows = X[:30]
    expected = np.zeros((30, k))
    for r, row in enumerate(rows):
        for c in range(k):
            for i in range(4):
                own = (y == c) & (X[:, i] == row[i])
                p = (own.sum() + 0.5) / (n + 0.5 * k * 3)
                for j in range(4):
                    if j != i:
                        p *= ((own & (X[:, j] == row[j])).sum() + 0.5) / (own.sum() + 0.5 * 3)
                expected[r, c] += p
    expected /= expected.sum(axis=1, keepdims=True)
    assert clf.predict_proba(rows) == pytest.approx(expected, abs=1e-12)


def test_naive_bayes_networks_agree(shared_tables):
    table = cr.read(shared_tables / "house_votes_84.csv")
    one = NaiveBayes().fit(table, "Class").predict_proba(table)
    two = NetworkClassifier("naive-bayes").fit(table, "Class").predict_proba(table)
    assert np.abs(one - two).max() < 1e-9
    dag = cr.Dag([("Class", n) for n in table.schema.names if n != "Class"])
    three = NetworkClassifier(dag).fit(table, "Class").predict_proba(table)
    assert np.abs(one - three).max() < 1e-9
    net = NetworkClassifier("tan").fit(table, "Class").network_
    given = NetworkClassifier(net, target="Class").fit(table, "Class")
    assert given.network_ is net


def test_comparisons(shared_tables):
    result = compare(cr.read(shared_tables / "iris.csv"), "target", cv=3)
    assert list(result.figures) == ["naive Bayes", "TAN", "logistic regression"]
    assert all(f["accuracy"] > 0.85 for f in result.figures.values())
    assert "log loss" in str(result)
    numbers = compare(shared_tables / "marks.csv", "MECH")
    assert set(numbers.figures) == {"naive linear Gaussian", "linear regression"}
    with pytest.raises(cr.errors.UnknownNameError, match="Did you mean 'naive Bayes'"):
        compare(shared_tables / "iris.csv", "target", methods=["naive bayes"])
    curves = learning_curves(shared_tables / "iris.csv", "target", sizes=[10, 90], repeats=2)
    assert curves.log_loss["naive Bayes"][1] < curves.log_loss["naive Bayes"][0]
    assert curves.plot().get_xlabel() == "rows learned from"


def test_the_command(tmp_path):
    path = str(cr.examples.path("play_tennis"))
    model = str(tmp_path / "tennis.bif")
    run = CliRunner().invoke
    done = run(app, ["classify", path, "--target", "PlayTennis", "-o", model, "--predict", path])
    assert done.exit_code == 0 and "5-fold cross-validation" in done.output
    assert cr.load(model).names[0] == "PlayTennis"
    for method in ("naive-bayes", "tan", "aode"):
        done = run(
            app,
            [
                "classify",
                path,
                "--target",
                "PlayTennis",
                "--method",
                method,
                "--predict",
                path,
                "--json",
            ],
        )
        told = json.loads(done.output)
        assert told["classes"] == ["No", "Yes"] and len(told["predictions"]) == 14
        assert sum(told["predictions"][0]["p"]) == pytest.approx(1)
    for arguments, text in (
        (["--target", "Play"], "Variable 'Play'"),
        (["--target", "PlayTennis", "--cv", "99"], "cv must be"),
        (["--target", "PlayTennis", "--smoothing", "-1"], "smoothing"),
        (["--target", "PlayTennis", "--method", "aode", "-o", "x.bif"], "no file format"),
    ):
        with pytest.raises(cr.errors.CredoError, match=text):
            run(app, ["classify", path, *arguments], catch_exceptions=False, standalone_mode=False)
