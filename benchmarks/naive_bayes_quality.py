"""How good naive Bayes is on real tables: held-out accuracy and log loss, five folds.

credo takes each table as it is: by default, with every number a Gaussian, and with variances by
maximum likelihood.
GaussianNB gets states as numbers and gaps as means, CategoricalNB states as numbers and other
numbers in five bins of equal share, logistic regression states as 0/1 and numbers in units of their
standard deviation. Tables that are not on this machine are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench

TABLES = {
    "adult.csv.gz": "income", "breast_cancer_ljubljana.csv": "class",
    "breast_cancer_wisconsin.csv": "Class", "car_evaluation.csv": "class", "digits.csv": "target",
    "german_credit.csv": "class", "heart_cleveland.csv": "num", "horse_colic.csv": "outcome",
    "house_votes_84.csv": "Class", "letter.csv.gz": "lettr", "mushroom.csv.gz": "class",
    "nursery.csv.gz": "class", "penguins.csv": "species", "pima_tr2.csv": "type",
    "seattle_weather.csv": "weather", "sonar.csv": "Class", "soybean.csv": "Class",
    "student_survey.csv": "Exer", "titanic.csv": "Survived", "zoo.csv": "type",
}  # fmt: skip
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
ASIDE = ("Id", "Name", "Ticket", "Cabin", "PassengerId", "animal")
MOST = 4_000  # rows of a table


def quality(bench: Bench, folder: Path) -> None:
    """A row a table; ties count for credo."""
    lines, ahead, behind = [], 0, 0
    for name, X, y in tables(folder):
        found = {who: held_out(make, X, y) for who, make in MAKERS.items()}
        mine, theirs = found["credo"], found["GaussianNB"]
        ahead += mine[1] <= theirs[1] + 1e-9
        behind += mine[0] < theirs[0] - 0.01
        size = f"{len(y):,} × {X.shape[1]}"
        lines.append([name, size, *(f"{a:.3f}  {loss:.3f}" for a, loss in found.values())])
    bench.grid(
        "held-out accuracy and log loss, 5 folds",
        ["table", "rows × columns", *MAKERS],
        lines,
        note=f"Log loss ahead of GaussianNB on {ahead} of {len(lines)} tables; accuracy behind by "
        f"more than 0.01 on {behind}.",
    )


def tables(folder: Path) -> Any:
    """Name, columns and classes of each table at hand."""
    import pandas as pd
    from sklearn import datasets

    for name in BUNDLED:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
        yield f"{name} (scikit-learn)", X, y.astype(str).to_numpy()
    for name, target in TABLES.items():
        if not (folder / name).exists():
            continue
        gaps = ["?", "NA", "NaN", ""]
        frame = pd.read_csv(folder / name, na_values=gaps, keep_default_na=False)
        dates = [c for c in frame if frame[c].dtype.kind == "O" and frame[c].is_unique]
        frame = frame.drop(columns=[c for c in frame if c in (*ASIDE, *dates)])
        often = frame[target].value_counts()
        frame = frame[frame[target].isin(often[often >= 5].index)]
        if len(frame) > MOST:
            frame = frame.sample(MOST, random_state=0)
        frame = frame.reset_index(drop=True)
        yield name.split(".")[0], frame.drop(columns=target), frame[target].astype(str).to_numpy()


def held_out(make: Callable[[Any], Any], X: Any, y: Any) -> tuple[float, float]:
    """Accuracy and log loss of rows that were not learned from."""
    from sklearn.model_selection import StratifiedKFold

    classes = np.unique(y)
    p = np.zeros((len(y), len(classes)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows, rest in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            model = make(X).fit(X.iloc[rows], y[rows])
            p[np.ix_(rest, np.searchsorted(classes, model.classes_))] = model.predict_proba(
                X.iloc[rest]
            )
    p = np.clip(p, 1e-15, 1)
    p /= p.sum(axis=1, keepdims=True)
    code = np.searchsorted(classes, y)
    loss = -np.log(p[np.arange(len(y)), code]).mean()
    return float((p.argmax(axis=1) == code).mean()), float(loss)


def credo(**options: Any) -> Callable[[Any], Any]:
    from credo.estimators import NaiveBayes

    return lambda X: NaiveBayes(**options)


def network(X: Any) -> Any:
    from credo.estimators import NetworkClassifier

    return NetworkClassifier()


def peer(kind: str) -> Callable[[Any], Any]:
    """One of scikit-learn's, with what it needs to take such a table."""

    def make(X: Any) -> Any:
        from sklearn import naive_bayes as sk
        from sklearn import preprocessing as pre
        from sklearn.compose import make_column_transformer
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        numbers = [c for c in X if X[c].dtype.kind in "iuf"]
        few = [c for c in numbers if kind == "categorical" and X[c].nunique() <= 20]
        numbers = [c for c in numbers if c not in few]
        states = [c for c in X if c not in numbers]
        text = pre.FunctionTransformer(lambda f: f.astype(object).where(f.notna(), "?").astype(str))
        ordinal = pre.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        bins = pre.KBinsDiscretizer(5, encode="ordinal", quantile_method="averaged_inverted_cdf")
        ways = {
            "gaussian": ([], [ordinal], sk.GaussianNB()),
            "categorical": (
                [bins],
                [ordinal, pre.FunctionTransformer(lambda x: x + 1)],
                sk.CategoricalNB(min_categories=[
                    5 if c in numbers else X[c].nunique(dropna=False) + 1
                    for c in [*numbers, *states]
                ]),
            ),
            "logistic": (
                [pre.StandardScaler()],
                [pre.OneHotEncoder(handle_unknown="ignore")],
                LogisticRegression(max_iter=300),
            ),
            "boosting": ([], [ordinal], HistGradientBoostingClassifier(random_state=0)),
        }  # fmt: skip
        of_numbers, of_states, model = ways[kind]
        return make_pipeline(
            make_column_transformer(
                (make_pipeline(SimpleImputer(), *of_numbers), numbers),
                (make_pipeline(text, *of_states), states),
                sparse_threshold=0,
            ),
            model,
        )

    return make


MAKERS = {
    "credo": credo(),
    "credo, numbers='gaussian'": credo(numbers="gaussian"),
    "credo, variance='ml'": credo(variance="ml"),
    "GaussianNB": peer("gaussian"),
    "CategoricalNB": peer("categorical"),
    "logistic regression": peer("logistic"),
}
OTHERS = {"credo TAN": network, "gradient boosting": peer("boosting")}
"""Classifiers that are no naive Bayes."""
