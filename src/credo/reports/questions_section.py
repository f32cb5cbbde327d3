"""Questions and answers: those that were given, and some that any reader would ask.

Of a model no one has asked anything: what is likely when nothing is known, how the strongest edges
move an answer both ways, and the most probable state of everything.
"""

from __future__ import annotations

import shlex
import warnings
from typing import Any

import numpy as np

from credo.core.errors import CredoError, CredoWarning
from credo.core.render import short_probability
from credo.plot.networks.view import information
from credo.predict.causal.counterfactual import is_counterfactual
from credo.predict.exact.engine import engine_of
from credo.predict.questions.intervention import intervene
from credo.predict.questions.question import parse, quoted
from credo.reports.markup import Html, bar, code, join, note, paragraph, table, tag
from credo.reports.page import Section
from credo.reports.subject import Subject

__all__ = ["default_questions", "questions_section", "strong_edges"]

_MIDDLE = 64  # nodes up to which many edges are measured to find the strongest
_STATES = 30  # states of an answer that are shown
_CHEAP, _ALWAYS = 5_000.0, float("inf")  # cells up to which the usual questions have intervals

_CAUSES = (
    "do(…) sets a variable from outside, and answers as if every arrow were a cause. Rows alone do "
    "not show that: graphs with other arrows may fit them as well, and a common cause that is not "
    "in the table changes the answer. Read it so only where the arrows are known to be causes."
)


def default_questions(subject: Subject) -> list[str]:
    """Questions that any reader would ask of this model."""
    model = subject.model
    discrete = [v for v in model.variables if v.is_discrete]
    if not discrete:
        return [f"P({quoted(n)})" for n in model.names[:4]]
    strong = strong_edges(subject)
    out: list[str] = []
    for a, b in strong[:2]:
        for target, known in ((b, a), (a, b)):
            states = model.variable(known).states
            if not out:
                out.append(f"P({quoted(target)})")
            for state in states[: 3 if len(states) <= 3 else 2]:
                out.append(f"P({quoted(target)} | {quoted(known)}={quoted(state)})")
    if subject.directed and strong:
        a, b = strong[0]
        state = model.variable(a).states[-1]
        out.append(f"P({quoted(b)} | do({quoted(a)}={quoted(state)}))")
    if not out:
        out = [f"P({quoted(v.name)})" for v in discrete[:4]]
    if len(model.names) <= 60 and len(discrete) == len(model.names):
        out.append(f"argmax P({', '.join(quoted(n) for n in model.names)})")
    return list(dict.fromkeys(out))


def strong_edges(subject: Subject) -> list[tuple[str, str]]:
    """The edges between discrete variables, the most informative first."""
    model = subject.model
    edges = tuple(e for e in subject.edges if all(model.variable(n).is_discrete for n in e))[
        : 60 if len(model.names) <= _MIDDLE else 12
    ]
    if len(model.names) > 300:
        return list(edges)
    try:
        bits = information(model, edges)
    except CredoError:
        return list(edges)
    return sorted(bits, key=lambda e: -bits[e])


def questions_section(subject: Subject) -> Section:
    """Each question with its answer, and the command that asks it."""
    parts: list[object] = []
    asked = list(subject.questions)
    if asked:
        parts.append(tag("h3", "Asked for this report"))
        parts.append(_answers(subject, asked, _ALWAYS))
    found = [q for q in subject.usual_questions if q not in asked]
    if found:
        if asked:
            parts.append(tag("h3", "Questions that any reader would ask"))
        parts.append(_answers(subject, found, _CHEAP))
    if any("do(" in q for q in (*asked, *found)):
        parts.append(note(_CAUSES))
    return Section("questions", "Questions and answers", join(parts))


def _answers(subject: Subject, questions: list[str], most: float) -> Html:
    return tag("div", join(_answer(subject, text, most) for text in questions), class_="answers")


def _cells(model: Any, text: str) -> float:
    """The cells of the tables that an answer goes through, once; draws repeat them."""
    question = parse(model, text)
    asked = intervene(model, question.do) if question.do else model
    engine = engine_of(asked)
    observed = [engine.at[n] for n in question.given]
    plan = engine.plan(observed, [engine.at[n] for n in question.targets])
    return float(plan.total_states)


def _answer(subject: Subject, text: str, most: float) -> Html:
    model = subject.model
    options: dict[str, Any] = {"rng": subject.seed}
    wants = subject.has_posterior and "argmax" not in text and not is_counterfactual(text)
    dear = wants and most < _ALWAYS and model.is_discrete and _cells(model, text) > most
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CredoWarning)
        try:
            value = _asked(model, text, options, subject.level if wants and not dear else None)
        except CredoError as error:
            body: object = note(f"No answer: {error}")
        else:
            body = _value(value)
            if dear:
                body = join(
                    [body, note("The command below adds its interval, which takes longer.")]
                )
    flags = f" --interval {subject.level:g}" if wants and "No answer" not in str(body) else ""
    command = f"credo ask {shlex.quote(subject.model_name)} {shlex.quote(text)}{flags}"
    return tag("div", join([tag("h3", text), body, code(command)]), class_="answer")


def _asked(model: Any, text: str, options: dict[str, Any], level: float | None) -> Any:
    if level is not None:
        try:
            return model.ask(text, interval=level, **options)
        except CredoError:
            pass  # an answer without its interval is better than none
    return model.ask(text, **options)


def _value(value: Any) -> Html:
    approximation = getattr(value, "approximation", None)
    said = [note(f"Approximate: {approximation}")] if approximation is not None else []
    if hasattr(value, "log_p") and not callable(value.log_p):
        rows = [[n, s] for n, s in value.items()]
        words = note(f"ln P = {value.log_p:.6g}: the most probable states together.")
        return join([table(["variable", "state"], rows), words])
    if isinstance(value, float):
        ends = getattr(value, "interval", None)
        text = f"{float(value):.6g}"
        if ends is not None:
            low, high = (float(np.ravel(e)[0]) for e in ends)
            text += f" ({100 * ends.level:g} % credible: {low:.4g} to {high:.4g})"
        return join([paragraph(tag("strong", text)), *said])
    p = getattr(value, "p", None)
    if isinstance(p, np.ndarray):
        return join([_distribution(value), *said])
    return join([_density(value), *said])


def _distribution(value: Any) -> Html:
    keys = list(value)
    p = [float(x) for x in np.ravel(value.p)]
    ends = getattr(value, "interval", None)
    bounds = None if ends is None else [np.ravel(np.asarray(e, dtype=float)) for e in ends]
    top = sorted(range(len(keys)), key=lambda i: (-p[i], i))[:_STATES]
    kept = sorted(top) if len(keys) > _STATES else range(len(keys))
    rows = []
    for i in kept:
        state = ", ".join(map(str, keys[i])) if isinstance(keys[i], tuple) else keys[i]
        row: list[object] = [state, short_probability(p[i])]
        if bounds is None:
            row.append(bar(p[i]))
        else:
            low, high = float(bounds[0][i]), float(bounds[1][i])
            row += [f"{short_probability(low)}–{short_probability(high)}", bar(p[i], low, high)]
        rows.append(row)
    head = [", ".join(value.names), "p"]
    head += [f"{100 * ends.level:g} % interval"] if ends is not None else []
    more = len(keys) - len(rows)
    left = note(f"{more:,} less probable states are not shown.") if more else ""
    return join([table([*head, ""], rows, right=[1, 2] if ends is not None else [1]), left])


def _density(value: Any) -> Html:
    mean: Any = getattr(value, "mean", None)
    variance: Any = getattr(value, "variance", None)
    mean = mean() if callable(mean) else mean
    variance = variance() if callable(variance) else variance
    if np.ndim(mean) == 0 and mean is not None and variance is not None and np.ndim(variance) == 0:
        text = f"mean {float(mean):.6g}, standard deviation {float(variance) ** 0.5:.6g}"
        for what in ("mean", "sd"):
            span = getattr(value, f"{what}_interval", None)
            if span is not None:
                low, high = (float(np.ravel(e)[0]) for e in span)
                text += f"; {what} {100 * span.level:g} % within {low:.5g} to {high:.5g}"
        return paragraph(tag("strong", text))
    return code(str(value))
