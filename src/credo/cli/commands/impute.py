"""`credo impute`: the gaps of a table, filled by a network."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from credo.cli.models import load_model, model_argument, read_for, refuse_no_folder
from credo.cli.options import Common, Manual, common_options, listed, option
from credo.cli.reading import reading_options, text_options
from credo.core.errors import InputError
from credo.core.render import many
from credo.core.state_values import json_state, readable

__all__ = ["WholeRows", "command", "holes_of"]


@click.command("impute", cls=Manual)
@model_argument
@reading_options
@option("-o", "--output", metavar="FILE", help="Where to write: .csv, .tsv, .jsonl, .parquet.")
@option("--method", choices=["mode", "sample", "posterior"], default="mode",
        help="Most probable, drawn, or what is known of each gap.")  # fmt: skip
@option("--copies", type=int, metavar="M", help="Fill M copies by drawing: FILE-1, FILE-2, …")
@common_options(seed="For drawing.")
def command(
    model: str,
    output: str | None,
    method: str,
    copies: int | None,
    common: Common,
    **reading: Any,
) -> None:
    """Fill the gaps of TABLE with a network.

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .dne .uai .credo, also .gz), or - for
    standard input. Each gap is filled from what the rest of its row says; several drawn copies keep
    the uncertainty for a later analysis. The file keeps all columns of TABLE in their order; those
    that the network does not have stay as they are.

    \b
    Examples:
      credo impute asia.bif gaps.csv -o filled.csv
      credo impute asia.bif gaps.csv --method posterior
      credo impute asia.bif gaps.csv --method sample --copies 5 --seed 1 -o filled.csv
    """
    from credo.core.errors import InputError
    from credo.predict.rows.rows import read_rows

    if copies is not None and output is None:
        raise InputError("--copies needs --output, where the copies go.")
    if method == "posterior" and output is not None:
        raise InputError("--method posterior prints what is known of each gap; leave -o out.")
    if output is not None:
        form_of(output)
        refuse_no_folder(output)
    net = load_model(model)
    table: Any = read_for(net, reading)
    options: dict[str, Any] = {"rng": common.seed}
    if copies is not None:
        method = "sample"
        options["copies"] = copies
    found = net.impute(table, method, **options)
    if method == "posterior":
        if common.as_json:
            common.emit("impute", {"model": model, "gaps": _posteriors(found, table)})
        else:
            click.echo(_told(found, table))
        return
    tables = found if isinstance(found, list) else [found]
    holes = holes_of(read_rows(net, table))
    filled = {n: int(gone.sum()) for n, gone in holes.items() if n in tables[0].schema}
    whole = None if output is None and not common.as_json else WholeRows(reading, table)
    files = []
    if output is not None and whole is not None:
        for k, one in enumerate(tables):
            name = output if copies is None else _numbered(output, k + 1)
            write_columns(whole.filled(one, holes, form_of(output)), name)
            files.append(name)
    if common.as_json:
        document: dict[str, Any] = {"model": model, "rows": len(tables[0])}
        document |= {"filled": filled, "files": files}
        if output is None and whole is not None:
            columns = whole.filled(tables[0], holes, "jsonl")
            cells = zip(*(c.to_pylist() for c in columns.values()), strict=True)
            document["table"] = [dict(zip(columns, row, strict=True)) for row in cells]
        common.emit("impute", document)
        return
    if output is None:
        click.echo(str(tables[0]))
    where = f"; written to {', '.join(files)}" if files else ""
    common.say(
        f"{many(sum(filled.values()), 'gap')} filled in {many(len(filled), 'column')} "
        f"of {many(len(tables[0]), 'row')}{where}"
    )
    if whole is not None and whole.others(net):
        common.say(f"Kept as they are, since the model does not have them: "
                   f"{listed(whole.others(net), 12)}.")  # fmt: skip


def _numbering(table: Any) -> Callable[[int], int]:
    """The number of a row in the source, from 1: rows of weight 0 count too."""
    numbers = getattr(table, "numbers", None)
    return numbers.of if numbers is not None else lambda row: row + 1


def _told(found: Any, table: Any) -> str:
    """The posterior of each gap, for people."""
    from credo.core.render import table_text

    head, rows = found._table()
    number = _numbering(table)
    rows = [[str(number(int(row[0]))), *row[1:]] for row in rows]
    more = len(found) - len(rows)
    left = f"\n… {more:,} more gaps" if more else ""
    return table_text(["row", *head[1:]], rows, right=[0, 3]) + left


def _posteriors(found: Any, table: Any) -> list[dict[str, Any]]:
    gaps = []
    number = _numbering(table)
    for row, name in found:
        posterior = found[row, name]
        item: dict[str, Any] = {"row": number(row), "variable": name}
        if not found.table.schema[name].is_numeric:
            item["distribution"] = {readable(s): p for s, p in posterior.items()}
        else:
            item["mean"], item["variance"] = posterior.mean, posterior.variance
        gaps.append(item)
    return gaps


def _numbered(path: str, k: int) -> str:
    stem, dot, ending = path.rpartition(".")
    return f"{stem}-{k}.{ending}" if dot else f"{path}-{k}"


# --- A filled table beside the columns that the model does not have: the file as it was
# Columns keep their place and order. In a text file that becomes a text file only the filled cells
# change; elsewhere the columns of the model have the model's values.

_TEXT = ("csv", "tsv")


def holes_of(table: Any) -> dict[str, NDArray[np.bool_]]:
    """Where cells are missing, for each column that has such cells."""
    out = {}
    for v, array in zip(table.schema.variables, table.block.arrays, strict=True):
        gone = array == v.arity if v.is_discrete else np.isnan(array)
        if gone.any():
            out[v.name] = gone
    return out


class WholeRows:
    """All columns of the file that a table was read from, row by row as the table has them."""

    def __init__(self, reading: dict[str, Any], table: Any) -> None:
        import pyarrow as pa

        from credo.data.sources.files import feed_of_path

        feed = feed_of_path(reading["table"], text_options(reading))
        self.names, self.text = feed.names, feed.text
        parts: dict[str, list[Any]] = {n: [] for n in feed.names}
        for batch in feed.batches(feed.names):
            for name, column in batch.items():
                parts[name].append(_arrow(column))
        columns = {n: pa.chunked_array(_alike(p)) for n, p in parts.items()}
        numbers = getattr(table, "numbers", None)
        if numbers is not None and numbers.left_out:
            kept = pa.array([numbers.of(i) - 1 for i in range(len(table))])
            columns = {n: c.take(kept) for n, c in columns.items()}
        self.columns = columns
        self.rows = len(next(iter(columns.values())))

    def others(self, net: Any) -> list[str]:
        """The columns that the model does not have."""
        return [n for n in self.names if n not in net.schema]

    def filled(self, table: Any, holes: dict[str, NDArray[np.bool_]], form: str) -> dict[str, Any]:
        """Every column, with the gaps of the model's columns filled, for a file of some form."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.rows != len(table):
            raise InputError(
                f"The file has {self.rows:,} rows now, and had {len(table):,} when it was read.",
                hint="Fill it again when nothing writes to it.",
            )
        typed = table.to("arrow")
        as_text = self.text and form in _TEXT
        out: dict[str, Any] = {}
        for name in self.names:
            raw = self.columns[name]
            if name not in table.schema:
                empty = self.text and not as_text
                out[name] = pc.if_else(pc.equal(raw, ""), None, raw) if empty else raw
            elif as_text and name in holes:
                new = pa.array([_text(x) for x in typed[name].to_pylist()], pa.string())
                out[name] = pc.if_else(pa.array(holes[name]), new, raw.combine_chunks())
            elif name in holes or (self.text and not as_text):
                out[name] = typed[name]
            else:
                out[name] = raw
        return out


def write_columns(columns: dict[str, Any], path: str) -> None:
    """Columns as a file of rows, replaced whole; the ending says the form."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from credo.data.out.atomic import replacing

    form = form_of(path)
    with replacing(Path(path)) as out:
        if form == "parquet":
            pq.write_table(pa.table(columns), out, compression="zstd")
        elif form == "arrow":
            table = pa.table(columns)
            with pa.ipc.new_file(out, table.schema) as writer:
                writer.write_table(table)
        else:
            for some in _lines(columns, form):
                out.write(some.encode())


def form_of(path: str) -> str:
    """The form of a file of rows; .json is taken as lines."""
    from credo.data.out.writing import row_form

    return "jsonl" if path.lower().endswith(".json") else row_form(path)


def _lines(columns: dict[str, Any], form: str) -> Iterator[str]:
    names = list(columns)
    for first in range(0, len(next(iter(columns.values()))), 1 << 14):
        part = [c.slice(first, 1 << 14).to_pylist() for c in columns.values()]
        text = io.StringIO()
        if form == "jsonl":
            for cells in zip(*part, strict=True):
                row = dict(zip(names, cells, strict=True))
                text.write(json.dumps(row, ensure_ascii=False, default=json_state) + "\n")
        else:
            writer = csv.writer(text, delimiter="\t" if form == "tsv" else ",", lineterminator="\n")
            if not first:
                writer.writerow(names)
            writer.writerows([_text(x) for x in cells] for cells in zip(*part, strict=True))
        yield text.getvalue()


def _text(value: Any) -> str:
    """A cell as a text file has it: the shortest text of a number.

    >>> _text(22.0), _text(0.1), _text(None), _text("a")
    ('22', '0.1', '', 'a')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return readable(value)


def _arrow(column: Any) -> Any:
    """A column of a feed as an Arrow array of its values."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.DictionaryArray):
        return column.dictionary_decode()
    if isinstance(column, pa.Array):
        return column
    values = np.asarray(column).tolist()
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if x is None else str(x) for x in values])


def _alike(parts: Sequence[Any]) -> list[Any]:
    """The parts of a column with one type."""
    import pyarrow as pa

    kinds = {p.type for p in parts if not pa.types.is_null(p.type)}
    if len(kinds) < 2:
        kind = kinds.pop() if kinds else pa.null()
    else:
        numbers = all(pa.types.is_integer(k) or pa.types.is_floating(k) for k in kinds)
        kind = pa.float64() if numbers else pa.string()
    return [p if p.type == kind else p.cast(kind) for p in parts]
