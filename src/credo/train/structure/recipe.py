"""Recipe: how a graph was searched for, in plain values, so that other rows can be searched alike.

It stands in the record of a learned network, and in its file. What has no plain form (a score that
is a function, the network of 'bde', a matrix of edge priors) is named under 'cannot'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError
from credo.model.networks.line_prior import LINE_FIELDS, LinePrior
from credo.model.networks.priors import K2, BDeu, Laplace

if TYPE_CHECKING:
    from credo.core.schema import Schema
    from credo.model.networks.network import Network
    from credo.model.values.record import Record
    from credo.train.scores.scores import ScoreSpec

__all__ = ["arguments_of", "belief_of", "recipe_of", "usual_score", "with_recipe"]

_EDGES = ("required", "forbidden")
_SKIPPED = ("seconds", "rng", "threads", "available")
_PRIORS: dict[str, tuple[type[Any], tuple[str, ...]]] = {
    "BDeu": (BDeu, ("ess",)),
    "K2": (K2, ()),
    "Laplace": (Laplace, ("l",)),
    "LinePrior": (LinePrior, LINE_FIELDS),
}


class _NotPlain(Exception):
    """A setting that has no plain form."""


def recipe_of(
    score: Any, search: str, missing: str, start: Any, parameters: Any, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """What `learn` was told, without what belongs to the machine and the moment.

    >>> recipe_of("bic", "auto", "structural-em", None, BDeu(1), {"max_parents": 2, "seconds": 5})
    {'score': 'bic', 'search': 'auto', 'parameters': ['BDeu', 1.0], 'max_parents': 2}
    >>> recipe_of(len, "auto", "structural-em", None, "auto", {})["cannot"]
    'its score is a function'
    """
    out: dict[str, Any] = {}
    try:
        if score is not None:
            out["score"] = _score(score)
        out["search"] = search
        if missing != "structural-em":
            out["missing"] = missing
        if parameters != "auto":
            out["parameters"] = _prior(parameters)
        if start is not None:
            from credo.train.scores.scores import graph_of

            out["start"] = [tuple(e) for e in graph_of(start).edges]
        for name, value in settings.items():
            if name not in _SKIPPED and value is not None and not _empty(value):
                out[name] = _plain(name, value)
        seed = settings.get("rng", 0)
        if isinstance(seed, (int, np.integer)) and seed:
            out["rng"] = int(seed)
    except _NotPlain as why:
        return {"search": search, "cannot": str(why)}
    return out


IMAGINED = 10.0
"""The imagined rows of each table when nobody says. Against one row small tables gain (held out,
nats a row: class_preference −0.5 to 0.5, cad2 −0.8 to −0.1, digits 6.1 to 6.8), and dna_splice
loses 0.2."""


def usual_score(schema: Schema) -> str:
    """The score where none is named: a marginal likelihood as soon as a variable is discrete."""
    return "bdeu" if any(v.is_discrete for v in schema.variables) else "bic"


def belief_of(
    spec: ScoreSpec, parameters: Any = "auto", ess: float | None = None
) -> dict[str, Any]:
    """How the parameters are learned, as `cr.fit` wants to hear it: their prior and their estimate.

    Posterior means under `K2()` for its score, else `BDeu` of the `ess` that was asked for, or of
    ten rows. "mle" is maximum likelihood, with the posterior under `BDeu(1)` beside it.

    >>> from credo.train.scores.scores import ScoreSpec
    >>> belief_of(ScoreSpec.of("bdeu")), belief_of(ScoreSpec.of("bic"), "mle")
    ({'prior': BDeu(ess=10.0)}, {'prior': BDeu(ess=1.0), 'estimate': 'mle'})
    """
    if not isinstance(parameters, str):
        return {"prior": parameters}
    if parameters == "mle":
        return {"prior": BDeu(1.0), "estimate": "mle"}
    if spec.function is None and spec.name == "k2":
        return {"prior": K2()}
    return {"prior": BDeu(IMAGINED if ess is None else ess)}


def with_recipe(net: Network, recipe: dict[str, Any]) -> Network:
    """The network with a record that says how its graph was searched for."""
    assert net.record is not None
    if net.record.details.get("interventions"):  # what was set in each row is not in the record
        recipe = {"search": recipe["search"], "cannot": "some of its rows are from experiments"}
    return net.with_record(replace(net.record, details={**net.record.details, "recipe": recipe}))


def arguments_of(record: Record | None) -> dict[str, Any] | str | None:
    """The arguments of `learn` by a record; why there are none; None where nothing was searched."""
    if record is None or not record.details.get("search"):
        return None
    said = record.details.get("recipe")
    if not isinstance(said, Mapping):
        return "its record does not say how the graph was searched for"
    if "cannot" in said:
        return str(said["cannot"])
    out = dict(said)
    try:
        if "parameters" in out:
            out["parameters"] = _prior_of(out["parameters"])
        if "start" in out:
            from credo.model.graphs.dag import Dag

            out["start"] = Dag([tuple(e) for e in out["start"]])
    except (InputError, KeyError, TypeError, ValueError):
        return "its record does not say plainly how the graph was searched for"
    return out


def _empty(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and not value


def _score(score: Any) -> str:
    if not isinstance(score, str):
        raise _NotPlain("its score is a function")
    return score


def _plain(name: str, value: Any) -> Any:
    """A setting as numbers, texts, lists and mappings."""
    if isinstance(value, Iterator):
        raise _NotPlain(f"its {name}= was read only once")
    if name in _EDGES:
        value = [tuple(edge) for edge in getattr(value, "edges", value)]
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {_plain("", k): _plain("", v) for k, v in value.items()}
    if isinstance(value, (tuple, list, set, frozenset)):
        parts = [_plain("", v) for v in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    raise _NotPlain(f"its {name or 'setting'}= has no plain form")


def _prior(prior: Any) -> Any:
    """A prior of parameters: its name, then its numbers."""
    if prior is None or isinstance(prior, str):
        return prior
    if isinstance(prior, Mapping):
        return {str(n): _prior(p) for n, p in prior.items()}
    for word, (kind, fields) in _PRIORS.items():
        if type(prior) is kind:
            return [word, *(np.asarray(getattr(prior, f)).tolist() for f in fields)]
    raise _NotPlain(f"the prior of its parameters, {type(prior).__name__}, has no plain form")


def _prior_of(said: Any) -> Any:
    if said is None or isinstance(said, str):
        return said
    if isinstance(said, Mapping):
        return {n: _prior_of(p) for n, p in said.items()}
    if not isinstance(said, Sequence):
        raise InputError("not a prior")
    kind, fields = _PRIORS[said[0]]
    return kind(**dict(zip(fields, said[1:], strict=True)))
