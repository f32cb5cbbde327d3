"""Potentials as people give them, turned into factors over variables that agree.

A mapping from names to tables, or a list of `Factor` and `Feature`. The states of a variable are
those of `states`, else those that a factor or a mapping names, else 0, 1, 2, … as an array shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from credo.core.errors import InputError, SchemaError
from credo.core.schema import Variable
from credo.model.networks.cpt import Cpt
from credo.model.undirected.factor import Factor
from credo.model.undirected.feature import Feature
from credo.model.values.tables import shown_states

Potential = Factor | Feature

_KEY = "A potential is named by its variables, such as 'A' or ('A', 'B')"


def scope_names(key: Any) -> tuple[str, ...]:
    """The names that a key of a mapping of potentials stands for.

    >>> scope_names("A"), scope_names(("A", "B"))
    (('A',), ('A', 'B'))
    """
    names = (key,) if isinstance(key, str) else tuple(key) if isinstance(key, Iterable) else ()
    if not names and key != ():
        raise InputError(f"{_KEY}, got {key!r}.")
    for name in names:
        if not isinstance(name, str) or not name:
            raise InputError(f"{_KEY}, got {key!r}.")
    if len(set(names)) < len(names):
        raise InputError(f"A variable is named twice in {list(names)}.")
    return names


def with_states(states: Any) -> dict[str, Variable]:
    """The variables of a mapping from names to states."""
    if states is None:
        return {}
    if isinstance(states, Mapping):
        for name, given in states.items():
            if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
                raise InputError(f"The states of {name!r} must be a list, got {given!r}.")
        return {n: Variable(n, "discrete", tuple(s)) for n, s in states.items()}
    if isinstance(states, Iterable) and all(isinstance(v, Variable) for v in states):
        return {v.name: v for v in states}
    raise InputError(f"states= is a mapping from variable to its states, got {states!r}.")


def resolved(
    potentials: Any, states: Any = None
) -> tuple[tuple[Variable, ...], tuple[Potential, ...]]:
    """The variables and the potentials, each variable with the same states everywhere."""
    pairs = _pairs(potentials)
    known = with_states(states)
    for _, given in pairs:
        for v in getattr(given, "variables", ()):
            if known.setdefault(v.name, v) != v:
                raise SchemaError(f"Two potentials differ on the states of {v.name!r}.")
    known = _shown(pairs, known)
    found: list[Potential] = []
    for names, given in pairs:
        variables = tuple(known[n] for n in names)
        if isinstance(given, Factor | Feature):
            found.append(given)
        else:
            values = given.values if isinstance(given, Cpt) else given
            found.append(Factor.of(variables, values))
    return tuple(known.values()), tuple(found)


def _pairs(potentials: Any) -> list[tuple[tuple[str, ...], Any]]:
    if isinstance(potentials, Mapping):
        out = []
        for key, given in potentials.items():
            names = scope_names(key)
            if isinstance(given, Factor | Feature | Cpt):
                have = tuple(v.name for v in given.variables)
                if sorted(have) != sorted(names):
                    raise SchemaError(f"The potential of {list(have)} was given for {list(names)}.")
                names = have
            out.append((names, given))
        return out
    if isinstance(potentials, Iterable) and not isinstance(potentials, (str, bytes)):
        listed = list(potentials)
        if all(isinstance(p, Factor | Feature | Cpt) for p in listed):
            return [(tuple(v.name for v in p.variables), p) for p in listed]
    raise InputError(
        "The potentials must be a mapping from names to tables, or a list of Factor and Feature, "
        f"got {str(potentials)[:80]}."
    )


def _shown(
    pairs: Sequence[tuple[tuple[str, ...], Any]], known: Mapping[str, Variable]
) -> dict[str, Variable]:
    """The variables whose states only the tables show: labels come before mere numbers."""
    order = dict.fromkeys([*known, *(n for names, _ in pairs for n in names)])
    labels: dict[str, tuple[Any, ...]] = {}
    sizes: dict[str, int] = {}
    for names, given in pairs:
        if all(n in known for n in names):
            continue
        for name, shown in zip(names, shown_states(names, given), strict=True):
            if isinstance(shown, tuple):
                labels.setdefault(name, shown)
            elif isinstance(shown, int):
                sizes.setdefault(name, shown)
    out: dict[str, Variable] = {}
    for name in order:
        if name in known:
            out[name] = known[name]
        elif name in labels:
            out[name] = Variable(name, "discrete", labels[name])
        elif name in sizes:
            out[name] = Variable(name, "discrete", tuple(range(sizes[name])))
        else:
            raise InputError(
                f"The states of {name!r} are needed.", hint=f"Give states={{{name!r}: […]}}."
            )
    return out


def feature_potentials(
    features: Any, weights: Mapping[str, float] | None, states: Any
) -> tuple[tuple[Variable, ...], tuple[Feature, ...]]:
    """Features by the name of their weight: {name: {scope: function or table}}."""
    if not isinstance(features, Mapping) or not all(
        isinstance(f, Mapping) for f in features.values()
    ):
        raise InputError(
            "The features must be a mapping from a weight's name to a mapping from variables to "
            "a function or a table."
        )
    weights = dict(weights or {})
    for name in weights:
        if name not in features:
            raise InputError(f"There is a weight {name!r} but no feature of that name.")
    flat = [
        (name, scope_names(key), given)
        for name, scopes in features.items()
        for key, given in scopes.items()
    ]
    known = _shown([(names, given) for _, names, given in flat], with_states(states))
    made = [
        Feature(tuple(known[n] for n in names), given, weights.get(name, 0.0), name)
        for name, names, given in flat
    ]
    return tuple(known.values()), tuple(made)
