"""Clusters of several processes, as an administrator starts them: a scheduler and its workers."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

import credo as cr

pytestmark = pytest.mark.slow
FRAME = pd.DataFrame(
    {"a": list("xyxxy") * 40, "b": list("uvuvv") * 40, "z": [1.5, 2.0, 0.1, 4.0, 9.0] * 40}
)
FAMILIES = [("a", ["b"]), ("z", ["a"])]


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextmanager
def running(*commands, env=None):
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen(c, env={**os.environ, **(env or {})}, **silent) for c in commands]
    try:
        yield started
    finally:
        for process in started:
            process.terminate()
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def written(folder: Path) -> Path:
    for i in range(4):
        FRAME.iloc[i::4].to_parquet(folder / f"{i}.parquet")
    return folder


def test_a_dask_scheduler_with_two_workers(tmp_path):
    distributed = pytest.importorskip("distributed", reason="the extra credo[dask] is not here")
    port = free_port()
    dask = [sys.executable, "-m", "dask"]
    address = f"tcp://127.0.0.1:{port}"
    scheduler = [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = [*dask, "worker", address, "--nthreads", "1", "--no-dashboard"]
    folder = written(tmp_path)
    with (
        running(scheduler, worker, worker) as (_, first, _),
        distributed.Client(address, timeout=60) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        source = cr.read(folder, on=client)
        assert source.tally(FAMILIES).close_to(cr.read(folder).tally(FAMILIES))
        first.kill()  # one worker less: the same answer
        assert source.tally(FAMILIES).close_to(cr.read(folder).tally(FAMILIES))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_spark_master_with_two_workers(tmp_path):
    pyspark = pytest.importorskip("pyspark", reason="the extra credo[spark] is not here")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not on this machine")
    home = Path(pyspark.__file__).parent
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    env = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(tmp_path / "work"),
           "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)}  # fmt: skip
    start = [str(home / "bin" / "spark-class")]
    master = [*start, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
              "--port", str(port), "--webui-port", "0"]  # fmt: skip
    worker = [*start, "org.apache.spark.deploy.worker.Worker", url, "--cores", "1",
              "--memory", "512m", "--host", "127.0.0.1", "--webui-port", "0"]  # fmt: skip
    rows = tmp_path / "rows"
    rows.mkdir()
    script = tmp_path / "job.py"
    script.write_text(_JOB)
    with running(master, worker, worker, env=env):
        time.sleep(5)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(script), url, str(written(rows))],
            env={**os.environ, **env}, capture_output=True, text=True, timeout=240,
        )  # fmt: skip
    assert done.stdout.strip().endswith("equal"), done.stderr[-2000:]


_JOB = """
import sys
import credo as cr
from pyspark.sql import SparkSession

url, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master(url)
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.executor.memory", "512m")
    .config("spark.executorEnv.PYSPARK_PYTHON", sys.executable).getOrCreate()
)
families = [("a", ["b"]), ("z", ["a"])]
whole = cr.read(folder).tally(families)
assert cr.read(folder, on=spark).tally(families).close_to(whole)
assert cr.read(spark.read.parquet(folder)).tally(families).close_to(whole)
print("equal")
spark.stop()
"""
