"""Real tables through learning and checking: no traceback, no number that is not one."""

import json

import numpy as np
import pytest

import credo as cr

TABLES = {
    "asia.csv": {},
    "horse_colic.csv": {"columns": 9},
    "marks.csv": {},
    "penguins.csv": {},
    "play_tennis.csv": {},
    "titanic.csv": {},
    "ugly.csv": {},
}


LONG = ("horse_colic.csv", "marks.csv", "penguins.csv")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in TABLES]
)
def test_a_table_is_learned_and_checked(shared_tables, name):
    table = cr.read(str(shared_tables / name)).take(slice(0, 400))
    table = table.select(table.schema.names[: TABLES[name].get("columns", 14)])
    net = cr.learn(table, search="hill-climb", max_parents=3)
    report = cr.check(net, table, draws=20, edges=2, folds=3)
    assert report.held_out is not None and report.predictive is not None
    assert np.isfinite(report.held_out.model.nats)
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["rows"] == len(table)
    assert str(report)
    assert report._repr_html_()


def test_weights_of_a_table(shared_tables):
    rows = cr.read(str(shared_tables / "spam_emails_weighted.csv"), weights="Weight")
    net = cr.fit(cr.Dag.empty(rows.schema.names), rows, prior=cr.BDeu(1))
    report = cr.check(net, rows, draws=20, edges=0, folds=2)
    assert report.rows == 3
