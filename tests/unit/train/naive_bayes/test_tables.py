"""Tables as they are: mixed kinds, gaps, new states, weights, streams; and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.errors import CredoWarning, InputError, LimitError, UnknownNameError
from credo.estimators import NaiveBayes, NetworkClassifier, TextNaiveBayes

FRAME = {
    "colour": ["red", "green", None, "red", "blue", "green", "red", "blue"],
    "size": [1.5, 2.5, 2.0, None, 9.0, 8.5, 1.0, 9.5],
    "legs": [4, 4, 2, 4, 2, 2, 4, 2],
    "flies": [False, False, True, False, True, True, False, True],
}
LABELS = ["cat", "cat", "bird", "cat", "bird", "bird", "cat", "bird"]


@pytest.fixture
def clf():
    return NaiveBayes().fit(pd.DataFrame(FRAME), LABELS)


def test_kinds_are_inferred_and_kept(clf):
    assert clf.kinds_ == {
        "colour": "categorical",
        "size": "gaussian",
        "legs": "categorical",
        "flies": "categorical",
    }
    assert clf.classes_.tolist() == ["bird", "cat"]
    assert clf.feature_names_in_.tolist() == list(FRAME)


def test_gaps_are_summed_out(clf):
    """Σ_x P(c, x, rest) over the states of a missing cell is P(c, rest)."""
    row = {"size": 2.0, "legs": 4, "flies": False}
    total = sum(
        np.exp(clf.model_.log_joint({**row, "colour": c})) for c in ("red", "green", "blue")
    )
    assert np.exp(clf.model_.log_joint(row)) == pytest.approx(total)
    p = clf.predict_proba(
        pd.DataFrame({"colour": [None], "size": [2.0], "legs": [4], "flies": [False]})
    )
    assert p[0] == pytest.approx(list(clf.model_.p(row).values()))


def test_states_not_seen(clf):
    row = pd.DataFrame({"colour": ["pink"], "size": [2.0], "legs": [4], "flies": [False]})
    gone = row.assign(colour=[None])
    with pytest.warns(CredoWarning, match=r"taken as missing: 'colour' \('pink'\)"):
        assert np.array_equal(clf.predict_proba(row), clf.predict_proba(gone))
    clf.unseen = "error"
    with pytest.raises(UnknownNameError, match="State 'pink' is not one of 'colour'"):
        clf.predict(row)
    clf.unseen = "smooth"
    theta = np.exp(clf.model_.feature("colour").unseen)  # l / (N + l·(J + 1))
    assert theta == pytest.approx([1 / (3 + 4), 1 / (4 + 4)])
    joint = clf.predict_joint_log_proba(row) - clf.predict_joint_log_proba(gone)
    assert joint[0] == pytest.approx(np.log(theta))
    clf.unseen = "maybe"
    with pytest.raises(InputError, match="unseen must be"):
        clf.predict(row)


def test_numbers_not_seen_as_states():
    clf = NaiveBayes().fit(np.array([[1], [2], [1], [2]]), [0, 1, 0, 1])
    with pytest.warns(CredoWarning, match=r"'x0' \(7\)"):
        assert clf.predict_proba(np.array([[7]]))[0] == pytest.approx([0.5, 0.5])


def test_partial_fit_refuses_a_state_that_was_not_declared():
    clf = NaiveBayes(states={"a": ["u", "v"]}).fit(pd.DataFrame({"a": ["u", "v"]}), [0, 1])
    with pytest.raises(UnknownNameError, match="State 'z' is not one of 'a'"):
        clf.partial_fit(pd.DataFrame({"a": ["z"]}), [0])


@pytest.mark.parametrize(
    "name, target, least",
    [
        ("adult.csv.gz", "income", 0.82),
        ("house_votes_84.csv", "Class", 0.89),
        ("mushroom.csv.gz", "class", 0.95),
        ("digits.csv", None, 0.85),
    ],
)
@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
def test_real_tables(shared_tables, name, target, least):
    table = cr.read(shared_tables / name)
    target = target or table.schema.names[-1]
    clf = NaiveBayes().fit(table, target)
    p = clf.predict_proba(table)
    there = table.codes(target) < table.schema[target].arity
    right = p.argmax(axis=1)[there] == table.codes(target)[there]
    assert right.mean() > least
    assert np.abs(p.sum(axis=1) - 1).max() < 1e-12 and (p >= 0).all()


def test_constant_columns_and_lonely_rows_are_told():
    with pytest.warns(CredoWarning, match="column 'x1' is constant"):
        clf = NaiveBayes().fit(
            np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0], [7.5, 5.0]]), [0, 0, 1, 1]
        )
    p = clf.predict_proba([[1.5, 5.0], [1.5, 1e200], [6.0, -3.0]])
    assert np.isfinite(p).all() and p[0] == pytest.approx(p[1])
    with pytest.warns(CredoWarning, match=r"no spread in class 1 \(1 rows\)"):
        clf = NaiveBayes().fit([[1.0], [2.0], [9.0]], [0, 0, 1])
    assert np.isfinite(clf.predict_log_proba([[1.0], [9.0], [1e300]])).all()


def test_large_means_keep_their_variance():
    rng = np.random.default_rng(1)
    x = rng.normal(1e9, 1.0, 2000)
    clf = NaiveBayes().fit(x[:, None], rng.integers(0, 2, 2000))
    assert clf.model_.features[0].variance == pytest.approx([1.0, 1.0], rel=0.15)
    half = NaiveBayes().fit(np.r_[x, 1e6 + x][:, None], np.r_[np.zeros(2000), np.ones(2000)])
    assert half.model_.features[0].variance == pytest.approx([x.var()] * 2, rel=1e-6)


@pytest.mark.parametrize("scale, word", [(1e200, "too large"), (1e-200, "too close")])
def test_extreme_values_are_refused(scale, word):
    with pytest.raises(InputError, match=f"'x0' are {word}"):
        NaiveBayes().fit(np.array([[1.0], [2.0], [3.0], [5.0]]) * scale, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: NaiveBayes().fit([[1.0], [2.0]], [0, 1], sample_weight=[-1, 1]), "row 1 is -1"),
        (lambda: NaiveBayes().fit([[1.0], [2.0]], [0, 1], sample_weight=[np.nan, 1]), "NaN"),
        (lambda: NaiveBayes().fit([[1.0], [2.0]], [0, 1], sample_weight=[0, 0]), "is zero"),
        (lambda: NaiveBayes(smoothing=-1).fit([["a"], ["b"]], [0, 1]), "smoothing of 'x0' must be"),
        (lambda: NaiveBayes(smoothing={"z": 1}).fit([["a"], ["b"]], [0, 1]), "smoothing of 'z'"),
        (
            lambda: NaiveBayes(kinds="gausian").fit([[1.0], [2.0]], [0, 1]),
            "Did you mean 'gaussian'",
        ),
        (lambda: NaiveBayes(kinds={"w": "ignore"}).fit([[1.0], [2.0]], [0, 1]), "kind of 'w'"),
        (lambda: NaiveBayes(variance="big").fit([[1.0], [2.0]], [0, 1]), "'ml' or 'sample'"),
        (lambda: NaiveBayes(variance_floor=0).fit([[1.0], [2.0]], [0, 1]), "above 0"),
        (lambda: NaiveBayes(class_prior=[0.5, 0.6]).fit([["a"], ["b"]], [0, 1]), "add up to 1"),
        (lambda: NaiveBayes(class_prior={2: 1}).fit([["a"], ["b"]], [0, 1]), "The class 2"),
        (lambda: NaiveBayes().fit([[np.inf], [2.0]], [0, 1]), "Row 1 of 'x0' is infinite"),
        (
            lambda: NaiveBayes(kinds="gaussian").fit([["a"], ["b"]], [0, 1]),
            "'a', which is not a num",
        ),
        (lambda: NaiveBayes(kinds="bernoulli").fit([["a"], ["b"], ["c"]], [0, 1, 1]), "two states"),
        (lambda: NaiveBayes(kinds="counts").fit([[-1.0], [2.0]], [0, 1]), "not negative"),
        (lambda: NaiveBayes().fit(cr.examples.play_tennis(), "Play"), "Variable 'Play'"),
        (lambda: NaiveBayes(n_jobs=0).fit([[1.0], [2.0]], [0, 1]), "n_jobs"),
        (lambda: cr.naive_bayes(cr.examples.gender_measurements(), "height"), "continuous"),
        (lambda: TextNaiveBayes("poisson").fit(["a"], [0]), "form must be one of"),
        (lambda: TextNaiveBayes().fit("one text", [0]), "list of documents"),
        (lambda: TextNaiveBayes().fit(["a", None], [0, 1]), "Document 2 must be a text"),
        (lambda: TextNaiveBayes("bernoulli", smoothing=0).fit(["a"], [0]), "above 0"),
        (lambda: TextNaiveBayes().fit(["a", "b"], [0, 1]).predict(np.eye(2)), "got a matrix"),
        (lambda: NetworkClassifier("nb").fit([["a"], ["b"]], [0, 1]), "structure must be one of"),
        (lambda: NetworkClassifier(bins=1).fit([[1.0], [2.0]], [0, 1]), "bins must be"),
        (lambda: NetworkClassifier("aode", bins=None).fit([[1.5], [2.0]], [0, 1]), "is continuous"),
    ],
)
@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
def test_bad_input_is_told_in_one_sentence(make, text):
    with pytest.raises((cr.errors.CredoError, ValueError), match=text):
        make()


def test_too_many_states_are_refused():
    x = np.arange(0, 200_000, 2)[:, None]
    with pytest.raises(LimitError):
        NaiveBayes(kinds="categorical").fit(x, x[:, 0] % 4 > 1)


def test_declared_and_reserved_states():
    X = [["a"], ["b"], ["a"]]
    given = NaiveBayes(states={"x0": ["a", "b", "c"]}).fit(X, [0, 1, 0])
    least = NaiveBayes(min_states=3).fit(X, [0, 1, 0])
    for clf in (given, least):
        theta = np.exp(clf.model_.features[0].log_theta)
        assert theta[0, 0] == pytest.approx(3 / 5) and theta[1, 0] == pytest.approx(1 / 4)
    assert given.model_.features[0].variable.states == ("a", "b", "c")
    per = NaiveBayes(smoothing={"x0": 0.5}).fit(X, [0, 1, 0])
    assert np.exp(per.model_.features[0].log_theta)[0, 0] == pytest.approx(2.5 / 3)


def test_models_are_values():
    model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis")
    again = pickle.loads(pickle.dumps(model))
    row = {"Wind": "Weak"}
    assert dict(again.p(row)) == dict(model.p(row))
    double = model + again
    assert double.statistic.weight.tolist() == [10, 18]
    assert "4 features" in repr(model) and "<table>" in model._repr_html_()
    with pytest.raises(UnknownNameError, match="Did you mean 'Wind'"):
        model.p({"Wnd": "Weak"})


def test_the_network_answers_alike():
    frame = pd.DataFrame({**FRAME, "legs": [4, 5, 2, 5, 3, 2, 3, 2]})
    for covariance in ("diagonal", [["size", "legs"]]):
        clf = NaiveBayes(covariance=covariance, kinds={"legs": "gaussian"}).fit(frame, LABELS)
        net = clf.model_.network()
        row = {"size": 3.0, "legs": 3.0, "flies": True}
        assert list(net.p("y", given=row).values()) == pytest.approx(
            list(clf.model_.p(row).values())
        )


def test_full_covariance_against_scipy():
    from scipy.stats import multivariate_normal

    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    X = rng.multivariate_normal([0, 1], [[2, 1.2], [1.2, 1]], 200) + y[:, None]
    clf = NaiveBayes(covariance="full", variance="ml").fit(X, y)
    joint = np.stack(
        [
            np.log((y == c).mean())
            + multivariate_normal(X[y == c].mean(0), np.cov(X[y == c].T, bias=True)).logpdf(X)
            for c in (0, 1)
        ],
        axis=1,
    )
    assert np.abs(clf.predict_joint_log_proba(X) - joint).max() < 1e-9
    gap = X.copy()
    gap[:, 0] = np.nan
    one = NaiveBayes(variance="ml").fit(X[:, 1:], y)
    assert np.abs(clf.predict_proba(gap) - one.predict_proba(X[:, 1:])).max() < 1e-9
    with pytest.warns(CredoWarning, match="collinear"):
        same = NaiveBayes(covariance="full").fit(np.c_[X[:, 0], X[:, 0]], y)
    assert np.isfinite(same.predict_log_proba(np.c_[X[:, 0], X[:, 0]])).all()


def test_kernel_density_against_scikit_learn():
    from sklearn.neighbors import KernelDensity

    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 120)
    X = np.where(
        y == 0, rng.normal(size=120), rng.choice([-3.0, 3.0], 120) + rng.normal(0, 0.3, 120)
    )[:, None]
    clf = NaiveBayes(kinds="kernel").fit(X, y)
    f = clf.model_.features[0]
    for c in (0, 1):
        peer = KernelDensity(bandwidth=f.width[c], rtol=1e-10).fit(X[y == c])
        assert f.rows(X)[:, c] == pytest.approx(peer.score_samples(X), rel=1e-6)
    assert clf.score(X, y) > NaiveBayes(numbers="gaussian").fit(X, y).score(X, y)
    assert np.isfinite(clf.predict_log_proba([[1e6], [np.nan]])).all()


def test_columns_that_cannot_be_features_are_named():
    frame = pd.DataFrame(
        {"id": [f"p{i}" for i in range(40)], "x": np.arange(40) % 3, "k": ["same"] * 40}
    )
    with pytest.warns(CredoWarning, match="Columns were set aside: 'id' .*; 'k' "):
        clf = NaiveBayes().fit(frame, np.arange(40) % 2)
    assert clf.kinds_ == {"x": "categorical"} and clf.n_features_in_ == 3
    assert clf.predict(frame).shape == (40,)
    with pytest.warns(CredoWarning, match=r"set aside: 'k' "):  # a kind that is given holds
        clf = NaiveBayes(kinds={"id": "categorical"}).fit(frame, np.arange(40) % 2)
    assert clf.kinds_ == {"id": "categorical", "x": "categorical"}


def test_threads_give_the_same_bits():
    rng = np.random.default_rng(4)
    n = 40_000
    y = rng.integers(0, 3, n)
    X = np.c_[rng.normal(size=(n, 3)), rng.integers(0, 4, (n, 2))]
    w = rng.random(n)
    kinds = ["gaussian"] * 3 + ["categorical"] * 2
    one = NaiveBayes(kinds=kinds, n_jobs=1).fit(X, y, sample_weight=w)
    two = NaiveBayes(kinds=kinds, n_jobs=2).fit(X, y, sample_weight=w)
    assert np.array_equal(one.predict_log_proba(X), two.predict_log_proba(X))


def test_documents_stream_and_grow():
    docs = ["free offer now", "see you at the lecture", "free free", "Über Straße läßt grüßen"]
    y = [1, 0, 1, 0]
    whole = TextNaiveBayes().fit(docs, y)
    streamed = TextNaiveBayes().fit(iter(docs), iter(y))
    grown = TextNaiveBayes().partial_fit(docs[:1], y[:1]).partial_fit(docs[1:], y[1:])
    words = TextNaiveBayes(tokeniser=lambda d: d.lower().split()).fit(docs, y)
    for other in (streamed, grown, words):
        assert other.vocabulary_ == whole.vocabulary_
        assert np.array_equal(other.predict_log_proba(docs), whole.predict_log_proba(docs))
    assert "straße" in whole.vocabulary_ and "läßt" in whole.vocabulary_
    fixed = TextNaiveBayes(vocabulary=["free", "lecture"]).fit(docs, y)
    assert fixed.vocabulary_ == ("free", "lecture")
    again = pickle.loads(pickle.dumps(whole))
    assert np.array_equal(again.predict_proba(docs), whole.predict_proba(docs))
    account = whole.explain("free lecture")
    assert account.total == pytest.approx(np.log2(account.p / (1 - account.p)))


def test_tokens_are_those_of_the_rule():
    import re

    texts = [
        "It's 10 am_",
        "naïve café—déjà-vu",
        "ΑΒΓ Δ, ж",
        "a\u0301 x",
        "\ud800 odd",
        "İstanbul",
        "日本 語",
    ]
    for shortest in (1, 2):
        clf = TextNaiveBayes(shortest=shortest).fit(texts, [0, 1] * 3 + [0])
        expected = {
            w for t in texts for w in re.findall(r"(?u)\w+", t.lower()) if len(w) >= shortest
        }
        assert set(clf.vocabulary_) == expected
