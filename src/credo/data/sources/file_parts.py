"""Files as parts that workers open by themselves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credo.core.errors import InputError
from credo.data.sources.feed import Feed
from credo.data.sources.files import FORMATS, matching, open_file
from credo.data.sources.folders import beside, folder_types, open_parts
from credo.data.sources.queries import is_query, table_of_database
from credo.data.sources.text import TextOptions

_PART = 1_000_000  # rows of a Parquet file that are one part


@dataclass(frozen=True)
class FilePart:
    """A part of a table that a worker opens by itself: a file, or some row groups of one."""

    path: Path
    options: TextOptions
    folders: Mapping[str, str | None]
    """The columns that the folders of all files name, and what those of this one say."""
    types: Mapping[str, Any]
    groups: tuple[int, ...] | None = None

    def feed(self) -> Feed:
        """The rows of the part."""
        feed = open_file(self.path, self.options, 1, self.groups)
        return beside(feed, dict(self.folders), dict(self.types)) if self.folders else feed


def file_parts(given: Any, options: TextOptions) -> list[FilePart]:
    """The parts of a table in files: a file each, a large Parquet file in several."""
    if is_query(given) or (isinstance(given, str) and table_of_database(given) is not None):
        raise InputError(
            "on= is for files, which the workers open; DuckDB runs in this process.",
            hint="Write the answer to Parquet files first.",
        )
    texts = [os.fspath(p) for p in (given if isinstance(given, (list, tuple)) else [given])]
    found = [(p, open_parts(t, p)) for t in texts for p in matching(t)]
    own = open_file(found[0][0], options, len(found)).names
    names = [n for n in dict.fromkeys(n for _, told in found for n in told) if n not in own]
    types = folder_types(names, [told for _, told in found])
    out = []
    for path, told in found:
        folders = {n: told[n] for n in names if n in told}
        for groups in _row_groups(path):
            out.append(FilePart(path.resolve(), options, folders, types, groups))
    return out


def _row_groups(path: Path) -> list[tuple[int, ...] | None]:
    """The row groups of a large Parquet file, a million rows together; None of any other."""
    if FORMATS.get(path.suffix.lower()) != "parquet":
        return [None]
    import pyarrow.parquet as pq

    meta = pq.read_metadata(path)
    out: list[tuple[int, ...] | None] = []
    together, rows = [], 0
    for i in range(meta.num_row_groups):
        together.append(i)
        rows += meta.row_group(i).num_rows
        if rows >= _PART or i == meta.num_row_groups - 1:
            out.append(tuple(together))
            together, rows = [], 0
    return out if len(out) > 1 else [None]
