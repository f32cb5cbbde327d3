"""credo against its peers, side by side in one run: `python -m benchmarks [area …]`."""

import os

# Before anything is imported: every library works in one thread unless a task says otherwise.
_THREADS = os.environ.get("CREDO_BENCH_THREADS", "1")
for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = _THREADS
os.environ["POLARS_MAX_THREADS"] = _THREADS
