import numpy as np
from scipy.stats import false_discovery_control

from credo.checking.sections.multiplicity import benjamini_hochberg, holm


def test_benjamini_and_hochberg_as_scipy_has_them():
    p = np.random.default_rng(0).random(50) ** 3
    assert np.allclose(benjamini_hochberg(p), false_discovery_control(p))


def test_holm_by_its_definition():
    p = np.random.default_rng(1).random(20) ** 3
    order = np.argsort(p)
    want = np.empty(20)
    for i, k in enumerate(order):
        want[k] = min(1.0, max((20 - j) * p[order[j]] for j in range(i + 1)))
    assert np.allclose(holm(p), want)
    assert holm([]).tolist() == []
