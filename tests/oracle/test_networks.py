"""Networks of the repository against a variable elimination of its own, in NumPy, to 1e-9."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.interrupts import work_after_ctrl_c

import credo as cr

BESIDE = Path(__file__).resolve().parents[3] / "shared"
FOLDER = Path(os.environ.get("CREDO_SHARED", BESIDE)) / "data" / "networks"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the shared networks are not here")

NETWORKS = ["asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "insurance"]


def load(name):
    return cr.load(FOLDER / f"{name}.bif.gz")


def product(factors, keep):
    """Multiply factors (names, table) and sum out what is not kept."""
    names = list(dict.fromkeys(n for scope, _ in factors for n in scope))
    at = {n: i for i, n in enumerate(names)}
    kept = tuple(n for n in names if n in keep)
    terms = [x for scope, table in factors for x in (table, [at[n] for n in scope])]
    return kept, np.einsum(*terms, [at[n] for n in kept], optimize="greedy")


def eliminate(net, target, evidence):
    """P(target, evidence) by variable elimination, the smallest neighbourhood first."""
    factors = []
    for name in net.names:
        local = net.cpt(name)
        cut = tuple(
            v.code(evidence[v.name]) if v.name in evidence else slice(None) for v in local.variables
        )
        scope = tuple(v.name for v in local.variables if v.name not in evidence)
        factors.append((scope, local.values[cut]))
    left = [n for n in net.names if n not in evidence and n != target]
    while left:
        around = {n: set().union(*(s for s, _ in factors if n in s)) for n in left}
        name = min(left, key=lambda n: len(around[n]))
        left.remove(name)
        touched = [f for f in factors if name in f[0]]
        factors = [f for f in factors if name not in f[0]]
        factors.append(product(touched, around[name] - {name}))
    return product(factors, {target})[1]


def evidence_of(net, seed, share=0.15):
    rng = np.random.default_rng(seed)
    names = [
        str(n) for n in rng.choice(net.names, max(1, int(share * len(net.names))), replace=False)
    ]
    return {n: net.variable(n).states[rng.integers(net.variable(n).arity)] for n in names}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("seed", range(3))
def test_networks_against_variable_elimination(name, seed):
    net = load(name)
    evidence = evidence_of(net, seed) if seed else {}
    try:
        every = net.marginals(evidence)
    except cr.errors.ImpossibleError:
        free = next(n for n in net.names if n not in evidence)
        assert eliminate(net, free, evidence).sum() == 0
        return
    for n in list(every)[:: 1 if len(every) < 25 else 3]:
        exact = eliminate(net, n, evidence)
        np.testing.assert_allclose(every[n].p, exact / exact.sum(), atol=1e-9)
        assert net.log_evidence(evidence) == pytest.approx(np.log(exact.sum()), rel=1e-9, abs=1e-12)


def test_rows_of_alarm_one_by_one():
    net = load("alarm")
    rng = np.random.default_rng(0)
    rows = {
        v.name: [v.states[rng.integers(v.arity)] for _ in range(60)] for v in net.variables[:12]
    }
    holes = {n: [None if rng.random() < 0.4 else s for s in c] for n, c in rows.items()}
    target = net.names[20]
    for columns in (rows, holes):
        each = [{n: c[r] for n, c in columns.items() if c[r] is not None} for r in range(60)]
        possible = [r for r, e in enumerate(each) if eliminate(net, target, e).sum() > 0]
        columns = {n: [c[r] for r in possible] for n, c in columns.items()}
        found = net.predict_proba(columns, target, threads=2)
        for row, r in enumerate(possible):
            exact = eliminate(net, target, each[r])
            np.testing.assert_allclose(found[row], exact / exact.sum(), atol=1e-9)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_a_long_run_within_a_second_and_the_model_is_intact():
    seconds, intact = work_after_ctrl_c(
        f"""
        import credo as cr
        net = cr.load({str(FOLDER / "munin1.bif.gz")!r})
        first = net.p(net.names[0])
        """,
        """
        net.__dict__.pop("_engine", None)
        net.marginals()
        """,
        tell="net.p(net.names[0]) == first",
        after=1.5,
    )
    assert seconds < 1.0 and intact == "True"
