"""Variables, schemas, errors, text and progress."""

import math
import pickle
import time

import numpy as np
import pytest

import credo as cr
import credo.errors
from credo.core import errors, progress, render
from credo.core.progress import on_time, track, within
from credo.core.schema import is_missing
from credo.data.sources.feed import prefetch
from credo.errors import CredoError, LateError

# --- Variables, schemas, errors, text and progress ---


def test_states_of_several_types():
    v = cr.Variable("x", "discrete", (True, 1, "1", 2.5))
    assert [v.code(s) for s in (True, 1, "1", 2.5)] == [0, 1, 2, 3]
    assert cr.Variable("n", "discrete", (0, 1)).code(np.int64(1)) == 1
    assert cr.Variable("n", "discrete", (0, 1)).code(1.0) == 1
    assert cr.Variable("b", "discrete", (False, True)).code(np.True_) == 1
    with pytest.raises(errors.UnknownNameError, match=r"State 3 is not one of 'n'. There are 0, 1"):
        cr.Variable("n", "discrete", (0, 1)).code(3)
    with pytest.raises(errors.UnknownNameError):
        cr.Variable("n", "discrete", (0, 1)).code([1])


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("", "discrete", ("a",)), "non-empty text"),
        ((3, "discrete", ("a",)), "non-empty text"),
        (("x", "ordinal", ("a",)), "must be 'discrete' or 'continuous'"),
        (("x", "continuous", ("a",)), "cannot have states"),
        (("x", "discrete", ()), "at least one state"),
        (("x", "discrete", ("a", "a")), "given twice"),
        (("x", "discrete", (None,)), "cannot be missing"),
        (("x", "discrete", (math.nan,)), "cannot be missing"),
        (("x", "discrete", ([1],)), "must be hashable"),
        (("x", "discrete", range(10_001)), "10,001 states; at most 10,000"),
    ],
)
def test_variables_refuse(args, text):
    with pytest.raises(errors.CredoError, match=text):
        cr.Variable(*args)


def test_continuous_has_no_arity():
    with pytest.raises(errors.SchemaError, match="has no states"):
        cr.Variable("x", "continuous").arity


def test_schema_lookups():
    a, x = cr.Variable("a", "discrete", (0, 1)), cr.Variable("x", "continuous")
    schema = cr.Schema((a, x))
    assert list(schema) == [a, x] and len(schema) == 2 and "a" in schema
    assert schema.discrete == ("a",) and schema.continuous == ("x",)
    assert schema.select(["x"]).names == ("x",) and schema == cr.Schema((a, x), source="elsewhere")
    with pytest.raises(errors.SchemaError, match="in the schema twice"):
        cr.Schema((a, a))
    with pytest.raises(errors.UnknownNameError, match="Column 'q' is not in the table"):
        schema.column("q")


def test_what_is_missing():
    import pandas as pd

    gone = [None, math.nan, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
    assert all(is_missing(v) for v in gone)
    assert not any(is_missing(v) for v in ["None", "", 0, False, b"", object()])


def test_errors_are_of_one_tree_and_of_python():
    assert issubclass(errors.TableError, ValueError) and issubclass(
        errors.UnknownNameError, LookupError
    )
    assert issubclass(errors.LimitError, MemoryError) and issubclass(
        errors.MissingPackageError, ImportError
    )
    for name in set(credo.errors.__all__) - {"CredoWarning"}:
        assert issubclass(getattr(credo.errors, name), errors.CredoError)
    many = errors.unknown_name("Variable", "zzz", [f"v{i}" for i in range(20)], "in the model")
    assert str(many).endswith("and 8 more.")
    assert (
        str(errors.unknown_name("Variable", "x", [], "in the model"))
        == "Variable 'x' is not in the model."
    )


def test_text_tables_align_wide_characters():
    text = render.table_text(["名", "n"], [["日本", 1], ["e\u0301", 22]], right=[1])
    assert [render.width(line) for line in text.splitlines()] == [8, 8, 8]
    assert render.table_text(["a"], [["line\nbreak"]]).splitlines()[1] == "line\\nbreak"
    assert render.bar(2.0, 3) == "███" and render.bar(-1) == ""
    assert render.number(1.5) == "1.5" and render.number(1e300) == "1e+300"


def test_progress_on_a_terminal(monkeypatch, capsys):
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    assert list(progress.track(range(3), "counting", total=3)) == [0, 1, 2]


def test_prefetch_passes_errors_on_and_stops_when_left():
    def broken():
        yield 1
        raise errors.TableError("cut off")

    items = prefetch(broken())
    assert next(items) == 1
    with pytest.raises(errors.TableError, match="cut off"):
        next(items)
    closed = []

    def endless():
        try:
            while True:
                yield 0
        finally:
            closed.append(True)

    items = prefetch(endless())
    next(items)
    items.close()
    assert closed == [True]


def test_near_names_are_looked_for_when_they_are_read(monkeypatch):
    from credo.core import errors

    asked = []
    near = errors.close_names
    monkeypatch.setattr(errors, "close_names", lambda *a: (asked.append(a), near(*a))[1])
    error = errors.unknown_name("State", "smokr", ["smoker", "lung"], "there")
    assert not asked
    told = "State 'smokr' is not there. Did you mean 'smoker'?"
    assert str(error) == told
    assert error.hint in repr(error)
    assert len(asked) == 1
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.hint) == (told, "Did you mean 'smoker'?")


def test_what_was_set_aside_is_not_advised_as_what_it_cannot_be(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"2020-01-{i % 28 + 1:02d},k{i}x{i * 7},{i},{i % 3}" for i in range(60)]
    path.write_text("\n".join(["day,key,steps,x", *lines]) + "\n")
    table = cr.read(path)
    for name, way in {
        "day": "'discrete'} (or 'continuous', if a frame gives the dates) to use it.",
        "key": "'discrete'} (or 'continuous', if it holds numbers) to use it.",
        "steps": "'discrete'} (or 'continuous') to use it.",
    }.items():
        with pytest.raises(errors.SchemaError) as refused:
            table.tally([name])
        assert str(refused.value).endswith(way)
        cr.read(path, {name: "discrete"}).tally([name])
    cr.read(path, {"steps": "continuous"}).tally(["steps"])


def test_a_file_that_is_not_there_names_one_only_if_it_is_near(tmp_path):
    for name in ("Chile.csv", "patients.csv", "Chile.bif", "patients.bif"):
        (tmp_path / name).write_text("")
    for read, ending in ((cr.read, "csv"), (cr.load, "bif")):
        with pytest.raises(errors.CredoError) as far:
            read(tmp_path / f"nofile.{ending}")
        assert "Did you mean" not in str(far.value)
        with pytest.raises(errors.CredoError, match=rf"Did you mean 'patients\.{ending}'\?"):
            read(tmp_path / f"patient.{ending}")


# --- A deadline for tracked work: what is late, or will be at its pace, ends with a sentence ---


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
