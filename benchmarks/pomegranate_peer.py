"""pomegranate's naive Bayes, timed in an interpreter of its own: it needs torch, which credo does
not install. Run as `PYTHON pomegranate_peer.py KIND FILE.npz THREADS`; prints one line of JSON.

The file holds `x` and `y`; its seconds are the best of three, in CPU time and by the clock.
"""

from __future__ import annotations

import json
import sys
import time


def main(kind: str, path: str, threads: int) -> None:
    import numpy as np
    import torch
    from pomegranate.bayes_classifier import BayesClassifier
    from pomegranate.distributions import Bernoulli, Categorical, Normal

    torch.set_num_threads(threads)
    with np.load(path) as held:
        x, y = held["x"], held["y"]
    made = {
        "categorical": lambda: Categorical(pseudocount=1.0),
        "bernoulli": lambda: Bernoulli(),
        "gaussian": lambda: Normal(covariance_type="diag"),
    }[kind]
    classes = int(y.max()) + 1
    cells = torch.tensor(x, dtype=torch.float64 if kind == "gaussian" else torch.int64)
    if kind == "bernoulli":
        cells = cells.to(torch.float64)
    labels = torch.tensor(y)
    out: dict[str, float] = {}
    model = None
    for what in ("fit", "predict_log_proba"):
        best = [float("inf"), float("inf")]
        for _ in range(3):
            cpu, wall = time.process_time(), time.perf_counter()
            if what == "fit":
                model = BayesClassifier([made() for _ in range(classes)])
                if kind == "gaussian":
                    model = model.double()
                model.fit(cells, labels)
            else:
                answer = model.predict_log_proba(cells)
            spent = time.process_time() - cpu, time.perf_counter() - wall
            best = [min(a, b) for a, b in zip(best, spent, strict=True)]
        out[f"{what}_cpu"], out[f"{what}_wall"] = best
    out["first"] = [float(v) for v in answer[0]]
    print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
