"""Mixtures as values and as learners: what they are, what they refuse, and in which words."""

import pickle

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoWarning, ImpossibleError, InputError, LimitError, UnknownNameError
from credo.estimators import GaussianMixture, LatentClasses
from credo.train.clusters.task import partition_gaussian, partition_latent_classes


def two_bells(n=200, seed=0, d=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    x[: n // 2] += 6
    return {f"x{j}": x[:, j] for j in range(d)}


# --- the value ------------------------------------------------------------------------------


def test_a_mixture_by_hand():
    part = cr.distributions.Gaussians(("x", "y"), [[0, 0], [3, 1]], [[[1, 0.5], [0.5, 2]]] * 2)
    colour = cr.Variable("colour", "discrete", ("red", "blue"))
    mixture = cr.Mixture(
        [0.25, 0.75], [part, cr.distributions.Tables(colour, [[0.9, 0.1], [0.2, 0.8]])]
    )
    assert mixture.k == 2 and mixture.names == ("x", "y", "colour")
    assert mixture.free_parameters == 1 + 4 + 6 + 2
    again = pickle.loads(pickle.dumps(mixture))
    rows = {"x": [1.0, None], "y": [0.0, 1.0], "colour": ["red", None]}
    np.testing.assert_array_equal(again.log_densities(rows), mixture.log_densities(rows))
    assert mixture.by_size().weights.tolist() == [0.75, 0.25]
    assert "class" in str(mixture) and "<table>" in mixture._repr_html_()
    with pytest.raises((AttributeError, TypeError)):
        mixture.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        mixture.weights[0] = 1


@pytest.mark.parametrize(
    ("weights", "parts", "message"),
    [
        ([0.5, 0.6], [cr.distributions.Rates("v", [1, 2])], "add up to 1"),
        ([1.0], [], "at least one column"),
        ([1.0], [cr.distributions.Rates("v", [1, 2])], "has 2 classes, and there are 1 weights"),
        ([1.0], ["v"], "Gaussians, Tables or Rates"),
        (
            [1.0],
            [cr.distributions.Rates("v", [1]), cr.distributions.Rates("v", [2])],
            "'v' is used twice",
        ),
        ([1.0], [cr.distributions.Rates("Class", [1])], "'Class' is used twice"),
        (
            [1.0],
            [
                cr.distributions.Gaussians(("a",), [[0]], [1], "spherical"),
                cr.distributions.Gaussians(("b",), [[0]], [1], "spherical"),
            ],
            "one part",
        ),
    ],
)
def test_what_is_no_mixture(weights, parts, message):
    with pytest.raises(InputError, match=message):
        cr.Mixture(weights, parts)


def test_parts_that_do_not_fit():
    with pytest.raises(InputError, match="positive definite"):
        cr.distributions.Gaussians(("a", "b"), [[0, 0]], [[[1, 2], [2, 1]]])
    with pytest.raises(InputError, match="must have the shape"):
        cr.distributions.Gaussians(("a", "b"), [[0, 0]], [1.0, 1.0], "full")
    with pytest.raises(InputError, match="must be finite"):
        cr.distributions.Gaussians(("a",), [[np.nan]], [1.0], "spherical")
    with pytest.raises(InputError, match="form must be"):
        cr.distributions.Gaussians(("a",), [[0]], [1.0], "round")
    with pytest.raises(InputError, match="above 0"):
        cr.distributions.Rates("v", [0.0])
    with pytest.raises(InputError, match="add up to 1"):
        cr.distributions.Tables(cr.Variable("c", "discrete", ("a", "b")), [[0.5, 0.6]])


def test_a_sample_has_the_moments():
    part = cr.distributions.Gaussians(("x", "y"), [[0, 0], [8, 1]], [[[1, 0.5], [0.5, 2]]] * 2)
    mixture = cr.Mixture([0.25, 0.75], [part, cr.distributions.Rates("v", [1.0, 5.0])])
    rows = mixture.sample(40_000, rng=1)
    label = rows["Class"].astype(int)
    assert abs((label == 1).mean() - 0.75) < 0.01
    own = np.stack([rows["x"], rows["y"]])[:, label == 1]
    np.testing.assert_allclose(np.cov(own), [[1, 0.5], [0.5, 2]], atol=0.05)
    assert abs(rows["v"][label == 0].mean() - 1) < 0.05
    assert mixture.sample(3, rng=1)["x"].tolist() == rows["x"][:3].tolist() or len(rows) == 40_000
    assert len(mixture.sample(0)) == 0


def test_networks_that_are_no_mixture():
    net = cr.Network("[a][b|a][c|b]", {"a": 0.5, "b": {False: 0.1, True: 0.8},
                                       "c": {False: 0.1, True: 0.8}})  # fmt: skip
    with pytest.raises(InputError, match="does not depend on 'a'"):
        cr.Mixture.from_network(net)
    net = cr.Network("[a][b|a]", {"a": 0.5, "b": {False: 0.1, True: 0.8}})
    assert cr.Mixture.from_network(net).k == 2
    with pytest.raises(UnknownNameError, match="Did you mean"):
        cr.Mixture.from_network(net, "aa")
    with pytest.raises(InputError, match="without parents"):
        cr.Mixture.from_network(net, "b")
    with pytest.raises(InputError, match="Poisson"):
        cr.Mixture([1.0], [cr.distributions.Rates("v", [1])]).to_network()


# --- learning ---------------------------------------------------------------------------------


def test_two_bells_are_found_and_counted():
    rows = two_bells()
    for form in ("full", "tied", "diagonal", "spherical"):
        for criterion in ("bic", "icl", "cheeseman-stutz"):
            mixture = cr.mixture(
                rows, "auto", covariance=form, criterion=criterion, max_components=4, restarts=2
            )
            assert mixture.k == 2, (form, criterion)
            assert mixture.candidates.best.k == 2
            assert len(mixture.candidates.tried) == 4
    assert "chosen by" in str(mixture.candidates)
    assert mixture.record.reason


def test_the_figures_of_the_candidate_are_those_of_the_mixture():
    rows = two_bells()
    mixture = cr.mixture(rows, 2)
    best = mixture.candidates.best
    assert mixture.bic(rows) == pytest.approx(best.bic, rel=1e-10)
    assert mixture.icl(rows) == pytest.approx(best.icl, rel=1e-8)
    assert mixture.log_likelihood(rows) == pytest.approx(best.log_likelihood, rel=1e-10)


def test_cheeseman_stutz_of_one_class_is_the_evidence():
    """With one class nothing is hidden: the criterion is ln P(rows), by the chain of predictions."""
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, 40)
    table = cr.read({"a": [f"s{c}" for c in cells]})
    found = cr.mixture(table, 1, prior=0).candidates.best.cheeseman_stutz
    belief = np.ones(3)
    expected = 0.0
    for c in cells:
        expected += np.log(belief[c] / belief.sum())
        belief[c] += 1
    assert found == pytest.approx(expected, rel=1e-9)
    x = rng.normal(3, 2, 25)
    found = cr.mixture({"x": x}, 1, covariance="diagonal").candidates.best
    sd = x.std()
    prior = cr.distributions.NormalInverseGamma(x.mean(), 0.01, 1.5, 0.5 * sd**2)
    assert found.cheeseman_stutz == pytest.approx(prior.log_marginal(x), rel=1e-6)
    y = x * 0.5 + rng.normal(size=25)
    joint = cr.distributions.NormalInverseWishart(
        [x.mean(), y.mean()], 0.01, 4, np.diag([x.var(), y.var()]), names=("x", "y")
    )
    for form in ("full", "tied"):
        found = cr.mixture({"x": x, "y": y}, 1, covariance=form).candidates.best
        expected = joint.log_marginal({"x": x, "y": y})
        assert found.cheeseman_stutz == pytest.approx(expected, rel=1e-6)


def test_a_prior_of_nothing_is_maximum_likelihood_and_a_strong_one_holds_classes_together():
    rows = two_bells()
    free = cr.mixture(rows, 2)
    weak = cr.mixture(rows, 2, prior=1.0)
    held = cr.mixture(rows, 2, prior=1e5)
    assert free.record.score >= weak.record.score > held.record.score
    spread = lambda m: float(np.abs(m.gaussians.means[0] - m.gaussians.means[1]).sum())  # noqa: E731
    assert spread(held) < spread(weak) < spread(free) + 1e-6


def test_the_average_over_k_is_the_weighted_density():
    rows = two_bells(60)
    options = {"restarts": 2, "max_components": 3, "covariance": "spherical"}
    whole = cr.mixture(rows, "auto", average=True, **options)
    p = whole.candidates.probabilities
    assert p.sum() == pytest.approx(1) and whole.k == sum(
        c.k for c, share in zip(whole.candidates.tried, p, strict=True) if share > 1e-9
    )
    one = cr.mixture(rows, "auto", **options)
    assert abs(whole.log_likelihood(rows) - one.log_likelihood(rows)) < 60
    assert "average" not in str(one.record)


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_the_record_of_an_average_is_its_own(covariance):
    rows = two_bells(60)
    whole = cr.mixture(
        rows, "auto", average=True, restarts=2, max_components=3, covariance=covariance
    )
    assert whole.record.score == pytest.approx(whole.log_likelihood(rows))
    assert "average over 3 numbers of classes" in whole.record.how
    assert whole.record.trace == ()


def test_mixed_kinds_with_gaps():
    rng = np.random.default_rng(1)
    z = rng.integers(0, 2, 400)
    rows = {
        "colour": [None if rng.random() < 0.1 else ("red" if rng.random() < (0.9, 0.1)[c] else "blue") for c in z],
        "height": [None if rng.random() < 0.1 else float(rng.normal((150, 180)[c], 6)) for c in z],
        "visits": rng.poisson(np.array([1, 8])[z]),
    }  # fmt: skip
    mixture = cr.mixture(cr.read(rows, {"visits": "continuous"}), "auto", counts=["visits"],
                                max_components=4)  # fmt: skip
    assert mixture.k == 2
    label = mixture.predict(rows)
    agree = (label == z).mean()
    assert max(agree, 1 - agree) > 0.97
    np.testing.assert_allclose(mixture.responsibilities({"colour": [None]}), [mixture.weights])


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_small_weights_have_the_start_of_large_ones(covariance):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(m, 1, (30, 3)) for m in (0, 6)])
    w = rng.random(60)
    one, small = (
        cr.mixture(x, 2, covariance=covariance, weights=weights) for weights in (w, 1e-12 * w)
    )
    np.testing.assert_allclose(small.weights, one.weights, rtol=1e-9)
    assert small.predict(x).tolist() == one.predict(x).tolist() != [0] * 60


def test_weights_of_a_table_are_used():
    rows = {"x": [0.0, 0.2, 5.0, 5.2], "w": [9, 9, 1, 1]}
    table = cr.read(rows, weights="w")
    mixture = cr.mixture(table, 2, covariance="spherical")
    assert mixture.weights.tolist() == pytest.approx([0.9, 0.1])


def test_groups_by_mixtures():
    table = cr.read(two_bells())
    found = partition_gaussian(table, "auto", max_components=3)
    assert found.k == 2 and found.membership.shape == (200, 2)
    label, share = found.assign(table)
    assert (label == found.labels).all() and np.allclose(share, found.membership)
    assert set(found.quality) == {"log-likelihood", "bic", "icl"}
    with pytest.raises(UnknownNameError, match="Did you mean 'covariance'"):
        partition_gaussian(table, 2, covarience="full")
    with pytest.raises(InputError, match="Groups need one mixture"):
        partition_latent_classes(table, 2, average=True)


# --- bad input ------------------------------------------------------------------------------


def test_every_refusal_is_one_sentence():
    rows = two_bells(10)
    for call, message in [
        (lambda: cr.mixture(rows, 11), "11 classes are more than there are rows"),
        (lambda: cr.mixture(rows, 0), "k must be a whole number of 1 or more"),
        (lambda: cr.mixture(rows, "many"), "k must be a whole number or 'auto'"),
        (lambda: cr.mixture(rows, 2, covariance="round"), "covariance must be"),
        (lambda: cr.mixture(rows, 2, criterion="aic"), "criterion must be"),
        (lambda: cr.mixture(rows, 2, start="middle"), "start must be"),
        (lambda: cr.mixture(rows, 2, prior=-1), "prior must be at least 0"),
        (lambda: cr.mixture(rows, 2, restarts=0), "restarts must be"),
        (lambda: cr.mixture(rows, 2, variance_floor=2), "share of the variance"),
        (lambda: cr.mixture(rows, 2, rng=None), "rng must be"),
        (lambda: partition_gaussian(cr.read({"a": ["u", "v"], "x": [1.0, 2.5]}), 1), "'a' holds"),
        (lambda: cr.mixture(rows, 2, covariance="full", counts=["x0"]), "Counts are 0, 1"),
        (lambda: cr.mixture(rows, 2, counts=["x9"]), "not in the table"),
        (lambda: cr.mixture(rows, 2).responsibilities({"z": [1.0]}), "no column of the"),
        (lambda: GaussianMixture(2).fit([[1.0, np.inf], [1.0, 2.0]]), "infinity"),
        (lambda: LatentClasses(2, kinds={"q": "gaussian"}).fit(rows), "not in X"),
        (lambda: LatentClasses(2, kinds="odd").fit(rows), "must be 'categorical'"),
    ]:
        with pytest.raises((InputError, UnknownNameError, ValueError), match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_column_without_cells_is_refused_by_name():
    with pytest.raises(InputError, match="'x1' has no observed cell"):
        GaussianMixture(1).fit(np.array([[1.0, np.nan], [2.0, np.nan]]))


def test_too_many_numbers_are_refused_before_they_are_made():
    from credo.predict.rows.mixture_rows import laid

    with pytest.raises(LimitError, match="numbers a step"):
        laid(np.zeros((20_000, 2)), np.zeros((0, 2)), [], [], None, True, 10)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_degenerate_rows_give_finite_numbers(form):
    rng = np.random.default_rng(0)
    tables = [
        np.zeros((20, 2)),  # constant
        np.repeat([[1.0, 2.0], [3.0, 4.0]], 10, axis=0),  # duplicates
        np.column_stack([np.arange(20.0), 2 * np.arange(20.0)]),  # on a line
        np.column_stack([np.full(20, 7.0), rng.normal(size=20)]),  # one column constant
        np.where(rng.random((20, 2)) < 0.7, np.nan, rng.normal(size=(20, 2))),  # mostly gaps
        np.array([[1e9, 1e-9], [1e9 + 1, 2e-9], [1e9 + 2, 4e-9], [1e9 + 3, 1e-9]]),  # scales
        rng.normal(size=(3, 2)),  # as many classes as rows
    ]
    for x in tables:
        model = GaussianMixture(3, covariance_type=form, n_init=2, random_state=0).fit(x)
        assert np.isfinite(model.means_).all() and np.isfinite(model.covariances_).all()
        assert (np.diff(model.lower_bounds_) >= 0).all()
        share = model.predict_proba(x)
        assert np.isfinite(share).all() and np.allclose(share.sum(axis=1), 1)


def test_rows_with_every_cell_missing_belong_to_each_class_by_its_weight():
    x = np.array([[0.0], [0.1], [np.nan], [5.0], [5.1], [5.2]])
    model = GaussianMixture(2, covariance_type="spherical", random_state=0, n_init=3).fit(x)
    np.testing.assert_allclose(model.predict_proba([[np.nan]])[0], model.weights_)
    assert model.score_samples([[np.nan]])[0] == pytest.approx(0)


def test_far_away_rows_are_answered():
    model = GaussianMixture(2, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]])
    share = model.predict_proba([[1e200], [-1e200]])
    assert np.isfinite(share).all() and np.isfinite(model.score_samples([[1e200]])).all()


def test_states_never_seen_are_missing_with_a_warning():
    mixture = cr.mixture({"a": ["u", "v", "u", "v"], "b": ["p", "q", "p", "q"]}, 2)
    with pytest.warns(CredoWarning, match="does not know"):
        share = mixture.responsibilities({"a": ["w"], "b": ["p"]})
    np.testing.assert_allclose(share, mixture.responsibilities({"b": ["p"]}))


def test_maximum_likelihood_may_leave_a_row_impossible_and_says_minus_infinity():
    part = cr.distributions.Tables(
        cr.Variable("a", "discrete", ("u", "v")), [[1.0, 0.0], [1.0, 0.0]]
    )
    mixture = cr.Mixture([0.5, 0.5], [part])
    assert mixture.log_densities({"a": ["v"]})[0] == -np.inf
    with pytest.raises(ImpossibleError, match="no class allows a=v"):
        mixture.responsibilities({"a": ["v"]})


def test_estimators_take_frames_and_named_tables():
    import pandas as pd

    rows = two_bells()
    frame = pd.DataFrame(rows)
    a = GaussianMixture(2, random_state=0).fit(frame)
    b = GaussianMixture(2, random_state=0).fit(rows)
    assert list(a.feature_names_in_) == list(b.feature_names_in_) == ["x0", "x1"]
    np.testing.assert_allclose(a.means_, b.means_)
    frame["c"] = ["u", "v"] * 100
    c = LatentClasses("auto", max_classes=3, n_init=2, random_state=0).fit(frame)
    assert c.n_classes_ == 2 and c.predict(frame).shape == (200,)
    assert c.bic(frame) < c.aic(frame) + 1000
    auto = GaussianMixture("auto", max_components=3, n_init=2, random_state=0).fit(
        frame[["x0", "x1"]]
    )
    assert auto.n_components_ == 2


@pytest.mark.parametrize("form", ["full", "tied", "diagonal", "spherical"])
@pytest.mark.parametrize("columns", [1, 2])
def test_the_form_of_covariances_comes_back_from_a_network_and_its_file(form, columns, tmp_path):
    x = np.random.default_rng(0).normal(size=(60, columns)) + 5.0 * np.repeat([0, 1], 30)[:, None]
    mixture = cr.mixture(x, 2, covariance=form)
    network = mixture.to_network()
    network.save(tmp_path / "m.credo")
    for net in (network, cr.load(tmp_path / "m.credo")):
        back = cr.Mixture.from_network(net)
        assert back.gaussians.form == form
        assert back.free_parameters == mixture.free_parameters
        assert back.bic(x) == pytest.approx(mixture.bic(x))
    by_hand = cr.Mixture([0.5, 0.5], [mixture.gaussians])
    assert cr.Mixture.from_network(by_hand.to_network()).gaussians.form == form


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        (GaussianMixture, {"n_components": 0}, "n_components must be a whole number of 1 or more"),
        (GaussianMixture, {"n_components": "x"}, "n_components must be .* 'auto', got 'x'"),
        (GaussianMixture, {"max_iter": 0}, "max_iter must be"),
        (GaussianMixture, {"n_init": 2.5}, "n_init must be"),
        (LatentClasses, {"n_classes": 0}, "n_classes must be"),
        (LatentClasses, {"max_classes": "x"}, "max_classes must be"),
    ],
)
def test_estimators_refuse_by_their_own_names(kind, options, words):
    with pytest.raises(InputError, match=words):
        kind(**options).fit(np.arange(8.0).reshape(4, 2))


def test_a_start_of_text_is_refused_in_words():
    given = {"weights_init": ["a"], "means_init": [[1.0]], "precisions_init": [[[1.0]]]}
    with pytest.raises(InputError, match="Numbers are needed"):
        GaussianMixture(1, **given).fit(np.arange(4.0)[:, None])


@pytest.mark.parametrize("old", ["gaussian_mixture", "latent_classes"])
def test_old_names_answer_with_a_warning_that_says_the_new_one(old):
    with pytest.warns(DeprecationWarning, match=f"credo.{old} is now credo.mixture"):
        learn = getattr(cr, old)
    assert old not in cr.__all__ and old not in dir(cr)
    rows = {"x": [1.0, 1.5, 1.2, 7.0, 7.5, 7.2]}
    with pytest.warns(DeprecationWarning, match="budget= of .* is now max_iter="):
        found = learn(rows, 2, covariance="diagonal", prior=1, restarts=5, budget=7)
    same = cr.mixture(rows, 2, covariance="diagonal", prior=1, restarts=5, max_iter=7)
    assert found.record.trace == same.record.trace
