"""`credo cluster`: groups of similar rows, what they are, and how good the grouping is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from credo.cli.models import refuse_no_folder
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.reading import read_from, reading_options
from credo.cli.terminal import heading, print_table
from credo.cli.words import in_options
from credo.core.errors import InputError

__all__ = ["command"]


@click.command("cluster", cls=Manual)
@reading_options
@option("--method", default="auto", metavar="NAME", help="k-means, single, complete, average, "
        "ward, spectral, gaussian or latent-class; auto is latent-class where numbers stand "
        "beside states, else k-means.")  # fmt: skip
@option("-k", "--k", "k", default="auto", metavar="N", help="Clusters, or auto.")
@option("--by", metavar="NAME", help="How auto chooses: silhouette, gap, height, bic, …")
@option("--k-max", default=10, help="The most clusters that auto tries.")
@option("--height", type=float, help="Cut a tree at this height instead of by --k.")
@option("--aside", multiple=True, metavar="NAME", help="A column to describe only.")
@option("--column", "columns", multiple=True, metavar="NAME", help="Cluster by this column.")
@option("--distance", default="auto", help="euclidean, gower or auto.")
@option("--scale", default="auto", help="sd, range, none or auto.")
@option("--set", "settings", multiple=True, metavar="NAME=VALUE",
        help="An option of the method, e.g. restarts=20, neighbours=15, "
        "covariance=tied.")  # fmt: skip
@option("--stability", default=0, metavar="N", help="Repeat on N resamples and compare.")
@option("-o", "--output", metavar="FILE", help="Write row and cluster as CSV.")
@option("--picture", metavar="FILE", help="Draw the rows on two axes (.png, .svg, .pdf).")
@common_options(seed="For every draw.")
def command(
    method: str,
    k: str,
    by: str | None,
    k_max: int,
    height: float | None,
    aside: tuple[str, ...],
    columns: tuple[str, ...],
    distance: str,
    scale: str,
    settings: tuple[str, ...],
    stability: int,
    output: str | None,
    picture: str | None,
    common: Common,
    **reading: Any,
) -> None:
    """Find groups of similar rows in a table.

    Each group is told by the columns that set it apart, in bits. TABLE is anything
    `credo schema` reads; mixed kinds and missing cells are welcome.

    \b
    Examples:
      credo cluster survey.csv --aside lung --drop name
      credo cluster survey.csv --drop name --method ward --k 3 -o labels.csv
      credo cluster patients.csv --drop name --method latent-class --k 2 --json
    """
    from credo.train.clusters.clustering import cluster

    _checked_paths(output, picture)
    table = read_from(**reading)
    groups = cluster(
        table,
        method,
        _count(k),
        rng=common.seed,
        by=by,
        k_max=k_max,
        height=height,
        aside=aside,
        columns=columns or None,
        distance=distance,
        scale=scale,
        stability=stability,
        memory=reading.get("memory"),
        **_settings(settings),
    )
    if output is not None:
        _write(groups, output)
    if picture is not None:
        _draw(groups, picture)
    if common.as_json:
        common.emit("cluster", _json(groups, output))
        return
    if common.quiet:
        print_table(_HEAD, groups._size_rows(), right=[0, 1, 2])
        if groups.stability is not None:  # it was asked for
            click.echo(f"stability: {groups.stability}")
    else:
        _print(groups)
    for path in (output, picture):
        if path is not None:
            common.say(f"wrote {path}")


_HEAD = ["cluster", "size", "share", "", "most telling"]


def _checked_paths(output: str | None, picture: str | None) -> None:
    """Refuse, before anything is worked out, what cannot be written in the end."""
    for name, path in (("-o", output), ("--picture", picture)):
        if path is not None and path.strip() in ("", "-"):
            raise InputError(f"{name} needs the name of a file, got {path!r}.")
        if path is not None:
            refuse_no_folder(path)
    if output is not None and Path(output).suffix.lower() not in ("", ".csv", ".txt"):
        raise InputError(
            f"Labels are written as CSV, and {Path(output).name!r} has another ending.",
            hint="Give -o a name that ends in .csv.",
        )
    if picture is not None:
        from matplotlib.backend_bases import FigureCanvasBase

        if Path(picture).suffix.lower()[1:] not in FigureCanvasBase.get_supported_filetypes():
            raise InputError(
                f"A picture cannot be written as {Path(picture).name!r}.",
                hint="Give --picture a name that ends in .png, .svg or .pdf.",
            )


def _count(k: str) -> int | str:
    if k == "auto":
        return k
    try:
        return int(k)
    except ValueError:
        raise InputError(f"--k must be a whole number or auto, got {k!r}.") from None


_OWN = {
    "method": "method", "k": "k", "rng": "seed", "by": "by", "k_max": "k-max", "height": "height",
    "aside": "aside", "columns": "column", "distance": "distance", "scale": "scale",
    "stability": "stability", "memory": "memory", "weights": "weights", "schema": "kind",
    "table": "", "graph": "",
}  # fmt: skip


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for pair in given:
        name, equals, text = pair.partition("=")
        if not equals or not name.isidentifier() or not text:
            raise InputError(f"--set must have the form NAME=VALUE, got {pair!r}.")
        if name in _OWN:
            raise InputError(
                f"{name!r} is not an option of a method, as --set takes them.",
                hint=f"Use --{_OWN[name]}." if _OWN[name] else "It is for Python.",
            )
        out[name] = {"true": True, "false": False}.get(text.casefold(), text)
        if name == "counts":
            out[name] = tuple(part.strip() for part in text.split(","))
            continue
        for kind in (float, int):
            try:
                out[name] = kind(text)
            except ValueError:
                continue
    return out


def _print(groups: Any) -> None:
    heading(groups.title)
    print_table(_HEAD, groups._size_rows(), right=[0, 1, 2])
    found = groups.record.details.get("candidates")
    if found is not None:
        heading("which k?")
        view = found._view()
        print_table(view.head, view.rows, view.right)
    heading("what sets them apart")
    profiles = groups.profiles
    print_table(["cluster", "column", "bits", "", "inside", "whole"], profiles._rows(5), [0, 2])
    line = groups._quality_line()
    if line:
        click.echo(f"quality: {line}")
    if groups.stability is not None:
        click.echo(f"stability: {groups.stability}")
    if groups.record.reason:
        click.echo(f"stopped: {groups.record.reason}")
    for note in _notes(groups):
        click.echo(f"noticed: {note}")


def _notes(groups: Any) -> list[str]:
    """What was noticed, in the words of the command line."""
    return [in_options(note) for note in groups.notes]


def _write(groups: Any, path: str) -> None:
    from credo.data.out.atomic import replace_file

    head = ["row", "cluster"]
    if groups.membership is not None:
        head += [f"p{c}" for c in range(groups.k)]
    lines = [",".join(head)]
    numbers = groups.row_numbers
    for i, label in enumerate(groups.labels.tolist()):
        p = [] if groups.membership is None else [repr(float(v)) for v in groups.membership[i]]
        lines.append(",".join([str(numbers[i]), str(label), *p]))
    replace_file(Path(path), ("\n".join(lines) + "\n").encode())


def _draw(groups: Any, path: str) -> None:
    from credo.plot.axes import axes

    ax = axes()
    groups.plot(ax)
    ax.figure.savefig(path)


def _json(groups: Any, output: str | None) -> dict[str, Any]:
    found = groups.record.details.get("candidates")
    out: dict[str, Any] = {
        "method": groups.method,
        "k": groups.k,
        "sizes": list(groups.sizes),
        "columns": list(groups.columns),
        "quality": dict(groups.quality),
        "profiles": [
            [{"column": t.column, "bits": t.bits, "inside": _named(t.inside)} for t in cluster]
            for cluster in groups.profiles
        ],
        "rows": list(map(int, groups.row_numbers)),
        "labels": groups.labels.tolist(),
        "membership": None if groups.membership is None else groups.membership.tolist(),
        "seed": groups.record.seed,
        "reason": groups.record.reason,
        "notes": _notes(groups),
        "seconds": groups.record.seconds,
        "output": output,
    }
    if found is not None:
        out["candidates"] = {"by": found.by, "k": {str(k): dict(r) for k, r in found.rows.items()}}
    if groups.stability is not None:
        out["stability"] = {"mean": groups.stability.mean, "sd": groups.stability.sd}
    return out


def _named(shares: dict[Any, float]) -> dict[str, float]:
    return {str(s): p for s, p in shares.items()}
