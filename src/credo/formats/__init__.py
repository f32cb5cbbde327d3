"""Models in files: BIF, XMLBIF, Hugin NET, DSC, XDSL, Netica, OpenMarkov, UAI, our own .credo.

All hold Bayesian networks; UAI and .credo hold Markov networks too, XDSL, NET, XMLBIF and .credo
decision networks. Those of Netica and OpenMarkov are only read.

One file here for each format, with its reader and its writer. Nothing that is read is executed;
every refusal names the line; what is written comes back with the same names and the same bits.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from credo.core.errors import InputError, unknown_name
from credo.data.out.atomic import WriteError
from credo.formats.files import (
    ENDINGS,
    READ_ONLY,
    Limits,
    format_of,
    read_bytes,
    write_bytes,
)

if TYPE_CHECKING:
    from credo.formats.reading import Reading
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.model.networks.network import Network
    from credo.model.structures.structure_posterior import StructurePosterior
    from credo.model.undirected.factor_model import FactorModel

    Saved: TypeAlias = Network | FactorModel | DecisionNetwork | StructurePosterior

__all__ = ["FORMATS", "Limits", "WriteError", "dumps", "load", "loads", "save"]

FORMATS = tuple(f for f in dict.fromkeys(ENDINGS.values()) if f not in READ_ONLY)
"""The formats that are read and written; `dne` and `pgmx` are only read."""

_DECIDED = ("credo", "xdsl", "net", "xmlbif")  # hold decisions too


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    types: bool = False,
    normalise: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Read a model from a file; its ending says the format.

    A `Network`; from a MARKOV file (.uai) a `MarkovNetwork`, from a file with decisions and
    utilities (.xdsl, .net, .xmlbif) a `DecisionNetwork`, from .credo whatever was saved.

    `.bif`, `.xmlbif`, `.xml` or `.bifxml`, `.net`, `.dsc`, `.xdsl`, `.dne` or `.dnet`, `.pgmx`,
    `.uai`, `.credo`, each also with `.gz`. `format` says it when the ending does not. Text formats
    hold states as text; `types=True` restores the types that `save` noted beside them. A row may
    miss 1 by what its printed digits explain; `normalise=True` divides any row by its sum. `limits`
    bounds what is read.

    >>> import tempfile, os
    >>> from credo.model.networks.network import Network
    >>> net = Network("[rain][wet|rain]", {"rain": {"no": 0.8, "yes": 0.2},
    ...     "wet": {"no": {"no": 0.9, "yes": 0.1}, "yes": {"no": 0.2, "yes": 0.8}}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rain.bif")
    ...     net.save(path)
    ...     load(path)
    Network(2 variables, 1 edge, 3 parameters)
    """
    from credo.formats.reading import Reading

    if not isinstance(path, (str, os.PathLike)):
        raise InputError(
            f"A model is loaded from a path, got {type(path).__name__}.",
            hint="For example cr.load('asia.bif').",
        )
    where = Path(path).expanduser()
    limits = limits or Limits()
    packed = where.name.lower().endswith(".gz")
    if format is None:
        format, packed = format_of(where)
    data = read_bytes(where, limits, packed=packed)
    return _read(data, _known(format, reading=True), Reading(where.name, limits, normalise), types)


def loads(
    text: str | bytes,
    format: str,
    *,
    types: bool = False,
    normalise: bool = False,
    limits: Limits | None = None,
) -> Any:
    """Read a model from text (for `credo`, from bytes).

    >>> net = loads("BAYES 1 2 1 1 0  2 0.25 0.75", "uai")
    >>> net.cpt("v0").values.tolist()
    [0.25, 0.75]
    >>> loads("BAYES 1 2 1 1 0  2 0.25 0.7", "uai")
    Traceback (most recent call last):
    credo.errors.InputError: the text, line 1: The probabilities of 'v0' add up to 0.95, not to 1. \
Give normalise=True to divide each row by its sum.
    """
    from credo.formats.reading import Reading

    if not isinstance(text, (str, bytes)):
        raise InputError(f"The text must be str or bytes, got {type(text).__name__}.")
    reading = Reading("the text", limits or Limits(), normalise)
    return _read(text, _known(format, reading=True), reading, types)


def dumps(net: Saved, format: str) -> str | bytes:
    """A model as the text of a format (for `credo`, as bytes).

    >>> print(dumps(loads("BAYES 1 2 1 1 0  2 0.25 0.75", "uai"), "bif"))
    network unknown {
    }
    variable v0 {
      type discrete [ 2 ] { 0, 1 };
    }
    probability ( v0 ) {
      table 0.25, 0.75;
    }
    <BLANKLINE>
    """
    return _written(net, _known(format))


def save(
    net: Saved,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
) -> None:
    """Write a model to a file; its ending says the format.

    The file is replaced whole: if writing fails, or the process is killed, the old file stays.

    >>> import tempfile, os
    >>> net = loads("BAYES 1 2 1 1 0  2 0.25 0.75", "uai")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(net, os.path.join(folder, "coin.credo"))
    ...     load(os.path.join(folder, "coin.credo")) == net
    True
    """
    where = Path(path).expanduser()
    packed = where.name.lower().endswith(".gz")
    if format is None:
        format, packed = format_of(where, writing=True)
    data = _written(net, _known(format))
    write_bytes(where, data.encode("utf-8") if isinstance(data, str) else data, packed=packed)


def _known(format: str, *, reading: bool = False) -> str:
    if format not in FORMATS and not (reading and format in READ_ONLY):
        raise unknown_name("The format", format, FORMATS, "one that is read and written")
    return format


def _module(format: str) -> ModuleType:
    """The file of a format, which is called as it is; .credo is the archive."""
    return import_module(f"credo.formats.{'archive' if format == 'credo' else format}")


def _written(model: Saved, format: str) -> str | bytes:
    from credo.formats import uai_markov
    from credo.model.decisions.decision_network import DecisionNetwork
    from credo.model.structures.structure_posterior import StructurePosterior
    from credo.model.undirected.factor_model import FactorModel

    if isinstance(model, DecisionNetwork) and format not in _DECIDED:
        raise InputError(
            f"A {format} file cannot hold decisions and utilities.",
            hint="Save the decision network as .credo, .xdsl, .net or .xmlbif.",
        )
    if isinstance(model, StructurePosterior) and format != "credo":
        raise InputError(
            f"A posterior over graphs is no single network, which {format!r} holds.",
            hint="Save it as .credo, or save one graph: post.best or post.network().",
        )
    undirected = isinstance(model, FactorModel)
    if undirected and format not in ("uai", "credo"):
        raise uai_markov.refuse_directed(format)
    writer: Any = uai_markov if undirected and format == "uai" else _module(format)
    written: str | bytes = writer.write(model)
    return written


def _read(data: str | bytes, format: str, reading: Reading, types: bool) -> Any:
    reader = _module(format)
    if format == "credo":
        if isinstance(data, str):
            raise InputError("A .credo file is bytes, not text.")
        return reader.read(data, reading)
    if format not in ("xmlbif", "xdsl", "pgmx") and isinstance(data, bytes):
        data = _text(data, reading)
    if format == "uai":
        words = reader.Words(data, reading)
        if words.is_markov:
            return import_module("credo.formats.uai_markov").read(words, types=types)
        reader.read(words)
    else:
        reader.read(data, reading)
    return reading.network(types=types)


def _text(data: bytes, reading: Reading) -> str:
    """UTF-8, or Latin-1 with a note: old files often are."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reading.notes.append(f"line {line} is not UTF-8; the file was read as Latin-1")
        return data.decode("latin-1")
