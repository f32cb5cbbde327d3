"""A few hundred mutated files for each reader, the same on every run."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fuzz.tables import TABLES
from tests.fuzz.targets import READERS, cases, seeds, target


@pytest.mark.parametrize("format", READERS)
def test_only_networks_tables_and_our_own_errors_come_out(format):
    for data in seeds(format):
        target(format, data)
    slowest = 0.0
    for i, data in enumerate(cases(format, 60 if format in TABLES else 600)):
        start = time.perf_counter()
        try:
            target(format, data)
        except BaseException as error:
            error.add_note(f"case {i} of {format}: {data!r}")
            raise
        slowest = max(slowest, time.perf_counter() - start)
    assert slowest < 5  # about 0.01 s; generous for a busy machine


def test_the_entry_names_the_readers():
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.returncode == 1
    assert "bif|xmlbif|net|dsc|xdsl|uai|credo|dne|pgmx" in done.stderr
