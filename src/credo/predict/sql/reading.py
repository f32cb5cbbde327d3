"""Columns of a table as a statement reads them: codes of states, and numbers on their scale.

    code    0 … J − 1 a state,  J missing,  J + 1 a value that is no state
    number  a float, NULL where it is missing or NaN

What `predict_proba` refuses in a row is noted in `refused`: the row's answer is NULL.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from credo.core.bins import Bins
from credo.core.errors import InputError
from credo.core.interval_states import cuts_of
from credo.core.scales import Transform
from credo.core.schema import Variable
from credo.core.state_values import is_number, plain_state
from credo.predict.sql.dialects import Dialect
from credo.predict.sql.steps import Steps, all_of

__all__ = ["Reader"]

_MOST = 1.7976931348623157e308
_SMALL_POWER = 1e-4  # below it a power is taken by its series


class Reader:
    """The columns of the table, each read once; `unseen` is what a value that is no state is.

    'refuse' gives the row no answer, 'missing' takes it as missing, 'apart' leaves it a code.
    """

    def __init__(self, steps: Steps, unseen: str) -> None:
        self.steps = steps
        self.unseen = unseen
        self.refused: list[str] = []
        self._numbers: dict[str, str] = {}

    @property
    def dialect(self) -> Dialect:
        """The engine that reads."""
        return self.steps.dialect

    def number(self, name: str, *, scale: Transform | None = None) -> str:
        """A column of numbers, on its scale."""
        found = self._numbers.get(name)
        if found is None:
            cast = f"CAST({self.dialect.name(name)} AS {self.dialect.double})"
            gone = self.dialect.is_nan.format(cast)
            found = self.steps.read(f"CASE WHEN {gone} THEN NULL ELSE {cast} END")
            self.refused.append(f"ABS({found}) > {self.dialect.number(_MOST)}")
            self._numbers[name] = found
        return found if scale is None else self._scaled(found, scale)

    def code(self, variable: Variable) -> str:
        """A column of states; of a number that is cut, the interval that holds it."""
        cuts = cuts_of(variable.states)
        if isinstance(variable.scale, Bins):
            cuts = tuple(variable.scale.cuts.tolist())
        if cuts is not None:
            return self.interval(variable.name, cuts)
        return self._state(variable)

    def interval(self, name: str, cuts: Sequence[float]) -> str:
        """The code of the interval of a number, closed to the right."""
        y, n = self.number(name), self.dialect.number
        cases = [f"WHEN {y} IS NULL THEN {len(cuts) + 1}"]
        cases += [f"WHEN {y} <= {n(cut)} THEN {j}" for j, cut in enumerate(cuts)]
        return self.steps.define(f"CASE {' '.join(cases)} ELSE {len(cuts)} END")

    def above(self, name: str) -> str:
        """Whether a number is above 0."""
        y = self.number(name)
        zero = self.dialect.number(0.0)
        return self.steps.define(
            f"CASE WHEN {y} IS NULL THEN 2 WHEN {y} > {zero} THEN 1 ELSE 0 END"
        )

    def _state(self, variable: Variable) -> str:
        d, name, many = self.dialect, self.dialect.name(variable.name), variable.arity
        states = [plain_state(s) for s in variable.states]
        kinds = {"number" if is_number(s) else type(s).__name__ for s in states}
        if len(kinds) > 1:
            raise InputError(
                f"The states of {variable.name!r} are of several types "
                f"({', '.join(sorted(kinds))}), and a column in SQL has one.",
                hint="Read the column as one type, such as text.",
            )
        cases = [f"WHEN {d.literal(variable, s)} THEN {j}" for j, s in enumerate(states)]
        if self.unseen == "missing":
            return self.steps.read(f"CASE {name} {' '.join(cases)} ELSE {many} END")
        gone = f"{name} IS NULL"
        if kinds == {"number"}:
            gone = f"{gone} OR {d.is_nan.format(f'CAST({name} AS {d.double})')}"
        known = f"CASE {name} {' '.join(cases)} ELSE {many + 1} END"
        found = self.steps.read(f"CASE WHEN {gone} THEN {many} ELSE {known} END")
        if self.unseen == "refuse":
            self.refused.append(f"{found} = {many + 1}")
        return found

    def _scaled(self, y: str, scale: Transform) -> str:
        """z = t(y); a number outside the domain has no answer."""
        n = self.dialect.number
        low, high = scale.domain
        ends = [f"{y} > {n(low)}"] * (low > -math.inf) + [f"{y} < {n(high)}"] * (high < math.inf)
        if scale.kind == "logit":
            z = f"LN(({y} - {n(scale.low)}) / ({n(scale.high)} - {y}))"
        elif scale.kind in ("log", "log1p"):
            u = f"({y} - {n(scale.low)}) / {n(scale.spread)}"
            z = f"LN({u})" if scale.kind == "log" else f"LN({n(1.0)} + {u})"
        else:
            right, left = scale._powers
            u = self.steps.define(f"({y} - {n(scale.centre)}) / {n(scale.spread)}")
            log = self.steps.define(f"LN({n(1.0)} + ABS({u}))")
            z = (
                f"CASE WHEN {u} >= {n(0.0)} THEN {_power(self.dialect, log, right)} "
                f"ELSE -({_power(self.dialect, log, left)}) END"
            )
        if not ends:
            return self.steps.define(z)
        inside = all_of(ends)
        self.refused.append(f"NOT {inside}")
        return self.steps.define(f"CASE WHEN {inside} THEN {z} END")


def _power(dialect: Dialect, log: str, power: float) -> str:
    """(exp(power · log) − 1) / power; where the power is small, the first terms of the series."""
    n = dialect.number
    if power >= _SMALL_POWER:
        return f"(EXP({n(power)} * {log}) - {n(1.0)}) / {n(power)}"
    a, b, c = power / 2, power / 3, power / 4
    inner = f"{n(1.0)} + {n(b)} * {log} * ({n(1.0)} + {n(c)} * {log})"
    return f"{log} * ({n(1.0)} + {n(a)} * {log} * ({inner}))"
