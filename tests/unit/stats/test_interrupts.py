"""Ctrl-C stops a tally at once, in whichever kernel it is."""

import pytest
from tests.interrupts import work_after_ctrl_c

ROWS = """
import numpy as np
import credo as cr
from credo.stats.plan import tally_block
rng = np.random.default_rng(0)
names = [f"v{i}" for i in range(20)]
cells = {name: rng.integers(0, 4, 2_000_000).astype(np.int8) for name in names}
table = cr.read(cells, schema=dict.fromkeys(names, "discrete"))
"""


@pytest.mark.parametrize(
    "work",
    [
        "table.tally([('v0', names[1:])])",
        "table.unique()",
        "tally_block(table.block, [('v0', names[1:9])], threads=2, kernel='sparse')",
        "table.tally([(c, names[i + 1 : i + 8]) for i, c in enumerate(names[:12])])",
    ],
)
def test_a_tally_hears_ctrl_c(work):
    seconds, _ = work_after_ctrl_c(ROWS, work)
    assert seconds < 1.0
