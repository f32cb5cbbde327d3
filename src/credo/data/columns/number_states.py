"""Which numbers are states: few of them, close together, with enough rows for each.

States have no order and no distance, so numbers that become states lose every relation to the
quantities beside them; numbers that stay quantities have a mean that nobody may want. Whole numbers
are states when there are

- at most 2 of them, or 3 or 4 of which one repeats;
- at most 10, no wider apart than twice their number, with 4 rows for each on average;
- at most 20 that repeat twice on average, under a name for codes (*class*, *region*, *month*, …).

Under a name for quantities (*year*, *age*, *count*, …) more than 4 are no states. Decimals are
states when there are at most 4, with 10 rows for each.
"""

from __future__ import annotations

from credo.data.columns.identifiers import ROW_WORDS, words_of

__all__ = ["FEW_DECIMALS", "FEW_INTEGERS", "are_states"]

FEW_INTEGERS = 20
"""More whole numbers than this are never states, whatever their name."""
FEW_DECIMALS = 4
_ALWAYS = 2
_VERY_FEW = 4
_FEW = 10
_CODES = ROW_WORDS | frozenset(
    (
        "batch", "block", "category", "class", "cluster", "code", "country", "county",
        "department", "dept", "digit", "district", "firm", "group", "id", "industry", "kind",
        "label", "lot", "month", "occupation", "precinct", "region", "sector", "segment", "site",
        "species", "state", "station", "target", "team", "type", "ward", "weekday", "zone",
    )
) - {"day"}  # fmt: skip
_QUANTITIES = frozenset(
    (
        "age", "ages", "count", "counts", "days", "dose", "freq", "frequency", "hours", "income",
        "length", "minutes", "price", "score", "time", "total", "weight", "width", "year", "years",
        "yr", "yrs",
    )
)  # fmt: skip


def are_states(
    name: str, distinct: int, n: int, low: float, high: float, *, whole: bool = True
) -> tuple[bool, str]:
    """Whether so many different numbers in n cells are states, and why.

    >>> are_states("pain", 5, 245, 1, 5)
    (True, 'whole numbers, 5 different, 49 rows for each')
    >>> are_states("AIRFLOW", 7, 21, 50, 80)
    (False, 'whole numbers, 7 different, only 3 rows for each')
    >>> are_states("Time", 7, 84, 0, 24)
    (False, 'whole numbers, 7 different, under a name for quantities')
    >>> are_states("edema", 3, 418, 0, 1, whole=False)
    (True, 'decimals, 3 different, 139 rows for each')
    """
    each = f"{n // max(distinct, 1):,} rows for each"
    if not whole:
        few = distinct <= FEW_DECIMALS and n >= 10 * distinct
        return few, f"decimals, {distinct} different, {each}" if few else "numbers"
    told = f"whole numbers, {distinct:,} different"
    if distinct <= _ALWAYS or (distinct <= _VERY_FEW and distinct < n):
        return True, told
    if distinct > FEW_INTEGERS:
        return False, told
    words = words_of(name)
    if not _QUANTITIES.isdisjoint(words):
        return False, f"{told}, under a name for quantities"
    if words and words[-1] in _CODES:
        few = n >= 2 * distinct
        return few, f"{told}, under a name for codes" if few else f"{told}, only {each}"
    if distinct > _FEW:
        return False, told
    if n < 4 * distinct:
        return False, f"{told}, only {each}"
    if high - low > 2 * distinct:
        return False, f"{told}, far apart"
    return True, f"{told}, {each}"
