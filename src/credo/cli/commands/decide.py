"""`credo decide`: what to do, how sure that is, and what is worth knowing first."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import click

from credo.cli.costs import numbers_in
from credo.cli.models import load_model, model_argument, refuse_unwritable
from credo.cli.options import Common, Manual, common_options, files, numbers_by_name, option
from credo.core.errors import InputError
from credo.core.state_values import json_state

if TYPE_CHECKING:
    from credo.model.networks.network import Network
    from credo.model.structures.structure_posterior import StructurePosterior

__all__ = ["command"]

_MADE = "A network becomes a decision network"


@click.command("decide", cls=Manual)
@model_argument
@click.argument("questions", nargs=-1)
@option("--given", metavar="NAME=STATE, …", help="What is known, and what is decided already.")
@option("--value", is_flag=True, help="Tell what is worth knowing before the next decision.")
@option("--next", "next_", is_flag=True, help="Tell which question to ask next, at its price.")
@option("--sensitivity", is_flag=True, help="Tell what would change the decision.")
@option("--cost", "costs", multiple=True, metavar="NAME=NUMBER", help="What a question costs.")
@option("--interval", type=float, default=0.95, metavar="LEVEL", show_default=True,
        help="The level of the interval, where parameters were learned with a prior.")  # fmt: skip
@option("--draws", type=int, metavar="N", help="Draws of the parameters (1,000).")
@option("--memory", type=click.Choice(["full", "limited"]),
        help="Whether a decision knows what earlier ones knew, or what its arrows say.",
        group=_MADE)  # fmt: skip
@option("--decision", "decisions", multiple=True, metavar="NAME|KNOWN:…=OPTION,…",
        help="Something to decide; a variable of the network needs no options.",
        group=_MADE)  # fmt: skip
@option("--utility", "utilities", multiple=True, metavar="TABLE", shell_complete=files,
        help="What outcomes are worth: a column for each thing it depends on, numbers last.",
        group=_MADE)  # fmt: skip
@option("--output", "-o", metavar="FILE", shell_complete=files,
        help="Keep the decision network.", group=_MADE)  # fmt: skip
@common_options(seed="The seed of the draws.")
def command(
    model: str,
    questions: tuple[str, ...],
    given: str | None,
    value: bool,
    next_: bool,
    sensitivity: bool,
    costs: tuple[str, ...],
    interval: float,
    draws: int | None,
    memory: str | None,
    decisions: tuple[str, ...],
    utilities: tuple[str, ...],
    output: str | None,
    common: Common,
) -> None:
    """Tell what to do in each situation, and what it is worth.

    MODEL is a file with decisions and utilities (.credo .xdsl .net .xmlbif), or with --decision and
    --utility a network, or the posterior over graphs that credo average wrote. QUESTIONS are such
    as 'EU(Drill=yes | Test=open)'; without any the best strategy is told.

    \b
    Examples:
      credo decide oil.xdsl
      credo decide oil.xdsl --given "Test=open" --json
      credo decide oil.xdsl "EU(Drill | Test=open)" "EU(Drill=yes)"
      credo decide oil.xdsl --value --next --cost Oil=30
      credo decide oil.xdsl --sensitivity
      credo decide asia.bif --decision "treat|xray=no,yes" --utility costs.csv -o treat.credo
      credo decide graphs.credo --decision "treat|xray=no,yes" --utility costs.csv
    """
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.predict.questions.question import parse_conditions

    if output is not None:
        refuse_unwritable(output)
    net = _decided(load_model(model), model, decisions, utilities, memory)
    if isinstance(net, DecisionNetwork):
        shape = net
    else:
        shape = net.network
        _refuse_of_graphs(model, output, sensitivity)
    if output is not None:
        net.save(output)
    known, do = parse_conditions(shape.chance, given) if given else ({}, {})
    known |= do
    prices = numbers_by_name(costs, "--cost") or None
    how: dict[str, Any] = {"interval": interval, "draws": draws, "rng": common.seed}
    document: dict[str, Any] = {"model": model, "given": _plain(known)}
    parts: list[str] = []
    if questions:
        answers = [_answer(net, q, known, how) for q in questions]
        document["answers"] = [_answer_json(q, a) for q, a in zip(questions, answers, strict=True)]
        parts += [f"{q}\n{a}" for q, a in zip(questions, answers, strict=True)]
    elif not (value or next_ or sensitivity):
        found = net.solve(known, **how)
        document |= _solution_json(found)
        parts.append(str(found))
    if value:
        worth = net.value_of_information(given=known, costs=prices)
        document["information"] = [
            {"variables": list(i.variables), "value": i.value, "cost": i.cost, "net": i.net}
            for i in worth.items
        ]
        parts.append(str(worth))
    if next_:
        asked = net.next_question(known, costs=prices)
        document["next"] = {
            "question": asked.variable, "value": asked.value, "bound": asked.bound,
            "exact": asked.exact,
        }  # fmt: skip
        parts.append(str(asked))
    if sensitivity:
        moved = net.sensitivity(known)
        document["sensitivity"] = moved.to_dict()["parameters"]
        parts.append(str(moved))
    if common.as_json:
        common.emit("decide", document)
        return
    click.echo("\n\n".join(parts))
    if output is not None and not common.silent:
        click.echo(f"wrote {output}", err=True)


def _decided(
    net: Any,
    model: str,
    decisions: tuple[str, ...],
    utilities: tuple[str, ...],
    memory: str | None,
) -> Any:
    """The decisions of a file; or of a network, or of graphs, and what is said of them."""
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.model.networks.network import Network
    from credo.model.structures.structure_posterior import StructurePosterior

    if isinstance(net, DecisionNetwork):
        if decisions or utilities:
            raise InputError(f"{model} has its decisions: leave out --decision and --utility.")
        return net if memory is None else net.but(memory=memory)
    if not isinstance(net, (Network, StructurePosterior)):
        raise InputError(f"{model} holds a {type(net).__name__}; a network is needed to decide.")
    if not decisions or not utilities:
        what = "a network" if isinstance(net, Network) else "a posterior over graphs"
        raise InputError(
            f"{model} is {what} without decisions.",
            hint="Say what can be done, --decision 'treat|xray=no,yes', and what outcomes are "
            "worth, --utility costs.csv.",
        )
    options: dict[str, Any] = {}
    for one in decisions:
        name, equals, states = one.partition("=")
        options[name.strip()] = [s.strip() for s in states.split(",")] if equals else None
    worth = dict(_utility(path, net) for path in utilities)
    return net.decide(options, worth, memory=memory or "full")


def _refuse_of_graphs(model: str, output: str | None, sensitivity: bool) -> None:
    """What decisions over all graphs have not."""
    asked = "--output" if output is not None else "--sensitivity" if sensitivity else ""
    if asked:
        raise InputError(
            f"{model} is a posterior over graphs, and {asked} is of one network.",
            hint="Learn one with credo learn, or leave it out: the answer is averaged over graphs.",
        )


def _utility(path: str, net: Network | StructurePosterior) -> tuple[str, dict[Any, float]]:
    """A table as a utility: its last column are the numbers, the others what it depends on."""
    from credo.model.graphs.notation import quoted

    (*parents, name), rows = numbers_in(path, "utility")
    spelled = {v.name: {str(s): s for s in v.states} for v in net.variables if v.is_discrete}
    known = [spelled.get(p, {}) for p in parents]
    out: dict[Any, float] = {}
    for states, number in rows:
        key = tuple(k.get(s, s) for k, s in zip(known, states, strict=True))
        out[key if len(key) > 1 else key[0]] = number
    return f"{quoted(name)}|{':'.join(map(quoted, parents))}", out


def _answer(net: Any, question: str, known: dict[str, Any], how: Any) -> Any:
    """An answer; what is given holds for every question."""
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.predict.intervals.draws import has_posterior

    if known:
        from credo.predict.questions.question import quoted

        said = ", ".join(f"{quoted(n)}={quoted(v)}" for n, v in known.items())
        body = question.rstrip()
        if not body.endswith(")"):
            body += "()"
        joined = ", " if "|" in body else " | "
        question = f"{body[:-1].rstrip()}{joined}{said})"
    learned = not isinstance(net, DecisionNetwork) or any(
        map(has_posterior, net.chance.distributions.values())
    )
    return net.ask(question, **(how if learned else {"rng": how["rng"]}))


def _plain(known: dict[str, Any]) -> dict[str, Any]:
    return {n: json_state(v) for n, v in known.items()}


def _span(interval: Any) -> dict[str, Any]:
    return {
        "level": interval.level, "low": interval.lower, "high": interval.upper,
        "draws": interval.draws, "error": interval.error,
    }  # fmt: skip


def _answer_json(question: str, answer: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"question": question}
    if hasattr(answer, "ranked"):
        ranked = [
            {"choice": json_state(r.choice), "utility": r.utility}
            | ({"p_best": r.p_best, "interval": _span(r.interval)} if r.interval else {})
            for r in answer.ranked
        ]
        return {**out, "decision": answer.decision, "ranking": ranked}
    if isinstance(answer, float):
        span = getattr(answer, "interval", None)
        return {**out, "value": float(answer), **({"interval": _span(span)} if span else {})}
    if hasattr(answer, "p") and hasattr(answer, "variables"):
        states = zip(answer, answer.p.ravel().tolist(), strict=True)
        return {**out, "distribution": [{"state": json_state(s), "p": p} for s, p in states]}
    return {**out, "choice": json_state(answer)}


def _solution_json(found: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"utility": found.utility, "exact": found.exact, "policy": []}
    if found.interval is not None:
        out |= {"interval": _span(found.interval), "p_best": found.p_best, "regret": found.regret}
    for policy in found.policy.values():
        rows = []
        grid = product(*(range(p.arity) for p in policy.parents))
        for at in grid:
            p = float(policy.situations[at])
            if p > 0:
                choice = int(policy.codes[at])
                known = {v.name: json_state(v.states[i])
                         for v, i in zip(policy.parents, at, strict=True)}  # fmt: skip
                rows.append({
                    "known": known, "choice": json_state(policy.decision.states[choice]),
                    "probability": p, "utility": float(policy.utility[at][choice]),
                })  # fmt: skip
        knows = [p.name for p in policy.parents]
        out["policy"].append({"decision": policy.name, "knows": knows, "situations": rows})
    return out
