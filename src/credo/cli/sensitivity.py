"""`credo sensitivity`: how far a parameter must move to change an answer."""

from __future__ import annotations

import json

import click

from credo.cli.terminal import heading, print_table

__all__ = ["command"]


@click.command("sensitivity")
@click.argument("model")
@click.argument("question")
@click.option("--threshold", type=float, metavar="P",
              help="The probability that would change what is done (by default 0.5).")  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True,
              help="Parameters range over this credible interval.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(
    model: str, question: str, threshold: float | None, level: float, as_json: bool
) -> None:
    """How far must each parameter move to change an answer?

    QUESTION asks for the probability of an event, such as 'P(lung=yes | smoke=yes)'. Parameters
    that move it most come first, with the value at which the answer would reach the threshold.

    \b
    Examples:
      credo sensitivity asia.bif "P(lung=yes | xray=yes)" --threshold 0.5
      credo sensitivity fitted.credo "P(lung=yes | smoke=yes)" --json
    """
    from credo.formats import load

    found = load(model).sensitivity(question, threshold=threshold, level=level)
    if as_json:
        document = {"version": 1, "model": model, **found.to_dict()}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))
        return
    view = found._view()
    heading(view.title)
    print_table(view.head, [[str(c) for c in row] for row in view.rows], view.right)
    click.echo(view.note)
