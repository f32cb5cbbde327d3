"""What the dialects write: names, texts and lists, and the same statement in each."""

from dataclasses import replace

import pytest

import credo as cr
from credo.predict.sql.dialects import DIALECTS, dialect_of

NET = cr.Network([("select", 'a `b`"c"')], {
    "select": {"it's": 0.8, "a\\b\n": 0.2},
    'a `b`"c"': {"it's": {"${x}": 0.9, "--": 0.1}, "a\\b\n": {"${x}": 0.2, "--": 0.8}},
})  # fmt: skip

WANTED = {
    "duckdb": ('"a `b`""c"""', "WHEN '${x}' THEN 0", 'AS "p_it_s"', "AS DOUBLE[])[", '"my t"'),
    "postgres": ('"a `b`""c"""', "WHEN '${x}' THEN 0", "FLOAT8 '", "AS DOUBLE PRECISION[]))[",
                 "FROM s_0 OFFSET 0"),
    "spark": ('`a ``b``"c"`', "WHEN '\\u0024{x}' THEN 0", "element_at(array(", "FROM `my t`"),
    "bigquery": ('`a \\`b\\`"c"`', "WHEN '${x}' THEN 0", "[ORDINAL(c_", "AS `p_it_s`"),
}  # fmt: skip


@pytest.mark.parametrize("name", DIALECTS)
def test_what_a_statement_holds(name):
    text = NET.to_sql(name, target="select", table="my t")
    for part in WANTED[name]:
        assert part in text, part
    assert "P('select' = 'a\\\\b\\n' | the row)" in text.splitlines()[1]
    assert text.count("(") == text.count(")")


def test_texts_and_names():
    assert dialect_of("Spark") is DIALECTS["spark"]
    assert DIALECTS["spark"].text("a\\'\n") == "'a\\\\\\'\\n'"
    assert DIALECTS["postgres"].text("a\\'\n") == "'a\\''\n'"
    assert DIALECTS["bigquery"].table(["my-project", "a.b", "t"]) == "`my-project`.`a.b`.`t`"
    with pytest.raises(cr.errors.UnknownNameError, match="'mysql' is not one that credo writes"):
        NET.to_sql("mysql", target="select")


def test_the_limits_of_an_engine_are_named(monkeypatch):
    small = replace(DIALECTS["bigquery"], most_bytes=500)
    monkeypatch.setitem(DIALECTS, "bigquery", small)
    with pytest.raises(
        cr.errors.LimitError, match=r"The statement has [\d,]+ bytes; bigquery takes"
    ):
        NET.to_sql("bigquery", target="select")
    narrow = replace(DIALECTS["postgres"], most_columns=2)
    monkeypatch.setitem(DIALECTS, "postgres", narrow)
    with pytest.raises(
        cr.errors.LimitError, match="columns in one SELECT; postgres takes at most 2"
    ):
        NET.to_sql("postgres", target="select")
