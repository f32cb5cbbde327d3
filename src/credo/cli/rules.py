"""The options by which commands that learn take scores and prior knowledge; one place for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from credo.cli.options import Option
from credo.errors import InputError

__all__ = ["rule_options", "rules_from", "score_options", "score_settings"]

F = TypeVar("F", bound=Callable[..., Any])
_SCORE, _GRAPH = "The score", "What is known of the graph"


def _option(group: str, *names: str, **settings: Any) -> Any:
    return click.option(*names, cls=Option, group=group, **settings)


def score_options(function: F) -> F:
    """The score and its settings."""
    options = [
        _option(_SCORE, "--score", "score_name", metavar="NAME",
                help="loglik, aic, bic, mdl, bdeu, bds, k2, fnml, qnml or bge."),
        _option(_SCORE, "--ess", type=float, help="The equivalent sample size of bdeu and bds."),
        _option(_SCORE, "--edge-prior", type=float, metavar="P",
                help="The prior probability of every edge."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def score_settings(
    score_name: str | None, ess: float | None, edge_prior: float | None, threads: int | None
) -> dict[str, Any]:
    """The settings as `cr.score` and `cr.learn` take them."""
    return {"score": score_name, "ess": ess, "edge_prior": edge_prior, "threads": threads}


def rule_options(function: F) -> F:
    """What is known of the structure beforehand."""
    options = [
        _option(_GRAPH, "--require", multiple=True, metavar="A->B",
                help="An edge that must be."),
        _option(_GRAPH, "--forbid", multiple=True, metavar="A->B",
                help="An edge that must not be."),
        _option(_GRAPH, "--tier", multiple=True, metavar="A,B,C",
                help="Variables of one tier, earliest first: no edge goes back."),
        _option(_GRAPH, "--max-parents", type=int, metavar="K",
                help="The most parents of a child."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def rules_from(
    require: tuple[str, ...],
    forbid: tuple[str, ...],
    tier: tuple[str, ...],
    max_parents: int | None,
) -> dict[str, Any]:
    """The rules as `cr.learn` takes them."""
    return {
        "required": [_edge(e, "--require") for e in require],
        "forbidden": [_edge(e, "--forbid") for e in forbid],
        "tiers": [[n.strip() for n in t.split(",")] for t in tier],
        "max_parents": max_parents,
    }


def _edge(text: str, option: str) -> tuple[str, str]:
    for sign in ("->", "→"):
        parent, found, child = text.partition(sign)
        if found and parent.strip() and child.strip():
            return parent.strip(), child.strip()
    raise InputError(f"{option} must have the form 'A->B', got {text!r}.")
