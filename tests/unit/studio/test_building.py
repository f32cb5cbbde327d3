"""Build: a network is one at every step; rows add up to 1, or are normalised on request."""

import numpy as np
import pytest

import credo as cr
from credo.errors import CredoError
from credo.studio.session import Session
from credo.studio.sessions import beginning


@pytest.fixture
def session():
    return Session(beginning(None, None))


def do(session, name, /, **args):
    return session.dispatch(name, {"seq": session.version + 1, **args})


def built(session):
    do(session, "add-node", name="rain", states=["no", "yes"])
    do(session, "add-node", name="wet", states=["no", "yes"])
    do(session, "add-edge", **{"from": "rain", "to": "wet"})
    do(session, "type", name="rain", rows=[[0.8, 0.2]], normalise=False)
    do(session, "type", name="wet", rows=[[0.9, 0.1], [0.2, 0.8]], normalise=False)
    return session.state.net


def test_a_network_from_nothing(session):
    net = built(session)
    expected = cr.Network(
        "[rain][wet|rain]",
        {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.2, 0.8]]},
        states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
    )
    assert net == expected
    space = {}
    exec(session.dispatch("script", {"seq": 0})["script"], space)
    assert space["net"] == expected
    for _ in range(5):
        do(session, "undo")
    assert session.state.net.names == ()
    assert do(session, "redo")["redo"]


def test_rows_must_add_up_or_are_normalised(session):
    built(session)
    with pytest.raises(CredoError, match=r"Row 2 of 'wet' must add up to 1, and adds up to 4"):
        do(session, "type", name="wet", rows=[[0.5, 0.5], [1, 3]], normalise=False)
    do(session, "type", name="wet", rows=[[0.5, 0.5], [1, 3]], normalise=True)
    assert session.state.net.cpt("wet").values.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    for rows, said in [
        ([[1, 1]], "must have 2 rows of 2 numbers"),
        ([[1, -1], [1, 1]], "-1 is no number of 0 or more"),
        ([[1, "x"], [1, 1]], "'x' is no number"),
        ([[0, 0], [1, 1]], "Row 1 of 'wet' has no number above 0"),
    ]:
        with pytest.raises(CredoError, match=said):
            do(session, "type", name="wet", rows=rows, normalise=True)


def test_parents_come_and_go_and_tables_follow(session):
    built(session)
    do(session, "add-node", name="sprinkler", states=["off", "on", "broken"])
    do(session, "add-edge", **{"from": "sprinkler", "to": "wet"})
    shown = session.dispatch("table", {"seq": 0, "name": "wet"})
    assert shown["parents"] == ["rain", "sprinkler"] and len(shown["rows"]) == 6
    assert shown["given"][1] == ["no", "on"] and shown["rows"][1] == [0.9, 0.1]
    do(session, "drop-edge", **{"from": "rain", "to": "wet"})
    assert np.allclose(session.state.net.cpt("wet").values, [[0.55, 0.45]] * 3)
    do(session, "change-node", name="sprinkler", to="hose", states=["off", "on"])
    assert session.state.net.dag.parents("wet") == ("hose",)
    assert session.state.net.cpt("wet").values.tolist() == [[0.5, 0.5]] * 2
    do(session, "drop-node", name="hose")
    assert session.state.net.names == ("rain", "wet")
    do(session, "change-node", name="wet", to="grass", states=["dry", "wet"])
    assert session.state.net.variable("grass").states == ("dry", "wet")


def test_what_cannot_be_built_is_refused(session):
    built(session)
    for name, args, said in [
        ("add-node", {"name": "rain", "states": ["a"]}, "There is a variable 'rain' already"),
        ("add-node", {"name": " ", "states": ["a"]}, "must have a name"),
        ("add-node", {"name": "x", "states": ["a", 1]}, "must be texts"),
        ("add-node", {"name": "x", "states": ["a", "a"]}, "twice"),
        ("add-edge", {"from": "wet", "to": "rain"}, "cycle"),
        ("drop-edge", {"from": "wet", "to": "rain"}, "There is no edge from 'wet' to 'rain'"),
        ("change-node", {"name": "wet", "to": "rain", "states": ["a"]}, "already"),
    ]:
        before = session.state
        with pytest.raises(CredoError, match=said):
            do(session, name, **args)
        assert session.state is before
