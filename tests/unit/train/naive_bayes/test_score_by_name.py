"""`score` takes the name of the class, as `fit` does."""

import numpy as np
import pytest

import credo as cr
from credo.errors import InputError, UnknownNameError
from credo.estimators import NaiveBayes, NetworkClassifier


@pytest.mark.parametrize("make", [NaiveBayes, NetworkClassifier])
def test_score_by_the_name_of_the_class(make, tmp_path):
    table = cr.examples.pneumonia()
    frame = table.to("pandas")
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    clf = make().fit(path, "Pneu")
    told = clf.score(frame.drop(columns="Pneu"), frame["Pneu"])
    assert 0.5 < told < 1
    for rows in (path, str(path), frame, table, cr.read(path, memory=1)):
        assert clf.score(rows, "Pneu") == told
    wrong = clf.predict(frame) != frame["Pneu"].to_numpy()
    assert clf.score(path, "Pneu", sample_weight=wrong.astype(float)) == 0
    assert clf.score(cr.read(frame, weights=wrong + 1), "Pneu") == pytest.approx(
        (~wrong).sum() / (wrong + 1).sum()
    )
    frame["Pneu"] = frame["Pneu"].astype(object)
    frame.loc[np.flatnonzero(wrong), "Pneu"] = None  # a class that is missing is not scored
    assert clf.score(frame, "Pneu") == 1
    with pytest.raises(UnknownNameError, match="Did you mean 'Pneu'"):
        clf.score(path, "Pnu")


def test_a_class_of_which_nothing_is_known_cannot_be_scored():
    clf = NaiveBayes().fit({"a": [1, 2] * 5, "y": [True, False] * 5}, "y")
    assert clf.score({"a": [1, 2, 1], "y": [True, False, None]}, "y") == 1
    with pytest.raises(InputError):
        clf.score({"a": [1, 2], "y": [None, None]}, "y")
