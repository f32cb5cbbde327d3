"""A report reads the table as the model does, and says how."""

import re
from html import unescape

from click.testing import CliRunner

import credo as cr
from credo import cli
from credo.reports.writing import report_html

ROWS = "sex,age,chol,level\n" + "".join(
    f"{i % 2}.0,{40 + i % 17}.5,{200 + i % 7}.25,{'low' if i % 3 else 'high'}\n" for i in range(60)
)


def plain(text):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", text)))


def test_kinds_states_and_dropped_columns_are_those_of_the_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    schema = {"sex": "continuous", "chol": "drop", "level": ["low", "high"]}
    rows = cr.read("rows.csv", schema=schema)
    cr.learn(rows, "bic", parameters=cr.BDeu(1), forbidden=[("sex", "age")]).save("m.credo")
    line = ["report", "m.credo", "--data", "rows.csv", "--no-checks", "-o", "r.html"]
    assert CliRunner().invoke(cli.app, line, catch_exceptions=False).exit_code == 0
    for page in (
        (tmp_path / "r.html").read_text(),
        report_html(cr.load("m.credo"), "rows.csv", checks=False),
    ):
        text = plain(page)
        assert "sex continuous" in text and "chol dropped" in text
        assert "chol continuous" not in text
        said = re.search(r"cr\.read\('rows\.csv', schema=(\{.*?\})\)", text)
        assert eval(said[1]) == schema
        flags = "--kind sex=continuous --states level=low,high --drop chol"
        assert f"credo learn rows.csv {flags} -o" in text
        assert "The record has forbidden=[('sex', 'age')]." in text


def test_interventions_come_with_a_caution():
    net = cr.learn(cr.examples.play_tennis(), "loglik", max_parents=1, parameters=cr.BDeu(1))
    text = plain(report_html(net))
    assert "do(" in text and "known to be causes" in text
