"""UAI MARKOV files: a Markov network as positions and numbers, without names.

    MARKOV / number of variables / their numbers of states / number of tables /
    for each table: its size and variables / for each table: its numbers, last variable fastest

Numbers are not negative and need not add up to anything. Names as in `credo.formats.uai`.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError, LimitError
from credo.formats.names import distinct_texts
from credo.formats.states import state_text
from credo.formats.uai import Words, declared, names_comment, scopes_of
from credo.model.undirected.factor import Factor
from credo.model.undirected.markov_network import MarkovNetwork
from credo.model.values.record import Record

if TYPE_CHECKING:
    from credo.model.undirected.factor_model import FactorModel


def read(words: Words, *, types: bool) -> MarkovNetwork:
    """The Markov network of a MARKOV file."""
    reading = words.reading
    names = declared(words)
    count = words.integer("the number of tables")
    scopes = scopes_of(words, len(names), count, least=0)
    variables = list(reading.variables(types).values())
    factors = []
    total = 0
    for i, (scope, at) in enumerate(scopes):
        if len(set(scope)) < len(scope):
            raise words.error(f"Table {i} names a variable twice.", at)
        size = 1
        for v in scope:
            size *= variables[v].arity
        total += size
        if total > reading.limits.numbers:
            raise reading.too_large(words.line(at), f"The tables have {total:,} numbers", "numbers")
        start = words.at
        said = words.integer(f"the number of entries of table {i}")
        if said != size:
            raise words.error(f"Table {i} needs {size:,} numbers, not {said:,}.", start)
        values = reading.numbers(words.take(size, f"table {i}"), words.line(start))
        try:
            factors.append(Factor(tuple(variables[v] for v in scope), values))
        except CredoError as error:
            raise reading.error(words.line(start), error.message, error.hint) from None
    words.end()
    record = Record(how="read", source=reading.source, notes=tuple(reading.notes))
    return MarkovNetwork(factors, states=variables, record=record)


def write(model: FactorModel) -> str:
    """A Markov network or factor graph as a MARKOV file, its names in a comment at the end."""
    at = {v.name: i for i, v in enumerate(model.variables)}
    states = {v.name: [state_text(s) for s in v.states] for v in model.variables}
    for v in model.variables:
        distinct_texts(v, states[v.name], "UAI")
    factors = model.factors
    out = [f"MARKOV\n{len(at)}\n{' '.join(str(v.arity) for v in model.variables)}\n"]
    out.append(f"{len(factors)}\n")
    out += [" ".join(map(str, [len(f.names), *(at[n] for n in f.names)])) + "\n" for f in factors]
    for f in factors:
        last = f.shape[-1] if f.shape else 1
        rows = "\n".join(" ".join(map(repr, r)) for r in _plain(f).reshape(-1, last).tolist())
        out.append(f"\n{f.values.size}\n{rows}\n")
    return "".join([*out, names_comment(model.variables, states)])


def _plain(f: Factor) -> NDArray[np.float64]:
    """The numbers themselves, if floats can hold them."""
    if not f.log_scale:
        return f.values
    logs = f.log_values
    seen = logs[logs > -np.inf]
    if seen.size and (seen.max() > 700 or seen.min() < -700):
        raise LimitError(
            f"The numbers of {f.title} are beyond what a UAI file can hold.",
            hint="Save the model as .credo.",
        )
    return np.asarray(f.values * exp(f.log_scale))


def refuse_directed(format: str) -> InputError:
    """The refusal to write an undirected model in a format of Bayesian networks."""
    return InputError(
        f"The format {format} holds a Bayesian network, and this model has no directions.",
        hint="Save it as .uai or .credo, or as a network: to_network(), credo convert --directed.",
    )
