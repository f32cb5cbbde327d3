"""Learn: kinds and rules are changes like any other; gains are scores apart; a job is one change."""

import time

import pytest

import credo as cr
from credo.errors import CredoError
from credo.studio.rows import rows_of
from credo.studio.session import Session
from credo.studio.sessions import beginning


@pytest.fixture
def tennis(tmp_path):
    table = cr.examples.play_tennis()
    lines = [",".join(table.schema.names)]
    lines += map(",".join, zip(*(table.values(n) for n in table.schema.names), strict=True))
    (tmp_path / "tennis.csv").write_text("\n".join(lines))
    return Session(beginning(None, rows_of(tmp_path / "tennis.csv")))


def ask(session, name, /, **args):
    return session.dispatch(name, {"seq": 0, **args})


def do(session, name, /, **args):
    return session.dispatch(name, {"seq": session.version + 1, **args})


def finished(session):
    session.job.wait(30)
    assert not session.job.running and not session.job.error, session.job.error
    return session


def test_a_table_begins_without_edges_and_is_learned(tennis):
    shown = ask(tennis, "learning")
    assert shown["table"]["rows"] == 14 and shown["graph"]["edges"] == []
    ask(tennis, "learn")
    net = finished(tennis).state.net
    expected = cr.learn(cr.examples.play_tennis(), rng=0)
    assert net.dag == expected.dag and tennis.version == 1
    assert ask(tennis, "learning")["score"] == pytest.approx(expected.record.score)
    job = ask(tennis, "open")["job"]
    assert job["score"] == pytest.approx(expected.record.score) and job["trace"]
    do(tennis, "undo")
    assert not tennis.state.net.dag.edges


def test_kinds_are_changed_and_undone(tennis):
    do(tennis, "kind", name="Wind", kind="drop")
    assert "Wind" not in tennis.state.net.names
    [wind] = [c for c in ask(tennis, "learning")["table"]["columns"] if c["name"] == "Wind"]
    assert not wind["used"] and wind["chosen"] == "drop"
    do(tennis, "undo")
    assert "Wind" in tennis.state.net.names
    with pytest.raises(CredoError, match="is not in tennis"):
        do(tennis, "kind", name="Wnd", kind="drop")
    with pytest.raises(CredoError, match="A column is taken as one of"):
        do(tennis, "kind", name="Wind", kind="text")


def test_rules_hold_in_what_is_learned(tennis):
    do(tennis, "rule", rule="required", **{"from": "Wind", "to": "Outlook"})
    do(tennis, "rule", rule="forbidden", **{"from": "Temperature", "to": "Humidity"})
    do(tennis, "tier", name="PlayTennis", tier=2)
    for name in ("Outlook", "Temperature", "Humidity", "Wind"):
        do(tennis, "tier", name=name, tier=1)
    do(tennis, "choose", what="search", value="hill-climb")
    do(tennis, "choose", what="score", value="bic")
    ask(tennis, "learn")
    net = finished(tennis).state.net
    assert ("Wind", "Outlook") in net.dag.edges
    assert ("Temperature", "Humidity") not in net.dag.edges
    assert not net.dag.children("PlayTennis")
    assert net.record.details["search"] == "hill-climb"
    with pytest.raises(CredoError):
        do(tennis, "rule", rule="required", **{"from": "PlayTennis", "to": "Wind"})
    with pytest.raises(CredoError, match="Did you mean 'bic'"):
        do(tennis, "choose", what="score", value="bci")


def test_a_gain_is_the_change_of_the_score(tennis):
    ends = {"from": "Temperature", "to": "Humidity"}
    before = ask(tennis, "learning")["score"]
    gains = ask(tennis, "gains", **ends)["gains"]
    assert gains["remove"] is None and gains["reverse"] is None
    do(tennis, "edit", how="add", **ends)
    after = ask(tennis, "learning")["score"]
    assert after - before == pytest.approx(gains["add"])
    assert after == pytest.approx(float(cr.score(tennis.state.net.dag, tennis.state.data)))
    gains = ask(tennis, "gains", **ends)["gains"]
    assert gains["add"] is None and gains["remove"] == pytest.approx(before - after)
    assert gains["reverse"] == pytest.approx(0.0, abs=1e-9)  # the score is one of equivalent graphs
    do(tennis, "edit", how="reverse", **ends)
    with pytest.raises(CredoError, match="There is no edge from 'Temperature' to 'Humidity'"):
        do(tennis, "edit", how="remove", **ends)


def test_two_graphs_side_by_side(tennis):
    do(tennis, "edit", how="add", **{"from": "Outlook", "to": "Wind"})
    do(tennis, "edit", how="add", **{"from": "Humidity", "to": "Temperature"})
    do(tennis, "edit", how="reverse", **{"from": "Outlook", "to": "Wind"})
    assert len(ask(tennis, "graphs")["graphs"]) == 4
    found = ask(tennis, "compare", a=1, b=3)
    assert found["turned"] == [("Outlook", "Wind")] and found["both"] == found["only_a"] == []
    assert found["only_b"] == [("Humidity", "Temperature")] and not found["equivalent"]


def test_a_search_is_stopped_and_the_best_is_kept():
    rng = 0
    n = 60
    names = [f"v{i}" for i in range(n)]
    dag = cr.Dag([(names[i // 2], names[i]) for i in range(1, n)], nodes=names)
    net = cr.Network(
        dag, {v: [[0.8, 0.2], [0.3, 0.7]] if i else [0.5, 0.5] for i, v in enumerate(names)}
    )
    session = Session(beginning(None, rows_of(net.sample(3000, rng=rng))))
    ask(session, "learn")
    for _ in range(600):
        if session.job.shown()["graph"]:
            break
        time.sleep(0.02)
    with pytest.raises(CredoError, match="Learning is still under way"):
        ask(session, "learn")
    ask(session, "stop")
    assert finished(session).state.net.record.reason == "interrupted"
    assert session.state.net.dag.edges


def test_the_script_learns_the_same(tennis, tmp_path, monkeypatch):
    do(tennis, "kind", name="Temperature", kind="drop")
    do(tennis, "choose", what="score", value="bic")
    ask(tennis, "learn")
    finished(tennis)
    do(tennis, "click", name="Wind", state=0, how="is")
    monkeypatch.chdir(tmp_path)
    space = {}
    exec(ask(tennis, "script")["script"], space)
    assert space["net"] == tennis.state.net


def test_rows_that_were_read_before_keep_their_kinds():
    session = Session(beginning(None, rows_of(cr.examples.play_tennis())))
    with pytest.raises(CredoError, match="their kinds are fixed"):
        do(session, "kind", name="Wind", kind="drop")
    empty = Session(beginning(None, None))
    with pytest.raises(CredoError, match="There is no table"):
        ask(empty, "learn")
