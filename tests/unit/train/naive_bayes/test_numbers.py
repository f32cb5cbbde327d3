"""How naive Bayes models a number: a Gaussian, one after a transform, or intervals."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

import credo as cr
from credo.core.interval_states import cuts_of, interval_labels
from credo.errors import CredoError, InputError, SchemaError
from credo.estimators import NaiveBayes
from credo.train.naive_bayes.numbers import _Rows, chosen_model
from credo.train.numbers.cutting import cut_points
from credo.train.numbers.transforms import best_transform

RNG = np.random.default_rng(0)
N = 400
Y = RNG.integers(0, 2, N)
NUMBERS = pd.DataFrame(
    {
        "shifted": RNG.normal(Y, 1.0),  # a Gaussian is right
        "skewed": np.exp(RNG.normal(0.8 * Y, 1.5)),
        "stepped": RNG.uniform(0, 10, N) * (1 - Y) + RNG.choice([1.0, 9.0], N) * Y,
        "noise": RNG.standard_t(1.5, N),  # tells nothing, and has far values
    }
)


# --- the choice ---------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_of_rows_left_out_is_that_of_models_without_them(weighted):
    """Each row left out by hand, one copy at a time."""
    rng = np.random.default_rng(1)
    c, x = rng.integers(0, 3, 40), rng.normal(size=40).round(1)
    w = rng.integers(1, 4, 40) if weighted else np.ones(40, dtype=int)
    code, rows = (x > 0).astype(int) + (x > 1), _Rows(c, 3, w.astype(float))
    within = sum(((x - np.average(x[c == k], weights=w[c == k])) ** 2 * w)[c == k].sum()
                 for k in range(3)) / w.sum()  # fmt: skip

    def left_out(log_p):
        total = 0.0
        for i in range(40):
            v = w.astype(float)
            v[i] -= 1
            joint = np.array([np.log(v[c == k].sum()) + log_p(i, k, v) for k in range(3)])
            total -= w[i] * (joint[c[i]] - np.log(np.exp(joint).sum()))
        return total

    def gaussian(i, k, v):
        own, prior = c == k, within
        mean = np.average(x[own], weights=v[own])
        scatter = (v[own] * (x[own] - mean) ** 2).sum()
        return norm.logpdf(x[i], mean, np.sqrt((scatter + prior) / (v[own].sum() + 1)))

    def share(i, k, v):
        own = c == k
        return np.log((v[own & (code == code[i])].sum() + 1) / (v[own].sum() + 3))

    assert rows.loss(*rows.gaussians(x)) == pytest.approx(left_out(gaussian), rel=1e-10)
    assert rows.loss(*rows.shares(code, 3)) == pytest.approx(left_out(share), rel=1e-10)


def test_each_number_is_modelled_as_it_is():
    clf = NaiveBayes().fit(NUMBERS, Y)
    assert clf.kinds_ == {
        "shifted": "gaussian", "skewed": "transformed", "stepped": "binned", "noise": "binned",
    }  # fmt: skip
    assert list(clf.cuts_) == ["stepped", "noise"]
    assert clf.cuts_["noise"] == ()  # it tells nothing
    turned = NaiveBayes().fit(NUMBERS.iloc[::-1], Y[::-1])
    assert turned.cuts_ == clf.cuts_ and turned.kinds_ == clf.kinds_
    model = cr.naive_bayes(NUMBERS.assign(y=Y), "y")
    np.testing.assert_allclose(model.predict_proba(NUMBERS), clf.predict_proba(NUMBERS), atol=1e-12)
    assert "noise    binned       1 interval" in str(model)


def test_planted_steps_are_found():
    x = np.random.default_rng(2).uniform(0, 1, 3000)
    c = (np.random.default_rng(3).random(3000) < np.where(abs(x - 0.5) < 0.2, 0.8, 0.2)).astype(int)
    np.testing.assert_allclose(chosen_model(x, c, 2), [0.3, 0.7], atol=0.02)


@pytest.mark.parametrize("n", [100, 2000])
def test_gaussian_numbers_stay_gaussian(n):
    kept = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        c = rng.integers(0, 3, n)
        x = rng.normal(np.array([0.0, 1.5, 3.0])[c], np.array([1.0, 2.0, 1.0])[c])
        kept += chosen_model(x, c, 3) is None
    assert kept >= (30 if n == 100 else 36)  # of 40


def test_few_rows_and_rows_without_spread_stay_gaussian():
    x, c = np.r_[np.arange(10.0), 1e6], np.arange(11) % 2
    assert chosen_model(x, c, 2) is None
    assert chosen_model(np.ones(50), np.arange(50) % 2, 2) is None
    assert chosen_model(np.full(50, np.nan), np.arange(50) % 2, 2) is None
    assert chosen_model(np.arange(50.0), np.full(50, 2), 2) is None  # no class


def test_new_rows_are_told_better():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, ::2]
    loss = {}
    for numbers in ("gaussian", "auto", "binned"):
        p = cross_val_predict(NaiveBayes(numbers=numbers), X, y, method="predict_proba")
        loss[numbers] = log_loss(y, np.clip(p, 1e-15, 1))
    assert loss["auto"] < loss["gaussian"] - 0.05 and loss["auto"] < loss["binned"] + 0.03


# --- what is learned ----------------------------------------------------------------------


def test_intervals_are_states_with_their_shares():
    """P(class | row) by hand: shares of intervals, (n + 1)/(N + J)."""
    X = NUMBERS[["skewed", "stepped"]].copy()
    X.iloc[::9, 0] = np.nan
    clf = NaiveBayes(numbers="binned").fit(X, Y)
    joint = np.log(np.bincount(Y) / N)[None].repeat(N, axis=0)
    for name in X:
        x = X[name].to_numpy()
        cuts = cut_points(x, Y, 2, None, 128)
        assert clf.cuts_[name] == tuple(cuts)
        code, there = np.searchsorted(cuts, x), ~np.isnan(x)
        for c in (0, 1):
            n = np.bincount(code[there & (c == Y)], minlength=len(cuts) + 1)
            log_p = np.log((n + 1) / (n.sum() + len(n)))
            joint[there, c] += log_p[code[there]]
    p = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_proba(X), p, rtol=1e-10)


def test_a_weight_of_k_is_k_rows():
    w = RNG.integers(1, 4, N)
    many = np.repeat(np.arange(N), w)
    a, b = NaiveBayes().fit(NUMBERS, Y, w), NaiveBayes().fit(NUMBERS.iloc[many], Y[many])
    assert a.cuts_ == b.cuts_ and a.kinds_ == b.kinds_
    np.testing.assert_allclose(a.predict_proba(NUMBERS), b.predict_proba(NUMBERS), rtol=1e-10)


def test_the_gaussian_is_kept_where_it_is_meant():
    for options in ({"variance": "ml"}, {"variance": "sample"}, {"smoothing": 0},
                    {"numbers": "gaussian"}, {"covariance": "full"},
                    {"smoothing": {"noise": 0}}):  # fmt: skip
        clf = NaiveBayes(**options).fit(NUMBERS, Y)
        assert set(clf.kinds_.values()) == {"gaussian"} and clf.cuts_ == {}
    clf = NaiveBayes(kinds={"skewed": "gaussian"}, numbers="binned").fit(NUMBERS, Y)
    assert clf.kinds_["skewed"] == "gaussian" and clf.kinds_["shifted"] == "binned"
    clf = NaiveBayes(numbers={"skewed": "gaussian", "shifted": "binned"}).fit(NUMBERS, Y)
    assert clf.kinds_["skewed"] == "gaussian" and clf.kinds_["shifted"] == "binned"
    assert clf.kinds_["stepped"] == "binned"


def test_the_first_rows_say_where_numbers_are_cut():
    parts = NaiveBayes(numbers={"skewed": "binned"}).partial_fit(NUMBERS[:150], Y[:150])
    assert parts.kinds_["noise"] == "gaussian"  # later rows may tell
    cuts = parts.cuts_
    for rows in (slice(150, 160), slice(160, N)):
        parts.partial_fit(NUMBERS[rows], Y[rows])
    assert parts.cuts_ == cuts
    states = {n: interval_labels(c) for n, c in cuts.items()}
    whole = NaiveBayes(kinds=parts.kinds_, states=states).fit(NUMBERS, Y)
    np.testing.assert_allclose(parts.predict_proba(NUMBERS), whole.predict_proba(NUMBERS))
    one, two = (NaiveBayes(kinds=parts.kinds_, states=states).fit(NUMBERS[s], Y[s])
                for s in (slice(200), slice(200, N)))  # fmt: skip
    both = one.merge(two)
    np.testing.assert_allclose(both.predict_proba(NUMBERS), whole.predict_proba(NUMBERS))


def test_streams_are_cut_as_tables(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    NUMBERS.assign(y=Y).to_csv(path, index=False)
    for most in (16_384, 100):
        monkeypatch.setattr("credo.train.naive_bayes.numbers.LOOKED_AT", most)
        monkeypatch.setattr("credo.train.naive_bayes.learn.LOOKED_AT", most)
        table = NaiveBayes().fit(cr.read(path), "y")
        stream = NaiveBayes().fit(cr.read(path, memory="2KB"), "y")
        assert table.cuts_ == stream.cuts_ and table.kinds_ == stream.kinds_
        np.testing.assert_allclose(
            table.predict_proba(NUMBERS), stream.predict_proba(NUMBERS), rtol=1e-9
        )


def test_rows_without_a_class_are_shared_out_after_the_choice():
    y = Y.astype(object)
    y[::3] = None
    clf = NaiveBayes(unlabelled="em").fit(NUMBERS, y)
    there = np.array([v is not None for v in y])
    labelled = NaiveBayes().fit(NUMBERS[there], Y[there])
    assert clf.cuts_ == labelled.cuts_ and clf.kinds_ == labelled.kinds_
    trace = clf.model_.record.trace
    assert len(trace) > 2 and (np.diff(trace) > -1e-9).all()


# --- a transform --------------------------------------------------------------------------


def test_a_transformed_number_is_gaussian_after_its_transform():
    """P(class | row) and ln P(class, row) by hand: N(t(x)) · t'(x)."""
    x = NUMBERS["skewed"].to_numpy().copy()
    x[::9] = np.nan
    clf = NaiveBayes(numbers="transformed").fit({"x": x}, Y)
    assert clf.kinds_ == {"x": "transformed"} and clf.cuts_ == {}
    f = clf.model_.feature("x")
    assert f.scale == best_transform(x)
    z = f.scale.forward(x)
    there, mean = ~np.isnan(x), [np.nanmean(z[c == Y]) for c in (0, 1)]
    scatter = [np.nansum((z[c == Y] - mean[c]) ** 2) for c in (0, 1)]
    within = sum(scatter) / there.sum()
    joint = np.log(np.bincount(Y) / N)[None].repeat(N, axis=0)
    for c in (0, 1):
        n = (there & (c == Y)).sum()
        sd = np.sqrt((scatter[c] + within) / (n + 1))
        joint[there, c] += (norm.logpdf(z, mean[c], sd) + f.scale.log_slope(x))[there]
    np.testing.assert_allclose(clf.predict_joint_log_proba({"x": x}), joint, rtol=1e-10)
    p = np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_proba({"x": x}), p, rtol=1e-10)
    by_row = [clf.model_.p({"x": v})[1] for v in x[:20]]
    np.testing.assert_allclose(by_row, p[:20, 1], rtol=1e-10)
    whole = quad(lambda v: np.exp(clf.predict_joint_log_proba({"x": [v]})).sum(), -60, 400,
                 points=[0, 1, 10, 50], limit=400)[0]  # fmt: skip
    assert whole == pytest.approx(1, abs=2e-3)  # a density: tails beyond are long


def test_what_is_asked_of_a_transformed_number(tmp_path):
    X = NUMBERS[["skewed", "shifted"]]
    y = Y + (RNG.random(N) < 0.3)  # three classes
    clf = NaiveBayes(numbers={"skewed": "transformed", "shifted": "gaussian"}).fit(X, y)
    expected = clf.predict_proba(X)
    assert "transformed  yeo-johnson" in str(clf.model_)
    assert (pickle.loads(pickle.dumps(clf)).predict_proba(X) == expected).all()
    net = clf.model_.network()
    net.save(tmp_path / "m.credo")
    for one in (net, cr.load(tmp_path / "m.credo")):
        np.testing.assert_allclose(one.predict_proba(X, "y"), expected, atol=1e-9)
    total = np.log(np.exp(clf.predict_joint_log_proba(X)).sum(axis=1))
    assert net.log_likelihood(X) == pytest.approx(total.sum(), rel=1e-9)
    row = X.iloc[3].to_dict()
    form = clf.linear_form()
    np.testing.assert_allclose(form.bias + form.weights @ form.at(row), form.decide(row))
    for c, p in enumerate(expected[3]):
        low, high = clf.model_.interval(row)[c]
        assert low < p < high
    far = clf.predict_proba({"skewed": [1e308, -1e308], "shifted": [0.0, 0.0]})
    assert np.isfinite(far).all()


def test_transforms_stay_those_of_the_first_rows_and_merge_where_they_are_the_same():
    X = NUMBERS[["skewed"]]
    parts = NaiveBayes(numbers="transformed").partial_fit(X[:150], Y[:150])
    scale = parts.model_.feature("skewed").scale
    parts.partial_fit(X[150:], Y[150:])
    f = parts.model_.feature("skewed")
    assert f.scale == scale == best_transform(X["skewed"][:150].to_numpy())
    z = scale.forward(X["skewed"])
    np.testing.assert_allclose(f.mean, [z[c == Y].mean() for c in (0, 1)])
    assert parts.merge(parts).model_.feature("skewed").scale == scale
    other = NaiveBayes(numbers="transformed").fit(X * 3 + 7, Y)
    with pytest.raises(SchemaError, match="'skewed' does not have the same transform in both"):
        parts.merge(other)


# --- what it can do -----------------------------------------------------------------------


def test_networks_and_files_keep_the_intervals(tmp_path):
    clf = NaiveBayes().fit(NUMBERS, Y)
    expected = clf.predict_proba(NUMBERS)
    assert (pickle.loads(pickle.dumps(clf)).predict_proba(NUMBERS) == expected).all()
    net = clf.model_.network()
    assert cuts_of(net.variable("stepped").states) == clf.cuts_["stepped"]
    net.save(tmp_path / "m.credo")
    again = cr.load(tmp_path / "m.credo").predict_proba(NUMBERS, "y")
    np.testing.assert_allclose(again, expected, atol=1e-9)
    binned = NaiveBayes(numbers="binned").fit(NUMBERS, Y)
    binned.model_.network().save(tmp_path / "m.bif")  # Gaussians have no place there
    again = cr.load(tmp_path / "m.bif").predict_proba(NUMBERS, "y")
    np.testing.assert_allclose(again, binned.predict_proba(NUMBERS), atol=1e-6)


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda: NaiveBayes(numbers="bins").fit(NUMBERS, Y),
         "numbers must be 'auto', 'gaussian', 'transformed' or 'binned', got 'bins'"),
        (lambda: NaiveBayes(numbers={"noise": "kernel"}).fit(NUMBERS, Y), "for 'noise', got 'ke"),
        (lambda: NaiveBayes(numbers={"nois": "binned"}).fit(NUMBERS, Y), "Did you mean 'noise'"),
        (lambda: NaiveBayes("auto", kinds="gaussian", numbers={"noise": "binned"}).fit(NUMBERS, Y),
         "With one kind for all"),
        (lambda: NaiveBayes(kinds="binned").fit({"a": ["u", "v"] * 9}, [0, 1] * 9),
         "column 'a' holds 'u', which is not a number"),
        (lambda: NaiveBayes().fit(NUMBERS.assign(skewed=np.inf), Y), "Row 1 of 'skewed' is infin"),
        (lambda: NaiveBayes().fit(NUMBERS, Y).predict(NUMBERS.assign(skewed=np.inf)),
         "Row 1 of 'skewed' is infinite"),
        (lambda: NaiveBayes().fit(NUMBERS, Y).model_.p({"skewed": "many"}),
         "The value of 'skewed' must be a number, got 'many'"),
    ],
)  # fmt: skip
def test_what_means_nothing_is_refused(act, told):
    with pytest.raises((CredoError, InputError), match=told):
        act()


def test_numbers_that_are_cut_elsewhere_do_not_merge():
    one, two = (NaiveBayes(kinds={"stepped": "binned"}).fit(NUMBERS[["stepped"]][s], Y[s])
                for s in (slice(200), slice(200, N)))  # fmt: skip
    with pytest.raises(SchemaError, match=r"'stepped' is not cut at the same points.*states="):
        one.merge(two)
