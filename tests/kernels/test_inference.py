"""The engine gives the answers of the joint distribution written out in full."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from credo import _core

PATHS = ["auto", "plain", "wide"]


@dataclass
class World:
    """A random model, small enough for its joint table."""

    arities: list[int]
    scopes: list[list[int]]
    tables: list[np.ndarray]  # flat
    directed: bool
    model: _core.Model = field(init=False)

    def __post_init__(self) -> None:
        self.model = _core.Model(self.arities, self.scopes)

    def joint(self, tables: list[np.ndarray] | None = None) -> np.ndarray:
        operands: list[object] = []
        for scope, table in zip(self.scopes, tables or self.tables, strict=True):
            operands += [table.reshape([self.arities[v] for v in scope]), scope]
        for v, r in enumerate(self.arities):
            operands += [np.ones(r), [v]]
        return np.einsum(*operands, list(range(len(self.arities))))


def random_world(seed: int, n: int | None = None, directed: bool = True) -> World:
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1, 9))
    arities = [int(r) for r in rng.choice([1, 2, 2, 3, 4], n)]
    scopes, tables = [], []
    for v in rng.permutation(n) if directed else range(int(rng.integers(0, 2 * n))):
        if directed:
            before = [s[-1] for s in scopes]
            k = int(rng.integers(0, min(3, len(before)) + 1))
            scope = [int(p) for p in rng.choice(before, k, replace=False)] if k else []
            scope.append(int(v))
        else:
            k = int(rng.integers(0, min(3, n) + 1))
            scope = [int(p) for p in rng.choice(n, k, replace=False)]
        table = rng.gamma(0.7, size=[arities[u] for u in scope])
        if rng.random() < 0.4:
            table *= rng.random(table.shape) < 0.7
        if directed:
            table[..., 0] += 1e-3 * (table.sum(-1) == 0)
            table /= table.sum(-1, keepdims=True)
        scopes.append(scope)
        tables.append(np.ascontiguousarray(table).ravel())
    return World(arities, scopes, tables, directed)


def evidence_joint(
    world: World, joint: np.ndarray, hard: dict[int, int], soft: dict[int, np.ndarray]
) -> np.ndarray:
    joint = joint.copy()
    n = len(world.arities)
    weights = dict(soft)
    weights.update({v: np.eye(world.arities[v])[s] for v, s in hard.items() if s >= 0})
    for v, w in weights.items():
        joint *= w.reshape([-1 if u == v else 1 for u in range(n)])
    return joint


def log(x: float) -> float:
    return float(np.log(x)) if x > 0 else -np.inf


def marginal(joint: np.ndarray, variables: list[int]) -> np.ndarray:
    total = joint.sum()
    kept = np.einsum(joint, list(range(joint.ndim)), variables)
    return kept / total if total > 0 else np.zeros_like(kept)


@dataclass
class Case:
    """Random evidence, and the answers by brute force."""

    observed: list[int]
    maybe: list[int]
    soft: list[int]
    evidence: np.ndarray
    weights: list[np.ndarray]
    joints: list[np.ndarray]


def random_case(world: World, rows: int, seed: int, tables: list[np.ndarray] | None = None) -> Case:
    rng = np.random.default_rng(seed)
    n = len(world.arities)
    kind = rng.choice(4, n, p=[0.4, 0.25, 0.2, 0.15])
    observed, maybe, soft = ([int(v) for v in np.flatnonzero(kind == k)] for k in (1, 2, 3))
    for group in (observed, maybe, soft):
        rng.shuffle(group)
    low = [0] * len(observed) + [-1] * len(maybe)
    high = [world.arities[v] for v in observed + maybe]
    evidence = rng.integers(low, high, (rows, len(low)), dtype=np.int32)
    weights = [
        rng.random((rows if rng.random() < 0.5 else 1, world.arities[v]))
        * rng.choice([0.0, 1.0, 3.0], world.arities[v], p=[0.1, 0.5, 0.4])
        for v in soft
    ]
    joints = []
    shared = world.joint()
    for r in range(rows):
        of_row = (
            shared if tables is None else world.joint([t[r] if t.ndim == 2 else t for t in tables])
        )
        hard = dict(zip(observed + maybe, evidence[r].tolist(), strict=True))
        given = {v: w[r % len(w)] for v, w in zip(soft, weights, strict=True)}
        joints.append(evidence_joint(world, of_row, hard, given))
    return Case(observed, maybe, soft, evidence, weights, joints)


def check_run(
    world: World,
    case: Case,
    plan: _core.Plan,
    tables: list[np.ndarray],
    families: bool,
    **options: object,
) -> None:
    log_p, marginals, family = plan.run(tables, case.evidence, case.weights, **options)
    expected = [log(j.sum()) for j in case.joints]
    np.testing.assert_allclose(log_p, expected, rtol=1e-11, atol=1e-11)
    for t, begin, end in zip(plan.targets, plan.offsets, plan.offsets[1:], strict=False):
        expected = [marginal(j, [t]) for j in case.joints]
        np.testing.assert_allclose(marginals[:, begin:end], expected, atol=1e-12)
    if not families:
        assert family is None
        return
    for f, scope in enumerate(world.scopes):
        part = family[:, plan.family_offsets[f] : plan.family_offsets[f + 1]]
        expected = [marginal(j, scope).ravel() for j in case.joints]
        np.testing.assert_allclose(part, expected, atol=1e-12)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_answers_of_the_joint(seed: int, directed: bool) -> None:
    world = random_world(seed, directed=directed)
    rows = [1, 2, 7, 33, 100][seed % 5]
    case = random_case(world, rows, seed)
    rng = np.random.default_rng(seed)
    for targets in (None, [], [int(v) for v in rng.choice(len(world.arities), 1)],
                    [int(v) for v in rng.choice(len(world.arities), 2)]):  # fmt: skip
        for families in (False, True):
            plan = world.model.compile(
                case.observed, targets, case.soft, "sum", families, directed=directed,
                maybe=case.maybe, seed=seed,
            )  # fmt: skip
            for path in PATHS:
                threads = 1 + seed % 3
                check_run(world, case, plan, world.tables, families, path=path, threads=threads)
            for lanes in (1, 3, 8):
                check_run(world, case, plan, world.tables, families, lanes=lanes, threads=2)


@pytest.mark.parametrize("seed", range(20))
def test_tables_may_differ_by_row(seed: int) -> None:
    world = random_world(seed + 1000)
    rng = np.random.default_rng(seed)
    rows = [2, 7, 33][seed % 3]
    tables = [
        np.ascontiguousarray(t * rng.gamma(1.0, size=(rows, len(t)))) if rng.random() < 0.5 else t
        for t in world.tables
    ]
    case = random_case(world, rows, seed, tables)
    plan = world.model.compile(case.observed, None, case.soft, families=True, maybe=case.maybe)
    for path in PATHS:
        check_run(world, case, plan, tables, True, path=path)


@pytest.mark.parametrize("seed", range(20))
def test_pruned_parts_do_not_matter(seed: int) -> None:
    world = random_world(seed + 2000, n=8)
    case = random_case(world, 9, seed)
    target = seed % 8
    plan = world.model.compile(
        case.observed, [target], case.soft, maybe=case.maybe, evidence=False, directed=True
    )
    _, marginals, _ = plan.run(world.tables, case.evidence, case.weights)
    possible = np.array([j.sum() > 0 for j in case.joints])
    expected = np.array([marginal(j, [target]) for j in case.joints])
    np.testing.assert_allclose(marginals[possible], expected[possible], atol=1e-12)
    assert not (set(plan.pruned) & ({target} | set(case.observed)))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_most_probable_assignment(seed: int, directed: bool) -> None:
    world = random_world(seed + 3000, directed=directed)
    if seed % 2:  # ties
        world.tables = [np.ceil(t * 2) for t in world.tables]
    rows = [1, 2, 7, 33][seed % 4]
    case = random_case(world, rows, seed)
    plan = world.model.compile(
        case.observed, None, case.soft, "max", maybe=case.maybe, directed=directed
    )
    first = None
    for path in PATHS:
        for threads, lanes in ((1, 0), (2, 0), (3, 1), (1, 5)):
            states, log_p = plan.explain(
                world.tables, case.evidence, case.weights, path=path, threads=threads, lanes=lanes
            )
            for r, joint in enumerate(case.joints):
                best = joint.max() if joint.size else 0.0
                np.testing.assert_allclose(log_p[r], log(best), rtol=1e-11, atol=1e-11)
                if best > 0:
                    np.testing.assert_allclose(joint[tuple(states[r])], best, rtol=1e-11)
                else:
                    assert (states[r] == -1).all()
            if first is None:
                first = states
            if seed % 2:  # small integers: products are exact, so ties are the same on every path
                np.testing.assert_array_equal(states, first)


def test_ties_take_the_smallest_code() -> None:
    model = _core.Model([3, 4], [[0], [0, 1]])
    plan = model.compile([], None, mode="max")
    states, log_p = plan.explain([np.full(3, 1 / 3), np.full(12, 0.25)], np.empty((1, 0), np.int32))
    assert states.tolist() == [[0, 0]]
    assert log_p[0] == pytest.approx(-np.log(12))


def test_wrong_input_is_refused() -> None:
    model = _core.Model([2, 3], [[0], [0, 1]])
    tables = [np.array([0.5, 0.5]), np.full(6, 1 / 3)]
    plan = model.compile([1], None)
    none = np.empty((1, 0), np.int32)
    with pytest.raises(ValueError, match="must have 1 columns, got 0"):
        plan.run(tables, none)
    for code in (-1, 3):
        with pytest.raises(
            ValueError, match="variable 1 has a code that is not one of its 3 states"
        ):
            plan.run(tables, np.array([[code]], np.int32))
        with pytest.raises(
            ValueError, match="variable 1 has a code that is not one of its 3 states"
        ):
            plan.run(tables, np.array([[code]], np.int32), path="wide")
    with pytest.raises(ValueError, match="Table 1 must have 6 cells"):
        plan.run([tables[0], tables[0]], np.array([[0]], np.int32))
    with pytest.raises(ValueError, match="must have 2 tables, got 1"):
        plan.run(tables[:1], np.array([[0]], np.int32))
    with pytest.raises(ValueError, match="mode='max'"):
        plan.explain(tables, np.array([[0]], np.int32))
    with pytest.raises(ValueError, match="must occur once"):
        model.compile([1], None, [1])
    with pytest.raises(ValueError, match="names variable 5 of 2"):
        model.compile([5], None)
    with pytest.raises(ValueError, match="repeats variable 0"):
        _core.Model([2], [[0, 0]])
    with pytest.raises(ValueError, match="one factor per variable"):
        _core.Model([2, 2], [[0, 1]]).compile([], None)
    with pytest.raises(ValueError, match="shape"):
        model.compile([], None, [1]).run(tables, none, [np.ones((1, 2))])
