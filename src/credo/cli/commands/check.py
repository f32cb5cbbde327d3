"""`credo check`: what a model gets right and wrong on a table, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from credo.cli.costs import FORM, costs_by_state, read_costs
from credo.cli.models import load_model, model_argument, read_for
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.reading import reading_options
from credo.cli.terminal import heading, print_view, wrapped
from credo.cli.words import in_options
from credo.core.errors import InputError

__all__ = ["command", "print_findings", "print_report", "print_sentences"]

_COLOURS = {"problem": "red", "warning": "yellow", "note": "blue", "good": "green"}
_MARKS = {"problem": "✗", "warning": "!", "note": "·", "good": "✓"}


@click.command("check", cls=Manual)
@model_argument
@reading_options
@option("--learner", metavar="SEARCH", help="Learn again in folds by this search.")
@option("--folds", type=int, help="Parts of the rows.  [default: 5; 3 for over 200 variables]")
@option("--draws", type=int, help="Generated tables.  [default: 200; 30 for over 200 variables]")
@option("--rows", "most", type=int, default=10000, help="The most rows for generated tables and "
        "calibration.")  # fmt: skip
@option("--edges", type=int, help="Resamples for the stability of edges; 0 for none.")
@option("--level", type=float, default=0.05, help="The chance of a false alarm in each section.")
@option("--section", "sections", multiple=True, metavar="NAME", help="Only this section.")
@option("--seen/--not-seen", default=None, help="Whether the model was learned from the rows.")
@option("--seconds", "--budget", "seconds", type=float, default=60.0, metavar="SECONDS",
        help="For all of it, a third of that for searching the graph again; a section that is "
        "late is left out, and named.")  # fmt: skip
@option("--costs", multiple=True, metavar="NAME=COSTS", help="What it costs to call one state of "
        "NAME another, CLASS:CALLED=COST, … or a CSV file of them: tells what decisions by the "
        "model cost.")  # fmt: skip
@option("--brief", is_flag=True, help="The findings alone.")
@common_options(seed="For folds and draws.")
def command(
    model: str,
    learner: str | None,
    folds: int | None,
    draws: int | None,
    most: int,
    edges: int | None,
    level: float,
    sections: tuple[str, ...],
    seen: bool | None,
    seconds: float,
    costs: tuple[str, ...],
    brief: bool,
    common: Common,
    **reading: Any,
) -> None:
    """Check a model on a table: held-out likelihood, generated data, calibration, outliers.

    Findings come first, worst first, each with a number and what to do; then a table for each
    section: held_out, predictive, calibration, independence, edges, parameters, influence,
    outliers, and costs with --costs. Rows the model was learned from are recognised by its counts:
    they judge a model learned without them, its graph included where it was searched for.

    \b
    Examples:
      credo check patients.credo patients.csv
      credo check asia.bif patients.csv --section calibration --section outliers
      credo check patients.credo patients.csv --learner hill-climb --folds 3 --draws 50 --json
      credo check asia.bif patients.csv --costs "lung=yes:no=9, no:yes=1" --section costs
    """
    from credo.checking import check

    if seconds <= 0:
        raise InputError(f"--seconds must be a number above 0, got {seconds:g}.")
    prices = {name: read_costs(text) for name, text in map(_named, costs)}
    net = load_model(model)
    given = {name: costs_by_state(c, net.variable(name).states) for name, c in prices.items()}
    table = read_for(net, reading)
    wanted = [*sections, "costs"] if costs and sections and "costs" not in sections else sections
    report = check(
        net, table, learner=learner, folds=folds, draws=draws, rows=most, edges=edges,
        level=level, sections=list(wanted) or None, seconds=seconds, rng=common.seed,
        held_out=None if seen is None else not seen, costs=given or None,
    )  # fmt: skip
    if common.as_json:
        common.emit("check", {**report.to_dict(), "model": model})
        return
    print_report(report, brief=brief or common.quiet)


def _named(given: str) -> tuple[str, str]:
    name, equals, text = given.partition("=")
    if not equals or not name.strip() or not text.strip():
        raise InputError(
            f"--costs must have the form NAME={FORM} or NAME=FILE, got {given!r}.",
            hint='For example --costs "lung=yes:no=9, no:yes=1".',
        )
    return name.strip(), text.strip()


def print_findings(findings: Sequence[Any]) -> None:
    """Findings, worst first, a mark before each, with what to do; those alike are told once."""
    from credo.checking.findings import alike

    for group in alike(findings):
        _print(group.first.severity, f"{group.sentence} {group.first.advice}".rstrip())


def print_sentences(findings: Sequence[Any], most: int) -> None:
    """The worst findings without what to do, and how many more there are."""
    from credo.checking.findings import alike

    groups = alike(findings)
    for group in groups[:most]:
        _print(group.first.severity, group.sentence)
    if len(groups) > most:
        click.echo(f"  … {len(groups) - most} more kinds of finding")


def _print(severity: str, text: str) -> None:
    mark = f"{_MARKS[severity]} "
    lines = wrapped(mark + in_options(text), 98, "  ")
    click.secho(mark, fg=_COLOURS[severity], bold=True, nl=False)
    click.echo(lines.removeprefix(mark))


def print_report(report: Any, *, brief: bool = False) -> None:
    """The findings, then each section as a table; colours on a terminal."""
    heading(report.title)
    click.echo(report.how)
    click.echo()
    print_findings(report.findings)
    click.echo()
    if brief:
        return
    for section in report.sections.values():
        view = section._view()
        print_view(view)
        if view.note:
            click.echo(wrapped(view.note, 100, ""))
        click.echo()
    for name, why in report.left_out.items():
        click.echo(f"{name.replace('_', ' ')}: left out ({why})")
    for note in report.notes:
        click.echo(note)
