"""Statements: a model and a table's name become one SELECT of probabilities.

    p(t) = exp(s(t) − max s) / Σ exp(s − max s),      s(t) = ln P(t, row)

NULL stands for what `predict_proba` refuses: a row of probability zero, a number that is infinite
or outside its domain, a state that a network does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from credo.core.errors import InputError, LimitError, shown, unknown_name
from credo.core.scales import Transform
from credo.core.schema import Variable
from credo.model.networks.softmax import Softmax
from credo.predict.sql.blanket import blanket_numbers, blanket_scores
from credo.predict.sql.dialects import dialect_of
from credo.predict.sql.gaps import gap_scores
from credo.predict.sql.naive import naive_numbers, naive_scores
from credo.predict.sql.reading import Reader
from credo.predict.sql.relevant import Relevant, relevant
from credo.predict.sql.steps import RULED_OUT, Steps, added, all_of, any_of, greatest

if TYPE_CHECKING:
    from credo.model.naive_bayes.model import NaiveBayesModel
    from credo.model.networks.network import Network

__all__ = ["naive_sql", "network_sql", "probability_names"]

_NUMBERS = 200_000  # numbers of tables in one statement: four megabytes of text
_TERMS = 20_000  # terms of sums over gaps
_LONGEST = 48  # bytes of a column's name: Postgres cuts at 63


def network_sql(
    net: Network,
    dialect: str,
    target: str,
    *,
    table: str | Sequence[str] = "rows",
    keep: Sequence[str] | str = (),
    columns: Collection[str] | None = None,
    gaps: str = "sum",
    unseen: str = "refuse",
) -> str:
    """The SELECT of P(target | row) under a network."""
    variable = net.variable(target)
    for local in net.distributions.values():
        if isinstance(local, Softmax):
            raise InputError(
                f"A statement has tables and lines, and {local.name!r} is a softmax.",
                hint="Model its numbers as 'binned'.",
            )
    if not variable.is_discrete:
        raise InputError(f"{target!r} is continuous; to_sql is for discrete variables.")
    if gaps not in ("sum", "null"):
        raise InputError(f"gaps= is 'sum' or 'null', got {shown(gaps)}.")
    steps = Steps(dialect_of(dialect), dialect_of(dialect).table(table))
    reader = Reader(steps, unseen)
    names = [n for n in net.names if n != target]
    what = relevant(net, target, _present(columns, names, target))
    if gaps == "null" and not what.short:
        gone = next(n for n in what.needed if n not in what.present)
        raise InputError(
            f"{gone!r} is in the Markov blanket of {target!r} and not among the columns, so "
            "gaps='null' would answer no row.",
            hint="Leave gaps= out, which sums over what is missing.",
        )
    short, long = what.short, gaps == "sum" and bool(what.needed)
    if short:
        _refuse_large(blanket_numbers(net, what))
    wanted = [
        n for n in what.names
        if n in what.present and (long or n in what.needed or n in what.children)
    ]  # fmt: skip
    read = {n: _column(net.variable(n), reader) for n in wanted}
    whole = None
    if short and what.needed:
        whole = steps.define(f"CASE WHEN {all_of(_there(net, what, read))} THEN 1 ELSE 0 END")
        if not long:
            reader.refused.append(f"{whole} = 0")
    scores = blanket_scores(net, what, reader, read) if short else []
    if long:
        summed = gap_scores(net, what, reader, read, whole, _TERMS)
        pairs = zip(scores, summed, strict=True) if short else ()
        looked_up = [f"CASE WHEN {whole} = 1 THEN {a} ELSE {b} END" for a, b in pairs]
        scores = looked_up or summed
    return _statement(variable, reader, [steps.define(s) for s in scores], keep)


def naive_sql(
    model: NaiveBayesModel,
    dialect: str,
    target: str | None = None,
    *,
    table: str | Sequence[str] = "rows",
    keep: Sequence[str] | str = (),
    columns: Collection[str] | None = None,
    unseen: str = "missing",
) -> str:
    """The SELECT of P(class | row) under naive Bayes."""
    from credo.predict.rows.naive_row import check_unseen

    if target is not None and target != model.target.name:
        raise unknown_name("Variable", target, [model.target.name], "the class of the model")
    smooth = check_unseen(unseen) == "smooth"
    steps = Steps(dialect_of(dialect), dialect_of(dialect).table(table))
    reader = Reader(steps, {"error": "refuse", "smooth": "apart"}.get(unseen, unseen))
    present = _present(columns, model.names, model.target.name)
    _refuse_large(naive_numbers(model, present))
    scores = naive_scores(model, reader, present, smooth)
    return _statement(model.target, reader, scores, keep)


def _statement(
    variable: Variable, reader: Reader, scores: Sequence[str], keep: Sequence[str] | str
) -> str:
    """The probabilities of some scores, with what each column is said above."""
    d, steps = reader.dialect, reader.steps
    if isinstance(keep, str):
        keep = [keep]
    kept = [(steps.read(d.name(n)), n) for n in keep]
    best = steps.define(greatest(scores))
    refused = [f"{best} < {d.number(RULED_OUT)}"]
    if reader.refused:  # told at once, so that the columns it is told by need not be carried on
        early = steps.define(f"CASE WHEN {any_of(reader.refused)} THEN 1 ELSE 0 END")
        refused.append(f"{early} = 1")
    bad = steps.define(f"CASE WHEN {any_of(refused)} THEN 1 ELSE 0 END")
    zero, far = d.number(0.0), d.number(-700.0)
    weights = [
        steps.define(f"CASE WHEN {s} - {best} > {far} THEN EXP({s} - {best}) ELSE {zero} END")
        for s in scores
    ]
    total = steps.define(added(weights))
    names = probability_names(variable, keep)
    out = [(f"CASE WHEN {bad} = 1 THEN NULL ELSE {w} / {total} END", n)
           for w, n in zip(weights, names, strict=True)]  # fmt: skip
    head = [f"-- {n}: P({variable.name!r} = {s!r} | the row)"
            for n, s in zip(names, variable.states, strict=True)]  # fmt: skip
    text = "\n".join([*head, steps.select([*kept, *out])]) + "\n"
    if d.most_bytes is not None and len(text.encode()) > d.most_bytes:
        raise LimitError(
            f"The statement has {len(text.encode()):,} bytes; {d.label} takes at most "
            f"{d.most_bytes:,}.",
            hint="Use another dialect, or a model with smaller tables.",
        )
    return text


def probability_names(variable: Variable, taken: Collection[str] = ()) -> list[str]:
    """The names of the answers: p_ and the state, in characters that all engines take.

    >>> probability_names(Variable("y", "discrete", ("no", "Very much", "very much")))
    ['p_no', 'p_Very_much', 'p_very_much_2']
    """
    seen = {n.casefold() for n in taken}
    out = []
    for text in variable.texts:
        plain = "".join(c if c.isalnum() else "_" for c in text) or "_"
        name = base = f"p_{plain}".encode()[:_LONGEST].decode(errors="ignore")
        k = 1
        while name.casefold() in seen:
            k += 1
            name = f"{base}_{k}"
        seen.add(name.casefold())
        out.append(name)
    return out


def _present(columns: Collection[str] | None, names: Sequence[str], target: str) -> frozenset[str]:
    """The variables that the table has: all, or those named."""
    if columns is None:
        return frozenset(names)
    for name in [columns] if isinstance(columns, str) else columns:
        if name not in names and name != target:
            raise unknown_name("Variable", name, names, "in the model")
    return frozenset([columns] if isinstance(columns, str) else columns) - {target}


def _column(variable: Variable, reader: Reader) -> str:
    """The code of a discrete variable, or the number of a continuous one on its scale."""
    if variable.is_discrete:
        return reader.code(variable)
    scale = variable.scale if isinstance(variable.scale, Transform) else None
    return reader.number(variable.name, scale=scale)


def _there(net: Network, what: Relevant, read: dict[str, Any]) -> list[str]:
    """That each variable which the short way needs is observed."""
    return [
        f"{read[n]} < {net.variable(n).arity}"
        if net.variable(n).is_discrete
        else f"{read[n]} IS NOT NULL"
        for n in what.needed
    ]


def _refuse_large(numbers: int) -> None:
    if numbers > _NUMBERS:
        raise LimitError(
            f"The statement would hold {numbers:,} numbers of the model's tables; at most "
            f"{_NUMBERS:,} are written.",
            hint="Use predict_proba, or a model with fewer states or parents.",
        )
