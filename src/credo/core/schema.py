"""Variables and schemas: the names, kinds and states of a table's columns.

A `Variable` is a name and a kind: `discrete`, with its states in the user's own values and
types, or `continuous`. A `Schema` is the variables of a table in their order, together with
what was noticed while reading it (missing rates, columns set aside and why). The variables
are the schema's value: two schemas are equal when their variables are, whatever was noticed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from credo.core.errors import LimitError, SchemaError, shown, unknown_name
from credo.core.frozen import Frozen, ReadOnly
from credo.core.scales import Bins, Scale, scale_states
from credo.core.state_values import is_missing as is_missing
from credo.core.state_values import position as position
from credo.core.state_values import state_key as state_key

Kind = Literal["discrete", "continuous"]

MAX_STATES = 10_000
"""A discrete variable has at most this many states."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Variable:
    """A name and a kind; a discrete variable has its states, in their order.

    A number may have a `scale` (`core/scales.py`): a transform of a continuous variable, or the
    bins of one that is discrete below the encoding and a number to the user.

    >>> v = Variable("stage", "discrete", ("I", "II", "III"))
    >>> v.arity, v.code("II")
    (3, 1)
    >>> v.code("IV")
    Traceback (most recent call last):
    credo.errors.UnknownNameError: State 'IV' is not one of 'stage'. Did you mean 'I'?
    """

    name: str
    kind: Kind
    states: tuple[Any, ...] = ()
    ordered: bool = field(default=False, compare=False)
    scale: Scale | None = None
    _codes: dict[object, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SchemaError(
                f"A variable's name must be a non-empty text, got {shown(self.name)}."
            )
        if self.kind not in ("discrete", "continuous"):
            raise SchemaError(
                f"The kind of {self.name!r} must be 'discrete' or 'continuous', got {self.kind!r}."
            )
        states: Any = self.states
        if isinstance(states, str) or not isinstance(states, Iterable):
            raise SchemaError(f"The states of {self.name!r} must be a list, got {shown(states)}.")
        if isinstance(states, (set, frozenset)):
            raise SchemaError(
                f"The states of {self.name!r} must be a list, whose order is kept; a set has none.",
                hint="Give a list: sorted(…), or the order that is meant.",
            )
        if self.scale is not None:
            states = scale_states(self.name, self.kind, tuple(states), self.scale)
            if isinstance(self.scale, Bins):
                object.__setattr__(self, "ordered", True)
        object.__setattr__(self, "states", tuple(states))
        if self.kind == "continuous":
            if self.states:
                raise SchemaError(f"The continuous variable {self.name!r} cannot have states.")
            return
        if not self.states:
            raise SchemaError(
                f"The discrete variable {self.name!r} needs at least one state.",
                hint=f"Where no row shows any, name them: schema={{{self.name!r}: ['no', 'yes']}}.",
            )
        if len(self.states) > MAX_STATES:
            raise LimitError(
                f"The variable {self.name!r} has {len(self.states):,} states; "
                f"at most {MAX_STATES:,} are allowed.",
                hint="Group rare values, or leave the column out.",
            )
        for code, state in enumerate(self.states):
            if is_missing(state):
                raise SchemaError(
                    f"A state of {self.name!r} cannot be missing, got {shown(state)}."
                )
            try:
                seen = self._codes.setdefault(state_key(state), code)
            except TypeError:
                raise SchemaError(
                    f"The states of {self.name!r} must be hashable, got {shown(state)}."
                ) from None
            if seen != code:
                raise SchemaError(f"The state {state!r} of {self.name!r} is given twice.")

    def __eq__(self, other: object) -> bool:
        """The same name, kind, scale and states; True and 1 are different states."""
        if not isinstance(other, Variable):
            return NotImplemented
        if self.scale is not other.scale and self.scale != other.scale:
            return False
        return (self.name, self.kind) == (other.name, other.kind) and (
            self.states is other.states
            or list(map(state_key, self.states)) == list(map(state_key, other.states))
        )

    def __hash__(self) -> int:
        return hash((self.name, self.kind, len(self.states)))

    @property
    def is_discrete(self) -> bool:
        """Whether the variable has states."""
        return self.kind == "discrete"

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers to the user: a continuous one, or one in bins."""
        return self.scale is not None or not self.is_discrete

    @property
    def texts(self) -> tuple[str, ...]:
        """The states as reports show them; texts in quotes where they stand beside other types.

        >>> Variable("x", "discrete", (True, 1, "1")).texts
        ('True', '1', "'1'")
        """
        quoted = len({isinstance(s, str) for s in self.states}) > 1
        return tuple(repr(s) if quoted and isinstance(s, str) else str(s) for s in self.states)

    @property
    def arity(self) -> int:
        """The number of states of a discrete variable."""
        if not self.is_discrete:
            raise SchemaError(f"The continuous variable {self.name!r} has no states.")
        return len(self.states)

    def find(self, state: object) -> int | None:
        """The position of a state; None for a value that is none.

        >>> Variable("dose", "discrete", (1, 2)).find(2.0)
        1
        """
        return position(state, self._codes, self.states)

    def code(self, state: object) -> int:
        """The position of a state; an unknown state is an error that offers near ones."""
        found = position(state, self._codes, self.states)
        if found is None:
            mine = f"one of {self.name!r}"
            if isinstance(state, str) and state == self.name:  # "'x' is not one of 'x'": of what?
                mine = f"a state of the variable {self.name!r}"
            raise unknown_name("State", state, self.states, mine)
        return found

    def _repr_html_(self) -> str:
        from credo.core.render import text_html

        return text_html(self)


def scaled_variable(name: str, scale: Scale | None) -> Variable:
    """A number with its scale."""
    kind: Kind = "discrete" if isinstance(scale, Bins) else "continuous"
    return Variable(name, kind, scale=scale)


@dataclass(frozen=True, slots=True)
class Column(Frozen):
    """What reading noticed about one column of the source, used or set aside.

    `kind` is 'discrete' or 'continuous' for a variable; for a column set aside it says what
    it was taken for ('identifier', 'constant', 'empty', 'date', 'text', 'weights', 'dropped',
    'unsupported') and `reason` says why. `missing_as` lists what was taken as missing.
    """

    name: str
    kind: str
    reason: str
    rows: int = 0
    missing: int = 0
    missing_as: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    whole: bool = False
    """Whether a continuous column is one of whole numbers."""

    @property
    def used(self) -> bool:
        """Whether the column became a variable."""
        return self.kind in ("discrete", "continuous")

    @property
    def missing_rate(self) -> float:
        """The share of cells that are missing."""
        return self.missing / self.rows if self.rows else 0.0

    def _repr_html_(self) -> str:
        from credo.core.render import text_html

        return text_html(self)


@dataclass(frozen=True, repr=False)
class Schema:
    """The variables of a table, in order, and what was noticed about each column.

    >>> schema = Schema((Variable("fever", "discrete", ("no", "yes")),
    ...                  Variable("age", "continuous")))
    >>> schema.names, schema["fever"].states
    (('fever', 'age'), ('no', 'yes'))
    >>> schema["fevr"]
    Traceback (most recent call last):
    credo.errors.UnknownNameError: Variable 'fevr' is not in the table. Did you mean 'fever'?
    """

    variables: tuple[Variable, ...]
    columns: tuple[Column, ...] = field(default=(), compare=False)
    source: str = field(default="", compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        given: Any = self.variables
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise SchemaError(f"A schema is made of variables, got {shown(given)}.")
        object.__setattr__(self, "variables", tuple(given))
        seen: set[str] = set()
        for variable in self.variables:
            if not isinstance(variable, Variable):
                raise SchemaError(f"A schema is made of variables, got {shown(variable)}.")
            if variable.name in seen:
                raise SchemaError(f"The variable {variable.name!r} is in the schema twice.")
            seen.add(variable.name)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {v.name: i for i, v in enumerate(self.variables)}

    @cached_property
    def _arities(self) -> list[int]:
        """The number of states of each variable; -1 for a continuous one."""
        return [v.arity if v.is_discrete else -1 for v in self.variables]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in order."""
        return tuple(v.name for v in self.variables)

    @cached_property
    def discrete(self) -> tuple[str, ...]:
        """The names of the discrete variables."""
        return tuple(v.name for v in self.variables if v.is_discrete)

    @cached_property
    def continuous(self) -> tuple[str, ...]:
        """The names of the continuous variables."""
        return tuple(v.name for v in self.variables if not v.is_discrete)

    @cached_property
    def scales(self) -> dict[str, Scale]:
        """The scales of the numbers that have one."""
        return ReadOnly({v.name: v.scale for v in self.variables if v.scale is not None})

    def scaled(self, scales: Mapping[str, Scale | None]) -> Schema:
        """The schema with other scales of some numbers; None is a number as it is.

        >>> from credo.core.scales import Transform
        >>> Schema((Variable("fare", "continuous"),)).scaled({"fare": Transform("log")}).scales
        {'fare': Transform(kind='log', centre=0.0, spread=1.0, power=1.0, low=0.0, high=inf)}
        """
        for name in scales:
            if self[name].is_discrete and self[name].scale is None:
                raise SchemaError(
                    f"{name!r} is discrete, and a scale is for numbers.",
                    hint=f"Read it as numbers: schema={{{name!r}: 'continuous'}}.",
                )
        variables = tuple(
            scaled_variable(v.name, scales[v.name]) if v.name in scales else v
            for v in self.variables
        )
        return Schema(variables, self.columns, self.source, self.notes)

    @cached_property
    def unscaled(self) -> Schema:
        """The schema with every number as it is."""
        return self.scaled(dict.fromkeys(self.scales)) if self.scales else self

    @property
    def set_aside(self) -> dict[str, str]:
        """The columns that are not variables, each with the reason."""
        return {c.name: c.reason for c in self.columns if not c.used}

    @property
    def missing(self) -> dict[str, float]:
        """The share of missing cells of each variable."""
        rates = {c.name: c.missing_rate for c in self.columns}
        return {name: rates.get(name, 0.0) for name in self.names}

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {c.name: c for c in self.columns}

    def column(self, name: str) -> Column:
        """What reading noticed about one column of the source."""
        found = self._columns.get(name) if isinstance(name, str) else None
        if found is not None:
            return found
        raise unknown_name("Column", name, [c.name for c in self.columns], "in the table")

    def index(self, name: str, what: str = "Variable") -> int:
        """The position of a variable, which errors call `what`."""
        found = self._index.get(name) if isinstance(name, str) else None
        if found is not None:
            return found
        if isinstance(name, str) and name in self.set_aside:
            kind = self._columns[name].kind
            way = "'discrete'} (or 'continuous') to use it."
            if kind == "empty":
                way = "['no', 'yes']} (its states, or 'continuous') to use it."
            elif kind == "text":
                way = "'discrete'} to use it."
            elif kind == "date":
                way = "'discrete'} (or 'continuous', if a frame gives the dates) to use it."
            elif kind == "identifier" and "numbers" not in self.set_aside[name]:
                way = "'discrete'} (or 'continuous', if it holds numbers) to use it."
            hint = f"Read the table with schema={{{name!r}: {way}"
            if kind == "weights":
                hint = "It cannot be a variable at once: give weights= another column to use it."
            if kind == "unsupported":
                hint = "Make columns of single values of it before reading, to use it."
                if "binary" in self.set_aside[name]:
                    word = f"schema={{{name!r}: 'discrete'}}"
                    hint = f"Read the table with {word} to use its bytes as states."
            raise SchemaError(
                f"The column {name!r} was set aside: {self.set_aside[name]}.", hint=hint
            )
        raise unknown_name(what, name, self.names, "in the table")

    def __getitem__(self, name: str) -> Variable:
        return self.variables[self.index(name)]

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def select(self, names: Sequence[str]) -> Schema:
        """The schema of some of the variables, in the order given."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise SchemaError(f"A list of variable names is needed, got {shown(names)}.")
        return Schema(
            tuple(self[name] for name in names),
            tuple(self._columns[n] for n in names if n in self._columns),
            self.source,
        )

    def __repr__(self) -> str:
        from credo.core.render import many, shortened

        return f"Schema({many(len(self.variables), 'variable')}: {shortened(self.names)})"

    def __str__(self) -> str:
        from credo.core.render import schema_text

        return schema_text(self)

    def _repr_html_(self) -> str:
        from credo.core.render import schema_html

        return schema_html(self)
