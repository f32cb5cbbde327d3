"""Counterfactuals: what would have been, had something been set, given what was.

    P(Y_{X=no}=yes | X=yes, Y=yes)      would Y be the same had X been no?

A network says how often; what would have been to the same case needs to say how. The canonical
functional model does: each variable listens to its parents and to one noise,

    v = F⁻¹(noise | parents),  noise uniform on [0, 1],  states in their order

so that the same noise gives the same quantile under other parents. The twin network has the world
as it was and each world as it would have been, sharing all noises (Balke & Pearl 1994). Other
functional models have the same tables; where they can be told by x and y alone the answer carries
the bounds that hold for every one of them (Tian & Pearl 2000).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, LimitError, SchemaError, unknown_name
from credo.core.schema import Variable
from credo.model.networks.cpt import Cpt
from credo.model.networks.family import MAX_CELLS, cells
from credo.predict.causal.bounds import counterfactual_bounds
from credo.predict.exact.posterior import posterior
from credo.predict.questions.intervention import intervene
from credo.predict.questions.notes import Noted, with_notes
from credo.predict.questions.question import Question, parse, parse_conditions, quoted, unquoted
from credo.predict.questions.request import request

if TYPE_CHECKING:
    from credo.model.networks.network import Local, Network

__all__ = ["Counterfactual", "counterfactual", "is_counterfactual", "twin"]

_TERM = re.compile(r"""(?P<name>"(?:[^"\\]|\\.)*"|[^\s|(),{}=<>!'"]+?)_\{(?P<world>[^{}]*)\}""")
_TOLD = (
    "one noise a variable, states in their order (the canonical functional model); other models "
    "with the same tables may answer otherwise"
)

World = tuple[tuple[str, Any], ...]


class Counterfactual(Noted):
    """A probability of what would have been, with the bounds that hold whatever the functions.

    >>> import credo as cr
    >>> net = cr.Network("[s][l|s]", {"s": 0.5, "l": {False: 0.1, True: 0.3}})
    >>> p = net.ask("P(l_{s=false}=false | s=true, l=true)")  # was it because of s?
    >>> round(p, 6), tuple(round(b, 6) for b in p.bounds)
    (0.666667, (0.666667, 1.0))
    """

    __slots__ = ("bounds", "model")
    bounds: tuple[float, float] | None
    model: Network

    def __new__(
        cls, value: float, notes: tuple[str, ...], bounds: Any = None, model: Any = None
    ) -> Counterfactual:
        out = super().__new__(cls, value, notes)
        assert isinstance(out, Counterfactual)
        out.bounds, out.model = bounds, model
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return Counterfactual, (float(self), self.notes, self.bounds, self.model)


def is_counterfactual(text: Any) -> bool:
    """Whether a question asks for what would have been.

    >>> is_counterfactual("P(Y_{X=no}=yes | X=yes)"), is_counterfactual("P(Y | X=yes)")
    (True, False)
    """
    return isinstance(text, str) and _TERM.search(text) is not None


def counterfactual(net: Network, text: str, **options: Any) -> Any:
    """The answer of the twin network, with the functional model that was taken and bounds."""
    from credo.predict.questions.asking import ask

    if options.get("interval") is not None or options.get("draws") is not None:
        raise InputError(
            "A counterfactual has bounds over functional models and no credible interval.",
            hint="Leave interval= and draws= out.",
        )
    terms = _terms(net, text)
    model = twin(net, terms)
    rewritten = _TERM.sub(lambda m: quoted(_label(net, *terms[m[0]])), text)
    answer = ask(model, rewritten, **options)
    question = parse(model, rewritten)
    if question.do:
        raise InputError("do() and Y_{X=…} do not go together: write every world as Y_{X=…}.")
    if isinstance(answer, float):
        ends = _bounds(net, terms, question)
        told = () if ends is None else (f"whatever the functions: {ends[0]:.6g} to {ends[1]:.6g}",)
        return Counterfactual(answer, (*getattr(answer, "notes", ()), _TOLD, *told), ends, model)
    return with_notes(answer, (_TOLD,)) if hasattr(answer, "notes") else answer


def _terms(net: Network, text: str) -> dict[str, tuple[str, World]]:
    """Each term Y_{X=…} of a question: the variable, and what is set in its world."""
    out: dict[str, tuple[str, World]] = {}
    for found in _TERM.finditer(text):
        name = unquoted(found["name"])
        if name not in net.schema:
            raise unknown_name("Variable", name, net.names, "in the model")
        given, do = parse_conditions(net, found["world"])
        for n, value in given.items():
            if do or isinstance(value, list) or not net.variable(n).is_discrete:
                raise InputError(
                    f"The world of {found[0]!r} sets variables to states, as in Y_{{X=no}}."
                )
        out[found[0]] = name, tuple(sorted(given.items()))
    return out


def _label(net: Network, name: str, world: World) -> str:
    """The variable of the twin network that a term means."""
    below = net.dag.descendants([n for n, _ in world])
    if name in dict(world) or name in below:
        return f"{name} if {', '.join(f'{n}={v}' for n, v in world)}"
    return name


# --- the twin network ---------------------------------------------------------------------


def twin(net: Network, terms: Mapping[str, tuple[str, World]]) -> Network:
    """The network of all worlds: what is downstream of something set, once for each world."""
    from credo.model.networks.network import Network

    worlds = list(dict.fromkeys(world for _, world in terms.values()))
    below = {n for world in worlds for n in net.dag.descendants([v for v, _ in world])}
    tables: dict[str, Local] = {}
    for name in net.dag.order:
        local = net.distributions[name]
        if name not in below:
            tables[name] = local
            continue
        if not isinstance(local, Cpt) or any(not p.is_discrete for p in local.parents):
            raise SchemaError(
                f"A counterfactual needs the functions of {name!r}, which is a number.",
                hint="Cut it into intervals first, and learn again: cr.cut(table).",
            )
        noise, values = _functional(local)
        tables[noise.name] = Cpt(noise, (), _lengths(local))
        tables[name] = Cpt(local.child, (*local.parents, noise), values)
        for world in worlds:
            _copy(net, tables, name, noise, values, world)
    for world in worlds:
        for n, state in world:
            variable = _named(net.variable(n), _label(net, n, world))
            tables[variable.name] = Cpt(variable, (), np.eye(variable.arity)[variable.code(state)])
    edges = [(p.name, n) for n, local in tables.items() for p in local.parents]
    return Network(type(net.dag)(edges, list(tables)), tables)


def _copy(
    net: Network, tables: dict[str, Local], name: str, noise: Variable, values: Any, world: World
) -> None:
    """The variable as it would be in a world, if that could differ."""
    label = _label(net, name, world)
    if label == name or name in dict(world):
        return
    own, kept = net.distributions[name], []
    at: list[Any] = []
    for p in own.parents:
        if p.name in dict(world):
            at.append(p.code(dict(world)[p.name]))
        else:
            at.append(slice(None))
            kept.append(_named(p, _label(net, p.name, world)))
    variable = _named(own.child, label)
    tables[label] = Cpt(variable, (*kept, noise), values[tuple(at)])


def _named(variable: Variable, name: str) -> Variable:
    return Variable(name, variable.kind, variable.states, variable.ordered)


def _cuts(local: Cpt) -> Any:
    """Where the noise changes the state under some parents: the ends of its intervals."""
    below = np.cumsum(local.values.reshape(-1, local.child.arity), axis=1)[:, :-1]
    ends = np.unique(np.clip(below, 0.0, 1.0))
    ends = ends[np.diff(ends, prepend=0.0) > 1e-12]
    return np.concatenate([[0.0], ends[ends < 1 - 1e-12], [1.0]])


def _lengths(local: Cpt) -> Any:
    return np.diff(_cuts(local))


def _functional(local: Cpt) -> tuple[Variable, Any]:
    """The noise of a variable, and its value as a function of parents and noise."""
    cuts = _cuts(local)
    middle = (cuts[1:] + cuts[:-1]) / 2
    noise = Variable(f"noise of {local.name}", "discrete", tuple(range(len(middle))))
    size = cells([local.child, *local.parents, noise])
    if size > MAX_CELLS:
        raise LimitError(
            f"The functions of {local.name!r} would have {size:,} numbers; at most {MAX_CELLS:,} "
            "are allowed.",
            hint="Give it fewer parents, or parents with fewer states.",
        )
    below = np.cumsum(local.values.reshape(-1, local.child.arity), axis=1)[:, :-1]
    codes = (below[:, None, :] < middle[None, :, None]).sum(axis=2)
    values = np.eye(local.child.arity)[codes]
    return noise, values.reshape(*local.shape[:-1], len(middle), local.child.arity)


# --- bounds -------------------------------------------------------------------------------


def _bounds(
    net: Network, terms: Mapping[str, tuple[str, World]], question: Question
) -> tuple[float, float] | None:
    """Bounds over all functional models, where one x and one y are all that is spoken of."""
    worlds = {world for _, world in terms.values()}
    if any(len(world) != 1 for world in worlds) or len({w[0][0] for w in worlds}) != 1:
        return None
    [x] = {w[0][0] for w in worlds}
    ys = {name for name, _ in terms.values()} - {x}
    if len(ys) != 1:
        return None
    [y] = ys
    labels = {_label(net, y, w): net.variable(x).code(w[0][1]) for w in worlds}
    if not {*question.targets, *question.given} <= {x, y, *labels} or y in labels:
        return None
    if any(label in question.given for label in labels):
        return None
    at, of = net.variable(x), net.variable(y)
    joint = np.asarray(posterior(request(net, {}, (x, y))).p).reshape(at.arity, of.arity)
    set_ = [posterior(request(intervene(net, {x: s}), {}, (y,))).p for s in at.states]

    def allowed(conditions: Mapping[str, Any]) -> dict[str, set[int]]:
        out = {}
        for n, value in conditions.items():
            variable = at if n == x else of
            states = value if isinstance(value, (list, tuple)) else [value]
            out[n] = {variable.code(s) for s in states}
        return out

    given, event = allowed(question.given), allowed(question.events)

    def holds(t: int, would: tuple[int, ...], conditions: Mapping[str, set[int]]) -> bool:
        value = {x: t, y: would[t]} | {label: would[i] for label, i in labels.items()}
        return all(value[n] in codes for n, codes in conditions.items())

    weight = sum(
        joint[i, j]
        for i, j in product(range(at.arity), range(of.arity))
        if i in given.get(x, {i}) and j in given.get(y, {j})
    )
    ends = counterfactual_bounds(
        joint, np.stack(set_), lambda t, w: holds(t, w, given) and holds(t, w, event)
    )
    return None if ends is None else (float(ends[0] / weight), float(min(ends[1] / weight, 1.0)))
