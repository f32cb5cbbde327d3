"""Decision networks as values: how they are written down, what they refuse, how they look."""

import pickle

import numpy as np
import pytest
from tests.unit.predict.decisions.test_solving import OIL, PROFIT, SEISMIC, pigs, wildcatter

import credo as cr
from credo.errors import InputError, SchemaError, UnknownNameError
from credo.model.decisions.policy import policy_of

GRAPH = "[Oil][Test|Oil][Drill?|Test][Profit$|Drill:Oil]"
EDGES = [("Oil", "Test"), ("Test", "Drill"), ("Drill", "Profit"), ("Oil", "Profit")]


def test_one_network_in_several_ways():
    tables = {"Oil": OIL, "Test": SEISMIC}
    options = {"Drill": ["yes", "no"]}
    pairs = {(d, o): v for d, row in PROFIT.items() for o, v in row.items()}
    array = [list(row.values()) for row in PROFIT.values()]
    first = cr.DecisionNetwork(GRAPH, tables, utilities={"Profit": PROFIT})
    again = [
        cr.DecisionNetwork(GRAPH, tables, decisions=options, utilities={"Profit": pairs}),
        cr.DecisionNetwork(EDGES, tables, decisions=options, utilities={"Profit": array}),
        cr.DecisionNetwork(
            cr.Dag(EDGES), tables, decisions=["Drill"], utilities={"Profit": PROFIT}
        ),
        cr.Network("[Oil][Test|Oil]", tables).decide(
            {"Drill|Test": ["yes", "no"]}, {"Profit|Drill:Oil": PROFIT}
        ),
        pickle.loads(pickle.dumps(first)),
        cr.DecisionNetwork(GRAPH, cr.Network("[Oil][Test|Oil]", tables), utilities=first.utilities),
        cr.DecisionNetwork(first.notation, tables, utilities={"Profit": PROFIT}),
    ]
    for one in again:
        assert one == first and hash(one) == hash(first)
    assert first != wildcatter(memory="limited") and first != first.chance
    assert first.notation == GRAPH and first.decisions == ("Drill",)


def test_frames_and_utilities_as_values():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        [{"Drill": d, "Oil": o, "Profit": v} for d, r in PROFIT.items() for o, v in r.items()]
    )
    tables = {"Oil": OIL, "Test": SEISMIC}
    d = cr.DecisionNetwork(
        GRAPH, tables, decisions={"Drill": ["yes", "no"]}, utilities={"Profit": frame}
    )
    assert d == wildcatter()
    assert cr.DecisionNetwork(GRAPH, tables, utilities=d.utilities.values()) == d
    assert d.utilities["Profit"].values.tolist() == [[-70, 50, 200], [0, 0, 0]]


def test_a_utility_without_parents_and_a_constant():
    d = cr.DecisionNetwork("[D?][U$|D][Base$]", utilities={"U": {"go": 1, "stay": 2}, "Base": 10})
    assert d.solve().utility == 12


def test_a_variable_of_the_network_is_set():
    net = cr.Network(
        "[gene][smoke|gene][lung|gene:smoke]",
        {"gene": 0.5, "smoke": {False: 0.1, True: 0.9},
         "lung": {(False, False): 0.1, (False, True): 0.3, (True, False): 0.5, (True, True): 0.6}},
    )  # fmt: skip
    d = net.decide("smoke", {"U|smoke:lung": {False: {False: 0, True: -10},
                                              True: {False: 1, True: -9}}})  # fmt: skip
    for state in (False, True):
        p = net.do({"smoke": state}).p("lung")[True]
        assert d.ask(f"EU(smoke={state})") == pytest.approx(state - 10 * p)
    assert d.chance.dag.parents("smoke") == ()


@pytest.mark.parametrize(
    ("change", "said", "error"),
    [
        ({"graph": "[Oil][Test|Oil][Drill|Test][Profit$|Drill:Oil]"},
         "A decision network needs a decision", InputError),
        ({"graph": GRAPH + "[Late|Profit]", "tables": {"Oil": OIL, "Test": SEISMIC, "Late": 0.5}},
         "utility 'Profit' cannot be a parent", SchemaError),
        ({"utilities": {}}, "utility 'Profit' has no numbers", SchemaError),
        ({"utilities": {"Profit": {"yes": {"dry": 1, "wet": 2}}}},
         "no number for Drill=yes, Oil=soaking", InputError),
        ({"utilities": {"Profit": [1, 2]}, "decisions": {"Drill": ["yes", "no"]}},
         r"must have the shape \(2, 3\)", InputError),
        ({"utilities": {"Profit": np.full((2, 3), np.nan)}, "decisions": {"Drill": ["yes", "no"]}},
         "must be finite numbers", InputError),
        ({"utilities": {"Profit": [[1, 2, 3], [4, 5, 6]]}},
         "options of the decision 'Drill' are needed", InputError),
        ({"utilities": {"Profit": PROFIT, "Profti": PROFIT}}, "Did you mean 'Profit'",
         UnknownNameError),
        ({"tables": {"Oil": OIL, "Test": SEISMIC, "Drill": [0.5, 0.5]}},
         "'Drill' is a decision and cannot have a table", SchemaError),
        ({"memory": "some"}, "memory must be 'full' or 'limited'", InputError),
        ({"combine": "max"}, "combine must be 'add' or 'multiply'", InputError),
        ({"costs": {"Tset": 1}}, "Did you mean 'Test'", UnknownNameError),
        ({"costs": {"Test": -1}}, "must be 0 or more", InputError),
        ({"decisions": {"Drill": "yes"}}, "must be a list", InputError),
        ({"graph": "[Oil][Test|Oil][Drill?|Test"}, "cannot be read at character", InputError),
        ({"graph": "[Oil|Drill][Test|Oil][Drill?|Test][Profit$|Drill:Oil]"}, "make a cycle",
         InputError),
    ],
)  # fmt: skip
def test_refusals(change, said, error):
    parts = {
        "graph": GRAPH, "tables": {"Oil": OIL, "Test": SEISMIC}, "utilities": {"Profit": PROFIT},
    } | change  # fmt: skip
    with pytest.raises(error, match=said):
        cr.DecisionNetwork(parts.pop("graph"), parts.pop("tables"), **parts)


def test_it_is_frozen_and_shows_itself():
    d = pigs("limited")
    with pytest.raises(AttributeError, match="frozen value"):
        d.memory = "full"
    assert repr(d) == "DecisionNetwork(7 chance variables, 3 decisions, 4 utilities)"
    text = str(d)
    assert "decided in the order d1, d2, d3" in text and "limited memory" in text
    assert d._repr_html_().count('class="decision"') == 3
    assert 'd1" [shape=box]' in d.dot()


def test_what_a_decision_sees():
    assert pigs("full").sees("d2") == ("t1", "d1", "t2")
    assert pigs("limited").sees("d2") == ("t2",)
    with pytest.raises(UnknownNameError, match="Did you mean 'd1'"):
        pigs("full").sees("d11")


def test_policies_that_are_given():
    d = wildcatter()
    drill = d.variable("Drill")
    test = d.variable("Test")
    mixed = cr.Cpt(drill, (test,), [[0.5, 0.5], [1, 0], [1, 0]])
    by_hand = {"none": "no", "open": "yes", "closed": "yes"}
    found = d.compare({"best": None, "hand": {"Drill": by_hand}, "mixed": {"Drill": mixed},
                       "solved": d.solve(), "always": {"Drill": "yes"}})  # fmt: skip
    assert found["hand"].utility == pytest.approx(32.5) == found["solved"].utility
    assert found["mixed"].utility == pytest.approx(32.5 - 12.5 / 2)
    assert found["always"].utility == pytest.approx(20)
    with pytest.raises(InputError, match="no choice for Test=closed"):
        d.compare({"some": {"Drill": {"none": "no", "open": "yes"}}})
    with pytest.raises(InputError, match="no policy for the decision 'Drill'"):
        d.under({})
    with pytest.raises(InputError, match="looks at 'Oil', which it does not see"):
        d.under({"Drill": policy_of(drill, (d.variable("Oil"),), "yes")})
    with pytest.raises(UnknownNameError, match="State 'maybe'"):
        d.under({"Drill": "maybe"})


def test_simulated_rows_have_their_utility():
    d = wildcatter(costs={"Test": 10})
    run = d.simulate(n=20_000, rng=3)
    assert abs(run.mean - 22.5) < 4 * run.error
    drilled = np.asarray(run.rows["Drill"]) == "yes"
    assert (run.utilities[~drilled] == -10).all()
    assert "mean utility" in str(run) and len(run.rows) == 20_000
