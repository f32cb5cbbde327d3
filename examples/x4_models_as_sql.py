"""X4. Models as SQL: a classifier that scores a table where it lies.

Naive Bayes and TAN of the tennis days become SELECTs; DuckDB runs them on rows with gaps, and the
answers are those of predict_proba.
"""

import duckdb
import numpy as np

import credo as cr
from credo.estimators import NaiveBayes, NetworkClassifier

days = cr.examples.play_tennis()
con = duckdb.connect()
con.execute("CREATE TABLE days (id INT, Outlook TEXT, Temperature TEXT, Humidity TEXT, Wind TEXT)")
rows = [
    (1, "Sunny", "Cool", "High", "Strong"),
    (2, "Rain", None, "Normal", "Weak"),
    (3, None, None, None, None),
]
con.executemany("INSERT INTO days VALUES (?, ?, ?, ?, ?)", rows)
features = con.sql("SELECT * EXCLUDE id FROM days ORDER BY id").df()

for model in (NaiveBayes(), NetworkClassifier("tan")):
    model.fit(days, "PlayTennis")
    statement = model.to_sql("duckdb", table="days", keep="id")
    found = con.sql(f"{statement} ORDER BY id")
    print(f"{type(model).__name__}: a statement of {len(statement):,} characters")
    print(found)
    expected = model.predict_proba(features)
    assert np.allclose([row[1:] for row in found.fetchall()], expected, atol=1e-9)

for dialect in ("spark", "postgres", "bigquery"):
    text = NaiveBayes().fit(days, "PlayTennis").to_sql(dialect, table="shop.days", keep="id")
    print(f"\n{dialect} begins to read with:")
    print("\n".join(text.splitlines()[3:5])[:160])
