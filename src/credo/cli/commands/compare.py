"""`credo compare`: two models or more, edge by edge and on rows."""

from __future__ import annotations

import os
from typing import Any

import click

from credo.cli.models import load_model, normalise_option
from credo.cli.options import Common, Manual, common_options, files, option
from credo.cli.reading import spooled
from credo.cli.rules import names_of
from credo.cli.terminal import heading, print_view

__all__ = ["command"]


@click.command("compare", cls=Manual)
@click.argument("models", nargs=-1, required=True, metavar="A B …", shell_complete=files)
@option("--data", metavar="TABLE", help="Rows to compare the models on.")
@option("--weights", metavar="NAME", help="The column with the rows' weights.")
@option("--set", "sets", multiple=True, metavar="A,B", help="Variables that an experiment set "
        "together: the distance is that of the classes it leaves. By default what the networks' "
        "own rows had set.")  # fmt: skip
@option("--folds", type=int, default=10, help="Parts of the rows, for what is learned from them.")
@normalise_option
@common_options(seed="For the folds.")
def command(
    models: tuple[str, ...],
    data: str | None,
    weights: str | None,
    sets: tuple[str, ...],
    folds: int,
    common: Common,
) -> None:
    """Compare models: their graphs edge by edge, and how probable each finds the same rows.

    A and B are network files, or graphs as text such as '[A][B|A]'. The first is taken as the
    reference: 'missing' edges are those that the other lacks. With --data, the mean ln P of a row
    under each, and the paired differences with their standard error.

    \b
    Examples:
      credo compare asia.bif patients.credo
      credo compare asia.bif patients.credo --data patients.csv
      credo compare '[smoke][lung|smoke]' '[smoke][lung]' --data patients.csv --json
    """
    from credo.checking.questions.comparing import compare_models
    from credo.model.graphs.dag import Dag

    named: dict[str, Any] = {}
    for given in models:
        text = "[" in given and not os.path.exists(given)
        name = given if text else os.path.basename(given)
        while name in named:
            name += "'"
        named[name] = Dag.parse(given) if text else load_model(given)
    if data == "-":
        data = str(spooled())
    known = [names_of(one) for one in sets] or None
    found = compare_models(named, data, folds, common.seed, weights, known)
    if common.as_json:
        common.emit("compare", found.to_dict())
        return
    for finding in found.findings():
        click.echo(f"{finding.sentence} {finding.advice}".rstrip())
        click.echo()
    view = found._view()
    print_view(view)
    for note in view.note.split("; "):
        if note:
            click.echo(note)
    for (a, b), graph in found.graphs.items():
        click.echo()
        heading(f"{a} → {b}, edge by edge")
        click.echo(str(graph))
