"""Reading: one file on its way to being a network; every refusal names its line.

A reader tells what it finds: variables with their states, families with their parents, tables
with their numbers. Sizes are checked before memory is taken. A row may miss 1 by what its printed
digits explain: it is then divided by its sum, and the network's record says how many were and by
how much.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, CredoWarning, InputError, LimitError, unknown_name
from credo.core.schema import Variable
from credo.formats.files import Limits, raise_limits
from credo.formats.influence import Diagram
from credo.formats.names import unescape
from credo.formats.printed import MOST, ROUNDING, TOLERANCE, adds_up, printing_error, weights
from credo.formats.states import restored
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.graphs.dag import Dag
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.model.values.record import Record
from credo.model.values.value import readonly

Floats = NDArray[np.float64]


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
    normalise: bool = False
    lines: dict[str, int | None] = field(default_factory=dict)
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    codes: dict[str, dict[str, int]] = field(default_factory=dict)
    families: dict[str, Family] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    noisy: dict[str, dict[str, Sequence[float]]] = field(default_factory=dict)
    escaped: bool = False
    lead: str = ""
    size: int = 0
    rescaled: int = 0
    worst: float = 0.0
    beyond: int = 0  # rows that only `normalise` lets through
    weights: dict[str, list[str]] = field(default_factory=dict)
    diagram: Diagram = field(default_factory=Diagram)

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
            hint=raise_limits(limit),
        )

    def too_many(self, line: int | None, what: str, most: int) -> LimitError:
        """The refusal of a list that is longer than any limit allows, before it is read whole."""
        return LimitError(
            f"{self.where(line)}: There are more than {most:,} names in {what}.",
            hint=raise_limits("states", "variables"),
        )

    def unknown(
        self, line: int, what: str, name: str, known: Sequence[str], where: str
    ) -> CredoError:
        """The refusal of a name that is not there, with near names."""
        found = unknown_name(what, name, known, where)
        return type(found)(f"{self.where(line)}: {found.message}", hint=found.hint)

    def no_chance(self, line: int | None, name: str, kind: str) -> InputError:
        """The refusal of a node of an influence diagram."""
        return self.error(
            line,
            f"The node {name!r} is of the kind {kind!r}: decisions and utilities belong to an "
            "influence diagram, not to a Bayesian network, and are not read yet.",
            "They are from .xdsl, .net, .xmlbif and .credo files.",
        )

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
        self.lines[name] = line

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
        size = prod(shape)
        if self.size + size > self.limits.numbers:
            raise self.too_large(
                line, f"The table of {child!r} would have {size:,} numbers", "numbers"
            )
        self.size += size
        self.families[child] = Family(child, tuple(parents), line)
        return shape

    def numbers(self, parts: Sequence[str], line: int) -> Floats:
        """Texts as floats; what is not a plain number is refused with its line."""
        try:
            out = np.array(list(map(float, parts)), dtype=np.float64)
        except ValueError:
            out = None
        if out is None or "_" in (joined := "".join(parts)) or not joined.isascii():
            bad = next(p for p in parts if not _plain(p))
            raise self.error(line, f"Expected a number, got {bad[:40]!r}.")
        return out

    def table(self, child: str, parts: Sequence[str], line_of: Callable[[int], int]) -> None:
        """A table as texts, child fastest; `line_of` tells the line of a row."""
        k = len(self.states[child])
        self.check_length(child, parts, line_of(0))
        values = self.numbers(parts, line_of(0))
        self.fill(child, values, line_of, lambda row: parts[row * k : (row + 1) * k])

    def table_either(
        self, child: str, parts: Sequence[str], line: int, *, child_fastest: bool
    ) -> None:
        """A table in the order that the format asks for, or in the other one when only that
        adds up to 1 (both are met in files); the notes then say so.
        """
        self.check_length(child, parts, line)
        k = len(self.states[child])
        flat = self.numbers(parts, line)
        orders = {True: flat.reshape(-1, k), False: flat.reshape(k, -1).T}
        for tolerance in (TOLERANCE, MOST):
            if adds_up(orders[child_fastest], tolerance):
                break
            if adds_up(orders[not child_fastest], tolerance):
                child_fastest = not child_fastest
                self.notes.append(
                    f"the table of {child!r} lists the child "
                    f"{'fastest' if child_fastest else 'slowest'}, against the format's rule; "
                    "only so do its rows add up to 1"
                )
                break
        n = len(parts) // k
        self.fill(
            child,
            np.ascontiguousarray(orders[child_fastest]),
            lambda row: line,
            lambda row: parts[row * k : (row + 1) * k] if child_fastest else parts[row::n],
        )

    def functional(self, child: str, states: Sequence[str], rows: int, line: int) -> None:
        """A table that gives one state to each configuration of the parents."""
        family, codes = self.families[child], self.codes[child]
        if len(states) != rows:
            raise self.error(
                line, f"The table of {child!r} needs {rows:,} states, got {len(states):,}."
            )
        odd = next((s for s in states if s not in codes), None)
        if odd is not None:
            raise self.unknown(line, "State", odd[:40], list(codes), f"one of {child!r}")
        values = np.zeros((rows, len(codes)))
        values[np.arange(rows), [codes[s] for s in states]] = 1.0
        family.values = values.reshape([len(self.states[n]) for n in (*family.parents, child)])

    def check_length(self, child: str, parts: Sequence[str], line: int) -> None:
        """Refuse a table with too few or too many numbers."""
        size = prod(len(self.states[n]) for n in (child, *self.families[child].parents))
        if len(parts) != size:
            raise self.error(
                line, f"The table of {child!r} needs {size:,} numbers, got {len(parts):,}."
            )

    def fill(
        self,
        child: str,
        values: Floats,
        line_of: Callable[[int], int],
        printed: Callable[[int], Sequence[str]],
    ) -> None:
        """The numbers of a table, child fastest; `printed` tells the texts of a row."""
        family = self.families[child]
        shape = [len(self.states[n]) for n in (*family.parents, child)]
        family.values = self.rows(child, values, line_of, printed).reshape(shape)

    def rows(
        self,
        child: str,
        values: Floats,
        line_of: Callable[[int], int],
        printed: Callable[[int], Sequence[str]],
    ) -> Floats:
        """Distributions of a child, each adding up to 1, or refused with its line."""
        rows = values.reshape(-1, len(self.states[child]))
        with np.errstate(over="ignore", invalid="ignore"):
            total = rows.sum(axis=1)
            odd = ~((np.abs(total - 1.0) <= TOLERANCE) & (rows >= 0).all(axis=1))
        if odd.any():
            if not np.isfinite(rows).all():
                at, k = np.argwhere(~np.isfinite(rows))[0].tolist()
                raise self._refuse_entry(child, line_of(at), "not finite", k, rows[at, k])
            kind = weights(rows, total)
            if kind:
                self.weights.setdefault(kind, []).append(child)
                rows = rows / total[:, None]
            else:
                for at in np.flatnonzero(odd).tolist():
                    self._check_row(child, rows[at], line_of(at), printed(at))
                rows = np.maximum(rows, 0.0)
            total = rows.sum(axis=1)
        off = np.abs(total - 1.0)
        apart = off > ROUNDING
        if apart.any():
            self.rescaled += int(apart.sum())
            self.worst = max(self.worst, float(off.max()))
            rows = np.where(apart[:, None], rows / total[:, None], rows)
        return rows

    def _check_row(self, child: str, row: Floats, line: int, printed: Sequence[str]) -> None:
        """Refuse a row that neither its printed digits nor `normalise` explain."""
        with np.errstate(over="ignore"):
            total = float(row.sum())
        allowed, least = printing_error(printed), int(np.argmin(row))
        if row[least] < -allowed:
            raise self._refuse_entry(child, line, "negative", least, row[least])
        if abs(total - 1.0) <= allowed:
            return
        if not (self.normalise and 0 < total < np.inf):
            raise self.error(
                line,
                f"The probabilities of {child!r} add up to {total:.9g}, not to 1.",
                "Give normalise=True to divide each row by its sum." if total > 0 else "",
            )
        self.beyond += 1

    def _refuse_entry(self, child: str, line: int, what: str, k: int, value: float) -> InputError:
        return self.error(line, f"P({child}={self.states[child][k]}) is {what}: {float(value)!r}.")

    # --- the network ----------------------------------------------------------------------

    def network(self, *, types: bool) -> Network | DecisionNetwork:
        """All that was found: a network, or a decision network."""
        if self.diagram.decisions or self.diagram.utilities:
            return self.diagram.network(self, types)
        return self.chance(types=types)

    def chance(self, *, types: bool) -> Network:
        """The variables and their tables, as a network."""
        if not self.states:
            raise self.error(None, "There is no variable in the file.")
        for name in self.states:
            family = self.families.get(name)
            if family is None or family.values is None:
                raise self.error(self.lines[name], f"The variable {name!r} has no table.")
        self._refuse_cycle()
        variables = self.variables(types)
        self._note_sums()
        tables = []
        for name in self.states:
            family = self.families[name]
            assert family.values is not None
            parents = tuple(variables[p] for p in family.parents)
            tables.append(exact_cpt(variables[name], parents, family.values))
        noisy = {variables[n].name: said for n, said in self.noisy.items()}
        record = Record(
            how="read",
            source=self.source,
            notes=tuple(self.notes),
            details={"noisy-max": noisy} if noisy else {},
        )
        return assemble(tables, record, self.source)

    def _note_sums(self) -> None:
        for kind, names in self.weights.items():
            shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
            self.notes.append(f"each row was divided by its sum in tables of {kind}: {shown}")
        if self.rescaled:
            rows = "row was" if self.rescaled == 1 else "rows were"
            self.notes.append(
                f"{self.rescaled} {rows} divided by the sum, which missed 1 by at most "
                f"{self.worst:.2g}"
            )
        if self.beyond:
            warnings.warn(f"{self.source}: {self.notes[-1]}.", CredoWarning, stacklevel=4)

    def variables(self, types: bool) -> dict[str, Variable]:
        """The variables by their name in the file, with their true names and states."""
        out: dict[str, Variable] = {}
        seen: set[str] = set()
        for name, texts in self.states.items():
            true = unescape(name, self.lead) if self.escaped else name
            if self.escaped:
                texts = tuple(unescape(t, self.lead) for t in texts)
            if true in seen:
                raise self.error(self.lines[name], f"The variable {true!r} is declared twice.")
            seen.add(true)
            states, ordered = texts, False
            try:
                if types and name in self.kinds:
                    states, ordered = restored(texts, self.kinds[name])
                out[name] = Variable(true, "discrete", states, ordered)
            except InputError as error:
                raise self.error(
                    self.lines[name], f"The variable {true!r}: {error.message}."
                ) from None
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


def _plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


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
