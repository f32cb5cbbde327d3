"""Naive Bayes beside scikit-learn's classes and pomegranate: fit and ln P(class | row), from the
same arrays and frames.

Categorical (20 features of 8 states, 5 classes), Bernoulli, Gaussian, counts, mixed (no peer), TAN
and AODE (whole and in parts), sparse documents, raw texts, memory, few rows, held-out accuracy and
log loss on real tables, and with --rows 1e8 (or above 5e6) the rows of Parquet files out of core.
Gaussian variances are timed without priors (variance="ml", scikit-learn's var_smoothing=0).
pomegranate needs torch: it is measured where it can be imported, or by the interpreter that
CREDO_POMEGRANATE names.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import ROOT, Bench, Case, Entry, Task, installed
from benchmarks.naive_bayes_networks import networks
from benchmarks.naive_bayes_quality import quality
from benchmarks.naive_bayes_small import small

WIDTH, STATES, CLASSES = 20, 8, 5
CORES = os.cpu_count() or 1
SHARED = Path(os.environ.get("CREDO_SHARED", ROOT.parent / "shared")) / "data" / "tables"


def run(bench: Bench) -> None:
    warnings.simplefilter("ignore")
    if bench.rows and max(bench.rows) > 5_000_000:  # out of core, when asked for
        for rows in bench.rows:
            out_of_core(bench, rows)
        return
    for rows in bench.sizes(1_000_000, quick=(100_000,)):
        arrays(bench, rows)
        frames(bench, rows)
        pomegranate(bench, rows)
        memory(bench, rows)
        networks(bench, table, rows)
    small(bench, table, ours, peers)
    documents(bench, 20_000 if not bench.quick else 4_000)
    texts(bench, 200_000 if not bench.quick else 20_000)
    out_of_core(bench, 200_000 if bench.quick else 5_000_000)
    quality(bench, SHARED)


# --- the tables -------------------------------------------------------------------------------


def table(kind: str, rows: int) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, rows)
    if kind == "gaussian":
        return rng.normal(size=(rows, WIDTH)) + 0.3 * y[:, None], y
    if kind == "counts":
        return rng.poisson(1 + 0.3 * y[:, None], (rows, WIDTH)), y
    states = 2 if kind == "bernoulli" else STATES
    x = (
        rng.integers(0, states, (rows, WIDTH)) + (rng.random((rows, WIDTH)) < 0.3) * y[:, None]
    ) % states
    if kind != "mixed":
        return x, y
    import pandas as pd

    frame = {f"x{j}": rng.normal(size=rows) + 0.3 * y for j in range(WIDTH // 2)}
    frame |= {f"c{j}": x[:, j] for j in range(WIDTH // 2)}
    return pd.DataFrame(frame), y


def peers(kind: str) -> list[tuple[str, Any]]:
    from sklearn import naive_bayes as sk

    made = {
        "categorical": ("CategoricalNB", lambda: sk.CategoricalNB()),
        "bernoulli": ("BernoulliNB", lambda: sk.BernoulliNB()),
        "gaussian": ("GaussianNB", lambda: sk.GaussianNB(var_smoothing=0)),
        "counts": ("MultinomialNB", lambda: sk.MultinomialNB()),
    }
    return [made[kind]] if kind in made else []


def ours(kind: str, threads: int = 1) -> Any:
    from credo.estimators import NaiveBayes

    kinds = "auto" if kind == "mixed" else kind
    return NaiveBayes(kinds=kinds, variance="ml", n_jobs=threads)


def arrays(bench: Bench, rows: int) -> None:
    for kind in ("categorical", "bernoulli", "gaussian", "counts", "mixed"):
        x, y = table(kind, rows)
        compare(bench, kind, x, y, rows)


def frames(bench: Bench, rows: int) -> None:
    """The same from pandas and polars frames, whose columns lie one after the other."""
    import pandas as pd
    import polars as pl

    for kind in ("categorical", "bernoulli", "gaussian"):
        x, y = table(kind, rows)
        columns = {f"x{j}": np.ascontiguousarray(x[:, j]) for j in range(WIDTH)}
        compare(bench, kind, pd.DataFrame(columns), y, rows, " of a pandas frame")
        compare(bench, kind, pl.DataFrame(columns), y, rows, " of a polars frame")


def compare(bench: Bench, kind: str, x: Any, y: Any, rows: int, where: str = "") -> None:
    named = (
        "10 Gaussian + 10 categorical features" if kind == "mixed" else f"{WIDTH} {kind} features"
    ) + where
    makers = [
        ("credo", lambda k=kind: ours(k)),
        (f"credo, {CORES} threads", lambda k=kind: ours(k, CORES)),
    ]
    makers += peers(kind)
    fits, asks = [], []
    for name, make in makers:
        package = None if name.startswith("credo") else "scikit-learn"
        threads = CORES if "threads" in name else 1
        fits.append(
            Entry(
                name,
                lambda state, _, make=make: make().fit(*state),
                package,
                lambda x=x, y=y: (x, y),
                answer=lambda clf, _, x=x: [clf.predict_log_proba(x[:1000])],
                threads=threads,
            )
        )
        asks.append(
            Entry(
                name,
                lambda clf, _, x=x: [clf.predict_log_proba(x)],
                package,
                lambda make=make, x=x, y=y: make().fit(x, y),
                threads=threads,
            )
        )
    bench.compare(Task(f"fit, {named}, {rows:,} rows", fits, tolerance=1e-9))
    bench.compare(Task(f"predict_log_proba, {named}, {rows:,} rows", asks, tolerance=1e-9))


# --- memory, each turn in a process of its own --------------------------------------------------


def memory(bench: Bench, rows: int) -> None:
    with tempfile.TemporaryDirectory(prefix="credo-bench-") as folder:
        for kind in ("categorical", "bernoulli", "gaussian", "counts"):
            path = str(Path(folder) / f"{kind}.npz")
            x, y = table(kind, rows)
            np.savez(path, x=x, y=y)
            for what in ("fit", "predict_log_proba"):
                cases = [
                    Case(
                        who,
                        "benchmarks.naive_bayes:probe",
                        {"who": who, "kind": kind, "what": what, "path": path},
                        package,
                        since="prepared",
                    )
                    for who, package in (("credo", None), ("scikit-learn", "scikit-learn"))
                ]
                bench.fresh(f"memory of {what}, {WIDTH} {kind} features, {rows:,} rows", cases)


def probe(who: str, kind: str, what: str, path: str) -> tuple[Any, Any, Any]:
    make = (lambda: ours(kind)) if who == "credo" else peers(kind)[0][1]

    def prepare() -> Any:
        with np.load(path) as held:
            x, y = held["x"], held["y"]
        make().fit(x[:1000], y[:1000]).predict_log_proba(x[:1000])  # imports are not measured
        return x, y, (make().fit(x, y) if what != "fit" else None)

    def work(prepared: Any) -> Any:
        x, y, clf = prepared
        return make().fit(x, y) if clf is None else clf.predict_log_proba(x)

    return prepare, work, lambda _: None


# --- pomegranate, which needs torch -------------------------------------------------------------


def pomegranate(bench: Bench, rows: int) -> None:
    python = os.environ.get("CREDO_POMEGRANATE")
    if python is None and installed("pomegranate"):
        python = sys.executable
    if python is None:
        bench.console.print(
            "pomegranate is absent (it needs torch): set CREDO_POMEGRANATE to a Python that has it."
        )
        return
    import time

    lines = []
    with tempfile.TemporaryDirectory(prefix="credo-bench-") as folder:
        for kind in ("categorical", "bernoulli", "gaussian"):
            x, y = table(kind, rows)
            path = str(Path(folder) / "table.npz")
            np.savez(path, x=x, y=y)
            for threads in (1, CORES):
                clf = ours(kind, threads).fit(x, y)
                ran = subprocess.run(
                    [python, str(ROOT / "benchmarks" / "pomegranate_peer.py"), kind, path,
                     str(threads)],
                    capture_output=True, text=True, check=False,
                )  # fmt: skip
                if ran.returncode:
                    bench.console.print(f"pomegranate failed: {ran.stderr.strip()[-200:]}")
                    return
                told = json.loads(ran.stdout)
                for what in ("fit", "predict_log_proba"):
                    spent = []
                    for _ in range(3):
                        cpu, wall = time.process_time(), time.perf_counter()
                        if what == "fit":
                            ours(kind, threads).fit(x, y)
                        else:
                            clf.predict_log_proba(x)
                        spent.append((time.process_time() - cpu, time.perf_counter() - wall))
                    own = [min(v) for v in zip(*spent, strict=True)]
                    off = np.abs(np.array(told["first"]) - clf.predict_log_proba(x[:1])[0]).max()
                    lines.append(
                        [f"{what}, {kind}, {threads} thread{'s' * (threads > 1)}"]
                        + [f"{1e3 * v:.1f} ms" for v in (own[0], told[f"{what}_cpu"])]
                        + [f"{told[f'{what}_{w}'] / o:.1f}×" for w, o in
                           zip(("cpu", "wall"), own, strict=True)]
                        + [f"{off:.0e}"]
                    )  # fmt: skip
    bench.grid(
        f"pomegranate, {rows:,} rows, {WIDTH} features",
        ["", "credo CPU", "pomegranate CPU", "CPU ratio", "wall ratio", "answers differ by"],
        lines,
        note="pomegranate counts in single precision, and smooths otherwise than by (n + 1).",
    )


# --- documents --------------------------------------------------------------------------------


def documents(bench: Bench, rows: int) -> None:
    import scipy.sparse as sp
    from sklearn import naive_bayes as sk

    from credo.estimators import TextNaiveBayes

    rng = np.random.default_rng(0)
    words = rng.integers(0, 50_000, (rows, 100))
    counts = rng.integers(1, 4, words.size).astype(np.float64)
    x = sp.csr_matrix((counts, words.ravel(), np.arange(rows + 1) * 100), (rows, 50_000))
    x.sum_duplicates()
    y = rng.integers(0, CLASSES, rows)
    for form, peer in (
        ("multinomial", sk.MultinomialNB),
        ("complement", sk.ComplementNB),
        ("bernoulli", sk.BernoulliNB),
    ):
        makers = [
            ("credo", lambda f=form: TextNaiveBayes(f)),
            (f"credo, {CORES} threads", lambda f=form: TextNaiveBayes(f, n_jobs=CORES)),
            (peer.__name__, peer),
        ]
        for what in ("fit", "predict_log_proba"):
            entries = []
            for name, make in makers:
                fit = what == "fit"
                entries.append(
                    Entry(
                        name,
                        (lambda _, __, make=make: make().fit(x, y))
                        if fit
                        else (lambda clf, _: [clf.predict_log_proba(x)]),
                        None if name.startswith("credo") else "scikit-learn",
                        (lambda: None) if fit else (lambda make=make: make().fit(x, y)),
                        answer=(lambda clf, _: [clf.predict_log_proba(x[:500])])
                        if fit
                        else (lambda raw, _: raw),
                        threads=CORES if "threads" in name else 1,
                        steady=True,
                    )
                )
            title = f"{what}, {form}, {rows:,} documents of 50,000 words, sparse"
            bench.compare(Task(title, entries, tolerance=1e-9))


def texts(bench: Bench, rows: int) -> None:
    path = SHARED / "sms_spam.csv.gz"
    if not path.exists():
        bench.console.print(f"{path.name} is not on this machine: raw texts are not measured.")
        return
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    from credo.estimators import TextNaiveBayes

    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = list(csv.reader(io.StringIO(file.read())))[1:]
    times = rows // len(found) + 1
    docs = ([r[1] for r in found] * times)[:rows]
    labels = np.array(([r[0] for r in found] * times)[:rows])
    makers = [
        ("credo", lambda: TextNaiveBayes(shortest=2), None),
        (
            "CountVectorizer + MultinomialNB",
            lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
            "scikit-learn",
        ),
    ]
    bench.compare(
        Task(
            f"fit, {rows:,} messages as texts",
            [
                Entry(
                    n,
                    lambda _, __, m=m: m().fit(docs, labels),
                    p,
                    answer=lambda clf, _: [clf.predict_log_proba(docs[:2000])],
                )
                for n, m, p in makers
            ],
            tolerance=1e-9,
        )
    )
    bench.compare(
        Task(
            f"predict_log_proba, {rows:,} messages as texts",
            [
                Entry(
                    n,
                    lambda clf, _: [clf.predict_log_proba(docs)],
                    p,
                    lambda m=m: m().fit(docs, labels),
                )
                for n, m, p in makers
            ],
            tolerance=1e-9,
        )
    )


# --- out of core ------------------------------------------------------------------------------


def out_of_core(bench: Bench, rows: int) -> None:
    """Parquet files of 10 categorical columns: naive Bayes beside merely reading them."""
    with tempfile.TemporaryDirectory(prefix="credo-bench-") as folder:
        write_parquet(folder, rows)
        glob = str(Path(folder) / "*.parquet")
        cases = [
            Case(name, where(how), {"glob": glob}, None, cores=2)
            for name, how in (
                ("credo, streamed", "stream_case"),
                ("credo, batch by batch (partial_fit)", "batch_case"),
                ("credo, TAN, streamed", "naive_bayes_networks:tan_stream_case"),
                ("credo, TAN, batch by batch (partial_fit)", "naive_bayes_networks:tan_batch_case"),
                ("Arrow, reading only", "read_case"),
            )
        ]
        bench.fresh(f"naive Bayes of {rows:,} rows × 10 columns of Parquet", cases)


def where(how: str) -> str:
    return f"benchmarks.{how if ':' in how else f'naive_bayes:{how}'}"


def write_parquet(folder: str, rows: int, part: int = 2_000_000) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = np.array([f"s{i}" for i in range(STATES)])
    for k, first in enumerate(range(0, rows, part)):
        n = min(part, rows - first)
        rng = np.random.default_rng(k)
        y = rng.integers(0, CLASSES, n)
        columns = {
            "y": pa.DictionaryArray.from_arrays(
                y.astype(np.int8), [f"c{i}" for i in range(CLASSES)]
            )
        }
        for j in range(9):
            codes = ((rng.integers(0, STATES, n) + (rng.random(n) < 0.3) * y) % STATES).astype(
                np.int8
            )
            columns[f"x{j}"] = pa.DictionaryArray.from_arrays(codes, names)
        pq.write_table(pa.table(columns), Path(folder) / f"part{k:04}.parquet")


def stream_case(glob: str) -> tuple[Any, Any, Any]:
    from credo.estimators import NaiveBayes

    def work(_: Any) -> Any:
        return NaiveBayes(n_jobs=2).fit(glob, "y")

    return lambda: None, work, lambda clf: clf.class_count_.tolist()


def batch_case(glob: str) -> tuple[Any, Any, Any]:
    import pyarrow.dataset as ds

    from credo.estimators import NaiveBayes

    def work(_: Any) -> Any:
        clf = NaiveBayes(n_jobs=2)
        for batch in ds.dataset(str(Path(glob).parent)).to_batches():
            if batch.num_rows:
                clf.partial_fit(batch, "y")
        return clf

    return lambda: None, work, lambda clf: clf.class_count_.tolist()


def read_case(glob: str) -> tuple[Any, Any, Any]:
    import pyarrow.dataset as ds

    def work(_: Any) -> int:
        return sum(b.num_rows for b in ds.dataset(str(Path(glob).parent)).to_batches())

    return lambda: None, work, lambda _: None
