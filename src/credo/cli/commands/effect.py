"""`credo effect`: how much setting one variable changes another, from rows and a causal graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from credo.cli.models import causal_graph_from, load_model, normalise_option
from credo.cli.options import Common, Manual, common_options, files, option
from credo.cli.reading import read_from, reading_settings
from credo.core.errors import InputError

__all__ = ["command"]


@click.command("effect", cls=Manual)
@click.argument("source", shell_complete=files)
@click.argument("x")
@click.argument("y")
@option("--graph", "-g", metavar="GRAPH", help="What causes what: text such as "
        "'[Z][X|Z][Y|X:Z] A<->B', a file of DAGitty or DOT, one that 'credo causes' wrote, or a "
        "network file.")  # fmt: skip
@option("--values", metavar="FROM,TO", help="The two values of X that are compared.")
@option("--outcome", metavar="STATE", help="The state of Y whose probability is compared.")
@option("--by", type=click.Choice(["auto", "adjustment", "id", "instrument"]), default="auto",
        help="An adjustment where there is one, that alone, the ID algorithm, or bounds by an "
        "instrument.")  # fmt: skip
@option("--interval", type=float, default=0.95, help="The level of the interval.")
@option("--draws", type=int, default=2000, metavar="N", help="Draws of the parameters.")
@reading_settings
@normalise_option
@common_options(seed="Of the draws.")
def command(
    source: str,
    x: str,
    y: str,
    graph: str | None,
    values: str | None,
    outcome: str | None,
    by: str,
    interval: float,
    draws: int,
    common: Common,
    **reading: Any,
) -> None:
    """Estimate the effect of setting X on Y: difference, ratio and odds ratio with intervals.

    SOURCE is a table, which needs --graph, a network file, or graphs that 'credo average' weighed,
    whose interval includes how sure the graph is. A node of the graph that is no column
    of the table is taken as a hidden cause. The answer says which formula was used, what was only
    seen, which cells have no rows, and how strong a hidden cause would have to be.

    \b
    Examples:
      credo effect patients.csv smoke lung --graph '[age][smoke|age][lung|smoke:age]'
      credo effect asia.bif smoke lung --json
      credo effect graphs.credo smoke lung
    """
    from credo.formats.files import ENDINGS
    from credo.train.causal.effect import effect

    ending = Path(source.lower().removesuffix(".gz")).suffix
    rows = load_model(source) if ending in ENDINGS else read_from(table=source, **reading)
    whole = None if graph is None else causal_graph_from(graph)
    pair = None
    if values is not None:
        pair = tuple(part.strip() for part in values.split(","))
        if len(pair) != 2:
            raise InputError(f"--values takes two values, as in no,yes, got {values!r}.")
    states = rows.schema
    found = effect(
        rows, x, y, whole, values=None if pair is None else [_state(states, x, v) for v in pair],
        outcome=None if outcome is None else _state(states, y, outcome), by=by, interval=interval,
        draws=draws, rng=common.seed,
    )  # fmt: skip
    if common.as_json:
        common.emit("effect", _document(found))
        return
    least = found.bounds[0] if hasattr(found, "bounds") else found.difference
    click.echo(f"{float(least):.6g}" if common.quiet else str(found))


def _state(schema: Any, name: str, text: str) -> Any:
    """A state as it was typed: the one whose text it is."""
    if name not in schema or not schema[name].is_discrete:
        return text
    return next((s for s in schema[name].states if str(s) == text), text)


def _document(found: Any) -> dict[str, Any]:
    if hasattr(found, "bounds"):
        span = found.interval
        ends = None if span is None else [float(span.lower), float(span.upper)]
        nothing = dict.fromkeys(("set", "seen", "difference", "ratio", "odds_ratio", "formula"))
        return {
            "x": found.x, "y": found.y, "values": list(found.values), "outcome": found.outcome,
            **nothing, "reason": found.reason, "instrument": found.instrument,
            "bounds": list(found.bounds), "bounds_within": ends,
        }  # fmt: skip
    sizes = {name: _size(getattr(found, name)) for name in ("difference", "ratio", "odds_ratio")}
    return {
        "x": found.x,
        "y": found.y,
        "values": list(found.values),
        "outcome": found.outcome,
        "set": list(found.p),
        "seen": list(found.plain),
        **sizes,
        "formula": None if found.formula is None else str(found.formula),
        "reason": found.reason,
        "adjustment": None if found.adjustment is None else list(found.adjustment),
        "positivity": [
            {"cell": dict(s.cell), "of": s.of, "rows": s.rows} for s in found.positivity
        ],
        "confounding": found.confounding,
        "e_value": found.e_value,
        "e_value_of_interval": found.e_value_of_interval,
        "necessity": None if found.necessity is None else list(found.necessity),
        "sufficiency": None if found.sufficiency is None else list(found.sufficiency),
        "notes": list(found.notes),
    }


def _size(one: Any) -> dict[str, Any] | None:
    if one is None:
        return None
    out: dict[str, Any] = {"value": float(one)}
    if one.interval is not None:
        low, high = one.interval
        span = one.interval
        out["interval"] = {"level": span.level, "low": float(low), "high": float(high),
                           "draws": span.draws, "error": float(span.error)}  # fmt: skip
    return out
