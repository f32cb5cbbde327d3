"""What every test may use: the shared data where it is there, and frames of every kind."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import matplotlib
import pytest
from hypothesis import HealthCheck, settings

matplotlib.use("Agg")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background is told no Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "credo",
    deadline=None,
    max_examples=60,
    derandomize=True,  # the same examples each time; `--hypothesis-profile=explore` for others
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("explore", settings.get_profile("credo"), derandomize=False)
settings.load_profile("credo")

gc.disable()  # until the tests are collected: what is made till then stays


def pytest_collection_finish() -> None:
    """The tests and the libraries are no garbage: no collection looks through them again."""
    gc.freeze()
    gc.enable()


SHARED = Path(os.environ.get("CREDO_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared_tables() -> Path:
    """The folder of real tables; tests that need it are skipped where it is absent."""
    folder = SHARED / "data" / "tables"
    if not folder.is_dir():
        pytest.skip("the shared tables are not on this machine")
    return folder
