"""Sessions outlive the server: what was done is on disk, and read again it is the same."""

import pytest

import credo as cr
from credo.errors import CredoError
from credo.studio.rows import rows_of
from credo.studio.session import Session
from credo.studio.sessions import Sessions, beginning
from credo.studio.state import State

KEY = "0123456789abcdef"


def do(session, name, /, **args):
    return session.dispatch(name, {"seq": session.version + 1, **args})


@pytest.fixture
def sessions(tmp_path):
    (tmp_path / "two.csv").write_text("a,b\n" + "x,p\ny,q\nx,q\n" * 5)
    rows = rows_of(tmp_path / "two.csv")

    def make():
        return Sessions(beginning(None, rows), "two.csv", rows, tmp_path / "kept")

    (tmp_path / "kept").mkdir()
    return make


def test_a_session_goes_on_after_the_server_was_killed(sessions):
    before = sessions().of(KEY)
    do(before, "edit", how="add", **{"from": "a", "to": "b"})
    do(before, "click", name="b", state=1, how="is")
    do(before, "rule", rule="required", **{"from": "a", "to": "b"})
    do(before, "tier", name="a", tier=1)
    do(before, "click", name="a", state=0, how="not")
    do(before, "undo")
    after = sessions().of(KEY)
    assert after.states == before.states and after.at == before.at
    assert after.now() == before.now() | {"net": after.now()["net"]}
    assert do(after, "redo")["known"] == do(before, "redo")["known"]
    do(after, "undo")
    do(after, "clear", name=None)
    assert sessions().of(KEY).states == after.states


def test_a_line_cut_short_loses_that_line_alone(sessions, tmp_path):
    session = sessions().of(KEY)
    do(session, "click", name="a", state=0, how="is")
    with open(tmp_path / "kept" / f"{KEY}.jsonl", "a") as file:
        file.write('{"state": {"net"')
    assert sessions().of(KEY).moment == session.moment


def test_what_is_no_session_is_put_aside(sessions, tmp_path):
    (tmp_path / "kept" / f"{KEY}.jsonl").write_text('{"credo-studio": 1}\n{"at": 9}\n')
    assert sessions().of(KEY).version == 0
    assert (tmp_path / "kept" / f"{KEY}.damaged").exists()


def test_tables_models_and_sessions_are_dropped_on_the_page(sessions, tmp_path):
    store = sessions()
    session = store.of(KEY)
    net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    store.take(KEY, "C:\\rain.bif", cr.formats.dumps(net, "bif").encode())
    assert session.state.net.names == ("rain", "wet") and session.title == "rain.bif"
    store.take(KEY, "wet.csv", b"rain,wet\nTrue,True\nFalse,False\n")
    assert len(session.state.rows.table) == 2 and session.state.net.dag.edges == net.dag.edges
    store.take(KEY, "../other.csv", b"c,d\n1,2\n2,1\n")
    assert session.state.net.names == ("c", "d")
    assert not (tmp_path / "other.csv").exists()
    do(session, "kind", name="d", kind="drop")
    again = sessions().of(KEY)
    assert [s.net for s in again.states] == [s.net for s in session.states]
    assert [s.made for s in again.states] == [s.made for s in session.states]
    assert again.state.rows.kinds == (("d", "drop"),)
    text = session.dispatch("session", {"seq": 0})["text"]
    store.take("f" * 16, "mine.studio", text.encode())
    assert store.of("f" * 16).state.net == session.state.net
    for name in ("virus.exe", "..", "", "a.csv\0.png"):
        with pytest.raises(CredoError, match="is that of no table, no model and no session"):
            store.take(KEY, name, b"x")
    for data in (b"", b"{", b"[]", b'{"credo-studio": 2, "title": ""}\n', b'{"credo-studio": 1}\n'):
        with pytest.raises(CredoError):
            store.take(KEY, "x.studio", data)


def test_closing_keeps_the_best_of_what_is_learned(sessions):
    store = sessions()
    session = store.of(KEY)
    do(session, "choose", what="search", value="hill-climb")
    session.dispatch("learn", {"seq": 0})
    store.close()
    assert not session.job.running
    assert sessions().of(KEY).state.net.record.how.startswith("learned by hill-climb")


def test_a_model_in_every_format_it_can_be_written_in():
    net = cr.Network("[rain]", {"rain": 0.2})
    session = Session(State(net))
    for format in session.dispatch("formats", {"seq": 0})["formats"]:
        said = session.dispatch("model", {"seq": 0, "format": format})
        assert said["text"] or said["base64"]
    assert session.dispatch("model", {"seq": 0, "format": "bif"})["text"] == cr.formats.dumps(
        net, "bif"
    )


def test_a_network_from_nothing_is_kept_too(tmp_path):
    session = Sessions(beginning(None, None), "new", None, tmp_path).of(KEY)
    do(session, "add-node", name="rain", states=["no", "yes"])
    again = Sessions(beginning(None, None), "new", None, tmp_path).of(KEY)
    assert [s.net for s in again.states] == [s.net for s in session.states]
