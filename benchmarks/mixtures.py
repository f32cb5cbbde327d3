"""Mixtures: Gaussian mixtures and latent classes, from the same start, the same number of steps.

Every library must reach the same log-likelihood before its time counts. pomegranate (with torch)
and StepMix are measured where they can be imported; StepMix draws its own start, so that only its
time can be compared. A last table lets each library run as a user would, to its own end.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task, installed


def run(bench: Bench) -> None:
    for rows in bench.sizes(200_000, quick=(20_000,)):
        full(bench, rows, 1)
    for rows in bench.sizes(100_000, quick=(20_000,)):
        diagonal(bench, rows)
    for rows in bench.sizes(1_000_000, quick=(50_000,)):
        latent(bench, rows)
    for rows in bench.sizes(50_000, quick=(10_000,)):
        gaps(bench, rows)
        to_the_end(bench, rows)
    for rows in bench.sizes(50_000, quick=(20_000,)):
        full(bench, rows, 2)


def bells(rows: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of k Gaussians with covariances of their own, and means to start from."""
    rng = np.random.default_rng(seed)
    middle = rng.normal(0, 2, (k, d))
    root = rng.normal(size=(k, d, d)) / 4 + np.eye(d)
    z = rng.integers(0, k, rows)
    x = np.empty((rows, d))
    for c in range(k):
        mine = z == c
        x[mine] = middle[c] + rng.normal(size=(int(mine.sum()), d)) @ root[c].T
    return x, middle + rng.normal(0, 0.5, (k, d))


def limited(threads: int, run: Callable[[], Any]) -> Any:
    """A peer on so many threads of its linear algebra."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run()


def full(bench: Bench, rows: int, threads: int) -> None:
    from credo.estimators import GaussianMixture

    d, k, steps = 16, 8, 10
    x, first = bells(rows, d, k)
    eye = np.repeat(np.eye(d)[None], k, axis=0)
    start = {"weights_init": np.full(k, 1 / k), "means_init": first, "precisions_init": eye}

    def credo(threads: int) -> Any:
        return lambda *_: GaussianMixture(
            k, tol=0, max_iter=steps, accelerate=False, n_jobs=threads, **start
        ).fit(x)

    def sklearn(threads: int) -> Any:
        from sklearn.mixture import GaussianMixture as Peer

        peer = Peer(k, tol=0, max_iter=steps, reg_covar=0, **start)
        return lambda *_: limited(threads, lambda: peer.fit(x))

    def pomegranate(threads: int) -> Any:
        def fit(*_: Any) -> Any:
            import torch
            from pomegranate.distributions import Normal
            from pomegranate.gmm import GeneralMixtureModel

            torch.set_num_threads(threads)
            cells = torch.from_numpy(x)
            parts = [Normal(torch.tensor(m), torch.eye(d, dtype=torch.float64)) for m in first]
            model = GeneralMixtureModel(
                parts, priors=torch.full((k,), 1 / k, dtype=torch.float64), max_iter=steps,
                tol=-1e300,
            )  # fmt: skip
            return model.fit(cells)

        return fit

    def height(model: Any, _: Any) -> list[float]:
        return [float(np.sum(model.score_samples(x)))]

    def torch_height(model: Any, _: Any) -> list[float]:
        import torch

        return [float(model.log_probability(torch.from_numpy(x)).sum())]

    bench.compare(
        Task(
            f"Gaussian mixture of {k}, {rows:,} × {d}, full, {steps} steps, {threads} thread"
            f"{'s' * (threads > 1)}",
            [
                Entry("credo GaussianMixture", credo(threads), answer=height, threads=threads),
                Entry("scikit-learn GaussianMixture", sklearn(threads), "scikit-learn",
                      answer=height, threads=threads),
                Entry("pomegranate GeneralMixtureModel", pomegranate(threads), "pomegranate",
                      answer=torch_height, threads=threads),
            ],
            tolerance=1e-6,
        )
    )  # fmt: skip


def diagonal(bench: Bench, rows: int) -> None:
    """Columns apart: the engine of mixtures, and EM of networks, which does the same by its own."""
    import credo as cr
    from credo.distributions import Gaussians
    from credo.estimators import GaussianMixture

    d, k, steps = 8, 4, 20
    x, first = bells(rows, d, k, 3)
    start = {
        "weights_init": np.full(k, 1 / k), "means_init": first, "precisions_init": np.ones((k, d))
    }  # fmt: skip
    names = [f"x{j}" for j in range(d)]
    table = cr.read({n: x[:, j] for j, n in enumerate(names)})
    net = cr.Mixture(
        np.full(k, 1 / k),
        [Gaussians(names, first, np.ones((k, d)), "diagonal")],
        "C",
    ).to_network()

    def mixture(threads: int) -> Any:
        return lambda *_: GaussianMixture(
            k, covariance_type="diag", tol=0, max_iter=steps, accelerate=False, n_jobs=threads,
            **start,
        ).fit(x)  # fmt: skip

    def em(threads: int) -> Any:
        return lambda *_: cr.em(
            net, table, start=net, max_iter=steps, tol=0, accelerate=False, threads=threads
        )

    def sklearn(*_: Any) -> Any:
        from sklearn.mixture import GaussianMixture as Peer

        peer = Peer(k, covariance_type="diag", tol=0, max_iter=steps, reg_covar=0, **start)
        return limited(1, lambda: peer.fit(x))

    def height(model: Any, _: Any) -> list[float]:
        return [float(np.sum(model.score_samples(x)))]

    bench.compare(
        Task(
            f"Gaussian mixture of {k}, {rows:,} × {d}, diagonal, {steps} steps",
            [
                Entry("credo GaussianMixture", mixture(1), answer=height),
                Entry("credo em", em(1), answer=lambda n, _: [n.record.score]),
                Entry("scikit-learn GaussianMixture", sklearn, "scikit-learn", answer=height),
            ],
            tolerance=1e-6,
        )
    )


def latent(bench: Bench, rows: int) -> None:
    """Five classes over twenty columns of three states."""
    import credo as cr
    from credo.core.schema import Schema
    from credo.data import Table
    from credo.distributions import Tables
    from credo.stats.block import Block

    rng = np.random.default_rng(2)
    d, k, r, steps = 20, 5, 3, 10
    theta = rng.dirichlet(np.ones(r), size=(k, d))
    z = rng.integers(0, k, rows)
    codes = np.empty((rows, d), dtype=np.uint8)
    for j in range(d):
        steps_of = theta[:, j].cumsum(axis=1)[z]
        codes[:, j] = (rng.random(rows)[:, None] > steps_of).sum(axis=1).clip(0, r - 1)
    variables = [cr.Variable(f"x{j}", "discrete", tuple(range(r))) for j in range(d)]
    table = Table(Block(Schema(tuple(variables)), tuple(np.ascontiguousarray(codes.T))))
    first = rng.dirichlet(np.full(r, 3.0), size=(d, k))
    start = cr.Mixture(
        np.full(k, 1 / k),
        [Tables(v, t) for v, t in zip(variables, first, strict=True)],
    )

    def credo(threads: int) -> Any:
        return lambda *_: cr.mixture(
            table, k, start=start, max_iter=steps, tol=0, prior=0, accelerate=False, threads=threads
        )

    def looped(*_: Any) -> float:
        """The usual loop: one-hot columns and two matrix products a step."""
        onehot = (codes[:, :, None] == np.arange(r)).reshape(rows, -1).astype(np.float64)
        weight, cells = np.full(k, 1 / k), first.transpose(1, 0, 2).reshape(k, -1).copy()
        for turn in range(steps + 1):
            log = onehot @ np.log(cells).T + np.log(weight)
            top = log.max(axis=1, keepdims=True)
            p = np.exp(log - top)
            total = p.sum(axis=1, keepdims=True)
            height = float((np.log(total) + top).sum())
            if turn == steps:
                break
            p /= total
            weight = p.mean(axis=0)
            counts = (p.T @ onehot).reshape(k, d, r)
            cells = (counts / counts.sum(axis=-1, keepdims=True)).reshape(k, -1)
        return height

    bench.compare(
        Task(
            f"latent classes: {k} over {d} columns of {r} states, {rows:,} rows, {steps} steps",
            [
                Entry("credo mixture", credo(1), answer=lambda m, _: [m.record.score]),
                Entry("credo, 2 threads", credo(2), answer=lambda m, _: [m.record.score],
                      threads=2),
                Entry("NumPy, one-hot products", lambda *_: limited(1, looped),
                      answer=lambda h, _: [h]),
            ],
            tolerance=1e-6,
        )
    )  # fmt: skip
    part = codes[: max(rows // 10, 1)]
    some = table.take(slice(0, len(part)))

    def credo_some(*_: Any) -> Any:
        return cr.mixture(
            some, k, start=start, max_iter=steps, tol=0, prior=0, accelerate=False, threads=1
        )

    def pomegranate(*_: Any) -> Any:
        import torch
        from pomegranate.distributions import Categorical
        from pomegranate.gmm import GeneralMixtureModel

        torch.set_num_threads(1)
        parts = [Categorical(torch.tensor(first[:, c])) for c in range(k)]
        model = GeneralMixtureModel(
            parts, priors=torch.full((k,), 1 / k, dtype=torch.float64), max_iter=steps, tol=-1e300
        )
        return model.fit(torch.from_numpy(part.astype(np.int64)))

    def torch_height(model: Any, _: Any) -> list[float]:
        import torch

        return [float(model.log_probability(torch.from_numpy(part.astype(np.int64))).sum())]

    def stepmix(*_: Any) -> Any:
        from stepmix.stepmix import StepMix

        model = StepMix(
            k, measurement="categorical", max_iter=steps, n_init=1, abs_tol=0, rel_tol=0,
            random_state=0, verbose=0, progress_bar=0,
        )  # fmt: skip
        return limited(1, lambda: model.fit(part.astype(np.float64)))

    bench.compare(
        Task(
            f"the same, {len(part):,} rows",
            [
                Entry("credo mixture", credo_some, answer=lambda m, _: [m.record.score]),
                Entry("pomegranate GeneralMixtureModel", pomegranate, "pomegranate",
                      answer=torch_height),
            ],
            tolerance=1e-6,
        )
    )  # fmt: skip
    bench.compare(
        Task(
            f"the same, {len(part):,} rows, StepMix from its own start (time alone compares)",
            [
                Entry("credo mixture", credo_some, answer=lambda *_: [0.0]),
                Entry("StepMix", stepmix, "stepmix", answer=lambda *_: [0.0]),
            ],
        )
    )


def gaps(bench: Bench, rows: int) -> None:
    """A tenth of the cells missing: no peer integrates them out, so credo stands by itself."""
    from credo.estimators import GaussianMixture

    d, k, steps = 16, 8, 10
    x, first = bells(rows, d, k)
    rng = np.random.default_rng(1)
    gone = np.where(rng.random(x.shape) < 0.1, np.nan, x)
    eye = np.repeat(np.eye(d)[None], k, axis=0)
    start = {"weights_init": np.full(k, 1 / k), "means_init": first, "precisions_init": eye}
    lines = []
    for name, cells in (("no cell missing", x), ("10 % of the cells missing", gone)):
        model = GaussianMixture(k, tol=0, max_iter=steps, accelerate=False, n_jobs=1, **start)
        began = time.process_time()
        model.fit(cells)
        taken = time.process_time() - began
        right = float(np.abs(np.sort(model.weights_) - 1 / k).max())
        lines.append([name, f"{taken:.2f}", f"{model.lower_bound_:.4f}", f"{right:.4f}"])
    bench.grid(
        f"Gaussian mixture of {k}, {rows:,} × {d}, full, {steps} steps, one thread",
        ["", "CPU s", "ln P a row", "largest error of a weight"],
        lines,
    )


def to_the_end(bench: Bench, rows: int) -> None:
    """Each library as a user would call it, one start, to the end it chooses."""
    from credo.estimators import GaussianMixture

    d, k = 8, 6
    x, _ = bells(rows, d, k, 5)
    lines = []

    def line(name: str, fit: Callable[[], Any]) -> None:
        began = time.process_time()
        model = limited(1, fit)
        taken = time.process_time() - began
        lines.append([name, f"{taken:.2f}", str(model.n_iter_), f"{float(model.score(x)):.5f}"])

    line("credo, tol=1e-6", lambda: GaussianMixture(k, random_state=0).fit(x))
    line("credo, tol=1e-6, no leaps",
         lambda: GaussianMixture(k, random_state=0, accelerate=False).fit(x))  # fmt: skip
    if installed("scikit-learn"):
        from sklearn.mixture import GaussianMixture as Peer

        line("scikit-learn, tol=1e-3", lambda: Peer(k, random_state=0).fit(x))
        line("scikit-learn, tol=1e-6",
             lambda: Peer(k, random_state=0, tol=1e-6, max_iter=1000).fit(x))  # fmt: skip
    bench.grid(
        f"Gaussian mixture of {k}, {rows:,} × {d}, full, to the end, one thread",
        ["", "CPU s", "steps", "ln P a row"],
        lines,
    )
