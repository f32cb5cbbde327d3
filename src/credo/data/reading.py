"""`read`: any table in. `tally`: statistics out of anything `read` takes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from credo.core.errors import (
    CredoError,
    CredoWarning,
    InputError,
    NoColumnError,
    SchemaError,
    TableError,
    UnknownNameError,
    close_names,
    unknown_name,
)
from credo.core.progress import Report
from credo.core.render import shortened
from credo.core.schema import Column, Schema, Variable
from credo.core.threads import checked_threads
from credo.data.columns.cells import Tokens
from credo.data.columns.infer import Decision, Declared, decide
from credo.data.columns.scan import scan
from credo.data.columns.written import Written, missing_words
from credo.data.engines.distributed import Distributed
from credo.data.engines.opening import parts_of
from credo.data.engines.schema_pass import scan_parts
from credo.data.sources.feed import Feed, foreign, memory_limit
from credo.data.sources.files import feed_of_path, is_path
from credo.data.sources.frames import feed_of_frame
from credo.data.sources.text import TextOptions
from credo.data.stream import Stream
from credo.data.table import Table
from credo.data.weights import Weights
from credo.stats.block import Block
from credo.stats.tally import Source, Tally

_KINDS = ("discrete", "continuous", "drop")
_SAID = {  # as other libraries have it
    **dict.fromkeys(
        ("categorical", "category", "factor", "nominal", "ordinal", "enum"), "discrete"
    ),
    **dict.fromkeys(("str", "string", "text", "bool", "boolean", "object"), "discrete"),
    **dict.fromkeys(("numeric", "numerical", "number", "float", "real", "double"), "continuous"),
    **dict.fromkeys(("ignore", "skip", "exclude", "none"), "drop"),
}


def read(
    x: Any,
    schema: Schema | Mapping[str, Any] | None = None,
    weights: Any = None,
    *,
    missing: Sequence[Any] | None = None,
    memory: int | str | None = None,
    columns: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    ragged: str = "error",
    report: Report | None = None,
    on: Any = None,
) -> Table | Stream:
    """Read any table: a file or several, a frame, a dict of columns, an Arrow stream.

    Parameters
    ----------
    x : path, folder, glob, list of paths, query, or table
        CSV, TSV, JSON lines, Parquet or Arrow files (text files also .gz or .zst); a table of a
        DuckDB file (`"shop.duckdb/visits"`); a query over files, which DuckDB runs
        (`"select * from 'rows.parquet' where age > 40"`); a pandas, polars, Arrow or DuckDB
        table or stream, anything narwhals knows or that has
        `__arrow_c_stream__`; a dict of columns, a list of dicts, a NumPy array.
    schema : mapping or Schema, optional
        What the user knows better: `{"age": "continuous", "stage": ["I", "II", "III"],
        "code": "discrete", "note": "drop"}`. Columns not named are inferred. A `Schema` is
        used as it is: its variables, in its order.
    weights : column name or array, optional
        The weight of each row; a row of weight 0 is absent.
    missing : list, optional
        Cells taken as missing besides None, NaN and null. For text files the default is
        an empty cell, NA, NaN, null and ?; for other tables nothing more. A list replaces these
        words, but an empty cell of a text file stays missing, unless the list is empty. Numbers
        and booleans stand for every way to write them there; elsewhere cells equal what is listed.
    memory : bytes or text such as "2GB", optional
        The most memory the cells may take; a larger table is given as a `Stream`.
        The default is half of the memory that is free.
    columns : list of names, optional
        The names of a NumPy array's columns, or of a text file that has no header.
    delimiter, encoding : optional
        How a text file is written, when looking at it is not enough.
    decimal : "." or ","
        What stands between the units and the tenths of a number in a text file.
    ragged : "error" or "skip"
        What to do with lines of a text file that have too many or too few cells.
    report : function of (rows done, rows in all), optional
        Called instead of showing a progress bar.
    on : Dask client, Spark session or executor, optional
        Where files are read and counted: the workers open them. Dask and Spark frames need no
        `on=`; their rows stay where they are.

    Returns
    -------
    Table or Stream
        Both are sources: they have a `schema` and can `tally`.

    >>> import credo as cr
    >>> table = cr.read({"stage": ["II", "I", "II", None], "age": [51.5, 48.0, 60.2, 39.9]})
    >>> print(table.schema)
    dict of columns: 4 rows, 2 variables
    <BLANKLINE>
    variable  kind        states    missing   why
    stage     discrete    2: I, II  1 (25 %)  text
    age       continuous            0         numbers
    """
    if isinstance(columns, str):
        raise InputError(f"columns= must be a list of names, got {columns!r}.")
    missing_words(missing, False)
    options = TextOptions(delimiter, encoding, ragged, columns, decimal)
    if isinstance(x, (Table, Stream)):
        if schema is None and weights is None:
            return x
        raise InputError("The table has been read already; give schema= and weights= to read.")
    plain, scales = _without_scales(schema)
    if scales:
        return read(
            x, plain, weights, missing=missing, memory=memory, columns=columns,
            delimiter=delimiter, encoding=encoding, decimal=decimal, ragged=ragged, report=report,
            on=on,
        ).scaled(scales)  # fmt: skip
    if not is_path(x) and options != TextOptions(columns=columns):
        raise InputError("delimiter=, encoding=, decimal= and ragged= are for text files.")
    limit = memory_limit(memory)
    parts = parts_of(x, on, options)
    feed = feed_of(x, options, columns) if parts is None else parts.feed
    if not feed.names:
        raise TableError(f"{feed.label} has no columns.")
    tokens = missing_words(missing, feed.text)
    wanted = wanted_of(schema, feed.names)
    weighting = Weights.of(weights, feed.names, text=feed.text)
    if weighting.column in wanted and wanted[weighting.column] != "drop":
        raise InputError(f"{weighting.column!r} cannot be the weights and a variable at once.")
    taken = Tokens(tokens, feed.text)
    kinds = {n: _kind(wanted.get(n), feed.declared.get(n)) for n in feed.names}
    kinds = {n: k for n, k in kinds.items() if k != "drop" and n != weighting.column}
    beside = {n: taken.beside(named_states(wanted.get(n))) for n in kinds}
    if parts is None:
        seen = scan(feed, kinds, beside, weighting, limit, report)
    else:
        if weighting.array is not None:
            raise InputError(
                "The rows lie in parts, so their weights must be a column.",
                hint="Add the weights to the frame and give the name of their column.",
            )
        seen = scan_parts(parts, kinds, beside, weighting, report)
    decisions, found = decided(feed, seen.columns, wanted, schema, seen.rows, weighting, taken)
    warn_doubtful(decisions)
    whole = seen.whole
    if not seen.kept:
        for variable in found.variables:
            seen.columns[variable.name].check(variable)
        if weighting.column is not None:
            weighting = Weights(weighting.column, whole=whole, text=weighting.text)
        if parts is not None:
            return Distributed(feed, found, seen.rows, tokens, weighting, report, parts=parts)
        return Stream(feed, found, seen.rows, tokens, weighting, report)
    arrays = tuple(seen.columns.pop(v.name).finish(v) for v in found.variables)
    total = np.concatenate(seen.weights) if seen.weights else None
    if total is not None and whole:
        total = total.astype(np.int64)
    return Table(Block(found, arrays, total), seen.numbers if seen.numbers.left_out else None)


def tally(source: Any, families: Any = None, *, threads: int | None = None) -> Tally:
    """The statistics of many families, in one pass over a source or any table.

    A family is a name, or a pair of a child and its parents; one alone needs no list. Families of
    discrete variables give `Counts`; a family with a continuous variable gives `Moments`. Without
    families, each variable is tallied by itself.

    >>> import credo as cr
    >>> s = cr.tally(cr.examples.pneumonia(), [("Fev", ["Pneu"])])
    >>> print(s["Fev", ["Pneu"]])
    Pneu  Fev=F  Fev=T
    F         4      3
    T         2      3
    >>> (s + s)["Fev", ["Pneu"]].total
    24
    """
    if isinstance(source, Table):
        return source.tally(families, threads=threads)
    checked_threads(threads)
    if isinstance(source, Stream):
        return source.tally(families, threads=threads)
    if isinstance(source, Source):
        return source.tally(families)
    return read(source).tally(families, threads=threads)


# --- the parts of reading -----------------------------------------------------------------


def feed_of(x: Any, options: TextOptions, columns: Sequence[str] | None) -> Feed:
    """The feed of anything; what an engine says against it is told in our words."""
    try:
        return feed_of_path(x, options) if is_path(x) else feed_of_frame(x, columns)
    except CredoError:
        raise
    except Exception as error:
        raise foreign(f"A table of type {type(x).__name__}", error) from error


def wanted_of(schema: Any, names: Sequence[str]) -> dict[str, Any]:
    """The user's word for each column: 'discrete', 'continuous', 'drop' or a Variable."""
    if schema is None:
        return {}
    if isinstance(schema, Schema):
        for variable in schema.variables:
            if variable.name not in names:
                raise unknown_name("Column", variable.name, names, "in the table")
        known = {v.name: v for v in schema.variables}
        return {n: known.get(n, "drop") for n in names}
    if not isinstance(schema, Mapping):
        raise InputError(f"schema must be a mapping or a Schema, got {type(schema).__name__}.")
    out: dict[str, Any] = {}
    for name, word in schema.items():
        if name not in names:
            raise _unknown_column(name, word, names)
        if isinstance(word, Variable):
            out[name] = replace(word, name=name)  # that of another column may be lent
        elif isinstance(word, Written):
            out[name] = word
        elif word is None:
            out[name] = "drop"
        elif isinstance(word, str):
            if word not in _KINDS:
                said = _SAID.get(word.casefold())
                near = [said] if said else close_names(word, _KINDS)
                raise SchemaError(
                    f"The kind of {name!r} must be 'discrete', 'continuous', 'drop' or a list "
                    f"of states, got {word!r}.",
                    hint=f"Did you mean {near[0]!r}?" if near else "",
                )
            out[name] = word
        else:
            try:
                states = word if isinstance(word, (set, frozenset)) else tuple(map(_own, word))
                out[name] = Variable(name, "discrete", states, ordered=True)  # type: ignore[arg-type]
            except TypeError:
                raise SchemaError(f"The states of {name!r} must be a list, got {word!r}.") from None
    return out


def _without_scales(schema: Any) -> tuple[Any, dict[str, Any]]:
    """The schema with its numbers as they are, and the scales that the rows are to get."""
    if isinstance(schema, Schema):
        return schema.unscaled, schema.scales
    if not isinstance(schema, Mapping):
        return schema, {}
    scales = {n: v.scale for n, v in schema.items() if isinstance(v, Variable) and v.scale}
    return {n: "continuous" if n in scales else v for n, v in schema.items()}, scales


def _own(state: Any) -> Any:
    """A state of an array as Python has it: 'a', not np.str_('a')."""
    return state.item() if isinstance(state, (np.number, np.bool_, np.str_, np.bytes_)) else state


def _unknown_column(name: Any, word: Any, names: Sequence[str]) -> CredoError:
    """The error for a column that is not there; several in one text are told apart."""
    parts = [p.strip() for p in name.split(",")] if isinstance(name, str) else []
    of_kind = word is None or (isinstance(word, str) and word in _KINDS)
    if len(parts) > 1 and all(p in names for p in parts) and of_kind:
        each = ", ".join(f"{p!r}: {word or 'drop'!r}" for p in parts)
        return UnknownNameError(
            f"Column {name!r} is not in the table; {len(parts)} of its columns are named so.",
            hint=f"Name each by itself: schema={{{each}}}.",
        )
    return unknown_name("Column", name, names, "in the table")


def _kind(word: Any, declared: Declared | None) -> str | None:
    """What is known of a column before its cells are looked at."""
    if isinstance(word, Written):
        return "discrete"
    if word is None:
        return None if declared is None or declared.aside is not None else "declared"
    kind: str = word.kind if isinstance(word, Variable) else word
    return kind


def named_states(word: Any) -> Sequence[Any]:
    """The states that the user's word for a column names."""
    if isinstance(word, Written):
        return word.texts
    return word.states if isinstance(word, Variable) else ()


def warn_doubtful(decisions: Sequence[Decision]) -> None:
    """Say which columns were set aside because of cells that are in doubt."""
    for decision in decisions:
        if decision.column.kind == "doubtful":
            warnings.warn(
                f"Column {decision.column.name!r} was set aside: {decision.column.reason}.",
                CredoWarning,
                stacklevel=3,
            )


def _without_tokens(declared: Declared | None, tokens: Tokens) -> Declared | None:
    """The states a table declares, less those that stand for missing."""
    if declared is None or not declared.states:
        return declared
    states = tuple(s for s in declared.states if s not in tokens)
    return replace(declared, states=states) if states else None


def _boolean_note(
    feed: Feed, columns: Mapping[str, Any], decisions: Sequence[Decision]
) -> tuple[str, ...]:
    """How to keep the words of a text file that became booleans."""
    names = [d.column.name for d in decisions if d.column.reason == "booleans"]
    if not feed.text or not names:
        return ()
    words = sorted({word.strip() for word in columns[names[0]].values})
    return (
        f"{shortened(names)}: {' and '.join(words)} are booleans in a text file, not in a frame of "
        f"texts; schema={{{names[0]!r}: {words}}} keeps texts",
    )


def _no_column(label: str, columns: Sequence[Column], rows: int) -> NoColumnError:
    kinds = {c.kind for c in columns}
    reasons = "; ".join(f"{c.name!r} ({c.reason})" for c in columns[:5])
    text = f"No column of {label} can be used: {reasons}."
    hint = "Name the kinds in schema= to use them."
    if kinds == {"empty"}:
        text, hint = f"Every cell of {label} is missing.", ""
    elif kinds == {"unsupported"}:
        hint = "Cells must be single values."
        if rows == 1 and label.endswith((".json", ".jsonl")):
            hint = "If each key has a column, give cr.read the dict that json.load makes of it."
    return NoColumnError(text, hint=hint, aside={c.name: c.reason for c in columns}, rows=rows)


def decided(
    feed: Feed,
    columns: Mapping[str, Any],
    wanted: Mapping[str, Any],
    schema: Any,
    rows: int,
    weighting: Weights,
    tokens: Tokens,
) -> tuple[list[Decision], Schema]:
    """Every column decided, and the schema of those that became variables."""
    decisions = []
    for name in feed.names:
        if name == weighting.column:
            column = Column(name, "weights", "the weights of the rows", rows=rows)
            decisions.append(Decision(column, None))
        elif name not in columns:
            column = Column(name, "dropped", "dropped by the schema", rows=rows)
            decisions.append(Decision(column, None))
        else:
            declared = _without_tokens(feed.declared.get(name), tokens)
            decisions.append(decide(columns[name].profile(), wanted.get(name), declared))
    found = {d.variable.name: d.variable for d in decisions if d.variable is not None}
    if not found:
        raise _no_column(feed.label, [d.column for d in decisions], rows)
    if isinstance(schema, Schema):
        found = {v.name: v for v in schema.variables}
    notes = (*feed.notes, *feed.late_notes(), *_boolean_note(feed, columns, decisions))
    if rows == 1:
        notes = (*notes, "the table has one row: what it shows of each column is a guess")
    return decisions, Schema(
        tuple(found.values()), tuple(d.column for d in decisions), feed.label, notes
    )
