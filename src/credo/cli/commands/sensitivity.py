"""`credo sensitivity`: how far a parameter must move to change an answer."""

from __future__ import annotations

import click

from credo.cli.models import load_model, model_argument
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.terminal import print_view

__all__ = ["command"]


@click.command("sensitivity", cls=Manual)
@model_argument
@click.argument("question")
@option("--threshold", type=float, metavar="P", help="The probability that would change what is "
        "done (by default 0.5).")  # fmt: skip
@option("--level", type=float, default=0.95, help="Parameters range over this credible interval.")
@common_options()
def command(
    model: str, question: str, threshold: float | None, level: float, common: Common
) -> None:
    """Tell how far each parameter must move to change an answer.

    QUESTION asks for the probability of an event, such as 'P(lung=yes | smoke=yes)'. Parameters
    that move it most come first, with the value at which the answer would reach the threshold.

    \b
    Examples:
      credo sensitivity asia.bif "P(lung=yes | xray=yes)" --threshold 0.5
      credo sensitivity patients.credo "P(lung=yes | smoke=yes)" --json
    """

    found = load_model(model).sensitivity(question, threshold=threshold, level=level)
    if common.as_json:
        common.emit("sensitivity", {"model": model, **found.to_dict()})
        return
    view = found._view()
    print_view(view)
    click.echo(view.note)
