"""`credo ask`: a question about a network, answered in the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

__all__ = ["answer_json", "command"]


@click.command("ask")
@click.argument("model")
@click.argument("question", nargs=-1, required=True)
@click.option("--explain", is_flag=True, help="Show how the answer was found.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(model: str, question: tuple[str, ...], explain: bool, as_json: bool) -> None:
    """Ask a network one question or several.

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .uai .credo, also .gz).

    \b
    Examples:
      credo ask asia.bif "P(lung | smoke=yes)"
      credo ask asia.bif "P(lung=yes | smoke=yes, dysp=no)" --explain
      credo ask asia.bif "argmax P(lung, bronc | xray=yes)" --json
      credo ask asia.bif "P(lung | do(smoke=yes))"
    """
    from credo.formats import load

    net = load(model)
    answers = [net.ask(text, explain=explain) for text in question]
    if as_json:
        found = [answer_json(t, a) for t, a in zip(question, answers, strict=True)]
        document = {"version": 1, "model": model, "answers": found}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for text, answer in zip(question, answers, strict=True):
        if len(question) > 1 and not explain:
            click.secho(text, bold=True)
        click.echo(f"{answer:.6g}" if isinstance(answer, float) else str(answer))


def answer_json(question: str, answer: Any) -> dict[str, Any]:
    """One answer as plain data."""
    out: dict[str, Any] = {"question": question}
    value = getattr(answer, "value", answer)
    if isinstance(value, float):
        out["probability"] = value
    elif hasattr(value, "log_p") and not callable(value.log_p):
        out["states"] = {n: _plain(s) for n, s in value.items()}
        out["log_p"] = value.log_p
    elif isinstance(value, Mapping):
        out["variables"] = list(value.names)  # type: ignore[attr-defined]
        out["distribution"] = [
            {"state": [_plain(s) for s in k] if isinstance(k, tuple) else _plain(k), "p": p}
            for k, p in value.items()
        ]
    else:
        out["mean"], out["variance"] = _numbers(value.mean), _numbers(value.variance)
    if value is not answer:
        out["account"] = str(answer.account)
    return out


def _plain(state: Any) -> Any:
    return state if isinstance(state, (str, int, float, bool)) else str(state)


def _numbers(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
