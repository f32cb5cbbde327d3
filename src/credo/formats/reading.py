"""Reading: one file on its way to being a network; every refusal names its line.

A reader tells what it finds: variables with their states, families with their parents, tables
with their numbers. Sizes are checked before memory is taken. A row may miss 1 by 1e-6: it is
then divided by its sum, and the network's record says how many were and by how much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from credo.errors import CredoError, InputError, LimitError, unknown_name
from credo.formats.limits import Limits
from credo.formats.names import unescape
from credo.formats.states import restored
from credo.model.cpt import Cpt
from credo.model.dag import Dag
from credo.model.network import Network
from credo.model.record import Record
from credo.model.value import readonly
from credo.schema import Variable

__all__ = ["Reading"]

Floats = NDArray[np.float64]

TOLERANCE = 1e-6
"""A row further than this from adding up to 1 is refused."""
ROUNDING = 1e-13
"""A row nearer than this is left as it is: dividing it would only change its last bits."""


@dataclass(slots=True)
class Family:
    """P(child | parents) as found in the file."""

    child: str
    parents: tuple[str, ...]
    line: int
    values: Floats | None = None


@dataclass(slots=True)
class Reading:
    """What has been found so far in one file."""

    source: str
    limits: Limits
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    codes: dict[str, dict[str, int]] = field(default_factory=dict)
    families: dict[str, Family] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    escaped: bool = False
    lead: str = ""
    numbers: int = 0
    rescaled: int = 0
    worst: float = 0.0

    # --- refusing -------------------------------------------------------------------------

    def where(self, line: int | None) -> str:
        """`asia.bif, line 7`."""
        return f"{self.source}, line {line}" if line else self.source

    def error(self, line: int | None, message: str, hint: str = "") -> InputError:
        """The refusal of something on a line."""
        return InputError(f"{self.where(line)}: {message}", hint=hint)

    def too_large(self, line: int | None, what: str, limit: str) -> LimitError:
        """The refusal of something that passes a limit."""
        most = getattr(self.limits, limit)
        return LimitError(
            f"{self.where(line)}: {what}; at most {most:,} are allowed.",
            hint=f"If the file can be trusted, give limits=Limits({limit}=…).",
        )

    def too_many(self, line: int | None, what: str, most: int) -> LimitError:
        """The refusal of a list that is longer than any limit allows, before it is read whole."""
        return LimitError(
            f"{self.where(line)}: There are more than {most:,} names in {what}.",
            hint="If the file can be trusted, give limits=Limits(states=…, variables=…).",
        )

    def unknown(
        self, line: int, what: str, name: str, known: Sequence[str], where: str
    ) -> CredoError:
        """The refusal of a name that is not there, with near names."""
        found = unknown_name(what, name, known, where)
        return type(found)(f"{self.where(line)}: {found.message}", hint=found.hint)

    # --- finding --------------------------------------------------------------------------

    def check_states(self, count: int, name: str, line: int | None) -> None:
        """Refuse a number of states, before they are read."""
        if count > self.limits.states:
            raise self.too_large(line, f"The variable {name!r} has {count:,} states", "states")
        if count < 1:
            raise self.error(line, f"The variable {name!r} needs at least one state.")

    def variable(self, name: str, states: Sequence[str], line: int | None) -> None:
        """A variable and its states."""
        if not name:
            raise self.error(line, "A variable has no name.")
        if name in self.states:
            raise self.error(line, f"The variable {name!r} is declared twice.")
        if len(self.states) >= self.limits.variables:
            raise self.too_large(line, "The file has too many variables", "variables")
        self.check_states(len(states), name, line)
        codes = {state: i for i, state in enumerate(states)}
        if len(codes) < len(states):
            twice = next(s for i, s in enumerate(states) if codes[s] != i)
            raise self.error(line, f"The state {twice!r} of {name!r} is given twice.")
        self.states[name] = tuple(states)
        self.codes[name] = codes

    def family(self, child: str, parents: Sequence[str], line: int) -> tuple[int, ...]:
        """A child and its parents; the shape of its table, the child's axis last."""
        for name in (child, *parents):
            if name not in self.states:
                raise self.unknown(
                    line, "Variable", name, list(self.states), "declared in the file"
                )
        if child in self.families:
            raise self.error(line, f"There are two tables for {child!r}.")
        if child in parents:
            raise self.error(line, f"The variable {child!r} is its own parent: {child} → {child}.")
        if len(set(parents)) < len(parents):
            twice = next(p for p in parents if list(parents).count(p) > 1)
            raise self.error(line, f"{twice!r} is given twice as a parent of {child!r}.")
        shape = tuple(len(self.states[n]) for n in (*parents, child))
        size = 1
        for n in shape:
            size *= n
        if self.numbers + size > self.limits.numbers:
            raise self.too_large(
                line, f"The table of {child!r} would have {size:,} numbers", "numbers"
            )
        self.numbers += size
        self.families[child] = Family(child, tuple(parents), line)
        return shape

    def fill(self, child: str, values: Floats, line_of: Callable[[int], int]) -> None:
        """The numbers of a table, child fastest; `line_of` tells the line of a row."""
        states = self.states[child]
        rows = values.reshape(-1, len(states))
        total = rows.sum(axis=1)
        off = np.abs(total - 1.0)
        if not np.isfinite(total).all() or (rows < 0).any():
            bad = ~np.isfinite(rows) | (rows < 0)
            at = int(np.argmax(bad.any(axis=1)))
            if bad[at].any():
                k = int(np.argmax(bad[at]))
                what = "negative" if rows[at, k] < 0 and np.isfinite(rows[at, k]) else "not finite"
                raise self.error(
                    line_of(at), f"P({child}={states[k]}) is {what}: {float(rows[at, k])!r}."
                )
        if not (off <= TOLERANCE).all():
            at = int(np.argmax(~(off <= TOLERANCE)))
            raise self.error(
                line_of(at),
                f"The probabilities of {child!r} add up to {float(total[at]):.9g}, not to 1.",
            )
        apart = off > ROUNDING
        if apart.any():
            self.rescaled += int(apart.sum())
            self.worst = max(self.worst, float(off.max()))
            rows = np.where(apart[:, None], rows / total[:, None], rows)
        family = self.families[child]
        family.values = rows.reshape([*(len(self.states[p]) for p in family.parents), len(states)])

    def fill_either(
        self, child: str, flat: Floats, line_of: Callable[[int], int], *, child_fastest: bool
    ) -> None:
        """Numbers in the order that the format asks for, or in the other one when only that
        adds up to 1 (both are met in files); the notes then say so.
        """
        k = len(self.states[child])
        right = flat.reshape(-1, k) if child_fastest else flat.reshape(k, -1).T
        other = flat.reshape(k, -1).T if child_fastest else flat.reshape(-1, k)
        if not _adds_up(right) and _adds_up(other):
            first = "slowest" if child_fastest else "fastest"
            self.notes.append(
                f"the table of {child!r} lists the child {first}, against the format's rule; "
                "only so do its rows add up to 1"
            )
            right = other
        self.fill(child, np.ascontiguousarray(right), line_of)

    # --- the network ----------------------------------------------------------------------

    def network(self, *, types: bool) -> Network:
        """All that was found, as a network."""
        if not self.states:
            raise self.error(None, "There is no variable in the file.")
        for name in self.states:
            family = self.families.get(name)
            if family is None or family.values is None:
                raise self.error(None, f"The variable {name!r} has no table.")
        self._refuse_cycle()
        variables = self.variables(types)
        if self.rescaled:
            rows = "row was" if self.rescaled == 1 else "rows were"
            self.notes.append(
                f"{self.rescaled} {rows} divided by the sum, which missed 1 by at most "
                f"{self.worst:.2g}"
            )
        tables = []
        for name in self.states:
            family = self.families[name]
            assert family.values is not None
            parents = tuple(variables[p] for p in family.parents)
            tables.append(exact_cpt(variables[name], parents, family.values))
        record = Record(how="read", source=self.source, notes=tuple(self.notes))
        return assemble(tables, record, self.source)

    def variables(self, types: bool) -> dict[str, Variable]:
        """The variables by their name in the file, with their true names and states."""
        out: dict[str, Variable] = {}
        seen: set[str] = set()
        for name, texts in self.states.items():
            true = unescape(name, self.lead) if self.escaped else name
            if self.escaped:
                texts = tuple(unescape(t, self.lead) for t in texts)
            if true in seen:
                raise self.error(None, f"The variable {true!r} is declared twice.")
            seen.add(true)
            states, ordered = texts, False
            try:
                if types and name in self.kinds:
                    states, ordered = restored(texts, self.kinds[name])
                out[name] = Variable(true, "discrete", states, ordered)
            except InputError as error:
                raise self.error(None, f"The variable {true!r}: {error.message}.") from None
        return out

    def _refuse_cycle(self) -> None:
        left = {n: len(f.parents) for n, f in self.families.items()}
        children: dict[str, list[str]] = {n: [] for n in left}
        for name, family in self.families.items():
            for parent in family.parents:
                children[parent].append(name)
        ready = [n for n, k in left.items() if k == 0]
        while ready:
            name = ready.pop()
            del left[name]
            for child in children[name]:
                left[child] -= 1
                if left[child] == 0:
                    ready.append(child)
        if not left:
            return
        path, at = [], next(iter(left))
        while at not in path:
            path.append(at)
            at = next(p for p in self.families[at].parents if p in left)
        cycle = [at, *reversed(path[path.index(at) :])]
        raise self.error(self.families[at].line, f"The arrows form a cycle: {' → '.join(cycle)}.")


def _adds_up(rows: Floats) -> bool:
    return bool((np.abs(rows.sum(axis=1) - 1.0) <= TOLERANCE).all())


def exact_cpt(
    child: Variable,
    parents: tuple[Variable, ...],
    values: Floats,
    counts: Floats | None = None,
    rescaled: float = 0.0,
) -> Cpt:
    """A table with these very numbers: what was written is what is read, to the last bit."""
    cpt = Cpt(child, parents, values, counts, rescaled)
    if not np.array_equal(cpt.values, values):
        off = float(np.abs(values.sum(axis=-1) - 1.0).max())
        if off <= ROUNDING:
            object.__setattr__(cpt, "values", readonly(values))
            object.__setattr__(cpt, "rescaled", rescaled)
    return cpt


def assemble(tables: Sequence[object], record: Record | None, source: str) -> Network:
    """The network of some distributions, its edges in the order of their parents."""
    edges = [(p.name, t.name) for t in tables for p in t.parents]  # type: ignore[attr-defined]
    names = [t.name for t in tables]  # type: ignore[attr-defined]
    try:
        return Network(
            Dag(edges, nodes=names),
            dict(zip(names, tables, strict=True)),
            record=record,
        )
    except CredoError as error:
        raise InputError(f"{source}: {error.message}", hint=error.hint) from error
