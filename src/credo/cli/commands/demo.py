"""`credo demo`: from a table with gaps to a learned model that answers, on a real table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from credo.cli.options import Common, Manual, common_options, option
from credo.cli.terminal import heading, print_schema
from credo.core.errors import InputError
from credo.core.render import many

__all__ = ["candy_bags", "command", "tell_course"]

QUESTIONS = (
    ("Did women in third class live?", "P(Survived=1 | Sex=female, Pclass=3)"),
    ("And men in first class?", "P(Survived=1 | Sex=male, Pclass=1)"),
    ("Who was in which class, of those who lived?", "P(Pclass | Survived=1)"),
    ("Was first class over forty? Of 177 no age is known.", "P(Age > 40 | Pclass=1)"),
)


@click.command("demo", cls=Manual)
@option("-o", "--output", metavar="FOLDER", help="Where the demo writes.  [default: credo-demo; "
        "nowhere with --json]")  # fmt: skip
@option("--course", is_flag=True, help="The course's worked examples instead.")
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
    from credo.checking.findings import keep
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

    common.heading(f"5. The graph: {many(len(net.dag.edges), 'edge')}")
    common.say("\n".join(graph_lines(net.dag)))

    common.heading("6. Four questions, each answer with how sure it is, gaps included")
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
            common.say(_meant(rows, given[:3]))
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
        common.say(
            f"  {program()} studio {model} --data {table}  # click, and every posterior moves"
        )
    return told


def _meant(rows: Any, given: list[Any]) -> str:
    """What the findings mean for the first three questions, whose columns have no gaps: whether the
    rows' own shares are in the answers."""
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
        f"For the first three answers above: the shares in the rows are {said}, and {inside} of "
        f"these {len(seen)} lie inside the answers' intervals."
    )


def _first_beliefs(rows: Any, common: Common) -> None:
    """One tally, one distribution with its interval, one space of hypotheses."""
    import credo as cr

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


# --- The course's worked examples in one go: `credo demo --course`.


def tell_course(quiet: bool) -> dict[str, Any]:
    """Each step prints what it does unless it is to be quiet; the figures are returned."""
    import credo as cr

    def tell(title: str, *parts: object) -> None:
        if not quiet:
            heading(f"\n{title}")
            for part in parts:
                click.echo(str(part))

    tennis = cr.examples.play_tennis()
    tell("1. A table comes in; credo says what it sees")
    if not quiet:
        print_schema(tennis.schema)

    tally = cr.tally(tennis, [("PlayTennis", ["Outlook"]), ("PlayTennis", ["Wind"])])
    tell(
        "2. One pass counts the families; counts of parts add up",
        tally["PlayTennis", ["Outlook"]],
        "",
        tally["PlayTennis", ["Wind"]],
    )

    pneumonia = cr.examples.pneumonia()
    ill: Any = cr.tally(pneumonia, [("Fev", ["Pneu"])])["Fev", ["Pneu"]][{"Pneu": "T"}]
    ml = cr.Bernoulli.fit(ill)
    posterior = cr.Beta(3, 4, states=("F", "T")) + ill
    low, high = posterior.interval(0.95)
    tell(
        "3. Fever given pneumonia: a number, and how sure it is",
        f"maximum likelihood {ml.p:.3g} from {ill.total} patients",
        f"Beta(3, 4) before, Beta({posterior.a:g}, {posterior.b:g}) after: "
        f"mean {posterior.mean().p:.3g}, 95 % within {low:.3f} to {high:.3f}",
    )

    ward = cr.fit("[Pneu][Fev|Pneu][Cou|Pneu]", pneumonia, prior=cr.BDeu(2))
    ask = "P(Pneu=T | Fev=T, Cou=T)"
    sure: Any = ward.ask(ask, interval=0.95)
    tell("   The tables of a whole graph, and how sure an answer is", ask, sure)

    sexes = cr.examples.gender_measurements()
    heights = cr.tally(sexes, [("height", ["sex"])])["height", ["sex"]]
    belief = (
        cr.distributions.NormalInverseGamma.default(mean=5.5, sd=0.3) + heights[{"sex": "female"}]
    )
    tell(
        "4. Heights of eight people: moments, and a posterior for the women's",
        heights,
        f"the next woman's height in feet: {_span(belief.predictive().interval(0.9))}, "
        "with probability 90 %",
    )

    after = candy_bags().observe(["lime"] * 5)
    lime = after.predict()["lime"]
    tell(
        "5. Which bag of candies is it? Five limes in a row",
        after.posterior,
        "",
        f"the next candy is lime with probability {lime:.6f}",
        after.compare("lime"),
    )

    game = cr.number_game().observe([16, 8, 2, 64])
    best = game.choose("map")
    tell(
        "6. Which numbers are meant? 16, 8, 2, 64",
        f"{best}, with probability {game.posterior[best]:.3f}",
    )
    net = _burglary()
    burglar = net.p("Burglary", given={"John": "yes", "Mary": "yes"})
    tell(
        "7. Both neighbours call: is it a burglar?",
        net,
        "",
        burglar,
        net.dag.why("Burglary", "Earthquake", given=["John"]),
    )
    model = cr.naive_bayes(tennis, "PlayTennis", smoothing=0)
    today = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}
    tell("8. Shall we play tennis today? Naive Bayes, with its reasons", model.explain(today))
    return {
        "play_tennis_rows": len(tennis),
        "fever_given_pneumonia": {"mle": ml.p, "posterior": [posterior.a, posterior.b]},
        "pneumonia_given_fever_and_cough": {"p": float(sure), "interval": [sure.low, sure.high]},
        "next_candy_lime": lime,
        "bags": dict(after.posterior),
        "number_game": {"concept": best, "probability": game.posterior[best]},
        "burglary_given_both_calls": burglar["yes"],
        "no_tennis_today": model.p(today)["No"],
    }


def candy_bags() -> Any:
    """Five bags of candies, from cherry only to lime only (Russell & Norvig, section 20.1)."""
    import credo as cr

    return cr.Hypotheses(
        {f"h{k + 1}": {"cherry": 1 - k / 4, "lime": k / 4} for k in range(5)},
        prior=[0.1, 0.2, 0.4, 0.2, 0.1],
    )


def _burglary() -> Any:
    """The burglary alarm of Russell & Norvig."""
    import credo as cr

    def row(yes: float) -> dict[str, float]:
        return {"no": 1 - yes, "yes": yes}

    return cr.Network(
        "[Burglary][Earthquake][Alarm|Burglary:Earthquake][John|Alarm][Mary|Alarm]",
        {
            "Burglary": row(0.001),
            "Earthquake": row(0.002),
            "Alarm": {
                "no": {"no": row(0.001), "yes": row(0.29)},
                "yes": {"no": row(0.94), "yes": row(0.95)},
            },
            "John": {"no": row(0.05), "yes": row(0.9)},
            "Mary": {"no": row(0.01), "yes": row(0.7)},
        },
    )


def _span(interval: Any) -> str:
    low, high = interval
    return f"{low:.2f} to {high:.2f}"
