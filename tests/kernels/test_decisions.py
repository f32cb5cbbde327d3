"""Trees of buckets against one dense table over all variables, draw by draw."""

import numpy as np
import pytest

from credo import _core
from credo.predict.decisions.valuations import Step, Tree


class Dense:
    """The twin: p and u over every variable, summed, maximised and updated in the open."""

    def __init__(self, arities, scopes, worth, tables, at):
        self.arities, shape = arities, tuple(arities)
        self.p, total = np.ones(shape), np.zeros(shape)
        for scope, is_worth, table in zip(scopes, worth, tables, strict=True):
            one = self.spread(table[at if len(table) > 1 else 0], scope)
            if is_worth:
                total = total + one
            else:
                self.p = self.p * one
        self.u = self.p * total

    def spread(self, table, scope):
        order = np.argsort(scope)
        shape = [self.arities[v] if v in scope else 1 for v in range(len(self.arities))]
        return table.transpose(order).reshape(shape)

    def over(self, table, scope, rules=()):
        """Policies multiplied in, all but a scope summed out, the axes in its order."""
        for family, rule in rules:
            table = table * self.spread(rule, family)
        out = table.sum(axis=tuple(v for v in range(table.ndim) if v not in scope), keepdims=True)
        kept = [v for v in range(table.ndim) if v in scope]
        return out.transpose([*scope, *(v for v in range(table.ndim) if v not in scope)]).reshape(
            [self.arities[v] for v in scope]
        ) if kept else out.reshape(())  # fmt: skip

    def strong(self, steps):
        """The largest u by sums and maxima in the order of the steps."""
        p, u = self.p, self.u
        for step in steps:
            for v in step.variables:
                p, u = (
                    (p.max(v, keepdims=True), u.max(v, keepdims=True))
                    if step.best
                    else (p.sum(v, keepdims=True), u.sum(v, keepdims=True))
                )
        return p, u

    def updated(self, families, order, start=None):
        """Single policy updating."""
        rules = [np.full(s, 1 / s[-1]) for s in ([self.arities[v] for v in f] for f in families)]
        rules, first = (rules, True) if start is None else (list(start), False)
        changed = True
        while changed:
            changed = False
            for r in order:
                others = [(f, rules[k]) for k, f in enumerate(families) if k != r]
                u = self.over(self.u, families[r], others)
                top, tie = u.max(-1), 1e-12 * np.abs(u).max(-1)
                better = top > (u * rules[r]).sum(-1) + tie
                if first or better.any():
                    near = u >= (top - tie)[..., None]  # the first of those that are equal
                    new = np.eye(u.shape[-1])[near.argmax(-1)]
                    rules[r] = new if first else np.where(better[..., None], new, rules[r])
                    changed = True
            first = False
        return rules


def diagram(seed, draws):
    """Scopes and tables at random: probabilities by parents, utilities, two or three decisions."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    arities = rng.integers(1 if seed % 5 == 0 else 2, 4, n).tolist()
    decisions = sorted(rng.choice(n, size=int(rng.integers(2, 4)), replace=False).tolist())
    scopes, worth, tables = [], [], []
    for v in (v for v in range(n) if v not in decisions):
        parents = rng.choice(v, size=int(rng.integers(0, min(v, 2) + 1)), replace=False).tolist()
        scope = rng.permutation([*parents, v]).tolist()
        table = rng.random([draws if rng.random() < 0.5 else 1, *(arities[i] for i in scope)])
        axis = 1 + scope.index(v)
        scopes.append(tuple(scope))
        worth.append(False)
        tables.append(table / table.sum(axis=axis, keepdims=True))
    for _ in range(int(rng.integers(1, 4))):
        scope = rng.choice(n, size=int(rng.integers(0, 4)), replace=False).tolist()
        scope = list(dict.fromkeys([*scope, decisions[int(rng.integers(len(decisions)))]]))
        scopes.append(tuple(scope))
        worth.append(True)
        tables.append(rng.normal(size=[draws if rng.random() < 0.3 else 1,
                                       *(arities[i] for i in scope)]))  # fmt: skip
    return rng, arities, decisions, scopes, worth, tables


def describes(dense, families, rules, situations, utilities):
    """What is said of each policy is what the dense table says, the others as they are."""
    for r, family in enumerate(families):
        others = [(f, rules[k]) for k, f in enumerate(families) if k != r]
        p, u = (dense.over(t, family, others) for t in (dense.p, dense.u))
        met = p.max(-1)
        assert situations[r] == pytest.approx(met / met.sum(), abs=1e-12)
        assert utilities[r] == pytest.approx(np.where(p > 0, u / np.where(p > 0, p, 1), 0))


@pytest.mark.parametrize("seed", range(40))
def test_full_memory_is_sums_and_maxima_of_the_dense_table(seed):
    _, arities, decisions, scopes, worth, tables = diagram(seed, draws=3)
    steps, left = [], list(range(len(arities)))
    for d in decisions:  # a decision sees the chances before it
        seen = [v for v in left if v < d and v not in decisions]
        steps += [Step(tuple(seen)), Step((d,), best=True)]
        left = [v for v in left if v not in seen and v != d]
    steps = [s for s in reversed([*steps, Step(tuple(left))]) if s.variables]
    wishes = [(d,) for d in decisions]
    tree = Tree(scopes, worth, arities, steps, (), wishes, True)
    found = tree.run(tables, rules=True, detail=True)
    rules = tree.policies(found.rules)
    draws = len(found.outcome.p)
    for at in range(draws):
        dense = Dense(arities, scopes, worth, tables, at)
        p, u = dense.strong(steps)
        assert found.outcome.p[at] == pytest.approx(p.item(), abs=1e-12)
        assert found.outcome.u[at] == pytest.approx(u.item(), abs=1e-12)
        own = [r[at] for r in rules]
        whole = dense.over(dense.u, (), list(zip(tree.families, own, strict=True)))
        assert whole == pytest.approx(u.item(), abs=1e-12)
    first = Dense(arities, scopes, worth, tables, 0)
    _, met, utilities = zip(*tree.described(found), strict=True)
    describes(first, tree.families, [r[0] for r in rules], met, utilities)
    again = Tree(scopes, worth, arities, steps, (), wishes, True).run(tables)
    assert (again.outcome.u == found.outcome.u).all() and again.rules.shape[0] == 0


@pytest.mark.parametrize("seed", range(40))
def test_limited_memory_is_the_same_updating_on_the_dense_table(seed):
    rng, arities, decisions, scopes, worth, tables = diagram(seed, draws=3)
    families = []
    for d in decisions:
        before = list(range(d))
        size = int(rng.integers(0, min(2, len(before)) + 1))
        families.append((*rng.choice(before, size=size, replace=False).tolist(), d) if d else (d,))
    keep = () if seed % 2 else tuple(rng.choice(len(arities), size=2, replace=False).tolist())
    steps = [Step(tuple(v for v in range(len(arities)) if v not in keep))]
    order = rng.permutation(len(decisions)).tolist()
    tree = Tree(scopes, worth, arities, steps, keep, families, False)
    start = [np.eye(s[-1])[np.zeros((1, *s[:-1]), dtype=int)]
             for s in ([arities[v] for v in f] for f in families)]  # fmt: skip
    for first in (None, start):
        found = tree.run(tables, first or (), order, rules=True, detail=True)
        rules = tree.policies(found.rules)
        for at in range(len(found.outcome.p)):
            dense = Dense(arities, scopes, worth, tables, at)
            own = dense.updated(families, order, first and [s[0] for s in first])
            for mine, theirs in zip(rules, own, strict=True):
                assert (mine[at] == theirs).all()
            both = list(zip(families, own, strict=True))
            assert found.outcome.p[at] == pytest.approx(dense.over(dense.p, keep, both), abs=1e-12)
            assert found.outcome.u[at] == pytest.approx(dense.over(dense.u, keep, both), abs=1e-12)
        _, met, utilities = zip(*tree.described(found), strict=True)
        describes(Dense(arities, scopes, worth, tables, 0), families, [r[0] for r in rules], met,
                  utilities)  # fmt: skip


def test_wide_buckets_are_cut_into_outer_and_inner_places():
    rng = np.random.default_rng(3)
    n = 13  # 3 · 2¹² cells, beyond what one table of places has
    arities = [3] + [2] * (n - 1)
    scope = tuple(rng.permutation(n).tolist())
    tables = [rng.random([1, *(arities[v] for v in scope)]), rng.normal(size=(1, 2, 3, 2))]
    scopes = [scope, (4, 0, 7)]
    tree = Tree(scopes, [False, True], arities, [Step(tuple(range(2, n)))], (1, 0), (), True)
    dense = Dense(arities, scopes, [False, True], tables, 0)
    found = tree.run(tables).outcome
    assert found.p[0] == pytest.approx(dense.over(dense.p, (1, 0)))
    assert found.u[0] == pytest.approx(dense.over(dense.u, (1, 0)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scopes": [(0, 2)]}, "names a variable there is not"),
        ({"scopes": [(0, 0)]}, "has a variable twice"),
        ({"blocks": [((0,), False)]}, "neither goes nor is kept"),
        ({"keep": (1,)}, "goes once, and is not kept"),
        ({"worth": []}, "Every factor has a kind"),
        ({"arities": [2, 0]}, "Every arity must be at least 1"),
        ({"blocks": [((0, 1), True)]}, "One decision is chosen at a time"),
        ({"blocks": [((0,), False), ((1,), True)]}, "in a block of its own"),
    ],
)
def test_a_tree_that_contradicts_itself(change, said):
    parts = {"arities": [2, 2], "scopes": [(0, 1)], "worth": [True], "blocks": [((0, 1), False)],
             "keep": (), "families": (), "full": True, "widest": 1e6}  # fmt: skip
    with pytest.raises(ValueError, match=said):
        _core.BucketTree(**(parts | change))


def test_tables_that_do_not_fit():
    tree = _core.BucketTree([2, 2], [(0, 1)], [True], [((0, 1), False)], (), (), True, 3.0)
    assert tree.width == 4 and tree.variables == 2
    with pytest.raises(ValueError, match="too wide to run"):
        tree.run([np.ones((1, 2, 2))], 1, [], [], False, False)
    tree = _core.BucketTree([2, 2], [(0, 1)], [True], [((0, 1), False)], (), (), True, 4.0)
    with pytest.raises(ValueError, match="must have 4 cells, or that many for each draw, got 3"):
        tree.run([np.ones(3)], 1, [], [], False, False)
    with pytest.raises(ValueError, match="a table for each factor"):
        tree.run([], 1, [], [], False, False)
