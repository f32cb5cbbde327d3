"""The sampler draws the rows of its NumPy twin, whatever the path, the threads and the blocks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from credo import _core

from .test_inference import World, random_world

M = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)


def philox(counter: np.ndarray, seed: int) -> np.ndarray:
    """Philox4x32-10 of counters [n, 4] as the paper writes it."""
    c = [counter[:, i].astype(np.uint64) for i in range(4)]
    low = np.uint64(0xFFFFFFFF)
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(M[0]), c[2] * np.uint64(M[1])
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]),
            p1 & low,
            (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]),
            p0 & low,
        ]
        key = [(key[0] + WEYL[0]) & 0xFFFFFFFF, (key[1] + WEYL[1]) & 0xFFFFFFFF]
    return np.stack(c, axis=1).astype(np.uint32)


def bits(numbers: np.ndarray, stream: int, purpose: int, seed: int) -> np.ndarray:
    numbers = numbers.astype(np.uint64)
    counter = np.zeros((len(numbers), 4), dtype=np.uint32)
    counter[:, 0] = (numbers & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    counter[:, 1] = (numbers >> np.uint64(32)).astype(np.uint32)
    counter[:, 2] = stream
    counter[:, 3] = purpose
    return philox(counter, seed)


def uniforms(rows: np.ndarray, stream: int, seed: int) -> list[int]:
    """64 bits of each row: 16 from its place in a group of 64 rows, 48 of its own."""
    place = rows % 64
    words = bits((rows // 64) * 8 + place % 16 // 2, stream, 0, seed)
    word = words[np.arange(len(rows)), place // 16]
    first = np.where(place % 2, word >> 16, word & 0xFFFF).astype(np.uint16)
    first = first ^ np.uint16(0x8000)  # the bits are compared as signed numbers
    more = bits(rows, stream, 1, seed)
    return [
        int(f) << 48 | (int(a) & 0xFFFF) << 32 | int(b)
        for f, a, b in zip(first, more[:, 0], more[:, 1], strict=True)
    ]


def twin(
    world: World,
    n: int,
    seed: int,
    first: int = 0,
    fixed: np.ndarray | None = None,
    weights: list[np.ndarray | None] | None = None,
) -> tuple[list[np.ndarray], np.ndarray]:
    """One variable after the other by searching the cumulative probabilities."""
    codes: dict[int, np.ndarray] = {}
    logs = np.zeros(n)
    rows = np.arange(first, first + n)
    fixed = np.full(len(world.arities), -1) if fixed is None else fixed
    weights = [None] * len(world.arities) if weights is None else weights
    while len(codes) < len(world.arities):
        for scope, flat, weight in zip(world.scopes, world.tables, weights, strict=True):
            *parents, child = scope
            if child in codes or any(p not in codes for p in parents):
                continue
            shape = [world.arities[v] for v in scope]
            table = flat.reshape(-1, shape[-1])
            at = np.zeros(n, dtype=np.intp)
            for p in parents:
                at = at * world.arities[p] + codes[p]
            if fixed[child] >= 0:
                codes[child] = np.full(n, fixed[child])
            else:
                draws = uniforms(rows, child, seed)
                codes[child] = np.array(
                    [_search(table[c], u) for c, u in zip(at, draws, strict=True)]
                )
            if weight is not None:
                chosen = weight.reshape(table.shape)[at, codes[child]]
                with np.errstate(divide="ignore"):
                    logs += np.log(chosen)
                    if fixed[child] < 0:
                        logs -= np.log(table[at, codes[child]])
    return [codes[v] for v in range(len(world.arities))], logs


def _search(row: np.ndarray, bits_64: int) -> int:
    """The first state whose cumulative probability is above the number, in whole numbers."""
    possible = np.flatnonzero(row > 0)
    last = possible[-1] if len(possible) else 0
    total, sums = sum(row.tolist()), 0.0
    for k in range(last):
        sums += float(row[k])
        numerator, denominator = min(1.0, sums / total).as_integer_ratio()
        if bits_64 * denominator < numerator << 64:
            return k
    return int(last)


def test_philox_is_the_published_one() -> None:
    # Known answers of the paper's own implementation (Random123, kat_vectors).
    zeros = philox(np.zeros((1, 4), dtype=np.uint32), 0)[0]
    assert [hex(x) for x in zeros] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    ones = philox(np.full((1, 4), 0xFFFFFFFF, dtype=np.uint32), 0xFFFFFFFFFFFFFFFF)[0]
    assert [hex(x) for x in ones] == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]


@pytest.mark.parametrize("seed", range(12))
def test_rows_of_the_twin(seed: int) -> None:
    world = random_world(seed)
    n, first = 300, [0, 1, 63, 1000, 2**32 * 64 - 100][seed % 5]
    expected, _ = twin(world, n, seed, first)
    sampler = _core.Sampler(world.arities, world.scopes)
    for path in ("auto", "plain"):
        columns, weights = sampler.run(world.tables, n, seed, first, path=path)
        assert weights is None
        assert [c.dtype for c in columns] == [np.uint8] * len(columns)
        for column, right in zip(columns, expected, strict=True):
            assert np.array_equal(column, right)


@pytest.mark.parametrize("seed", range(6))
def test_weights_of_the_twin(seed: int) -> None:
    world = random_world(seed)
    rng = np.random.default_rng(seed)
    fixed = np.array([rng.integers(-1, r) for r in world.arities], dtype=np.int32)
    weights = [rng.gamma(1.0, size=t.size) * (rng.random(t.size) < 0.9) for t in world.tables]
    weights[0] = None
    expected, logs = twin(world, 200, 2**64 - 1 - seed, 17, fixed, weights)
    sampler = _core.Sampler(world.arities, world.scopes)
    columns, found = sampler.run(
        world.tables, 200, 2**64 - 1 - seed, 17, fixed=fixed, weights=weights
    )
    for column, right in zip(columns, expected, strict=True):
        assert np.array_equal(column, right)
    np.testing.assert_allclose(found, logs, rtol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_paths_threads_and_blocks_draw_the_same_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Tables of every size: shuffled in one chunk, in several, searched, with wide codes.
    arities = [int(r) for r in rng.choice([1, 2, 3, 4, 7, 16, 17, 40], 8)]
    arities[int(rng.integers(8))] = 300
    scopes, tables = [], []
    for v in range(8):
        k = int(rng.integers(0, min(v, 2) + 1))
        scope = [*(int(p) for p in rng.choice(v, k, replace=False)), v] if k else [v]
        table = rng.gamma(0.3, size=(int(np.prod([arities[p] for p in scope[:-1]])), arities[v]))
        table[:, 0] += 1e-9
        table /= table.sum(1, keepdims=True)
        scopes.append(scope)
        tables.append(np.ascontiguousarray(table).ravel())
    sampler = _core.Sampler(arities, scopes)
    whole, _ = sampler.run(tables, 70_000, seed, 5)
    assert [c.dtype for c in whole] == [np.uint16 if r > 256 else np.uint8 for r in arities]
    plain, _ = sampler.run(tables, 70_000, seed, 5, path="plain")
    threads, _ = sampler.run(tables, 70_000, seed, 5, threads=3)
    cuts = [5, 6, 1029, 40_000, 70_005]
    parts = [sampler.run(tables, b - a, seed, a)[0] for a, b in itertools.pairwise(cuts)]
    for v in range(8):
        assert np.array_equal(whole[v], plain[v])
        assert np.array_equal(whole[v], threads[v])
        assert np.array_equal(whole[v], np.concatenate([p[v] for p in parts]))


def test_probability_zero_is_never_drawn_and_one_always() -> None:
    rows = np.array([[0.0, 1.0, 0.0], [0.3, 0.0, 0.7], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    sampler = _core.Sampler([4, 3], [[0], [0, 1]])
    tables = [np.full(4, 0.25), rows.ravel().copy()]
    (parent, child), _ = sampler.run(tables, 4_000_000, 3, threads=2)
    counts = np.zeros((4, 3), dtype=np.int64)
    np.add.at(counts, (parent, child), 1)
    assert ((counts > 0) == (rows > 0)).all()


def test_probabilities_finer_than_the_first_sixteen_bits() -> None:
    # 2^-16 · 0.3: without the further bits the state would come up never, or three times as often.
    p = 0.3 / 65536
    sampler = _core.Sampler([2], [[0]])
    (column,), _ = sampler.run([np.array([1 - p, p])], 60_000_000, 11, threads=2)
    expected = 60_000_000 * p
    assert abs(int(column.sum()) - expected) < 5 * np.sqrt(expected)


@pytest.mark.parametrize(
    ("arities", "scopes", "message"),
    [
        ([2, 2], [[1, 0], [0, 1]], "no cycle"),
        ([2, 2], [[0], [0]], "one scope per variable"),
        ([2], [[0, 0]], "repeats variable 0"),
        ([2], [[3]], "names variable 3 of 1"),
        ([0], [[0]], "arity"),
        ([70_000], [[0]], "arity"),
        ([60_000, 60_000], [[0], [0, 1]], "2\\^31 cells"),
    ],
)
def test_scopes_that_are_no_network(
    arities: list[int], scopes: list[list[int]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        _core.Sampler(arities, scopes)


def test_wrong_arguments() -> None:
    sampler = _core.Sampler([2], [[0]])
    good = [np.array([0.5, 0.5])]
    for arguments, message in [
        ({"tables": [np.array([0.5])], "n": 1}, "must have 2 cells"),
        ({"tables": [], "n": 1}, "must have 1 tables"),
        ({"tables": [np.array([0.5, 0.6])], "n": 1}, "add up to 1"),
        ({"tables": [np.array([-0.5, 1.5])], "n": 1}, "none below zero"),
        ({"tables": [np.array([np.nan, 0.5])], "n": 1}, "none below zero"),
        ({"tables": good, "n": -1}, "'n' parameter"),
        ({"tables": good, "n": 1, "threads": 0}, "'threads' parameter"),
        ({"tables": good, "n": 1, "path": "mmx"}, "'path' parameter"),
        ({"tables": good, "n": 1, "fixed": np.array([2], dtype=np.int32)}, "'fixed' parameter"),
        ({"tables": good, "n": 1, "weights": []}, "'weights' parameter"),
    ]:
        with pytest.raises(ValueError, match=message):
            sampler.run(seed=0, **arguments)
    assert sampler.run(good, 0, 0)[0][0].shape == (0,)


def test_normals_of_the_twin() -> None:
    n, first, seed, stream = 1001, 7, 2**63 + 5, 3
    rows = np.arange(first, first + n)
    words = bits(rows // 2, stream, 2, seed).astype(np.uint64)
    u = ((words[:, 0] << np.uint64(32) | words[:, 1]) >> np.uint64(11)).astype(float) + 1
    v = ((words[:, 2] << np.uint64(32) | words[:, 3]) >> np.uint64(11)).astype(float) + 1
    radius, angle = np.sqrt(-2 * np.log(u * 2.0**-53)), 2 * np.pi * v * 2.0**-53
    expected = radius * np.where(rows % 2, np.sin(angle), np.cos(angle))
    np.testing.assert_allclose(_core.normals(n, seed, stream, first), expected, atol=1e-13)


def test_normals_are_the_same_in_threads_and_parts() -> None:
    whole = _core.normals(50_001, 1, 2, 3)
    assert np.array_equal(whole, _core.normals(50_001, 1, 2, 3, threads=3))
    parts = [_core.normals(20_000, 1, 2, 3), _core.normals(30_001, 1, 2, 20_003)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert _core.normals(0, 1, 2).shape == (0,)


def test_normals_are_normal() -> None:
    from scipy import stats

    z = _core.normals(400_000, 9, 0, threads=2)
    assert stats.kstest(z, "norm").statistic < 2.2 / np.sqrt(len(z))
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 5 / np.sqrt(len(z))
    assert np.abs(z).max() > 4.5


def test_rows_as_text_of_the_twin() -> None:
    rng = np.random.default_rng(0)
    words = [["a,", "bc,", ""], [f"a longer text, of state {i};" for i in range(300)], ["x\n"]]
    kinds = (np.uint8, np.uint16, np.uint32)
    codes = [rng.integers(0, len(w), 1000).astype(k) for w, k in zip(words, kinds, strict=True)]
    expected = "".join(
        w[c] for row in zip(*codes, strict=True) for w, c in zip(words, row, strict=True)
    )
    texts = [np.frombuffer("".join(w).encode() + bytes(16), dtype=np.uint8) for w in words]
    ends = [np.cumsum([0, *map(len, w)], dtype=np.int64) for w in words]
    assert _core.join_rows(codes, texts, ends) == expected.encode()
    assert _core.join_rows([], [], []) == b""
    for wrong, message in [
        (([np.array([9], dtype=np.uint8)], texts[:1], ends[:1]), "no text for code 9"),
        ((codes[:1], [texts[0][:-1]], ends[:1]), "followed by 16 more bytes"),
        ((codes[:1], texts[:1], [ends[0][::-1].copy()]), "must not fall"),
        ((codes[:2], texts[:1], ends[:1]), "the same length"),
        (([codes[0], codes[1][:5]], texts[:2], ends[:2]), "same number of rows"),
        (([codes[0].astype(np.int64)], texts[:1], ends[:1]), "uint8, uint16 or uint32"),
    ]:
        with pytest.raises(ValueError, match=message):
            _core.join_rows(*wrong)


def test_weights_of_nothing_are_one():
    """Weights of no variables, or none of whose tables weigh, are zeroed all the same."""
    _, logs = _core.Sampler([], []).run([], 5000, 0, 0, np.array([], np.int32), [], 1)
    assert (logs == 0).all()
    table = np.array([0.25, 0.75])
    _, logs = _core.Sampler([2], [[0]]).run([table], 5000, 0, 0, None, [None], 1)
    assert (logs == 0).all()
