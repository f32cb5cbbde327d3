"""`credo causes`: what tests of independence say of causes, some of which may be hidden (FCI)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from credo.cli.experiments import intervened_from, intervened_option, read_told, soft_option
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.reading import reading_options

__all__ = ["command"]

_MEANS = {
    "->": "{a} causes {b}",
    ">>": "neither causes the other: something hidden moves both",
    "o>": "{b} does not cause {a}; {a} may cause {b}, or something hidden moves both",
    "oo": "they are tied, by whatever cause",
}
_SELECTED = "the rows were selected by what they have"


@click.command("causes", cls=Manual)
@reading_options
@option("-o", "--output", metavar="FILE", help="Where to write the class of graphs: .svg, .dot, or "
        "DAGitty's text, which 'credo effect' and 'credo identify' read.")  # fmt: skip
@option("--alpha", type=float, default=0.01, metavar="P", help="The level of the tests.")
@option("--test", metavar="NAME", help="g2, g2-adjusted, x2, x2-adjusted, fisher-z or g2-mixed.  "
        "[default: by the kinds of the columns]")  # fmt: skip
@option("--max-condition", type=int, metavar="K", help="The largest sets that are tried.")
@option("--seconds", "--budget", "limit", type=float, default=60.0, metavar="SECONDS",
        help="Stop testing; what no test took away is left. 0 for no end.")  # fmt: skip
@intervened_option
@soft_option
@common_options()
def command(
    output: str | None,
    alpha: float,
    test: str | None,
    max_condition: int | None,
    limit: float,
    intervened: tuple[str, ...],
    soft: bool,
    common: Common,
    **reading: Any,
) -> None:
    """Say what rows tell of causes when common causes may be hidden (the FCI algorithm).

    The answer is a class of graphs that the same tests fit: a → b where a causes b in each,
    a ↔ b where neither causes the other, and a circle, a o→ b, where they differ. Rows from
    experiments fix more: setting what moves another shows a cause.

    \b
    Examples:
      credo causes patients.csv --alpha 0.05
      credo causes cells.csv --intervened stimulus -o cells.pag
      credo causes patients.csv --max-condition 2 --json
    """
    from credo.core.errors import InputError
    from credo.data.out.atomic import replace_file
    from credo.train.structure.learning import learn

    if limit < 0:
        raise InputError(f"--seconds must be 0 or more, got {limit:g}.")
    told = intervened_from(intervened)
    pag: Any = learn(
        read_told(told, reading), search="fci", alpha=alpha, test=test,
        max_condition=max_condition, seconds=limit or None, intervened=told, soft=soft,
    )  # fmt: skip
    if output is not None:
        ending = Path(output).suffix.lower()
        text = pag.svg() if ending == ".svg" else pag.dot() if ending == ".dot" else pag.dagitty()
        replace_file(Path(output), f"{text}\n".encode())
    if common.as_json:
        document = {
            "output": output,
            "nodes": list(pag.nodes),
            "edges": [
                {"a": a, "b": b, "mark_a": x, "mark_b": y, "means": _means(a, b, x, y)}
                for a, b, x, y in pag.edges
            ],
            "independent": [
                {"a": a, "b": b, "given": list(given)}
                for (a, b), given in ((sorted(p), z) for p, z in pag.separators.items())
            ],
            "text": pag.dagitty(),
            "notes": list(pag.notes),
        }
        common.emit("causes", document)
        return
    click.echo(pag)
    if common.quiet:
        return
    common.say()
    for a, b, x, y in pag.edges:
        common.say(f"{pag.why(a, b).splitlines()[0].partition(':')[0]}: {_means(a, b, x, y)}")
    if output is not None:
        common.say(f"\nwritten to {output}")


def _means(a: str, b: str, at_a: str, at_b: str) -> str:
    """What an edge says in words."""
    ends = at_a + at_b
    if ends in (">-", ">o"):
        a, b, ends = b, a, ends[::-1]
    return _MEANS.get(ends, _SELECTED).format(a=a, b=b)
