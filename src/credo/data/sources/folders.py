"""Tables in folders: which files are theirs, and the columns that their folders name.

A folder such as `year=2024` says that every row of the files in it has 2024 in a column `year`:
Spark, DuckDB, pandas and Arrow write large tables so. Those folders are columns that a path leaves
open, by a wildcard or by naming a folder above them; what it names is the same for all files.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from credo.core.errors import LimitError, TableError
from credo.data.sources.feed import Batch, Feed

MANY = 100_000
"""A folder of more files than this is not looked through: it is hardly one table's."""

_NOTHING = "__HIVE_DEFAULT_PARTITION__"  # how the writers spell a missing cell
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def files_in(folder: Path, given: str, endings: Collection[str]) -> list[Path]:
    """The files of a table in a folder and those below it; names that begin with . or _ are the
    writers' own. Files of several kinds are refused, since which of them is the table is not known.
    """
    found: list[Path] = []
    for path in folder.rglob("*"):
        if any(part.startswith((".", "_")) for part in path.relative_to(folder).parts):
            continue
        if path.is_file() and _ending(path) in endings:
            found.append(path)
            if len(found) > MANY:
                raise LimitError(
                    f"{given} is a folder of more than {MANY:,} files.",
                    hint="Name those of one table with a glob, such as rows/*/*.parquet.",
                )
    if not found:
        raise TableError(
            f"{given} is a folder in which no file is a table.",
            hint=f"Known are {', '.join(endings)}.",
        )
    kinds = Counter(map(_ending, found))
    if len(kinds) > 1:
        listed = ", ".join(f"{n:,} {ending}" for ending, n in kinds.most_common())
        raise TableError(
            f"{given} is a folder with files of several kinds ({listed}).",
            hint=f"Name those of the table: {given}/**/*{kinds.most_common(1)[0][0]}",
        )
    return sorted(found)


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    return path.with_suffix("").suffix.lower() if ending in (".gz", ".zst") else ending


def open_parts(given: str, path: Path) -> dict[str, str | None]:
    """The columns that a file's folders name, as far as the path given leaves them open.

    >>> open_parts("rows/*/*.parquet", Path("rows/year=2024/a.parquet"))
    {'year': '2024'}
    >>> open_parts("rows/year=2024/*.parquet", Path("rows/year=2024/a.parquet"))
    {}
    """
    named = Path(os.path.expanduser(given)).parts
    fixed = next((i for i, part in enumerate(named) if any(c in part for c in "*?[")), len(named))
    return _named(path.parent.parts[fixed:])


def _named(parts: Sequence[str]) -> dict[str, str | None]:
    pairs = (part.split("=", 1) for part in parts if "=" in part[1:])
    return {unquote(k): None if v == _NOTHING else unquote(v) for k, v in pairs}


def with_folders(feeds: Sequence[Feed], told: Sequence[dict[str, str | None]]) -> list[Feed]:
    """The feeds of a table's files with the columns that their folders name beside their own; of a
    column that both have, a note says that the files' is read.
    """
    named = dict.fromkeys(n for one in told for n in one)
    names = [n for n in named if n not in feeds[0].names]
    twice = [n for n in named if n in feeds[0].names]
    first = replace(feeds[0], notes=(*feeds[0].notes, *map(_own_is_read, twice)))
    types = folder_types(names, told)
    return [
        beside(feed, {n: one[n] for n in names if n in one}, types) if names else feed
        for feed, one in zip((first, *feeds[1:]), told, strict=True)
    ]


def _own_is_read(name: str) -> str:
    return f"the column {name!r} is that of the files; what their folders say of it is left out"


def below(paths: Sequence[Path]) -> list[str]:
    """The files of a table as their paths below the folder that all of them are in.

    >>> below([Path("rows/year=2023/a.csv"), Path("rows/year=2024/a.csv")])
    ['year=2023/a.csv', 'year=2024/a.csv']
    """
    try:
        above = os.path.commonpath([p.parent for p in paths])
    except ValueError:  # some from the root, some from here
        return list(map(str, paths))
    return [str(p.relative_to(above)) for p in paths]


def folder_types(names: Sequence[str], told: Sequence[dict[str, str | None]]) -> dict[str, Any]:
    """Whole numbers where the folders of all files are such."""
    out = {}
    for name in names:
        values = {one.get(name) for one in told} - {None}
        whole = all(_WHOLE.fullmatch(str(v)) for v in values)
        out[name] = pa.int64() if whole and values else pa.string()
    return out


def beside(feed: Feed, values: dict[str, str | None], types: dict[str, Any]) -> Feed:
    """A feed with the columns that folders name, the same in all of its rows."""
    kinds = {n: pa.string() if feed.text else types[n] for n in values}

    def batches(wanted: Sequence[str]) -> Iterator[Batch]:
        own = [n for n in wanted if n not in values]
        for batch in feed.batches(own or feed.names[:1]):
            rows = len(next(iter(batch.values())))
            both = batch | {n: _constant(value, kinds[n], rows) for n, value in values.items()}
            yield {n: both[n] for n in wanted}

    said = {n: "int" if kind == pa.int64() else "str" for n, kind in kinds.items()}
    return replace(
        feed,
        names=(*feed.names, *values),
        batches=batches,
        types={**feed.types, **({} if feed.text else said)},
    )


def _constant(value: str | None, kind: Any, rows: int) -> Any:
    if value is None:
        return pa.nulls(rows, kind)
    cells = pa.array([int(value) if kind == pa.int64() else value], kind)
    where = pa.Array.from_buffers(pa.int8(), rows, [None, pa.py_buffer(np.zeros(rows, np.int8))])
    return pa.DictionaryArray.from_arrays(where, cells)
