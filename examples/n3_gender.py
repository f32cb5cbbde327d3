"""N3. Height, weight and foot size: Gaussian features, with both variances.

The notes (001) print variances with n − 1, although their formula says n. The sample (6 feet, 130
pounds, 8 inches) is female either way. p(weight | male) is 5.98674e-6; the notes print 5.9881e-6.
"""

import numpy as np

import credo as cr

people = cr.examples.gender_measurements()
sample = {"height": 6, "weight": 130, "foot_size": 8}

for variance in ("sample", "ml"):
    model = cr.naive_bayes(people, "sex", variance=variance)
    male = model.classes.index("male")
    print(f"variance={variance!r}")
    for name in model.names:
        f = model.feature(name)
        density = np.exp(f.log_p([sample[name]])[male])
        print(
            f"  {name}: mean {f.mean[male]:.6g}, variance {f.variance[male]:.6g}, p = {density:.6g}"
        )
    print(model.p(sample), end="\n\n")
    assert model.p(sample)["female"] > 0.999
    if variance == "sample":
        weight = float(np.exp(model.feature("weight").log_p([130])[male]))
        assert f"{weight:.5e}" == "5.98674e-06"
        assert np.isclose(np.exp(model.log_joint(sample)[1 - male]), 5.3778e-4, rtol=1e-4)
