"""Which tables families need: the plan of the core against a short twin in Python."""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np
import pytest

from credo import _core


def twin(families, states, most):
    """The different families, and the dense, sparse and mixed sets of their variables."""
    kept, sets = {}, {}
    for child, parents in families:
        kept.setdefault((child, frozenset(parents)), (child, *parents))
        sets.setdefault(frozenset([child, *parents]), (*parents, child))
    mixed = [s for s in sets.values() if any(states[v] < 0 for v in s)]
    rest = [s for s in sets.values() if s not in mixed]
    sparse = [s for s in rest if prod(states[v] for v in s) > most]
    dense = [s for s in rest if s not in sparse]
    often = Counter(v for s in dense for v in s)
    dense = [tuple(sorted(s, key=lambda v: (-often[v], v))) for s in dense]
    dense.sort()
    return list(kept.values()), dense, sparse, mixed


@pytest.mark.parametrize("seed", range(20))
def test_the_plan_is_that_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    states = rng.integers(1, 5, n).tolist()
    for v in np.flatnonzero(rng.random(n) < 0.2):
        states[v] = -1
    families = []
    for _ in range(int(rng.integers(1, 60))):
        child, *parents = rng.permutation(n)[: rng.integers(1, n + 1)].tolist()
        families.append((child, parents))
    most = int(rng.choice([4, 30, 10**9]))
    names = [f"v{i}" for i in range(n)]
    spelt = [(names[c], [names[p] for p in ps]) for c, ps in families]
    found = _core.plan_families(spelt, {m: i for i, m in enumerate(names)}, states, most)
    assert found is not None
    spelled, all_axes = found.spelled((*names,)), found.axes((*names,))
    dense, sparse, mixed, cells = found.dense, found.sparse, found.mixed, found.cells
    assert len(found) == len(spelled) == len(all_axes)

    kept, dense_twin, sparse_twin, mixed_twin = twin(families, states, most)
    discrete = [v for v in range(n) if states[v] >= 0]
    sets = [tuple(discrete[v] for v in s) for s in dense.lists()]
    assert sets == dense_twin
    assert list(map(tuple, sparse.lists())) == sparse_twin
    assert list(map(tuple, mixed.lists())) == mixed_twin
    assert list(spelled) == [tuple(names[v] for v in f) for f in kept]
    assert list(spelled.values()) == list(range(len(kept)))
    sizes = [prod(states[v] for v in s) for s in sets]
    assert cells == sum(sizes)

    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    tables = {
        s: np.arange(starts[i], starts[i + 1]).reshape([states[v] for v in s])
        for i, s in enumerate(sets)
    }
    all_cells = np.arange(cells)
    seen = []
    for i, ((child, *parents), axes) in enumerate(zip(kept, all_axes, strict=True)):
        assert axes == tuple(names[v] for v in (*parents, child))
        other = found.other(i)
        if other >= 0:
            others = [set(s) for s in (*sparse_twin, *mixed_twin)]
            assert others[other] == {child, *parents}
            with pytest.raises(ValueError, match="Only dense tables"):
                found.view(all_cells, i)
            continue
        seen.append(found.view(all_cells, i))
        table = next(s for s in sets if set(s) == {child, *parents})
        wanted = tables[table].transpose([table.index(v) for v in (*parents, child)])
        assert np.array_equal(seen[-1], wanted) and seen[-1].shape == wanted.shape
    if found.all_dense:
        views = found.views(all_cells)
        assert all(map(np.array_equal, views, seen)) and len(views) == len(seen)
        counts = found.counts(Slots, tuple(names), all_cells.astype(float))
        assert [c.variables for c in counts] == all_axes
        assert all(np.array_equal(c.values, v) for c, v in zip(counts, seen, strict=True))
        assert {(c.skipped, c.configurations) for c in counts} == {(0, None)}
    else:
        with pytest.raises(ValueError, match="Only dense tables"):
            found.views(all_cells)


class Slots:
    """What counts are made of."""

    __slots__ = ("configurations", "skipped", "values", "variables")


def test_a_view_is_read_only_and_keeps_the_tables():
    plan = _core.plan_families([("a", ["b"])], {"a": 0, "b": 1}, [2, 3], 100)
    tables = np.arange(6)
    tables.flags.writeable = False
    (view,) = plan.views(tables)
    assert view.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert not view.flags.writeable and view.base.size == 6
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1


@pytest.mark.parametrize(
    "families",
    [
        3,
        "ab",
        {"a": ["b"]},
        [3],
        [("a",)],
        [("a", "b", "c")],
        [("a", 3)],
        [("a", [3])],
        [("a", {"b"})],
        [(3, ["a"])],
        [("a", ["a"])],
        [("a", ["b", "b"])],
        [("a", ["d"])],
        ["d"],
    ],
)
def test_what_is_not_written_as_usual_is_left_to_the_caller(families):
    names = ("a", "b", "c")
    positions = {n: i for i, n in enumerate(names)}
    assert _core.plan_families(families, positions, [2, 2, 2], 100) is None


def test_sizes_that_would_overflow_are_sparse_or_too_many():
    names = tuple(f"v{i}" for i in range(80))
    positions = {n: i for i, n in enumerate(names)}
    found = _core.plan_families([("v0", names[1:])], positions, [10] * 80, 2**64 - 2)
    assert found is not None and found.sparse.lists() == [[*range(1, 80), 0]] and found.cells == 0
    with pytest.raises(ValueError, match="must have the same length"):
        _core.plan_families([], positions, [2], 100)


def test_a_table_of_more_axes_than_numpy_has_is_sparse():
    names = tuple(f"v{i}" for i in range(65))
    positions = {n: i for i, n in enumerate(names)}
    for most, dense in ((65, 0), (63, 0), (62, 1)):
        found = _core.plan_families([("v0", names[1:most])], positions, [1] * 65, 100)
        assert found.n_dense == dense and len(found.sparse) == 1 - dense
        assert len(found.dense.lists()[0] if dense else found.sparse.lists()[0]) == most


def test_names_and_lists_that_do_not_fit_the_plan_are_refused():
    plan = _core.plan_families([("a", ["b"]), "c"], {"a": 0, "b": 1, "c": 2}, [2, 2, -1], 100)
    assert plan is not None
    for make in (plan.spelled, plan.axes, lambda names: plan.counts(Slots, names, np.zeros(4))):
        with pytest.raises(ValueError, match="A name is needed for each variable"):
            make(("a", "b"))
    for tables in (np.zeros(3), np.zeros((2, 2)), np.zeros(8)[::2]):
        with pytest.raises(ValueError, match="lie one after the other"):
            plan.view(tables, 0)
    with pytest.raises(ValueError, match="must be a NumPy array"):
        plan.views([0, 0, 0, 0])
    for make in (lambda: plan.view(np.zeros(4), 2), lambda: plan.other(2)):
        with pytest.raises(ValueError, match="no such family"):
            make()
    with pytest.raises(AttributeError):
        plan.counts(int, ("a", "b", "c"), np.zeros(4))
    assert _core.Sets([[0, 1], []]).lists() == [[0, 1], []]


def test_the_last_plan_is_given_back_if_it_is_of_the_same_families():
    positions, states = {"a": 0, "b": 1, "c": 2}, [2, 3, -1]
    given = [("a", ["b"]), "c"]
    last = _core.plan_families(given, positions, states, 100)
    assert _core.plan_families((("a", "b"), "c"), positions, states, 100, last) is last
    others = [[("a", ["b"])], [("b", ["a"]), "c"], [("a", ["b"]), "b"], ["c", ("a", ["b"])], []]
    for other in others:
        found = _core.plan_families(other, positions, states, 100, last)
        assert found is not last and len(found) == len(other)
    assert _core.plan_families(given, positions, states, 5, last) is not last
    assert _core.plan_families([("a", ["d"])], positions, states, 100, last) is None


@pytest.mark.parametrize("changed", ["parents", "family", "families"])
@pytest.mark.parametrize("kept", [True, False])
def test_lists_that_change_while_they_are_read(changed, kept):
    class Emptying(str):
        __slots__ = ()
        __eq__ = str.__eq__

        def __hash__(self):
            lists.pop(changed, []).clear()
            lists["more"] = [["z", "z"] for _ in range(100)]  # where the others were
            return super().__hash__()

    name = [Emptying("b")]
    family = ["c", [*name, "a"]]
    lists = {"parents": family[1], "family": family, "families": [family, "b"]}
    given = lists["families"]
    if not kept:  # by anyone but the lists that are read
        name.clear()
        del family
        lists = {changed: lists[changed]}
    found = _core.plan_families(given, {"a": 0, "b": 1, "c": 2}, [2, 2, 2], 100)
    assert list(found.spelled(("a", "b", "c"))) == [("c", "b", "a"), ("b",)]
    assert changed not in lists and _core.plan_families([Emptying("d")], {"a": 0}, [2], 9) is None
