"""Models in and out of a command: from a file, or `-` for standard input; written whole.

What comes from standard input has no ending, so its first bytes say what it is.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from credo.cli.options import files, option, together
from credo.cli.reading import read_from, spooled, take_standard_input, text_options
from credo.core.errors import CredoError, InputError

__all__ = [
    "causal_graph_from",
    "dag_from",
    "graph_from",
    "load_model",
    "model_argument",
    "model_format",
    "normalise_option",
    "question_words",
    "read_for",
    "refuse_no_folder",
    "refuse_unwritable",
]


def _keep(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta["credo.normalise"] = value


normalise_option = option(
    "--normalise", is_flag=True, expose_value=False, callback=_keep, is_eager=True,
    help="Take a model file whose rows do not add up to 1; each is divided by its sum.",
)  # fmt: skip
"""The option `--normalise` of a command that reads model files, which `load_model` asks for."""

model_argument = together(click.argument("model", shell_complete=files), normalise_option)
"""The argument MODEL: a network file, or - for standard input; and `--normalise`."""


def load_model(path: str) -> Any:
    """The model of a file, or of standard input."""
    from credo.formats import load, loads

    context = click.get_current_context(silent=True)
    normalise = context is not None and context.meta.get("credo.normalise", False)
    if path != "-":
        _refuse_other(path)
        return _answered_here(load(path, normalise=normalise), path)
    data = standard_input("a model")
    if data[:2] == b"\x1f\x8b":
        from credo.formats.files import Limits, unpack

        data = unpack(data, "standard input", Limits())
    return _answered_here(loads(data, model_format(data), normalise=normalise), "standard input")


_DECIDING = ("decide", "convert", "show", "report")
_AVERAGING = ("ask", "decide", "effect", "show")


def _answered_here(model: Any, path: str) -> Any:
    """The model; decisions, and posteriors over graphs, go to the commands that know them."""
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.model.structures.structure_posterior import StructurePosterior

    command = _command()
    if isinstance(model, DecisionNetwork) and command not in _DECIDING:
        raise InputError(
            f"{path} holds a decision network; credo {command} needs a network without decisions.",
            hint=f"Ask it with credo decide {path}.",
        )
    if isinstance(model, StructurePosterior) and command not in _AVERAGING:
        raise InputError(
            f"{path} holds a posterior over graphs; credo {command} takes one network.",
            hint="Save one of its graphs in Python: cr.load(…).best.save('best.credo').",
        )
    return model


def _refuse_other(path: str) -> None:
    """Refuse what is plainly no model: a table, a graph in arrows, a name without its ending."""
    from credo.data.sources.files import FORMATS
    from credo.formats.files import ENDINGS

    ending = Path(path.lower().removesuffix(".gz").removesuffix(".zst")).suffix
    if ending in FORMATS and ending not in ENDINGS:
        command = _command()
        if command in ("check", "impute", "fit", "em", "score"):
            raise InputError(
                f"{path} is a table; a model was expected here, and the table after it.",
                hint=f"For example: credo {command} model.credo table.csv.",
            )
        raise InputError(
            f"{path} is a table; a model was expected here.",
            hint=f"Learn one first: credo learn {path}.",
        )
    if "->" in path:
        raise InputError(f"The graph {path!r} cannot be read.", hint="Write '[A][B|A]' for A -> B.")
    place = Path(path).expanduser()
    if place.is_dir():
        raise InputError(f"{path} is a folder; a model file was expected.")
    if ending not in ENDINGS and not place.exists():
        _refuse_absent(path, place)


def _refuse_absent(path: str, place: Path) -> None:
    """Refuse what is no file and has no ending of a model: a question, a name, a slip."""
    from credo.core.errors import close_names
    from credo.formats.files import ENDINGS

    if re.match(r"\s*(?:argmax\s+)?P\s*\(", path):
        raise InputError(
            f"{path!r} is a question; the model comes before it.",
            hint=f"For example: credo ask model.credo {path!r}.",
        )
    models = [p for p in sorted(place.parent.glob("*")) if p.suffix.lower() in ENDINGS]
    near = [p for p in models if p.name.startswith(f"{place.name}.")]
    near += [place.parent / name for name in close_names(place.name, [p.name for p in models])]
    if near:
        raise InputError(f"There is no model {path!r}.", hint=f"Did you mean {str(near[0])!r}?")
    if _command() in ("fit", "em", "score", "compare") and path.isidentifier():
        raise InputError(
            f"There is no model {path!r}.",
            hint=f"A graph in text has brackets: '[{path}]' alone, '[A][B|A]' for A -> B.",
        )


def _command() -> str:
    context = click.get_current_context(silent=True)
    return (context.info_name or "") if context is not None else ""


def refuse_unwritable(path: str) -> None:
    """Refuse a file that no model could be written to, before the work is done."""
    from credo.formats.files import format_of

    format_of(path, writing=True)
    refuse_no_folder(path)


def refuse_no_folder(path: str) -> None:
    """Refuse a file in a folder that cannot be written to, before the work is done."""
    from credo.data.out.atomic import is_stream

    if Path(path).expanduser().is_dir():
        raise InputError(f"{path} is a folder; the name of a file was expected.")
    if is_stream(Path(path)):
        return
    folder = Path(path).expanduser().parent
    if not folder.is_dir():
        raise InputError(f"There is no folder {str(folder)!r} to write {Path(path).name!r} to.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"The folder {str(folder)!r} cannot be written to.")


def graph_from(text: str) -> Any:
    """A graph in text such as "[A][B|A]", or the network of a file."""
    from credo.model.graphs.dag import Dag

    return Dag.parse(text) if text.lstrip().startswith("[") else load_model(text)


def causal_graph_from(given: str) -> Any:
    """A causal graph, or a class, from text, from a file of DAGitty or DOT, or a network file."""
    from credo.formats.files import ENDINGS
    from credo.model.causal.causal_graph import CausalGraph
    from credo.model.causal.pag import Pag
    from credo.model.causal.texts import PAG

    if re.match(r"\s*(?:\[|(?:strict\s+)?(?:dag|digraph|graph|pdag|mag|pag)\b[^{]*\{)", given):
        return (Pag.parse if PAG.match(given) else CausalGraph)(given)
    if Path(given.lower().removesuffix(".gz")).suffix in ENDINGS:
        return CausalGraph(dag_from(given))
    place = Path(given).expanduser()
    if not place.is_file():
        raise InputError(
            f"There is no graph {given!r}.",
            hint="Write it as '[X][Y|X] X<->Y', or name a file of DAGitty, DOT or a network.",
        )
    text = place.read_text(encoding="utf-8")
    return (Pag.parse if PAG.match(text) else CausalGraph)(text)


def dag_from(text: str) -> Any:
    """A directed graph in text such as "[A][B|A]", or that of a network file."""
    from credo.model.graphs.dag import Dag
    from credo.model.networks.network import Network

    if "[" in text and not os.path.exists(text):
        return Dag.parse(text)
    model = load_model(text)
    if not isinstance(model, Network):
        raise InputError(
            f"{text} holds a {type(model).__name__}; the graph of a Bayesian network is needed.",
            hint="Its arrows are missing: learn a network with credo learn.",
        )
    return model.dag


def standard_input(what: str) -> bytes:
    """All bytes of standard input, which is read once."""
    take_standard_input(what)
    data = sys.stdin.buffer.read()
    if not data.strip():
        raise InputError(f"Standard input is empty; {what} was expected.")
    return data


def model_format(data: bytes) -> str:
    """Which format the bytes of a network file are in.

    >>> model_format(b"network asia { }"), model_format(b"BAYES 2 2 2")
    ('bif', 'uai')
    """
    if data[:2] == b"PK":
        return "credo"
    start = data[:4096].decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    start = re.sub(r"\A(?:(?://|%|#)[^\n]*\n\s*|/\*.*?\*/\s*)*", "", start, flags=re.S)
    if start.startswith("<"):
        marks = {"<smile": "xdsl", "<probmodelxml": "pgmx"}
        return next((f for mark, f in marks.items() if mark in start.lower()), "xmlbif")
    word = re.match(r"[A-Za-z]+", start)
    first = word[0].lower() if word else ""
    known = {"network": "bif", "net": "net", "class": "net", "node": "net", "belief": "dsc",
             "bnet": "dne", "bayes": "uai", "markov": "uai"}  # fmt: skip
    if first not in known:
        raise InputError(
            "Standard input is not a network that credo knows.",
            hint="Give a file with an ending such as .bif or .credo.",
        )
    return known[first]


def question_words(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Shell completion of a question: the names of the model's variables, then states."""
    from credo.cli.session import completions

    path = ctx.params.get("model")
    if not path or path == "-" or not Path(path).is_file():
        return []
    try:
        net = load_model(path)
    except CredoError:
        return []
    return [CompletionItem(text) for text in completions(net, incomplete)]


# --- Rows for a model: the table read by the model's own variables, so that kinds and states agree.


def read_for(net: Any, reading: dict[str, Any]) -> Any:
    """The table by the model's schema; by the options alone where they say how a column is read.

    Standard input becomes a file whose name replaces '-' in `reading`, to be looked at again.
    """
    if reading["table"] == "-":
        reading["table"] = str(spooled())
    shaped = reading["kind"] or reading["states"] or reading["drop"]
    return read_from(**reading, schema=None if shaped else _schema(net, reading))


def _schema(net: Any, reading: dict[str, Any]) -> Any:
    """The model's variables that the table has."""
    from credo.core.schema import Schema
    from credo.data.sources.files import feed_of_path

    names = set(feed_of_path(reading["table"], text_options(reading)).names)
    have = tuple(v for v in net.variables if v.name in names)
    if not have:
        raise InputError(
            "The rows have no column of the model.",
            hint=f"Its variables are {', '.join(map(repr, net.names[:12]))}.",
        )
    return Schema(have)
