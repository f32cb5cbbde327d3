"""The studio's requests, malformed, out of order and huge: a sentence each time, and it goes on answering."""

import json
import random

import pytest

import credo as cr
from credo.errors import CredoError
from credo.studio.session import _CHANGES, _QUESTIONS, Session

NAMES = [*_CHANGES, *_QUESTIONS, "nothing", "", "__init__", "_click", "dispatch"]
VALUES = [
    None, True, False, 0, 1, -1, 2**31, 2**70, -(2**70), 0.5, 1e308, -1e-320, "", "a", "rain", "is",
    "do", "in", "not", "x" * 5000, "\ud800", "\x00", "<img onerror=alert(1)>", [], [1], {}, {"seq": 1},
    [[[[[]]]]],
]  # fmt: skip
KEYS = ["seq", "name", "state", "how", "value", "index", "open", "selected", "from", "to", "other"]


def network():
    return cr.Network("[rain][wet|rain]", {"rain": 0.2, "wet": {False: 0.1, True: 0.8}})


@pytest.mark.parametrize("seed", range(4))
def test_any_request_is_answered_or_refused_in_one_sentence(seed):
    rng = random.Random(seed)
    session = Session(network(), cr.read({"rain": [True, False], "wet": [True, None]}))
    for i in range(1500):
        name = rng.choice(NAMES)
        wanted = {**_CHANGES, **_QUESTIONS}.get(name, {})
        request = {"seq": i} | {k: rng.choice(VALUES) for k in wanted}
        for _ in range(rng.choice([0, 0, 1, 2])):
            request[rng.choice(KEYS)] = rng.choice(VALUES)
        if rng.random() < 0.05:
            request = rng.choice(VALUES)
        try:
            answer = session.dispatch(name, request)
        except CredoError as error:
            assert len(str(error)) < 1500
        else:
            json.dumps(answer, allow_nan=False)
    session.dispatch("clear", {"seq": 10**9, "name": None})
    answer = session.dispatch("beliefs", {"seq": 0})
    assert answer["beliefs"]["wet"]["p"] == pytest.approx([0.76, 0.24])
