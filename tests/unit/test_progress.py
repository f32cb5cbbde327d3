"""A deadline for tracked work: what is late, or will be at its pace, ends with a sentence."""

import time

import pytest

from credo.core import progress
from credo.core.progress import on_time, track, within
from credo.errors import CredoError, LateError


def test_without_a_deadline_nothing_ends():
    on_time("anything", 1e9)
    assert list(track("abc", "letters", total=3)) == ["a", "b", "c"]


def test_a_past_deadline_ends_the_work_with_a_sentence():
    with pytest.raises(LateError, match="There was no time left for counting"), within(0.0):
        list(track("abc", "counting"))
    assert issubclass(LateError, CredoError) and issubclass(LateError, TimeoutError)


def test_work_that_cannot_be_done_in_time_is_given_up_early(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    seen = []
    with pytest.raises(LateError), within(30.0):
        for i in track(range(10_000), "slow work", total=10_000):
            seen.append(i)
            time.sleep(0.02)
    assert len(seen) < 5


def test_the_sooner_of_two_deadlines_holds():
    with within(0.0), pytest.raises(LateError), within(60.0):
        on_time("the inner work")
    on_time("what comes after")
