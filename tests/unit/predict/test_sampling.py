"""Rows drawn from networks: how well they fit, in which frames and files they come."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.unit.predict.joint import Joint
from tests.unit.predict.test_goldens import ASIA

import credo as cr
from credo.core.schema import Variable
from credo.errors import ImpossibleError, InputError, LimitError, UnknownNameError
from credo.predict.sampling import sample as sampling

N = 500_000


@pytest.fixture(scope="module")
def net():
    return ASIA


def joint_of(net, rows):
    """How often each configuration was drawn."""
    counts = np.zeros([v.arity for v in net.variables], dtype=np.int64)
    np.add.at(counts, tuple(rows.codes(n) for n in net.names), 1)
    return counts


def test_asia_fits_and_nothing_impossible_is_drawn(net):
    p = Joint(net).p
    counts = joint_of(net, net.sample(N, rng=0))
    assert (counts[p == 0] == 0).all()
    expected = N * p
    common = expected >= 5
    rest = N - expected[common].sum()
    chi = ((counts[common] - expected[common]) ** 2 / expected[common]).sum()
    chi += (counts[~common].sum() - rest) ** 2 / rest
    assert common.sum() == 81  # degrees of freedom, with one cell for all that is rare
    assert chi < 137.1


EVIDENCE = {"xray": "yes", "smoke": {"yes": 0.7, "no": 0.4}, "dysp": {"yes", "no"}}


def test_error_falls_with_the_root_of_n(net):
    marginals = net.marginals()
    errors = []
    for n in (1_000, 100_000):
        squares = []
        for seed in range(20):
            rows = net.sample(n, rng=seed)
            for name, marginal in marginals.items():
                last = net.variable(name).states[-1]
                squares.append(((rows[name] == last).mean() - marginal[last]) ** 2)
        errors.append(np.sqrt(np.mean(squares)))
    assert 7 < errors[0] / errors[1] < 14  # √100


def test_interventions_are_drawn_too(net):
    rows = net.do({"bronc": "yes"}).sample(100_000, rng=0)
    assert (rows["bronc"] == "yes").all()
    assert (rows["smoke"] == "yes").mean() == pytest.approx(0.5, abs=0.01)
    seen = net.sample(100_000, rng=0, given={"bronc": "yes"})
    assert (seen["smoke"] == "yes").mean() == pytest.approx(2 / 3, abs=0.01)


def test_impossible_evidence_is_refused(net):
    with pytest.raises(ImpossibleError, match=r"either=yes, lung=no and tub=no cannot be true"):
        net.sample(5, rng=0, given={"either": "yes", "lung": "no", "tub": "no", "smoke": "yes"})


def test_a_generator_goes_on_and_a_seed_repeats(net):
    first, again = net.sample(50, rng=3), net.sample(50, rng=3)
    assert all((first.codes(n) == again.codes(n)).all() for n in net.names)
    rng = np.random.default_rng(3)
    one, two = net.sample(50, rng=rng), net.sample(50, rng=rng)
    assert all((first.codes(n) == one.codes(n)).all() for n in net.names)
    assert any((one.codes(n) != two.codes(n)).any() for n in net.names)


def test_more_rows_begin_with_the_same_rows(net):
    few, many = net.sample(70, rng=4), net.sample(3_000, rng=4)
    assert all((few.codes(n) == many.codes(n)[:70]).all() for n in net.names)


# --- frames -------------------------------------------------------------------------------


def typed():
    """States of every type, one of which is never drawn."""
    return cr.Network(
        [],
        {"text": [0.5, 0.5, 0.0], "whole": [0.3, 0.7], "truth": 0.4, "mixed": [0.5, 0.5]},
        states={"text": ["a", "b,c", "never"], "whole": [3, 5], "mixed": ["x", 1]},
    )


def test_frames_of_every_kind_hold_the_same_rows():
    net = typed()
    rows = net.sample(200, rng=0)
    assert isinstance(rows, cr.Table)
    values = {n: rows[n].tolist() for n in net.names}
    assert {type(x) for x in values["whole"]} == {int}
    assert {type(x) for x in values["truth"]} == {bool}
    assert net.sample(200, rng=0, to="dict") == values
    pandas = net.sample(200, rng=0, to="pandas")
    assert isinstance(pandas, pd.DataFrame)
    assert {n: pandas[n].tolist() for n in pandas} == values
    assert list(pandas["text"].cat.categories) == ["a", "b,c", "never"]
    arrow = net.sample(200, rng=0, to="arrow")
    assert isinstance(arrow, pa.Table)
    assert arrow.column("text").chunk(0).dictionary.to_pylist() == ["a", "b,c", "never"]
    texts = values | {"mixed": [str(x) for x in values["mixed"]]}
    assert arrow.to_pydict() == texts
    polars = net.sample(200, rng=0, to="polars")
    assert isinstance(polars, pl.DataFrame)
    assert polars.schema["text"] == pl.Enum(["a", "b,c", "never"])
    assert polars.to_dict(as_series=False) == texts
    assert pl.DataFrame(rows.select(["text", "whole"]))["whole"].to_list() == values["whole"]


def test_a_table_is_like_a_frame():
    rows = typed().sample(5, rng=0)
    assert list(rows) == list(rows.columns) == ["text", "whole", "truth", "mixed"]
    assert "text" in rows and "texts" not in rows
    with pytest.raises(UnknownNameError, match="Did you mean 'text'"):
        rows["texts"]


@pytest.mark.parametrize("arity", [128, 129, 255, 256, 257, 400])
def test_many_states(arity):
    net = cr.Network([], {"x": np.full(arity, 1 / arity)}, states={"x": list(range(arity))})
    rows = net.sample(20_000, rng=0)
    assert rows.codes("x").dtype == (np.uint8 if arity <= 256 else np.uint16)
    assert set(rows["x"].tolist()) == set(range(arity))
    for kind in ("pandas", "polars", "arrow"):
        frame = net.sample(20_000, rng=0, to=kind)
        assert np.array_equal(np.asarray(frame["x"]).astype(int), rows["x"].astype(int))
    counts = rows.tally()["x"]
    assert int(counts.values.sum()) == 20_000


def test_rows_can_be_learned_from(net):
    rows = net.sample(1_000, rng=0)
    assert cr.read(rows) is rows
    assert np.isfinite(net.log_likelihood(rows))


# --- files --------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "csv", "tsv", "jsonl", "ndjson"])
def test_files_hold_the_rows_of_memory(tmp_path, monkeypatch, ending):
    net = cr.Network(
        [],
        {
            "text": [0.5, 0.5],
            "whole": [0.3, 0.7],
            "truth": 0.4,
            "x": cr.LinearGaussian(Variable("x", "continuous"), (), 1.0, [], 2.0),
        },
        states={"text": ['a "quoted", ünïcode', "b\tc"], "whole": [3, 5]},
    )
    monkeypatch.setattr(sampling, "_BATCH", 1024)
    path = tmp_path / f"rows.{ending}"
    seen = []
    found = net.sample(
        5_000, rng=5, path=path, report=lambda done, total: seen.append((done, total))
    )
    assert found == path
    assert seen == [(k, 5_000) for k in (1024, 2048, 3072, 4096, 5000)]
    assert os.listdir(tmp_path) == [path.name]
    rows = net.sample(5_000, rng=5)
    if ending == "feather":
        back = cr.read(pa.ipc.open_file(path).read_all(), net.schema)
    else:
        back = cr.read(path, net.schema)
    for name in net.names:
        assert back[name].tolist() == rows[name].tolist()
    if ending == "jsonl":
        first = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        assert first == {n: rows[n][0] for n in net.names}


def test_a_file_of_no_rows(tmp_path, net):
    for ending in ("parquet", "arrow", "csv", "jsonl"):
        net.sample(0, rng=0, path=tmp_path / f"none.{ending}")
    assert pa.ipc.open_file(tmp_path / "none.arrow").read_all().num_rows == 0
    assert (tmp_path / "none.csv").read_text().strip() == ",".join(net.names)
    assert len(net.sample(0, rng=0)) == 0


def test_what_cannot_be_written_leaves_the_old_file(tmp_path, net, monkeypatch):
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"old")

    def broken(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(sampling.ForwardSampler, "rows", broken)
    with pytest.raises(KeyboardInterrupt):
        net.sample(10, rng=0, path=path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["rows.parquet"]
    with pytest.raises(OSError, match="could not be written: No such file"):
        net.sample(10, rng=0, path=tmp_path / "nowhere" / "rows.csv")


@pytest.mark.slow
def test_memory_is_bounded(tmp_path):
    """Three million rows of 64 columns, 192 MB of codes, in far less memory than that."""
    code = f"""
import resource, credo as cr
net = cr.Network([], {{f"v{{i}}": 0.3 for i in range(64)}})
net.sample(1000, rng=0, path={str(tmp_path / "few.parquet")!r}, threads=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
net.sample(3_000_000, rng=0, path={str(tmp_path / "many.parquet")!r}, threads=1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    assert grown < 150_000  # kB
    import pyarrow.parquet as pq

    assert pq.ParquetFile(tmp_path / "many.parquet").metadata.num_rows == 3_000_000


# --- refusals -----------------------------------------------------------------------------


def test_refusals(net, tmp_path):
    for options, message in [
        ({"n": -1, "rng": 0}, "n must be a whole number of draws"),
        ({"n": 1.5, "rng": 0}, "n must be a whole number of draws"),
        ({"n": 1, "rng": None}, "rng must be a whole-number seed"),
        ({"n": 1, "rng": 0, "threads": 0}, "threads must be a whole number above 0"),
        ({"n": 1, "rng": 0, "to": "panda"}, "got 'panda'. Did you mean 'pandas'"),
        ({"n": 1, "rng": 0, "to": None}, "'to' parameter must be one of 'table'"),
        ({"n": 1, "rng": 0, "path": "rows.xlsx"}, "not that of a file of rows. Use .parquet"),
        ({"n": 1, "rng": 0, "path": 3}, "A path must be a text"),
        ({"n": 1, "rng": 0, "path": "a.csv", "to": "pandas"}, "a file or into a frame"),
        ({"n": 1, "rng": 0, "given": 3}, "evidence must be a mapping"),
    ]:
        with pytest.raises(InputError, match=message):
            net.sample(**options)
    with pytest.raises(UnknownNameError, match="Did you mean 'smoke'"):
        net.sample(1, rng=0, given={"smok": "yes"})
    with pytest.raises(LimitError, match=r"would take 80\.0 GB; .* path='rows\.parquet'"):
        net.sample(10**10, rng=0)


def test_evidence_that_would_need_large_tables_is_refused(net, monkeypatch):
    from credo.predict.exact import elimination

    monkeypatch.setattr(elimination, "MAX_CELLS", 20)
    assert len(net.sample(10, rng=0)) == 10  # without evidence nothing is eliminated
    with pytest.raises(LimitError, match=r"tables to draw from would have \d+ cells; at most 20"):
        net.sample(10, rng=0, given={"dysp": "yes"})


def test_ctrl_c_stops_a_long_draw():
    code = """
import _thread, threading, time, credo as cr
net = cr.Network([], {f"v{i}": 0.3 for i in range(50)})
threading.Timer(0.3, _thread.interrupt_main).start()
start = time.process_time()
try:
    net.sample(150_000_000, rng=0, threads=1)
except KeyboardInterrupt:
    print(time.process_time() - start)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert float(done.stdout) < 1.5
