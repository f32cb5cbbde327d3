"""G2. Conditional independence: the three graphs of three nodes, and the reason for each answer.

Chain, fork and collider: the same skeleton, but the collider answers the other way round
(lecture notes 004; Pearl 1988).
"""

import credo as cr

graphs = {
    "chain": cr.Dag.parse("[a][b|a][c|b]"),
    "fork": cr.Dag.parse("[b][a|b][c|b]"),
    "collider": cr.Dag.parse("[a][c][b|a:c]"),
}
for name, dag in graphs.items():
    print(f"{name}: {dag.factorisation()}")
    print(dag.why("a", "c"))
    print(dag.why("a", "c", given="b"), end="\n\n")

chain, fork, collider = graphs.values()
assert not chain.d_separated("a", "c") and chain.d_separated("a", "c", given="b")
assert not fork.d_separated("a", "c") and fork.d_separated("a", "c", given="b")
assert collider.d_separated("a", "c") and not collider.d_separated("a", "c", given="b")

# Chain and fork state the same, so data cannot tell them apart; the collider stands alone.
assert chain.equivalent(fork) and not chain.equivalent(collider)
print(f"chain and fork: {chain.cpdag()};  collider: {collider.cpdag()}\n")

# The example of the notes: which factors get shorter, and why.
notes = cr.Dag.parse("[x3][x1|x3][x4|x3][x2|x1:x3]")
print(notes.factorisation())
print(notes.why("x4", "x1", given="x3"))
print(notes.why("x2", "x4", given=["x1", "x3"]))
assert notes.d_separated("x4", "x1", given="x3")
assert notes.d_separated("x2", "x4", given=["x1", "x3"])
print(f"\nAll that it states:\n{notes.independences('all')}")
assert len(notes.independences("all")) == 4
