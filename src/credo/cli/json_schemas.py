"""The schemas of `--json`: what each command prints for machines, in JSON Schema's words.

Every document begins with `"credo": {"schema": "credo.ask", "version": 1}`. A key that is there
keeps its name and meaning within a version; new keys may come. docs/json.md is made from this, and
the tests hold the commands to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from credo.cli.options import JSON_VERSION

__all__ = ["SCHEMAS", "schema_of"]

Json = dict[str, Any]


def _is(kind: str | list[str], says: str) -> Json:
    return {"type": kind, "description": says}


def _list(items: Json, says: str) -> Json:
    return {"type": "array", "items": items, "description": says}


def _object(keys: Json, says: str = "", optional: tuple[str, ...] = ()) -> Json:
    return {
        "type": "object",
        "description": says,
        "properties": keys,
        "required": [k for k in keys if k not in optional],
        "additionalProperties": False,
    }


def _map(values: Json, says: str) -> Json:
    return {"type": "object", "additionalProperties": values, "description": says}


def _text(says: str) -> Json:
    return _is("string", says)


def _number(says: str) -> Json:
    return _is("number", says)


def _whole(says: str) -> Json:
    return _is("integer", says)


def _maybe(what: Json) -> Json:
    kind = what["type"]
    return what | {"type": [*([kind] if isinstance(kind, str) else kind), "null"]}


_STATE = _is(["string", "number", "boolean"], "a state, in its own type")
_CELL = _is(["string", "number", "boolean", "null"], "a cell")
_NAMES = _list(_text("a variable"), "names of variables")
_NOTES = _list(_text("a sentence"), "what was noticed")
_EDGES = _list(_list(_text("a variable"), "a parent and its child"), "the edges")
_MODEL = _text("the model, as it was named")
_SPAN = _object(
    {
        "level": _number("the probability inside, e.g. 0.95"),
        "low": _is(["number", "array"], "the lower end"),
        "high": _is(["number", "array"], "the upper end"),
        "draws": _whole("parameter draws it was made from"),
        "error": _number("how far the ends may be off, from the number of draws"),
    },
    "a credible interval",
    optional=("low", "high"),
)
_ANSWER = _object(
    {
        "question": _text("the question, with the evidence of the session"),
        "probability": _number("of the event that was asked about"),
        "variables": _NAMES | {"description": "what the distribution is of"},
        "distribution": _list(
            _object(
                {
                    "state": _is(["string", "number", "boolean", "array"], "a state, or one each"),
                    "p": _number("its probability"),
                    "low": _number("the interval's lower end"),
                    "high": _number("the interval's upper end"),
                },
                "a cell",
                optional=("low", "high"),
            ),
            "the distribution that was asked for",
        ),
        "states": _map(_STATE, "the most probable states, for argmax and mpe"),
        "log_p": _number("ln P(states, evidence)"),
        "mean": _is(["number", "array"], "of a continuous variable"),
        "variance": _is(["number", "array"], "of a continuous variable"),
        "interval": _SPAN,
        "mean_interval": _SPAN,
        "sd_interval": _SPAN,
        "approximation": {"type": "object", "description": "how it was found, and its error"},
        "notes": _NOTES,
        "account": _text("with --explain: how the answer was found"),
        "found": _text("what learning found wrong with the variables of the question"),
    },
    "one answer; which keys it has depends on what was asked",
    optional=(
        "probability", "variables", "distribution", "states", "log_p", "mean", "variance",
        "interval", "mean_interval", "sd_interval", "approximation", "notes", "account", "found",
    ),
)  # fmt: skip
_FINDING = _object(
    {
        "kind": _text("the section it comes from"),
        "severity": _text("problem, warning, note or good"),
        "sentence": _text("what was found"),
        "number": _is(["number", "string", "null"], "the number in it"),
        "advice": _text("what to do"),
        "where": _is(["string", "array", "null"], "variables or rows"),
        "variables": _list(_text("its name"), "the variables it is about"),
        "p": _is(["number", "null"], "the adjusted p of its test, where there is one"),
    },
    "a finding",
)
_FAMILY = {"type": "object", "description": "a child, its parents, rows, likelihood, evidence"}
_FIT: Json = {
    "model": _maybe(_text("the file that was written")),
    "rows": _number("rows it was learned from, weights added"),
    "log_likelihood": _is(["number", "string", "null"], "ln P(rows | parameters)"),
    "log_marginal": _is(["number", "string", "null"], "ln P(rows | prior)"),
    "notes": _NOTES,
    "families": _list(_FAMILY, "the fit, family by family"),
}
_VARIABLE: Json = {
    "name": _text("its name"),
    "kind": _text("discrete or continuous"),
    "states": _list(_STATE, "its states, in order"),
}
_KEYS: dict[str, tuple[Json, tuple[str, ...]]] = {
    "schema": (
        {
            "source": _text("the file or table"),
            "rows": _whole("how many"),
            "variables": _list(
                _object(
                    _VARIABLE
                    | {
                        "ordered": _is("boolean", "whether the states have an order"),
                        "missing_rate": _number("share of missing cells"),
                    }
                ),
                "the columns that became variables",
            ),
            "columns": _list(
                _object(
                    {
                        "name": _text("its name"),
                        "kind": _text("what it was taken as"),
                        "used": _is("boolean", "whether it became a variable"),
                        "reason": _text("why"),
                        "missing": _whole("missing cells"),
                        "missing_as": _map(_whole("how often"), "what stood for missing"),
                        "notes": _NOTES,
                    }
                ),
                "every column of the table",
            ),
            "notes": _NOTES,
        },
        (),
    ),
    "learn": (
        {
            "output": _maybe(_text("the file that -o named")),
            "how": _text("the search and the score"),
            "score": _number("of the graph, larger is better"),
            "reason": _text("why the search stopped; 'interrupted' for Ctrl-C"),
            "seconds": _number("how long it took"),
            "proven": _is("boolean", "whether no other graph scores higher"),
            "bound": _maybe(_number("of exact: what no graph scores above; null if unknown")),
            "nodes": _NAMES,
            "edges": _EDGES,
            "parameters": _whole("numbers the network could choose"),
            "notes": _NOTES,
            "findings": _list(_FINDING, "with --check: worst first"),
        },
        ("findings",),
    ),
    "score": (
        {
            "name": _text("the score"),
            "score": _number("of the whole graph, larger is better"),
            "families": _list(
                _object(
                    {
                        "child": _text("a variable"),
                        "parents": _NAMES,
                        "score": _number("its part"),
                    }
                ),
                "the score, family by family",
            ),
            "parts": _map(_number("a part"), "parts of the score, where it has some"),
            "notes": _NOTES,
        },
        (),
    ),
    "fit": (_FIT, ()),
    "ask": ({"model": _MODEL, "answers": _list(_ANSWER, "one for each question")}, ()),
    "em": (
        _FIT
        | {
            "trace": _list(_number("the objective"), "at the start and after each iteration"),
            "reason": _text("why the climb stopped; 'interrupted' for Ctrl-C"),
            "seconds": _number("how long it took"),
            "seed": _maybe(_whole("the seed")),
            "iterations": _whole("how many"),
            "missing": _map(_number("a share"), "the share of missing cells by variable"),
        },
        (),
    ),
    "impute": (
        {
            "model": _MODEL,
            "rows": _whole("how many"),
            "filled": _map(_whole("gaps"), "gaps filled, by column"),
            "files": _list(_text("a file"), "what was written"),
            "table": _list(_map(_CELL, "a row"), "the filled rows, when no file was written"),
            "gaps": _list(
                _object(
                    {
                        "row": _whole("its number in the table, from 1"),
                        "variable": _text("its column"),
                        "distribution": _map(_number("p"), "the probability of each state"),
                        "mean": _number("of a continuous gap"),
                        "variance": _number("of a continuous gap"),
                    },
                    optional=("distribution", "mean", "variance"),
                ),
                "with --method posterior: what is known of each gap",
            ),
        },
        ("rows", "filled", "files", "table", "gaps"),
    ),
    "show": (
        {
            "model": _MODEL,
            "kind": _text("of an undirected model: MarkovNetwork or FactorGraph"),
            "parameters": _whole("numbers the network could choose"),
            "variables": _list(
                _object(_VARIABLE | {"parents": _NAMES}, optional=("parents",)), "in order"
            ),
            "edges": _EDGES,
            "potentials": _list(
                _object({"name": _text("its name"), "variables": _NAMES}),
                "of an undirected model",
            ),
        },
        ("kind", "parameters", "edges", "potentials"),
    ),
    "sample": (
        {
            "model": _MODEL,
            "seed": _whole("the seed"),
            "rows": {
                "type": ["integer", "array"],
                "items": _map(_CELL, "a row"),
                "description": "the rows, or how many were written",
            },
            "output": _text("the file that was written"),
        },
        ("output",),
    ),
    "classify": (
        {
            "target": _text("the class"),
            "method": _text("the classifier"),
            "classes": _list(_STATE, "in the order of p"),
            "cross_validation": _map(_number("a figure"), "accuracy, log_loss, brier, …"),
            "predictions": _list(
                _object({"class": _STATE, "p": _list(_number("p"), "one for each class")}),
                "with --predict",
            ),
            "predictions_output": _text("the file that the predictions were written to"),
            "output": _maybe(_text("the file that the model was written to")),
            "notes": _NOTES,
        },
        ("cross_validation", "predictions", "predictions_output"),
    ),
    "convert": (
        {
            "from": _text("the file that was read"),
            "to": _text("the file that was written"),
            "notes": _NOTES,
        },
        (),
    ),
    "fit-markov": (
        {
            "model": _maybe(_text("the file that was written")),
            "method": _text("likelihood or pseudo-likelihood"),
            "score": _number("what was climbed"),
            "iterations": _whole("how many"),
            "reason": _text("why it stopped"),
            "seconds": _number("how long it took"),
            "notes": _NOTES,
            "weights": _map(_number("a weight"), "the weights of features, where it has some"),
            "variables": _NAMES,
            "edges": _EDGES,
        },
        (),
    ),
    "check": (
        {
            "rows": _number("rows it was checked on"),
            "variables": _whole("how many"),
            "how": _text("which rows judged what"),
            "verdict": _text("the report in a sentence"),
            "findings": _list(_FINDING, "worst first"),
            **{
                name: {"type": ["object", "array"], "description": says}
                for name, says in (
                    ("held_out", "log-likelihood of rows not seen, beside baselines"),
                    ("predictive", "statistics of generated tables"),
                    ("calibration", "of each variable given the others"),
                    ("independence", "tests of what the graph implies"),
                    ("edges", "how often each edge comes back"),
                    ("parameters", "how open each is"),
                    ("influence", "of single rows"),
                    ("outliers", "rows by surprise"),
                )
            },
            "left_out": _map(_text("why"), "sections that were not made"),
            "notes": _NOTES,
            "seconds": _number("how long it took"),
            "seed": _maybe(_whole("the seed")),
            "model": _MODEL,
        },
        (
            "held_out",
            "predictive",
            "calibration",
            "independence",
            "edges",
            "parameters",
            "influence",
            "outliers",
        ),
    ),
    "compare": (
        {
            "models": _list(
                _object({"name": _text("its file"), "parameters": _whole("how many")}), "in order"
            ),
            "graphs": _list(
                _object(
                    {
                        "first": _text("a model"),
                        "second": _text("another"),
                        "shd": _whole("the structural Hamming distance"),
                        "shared": _EDGES,
                        "reversed": _EDGES,
                        "missing": _EDGES,
                        "extra": _EDGES,
                    }
                ),
                "edge by edge",
            ),
            "rows": _is(["number", "null"], "rows they were compared on"),
            "scores": _list({"type": "object", "description": "a model on the rows"}, "best first"),
            "how": _map(_text("a sentence"), "how each model was judged"),
        },
        (),
    ),
    "cluster": (
        {
            "method": _text("how the rows were grouped"),
            "k": _whole("how many clusters"),
            "sizes": _list(_number("rows"), "of each cluster"),
            "columns": _NAMES,
            "quality": _map(_is(["number", "string", "null"], "a figure"), "how good it is"),
            "profiles": _list(
                _list(
                    _object(
                        {
                            "column": _text("its name"),
                            "bits": _number("how far it sets the cluster apart"),
                            "inside": _map(_number("a share or a figure"), "in the cluster"),
                        }
                    ),
                    "of a cluster, most telling first",
                ),
                "what sets each cluster apart",
            ),
            "rows": _list(_whole("a row"), "numbers of the rows in the table, from 1"),
            "labels": _list(_whole("a cluster"), "of each row"),
            "membership": _is(["array", "null"], "P(cluster | row), where the method has it"),
            "seed": _maybe(_whole("the seed")),
            "reason": _text("why it stopped"),
            "notes": _NOTES,
            "seconds": _maybe(_number("how long it took")),
            "output": _maybe(_text("the file that was written")),
            "candidates": _object(
                {
                    "by": _text("how k was chosen"),
                    "k": {"type": "object", "description": "figures of each k"},
                },
                "with --k auto",
            ),
            "stability": _object(
                {"mean": _number("over resamples"), "sd": _number("over resamples")},
                "with --stability",
            ),
        },
        ("candidates", "stability"),
    ),
    "sensitivity": (
        {
            "model": _MODEL,
            "question": _text("the question"),
            "answer": _number("its probability"),
            "threshold": _number("the probability that would change what is done"),
            "fixed": _whole("parameters that cannot move"),
            "range": _text("over what the parameters range"),
            "parameters": _list(
                {"type": "object", "description": "a parameter: value, derivative, needed, …"},
                "those that move the answer most first",
            ),
        },
        (),
    ),
    "value": (
        {
            "model": _MODEL,
            "target": _text("the variable"),
            "given": {"type": "object", "description": "what is known"},
            "uncertainty": _number("of the target, in bits"),
            "gains": _list(
                _object(
                    {
                        "variable": _text("its name"),
                        "bits": _number("what it would tell on average"),
                        "share": _number("of the uncertainty"),
                        "cost": _number("what observing it costs"),
                    }
                ),
                "best first",
            ),
            "left_out": _list(_text("a name"), "variables that were not looked at"),
        },
        (),
    ),
    "report": (
        {
            "model": _MODEL,
            "data": _maybe(_text("the table")),
            "report": _text("the file that was written"),
            "bytes": _whole("its size"),
        },
        (),
    ),
    "demo": (
        {
            "play_tennis_rows": _whole("rows of the table"),
            "fever_given_pneumonia": {"type": "object", "description": "mle and posterior"},
            "pneumonia_given_fever_and_cough": {"type": "object", "description": "p and interval"},
            "next_candy_lime": _number("after five limes"),
            "bags": _map(_number("p"), "the posterior of each bag"),
            "number_game": {"type": "object", "description": "the concept and its probability"},
            "burglary_given_both_calls": _number("p"),
            "no_tennis_today": _number("p"),
            "titanic": _object(
                {
                    "rows": _whole("rows of the table"),
                    "edges": _EDGES,
                    "score": _number("of the graph"),
                    "answers": _map(
                        _map(_number("p, or an end of its interval"), "an answer"), "by question"
                    ),
                    "model": _text("the file that was written"),
                    "report": _text("the page that was written"),
                },
                "the main job: a network from a table with gaps",
                optional=("model", "report"),
            ),
        },
        ("titanic",),
    ),
    "completion": (
        {
            "shell": _text("bash, zsh or fish"),
            "use": _text("the line for the shell's own file"),
            "script": _text("the script"),
        },
        (),
    ),
}


def schema_of(command: str) -> Json:
    """The JSON Schema of what a command prints with --json.

    >>> schema_of("ask")["properties"]["credo"]["properties"]["schema"]
    {'const': 'credo.ask'}
    """
    keys, optional = _KEYS[command]
    head = {
        "credo": {
            "type": "object",
            "properties": {
                "schema": {"const": f"credo.{command}"},
                "version": {"const": JSON_VERSION},
            },
            "required": ["schema", "version"],
            "description": "which schema this is, and its version",
        },
        "version": {"const": JSON_VERSION, "description": "the same number"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"credo {command}",
    } | (_object(head | keys, optional=optional))


SCHEMAS: Mapping[str, Json] = MappingProxyType({name: schema_of(name) for name in _KEYS})
"""The schema of every command by its name."""
