"""A column that reading set aside says so, and what to do, wherever a learner is given its name."""

import warnings

import pytest

import credo as cr
from credo.errors import SchemaError

ROWS = {
    "id": list(range(40)),
    "site": ["north"] * 40,
    "a": ["x", "y"] * 20,
    "b": ["u", "u", "v", "v"] * 10,
}
GAPS = {**ROWS, "b": [None, *ROWS["b"][1:]]}
MIXED = {**GAPS, "c": [0.5 * (i % 7) + 0.01 * i for i in range(40)]}
TELLS = r"The column 'id' was set aside: .* Read the table with schema=\{'id': 'discrete'\}"

OPTIONS = {
    "required": {"required": [("id", "a")]},
    "forbidden": {"forbidden": [("a", "id")]},
    "tiers": {"tiers": [["id"], ["a", "b"]]},
    "max_parents": {"max_parents": {"id": 1}},
    "candidates": {"candidates": {"a": ["id"]}},
    "start": {"search": "hill-climb", "start": "[id][a|id][b]"},
    "edge_prior": {"edge_prior": {("id", "a"): 0.3}},
    "order": {"search": "k2", "order": ["id", "a", "b"]},
    "target": {"search": "tan", "target": "id"},
    "root": {"search": "chow-liu", "root": "id"},
}


@pytest.mark.parametrize("rows", [ROWS, GAPS, MIXED], ids=["whole", "gaps", "mixed"])
@pytest.mark.parametrize("option", OPTIONS)
def test_learn(option, rows):
    with pytest.raises(SchemaError, match=TELLS):
        cr.learn(cr.read(rows), **OPTIONS[option])


@pytest.mark.parametrize(
    "option",
    [{"kinds": {"id": "categorical"}}, {"states": {"id": [0, 1]}}, {"covariance": [["id", "b"]]}],
    ids=lambda option: next(iter(option)),
)
def test_naive_bayes(option):
    with pytest.raises(SchemaError, match=TELLS):
        cr.naive_bayes(cr.read(ROWS), "a", **option)


def test_a_model_of_the_column():
    known = cr.read(ROWS, schema={"id": "discrete"})
    net = cr.fit("[id][a|id]", known)
    field = cr.fit(cr.UndirectedGraph([("id", "a")]), known)
    for learn in (lambda t: cr.fit(net, t), lambda t: cr.fit(field, t)):
        with pytest.raises(SchemaError, match=TELLS):
            learn(cr.read(ROWS))


def test_cells_that_were_set_aside_are_not_silently_taken_for_gaps():
    known = cr.read(ROWS, schema={"site": ["north", "south"]})
    net = cr.fit("[site][a|site][b]", known)
    tells = r"'site' was set aside \(every cell is 'north'\) and is taken as missing.*net.schema\)"
    for ask in (net.log_likelihood, net.impute, lambda t: net.predict_proba(t, "a")):
        with pytest.warns(cr.errors.CredoWarning, match=tells):
            ask(cr.read(ROWS))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ask(known)
    table = cr.read({"a": ["x", "y"], "site": [None, None]})  # nothing was observed of it
    assert net.log_likelihood(table) == pytest.approx(net.log_likelihood({"a": ["x", "y"]}))
    dropped = cr.read(ROWS, schema={"site": "drop"})
    rows = {n: ROWS[n] for n in "ab"}
    assert net.log_likelihood(dropped) == pytest.approx(net.log_likelihood(rows))
