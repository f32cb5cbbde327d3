"""`credo identify`: whether an effect can be known from a graph, by which formula, or why not."""

from __future__ import annotations

import click

from credo.cli.models import causal_graph_from, normalise_option
from credo.cli.options import Common, Manual, common_options, files, option
from credo.core.errors import InputError

__all__ = ["command"]


@click.command("identify", cls=Manual)
@click.argument("graph", shell_complete=files)
@click.argument("question")
@option("--by", type=click.Choice(["auto", "adjustment", "id"]), default="auto",
        help="An adjustment where there is one, that alone, or the ID algorithm.")  # fmt: skip
@option("--latex", is_flag=True, help="Print the formula in LaTeX.")
@normalise_option
@common_options()
def command(graph: str, question: str, by: str, latex: bool, common: Common) -> None:
    """Say whether an effect can be computed from what is observed, and by which formula.

    GRAPH is text such as '[X][M|X][Y|M] X<->Y' (X and Y have a hidden common cause), a file of
    DAGitty or DOT, a network file, or a class of graphs that 'credo causes' wrote, whose members
    must agree. QUESTION is text such as 'P(Y | do(X))'. Where there is no formula the hedge is
    named: the part of the graph that leaves the effect open.

    \b
    Examples:
      credo identify '[X][M|X][Y|M] X<->Y' 'P(Y | do(X))'
      credo identify '[Z][X|Z][Y|X:Z]' 'P(Y | do(X))' --latex
      credo identify asia.bif 'P(lung | do(smoke))' --json
    """
    from credo.model.causal.pag import Pag
    from credo.predict.causal.questions import read

    whole = causal_graph_from(graph)
    if isinstance(whole, Pag):
        asked = read(whole, question)
        one = len(asked.of) == len(asked.set) == 1 and not asked.given
        if not one or by == "id":
            raise InputError(
                "Of a class of graphs one effect is asked, P(Y | do(X)), without --by id."
            )
        found = whole.effect(asked.set[0], asked.of[0])
        sets = list(whole.adjustment_sets(asked.set[0], asked.of[0])) if found.identified else []
        doors, tools = [], []
    else:
        found = whole.identify(question, by=by)
        asked = found.question
        one = len(asked.of) == len(asked.set) == 1 and not asked.given
        sets = list(whole.adjustment_sets(asked.set, asked.of)) if one else []
        doors = list(whole.front_door(asked.set[0], asked.of[0])) if one else []
        tools = list(whole.instruments(asked.set[0], asked.of[0])) if one else []
    if common.as_json:
        document = {
            "graph": str(whole),
            "question": str(asked),
            "identified": found.identified,
            "formula": str(found.formula) if found.identified else None,
            "latex": found.latex if found.identified else None,
            "reason": found.reason,
            "adjustment": None if found.adjustment is None else list(found.adjustment),
            "hedge": None if found.hedge is None
            else [list(found.hedge.larger), list(found.hedge.smaller)],
            "adjustment_sets": [list(s) for s in sets],
            "front_doors": [list(s) for s in doors],
            "instruments": [{"name": i.name, "given": list(i.given)} for i in tools],
        }  # fmt: skip
        common.emit("identify", document)
        return
    if latex or common.quiet:
        click.echo(found.latex if latex else found.formula)
        return
    common.say(found)
    for title, items in (("sets to adjust for", sets), ("front doors", doors)):
        if items:
            common.heading(title)
            for item in items:
                common.say(f"  {item}")
    if tools:
        common.heading("instruments")
        for tool in tools:
            common.say(f"  {tool}")
