"""Whatever is sent, in whatever order, a session answers or refuses in a sentence, and goes on."""

import json
import random

import pytest
from tests.json_schema import check

import credo as cr
from credo.errors import CredoError
from credo.studio.protocol import answer_of, request_of
from credo.studio.rows import rows_of
from credo.studio.session import VERBS, Session
from credo.studio.sessions import beginning
from credo.studio.state import State

ODD = ["", "wet", "rain", "Wind", "\0", "<img>", "é" * 300, "is", "add", "__class__", "bic", "auto"]
VALUES = [
    None, True, False, 0, 1, -1, 2**70, 0.5, -0.0, 1e308, 10**6, [], [[]], [[1, 1]], [1, "x"], {},
    {"a": 1}, ["no", "yes"], ["a"] * 1001, [[0.5, 0.5], [0.2, 0.8]], [[[[[]]]]],
]  # fmt: skip


def asked(rng, names, seq):
    """A request that is nearly right, or not at all."""
    name = rng.choice([*VERBS, *ODD])
    verb = VERBS.get(name)
    kinds = {} if verb is None else verb.kinds
    request = {"seq": rng.choice([seq] * 8 + [rng.randrange(400), rng.choice(VALUES)])}
    for key, wanted in kinds.items():
        if rng.random() < 0.05:
            continue
        likely = {str: [*names, *names, *ODD], list: VALUES, bool: [True, False]}
        request[key] = rng.choice(likely.get(rng.choice(wanted), VALUES))
    if rng.random() < 0.05:
        request[rng.choice(ODD)] = rng.choice(VALUES)
    return name, rng.choice([request] * 20 + VALUES)


def sessions():
    net = cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})
    yield Session(State(net, rows=rows_of(net.sample(50, rng=0))))
    yield Session(beginning(None, None))
    yield Session(beginning(None, rows_of(cr.examples.gender_measurements())))


@pytest.mark.parametrize("seed", range(3))
def test_anything_is_answered_or_refused(seed):
    rng = random.Random(seed)
    for session in sessions():
        answered = 0
        for _ in range(300):
            name, request = asked(rng, list(session.state.net.names) or ["a"], session.version + 1)
            if name in ("learn", "check", "new", "drop-node"):
                continue  # jobs have their own tests, and a session that is empty refuses most
            before = session.states
            try:
                answer = session.dispatch(name, request)
            except CredoError as error:
                assert "\n" not in str(error) and session.states == before
                continue
            answered += 1
            answer = json.loads(json.dumps(answer, allow_nan=False))
            check(answer, answer_of(name), name)
        assert answered > 20
        assert session.dispatch("beliefs", {"seq": 0})["known"] is not None


def test_a_request_is_described_as_it_is_checked():
    assert set(request_of("click")["required"]) == {"seq", "name", "state", "how"}
    net = cr.Network("[rain]", {"rain": 0.2})
    good = {"seq": 1, "name": "rain", "state": 0, "how": "is"}
    check(good, request_of("click"))
    Session(net).dispatch("click", good)
    for wrong in ({}, {**good, "seq": "1"}, {**good, "more": 1}, {**good, "state": True}):
        with pytest.raises(AssertionError):
            check(wrong, request_of("click"))
        with pytest.raises(CredoError):
            Session(net).dispatch("click", wrong)
