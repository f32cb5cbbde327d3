"""`import credo` and `credo --help` are quick and load no engine, in a fresh process."""

import json
import subprocess
import sys

HEAVY = [
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "scipy.stats",
    "sklearn",
    "matplotlib",
    "narwhals",
    "rich",
]


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_import_loads_nothing_heavy():
    loaded = json.loads(fresh("import credo, json, sys; print(json.dumps(sorted(sys.modules)))"))
    assert not [h for h in HEAVY if h in loaded]


def test_help_loads_nothing_heavy():
    code = (
        "import sys, json\n"
        "from click.testing import CliRunner\n"
        "from credo.cli import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = json.loads(fresh(code))
    assert not [h for h in [*HEAVY, "numpy"] if h in loaded]


def test_hypotheses_and_distributions_need_no_engine():
    code = (
        "import credo as cr, json, sys\n"
        "h = cr.Hypotheses({'a': {'x': 1.0}, 'b': {'x': .5, 'y': .5}}).observe('x')\n"
        "assert abs(h.posterior['a'] - 2 / 3) < 1e-12\n"
        "cr.Beta(3, 4).update([True, False])\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = json.loads(fresh(code))
    assert not [h for h in HEAVY if h in loaded]


def test_import_takes_less_than_the_promise():
    code = (
        "import time; t = time.process_time(); import credo; credo.Variable\n"
        "print(time.process_time() - t)"
    )
    best = min(float(fresh(code)) for _ in range(3))
    assert best < 0.35  # CPU seconds; about 0.1 when nothing else runs


def test_public_names_load_and_near_names_are_offered():
    import pytest

    import credo

    for name in credo.__all__:
        assert getattr(credo, name) is not None
    assert {*dir(credo), "__version__"} == set(credo.__all__)
    with pytest.raises(AttributeError, match="Did you mean 'tally'"):
        credo.taly
