"""TAN and AODE by their definitions, honest probabilities, intervals that cover, comparisons."""

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.data.columns.columns import columns_for
from credo.estimators import (
    NaiveBayes,
    NetworkClassifier,
    calibration_report,
    compare,
    learning_curves,
    recalibrated,
)
from credo.estimators.calibration import report_of
from credo.train.naive_bayes.aode import aode
from credo.train.naive_bayes.tan import conditional_information, spanning_tree, tan


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


def test_aode_sums_gaps_out_exactly():
    """A gap is the sum over all that could stand there, also where it is the super-parent."""
    rng = np.random.default_rng(8)
    n, k = 150, 3
    y = rng.integers(0, k, n)
    X = (rng.integers(0, 3, (n, 3)) + y[:, None]) % 3
    table = cr.read(
        {"y": y.astype(str), **{f"x{j}": X[:, j].astype(str) for j in range(3)}},
        {f"x{j}": ["0", "1", "2"] for j in range(3)},
    )
    model = aode(table, "y", smoothing=0.5)

    def joint(rows):
        columns = {f"x{j}": [r[j] for r in rows] for j in range(3)}
        return np.exp(model.joint(columns_for(columns, {v.name: v for v in model.features})))

    for holes in ([0], [1, 2], [0, 1, 2], [2]):
        for row in (["0", "1", "2"], ["2", "2", "0"]):
            gaps = [None if j in holes else v for j, v in enumerate(row)]
            filled = [
                [v if v is not None else next(it) for v in gaps]
                for it in map(iter, itertools.product("012", repeat=len(holes)))
            ]
            assert joint([gaps])[0] == pytest.approx(joint(filled).sum(axis=0), rel=1e-12)
    assert joint([[None] * 3]).sum() == pytest.approx(1, abs=1e-12)
    # a state that training never had is a gap
    assert joint([["9", "1", "2"]])[0] == pytest.approx(joint([[None, "1", "2"]])[0])


def test_aode_of_columns_with_gaps_in_training_adds_up_to_one():
    rng = np.random.default_rng(9)
    X = rng.integers(0, 3, (120, 3)).astype(object)
    X[rng.random(X.shape) < 0.3] = None
    table = cr.read({"y": ["a", "b", "b"] * 40, **{f"x{j}": list(X[:, j]) for j in range(3)}})
    model = aode(table, "y")
    every = list(itertools.product(range(3), repeat=3))
    columns = {f"x{j}": [r[j] for r in every] for j in range(3)}
    rows = columns_for(columns, {v.name: v for v in model.features})
    assert np.exp(model.joint(rows)).sum() == pytest.approx(1, abs=1e-12)


def test_intervals_of_columns_that_vary_together_cover_the_truth():
    rng = np.random.default_rng(10)
    means, root = np.array([[0.0, 0.0], [1.0, 0.5]]), np.array([[1.0, 0.0], [0.7, 0.6]])
    x = np.array([0.6, 0.1])
    away = np.linalg.solve(root, (x - means).T)
    truth = np.exp(-0.5 * (away**2).sum(axis=0))
    truth = truth[1] / truth.sum()
    hits = 0
    for _ in range(300):
        y = rng.integers(0, 2, 60)
        X = means[y] + rng.normal(size=(60, 2)) @ root.T
        clf = NaiveBayes(covariance="full").fit(X, y)
        low, high = clf.predict_interval(x[None], 0.9, draws=300, rng=rng)[0, 1]
        hits += low <= truth <= high
    assert 0.84 <= hits / 300 <= 0.95


def test_draws_of_a_covariance_have_the_mean_of_the_inverse_wishart():
    from credo.predict.intervals.naive_bayes import _draw_together

    rng = np.random.default_rng(11)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    clf = NaiveBayes(covariance="full").fit(X, [0, 1] * 20)
    (f,) = clf.model_.features
    means, covariances = _draw_together(f, np.random.default_rng(0), 40_000, clf.model_)
    expected = f.scatter / (f.n[:, None, None] - 1 - 3 - 1)
    np.testing.assert_allclose(covariances.mean(axis=0), expected, rtol=0.05, atol=0.02)
    np.testing.assert_allclose(means.mean(axis=0), f.mean, atol=0.02)
    np.testing.assert_allclose(  # Var(mean) = E[Σ] / n
        means[:, 0].var(axis=0), np.diagonal(expected[0]) / f.n[0], rtol=0.05
    )


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
def test_intervals_of_every_kind_and_of_none():
    rng = np.random.default_rng(12)
    y = rng.integers(0, 2, 80)
    X = rng.normal(size=(80, 4)) + y[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    kinds = ["bernoulli", "gaussian", "gaussian", "counts"]
    X[:, 3] = rng.integers(0, 4, 80)
    clf = NaiveBayes(kinds=kinds, covariance=[["x1", "x2"]]).fit(X, y)
    found = clf.predict_interval(X[:10])
    p = clf.predict_proba(X[:10])
    assert ((found[..., 0] < p) & (p < found[..., 1])).all()
    kernel = NaiveBayes(kinds="kernel").fit(X[:, :1], y)
    with pytest.raises(cr.errors.InputError, match="no parameters to be unsure of"):
        kernel.predict_interval(X[:2, :1])
    few = NaiveBayes(covariance="full").fit(X[:6, :2], [0, 0, 0, 1, 1, 0])
    with pytest.raises(cr.errors.InputError, match="more than 2 are needed"):
        few.predict_interval(X[:2, :2])


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
