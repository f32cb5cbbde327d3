"""Real Dask and Spark: the same answers as from one table, and workers that are lost."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import credo as cr

FAMILIES = [("y", ["g"]), ("g", ["flag"]), "z"]


def rows(n=600):
    rng = np.random.default_rng(0)
    g = rng.choice(["a", "b", "c"], n)
    y = np.where(rng.random(n) < np.where(g == "a", 0.9, 0.2), "yes", "no").astype(object)
    y[rng.random(n) < 0.1] = None
    return pd.DataFrame({"g": g, "y": y, "z": rng.normal(size=n), "flag": rng.random(n) < 0.5})


def same(source, whole):
    assert str(source.schema).partition("\n")[2] == str(whole.schema).partition("\n")[2]
    assert source.tally(FAMILIES).close_to(whole.tally(FAMILIES))
    with source.coded() as kept:
        assert kept.tally(FAMILIES).close_to(whole.tally(FAMILIES))
    assert cr.learn(source).dag == cr.learn(whole).dag


# --- Dask ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="the extra credo[dask] is not here")
    import dask

    dask.config.set({"distributed.worker.daemon": False})
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    from distributed import Client

    cluster.scale(2)
    with Client(cluster) as made:
        made.wait_for_workers(2, timeout=60)
        yield made


def test_a_dask_frame(client):
    dd = pytest.importorskip("dask.dataframe")
    frame = rows()
    same(cr.read(dd.from_pandas(frame, npartitions=4)), cr.read(frame))


def test_a_dask_frame_without_a_cluster():
    dd = pytest.importorskip("dask.dataframe", reason="the extra credo[dask] is not here")
    frame = rows(200)
    same(cr.read(dd.from_pandas(frame, npartitions=3)), cr.read(frame))


def test_files_on_dask(client, tmp_path):
    for i in range(3):
        rows().iloc[i::3].to_parquet(tmp_path / f"{i}.parquet")
    same(cr.read(tmp_path, on=client), cr.read(tmp_path))


def test_a_dask_frame_is_scored_where_it_is(client):
    dd = pytest.importorskip("dask.dataframe")
    scored(lambda frame: dd.from_pandas(frame, npartitions=3), lambda found: found.compute())


def scored(made, computed):
    frame = rows()
    net, model = cr.learn(frame), cr.naive_bayes(frame.dropna(), "y")
    got = computed(net.predict_proba(made(frame), "y"))
    expected = net.predict_proba(frame, "y")
    assert np.abs(got[["p_no", "p_yes"]].to_numpy() - expected).max() < 1e-12
    assert (got["g"].to_numpy() == frame["g"].to_numpy()).all()
    got = computed(model.predict(made(frame)))
    assert got["predicted_y"].tolist() == model.predict(frame)
    filled = computed(net.impute(made(frame)))
    assert filled["y"].tolist() == list(net.impute(frame)["y"])
    assert net.log_likelihood(made(frame)) == pytest.approx(net.log_likelihood(frame), rel=1e-12)


def test_a_dask_worker_that_is_killed_changes_nothing(client):
    dd = pytest.importorskip("dask.dataframe")
    frame = rows()
    source = cr.read(dd.from_pandas(frame, npartitions=8))
    pids = list(client.run(os.getpid).values())
    with source.coded() as kept:
        kept.tally(FAMILIES)
        killer = threading.Timer(0.05, os.kill, [pids[0], signal.SIGKILL])
        killer.start()
        found = [kept.tally(FAMILIES) for _ in range(5)]
        killer.join()
    assert all(t.close_to(cr.read(frame).tally(FAMILIES)) for t in found)


def test_ctrl_c_cancels_what_dask_was_asked(client):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(rows(), npartitions=8).map_partitions(_slowly, meta=rows(1))
    before = time.monotonic()
    main = threading.main_thread().ident
    timer = threading.Timer(1.0, signal.pthread_kill, [main, signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        cr.read(frame)
    assert time.monotonic() - before < 6
    for _ in range(60):
        if not any(client.processing().values()):
            break
        time.sleep(0.2)
    assert not any(client.processing().values())


def _slowly(part):
    time.sleep(1.0)
    return part


# --- Spark --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark", reason="the extra credo[spark] is not here")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not on this machine")
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "1g",
        "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def spark_frame(spark, frame, parts=3):
    import pyarrow as pa

    return spark.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False)).coalesce(parts)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_spark_frame(spark, tmp_path):
    frame = rows()
    whole = cr.read(frame)
    told = []
    source = cr.read(
        spark_frame(spark, frame), report=lambda done, total: told.append((done, total))
    )
    assert told and told[-1][0] == told[-1][1] > 0  # a bar over the partitions
    assert source.schema.variables == whole.schema.variables
    same(source, whole)
    frame.to_parquet(tmp_path / "rows.parquet")
    same(cr.read(tmp_path / "rows.parquet", on=spark), cr.read(tmp_path / "rows.parquet"))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_spark_frame_is_scored_where_it_is(spark):
    scored(lambda frame: spark_frame(spark, frame, 1), lambda found: found.toArrow().to_pandas())


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_what_spark_says_is_one_sentence(spark):
    frame = spark_frame(spark, rows())
    source = cr.read(frame)
    with pytest.raises(cr.errors.TableError, match=r"Spark ended the job|part \d"):
        list(source.parts.in_order(_wrong, ["g"]))


def _wrong(part, number):
    raise SystemError("this part is broken")
