"""The order of rows changes nothing: not even which of two equally near centres is the nearer."""

import numpy as np
import pytest

import credo as cr


@pytest.mark.parametrize("seed", range(6))
def test_numbers_on_a_grid(seed):
    """The mean was summed in the order of the rows, and its last digit parted what ties."""
    x = np.repeat([0.5, 1.5, 2.5, 3.5], [22, 16, 15, 20])
    rng = np.random.default_rng(seed)
    found = [
        cr.mixture({"x": rng.permutation(x)}, 3, restarts=5, rng=r).record.score
        for r in range(12)
        for _ in range(3)
    ]
    for three in np.reshape(found, (12, 3)):
        np.testing.assert_allclose(three, three[0], rtol=1e-9)
