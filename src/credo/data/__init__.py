"""Tables in: frames, files and engines become codes and floats, with a schema that is printed.

What stands here is all that the floors above know of this room (an import contract holds them to
it): sources (`Table`, `Stream`), which `read` makes of anything and which tally; the columns of any
table as they lie (`Columns`); arrays without names at a learner's door; and the rules for names and
whole numbers that learners share with `read`.
"""

from credo.data.columns.absent import warn_renamed
from credo.data.columns.columns import (
    Column,
    Columns,
    columns_for,
    columns_of,
    matrix_columns,
    names_of,
    position_names,
    split_columns,
)
from credo.data.columns.identifiers import FEW_INTEGERS, are_states, named_like_rows
from credo.data.columns.infer import typed_states
from credo.data.columns.written import MISSING
from credo.data.held import Held, held
from credo.data.kept import Kept
from credo.data.reading import read, tally
from credo.data.sources.feed import memory_limit
from credo.data.sources.files import is_path
from credo.data.sources.unnamed import array_in, is_plain, rows_in, unmasked
from credo.data.spool import spooled
from credo.data.stream import Stream
from credo.data.table import Table

__all__ = [
    "FEW_INTEGERS",
    "MISSING",
    "Column",
    "Columns",
    "Held",
    "Kept",
    "Stream",
    "Table",
    "are_states",
    "array_in",
    "columns_for",
    "columns_of",
    "held",
    "is_path",
    "is_plain",
    "matrix_columns",
    "memory_limit",
    "named_like_rows",
    "names_of",
    "position_names",
    "read",
    "rows_in",
    "split_columns",
    "spooled",
    "tally",
    "typed_states",
    "unmasked",
    "warn_renamed",
]
