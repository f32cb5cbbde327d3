"""`credo demo`: from a table with gaps to a learned model that answers, on a real table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from credo.cli.options import Common, Manual, common_options, plural
from credo.core.errors import InputError

__all__ = ["command"]

QUESTIONS = (
    ("Did women in third class live?", "P(Survived=1 | Sex=female, Pclass=3)"),
    ("And men in first class?", "P(Survived=1 | Sex=male, Pclass=1)"),
    ("Who was in which class, of those who lived?", "P(Pclass | Survived=1)"),
)


@click.command("demo", cls=Manual)
@click.option("-o", "--output", metavar="FOLDER", help="Where the demo writes.  "
              "[default: credo-demo; nowhere with --json]")  # fmt: skip
@click.option("--course", is_flag=True, help="The course's worked examples instead.")
@common_options(seed="For what is random.", threads="How many threads may work.")
def command(output: str | None, course: bool, common: Common) -> None:
    """From a table with gaps to a model that answers: read, count, learn, draw, ask, check, report.

    The table is the passenger list of the Titanic, which comes with credo: 891 rows, 12 columns,
    866 gaps. The folder gets the table, the model and the report, so that the commands printed at
    the end can be tried.

    \b
    Examples:
      credo demo
      credo demo --course
      credo demo --json
    """
    from credo.cli.commands.course import tell_course

    if course:
        figures = tell_course(quiet=common.silent)
        if common.as_json:
            common.emit("demo", figures)
        return
    if output is not None and not output.strip():
        raise InputError(f"-o needs the name of a folder, got {output!r}.")
    folder = Path(output or "credo-demo") if output or not common.as_json else None
    told = _story(folder, common)
    if common.as_json:
        common.emit("demo", tell_course(quiet=True) | {"titanic": told})


def _story(folder: Path | None, common: Common) -> dict[str, Any]:
    """Each step says what it does, unless it is to be quiet; the figures are returned."""
    import credo as cr
    from credo.checking.recorded import keep
    from credo.cli.terminal import graph_lines, print_schema

    source = cr.examples.path("titanic")
    table = source
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / "titanic.csv"
        shutil.copyfile(source, table)
    rows = cr.read(table)
    common.heading("1. A table comes in: what credo sees, what it sets aside and why")
    if not common.silent:
        print_schema(rows.schema)
    _first_beliefs(rows, common)
    from credo.cli.learning import checked, gaps_line, next_steps, program, tell_check

    common.heading("4. The network is learned, gaps and all")
    common.say(gaps_line(rows, "structural-em"))
    net = cr.learn(rows, parameters=cr.BDeu(1), rng=common.seed, threads=common.threads)
    record = net.record
    assert record is not None
    common.say(record)

    common.heading(f"5. The graph: {plural(len(net.dag.edges), 'edge')}")
    common.say("\n".join(graph_lines(net.dag)))

    common.heading("6. Three questions, each answer with how sure it is")
    answers, given = {}, []
    for words, question in QUESTIONS:
        answer: Any = net.ask(question, interval=0.95, rng=common.seed)
        common.say(f"{words}  {question}")
        common.say(answer)
        common.say()
        answers[question] = _plain(answer)
        given.append(answer)
    told: dict[str, Any] = {
        "rows": len(rows),
        "edges": [list(e) for e in net.dag.edges],
        "score": record.score,
        "answers": answers,
    }
    common.heading("7. Is it any good? The model checked on its rows, worst first")
    report = checked(net, rows, common)
    if report is not None:
        net = keep(net, report)
        if not common.silent:
            tell_check(report, common)
            common.say(_meant(rows, given))
    if folder is not None:
        model, page = folder / "titanic.credo", folder / "titanic.html"
        net.save(model)
        cr.write_report(
            net, page, rows, [q for _, q in QUESTIONS], title="Titanic", seed=common.seed,
            checks=report,
            model_file=str(model), data_file=str(table),
        )  # fmt: skip
        told |= {"model": str(model), "report": str(page)}
        common.heading("8. All of it on one page")
        common.say(f"wrote {model} and {page}: open it in any browser")
        common.heading("Next: commands to try")
        for line, why in next_steps(net, str(model), str(table)):
            common.say(f"  {line}  # {why}")
        common.say(f"  {program()} demo --course  # the worked examples of the course")
        common.say(f"  {program()} learn YOUR_TABLE.csv  # the same for a table of yours")
    return told


def _meant(rows: Any, given: list[Any]) -> str:
    """What the findings mean for the questions: whether the rows' own shares are in the answers."""
    import numpy as np

    tally = rows.tally([("Survived", ["Sex", "Pclass"]), ("Pclass", ["Survived"])])
    lived, classes = tally["Survived", ["Sex", "Pclass"]], tally["Pclass", ["Survived"]]
    counts = [
        lived[{"Sex": "female", "Pclass": 3}], lived[{"Sex": "male", "Pclass": 1}],
        classes[{"Survived": 1}],
    ]  # fmt: skip
    shares = [np.asarray(c, dtype=float) / np.asarray(c, dtype=float).sum() for c in counts]
    seen = np.concatenate([shares[0][1:], shares[1][1:], shares[2]])
    low, high = (np.concatenate([np.ravel([*a.interval][k]) for a in given]) for k in (0, 1))
    inside = int(((low <= seen) & (seen <= high)).sum())
    said = ", ".join(f"{s:.3f}" for s in seen)
    return (
        f"For the three answers above: the shares in the rows are {said}, and {inside} of these "
        f"{len(seen)} lie inside the answers' intervals."
    )


def _first_beliefs(rows: Any, common: Common) -> None:
    """One tally, one distribution with its interval, one space of hypotheses."""
    import credo as cr
    from credo.cli.commands.course import candy_bags

    lived: Any = rows.tally([("Survived", ["Sex"])])["Survived", ["Sex"]]
    common.heading("2. One pass counts: who lived")
    common.say(lived)

    common.heading("3. What is believed, before data and after")
    for sex in ("female", "male"):
        belief = cr.Beta.uniform((0, 1)) + lived[{"Sex": sex}]
        low, high = belief.interval(0.95)
        common.say(
            f"P(Survived=1 | Sex={sex}): Beta(1, 1) becomes Beta({belief.a:g}, {belief.b:g}), "
            f"mean {belief.mean().p:.3f}, 95 % within {low:.3f} to {high:.3f}"
        )
    bags = candy_bags().observe(["lime"] * 5)
    common.say(
        "Five candies from one of five bags are all lime. Which bag is it, and what is next?"
    )
    common.say(bags.posterior)
    common.say(f"the next one is lime with probability {bags.p('lime'):.3f}")


def _plain(answer: Any) -> Any:
    if isinstance(answer, float):
        low, high = answer.interval  # type: ignore[attr-defined]
        return {"p": float(answer), "low": float(low), "high": float(high)}
    return {str(state): p for state, p in answer.items()}
