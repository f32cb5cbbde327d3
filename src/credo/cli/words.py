"""The library's advice in the words of the command line: `--prior bdeu`, not `prior=cr.BDeu(1)`.

A sentence names an argument as `name=`, `name='value'` or "name must …"; the option has the same
name. Tables hold the names that differ and the few phrases that are Python.
"""

from __future__ import annotations

import ast
import re
import shlex

__all__ = ["in_options"]

_SAME = (
    "alpha budget by candidates copies decimal delimiter distance draws encoding error ess "
    "estimate folds graph height hidden interval k k_max level max_parents memory method missing "
    "max_iter normalise order outcome potentials scale search seconds stability start steps target "
    "threshold weights"
)
_OTHER = {"ragged": "--skip-ragged", "required": "--require", "forbidden": "--forbid",
          "tiers": "--tier", "path": "-o", "prior": "--prior-network"}  # fmt: skip
_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in _SAME.split()} | _OTHER
_SET = ("affinity", "covariance", "criterion", "gamma", "landmarks", "neighbours", "restarts")
"""Options of one method of clustering: `--set NAME=VALUE`."""

_PHRASES = (
    (r"[Rr]ead the table with the (?:network|model)'s schema: cr\.read\(…, net\.schema\)",
     "Use the same columns and states (--kind, --states)"),
    (r"the states in schema=", "its --states"),
    (r"Name the kinds in schema= to", "Name their kinds with --kind to"),
    (r"name it in missing= if it is missing \(missing=\[[^]]*'\?', '(.*?)'\] keeps .*?\)",
     r"take it with --missing '+\1' if it is missing"),
    (r"name it in missing= to take it as missing",
     "take it as missing with --missing TEXT (+TEXT keeps the other words)"),
    (r"cr\.learn\(rows, search='([\w-]+)'\)", r"credo learn TABLE --search \1"),
    (r"cr\.learn\(rows, parameters=cr\.BDeu\(1\)\)", "credo learn TABLE"),
    (r"cr\.fit\(net, rows, prior=.*?\)\)", "credo fit MODEL TABLE --prior bdeu -o new.credo"),
    (r"cr\.fit\(dag, rows, prior=.*?\)\)", "credo fit GRAPH TABLE --prior bdeu"),
    (r"(?:prior=)?(?:\{.*?: )?cr\.(?:BDeu|LinePrior)\(.*?\)\}?", "--prior bdeu"),
    (r"cr\.Laplace\(1\)", "--prior laplace"),
    (r"Give prior=net, or use 'bdeu'", "Give --prior-network FILE, or use --score bdeu"),
    (r"got prior=None", "got none"),
    (r"\bcr\.(em|fit)\b(?!\()", r"credo \1"),
    (r"^map\(\) is for discrete", "argmax is for discrete"),
    (r", which \.components lists", " (--details lists them)"),
    (r"Its \.pdf\(x\) is the density at a number; (P\(.+\)) is a range", r"A range: \1"),
    (r"(, or |Use )(?:use )?stream\.load\(\)", r"\1more --memory"),
    (r"Leave it out \(table\.select\)", "Leave it out with --drop"),
    (r" \(table\.take\)| \(cr\.which_k on a sample helps\)| Or give graph=\.", ""),
    (r"average=True is for cr\.mixture", "average is for mixtures in Python"),
    (r"hidden=\{'(.+?)': (\d+)\}", r"--hidden '\1=\2'"),
    (r"leave draws out", "leave --draws out"),
    (r"values=\('?(.*?)'?, '?(.*?)'?\)", r"--values \1,\2"),
    (r": graph\.instruments\(…\)", " (credo identify names them)"),
    (r"cr\.cut\(table, columns=\['(.*?)'\]\)", r"credo cut TABLE -c '\1'"),
    (r"name the columns with columns=", "name the columns with --names A,B,C"),
    (r"\bcolumns=( has| a name)", r"--names\1"),
    (r"\bcolumns= names what", "--column names what"),
    (r"Leave gaps= out", "Leave --gaps out"),
    (r"gaps= is", "--gaps is"),
    (r"gaps='null'", "--gaps null"),
    (r"\btable= is a name", "--table is a name"),
)  # fmt: skip
_SCHEMA = r"schema=(\{['\"].+?\})( or 'drop'| \(its states, or 'continuous'\)| \(or 'con[^)]*\))?"
_ARGUMENT = (
    rf"(got )?\b({'|'.join((*_OPTIONS, *_SET))})="
    r"('[^']*'|\"[^\"]*\"|(?<=draws=)\d+|(?<=interval=)[\d.]*\d|(?<=\bk=)\d+"
    r"|(?<=landmarks=)\d+|(?<=normalise=)True|(?=[\s.,;)]|$))"
)


def in_options(text: str) -> str:
    """A sentence of the library as the command line says it.

    >>> in_options("Give one, such as prior=cr.BDeu(1), or use estimate='mle'.")
    'Give one, such as --prior bdeu, or use --estimate mle.'
    >>> in_options("P(k=3 | level=2) = 0.1")
    'P(k=3 | level=2) = 0.1'
    """
    for python, option in _PHRASES:
        text = re.sub(python, option, text)
    text = re.sub(_SCHEMA, _columns, text)
    text = re.sub(rf"^({'|'.join(_OPTIONS)}) must", lambda m: f"{_OPTIONS[m[1]]} must", text)
    parts = re.split(r"(\bP\([^)]*\))", text)  # a variable may be called as an argument is
    parts[::2] = (re.sub(_ARGUMENT, _option, part) for part in parts[::2])
    return "".join(parts)


def _option(found: re.Match[str]) -> str:
    """An argument, with its value if the sentence gives one; what was got stays as it is."""
    got, name, value = found.groups()
    if not got:
        word = value.strip("'\"")
        value = "NAME" if word == "…" else word if re.fullmatch(r"[\w.,+-]*", word) else value
    if name in _SET:
        return f"{got or ''}--set {name}={value}"
    option = "--missing-cells" if name == "missing" and value else _OPTIONS[name]
    alone = not value or value == "True" or name == "ragged"
    return f"{got or ''}{option}" + ("" if alone else f" {value}")


def _columns(found: re.Match[str]) -> str:
    """Columns by kind or by states, an option for each."""
    try:
        columns = ast.literal_eval(found[1])
    except (SyntaxError, ValueError):
        return found[0]
    rest = found[2] or ""
    out = [_column(name, what, len(columns) == 1) for name, what in columns.items()]
    if rest == " or 'drop'":
        return f"{out[0]} or {_column(next(iter(columns)), 'drop', True)}"
    if rest.startswith(" (its states"):
        return f"{out[0]} (its states), or {_column(next(iter(columns)), 'continuous', True)},"
    return " ".join(out)


def _column(name: str, what: str | list[str], alone: bool) -> str:
    if what == "drop":
        option, word = "--drop", name
    elif isinstance(what, str):
        option, word = "--kind", f"{name}={what}"
    else:
        option, word = "--states", f"{name}={','.join(map(str, what))}"
    quoted = shlex.quote(word)
    return f"{option} '{word}'" if alone and quoted == word else f"{option} {quoted}"
