"""Files of DuckDB, the embedded engine: a database's only table, or the one that is named."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from credo.core.errors import TableError, unknown_name
from credo.data.sources.engines import feed_of_relation
from credo.data.sources.feed import Feed, foreign
from credo.data.sources.queries import READ_ONLY, said

__all__ = ["ENDINGS", "feed_of_database", "table_of_database"]

ENDINGS = (".duckdb", ".ddb")

_NAMED = re.compile(r"(.+\.(?:duckdb|ddb))[/\\]([^/\\]+)", re.IGNORECASE)


def table_of_database(text: str) -> tuple[Path, str] | None:
    """The file and the table of a path such as `shop.duckdb/visits`; None if it is none.

    >>> table_of_database("rows.csv"), table_of_database("no_such.duckdb/visits")
    (None, None)
    """
    found = _NAMED.fullmatch(text)
    if found is None:
        return None
    path = Path(found[1]).expanduser()
    return (path, found[2]) if path.is_file() else None


def feed_of_database(path: Path, wanted: str | None = None) -> Feed:
    """The batches of a table or view, which is opened for reading only."""
    import duckdb

    try:
        connection = duckdb.connect(str(path), read_only=True, config=READ_ONLY)
        tables = _tables(connection)
    except duckdb.OutOfMemoryException as error:
        raise foreign(path.name, error) from None
    except duckdb.Error as error:
        raise TableError(
            f"DuckDB cannot open {path.name}: {said(error)}.",
            hint="If it is open elsewhere, close it there or give a relation of that connection.",
        ) from None
    if not tables:
        raise TableError(f"{path.name} has no tables.")
    if wanted is None:
        if len(tables) > 1:
            listed = ", ".join(list(tables)[:10]) + ", …" * (len(tables) > 10)
            raise TableError(
                f"{path.name} has {len(tables):,} tables: {listed}.",
                hint=f"Name one: {path}/{next(iter(tables))}",
            )
        wanted = next(iter(tables))
    if wanted not in tables:
        raise unknown_name("Table", wanted, tables, f"in {path.name}")
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in tables[wanted])
    try:
        feed = feed_of_relation(connection.sql(f"from {quoted}"))
        rows = connection.sql(f"select count(*) from {quoted}").fetchall()[0][0]
    except duckdb.OutOfMemoryException as error:
        raise foreign(f"{path.name}, {wanted}", error) from None
    except duckdb.Error as error:  # a view of something that is no longer there
        raise TableError(f"DuckDB cannot read {wanted!r}: {said(error)}.") from None
    return replace(feed, label=f"{path.name}, {wanted}", rows=rows)


def _tables(connection: Any) -> dict[str, tuple[str, str]]:
    """Schema and name of each table and view, by what it is called: its schema first where that
    is not the usual one.
    """
    found = connection.execute(
        "select table_schema, table_name from information_schema.tables "
        "where table_catalog = current_database() order by all"
    ).fetchall()
    return {n if schema == "main" else f"{schema}.{n}": (schema, n) for schema, n in found}
