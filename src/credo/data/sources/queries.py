"""SQL over files: DuckDB, the embedded engine, runs the query, and its batches are the table.

A file alone is read by the parsers of this package; to filter, join or compute columns over files
that need not fit in memory is what an engine is for. To read a table must change nothing, so a
query is one SELECT, and DuckDB's own account of how it understood it is searched for parts that
write (a COPY can stand inside WITH) before it is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from credo.core.errors import TableError, unknown_name
from credo.data.sources.engines import feed_of_relation
from credo.data.sources.feed import Feed, foreign

READ_ONLY: dict[str, str | bool | int | float | list[str]] = {
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "lock_configuration": "true",
}
"""How DuckDB is opened: whatever is read, nothing is installed and no variable is a table."""
_READING = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_NOT_READING = {"json_execute_serialized_sql", "query", "write_log"}
"""Functions that run another text as a query, which would have to be searched too, or that write;
the functions that change settings are stopped by the lock."""

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

    connection = duckdb.connect(config=READ_ONLY)
    try:
        refuse_writing(connection, query)
        relation = connection.sql(query)
    except duckdb.OutOfMemoryException as error:
        raise foreign("The answer of the query", error) from None
    except duckdb.Error as error:
        raise TableError(
            f"DuckDB cannot run the query: {said(error)}.",
            hint="Name files in quotes, as in: select * from 'rows.parquet' where age > 40",
        ) from None
    if relation is None:
        raise TableError("The query has no rows to give.", hint="Begin it with select.")
    return feed_of_relation(relation)


def said(error: Exception) -> str:
    """The first line of what DuckDB says, without its last mark.

    >>> said(ValueError("It is not there!\\nLINE 1: …"))
    'It is not there'
    """
    return str(error).strip().splitlines()[0].rstrip(".!")


def refuse_writing(connection: Any, query: str) -> None:
    """Refuse whatever is not one SELECT that only reads.

    >>> import duckdb
    >>> refuse_writing(duckdb.connect(), "select 1; copy (select 42) to 'new.csv'")
    Traceback (most recent call last):
    credo.errors.TableError: A query must be one SELECT, got 2 statements. Leave out all but the \
first.
    """
    statements = connection.extract_statements(query)
    if len(statements) != 1:
        raise TableError(
            f"A query must be one SELECT, got {len(statements)} statements.",
            hint="Leave out all but the first.",
        )
    if statements[0].type.name != "SELECT":
        kind = statements[0].type.name
        if kind == "MULTI":
            raise TableError(
                "A query must be one SELECT; a PIVOT whose columns are not named is several.",
                hint="Name them: pivot … on year in (2020, 2021).",
            )
        raise TableError(f"A query must be a SELECT, which only reads; this is {_a(kind)}.")
    told = connection.execute("select json_serialize_sql(?)", [query]).fetchall()[0][0]
    tree = json.loads(told)
    for kind, function in _parts(tree):
        if kind.endswith("_NODE") and kind not in _READING:
            word = kind.removesuffix("_NODE").removesuffix("_QUERY")
            raise TableError(f"A query must be a SELECT, which only reads; this holds {_a(word)}.")
        if function in _NOT_READING:
            raise TableError(f"A query must only read; the function {function} is not taken.")


def _a(word: str) -> str:
    return f"{'an' if word[:1] in 'AEIOU' else 'a'} {word}"


def _parts(tree: Any) -> Iterator[tuple[str, str]]:
    """The kind, and the function if it is one, of each part of a query that DuckDB took apart."""
    if isinstance(tree, list):
        for part in tree:
            yield from _parts(part)
    elif isinstance(tree, dict):
        yield str(tree.get("type", "")), str(tree.get("function_name", "")).casefold()
        for part in tree.values():
            yield from _parts(part)


# --- files of DuckDB ----------------------------------------------------------------------


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
