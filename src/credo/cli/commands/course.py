"""The course's worked examples in one go: `credo demo --course`."""

from __future__ import annotations

from typing import Any

import click

from credo.cli.terminal import heading, print_schema

__all__ = ["candy_bags", "tell_course"]


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
