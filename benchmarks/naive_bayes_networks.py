"""TAN and AODE: `fit` of all rows beside `partial_fit` of their parts, with the same answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Bench, Entry, Task

PARTS = (10, 1_000)


def networks(bench: Bench, table: Callable[[str, int], tuple[Any, Any]], rows: int) -> None:
    """One task for each method."""
    from credo.estimators import NetworkClassifier

    x, y = table("categorical", rows)

    def whole(method: str) -> Any:
        return NetworkClassifier(method).fit(x, y)

    def in_parts(method: str, parts: int) -> Any:
        clf = NetworkClassifier(method)
        for rows_of_part in np.array_split(np.arange(rows), parts):
            first, last = rows_of_part[0], rows_of_part[-1] + 1
            clf.partial_fit(x[first:last], y[first:last])
        assert clf.model_ is not None  # made when it is asked for
        return clf

    for method in ("tan", "aode"):
        entries = [entry("credo, fit", lambda m=method: whole(m), x)]
        entries += [
            entry(f"credo, partial_fit of {k:,} parts", lambda m=method, k=k: in_parts(m, k), x)
            for k in PARTS
        ]
        bench.compare(Task(f"{method} of 20 features, {rows:,} rows", entries, tolerance=1e-12))


def entry(name: str, learn: Callable[[], Any], x: Any) -> Entry:
    return Entry(
        name,
        lambda _, __: learn(),
        answer=lambda clf, _: [clf.predict_proba(x[:1000])],
    )


# --- out of core ------------------------------------------------------------------------------


def tan_stream_case(glob: str) -> tuple[Any, Any, Any]:
    import credo as cr
    from credo.estimators import NetworkClassifier

    def work(_: Any) -> Any:
        return NetworkClassifier("tan").fit(cr.read(glob, memory="1MB"), "y")

    return lambda: None, work, lambda clf: clf.class_count_.tolist()


def tan_batch_case(glob: str) -> tuple[Any, Any, Any]:
    import pyarrow.dataset as ds

    from credo.estimators import NetworkClassifier

    def work(_: Any) -> Any:
        clf = NetworkClassifier("tan")
        for batch in ds.dataset(str(Path(glob).parent)).to_batches():
            if batch.num_rows:
                clf.partial_fit(batch, "y")
        return clf

    return lambda: None, work, lambda clf: clf.class_count_.tolist()
