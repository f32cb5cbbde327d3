"""A row that no class can have made: its density says −inf, and its class is refused, not guessed."""

import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.errors import ImpossibleError
from credo.estimators import LatentClasses

ROW = {"c": ["a", "zz"], "x": [0.0, 6.0]}


def frame():
    rng = np.random.default_rng(0)
    c = pd.Categorical(["a"] * 40 + ["b"] * 20, categories=["a", "b", "zz"])
    return pd.DataFrame({"c": c, "x": np.r_[rng.normal(size=40), rng.normal(size=20) + 6]})


def test_a_state_that_no_class_allows_is_refused_with_its_row():
    mixture = cr.mixture(frame(), 2, prior=0)
    for ask in (mixture.responsibilities, mixture.predict):
        with pytest.raises(ImpossibleError, match="Row 2 has probability zero in every class: no "):
            ask(ROW)
    with pytest.raises(
        ImpossibleError, match=r"no class allows c=zz\. So have 2 more\. Learn with"
    ):
        mixture.predict({"c": ["zz", "zz", "a", "zz"], "x": [1.0, None, 0.0, 2.0]})
    assert mixture.predict({"c": [None], "x": [6.0]}).tolist() == [1]
    with pytest.raises(ImpossibleError, match="c=zz"):
        mixture.to_network().p("Class", given={"c": "zz", "x": 6.0})


def test_densities_say_minus_infinity_as_those_of_a_network_do():
    mixture = cr.mixture(frame(), 2, prior=0)
    assert mixture.log_densities(ROW)[1] == -np.inf < mixture.log_densities(ROW)[0]
    assert mixture.log_likelihood(ROW) == mixture.bic(ROW) == mixture.icl(ROW) == -np.inf
    assert mixture.to_network().log_likelihood(ROW) == -np.inf


def test_a_row_of_weight_0_says_nothing():
    mixture = cr.mixture(frame(), 2, prior=0)
    rows = cr.read(
        ROW | {"n": [1, 0]}, {"c": ["a", "b", "zz"], "x": "continuous"}, weights="n"
    )  # fmt: skip
    alone = mixture.log_likelihood({"c": ["a"], "x": [0.0]})
    assert mixture.log_likelihood(rows) == pytest.approx(alone)


def test_two_cells_that_no_class_allows_together():
    yes = cr.Variable("p", "discrete", ("n", "y")), cr.Variable("q", "discrete", ("n", "y"))
    tables = [
        cr.distributions.Tables(v, [[1, 0], [0.5, 0.5]][:: 1 - 2 * i]) for i, v in enumerate(yes)
    ]
    mixture = cr.Mixture([0.5, 0.5], tables)
    assert mixture.predict({"p": ["y", "n"], "q": ["n", "y"]}).tolist() == [1, 0]
    told = "Row 1 has .*: p=y is impossible with Class=0; q=y is impossible with Class=1"
    with pytest.raises(ImpossibleError, match=told):
        mixture.predict({"p": ["y"], "q": ["y"]})


def test_a_class_without_weight_makes_no_row():
    colour = cr.Variable("c", "discrete", ("a", "b"))
    mixture = cr.Mixture([1.0, 0.0], [cr.distributions.Tables(colour, [[1, 0], [0, 1]])])
    with pytest.raises(ImpossibleError, match="no class allows c=b"):
        mixture.responsibilities({"c": ["b"]})


def test_groups_and_estimators_refuse_such_rows_too():
    groups = cr.cluster(frame(), "latent-class", k=2, prior=0)
    for ask in (groups.assign, groups.assign_membership):
        with pytest.raises(ImpossibleError, match="Row 2 has probability zero in every class"):
            ask(ROW)
    model = LatentClasses(2, prior=0, random_state=0).fit(frame())
    rows = pd.DataFrame(ROW).astype({"c": frame().c.dtype})
    for ask in (model.predict, model.predict_proba):
        with pytest.raises(ImpossibleError, match="Row 2 has probability zero in every class"):
            ask(rows)
    assert model.score_samples(rows)[1] == -np.inf == model.score(rows)


def test_a_row_far_out_is_not_impossible():
    mixture = cr.mixture(frame(), 2, prior=0)
    far = {"c": ["b"], "x": [1e200]}
    assert mixture.predict(far).tolist() == [1]
