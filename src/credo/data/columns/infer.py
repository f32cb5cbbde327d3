"""From the profile of a column to a variable, by rules that are written down and reported.

The rules, in the order in which they are tried (docs/tables.md explains them):

1. nothing but missing cells → empty; one value in two or more rows → constant;
2. a categorical or enum (one of Python too), or a boolean → discrete, order kept; identifier or
   text if its rows have more than 10,000 of the categories;
3. dates → date;
4. whole numbers, however they are stored: row names, named *…id*, *…number* or *…index* and
   different, or each of 0, 1, 2, … (or 1, 2, 3, …) once → identifier; states by `number_states` →
   discrete; else continuous;
5. other numbers: very few → discrete, else continuous; cells that are not finite numbers are named,
   and a column of numbers that has one is doubtful, however small the table;
6. text: sentences that hardly repeat → text; nearly all different → identifier;
   hardly repeating → text; else discrete.

Small tables are not over-read: all-different text is discrete in fewer than 21 rows, and when a
name makes an identifier is told in `identifiers`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from credo.core.schema import MAX_STATES, Column, Variable
from credo.core.state_values import is_number, state_key
from credo.data.columns.cells import cell_text, number_of, told
from credo.data.columns.doubts import (
    are_quantities,
    decimal_commas,
    numeric_doubts,
    other_doubts,
    too_large,
)
from credo.data.columns.identifiers import (
    SMALL,
    are_row_names,
    are_states,
    is_named_identifier,
    named_like_id,
    numbers_rows,
)
from credo.data.columns.numerals import as_bool, as_int, looks_like_date, numbers_of
from credo.data.columns.profile import Doubt, Profile
from credo.data.columns.written import Written, states_meant

FEW_TEXTS = 20
_UNFIT = ": no model can hold it"
_LIKE_NUMBERS = ", and no other cell is: write them as plain numbers (no %, currency or thousands)"
_UNLISTED = (
    "the file says that it has categories, and does not list them: its states are the values of "
    "the rows, in their own order"
)


@dataclass(frozen=True, slots=True)
class Declared:
    """States that the source itself declares (a categorical or an enum), in their order.

    Values that cells have besides are states too, after these. `aside` says what a column is that
    is a variable only where the user says so, and why: an index of pandas tells rows apart.
    """

    states: tuple[Any, ...]
    ordered: bool = False
    aside: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a column: its line in the report, and its variable if it has one."""

    column: Column
    variable: Variable | None


def decide(profile: Profile, wanted: Any = None, declared: Declared | None = None) -> Decision:
    """Apply the user's word if there is one, else the rules."""
    base = Column(
        profile.name,
        "",
        "",
        rows=profile.rows,
        missing=profile.missing,
        missing_as=dict(profile.missing_as),
    )
    if wanted is not None:
        return _as_told(profile, base, wanted, declared)
    if declared is not None and declared.aside is not None:
        kind, reason = declared.aside
        return Decision(replace(base, kind=kind, reason=reason), None)
    typed = _typed(profile)
    notes = (*_doubt_notes(typed), *_alike_notes(typed))
    kind, reason = _rule(typed, declared)
    column = replace(base, kind=kind, reason=reason, notes=notes)
    if kind == "continuous":
        column = replace(column, whole=typed.type == "int")
        return Decision(column, Variable(profile.name, "continuous"))
    if kind == "discrete":
        if typed.decimals:
            what = "whole numbers stored as decimals" if typed.type == "int" else "few decimals"
            note = f"{what} are its states; schema={{{profile.name!r}: 'continuous'}} keeps numbers"
            column = replace(column, notes=(*notes, note))
        if declared is not None and not declared.states:
            column = replace(column, notes=(*notes, _UNLISTED))
        variable = _discrete(typed, declared)
        return Decision(_noting_left_out(column, variable, declared), variable)
    return Decision(column, None)


# --- the user's word ----------------------------------------------------------------------


def _as_told(profile: Profile, base: Column, wanted: Any, declared: Declared | None) -> Decision:
    if wanted == "drop":
        return Decision(replace(base, kind="dropped", reason="dropped by the schema"), None)
    if isinstance(wanted, Variable):
        return Decision(replace(base, kind=wanted.kind, reason="by the schema given"), wanted)
    if isinstance(wanted, Written):
        variable = Variable(profile.name, "discrete", _written(profile, wanted), ordered=True)
        return Decision(replace(base, kind="discrete", reason="by the schema given"), variable)
    if wanted == "continuous":
        variable = Variable(profile.name, "continuous")
        return Decision(replace(base, kind="continuous", reason="by the schema given"), variable)
    variable = _discrete(_typed(profile), declared)
    column = replace(base, kind="discrete", reason="by the schema given")
    return Decision(_noting_left_out(column, variable, declared), variable)


def _written(profile: Profile, wanted: Written) -> tuple[Any, ...]:
    """The states that are written, as values of the column's type; in a text file they have a say
    in what that is.
    """
    if profile.text and profile.values is not None:
        kind, _ = typed_states([*map(str, profile.values), *wanted.texts])
        return states_meant(wanted.texts, kind, ())
    return states_meant(wanted.texts, _type_of(set(profile.types)), profile.values or ())


# --- typing the text of a file ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Typed:
    """A profile whose cells have a type: of the frame, or found in the text of a file."""

    profile: Profile
    type: str
    states: tuple[Any, ...]
    doubts: tuple[Doubt, ...]
    numeric_doubt: bool = False
    """Whether most cells are numbers, or look like them, and some are not."""
    quantities: bool = False
    """Whether the cells that are numbers would be continuous without those in doubt."""
    decimals: bool = False
    """Whether numbers are stored as decimals, whole ones too."""


def _typed(profile: Profile) -> _Typed:
    types = set(profile.types)
    values = profile.values
    if not profile.text or values is None:
        name = _type_of(types)
        if name == "str" and values and all(isinstance(v, str) for v in values):
            name = "date" if all(looks_like_date(v.strip()) for v in values) else name
        if values and types > {"str"} and types <= {"int", "float", "str"}:
            return _with_texts(profile, values)
        doubtful = bool(profile.doubts) and 2 * profile.numbers() > profile.observed
        found = _Typed(profile, name, _sorted(values or ()), profile.doubts, doubtful)
        return _whole_or_not(found) if name == "float" else found
    kind, states = typed_states([str(v) for v in values]) if values else ("null", ())
    doubts = profile.doubts
    numeric: list[Doubt] = []
    quantities = False
    texts = [str(v) for v in values]
    if kind == "str" and decimal_commas(texts):
        return _Typed(profile, "decimal comma", states, ())
    if kind == "str":
        numbers = numbers_of(texts)
        numeric = numeric_doubts(profile, texts, numbers)
        quantities = bool(numeric) and are_quantities(
            profile.name, texts, numbers, profile.observed
        )
        doubts = (*doubts, *numeric, *other_doubts(profile, texts, {d.cell for d in numeric}))
    found = _Typed(profile, kind, states, doubts, bool(numeric), quantities)
    return _whole_or_not(found) if kind == "float" else found


def _whole_or_not(typed: _Typed) -> _Typed:
    """Decimals as such, or as the whole numbers that all of them are: a frame makes decimals of
    whole numbers that have a gap.
    """
    states = typed.states
    if not (all(number_of(s) % 1 == 0 for s in states) if states else typed.profile.whole):
        return replace(typed, decimals=True)
    whole = tuple(int(s) if isinstance(s, float) else s for s in states)
    return replace(typed, type="int", states=whole, decimals=True)


def _with_texts(profile: Profile, values: Sequence[Any]) -> _Typed:
    """Numbers of a frame or of JSON that stand beside texts: doubtful where a text file's are. A
    text is none here, however it reads.
    """
    numbers = np.array([np.nan if isinstance(v, str) else number_of(v) for v in values])
    numeric = numeric_doubts(profile, values, numbers)
    quantities = bool(numeric) and are_quantities(profile.name, values, numbers, profile.observed)
    doubts = (*profile.doubts, *numeric)
    return _Typed(profile, "str", _sorted(values), doubts, bool(numeric), quantities)


def _type_of(types: set[str]) -> str:
    unsupported = [t for t in types if t.startswith("unsupported")]
    if unsupported:
        return unsupported[0]
    for found in ("infinite", "decimal comma"):
        if found in types:
            return found
    if types <= {"int", "float"} and types:
        return "float" if "float" in types else "int"
    if len(types) == 1:
        return next(iter(types))
    return "str" if types else "null"


def typed_states(texts: Sequence[str]) -> tuple[str, tuple[Any, ...]]:
    """The type that every text of a column has, and the different values in their order.

    >>> typed_states(["+2", "-1", "0"])
    ('int', (-1, 0, 2))
    >>> typed_states(["TRUE", "FALSE"]), typed_states(["T", "F"])
    (('bool', (False, True)), ('str', ('F', 'T')))
    """
    stripped = [t.strip() for t in texts]
    for name, parse in (("bool", as_bool), ("int", as_int)):
        values: set[Any] = set()
        for text in stripped:
            value = parse(text)
            if value is None:
                break
            values.add(value)
        else:
            return name, tuple(sorted(values))
    numbers = numbers_of(stripped)
    if not np.isnan(numbers).any():
        return "float", tuple((np.unique(numbers) + 0.0).tolist())  # of -0.0 it makes 0.0
    if stripped and all(looks_like_date(t) for t in stripped):
        return "date", tuple(sorted(set(texts)))
    return "str", tuple(sorted(set(texts)))


def _sorted(values: Sequence[Any]) -> tuple[Any, ...]:
    """Values in their own order; those of several types by type, numbers together by size, others
    by text. The members of an enum are in the order in which it has them.
    """
    kinds = set(map(type, values))
    if len(kinds) == 1 and issubclass(kind := kinds.pop(), Enum):
        place = {member: i for i, member in enumerate(kind)}
        return tuple(sorted(values, key=lambda v: (place.get(v, len(place)), str(v))))
    try:
        if len({isinstance(v, bool) for v in values}) <= 1:
            return tuple(sorted(values, key=_in_order))
    except TypeError:
        pass
    return tuple(sorted(values, key=_among_others))


def _in_order(value: Any) -> Any:
    """What a value is sorted by among those of its type: a time by its instant."""
    return state_key(value)[1]


def _among_others(value: Any) -> tuple[str, float, str]:
    """Where a value stands among those of other types."""
    if is_number(value):
        return "float", number_of(value), str(value)
    return type(value).__name__, 0.0, str(value)


# --- the rules ----------------------------------------------------------------------------


def _rule(typed: _Typed, declared: Declared | None) -> tuple[str, str]:
    p, n, d = typed.profile, typed.profile.observed, typed.profile.distinct
    if n == 0:
        return "empty", "every cell is missing"
    if typed.type.startswith("unsupported"):
        return "unsupported", f"cells of type {typed.type.removeprefix('unsupported ')}"
    if _is_constant(typed):
        value = typed.states[0] if typed.states else p.low
        gaps = " that is not missing" if p.missing else ""
        return "constant", f"every cell{gaps} is {_short(value)}"
    if declared is not None and p.values is None:
        return _many_categories(p, d)
    if declared is not None:
        return "discrete", "declared by the table" + (", order kept" if declared.ordered else "")
    if typed.type == "bool":
        return "discrete", "booleans"
    if typed.type == "enum" and p.values is not None:
        return "discrete", "members of an enum"
    if typed.type == "date":
        return "date", f"dates, {d:,} different"
    if typed.type in ("int", "float"):
        kind, reason = _number_rule(p, typed.states, n, d, typed.type == "int")
        large = too_large(p) if kind == "continuous" else None
        return (kind, reason) if large is None else ("doubtful", _told_of(large) + _UNFIT)
    if typed.type == "infinite":
        return "doubtful", _told_of(typed.doubts[0]) + _UNFIT
    if typed.type == "decimal comma":
        shown = f" (such as {next(s for s in typed.states if ',' in s)!r})" if typed.states else ""
        reason = f"its numbers have a decimal comma{shown}; read the file with decimal=','"
        return "doubtful", reason
    kind, reason = _text_rule(p, n, d)
    if typed.numeric_doubt and (kind != "discrete" or typed.quantities):
        none = bool(typed.states) and np.isnan(numbers_of([*map(cell_text, typed.states)])).all()
        rest = _LIKE_NUMBERS if none else ", while most other cells are"
        return "doubtful", _told_of(typed.doubts[0]) + rest
    return kind, reason


def _is_constant(typed: _Typed) -> bool:
    p = typed.profile
    if p.observed < 2:
        return False
    return (
        len(typed.states) == 1
        if p.values is not None
        else p.low == p.high and not p.doubts and p.distinct == 1
    )


def _number_rule(
    p: Profile, states: tuple[Any, ...], n: int, d: int, whole: bool
) -> tuple[str, str]:
    low, high = (states[0], states[-1]) if states else (p.low, p.high)
    d = len(states) or d
    if is_named_identifier(p, n, d, low if whole else None) and (whole or are_row_names(p.name)):
        return "identifier", f"its name, and {d:,} different values in {p.sampled:,} rows"
    consecutive = whole and d == p.sampled > 1 and high - low == n - 1 and low in (0, 1)
    if consecutive and (n >= SMALL or numbers_rows(p.name, n)):
        return "identifier", f"consecutive numbers from {low:,.0f} to {high:,.0f}, each once"
    few, reason = are_states(p.name, d, n, low, high, whole=whole)
    if not few and p.sampled < n:
        reason = reason.replace(" different", "+ different")
    return "discrete" if few else "continuous", reason


def _text_rule(p: Profile, n: int, d: int) -> tuple[str, str]:
    different = f"{d:,} different values in {p.sampled:,} rows"
    if p.values is not None and d <= max(FEW_TEXTS, min(p.sampled / 2, 10 * p.sampled**0.5)):
        if d > p.sampled / 2 and d > 1 and p.words >= 4:
            return "text", f"sentences, {different}"
        if is_named_identifier(p, n, d):
            return "identifier", f"its name, and {different}"
        return "discrete", "text" if d <= 50 else f"text, {different}"
    if p.words >= 4:
        return "text", f"sentences, {different}"
    if d >= 0.95 * p.sampled or named_like_id(p.name):
        return "identifier", different
    if d > MAX_STATES:
        return "text", f"more than {MAX_STATES:,} different values"
    return "text", different


def _many_categories(p: Profile, d: int) -> tuple[str, str]:
    """Categories of which the rows have more than a variable can have states."""
    reason = (
        f"categories, {d:,} different ones in {p.sampled:,} rows; at most {MAX_STATES:,} can be "
        "states"
    )
    return ("identifier" if d >= 0.95 * p.sampled or named_like_id(p.name) else "text"), reason


def _discrete(typed: _Typed, declared: Declared | None) -> Variable:
    name = typed.profile.name
    if declared is not None:
        listed = set(map(state_key, declared.states))
        more = tuple(s for s in typed.states if state_key(s) not in listed)
        states = declared.states
        if len(states) + len(more) > MAX_STATES:  # the rows may have fewer of them
            seen = set(map(state_key, typed.states))
            states = tuple(s for s in states if state_key(s) in seen)
        return Variable(name, "discrete", states + more, declared.ordered and not more)
    if typed.type == "bool":
        return Variable(name, "discrete", (False, True))
    return Variable(name, "discrete", typed.states)


# --- what to tell -------------------------------------------------------------------------


def _told_of(doubt: Doubt) -> str:
    where = f"row {doubt.row}" if doubt.row else "a row"
    return f"{where} holds {told(doubt.cell)}, which {doubt.why}"


def _noting_left_out(column: Column, variable: Variable, declared: Declared | None) -> Column:
    """The column with a note, where categories that no row has are too many to be states."""
    if declared is None or len(declared.states) <= variable.arity:
        return column
    note = (
        f"it has {len(declared.states):,} categories, and at most {MAX_STATES:,} can be states: "
        f"the {variable.arity:,} that its rows have are"
    )
    return replace(column, notes=(*column.notes, note))


def _doubt_notes(typed: _Typed) -> tuple[str, ...]:
    return tuple(_told_of(d) if d.row else f"{told(d.cell)} {d.why}" for d in typed.doubts)


def _alike_notes(typed: _Typed) -> tuple[str, ...]:
    """States that differ only in case, blanks or the way their letters are composed."""
    if typed.type != "str" or len(typed.states) > 1000:
        return ()
    states = [s for s in typed.states if isinstance(s, str)]
    folded = [
        (s if s.isascii() else unicodedata.normalize("NFKC", s)).strip().casefold() for s in states
    ]
    if len(set(folded)) == len(folded):
        return ()
    groups: dict[str, list[str]] = {}
    for state, key in zip(states, folded, strict=True):
        groups.setdefault(key, []).append(state)
    alike = [g for g in groups.values() if len(g) > 1]
    return tuple(
        f"{', '.join(map(repr, g))} look alike but are kept apart as states" for g in alike[:5]
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:39] + "…"
