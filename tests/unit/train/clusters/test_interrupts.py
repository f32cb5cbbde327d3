"""Ctrl-C stops single link at once, whichever way its spanning tree is found; and k-means."""

import pytest
from tests.interrupts import work_after_ctrl_c

POINTS = """
import numpy as np
import credo as cr
rng = np.random.default_rng(0)
wide = rng.normal(size=(60_000, 30))
narrow = rng.normal(size=(300_000, 6))
"""


@pytest.mark.parametrize("points", ["wide", "narrow"])
def test_single_link_hears_ctrl_c(points):
    seconds, _ = work_after_ctrl_c(POINTS, f"cr.cluster({points}, 'single', k=3)")
    assert seconds < 1.0


def test_k_means_hears_ctrl_c():
    seconds, _ = work_after_ctrl_c(POINTS, "cr.cluster(narrow, k=64, tol=0.0, scale='none')")
    assert seconds < 1.0
