"""Tables on disk that an engine hands over bit by bit: the same cells as read whole."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import credo as cr
from credo.data.sources import feed
from credo.data.sources.frames import feed_of_frame

N = 500
RNG = np.random.default_rng(4)
TABLE = pa.table(
    {
        "d": RNG.integers(0, 3, N),
        "s": RNG.choice(["low", "mid", "high"], N),
        "x": RNG.normal(size=N),
        "gap": pa.array([None if v > 1 else float(v) for v in RNG.normal(size=N)]),
    }
)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(feed, "BATCH", 64)


def cells(source, names):
    """What a feed gives of some columns, in order."""
    out = {name: [] for name in names}
    for batch in feed_of_frame(source, None).batches(names):
        assert len(next(iter(batch.values()))) <= 64
        for name, column in batch.items():
            out[name] += column.to_pylist()
    return out


def parquet(folder, **options):
    path = folder / "t.parquet"
    pq.write_table(TABLE, path, row_group_size=130, **options)
    return path


@pytest.fixture(params=["file", "files", "ipc", "hive", "grown", "filtered", "memory", "some"])
def dataset(request, tmp_path):
    match request.param:
        case "file":
            return ds.dataset(parquet(tmp_path))
        case "files":
            for i in range(3):
                pq.write_table(TABLE.slice(i * 100, 100), tmp_path / f"{i}.parquet")
            return ds.dataset(tmp_path)
        case "ipc":
            ds.write_dataset(TABLE, tmp_path / "i", format="ipc")
            return ds.dataset(tmp_path / "i", format="ipc")
        case "hive":
            ds.write_dataset(
                TABLE, tmp_path / "h", format="parquet", partitioning=["s"],
                partitioning_flavor="hive",
            )  # fmt: skip
            return ds.dataset(tmp_path / "h", partitioning="hive")
        case "grown":  # the first file has no column 'gap', and d is narrow
            old = TABLE.drop(["gap"]).set_column(0, "d", TABLE["d"].cast(pa.int8()))
            pq.write_table(old, tmp_path / "0.parquet")
            pq.write_table(TABLE, tmp_path / "1.parquet")
            return ds.dataset(tmp_path, schema=TABLE.schema)
        case "filtered":
            return ds.dataset(parquet(tmp_path)).filter(ds.field("d") < 2)
        case "memory":
            return ds.dataset(TABLE)
        case "some":
            parts = next(ds.dataset(parquet(tmp_path)).get_fragments()).split_by_row_group()
            return ds.FileSystemDataset(parts[1:3], TABLE.schema, parts[0].format)


@pytest.mark.parametrize("names", [["x", "d"], ["gap", "s", "x", "d"]])
def test_a_dataset_gives_its_own_cells(dataset, names):
    assert cells(dataset, names) == dataset.to_table(columns=names).to_pydict()


def test_a_dataset_streams_to_the_same_tally(dataset):
    whole, stream = cr.read(dataset.to_table()), cr.read(dataset, memory=1)
    assert isinstance(stream, cr.Stream) and stream.schema == whole.schema
    assert stream.tally([("s", ["d"])]) == whole.tally([("s", ["d"])])
    assert stream.tally(["x"]).close_to(whole.tally(["x"]))


FILTERS = {
    "another column": ds.field("gap") < 0.5,
    "by position": pc.field(0) == 1,
    "two": (ds.field("d") > 0) & (ds.field("s") == "low"),
    "a gap": ds.field("gap").is_null(),
    "none": ds.field("d") > 9,
}


@pytest.mark.parametrize("chosen", FILTERS.values(), ids=FILTERS)
def test_a_filtered_dataset_gives_the_rows_that_pass(chosen, tmp_path):
    dataset = ds.dataset(parquet(tmp_path)).filter(chosen)
    for names in (["x"], ["s", "d"]):
        assert cells(dataset, names) == dataset.to_table(columns=names).to_pydict()


@pytest.mark.parametrize(
    "query", ["scan", "two files", "select", "head", "slice", "filter", "more", "index", "unique"]
)
def test_a_lazy_frame_gives_its_own_cells(query, tmp_path):
    pl = pytest.importorskip("polars")
    path = parquet(tmp_path)
    frame = pl.scan_parquet(path)
    match query:
        case "two files":
            frame = pl.scan_parquet([path, path])
        case "select":
            frame = frame.select("gap", "d")
        case "head":
            frame = frame.head(70)
        case "slice":
            frame = frame.slice(90, 200)
        case "filter":
            frame = frame.filter(pl.col("d") == 1)
        case "more":
            frame = frame.with_columns(twice=2 * pl.col("x"))
        case "index":
            frame = frame.with_row_index()
        case "unique":
            frame = frame.unique(["d", "s"], maintain_order=True)
    expected = frame.collect().to_dict(as_series=False)
    assert cells(frame, list(expected)) == expected
    assert cells(frame, ["d"]) == {"d": expected["d"]}


def test_cells_of_every_type_come_back_from_a_query():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "level": pl.Series(["lo", None, "hi", "lo"], dtype=pl.Enum(["hi", "lo", "never"])),
            "kind": pl.Series(["b", None, "a", "a"], dtype=pl.Categorical),
            "huge": pl.Series([2**100, None, 1, 1], dtype=pl.Int128),
            "price": pl.Series(["1.50", None, "2.25", "1.50"]).cast(pl.Decimal(8, 2)),
            "time": pl.Series([3, None, 4, 4]).cast(pl.Duration("ms")),
            "truth": [True, None, False, True],
        }
    )
    words = dict.fromkeys(frame.columns, "discrete")
    whole = cr.read(frame, words)
    query = frame.lazy().filter(pl.col("huge").is_null() | True)
    stream = cr.read(query, words, memory=1)
    assert stream.schema == whole.schema
    assert stream.schema["level"].ordered
    assert stream.tally(frame.columns) == whole.tally(frame.columns)
