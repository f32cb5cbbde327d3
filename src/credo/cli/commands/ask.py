"""`credo ask`: a question about a network, answered in the terminal."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from credo.cli.models import load_model, model_argument, question_words
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.session import Reply, Session, fragment
from credo.cli.words import in_options
from credo.core.errors import CredoError, CredoWarning, InputError
from credo.core.state_values import json_state

if TYPE_CHECKING:
    from prompt_toolkit.history import History

__all__ = ["answer_json", "command", "converse", "history_file", "piped"]


@click.command("ask", cls=Manual)
@model_argument
@click.argument("question", nargs=-1, shell_complete=question_words)
@option("--explain", is_flag=True, help="Show how the answer was found.")
@option("--details", is_flag=True, help="The parts of a mixture besides: the number in each state.")
@option("--interval", type=float, metavar="LEVEL", help="Credible intervals, e.g. 0.95.")
@option("--draws", type=int, help="Draws for --interval: 1000 if not given.")
@option("--method", default="auto", metavar="NAME", show_default=False,
        help="auto, exact, importance, weighting, loopy or gibbs.")  # fmt: skip
@option("--budget", metavar="AMOUNT", help="A time or a number of samples: '2 s', '1e5 samples'.")
@option("--error", type=float, metavar="E", help="Sample until every probability is within ±E.")
@common_options(seed="For draws and samples.")
def command(
    model: str,
    question: tuple[str, ...],
    explain: bool,
    details: bool,
    interval: float | None,
    draws: int | None,
    method: str,
    budget: str | None,
    error: float | None,
    common: Common,
) -> None:
    """Ask a network one question or several.

    MODEL is a network file (.bif .xmlbif .net .dsc .xdsl .dne .uai .credo, also .gz), a posterior
    over graphs of 'credo average', or - for standard input.

    Without a question a prompt opens: evidence such as smoke=yes is kept from line to line, and a
    variable's name or a P(...) is a question. Tab completes names and states, the arrow keys bring
    earlier lines back, help lists the rest. Piped input is taken line by line.

    \b
    Examples:
      credo ask asia.bif "P(lung | smoke=yes)"
      credo ask asia.bif "P(lung=yes | smoke=yes, dysp=no)" --explain
      credo ask asia.bif "argmax P(lung, bronc | xray=yes)" --json
      credo ask asia.bif "P(lung | do(smoke=yes))"
      credo ask asia.bif "P(lung_{smoke=no}=yes | smoke=yes, lung=yes)"
      credo ask patients.credo "P(lung=yes | smoke=yes)" --interval 0.95
      credo ask graphs.credo "P(lung=yes | smoke=yes)" --interval 0.95
      credo ask asia.bif "P(lung | smoke=yes)" --method weighting --error 0.01
      printf 'smoke=yes\\nlung\\n' | credo ask asia.bif
    """
    from credo.checking.findings import found_of
    from credo.model.structures.structure_posterior import StructurePosterior

    if not question and model == "-":
        raise InputError("A model from standard input needs its questions on the command line.")
    net = load_model(model)
    how: dict[str, Any] = {"method": method, "budget": budget, "error": error, "rng": common.seed}
    how |= {"interval": interval, "draws": draws}
    if isinstance(net, StructurePosterior):
        if not question:
            raise InputError("A posterior over graphs needs its questions on the command line.")
        if explain or method != "auto" or budget is not None or error is not None:
            raise InputError(
                "A posterior over graphs is asked exactly: --explain, --method, --budget and "
                "--error are for one network."
            )
        how = {k: how[k] for k in ("rng", "interval", "draws")}
    else:
        how["explain"] = explain
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)  # an approximate answer says so itself
        warnings.filterwarnings("always", message="Far outside", category=CredoWarning)
        if not question:
            del how["explain"]
            _converse(Session(net, how, explain), model, common)
            return
        if not common.as_json:
            for text in question:
                answer = _answered(net, text, len(question) > 1, **how)
                if len(question) > 1 and not explain and not common.quiet:
                    click.secho(text, bold=True)
                click.echo(f"{answer:.6g}" if type(answer) is float else in_options(str(answer)))
                parts = getattr(getattr(answer, "value", answer), "components", None)
                if details and parts is not None:
                    click.echo(parts)
            names = [name for text in question for name in _named(net, text)]
            recalled = found_of(net.record, names)
            if recalled:
                common.say(recalled)
            return
        several = len(question) > 1
        answers = [_answered(net, text, several, **how) for text in question]
    found = [answer_json(t, a) for t, a in zip(question, answers, strict=True)]
    for text, one in zip(question, found, strict=True):
        recalled = found_of(net.record, _named(net, text))
        if recalled:
            one["found"] = recalled
    common.emit("ask", {"model": model, "answers": found})


def _named(net: Any, text: str) -> list[str]:
    """The variables that a question is about."""
    from credo.predict.causal.counterfactual import is_counterfactual
    from credo.predict.questions.question import parse

    if is_counterfactual(text):
        return []
    question = parse(getattr(net, "_asked", net), text)
    return [*question.targets, *question.given, *question.do]


def _answered(net: Any, text: str, named: bool, **how: Any) -> Any:
    """The answer; where there are several questions, a refusal says which it is about."""
    try:
        return net.ask(text, **how)
    except CredoError as error:
        if not named or text in error.message:
            raise
        raise type(error)(f"{text}: {error.message}", hint=error.hint) from None


def _converse(session: Session, model: str, common: Common) -> None:
    """The prompt, or its lines from a pipe."""
    if sys.stdin.isatty() and not common.as_json:
        converse(session, model)
        return
    answers = []
    for reply in piped(session):
        if common.as_json:
            if reply.question:
                answers.append(answer_json(reply.question, reply.value))
        elif reply.text and (reply.question or not common.quiet):
            click.echo(reply.text)
    if common.as_json:
        common.emit("ask", {"model": model, "answers": answers})


def answer_json(question: str, answer: Any) -> dict[str, Any]:
    """One answer as plain data."""
    out: dict[str, Any] = {"question": question}
    value = getattr(answer, "value", answer)
    if isinstance(value, float):
        out["probability"] = float(value)
        if hasattr(value, "interval"):
            out["interval"] = _ends(value.interval, float(value.interval.error))
        if getattr(value, "bounds", None) is not None:
            out["bounds"] = list(value.bounds)  # type: ignore[attr-defined]
    elif hasattr(value, "log_p") and not callable(value.log_p):
        out["states"] = {n: json_state(s) for n, s in value.items()}
        out["log_p"] = value.log_p
    elif hasattr(value, "to_dict") and not hasattr(value, "mode"):  # mixtures, of both kinds
        out |= value.to_dict()
        _spans(out, value)
    elif isinstance(value, Mapping):
        out["variables"] = list(value.names)  # type: ignore[attr-defined]
        out["distribution"] = [
            {"state": [json_state(s) for s in k] if isinstance(k, tuple) else json_state(k), "p": p}
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
    if getattr(discrete, "notes", ()):
        out["notes"] = list(discrete.notes)
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


def _numbers(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


# --- The prompt of `credo ask`: a line in, an answer out, with history and completion.
# In a terminal the arrow keys bring back earlier lines (kept in the user's state folder) and Tab
# completes names, states and commands. When input is piped, each line is taken as it comes, and the
# first bad one ends the run.


def history_file() -> Path:
    """Where the lines typed at the prompt are kept."""
    given = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    base = Path(given) if given else Path.home() / ".local" / "state"
    return base / "credo" / "history"


def piped(session: Session) -> Iterator[Reply]:
    """Answer standard input line by line, until it ends or says quit."""
    for number, line in enumerate(sys.stdin, 1):
        try:
            reply = session.take(line)
        except CredoError as error:
            raise InputError(f"Line {number}: {error}") from None
        if reply.done:
            return
        yield reply


def converse(session: Session, title: str) -> None:
    """The prompt in a terminal."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion

    class Names(Completer):
        def get_completions(self, document: Any, _: Any) -> Iterator[Completion]:
            line = document.text_before_cursor
            start, words = fragment(session.net, line)
            for word in words:
                yield Completion(word, start_position=start - len(line))

    click.echo(f"{title}: type evidence (x=a), a variable, P(…), or help; Tab completes.")
    prompt: PromptSession[str] = PromptSession(
        history=_history(), completer=Names(), complete_while_typing=False
    )
    while True:
        many = len(session.given) + len(session.do)
        try:
            line = prompt.prompt(f"credo ({many} given)> " if many else "credo> ")
        except KeyboardInterrupt:
            continue  # forget the line
        except EOFError:
            return
        try:
            reply = session.take(line)
        except CredoError as error:
            click.secho(str(error), fg="red")
            continue
        except KeyboardInterrupt:
            click.echo("stopped")
            continue
        if reply.done:
            return
        if reply.text:
            click.echo(reply.text)


def _history() -> History:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    path = history_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))
