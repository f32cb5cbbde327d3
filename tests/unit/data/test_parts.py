"""Rows in parts: the same schema, counts and graphs as from one table, and faults told clearly."""

from __future__ import annotations

import itertools
import os
import signal
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credo as cr
from credo.data import reading
from credo.data.engines.distributed import Distributed
from credo.data.engines.parts import Attempt, Failed, Parts
from credo.data.engines.pool import Pool
from credo.data.sources.frames import feed_of_frame


class Here(Executor):
    """An executor that runs each call at once, in this thread."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


@contextmanager
def in_parts(frames, executor=None):
    """`cr.read` takes the first frame for all of them, with the engine given."""
    parts = Parts(feed_of_frame(frames[0], None), Pool(executor or Here()), frames)
    before = reading.parts_of
    reading.parts_of = lambda x, on, options: parts
    try:
        yield partial(cr.read, frames[0])
    finally:
        reading.parts_of = before


def cut(frame, places):
    ends = [0, *sorted(places), len(frame)]
    return [frame.iloc[a:b] for a, b in itertools.pairwise(ends)]


ASIA = cr.Network(
    "[asia][smoke][tub|asia][lung|smoke][bronc|smoke][either|tub:lung][xray|either]"
    "[dysp|bronc:either]",
    {
        "asia": 0.3, "smoke": 0.5, "tub": {False: 0.1, True: 0.4}, "lung": {False: 0.1, True: 0.3},
        "bronc": {False: 0.3, True: 0.6}, "xray": {False: 0.05, True: 0.9},
        "either": {(False, False): 0.02, (False, True): 0.98, (True, False): 0.9, (True, True): 0.99},
        "dysp": {(False, False): 0.1, (False, True): 0.7, (True, False): 0.8, (True, True): 0.9},
    },
)  # fmt: skip

COLUMNS = {
    "text": lambda rng, n: rng.choice(["a", "b", "c", None], n).astype(object),
    "rare": lambda rng, n: np.where(np.arange(n) == n - 1, "last", "usual").astype(object),
    "number": lambda rng, n: rng.normal(size=n),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "few": lambda rng, n: rng.integers(0, 3, n),
    "many": lambda rng, n: rng.integers(0, 1000, n),
    "patient_id": lambda rng, n: np.arange(1000, 1000 + n),
    "name": lambda rng, n: np.array([f"row {i}" for i in range(n)], dtype=object),
    "flag": lambda rng, n: rng.random(n) < 0.5,
    "half": lambda rng, n: rng.choice([0.0, 0.5, 1.0], n),
    "empty": lambda rng, n: np.full(n, None, dtype=object),
    "constant": lambda rng, n: np.full(n, "same", dtype=object),
    "mixed": lambda rng, n: np.array([i if i % 7 else "x" for i in range(n)], dtype=object),
    "stage": lambda rng, n: pd.Categorical(
        rng.choice(["I", "II", "III"], n), ["I", "II", "III"], ordered=True
    ),
    "date": lambda rng, n: pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(n), "D"),
}


def described(source):
    return str(source.schema).partition("\n")[2], source.schema.variables


@pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")
@settings(max_examples=40)
@given(
    names=st.lists(st.sampled_from(sorted(COLUMNS)), min_size=2, max_size=6, unique=True),
    n=st.integers(1, 120),
    places=st.lists(st.floats(0, 1), max_size=5),
    seed=st.integers(0, 99),
)
def test_parts_show_what_one_table_shows(names, n, places, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: COLUMNS[name](rng, n) for name in names})
    try:
        whole = cr.read(frame)
    except cr.errors.CredoError as error:
        parts = cut(frame, [int(p * n) for p in places])
        with in_parts(parts) as read, pytest.raises(type(error)) as got:
            read()
        assert got.value.message.partition(" of ")[0] == error.message.partition(" of ")[0]
        return
    with in_parts(cut(frame, [int(p * n) for p in places])) as read:
        source = read()
        assert isinstance(source, Distributed)
        assert described(source) == described(whole)
        families = [(a, [b]) for a in whole.schema.names for b in whole.schema.discrete if a != b]
        families = families or list(whole.schema.names)
        assert source.tally(families).close_to(whole.tally(families))
        with source.coded() as kept:
            assert kept.tally(families).close_to(whole.tally(families))


def test_numbers_in_one_part_and_words_in_another():
    frame = pd.DataFrame({"x": [*np.arange(60.0), "low", "high"] * 2, "y": ["a", "b"] * 62})
    whole = cr.read(frame)
    with in_parts(
        [pd.DataFrame({"x": p["x"].tolist(), "y": p["y"]}) for p in cut(frame, [60])]
    ) as read:
        assert described(read()) == described(whole)


def test_the_same_graph_from_any_parts():
    frame = ASIA.sample(2000, rng=0).to("pandas")
    graph = cr.learn(frame).dag
    for k in (1, 2, 7, 64):
        with in_parts(cut(frame, np.linspace(0, 2000, k + 1)[1:-1].astype(int))) as read:
            assert cr.learn(read()).dag == graph


def test_weights_are_a_column():
    frame = pd.DataFrame({"x": ["a", "b", "a", "b"], "w": [1, 0, 2, 3]})
    with in_parts(cut(frame, [2])) as read:
        assert read(weights="w").tally(["x"]) == cr.read(frame, weights="w").tally(["x"])
        with pytest.raises(cr.errors.InputError, match="must be a column"):
            read(weights=[1, 2, 3, 4])


def test_a_bad_cell_is_told_with_its_part():
    frame = pd.DataFrame({"x": ["1", "2", "three", "4"]})
    with in_parts(cut(frame, [2])) as read, pytest.raises(cr.errors.TableError, match="Row 3"):
        read({"x": "continuous"})
    source = cr.read(pd.DataFrame({"x": ["a", "b"]}))
    parts = cut(pd.DataFrame({"x": ["a", "b", "a", "c"]}), [2])
    with in_parts(parts) as read, pytest.raises(cr.errors.CredoError, match="'c'"):
        read(source.schema)


def test_a_failure_comes_back_as_a_value():
    def wrong(part, number):
        raise ZeroDivisionError("by zero")

    found = Attempt(wrong, "rows")(3, [])
    assert isinstance(found, Failed) and "(part 4)" in str(found.error)


def test_a_part_that_ran_twice_counts_once():
    class Twice(Pool):
        def call(self, call, rows, columns, bar, *, large=False):
            for number, value in super().call(call, rows, columns, bar, large=large):
                yield number, value
                yield number, value

    frame = pd.DataFrame({"x": list("abab")})
    with in_parts(cut(frame, [1, 3])) as read:
        source = read()
        twice = Parts(source.parts.feed, Twice(Here()), source.parts.rows)
        assert replace(source, parts=twice).tally(["x"]) == source.tally(["x"])


def test_a_part_that_is_lost_is_an_error():
    class Losing(Pool):
        def call(self, call, rows, columns, bar, *, large=False):
            yield from list(super().call(call, rows, columns, bar, large=large))[:-1]

    with in_parts(cut(pd.DataFrame({"x": list("abab")}), [1, 3])) as read:
        source = read()
        lost = Parts(source.parts.feed, Losing(Here()), source.parts.rows)
        with pytest.raises(cr.errors.TableError, match="2 parts of 3 gave an answer"):
            replace(source, parts=lost).tally(["x"])


def test_rows_that_change_between_passes_are_refused():
    frames = cut(pd.DataFrame({"x": list("abab")}), [2])
    with in_parts(frames) as read:
        source = read()
        frames[1] = frames[1].iloc[:1]
        with pytest.raises(cr.errors.TableError, match=r"had 4 rows .* has 3 now"):
            source.tally(["x"])


def _die(part, number):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_one_clear_error(tmp_path):
    frame = pd.DataFrame({"x": list("ab") * 10})
    frame.to_parquet(tmp_path / "rows.parquet")
    with ProcessPoolExecutor(1) as pool:
        source = cr.read(tmp_path / "rows.parquet", on=pool)
        assert source.tally(["x"]) == cr.read(frame).tally(["x"])
        with pytest.raises(cr.errors.TableError, match="worker process ended"):
            list(source.parts.in_order(_die, ["x"]))


def test_files_that_workers_open(tmp_path):
    rng = np.random.default_rng(0)
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        frame = pd.DataFrame({"x": rng.choice(["a", "b"], 50), "z": rng.normal(size=50)})
        frame.to_parquet(folder / "rows.parquet", row_group_size=10)
    whole = cr.read(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        source = cr.read(tmp_path, on=pool)
        assert source.schema.variables == whole.schema.variables
        assert source.tally([("x", ["year"]), "z"]).close_to(whole.tally([("x", ["year"]), "z"]))
        assert len(source.load()) == 100 and sum(len(t) for t in source.batches()) == 100
    with pytest.raises(cr.errors.InputError, match="must be a Dask client"):
        cr.read(tmp_path, on=3)
    with ThreadPoolExecutor(1) as pool, pytest.raises(cr.errors.InputError, match="on= says where"):
        cr.read({"x": [1]}, on=pool)


def test_row_groups_of_a_large_file_are_parts(tmp_path, monkeypatch):
    from credo.data.sources import file_parts

    monkeypatch.setattr(file_parts, "_PART", 20)
    frame = pd.DataFrame({"x": np.arange(90) % 4, "y": np.arange(90) % 3})
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=10)
    with ThreadPoolExecutor(2) as pool:
        source = cr.read(tmp_path / "rows.parquet", on=pool)
        assert source.parts.count == 5
        assert source.tally([("x", ["y"])]) == cr.read(frame).tally([("x", ["y"])])


def test_learners_of_rows_in_parts():
    table = ASIA.sample(1500, rng=1)
    frame = table.to("pandas").astype(object)
    frame.loc[::11, "xray"] = None
    whole = cr.read(frame)
    graph = ASIA.dag
    with in_parts(cut(frame, [300, 301, 900])) as read:
        source = read()
        assert cr.fit(graph, source) == cr.fit(graph, whole)
        a, b = cr.em(graph, source), cr.em(graph, whole)
        assert np.abs(a.distributions["dysp"].values - b.distributions["dysp"].values).max() < 1e-9
        assert cr.score(graph, source, "bic") == pytest.approx(
            cr.score(graph, whole, "bic"), rel=1e-12
        )
        assert a.log_likelihood(source) == pytest.approx(a.log_likelihood(whole), rel=1e-12)
        a, b = cr.naive_bayes(source, "dysp"), cr.naive_bayes(whole, "dysp")
        assert np.abs(a.predict_proba(frame) - b.predict_proba(frame)).max() < 1e-12
        assert cr.edge_strengths(source, samples=3, rng=0).strength


def test_workers_draw_the_rows_that_one_machine_would(tmp_path, monkeypatch):
    from credo.predict.sampling import on_engine

    monkeypatch.setattr(on_engine, "batch_size", lambda net: 64)
    with ThreadPoolExecutor(2) as pool:
        folder = ASIA.sample(300, rng=3, path=tmp_path / "rows", engine=pool)
        assert len(list(folder.iterdir())) == 5
        found = cr.read(folder, ASIA.schema).to("pandas")
        assert found.equals(ASIA.sample(300, rng=3).to("pandas"))
        with pytest.raises(cr.errors.InputError, match="there already"):
            ASIA.sample(300, rng=3, path=folder, engine=pool)
        with pytest.raises(cr.errors.InputError, match="go to a folder"):
            ASIA.sample(300, rng=3, engine=pool)


def test_rows_that_would_not_fit_are_not_loaded(monkeypatch):
    from credo.data import stream

    monkeypatch.setattr(stream, "memory_limit", lambda given: 10)
    parts = cut(pd.DataFrame({"x": list("abab") * 20}), [2])
    with in_parts(parts) as read, pytest.raises(cr.errors.LimitError, match="80 rows"):
        read().load()


def test_many_values_are_thinned_and_identifiers_still_found(monkeypatch):
    from credo.data.columns import merging

    monkeypatch.setattr(merging, "_MOST", 300)
    n = 30_000
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "code": [f"c{i:06}" for i in range(n)], "row": np.arange(1, n + 1),
        "word": rng.choice([f"w{i}" for i in range(12_000)], n), "g": rng.choice(["a", "b"], n),
        "count": rng.integers(0, 20_000, n), "x": rng.normal(size=n),
    })  # fmt: skip
    whole = cr.read(frame)
    with in_parts(cut(frame, [4_000, 4_001, 17_000])) as read:
        source = read()
    kinds = {c.name: c.kind for c in source.schema.columns}
    assert kinds == {c.name: c.kind for c in whole.schema.columns}
    assert kinds["code"] == kinds["row"] == "identifier"
    assert source.schema.variables == whole.schema.variables
