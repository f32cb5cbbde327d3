"""N8. Real tables: mixed kinds, gaps and new states in one classifier.

Uses the tables in ../shared/data/tables where they are; otherwise one that is made here.
"""

import warnings
from pathlib import Path

import numpy as np

import credo as cr
from credo.estimators import NaiveBayes, calibration_report, recalibrated

warnings.simplefilter(
    "ignore", cr.errors.CredoWarning
)  # constant columns, told in docs/classify.md
folder = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
wanted = {
    "adult.csv.gz": "income",
    "house_votes_84.csv": "Class",
    "mushroom.csv.gz": "class",
    "titanic.csv": "Survived",
    "digits.csv": "target",
}
tables = {n: (cr.read(folder / n), t) for n, t in wanted.items() if (folder / n).exists()}
if not tables:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    made = {
        "y": y,
        "colour": np.where(
            rng.random(500) < 0.1, None, np.where(rng.random(500) < 0.3 + 0.4 * y, "red", "blue")
        ).tolist(),
        "size": np.where(rng.random(500) < 0.2, np.nan, rng.normal(size=500) + y),
    }
    tables = {"made here": (cr.read(made), "y")}

for name, (table, target) in tables.items():
    target = target if target in table.schema else table.schema.names[-1]
    gaps = sum(table.schema.missing.values()) / len(table.schema)
    train, test = table.take(slice(0, None, 2)), table.take(slice(1, None, 2))
    clf = NaiveBayes().fit(train, target)
    right = clf.predict(test) == np.array(test.values(target))
    kinds = list(clf.kinds_.values())
    print(
        f"{name}: {len(table):,} rows, {kinds.count('categorical')} categorical, "
        f"{kinds.count('gaussian')} Gaussian and {kinds.count('binned')} binned features, "
        f"{gaps:.1%} missing: "
        f"accuracy {right.mean():.3f} on the other half"
    )
    assert right.mean() > 0.6

# Features that repeat each other make naive Bayes too sure; isotonic regression mends it.
rng = np.random.default_rng(1)
y = rng.integers(0, 2, 2000)
x = (rng.random((2000, 4)) < 0.3 + 0.4 * y[:, None]).astype(int)
print("\nevery feature four times")
before = calibration_report(NaiveBayes(), np.tile(x, 4), y)
after = calibration_report(recalibrated(NaiveBayes()), np.tile(x, 4), y)
print(f"before: {before.title}\nafter:  {after.title}")
assert after.log_loss < before.log_loss
