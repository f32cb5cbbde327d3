"""SQL over files: DuckDB, the embedded engine, runs the query, and its batches are the table.

A file alone is read by the parsers of this package; to filter, join or compute columns over files
that need not fit in memory is what an engine is for.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from credo.data.feed import Feed
from credo.data.frames import feed_of_relation
from credo.errors import TableError

__all__ = ["feed_of_query", "is_query"]

_QUERY = re.compile(r"\s*(select|with|from)\s+\S", re.IGNORECASE)


def is_query(x: Any) -> bool:
    """Whether a text is a query rather than the name of a file.

    >>> is_query("select * from 'rows.parquet' where age > 40"), is_query("from rows.csv")
    (True, True)
    >>> is_query("rows.csv"), is_query("selected.csv")
    (False, False)
    """
    if not isinstance(x, str) or not _QUERY.match(x):
        return False
    try:
        return not Path(x).exists()
    except OSError:  # a long query is no name of a file
        return True


def feed_of_query(query: str) -> Feed:
    """The batches of what DuckDB answers; the query is run anew each time they are read.

    >>> feed_of_query("select 1 as a, 'u' as b").names
    ('a', 'b')
    """
    import duckdb

    connection = duckdb.connect(config={"python_enable_replacements": "false"})
    try:
        relation = connection.sql(query)
    except duckdb.Error as error:
        said = str(error).strip().splitlines()[0]
        raise TableError(
            f"DuckDB cannot run the query: {said}",
            hint="Name files in quotes, as in: select * from 'rows.parquet' where age > 40",
        ) from None
    if relation is None:
        raise TableError("The query has no rows to give.", hint="Begin it with select.")
    return feed_of_relation(relation)
