"""The options by which commands that learn take scores and prior knowledge; one place for all."""

from __future__ import annotations

import csv
from typing import Any

from credo.cli.models import load_model
from credo.cli.options import option, together
from credo.core.errors import InputError

__all__ = [
    "edge_prior_from",
    "names_of",
    "numbers_from",
    "numbers_option",
    "ordered_option",
    "rule_options",
    "rules_from",
    "score_options",
    "score_settings",
]

_SCORE, _GRAPH = "The score", "What is known of the graph"


score_options = together(
    option("--score", "score_name", group=_SCORE, metavar="NAME",
           help="loglik, aic, bic, mdl, bdeu, bde, bds, k2, fnml, qnml or bge."),
    option("--ess", group=_SCORE, type=float,
           help="The equivalent sample size of bdeu, bde and bds."),
    option("--prior-network", group=_SCORE, metavar="FILE", help="The prior network of bde."),
    option("--edge-prior", group=_SCORE, metavar="P",
           help="The prior probability of every edge; or a CSV file with a row for each "
           "parent and a column for each child, both with their names."),
)  # fmt: skip
"""The score and its settings."""

rule_options = together(
    option("--require", group=_GRAPH, multiple=True, metavar="A->B", help="An edge that must be."),
    option("--forbid", group=_GRAPH, multiple=True, metavar="A->B",
           help="An edge that must not be."),
    option("--tier", group=_GRAPH, multiple=True, metavar="A,B,C",
           help="Variables of one tier, earliest first: no edge goes back."),
    option("--max-parents", group=_GRAPH, type=int, metavar="K",
           help="The most parents of a child."),
    option("--candidates", group=_GRAPH, multiple=True, metavar="CHILD=A,B,C",
           help="The only possible parents of a child."),
)  # fmt: skip
"""What is known of the structure beforehand."""


ordered_option = option(
    "--ordered", is_flag=True, help="Neighbours among ordered states share what was seen of "
    "them, as far as the rows do not tell them apart.",
)  # fmt: skip
"""Whether tables know the order of states."""

numbers_option = option(
    "--numbers", multiple=True, metavar="[COLUMN=]WAY", help="How numbers are modelled: gaussian, "
    "transformed, binned, counts, or auto, which asks the rows (the default of credo learn and "
    "average); of one COLUMN also by a transform (log, log1p, square-root, logit, yeo-johnson) or "
    "cut points with commas between them.",
)  # fmt: skip
"""How continuous columns are modelled."""


def numbers_from(given: tuple[str, ...], usual: str = "gaussian") -> Any:
    """What `numbers=` takes.

    >>> numbers_from(("binned",)), numbers_from(("fare=log", "age=18,65"))
    ('binned', {'fare': 'log', 'age': [18.0, 65.0]})
    """
    named: dict[str, Any] = {}
    for one in given:
        name, equals, way = one.rpartition("=")
        if not equals:
            if len(given) > 1:
                raise InputError(
                    f"--numbers {one} is for all columns: it stands alone, without another."
                )
            return one
        named[name] = way
        if way[:1].isdigit() or way[:1] in "+-.":
            try:
                named[name] = [float(c) for c in way.split(",")]
            except ValueError:
                raise InputError(f"The cut points in --numbers {one} must be numbers.") from None
    return named or usual


def score_settings(
    score_name: str | None,
    ess: float | None,
    prior_network: str | None,
    edge_prior: str | None,
    threads: int | None,
) -> dict[str, Any]:
    """The settings as `cr.score` and `cr.learn` take them."""
    return {
        "score": score_name,
        "ess": ess,
        "prior": None if prior_network is None else load_model(prior_network),
        "edge_prior": None if edge_prior is None else edge_prior_from(edge_prior),
        "threads": threads,
    }


def edge_prior_from(given: str, name: str = "--edge-prior", words: tuple[str, ...] = ()) -> Any:
    """A number, or the probabilities in a file: (parent, child) → number."""
    try:
        return float(given)
    except ValueError:
        pass
    try:
        with open(given, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError:
        also = "".join(f"{w}, " for w in words)
        raise InputError(
            f"{name} must be {also}a number between 0 and 1 or a CSV file, got {given!r}."
        ) from None
    children = [name.strip() for name in rows[0][1:]] if rows else []
    out = {}
    for line, (parent, *cells) in enumerate(rows[1:], start=2):
        if len(cells) != len(children):
            raise InputError(
                f"{given}, line {line}: expected a name and {len(children)} numbers, got "
                f"{len(cells) + 1} cells."
            )
        for child, cell in zip(children, cells, strict=True):
            if child != parent.strip() and cell.strip():
                out[parent.strip(), child] = _probability(cell, f"{given}, line {line}")
    return out


def _probability(cell: str, where: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise InputError(f"{where}: expected a probability, got {cell!r}.") from None


def rules_from(
    require: tuple[str, ...],
    forbid: tuple[str, ...],
    tier: tuple[str, ...],
    max_parents: int | None,
    candidates: tuple[str, ...],
) -> dict[str, Any]:
    """The rules as `cr.learn` takes them."""
    return {
        "required": [_edge(e, "--require") for e in require],
        "forbidden": [_edge(e, "--forbid") for e in forbid],
        "tiers": [[n.strip() for n in t.split(",")] for t in tier],
        "max_parents": max_parents,
        "candidates": dict(_candidates(c) for c in candidates) or None,
    }


def _candidates(text: str) -> tuple[str, list[str]]:
    child, found, parents = text.partition("=")
    if not found or not child.strip():
        raise InputError(f"--candidates must have the form 'CHILD=A,B,C', got {text!r}.")
    return child.strip(), names_of(parents)


def names_of(text: str) -> list[str]:
    """Names with commas between them.

    >>> names_of("age, smoke")
    ['age', 'smoke']
    """
    return [n.strip() for n in text.split(",") if n.strip()]


def _edge(text: str, option: str) -> tuple[str, str]:
    for sign in ("->", "→"):
        parent, found, child = text.partition(sign)
        if found and parent.strip() and child.strip():
            return parent.strip(), child.strip()
    raise InputError(f"{option} must have the form 'A->B', got {text!r}.")
