"""Sufficient statistics: what a learner needs to know of the rows, and nothing else.

`Counts`, `Moments` and `Rows` are frozen, have named axes, and merge with `+`; the merge is a
law that the tests hold them to. `Tally` holds the statistics of many families at once.
"""

from credo.stats.counts import Counts
from credo.stats.family import Families, Family
from credo.stats.moments import Moments
from credo.stats.rows import Rows
from credo.stats.tally import Source, Tally

__all__ = ["Counts", "Families", "Family", "Moments", "Rows", "Source", "Tally"]
