"""The figures of the lecture notes, exactly, on the tables of the notes."""

from fractions import Fraction

import numpy as np
import pytest

import credo as cr
from credo.errors import ImpossibleError
from credo.estimators import NaiveBayes, TextNaiveBayes

TODAY = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}


def test_play_tennis():
    model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis", smoothing=0)
    no = Fraction(5, 14) * Fraction(3, 5) * Fraction(1, 5) * Fraction(4, 5) * Fraction(3, 5)
    yes = Fraction(9, 14) * Fraction(2, 9) * Fraction(3, 9) * Fraction(3, 9) * Fraction(3, 9)
    assert model.p(TODAY)["No"] == pytest.approx(float(no / (no + yes)), abs=1e-15)
    assert round(model.p(TODAY)["No"], 6) == 0.795417
    assert np.exp(model.log_joint(TODAY)).round(3).tolist() == [0.021, 0.005]


def test_zeros_are_named():
    model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis", smoothing=0)
    assert model.p({"Outlook": "Overcast"})["No"] == 0
    assert model.explain({"Outlook": "Overcast"})["Outlook"] == np.inf
    tiny = cr.naive_bayes({"y": ["a", "b"], "x": ["u", "v"], "z": ["s", "t"]}, "y", smoothing=0)
    with pytest.raises(ImpossibleError, match="x=v was never seen with y=a; z=s was never seen"):
        tiny.p({"x": "v", "z": "s"})
    with pytest.raises(ImpossibleError, match="Row 2 has probability zero in every class: x=v"):
        tiny.predict_proba({"x": ["u", "v"], "z": ["s", "s"]})


def test_restaurant_conditions_on_the_class():
    # The slide divides #(Wait ∧ Rain) by #(Rain); P(Rain | Wait) divides by #(Wait).
    table = cr.examples.restaurant()
    model = cr.naive_bayes(table, "Wait", smoothing=0)
    assert np.exp(model.feature("Rain").log_theta[1]).tolist() == pytest.approx([4 / 6, 2 / 6])
    row = {"Type": "Thai", "Pat": "Full", "Rain": "F"}
    wait = Fraction(6, 12) * Fraction(2, 6) * Fraction(2, 6) * Fraction(4, 6)
    leave = Fraction(6, 12) * Fraction(2, 6) * Fraction(4, 6) * Fraction(4, 6)
    names = dict(zip(model.classes, model.p(row).values(), strict=True))
    assert names["T"] == pytest.approx(float(wait / (wait + leave)), abs=1e-15)


def test_gender_measurements_both_variances():
    table = cr.examples.gender_measurements()
    sample = cr.naive_bayes(table, "sex", variance="sample")
    row = {"height": 6, "weight": 130, "foot_size": 8}

    def density(model, name):
        at = list(model.classes).index("male")
        return float(np.exp(model.feature(name).log_p([row[name]])[at]))

    assert density(sample, "weight") == pytest.approx(5.98674e-6, rel=1e-5)
    assert density(sample, "foot_size") == pytest.approx(1.3112e-3, rel=1e-4)
    male = sample.feature("height").variance[list(sample.classes).index("male")]
    assert male == pytest.approx(3.5033e-2, rel=1e-4)
    joint = np.exp(sample.log_joint(row))
    assert joint[list(sample.classes).index("female")] == pytest.approx(5.3778e-4, rel=1e-4)
    ml = cr.naive_bayes(table, "sex", variance="ml")
    assert ml.feature("height").variance == pytest.approx(sample.feature("height").variance * 3 / 4)
    assert sample.p(row)["female"] > 0.99 and ml.p(row)["female"] > 0.99


def test_surprise_candy():
    table = cr.read(
        {
            "Flavor": ["cherry", "cherry", "lime", "lime"],
            "Wrapper": ["red", "green", "red", "green"],
            "n": [300, 100, 120, 480],
        },
        weights="n",
    )
    model = cr.naive_bayes(table, "Flavor", smoothing=0)
    assert model.prior["cherry"] == pytest.approx(400 / 1000)  # the slide prints 400/100
    wrapper = model.feature("Wrapper")
    red = wrapper.variable.code("red")
    assert np.exp(wrapper.log_theta[:, red]) == pytest.approx([0.75, 0.20])
    form = model.linear_form()
    assert form.decide({"Wrapper": "red"})[0] == pytest.approx(np.log(600 * 0.2 / (400 * 0.75)))


def test_spam_with_weights_is_spam_with_copies():
    weighted = cr.naive_bayes(cr.examples.spam_emails_weighted(), "Spam")
    copies = cr.naive_bayes(cr.examples.spam_emails_duplicates(), "Spam")
    for name in copies.names:
        assert np.array_equal(weighted.feature(name).log_theta, copies.feature(name).log_theta)
    assert np.array_equal(weighted.log_prior, copies.log_prior)


def test_spam_linear_separator_with_the_slides_parameters():
    theta0, theta1 = np.array([0.01, 0.03, 0.1, 0.1]), np.array([0.1, 0.2, 0.1, 0.001])
    w = np.log(theta1 / (1 - theta1)) - np.log(theta0 / (1 - theta0))
    b = np.log((1 - theta1) / (1 - theta0)).sum()
    n = 1000
    rows = {"Spam": [0] * n + [1] * n}
    for j, name in enumerate(("Free", "Offer", "Lecture", "CS")):
        ones0, ones1 = round(n * theta0[j]), round(n * theta1[j])
        rows[name] = [1] * ones0 + [0] * (n - ones0) + [1] * ones1 + [0] * (n - ones1)
    form = cr.naive_bayes(rows, "Spam", smoothing=0).linear_form()
    assert form.bias[0] == pytest.approx(b)
    assert form.weights[0] == pytest.approx(w)
    assert form.decide({"Free": 0, "Offer": 0, "Lecture": 1, "CS": 1})[0] < 0  # not spam
    assert form.ranking(1)[0][0] == ("CS", 1)


def test_mail_by_mitchells_rule():
    mail = ["Hello my car is", "Do you offer discount", "I want to offer"]
    clf = TextNaiveBayes().fit(mail, ["important", "not", "not"])
    v = len(clf.vocabulary_)
    assert v == 11
    at = clf.vocabulary_.index("offer")
    assert np.exp(clf.model_.table[at]) == pytest.approx([1 / (4 + v), 3 / (8 + v)])
    # a word that is not in the vocabulary is skipped
    assert clf.predict_proba(["offer"]) == pytest.approx(clf.predict_proba(["offer zebra"]))
    assert clf.predict_proba(["zebra"])[0] == pytest.approx([1 / 3, 2 / 3])


def test_class_preference():
    table = cr.examples.class_preference()
    like = np.array([r >= 0 for r in table.values("Rating")])
    names = [n for n in table.schema.names if n != "Rating"]
    X = np.array([list(row) for row in zip(*(table.values(n) for n in names), strict=True)])
    clf = NaiveBayes(smoothing=0).fit(X, like)
    sys = clf.model_.feature(f"x{names.index('Sys?')}")
    yes = sys.variable.code("y")
    assert np.exp(sys.log_theta[:, yes]) == pytest.approx([1.0, 2 / 12])
    assert clf.score(X, like) >= 0.9
