"""`credo ask`: a question about a network, answered in the terminal."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

import click
import numpy as np

from credo.errors import CredoWarning

__all__ = ["answer_json", "command"]


@click.command("ask")
@click.argument("model")
@click.argument("question", nargs=-1, required=True)
@click.option("--explain", is_flag=True, help="Show how the answer was found.")
@click.option("--interval", type=float, metavar="LEVEL", help="Credible intervals, e.g. 0.95.")
@click.option("--draws", type=int, help="Draws for --interval: 1000 if not given.")
@click.option(
    "--method",
    default="auto",
    metavar="NAME",
    help="auto, exact, importance, weighting, loopy or gibbs.",
)
@click.option(
    "--budget", metavar="AMOUNT", help="A time or a number of samples: '2 s', '1e5 samples'."
)
@click.option(
    "--error", type=float, metavar="E", help="Sample until every probability is within ±E."
)
@click.option("--seed", type=int, default=0, metavar="N", help="The seed of draws and samples.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def command(
    model: str,
    question: tuple[str, ...],
    explain: bool,
    interval: float | None,
    draws: int | None,
    method: str,
    budget: str | None,
    error: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Ask a network one question or several.

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .uai .credo, also .gz).

    \b
    Examples:
      credo ask asia.bif "P(lung | smoke=yes)"
      credo ask asia.bif "P(lung=yes | smoke=yes, dysp=no)" --explain
      credo ask asia.bif "argmax P(lung, bronc | xray=yes)" --json
      credo ask asia.bif "P(lung | do(smoke=yes))"
      credo ask fitted.credo "P(lung=yes | smoke=yes)" --interval 0.95
      credo ask large.bif "P(lung | smoke=yes)" --budget "2 s" --error 0.01
    """
    from credo.formats import load

    net = load(model)
    how: dict[str, Any] = {"method": method, "budget": budget, "error": error, "rng": seed}
    how |= {"interval": interval, "draws": draws}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)  # an approximate answer says so itself
        answers = [net.ask(text, explain=explain, **how) for text in question]
    if as_json:
        found = [answer_json(t, a) for t, a in zip(question, answers, strict=True)]
        document = {"version": 1, "model": model, "answers": found}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
        return
    for text, answer in zip(question, answers, strict=True):
        if len(question) > 1 and not explain:
            click.secho(text, bold=True)
        click.echo(f"{answer:.6g}" if type(answer) is float else str(answer))


def answer_json(question: str, answer: Any) -> dict[str, Any]:
    """One answer as plain data."""
    out: dict[str, Any] = {"question": question}
    value = getattr(answer, "value", answer)
    if isinstance(value, float):
        out["probability"] = float(value)
        if hasattr(value, "interval"):
            out["interval"] = _ends(value.interval, float(value.interval.error))
    elif hasattr(value, "log_p") and not callable(value.log_p):
        out["states"] = {n: _plain(s) for n, s in value.items()}
        out["log_p"] = value.log_p
    elif hasattr(value, "to_dict") and not hasattr(value, "mode"):  # mixtures, of both kinds
        out |= value.to_dict()
        _spans(out, value)
    elif isinstance(value, Mapping):
        out["variables"] = list(value.names)  # type: ignore[attr-defined]
        out["distribution"] = [
            {"state": [_plain(s) for s in k] if isinstance(k, tuple) else _plain(k), "p": p}
            for k, p in value.items()
        ]
        if getattr(value, "interval", None) is not None:
            interval: Any = value.interval  # type: ignore[attr-defined]
            out["interval"] = _ends(interval, float(np.max(interval.error)))
            ends = [np.ravel(e).tolist() for e in interval]
            for cell, low, high in zip(out["distribution"], *ends, strict=True):
                cell |= {"low": low, "high": high}
            del out["interval"]["low"], out["interval"]["high"]
    else:
        out["mean"], out["variance"] = _numbers(value.mean), _numbers(value.variance)
        if hasattr(value, "covariance"):
            out |= {"variables": list(value.names), "covariance": _numbers(value.covariance)}
        _spans(out, value)
    discrete = getattr(value, "discrete", value)
    approximation = getattr(discrete, "approximation", None)
    if approximation is not None:
        out["approximation"] = approximation.to_dict()
    if value is not answer:
        out["account"] = str(answer.account)
    return out


def _spans(out: dict[str, Any], value: Any) -> None:
    for what in ("p", "mean", "sd", "correlation", "weight"):
        span = getattr(value, f"{what}_interval", None)
        if span is not None:
            out[f"{what}_interval"] = _ends(span, float(np.max(span.error)))


def _ends(interval: Any, error: float) -> dict[str, Any]:
    low, high = (_numbers(end) for end in interval)
    return {
        "level": interval.level, "low": low, "high": high, "draws": interval.draws, "error": error,
    }  # fmt: skip


def _plain(state: Any) -> Any:
    return state if isinstance(state, (str, int, float, bool)) else str(state)


def _numbers(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
