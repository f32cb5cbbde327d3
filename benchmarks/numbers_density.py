"""How well networks foretell rows of numbers: held-out bits a row, 5 folds, the same for all.

credo's own ways to model numbers beside peers: one Gaussian of all columns after scikit-learn's
Yeo–Johnson transform of each (a Gaussian copula of such marginals), its Gaussian mixture with the
number of parts by BIC, and PyBNesian's semiparametric network (kernels where they fit better), the
three on tables of complete numbers alone. Values are densities on the table's own scale: only
differences within a line mean anything.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench

TABLES = (
    "adult.csv.gz", "breast_cancer_diagnostic.csv", "clgaussian_test.csv.gz",
    "gaussian_test.csv.gz", "gender_measurements.csv", "german_credit.csv", "heart_cleveland.csv",
    "horse_colic.csv", "iris.csv", "marks.csv", "penguins.csv", "penguins_raw.csv", "pima_tr2.csv",
    "sachs_continuous.csv.gz", "seattle_weather.csv", "student_survey.csv", "titanic.csv",
    "wine.csv",
)  # fmt: skip
BUNDLED = ("diabetes", "linnerud", "wine")
MOST = 1_500  # rows of a table
FOLDS = 5


def density(bench: Bench, folder: Path) -> None:
    """A line a table with numbers."""
    ways = {way: _credo(way) for way in ("gaussian", "auto", "transformed", "binned")}
    peers = {"Yeo–Johnson Gaussian": _yeo_johnson, "mixture": _mixture}
    why = _pybnesian_cannot()
    if why is None:
        peers["PyBNesian"] = _pybnesian
    lines, worse, better, mixed, cost = [], 0, 0, 0, []
    for name, table in _tables(folder):
        if bench.quick and len(lines) >= 3:
            break
        found, seconds = _held_out(table, ways, peers)
        gain = found["auto"] - found["gaussian"]
        worse += gain < -0.02
        if table.schema.discrete:
            mixed, better = mixed + 1, better + (gain > 0.5)
        cost.append(seconds["auto"] / max(seconds["gaussian"], 1e-3))
        shown = [f"{found[w]:.2f}" if w in found else "" for w in (*ways, *peers)]
        size = f"{len(table):,} × {len(table.schema.continuous)} of {len(table.schema)}"
        lines.append([name, size, *shown, f"{gain:+.2f}", f"{cost[-1]:.1f}"])
    left_out = f" PyBNesian is left out: {why}." if why else ""
    bench.grid(
        f"held-out bits a row, {FOLDS} folds",
        ["table", "rows × numbers", *ways, *peers, "auto − gaussian", "time"],
        lines,
        note=f"auto is worse than gaussian by more than 0.02 bits on {worse} of {len(lines)}, "
        f"and better by more than 0.5 on {better} of {mixed} mixed ones; time is CPU seconds of "
        f"auto over gaussian, median {np.median(cost):.1f}, above 3 on "
        f"{sum(c > 3 for c in cost)}.{left_out}",
    )


def many_rows(bench: Bench) -> None:
    """A million rows of 20 numbers, skewed and with zeros among them."""
    import credo as cr

    n = 100_000 if bench.quick else 1_000_000
    rng = np.random.default_rng(0)
    columns = {f"x{k}": rng.normal(size=n) for k in range(10)}
    for k in range(5):
        columns[f"price{k}"] = np.exp(0.5 * columns[f"x{k}"] + rng.normal(size=n))
        columns[f"count{k}"] = np.where(rng.random(n) < 0.5, 0.0, rng.gamma(2, 3, n).round(1))
    table = cr.read(columns, schema=dict.fromkeys(columns, "continuous"))
    lines = []
    for way in ("gaussian", "auto"):
        began = time.process_time()
        cr.learn(table, numbers=way)
        lines.append([way, f"{time.process_time() - began:.1f}"])
    bench.grid(f"CPU seconds to learn {n:,} rows of 20 numbers", ["numbers", "s"], lines)


def _tables(folder: Path) -> Iterator[tuple[str, Any]]:
    from sklearn import datasets

    import credo as cr

    for name in BUNDLED:
        data = getattr(datasets, f"load_{name}")(as_frame=True)
        yield f"{name} (scikit-learn)", cr.read(data.frame)
    for name in TABLES:
        if (folder / name).exists():
            table = cr.read(str(folder / name))
            if len(table) > MOST:
                table = table.take(np.random.default_rng(0).permutation(len(table))[:MOST])
            if table.schema.continuous:
                yield name.split(".")[0], table


def _held_out(
    table: Any, ways: dict[str, Callable[..., float]], peers: dict[str, Callable[..., float]]
) -> tuple[dict[str, float], dict[str, float]]:
    """Mean bits a row of each way, and CPU seconds of learning and scoring."""
    from sklearn.model_selection import KFold

    numbers = not table.schema.discrete and not any(table.block.gaps)
    used = {**ways, **peers} if numbers else ways
    total, seconds = dict.fromkeys(used, 0.0), dict.fromkeys(used, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(np.arange(len(table))):
            for who, way in used.items():
                began = time.process_time()
                total[who] += way(table.take(train), table.take(test)) / np.log(2)
                seconds[who] += time.process_time() - began
    return {who: bits / len(table) for who, bits in total.items()}, seconds


def _credo(way: str) -> Callable[[Any, Any], float]:
    import credo as cr

    def run(train: Any, test: Any) -> float:
        return float(cr.learn(train, "bdeu", numbers=way).log_likelihood(test))

    return run


def _matrix(table: Any) -> Any:
    return np.column_stack([table.values(n) for n in table.schema.names])


def _yeo_johnson(train: Any, test: Any) -> float:
    from scipy.stats import multivariate_normal
    from sklearn.preprocessing import PowerTransformer

    a, b = _matrix(train), _matrix(test)
    maker = PowerTransformer().fit(a)
    z = maker.transform(a)
    cover = np.cov(z.T, bias=True) + 1e-9 * np.eye(z.shape[1])
    powers, scale = maker.lambdas_, np.sqrt(maker._scaler.var_)
    slope = ((powers - 1) * np.sign(b) * np.log1p(np.abs(b)) - np.log(scale)).sum()
    model = multivariate_normal(z.mean(axis=0), cover, allow_singular=True)
    return float(model.logpdf(maker.transform(b)).sum() + slope)


def _mixture(train: Any, test: Any) -> float:
    from sklearn.mixture import GaussianMixture

    a, b = _matrix(train), _matrix(test)
    spread = a.std(axis=0) + 1e-12
    a, b = a / spread, b / spread
    fits = [GaussianMixture(k, random_state=0, reg_covar=1e-4).fit(a) for k in range(1, 7)]
    best = min(fits, key=lambda m: m.bic(a))
    return float(best.score_samples(b).sum() - len(b) * np.log(spread).sum())


def _pybnesian(train: Any, test: Any) -> float:
    import pybnesian

    a, b = train.to("pandas").astype(float), test.to("pandas").astype(float)
    net = pybnesian.hc(a, bn_type=pybnesian.SemiparametricBNType(), seed=0)
    net.fit(a)
    return float(net.slogl(b))


def _pybnesian_cannot() -> str | None:
    """Why its kernels cannot be asked; they need an OpenCL platform, such as that of
    pocl-binary-distribution, whose .icd file OCL_ICD_VENDORS finds.
    """
    import pandas as pd

    try:
        import pybnesian

        x = np.random.default_rng(0).normal(size=(50, 2))
        pybnesian.hc(pd.DataFrame(x, columns=["a", "b"]), bn_type=pybnesian.SemiparametricBNType())
    except (ImportError, RuntimeError) as error:
        return str(error).rstrip(".")
    return None
