"""Files, relations, readers and lazy frames: the statistics of the table in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.sources import feed as feeds
from credo.data.sources.feed import Feed
from credo.errors import CredoError, LimitError
from credo.estimators import NaiveBayes
from credo.stats.by_class import ByClass

ROWS = 300
pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")


def mixed(rows: int = ROWS, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    gap = rng.random((6, rows)) < 0.1
    return pa.table(
        {
            "text": pa.array(rng.choice(["u", "v", "w", "zz"], rows), mask=gap[0]),
            "few": pa.array(rng.integers(-2, 4, rows), mask=gap[1]),
            "many": pa.array(rng.integers(0, 500, rows), mask=gap[2]),
            "real": pa.array(rng.normal(size=rows), mask=gap[3]),
            "flag": pa.array(rng.random(rows) < 0.5, mask=gap[4]),
            "same": pa.array(["only"] * rows),
            "name": pa.array([f"person {i}" for i in range(rows)]),
            "y": pa.array(rng.choice(["no", "yes", "perhaps"], rows), mask=gap[5]),
        }
    )


def alike(a: ByClass, b: ByClass) -> None:
    assert a.target == b.target
    assert a.names == b.names
    assert a.unlabelled == b.unlabelled
    assert a.weight.dtype == b.weight.dtype
    np.testing.assert_array_equal(a.weight, b.weight)
    for p, q in zip(a.counts, b.counts, strict=True):
        assert p.variable == q.variable
        assert p.above == q.above
        assert p.values.dtype == q.values.dtype
        np.testing.assert_array_equal(p.values, q.values)
    reals = [(a.moments, b.moments)] if a.moments is not None else []
    for p, q in [*reals, *zip(a.joint, b.joint, strict=True)]:
        assert p.names == q.names
        for x, z in ((p.n, q.n), (p.mean, q.mean), (p.scatter, q.scatter)):
            np.testing.assert_allclose(x, z, rtol=1e-12, atol=1e-12)
    if a.words is not None:
        np.testing.assert_allclose(a.words.values, b.words.values, rtol=1e-12)


@pytest.fixture
def glob(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    table = mixed()
    for k, first in enumerate(range(0, ROWS, 70)):
        pq.write_table(table.slice(first, 70), tmp_path / f"part{k}.parquet", row_group_size=32)
    return str(tmp_path / "*.parquet")


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The label of each feed that is read, each time it is read."""
    seen: list[str] = []
    plain = Feed.read

    def counted(self: Feed, *names: Any) -> Any:
        seen.append(self.label)
        return plain(self, *names)

    monkeypatch.setattr(feeds.Feed, "read", counted)
    return seen


# --- the same as in memory --------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kinds": {"text": "ignore", "few": "gaussian", "many": "counts", "real": "bernoulli"}},
        {"kinds": {"few": "categorical", "many": "categorical"}},
        {"kinds": {"many": "bernoulli", "flag": "bernoulli"}},
        {"covariance": [["many", "real"]]},
        {"states": {"text": ["zz", "w", "v", "u", "t"]}},
    ],
    ids=["auto", "every kind", "categorical", "bernoulli", "together", "states"],
)
def test_a_glob_gives_what_the_table_gives(glob: str, options: Any) -> None:
    streamed = NaiveBayes(**options).fit(glob, "y")
    kinds = streamed.kinds_
    word = {"categorical": "discrete", "gaussian": "continuous", "counts": "continuous"}
    given: dict[str, Any] = {n: word[k] for n, k in kinds.items() if k in word}
    given |= {n: list(s) for n, s in options.get("states", {}).items()}
    table = cr.read(mixed(), given)
    told = {**options.get("kinds", {}), **kinds}
    loaded = NaiveBayes(**{**options, "kinds": told}).fit(table, "y")
    alike(streamed.model_.statistic, loaded.model_.statistic)


def test_the_kinds_are_those_of_read(glob: str) -> None:
    clf = NaiveBayes(numbers="gaussian").fit(glob, "y")
    assert clf.kinds_ == {
        "text": "categorical",
        "few": "categorical",
        "many": "gaussian",
        "real": "gaussian",
        "flag": "categorical",
    }
    assert clf.model_.statistic.unlabelled == mixed()["y"].null_count
    assert clf.feature_names_in_.tolist() == list(clf.kinds_)


def test_every_way_in_is_read_once(glob: str, passes: list[str]) -> None:
    import duckdb
    import polars as pl
    import pyarrow.dataset as ds

    alone = NaiveBayes().fit(glob, "y").model_.statistic
    ways = [
        duckdb.sql(f"select * from '{glob}'"),
        ds.dataset(str(Path(glob).parent)),
        pl.scan_parquet(glob),
        mixed().to_reader(50),
        Path(glob),
    ]
    for x in ways:
        passes.clear()
        alike(NaiveBayes().fit(x, "y").model_.statistic, alone)
        assert len(passes) == 1
        passes.clear()
    alike(cr.naive_bayes(glob, "y").statistic, alone)
    assert len(passes) == 1


def test_a_relation_is_not_run_to_be_counted(glob: str) -> None:
    """A query may be dear: it is run once, not once more for the number of its rows."""
    import duckdb

    runs: list[int] = []
    con = duckdb.connect()
    con.create_function("noted", lambda x: runs.append(1) or x, ["VARCHAR"], "VARCHAR",
                        null_handling="special", side_effects=True)  # fmt: skip
    NaiveBayes().fit(con.sql(f"select noted(text) as text, y from '{glob}'"), "y")
    assert len(runs) == ROWS


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kinds": {"few": "gaussian", "many": "counts", "real": "bernoulli"}},
        {"kinds": {"few": "bernoulli", "real": "kernel", "text": "ignore"}},
        {"covariance": "full"},
        {"covariance": [["many", "real"]]},
    ],
    ids=["auto", "every kind", "kernel", "full", "together"],
)
def test_a_stream_gives_what_the_table_gives(glob: str, options: Any) -> None:
    """Batch by batch, none of which says what a column is."""
    stream = cr.read(glob, memory="2KB")
    assert isinstance(stream, cr.data.Stream)
    found = NaiveBayes(**options).fit(stream, "y").model_.statistic
    alike(found, NaiveBayes(**options).fit(cr.read(glob), "y").model_.statistic)


def test_full_covariance_of_whatever_is_real(glob: str) -> None:
    loaded = NaiveBayes(covariance="full").fit(cr.read(mixed()), "y")
    for x in (glob, mixed().to_reader(50)):
        alike(NaiveBayes(covariance="full").fit(x, "y").model_.statistic, loaded.model_.statistic)


def test_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n1,x,0\n2.5,?,1\n,x,+1\n-3,z,0\n4,z,1\n5,x,\n")
    streamed = NaiveBayes().fit(str(path), "y")
    alike(streamed.model_.statistic, NaiveBayes().fit(cr.read(path), "y").model_.statistic)


def test_weights(glob: str) -> None:
    w = np.random.default_rng(1).integers(0, 4, ROWS)
    for weights in (w, w / 2 + 0.25):
        table = mixed().append_column("w", pa.array(weights))
        for given in ("w", weights):
            source = table.to_reader(60) if given is not weights else mixed().to_reader(60)
            streamed = cr.naive_bayes(source, "y", weights=given)
            in_memory = table if given is not weights else mixed()
            alike(streamed.statistic, cr.naive_bayes(in_memory, "y", weights=given).statistic)


# --- columns that change while they come ------------------------------------------------------


def test_whole_numbers_that_turn_out_real(tmp_path: Path) -> None:
    whole = pa.table({"x": pa.array([1, 2, 3, 1] * 20), "y": ["a", "b"] * 40})
    broken = pa.table({"x": pa.array([1.5, 2.25] * 20), "y": ["b", "a"] * 20})
    pq.write_table(whole, tmp_path / "a.parquet")
    pq.write_table(broken, tmp_path / "b.parquet")
    glob = str(tmp_path / "*.parquet")
    for numbers, kind in (("gaussian", "gaussian"), ("auto", "binned")):
        streamed = NaiveBayes(numbers=numbers).fit(glob, "y")
        assert streamed.kinds_ == {"x": kind}
        read = NaiveBayes(numbers=numbers).fit(cr.read(glob), "y")
        alike(streamed.model_.statistic, read.model_.statistic)


def test_texts_that_pass_the_limit_are_let_go() -> None:
    n = 12_000
    table = pa.table({"id": [f"t{i}" for i in range(n)], "x": ["u", "v"] * (n // 2),
                      "y": ["a", "a", "b"] * (n // 3)})  # fmt: skip
    clf = NaiveBayes().fit(table.to_reader(5000), "y")
    assert clf.kinds_ == {"x": "categorical"}
    with pytest.raises(LimitError, match="at most 10,000"):
        NaiveBayes(kinds={"id": "categorical"}).fit(table.to_reader(5000), "y")


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({"x": ["a", "b"], "z": [1, 2]}, {}, "'y'"),
        ({"x": ["a", "b"], "y": [1.5, 2.5]}, {}, "continuous"),
        ({"x": ["a", "b"], "y": [None, None]}, {}, "'y'"),
        ({"x": ["a", "b"], "y": ["u", "v"]}, {"kinds": "gaussian"}, "not a number"),
        ({"x": [-1.0, 2.0], "y": ["u", "v"]}, {"kinds": "counts"}, "not negative"),
        ({"x": ["a", "b", "c"], "y": ["u", "v", "v"]}, {"kinds": "bernoulli"}, "two states"),
        ({"x": ["a", "b"], "y": ["u", "v"]}, {"kinds": {"q": "gaussian"}}, "'q'"),
    ],
)
def test_bad_input(columns: Any, options: Any, says: str) -> None:
    with pytest.raises(CredoError, match=says):
        NaiveBayes(**options).fit(pa.table(columns).to_reader(1), "y")


def test_a_continuous_class_of_whole_numbers() -> None:
    table = pa.table({"x": ["a", "b"] * 50, "y": list(range(1, 51)) * 2})
    with pytest.raises(CredoError, match="continuous"):
        NaiveBayes().fit(table.to_reader(10), "y")
