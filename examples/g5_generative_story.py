"""G5. The generative story: a network is sampled, and asked the other way round.

Rows are drawn from causes to effects. Counting the rows in which the grass is wet answers a
question about causes, as Bayes' rule does; drawing given the evidence gives only such rows.
"""

from math import isclose, sqrt

import credo as cr

net = cr.Network(
    "[Cloudy][Sprinkler|Cloudy][Rain|Cloudy][WetGrass|Sprinkler:Rain]",
    {
        "Cloudy": 0.5,
        "Sprinkler": {False: 0.5, True: 0.1},
        "Rain": {False: 0.2, True: 0.8},
        "WetGrass": {
            (False, False): 0.0,
            (False, True): 0.9,
            (True, False): 0.9,
            (True, True): 0.99,
        },
    },
)
print("The story is told in the order", ", ".join(net.dag.order))
print(net.sample(5, rng=0), end="\n\n")

N = 400_000
wet = {"WetGrass": True}
exact = net.p("Rain", given=wet)[True]

# 1. Tell the story often, and keep the rows in which the grass is wet.
rows = net.sample(N, rng=0)
kept = rows.take(rows["WetGrass"].astype(bool))
rejected = float(kept["Rain"].mean())
print(f"exact P(rain | wet grass)            {exact:.6f}")
print(f"of {N:,} rows {len(kept):,} are wet   {rejected:.6f}")
assert abs(rejected - exact) < 5 * sqrt(exact * (1 - exact) / len(kept))

# 2. Tell only stories that end with wet grass: nothing is thrown away.
given = net.sample(N, rng=0, given=wet)
direct = float(given["Rain"].mean())
print(f"{N:,} rows drawn given wet grass {direct:.6f}")
assert bool(given["WetGrass"].all())
assert abs(direct - exact) < 5 * sqrt(exact * (1 - exact) / N)

# 3. No row is impossible: grass that neither rain nor sprinkler reached is dry.
dry = ~(rows["Rain"].astype(bool) | rows["Sprinkler"].astype(bool))
assert not rows["WetGrass"][dry].any()

# 4. Seeing and doing differ in the rows too.
made = net.do({"Sprinkler": True}).sample(N, rng=0)
seen = net.sample(N, rng=0, given={"Sprinkler": True})
print(f"\nP(rain | sprinkler on)      {float(seen['Rain'].mean()):.3f}  a cloudless sky, likely")
print(f"P(rain | do(sprinkler on))  {float(made['Rain'].mean()):.3f}  the sky does not care")
assert isclose(float(made["Rain"].mean()), 0.5, abs_tol=0.005)
assert isclose(float(seen["Rain"].mean()), 0.3, abs_tol=0.005)
