"""Sound columns: cells that come from a file or another program are checked before they are used.

Arrow trusts what a batch says of itself: where each text begins, which entry of a dictionary a row
has. In a damaged file these are wrong, and to follow them is to read beyond the memory that is
there. One look at every column finds it first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from credo.core.errors import TableError, shown
from credo.data.sources.arrays import int32s

__all__ = ["refuse_no_text", "sound"]

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


def sound(cells: Any, name: str, label: str) -> Any:
    """The column as it came; refused where its texts or positions cannot be followed.

    >>> cells = pa.DictionaryArray.from_arrays(pa.array([0, 7]), pa.array(["x"]), safe=False)
    >>> sound(cells, "a", "rows.arrow")
    Traceback (most recent call last):
    credo.errors.TableError: Column 'a' of rows.arrow is damaged: a row has position 7 of a \
dictionary of 1. Write the table again from its source.
    """
    try:
        if not _has_its_positions(cells):
            cells.validate(full=True)
    except (pa.ArrowException, ValueError, OverflowError, IndexError) as error:
        raise TableError(
            f"Column {name!r} of {label} is damaged: {_why(cells, str(error))}.",
            hint="Write the table again from its source.",
        ) from None
    return cells


def refuse_no_text(label: str, names: Sequence[str]) -> None:
    """Refuse a column whose name has a NUL, or half of a character of UTF-16: no text file can hold
    them, and an engine that reads UTF-16 as something else makes names of NULs.

    >>> refuse_no_text("The table", ["a", "b\\0"])
    Traceback (most recent call last):
    credo.errors.TableError: Column 2 of The table has a name that is no text: 'b\\x00' holds a \
NUL. Give it another name; a file in UTF-16 is read by its path.
    """
    at = next((i for i, name in enumerate(names) if _NO_TEXT.search(name)), None)
    if at is None:
        return
    nul = "\0" in names[at]
    raise TableError(
        f"Column {at + 1:,} of {label} has a name that is no text: {shown(names[at])} holds "
        f"{'a NUL' if nul else 'half of a character'}.",
        hint="Give it another name" + ("; a file in UTF-16 is read by its path." if nul else "."),
    )


def _has_its_positions(cells: Any) -> bool:
    """Whether a look at the largest position shows that a dictionary has them all: what Arrow finds
    too, in ten times the time. (What a null has for a position says nothing; Arrow knows.)
    """
    if not pa.types.is_dictionary(cells.type) or cells.type.index_type != pa.int32():
        return False
    cells.validate()
    cells.dictionary.validate(full=True)
    positions = int32s(cells.indices).view(np.uint32)  # a negative one is a large one
    return not len(positions) or int(positions.max()) < len(cells.dictionary)


def _why(cells: Any, said: str) -> str:
    """What is wrong, in our words."""
    if "UTF8" in said:
        return "a text is not UTF-8"
    if pa.types.is_dictionary(cells.type) and "out of bounds" in said:
        found = re.search(r"out of bounds: (-?[0-9]+)", said)
        position = f"position {found[1]}" if found else "a position"
        return f"a row has {position} of a dictionary of {len(cells.dictionary):,}"
    return said.splitlines()[0].rstrip(".") if said else "it cannot be followed"
