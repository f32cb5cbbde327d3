"""Models as SQL on real tables: in DuckDB always, in Spark and Postgres where they are installed."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.estimators import NaiveBayes, NetworkClassifier

pytestmark = pytest.mark.filterwarnings("ignore::credo.errors.CredoWarning")

TABLES = {
    "titanic.csv": "Survived", "heart_cleveland.csv": "num", "house_votes_84.csv": "Class",
    "german_credit.csv": "class", "iris.csv": "target", "car_evaluation.csv": "class",
}  # fmt: skip
MODELS = {
    "naive Bayes": lambda t, y: NaiveBayes().fit(t, y),
    "TAN": lambda t, y: NetworkClassifier().fit(t, y),
    "a learned network": lambda t, y: cr.learn(t, search="hill-climb", rng=0),
}


def learned(table, target, how):
    """A model of a table, and what it says of its rows."""
    model = MODELS[how](table, target)
    if isinstance(model, cr.Network):
        return model, model.predict_proba(table, target)
    return model, model.predict_proba(table.to("pandas").drop(columns=target))


def as_array(rows):
    return np.array([[np.nan if v is None else v for v in row] for row in rows], float)


SLOW = ("heart_cleveland.csv", "german_credit.csv", "house_votes_84.csv")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in TABLES]
)
def test_duckdb(name, shared_tables):
    table = cr.read(shared_tables / name)
    target = TABLES[name]
    con = duckdb.connect()
    con.register("rows", table.to("pandas"))
    for how in MODELS:
        model, expected = learned(table, target, how)
        got = as_array(con.execute(model.to_sql("duckdb", target=target)).fetchall())
        known = ~np.isnan(got).any(axis=1)  # a number is missing that another is a line of
        np.testing.assert_allclose(got[known], expected[known], atol=1e-9, err_msg=how)
        assert known.all() or how == "a learned network"
        assert known.mean() > 0.9


def odd_table():
    """Names and states with everything in them that an engine may stumble over."""
    rng = np.random.default_rng(0)
    states = ["a'b", 'q"c', "d\\e", "f`g", "line\nbreak", "${x}", "ünï 漢", "--"]
    rows = pd.DataFrame({n: rng.choice(states, 200) for n in ("select", 'q"uote', "a `tick`")})
    rows["dot.ted"] = rng.normal(size=200)
    rows["flag"] = rng.random(200) < 0.4
    rows["order"] = np.where(rng.random(200) < 0.5, rows["select"], rng.choice(states, 200))
    rows = rows.mask(rng.random(rows.shape) < 0.1)
    rows["flag"] = rows["flag"].astype("boolean")
    return cr.read(rows), "order"


def cases():
    """Names, tables with a key, statements by dialect, and answers."""
    made = {"odd": (*odd_table(), "naive Bayes"), "tan": (*gap_table(), "TAN"),
            "network": (*gap_table(), "a learned network")}  # fmt: skip
    for name, (table, target, how) in made.items():
        model, expected = learned(table, target, how)
        rows = table.to("pandas")
        rows.insert(0, "id", range(len(rows)))
        yield name, rows, model, target, expected


def gap_table():
    """Four states and a number, with gaps."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    rows = pd.DataFrame({"y": np.array(["no", "yes"])[y]})
    before = y
    for k in range(3):
        before = (before + (rng.random(300) < 0.3)) % 3
        rows[f"t{k}"] = np.array(list("abc"))[before]
    rows["x"] = rng.normal(y, 1.0)
    gone = rng.random(rows.shape) < 0.15
    gone[:, 0] = False
    return cr.read(rows.mask(gone)), "y"


def compare(found, expected):
    """Rows of (id, probabilities) in any order."""
    found = as_array(sorted(found))
    assert found[:, 0].tolist() == list(range(len(expected)))
    np.testing.assert_allclose(found[:, 1:], expected, atol=1e-9)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pyspark") is None, reason="PySpark is not installed")
@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark(tmp_path, monkeypatch):
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    there = SparkSession.getActiveSession()
    settings = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
                "spark.ui.enabled": "false"}  # fmt: skip
    builder = SparkSession.builder.master("local[1]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = there or builder.getOrCreate()
    try:
        for name, rows, model, target, expected in cases():
            rows.to_parquet(tmp_path / f"{name}.parquet")
            spark.read.parquet(str(tmp_path / f"{name}.parquet")).createOrReplaceTempView(name)
            text = model.to_sql("spark", target=target, table=name, keep="id")
            compare([tuple(row) for row in spark.sql(text).collect()], expected)
    finally:
        if there is None:
            spark.stop()


@pytest.fixture(scope="module")
def postgres():
    """A function that runs SQL in a server of its own, by psql."""
    for tool in ("initdb", "pg_ctl", "psql"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} of Postgres is not installed")
    folder = Path(tempfile.mkdtemp())  # not within pytest's, which only its owner may enter
    user = None
    if os.geteuid() == 0:  # the server refuses to run as root
        try:
            shutil.chown(folder, "postgres")
        except LookupError:
            folder.rmdir()
            pytest.skip("Postgres does not run as root, and there is no user postgres")
        user = "postgres"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def call(*words, **more):
        return subprocess.run(words, capture_output=True, check=True, user=user, cwd=folder, **more)

    data = folder / "data"
    call("initdb", "-D", data, "-A", "trust", "-E", "UTF8", "-U", "credo")
    options = f"-p {port} -k {folder} -c listen_addresses="
    subprocess.run(["pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start"],
                   check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)  # fmt: skip

    def run(text):
        words = ["psql", "-h", folder, "-p", str(port), "-U", "credo", "-d", "postgres", "-qAt"]
        more = ["-v", "ON_ERROR_STOP=1", "-F", "\t", "-f", "-"]
        return call(*words, *more, input=text.encode()).stdout.decode()

    yield run
    call("pg_ctl", "-D", data, "-m", "immediate", "stop")
    shutil.rmtree(folder)


TYPES = {"BIGINT": "bigint", "DOUBLE": "double precision", "BOOLEAN": "boolean"}


@pytest.mark.slow
def test_postgres(postgres):
    con = duckdb.connect()
    for name, rows, model, target, expected in cases():
        con.register("frame", rows)
        columns = con.execute("DESCRIBE frame").fetchall()
        quoted = ['"' + n.replace('"', '""') + '"' for n, *_ in columns]
        types = [TYPES.get(t, "text") for _, t, *_ in columns]
        made = ", ".join(f"{n} {t}" for n, t in zip(quoted, types, strict=True))
        values = ",\n".join(
            "(" + ", ".join("NULL" if v is None else _literal(v) for v in row) + ")"
            for row in con.execute("SELECT * FROM frame").fetchall()
        )
        postgres(f"CREATE TABLE {name} ({made}); INSERT INTO {name} VALUES {values};")
        text = model.to_sql("postgres", target=target, table=name, keep="id")
        found = postgres(f"SET statement_timeout = '60s'; {text};")
        lines = [line.split("\t") for line in found.splitlines()]
        compare([(int(i), *map(float, p)) for i, *p in lines], expected)


def _literal(value):
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value) if value == value else "'NaN'"
