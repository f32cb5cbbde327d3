"""`credo learn`: a network from a table, its structure and its parameters."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from credo.cli.experiments import (
    intervened_from,
    intervened_option,
    read_told,
    seen_rows,
    soft_option,
)
from credo.cli.learning import (
    MISSING,
    by_either,
    checked,
    default_output,
    gaps_line,
    next_steps,
    tell_check,
    weights_line,
)
from credo.cli.models import dag_from, normalise_option, refuse_unwritable
from credo.cli.options import (
    Common,
    Manual,
    Stopped,
    common_options,
    listed,
    option,
)
from credo.cli.reading import reading_flags, reading_options
from credo.cli.rules import (
    names_of,
    numbers_from,
    numbers_option,
    ordered_option,
    rule_options,
    rules_from,
    score_options,
    score_settings,
)
from credo.core.render import many

__all__ = ["command"]

F = TypeVar("F", bound=Callable[..., Any])

# options of searches, and the searches that have them
_OF_SEARCH = {
    "target": ("tan", "naive-bayes"),
    "restarts": ("hill-climb", "tabu"),
    "alpha": ("pc", "mmhc"),
    "steps": ("anneal",),
    "order": ("k2",),
}
_SEARCH = "The search"
_NOTES = 2  # of the table and of the search that are told without --details

BUDGET = 60.0
"""Seconds for the search unless told otherwise; a quarter more for the check at most."""


@click.command("learn", cls=Manual)
@reading_options
@option("-o", "--output", metavar="FILE", help="Where to write the network (.credo, .bif, …).  "
        "[default: beside TABLE, as .credo; nowhere with --json]")  # fmt: skip
@option("--search", group=_SEARCH, default="auto", metavar="NAME",
        help="auto, hill-climb, tabu, anneal, order, exact, chow-liu, tan, naive-bayes, k2, "
        "pc, mmhc or ges.")  # fmt: skip
@score_options
@rule_options
@numbers_option
@ordered_option
@intervened_option
@soft_option
@option("--seconds", "--budget", "limit", group=_SEARCH, type=float, default=BUDGET,
        metavar="SECONDS", help="Stop searching with the best graph so far; the check has what is "
        "left, at least a quarter of it. 0 for no end. Where they are not spent, the same seed "
        "gives the same graph.")  # fmt: skip
@option("--target", group=_SEARCH, metavar="NAME", help="The class, for tan and naive-bayes.")
@option("--order", group=_SEARCH, metavar="A,B,C", help="All the variables, parents first, for k2.")
@option("--start", group=_SEARCH, metavar="GRAPH", help="Where the search begins: a network "
        "file, or text such as '[A][B|A]'.")  # fmt: skip
@option("--restarts", group=_SEARCH, type=int, help="Of hill-climb and tabu.")
@option("--alpha", group=_SEARCH, type=float, help="The level of the tests of pc and mmhc.")
@option("--steps", group=_SEARCH, type=int, help="Proposals of anneal.")
@option("--missing-cells", "missing_cells", default="auto", choices=["auto", *MISSING],
        help="What to do where cells are missing; auto is structural-em, and available-cases "
        "where a row has too many ways to be completed.")  # fmt: skip
@option("--check/--no-check", "wanted", default=None, help="Check the model on the rows.  "
        "[default: yes; no with --json]")  # fmt: skip
@normalise_option
@option("--details", is_flag=True, help="Say more: every column, parents, notes, finding and "
        "what to do.")  # fmt: skip
@common_options(
    seed="For what is random.", threads="How many threads may work; all cores unless told."
)
def command(
    output: str | None,
    search: str,
    score_name: str | None,
    ess: float | None,
    prior_network: str | None,
    edge_prior: str | None,
    require: tuple[str, ...],
    forbid: tuple[str, ...],
    tier: tuple[str, ...],
    max_parents: int | None,
    candidates: tuple[str, ...],
    numbers: tuple[str, ...],
    ordered: bool,
    intervened: tuple[str, ...],
    soft: bool,
    limit: float,
    target: str | None,
    order: str | None,
    start: str | None,
    restarts: int | None,
    alpha: float | None,
    steps: int | None,
    missing_cells: str,
    wanted: bool | None,
    details: bool,
    common: Common,
    **reading: Any,
) -> None:
    """Learn a network from a table: its graph by a score and a search, then its parameters.

    `credo learn TABLE` alone says what it read, learns the graph (BDeu, or BIC if no
    column is discrete; cells that are missing count for what their row says of them), gives every
    parameter a posterior, checks the model on rows it has not seen, writes it beside the table, and
    says what to do next: a screen in all, the rest by --details. A file that is there already is
    left alone unless -o names it.

    Ctrl-C ends the search: the best graph so far is fitted and written, and the exit code is 130.

    \b
    Examples:
      credo learn patients.csv
      credo learn patients.csv -o model.bif --score bic --search hill-climb --max-parents 3
      credo learn patients.csv --forbid 'lung->smoke' --tier age,smoke --tier lung,xray --json
      credo learn cells.csv --intervened stimulus -o cells.credo
      credo learn gaps.csv --missing-cells complete-rows -o whole.credo --quiet
      gzip -dc patients.csv.gz | credo learn - -o model.credo
    """
    from credo.checking.findings import keep
    from credo.core.errors import InputError
    from credo.train.structure.learning import learn
    from credo.train.structure.option_hints import refuse_unknown_search
    from credo.train.structure.rules import Rules
    from credo.train.structure.searches import SEARCHES

    if limit < 0:
        raise InputError(f"--seconds must be 0 or more, got {limit:g}.")
    given = {"target": target, "restarts": restarts, "alpha": alpha, "steps": steps, "order": order}
    options: dict[str, Any] = {n: v for n, v in given.items() if v is not None}
    for name in options:
        if search not in _OF_SEARCH[name]:
            raise InputError(
                f"--{name} is for --search {' and '.join(_OF_SEARCH[name])}, not {search}."
            )
    if search == "fci":
        raise InputError(
            "The search 'fci' gives a class of graphs in which causes may be hidden, no network.",
            hint="Use: credo causes TABLE",
        )
    refuse_unknown_search(search, SEARCHES)
    if target is None and search in _OF_SEARCH["target"]:
        raise InputError(f"--search {search} needs the class: name it with --target NAME.")
    if search == "k2" and order is None:
        raise InputError("--search k2 needs --order, all the variables with commas between them.")
    if order is not None:
        options["order"] = names_of(order)
    rules = rules_from(require, forbid, tier, max_parents, candidates)
    settings = {
        **score_settings(score_name, ess, prior_network, edge_prior, common.threads),
        **rules,
        "start": None if start is None else dag_from(start),
        "numbers": numbers_from(numbers, "auto"),
        "ordered": ordered,
        "intervened": intervened_from(intervened),
        "soft": soft,
        **options,
    }
    if output is not None:
        refuse_unwritable(output)
    told = settings["intervened"]
    table = read_told(told, reading)
    Rules.of(table.schema, **rules)  # refuses names that the table does not have
    _refuse_settings(table.schema, settings)
    where = output or (None if common.as_json else default_output(reading["table"]))
    began = time.monotonic()
    if not common.silent:
        _introduce(table, missing_cells, details, common)
        if tier:
            common.say(_free_of_tiers(table.schema.names, rules["tiers"]))

    def by(missing: str, seconds: float) -> Any:
        return learn(
            table,
            search=search,
            seconds=seconds or None,
            rng=common.seed,
            missing=missing,
            **settings,
        )

    if missing_cells == "auto":
        net = by_either(by, limit, common)
    else:
        net = by(missing_cells, limit)
    record = net.record
    assert record is not None
    if where is not None:
        net.save(where)
    stopped = record.reason == "interrupted"
    if not common.as_json:
        _tell(net, details, common)
    report = None
    seen = seen_rows(table, told)
    if seen is not None and (wanted or (wanted is None and not common.silent and not stopped)):
        left = max(limit - (time.monotonic() - began), limit / 4)
        report = checked(net, seen, common, left)
    if report is not None and where is not None and ".credo" in where:
        net = keep(net, report)  # who asks it later is told again
        net.save(where)
    if common.as_json:
        document = _json(net, output)
        if report is not None:
            document["findings"] = [f.to_dict() for f in report.findings]
        common.emit("learn", document)
    else:
        if report is not None and not common.quiet:
            _tell_check(report, details, common)
        if where is not None:
            _point(net, where, reading, common)
    if stopped:
        raise Stopped("the search", where)


def _refuse_settings(schema: Any, settings: dict[str, Any]) -> None:
    """Refuse what the search would refuse, before a page is printed."""
    from credo.core.errors import InputError
    from credo.train.scores.edge_prior import log_odds
    from credo.train.scores.scores import ScoreSpec
    from credo.train.structure.recipe import usual_score

    score = settings["score"] or usual_score(schema)
    ScoreSpec.of(score, ess=settings["ess"], prior=settings["prior"])
    log_odds(settings["edge_prior"], schema.names, schema)
    alpha = settings.get("alpha")
    if alpha is not None and not 0 < alpha < 1:
        raise InputError(f"--alpha must be between 0 and 1, got {alpha:g}.")
    named = [*settings.get("order", ()), *([settings["target"]] if "target" in settings else [])]
    for name in named:
        schema.index(name)  # refuses one that is not there
    left = [n for n in schema.names if n not in settings.get("order", schema.names)]
    if left:
        raise InputError(f"--order must hold every variable once; {left[0]!r} is not in it.")


def _free_of_tiers(names: Any, tiers: Any) -> str:
    """Which variables the tiers leave free."""
    free = [n for n in names if not any(n in tier for tier in tiers)]
    if not free:
        return "Every variable is in a tier; no edge goes to an earlier one."
    only = " One tier alone forbids nothing: name the others in a second --tier." * (
        len(tiers) == 1
    )
    return f"In no tier, and free of them: {listed(free, 8)}.{only}"


def _introduce(table: Any, missing_cells: str, details: bool, common: Common) -> None:
    from credo.cli.terminal import print_schema, read_line

    if details:
        print_schema(table.schema)
    else:
        common.say(read_line(table.schema))
        of_columns = [f"{c.name}: {m}" for c in table.schema.columns for m in c.notes]
        _few([*table.schema.notes, *of_columns], common)
    common.say(gaps_line(table, missing_cells))
    hint = weights_line(table)
    if hint:
        common.say(hint)


def _few(notes: Sequence[str], common: Common) -> None:
    """The first notes, and how many more there are."""
    for note in notes[:_NOTES]:
        common.say(f"· {note}")
    if len(notes) > _NOTES:
        common.say(f"· {many(len(notes) - _NOTES, 'more note')}: --details")


def _tell(net: Any, details: bool, common: Common) -> None:
    from credo.cli.terminal import print_graph

    record, edges = net.record, many(len(net.dag.edges), "edge")
    common.say()
    if details:
        common.say(net)
        common.say()
        common.say(record)
    else:
        of = f"{edges} among {many(len(net.names), 'variable')}"
        common.say(
            f"Learned {of}, {many(net.free_parameters, 'parameter')}, in {record.seconds:.2g} s: "
            f"{record.how.removeprefix('learned by ')}; {record.reason}.", bold=True,
        )  # fmt: skip
    if "budget" in record.reason:
        common.say("With more time (--seconds) the graph may be better; another run may differ.")
    if net.dag.edges and not common.silent:
        if details:
            common.heading(f"The graph: {edges}")
        print_graph(net.dag, whole=details)
    if not details:
        _few(record.notes, common)


def _tell_check(report: Any, details: bool, common: Common) -> None:
    from credo.cli.commands.check import print_findings

    common.say()
    if not details:
        tell_check(report, common)
        return
    common.say(f"{report.sentence[:1].upper()}{report.sentence[1:]}. {report.how}", bold=True)
    print_findings(report.findings)
    for name, why in report.left_out.items():
        common.say(f"{name.replace('_', ' ')}: left out ({why})")


def _point(net: Any, where: str, reading: dict[str, Any], common: Common) -> None:
    """Where the model is, and what to do with it."""
    common.say(f"\nwritten to {where}. Next:")
    steps = next_steps(net, where, reading["table"], reading_flags(reading))
    wide = min(max(len(line) for line, _ in steps), 76)
    for line, why in steps:
        common.say(f"  {line:<{wide}}  # {why}")


def _json(net: Any, output: str | None) -> dict[str, Any]:
    record = net.record
    bound = record.details.get("bound")
    return {
        "output": output,
        "how": record.how,
        "score": record.score,
        "reason": record.reason,
        "seconds": record.seconds,
        "proven": record.details.get("proven", False),
        "bound": bound if bound is not None and math.isfinite(bound) else None,
        "nodes": list(net.dag.nodes),
        "edges": [list(e) for e in net.dag.edges],
        "parameters": net.free_parameters,
        "notes": list(record.notes),
    }
