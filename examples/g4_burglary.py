"""G4. The burglary alarm asked: both neighbours call; is there a burglar?

Russell & Norvig, *Artificial Intelligence*, section 13.3: P(burglary | both call) = 0.284.
"""

from math import exp, isclose

import credo as cr

net = cr.Network(
    "[Burglary][Earthquake][Alarm|Burglary:Earthquake][JohnCalls|Alarm][MaryCalls|Alarm]",
    {
        "Burglary": 0.001,
        "Earthquake": 0.002,
        "Alarm": {
            (True, True): 0.95,
            (True, False): 0.94,
            (False, True): 0.29,
            (False, False): 0.001,
        },
        "JohnCalls": {True: 0.90, False: 0.05},
        "MaryCalls": {True: 0.70, False: 0.01},
    },
)
print(net, end="\n\n")

both = {"JohnCalls": True, "MaryCalls": True}
print("Before anyone calls:")
print(net.p("Burglary"), end="\n\n")
print("When both have called:")
posterior = net.p("Burglary", given=both)
print(posterior, end="\n\n")
assert isclose(posterior[True], 0.284171835364393, abs_tol=1e-12)

print(f"P(both call) = {exp(net.log_evidence(both)):.9f}")
assert isclose(exp(net.log_evidence(both)), 0.002084100239, abs_tol=1e-12)

# The radio reports an earthquake: it explains the alarm away.
explained = net.ask("P(Burglary=true | JohnCalls=true, MaryCalls=true, Earthquake=true)")
print(f"... and when the radio reports an earthquake: P(burglary) = {explained:.6f}")
assert explained < 0.01 < posterior[True]

answer = net.ask("P(Burglary=true | JohnCalls=true, MaryCalls=true)", explain=True)
print("\nHow that was found, and what each call adds:")
print(answer.account)
assert all(bits > 0 for bits in answer.account.weights.values())

best = net.mpe(both)
print("\nThe most probable story as a whole is a false alarm, with neither cause:")
print(best)
assert dict(best) == {"Burglary": False, "Earthquake": False, "Alarm": True}

# Setting the alarm off ourselves says nothing about burglars; hearing it does.
heard, set_off = (
    net.ask("P(Burglary=true | Alarm=true)"),
    net.ask("P(Burglary=true | do(Alarm=true))"),
)
print(f"\nP(burglary | alarm) = {heard:.6f}, P(burglary | do(alarm)) = {set_off:.6f}")
assert isclose(heard, 0.373551228, abs_tol=1e-9) and isclose(set_off, 0.001, abs_tol=1e-15)
