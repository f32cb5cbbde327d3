"""The E-step of rows in which some variables were set.

A row in which X was set is a row of the network without X's own family: its likelihood leaves
P(x | parents) out, and so do the expected counts. Rows are grouped by what was set in them; in the
group of X its table is 1 everywhere, and what it counted is 0. Completed rows keep what was set in
them.

A soft experiment gives X a table of its own in its group: a family more, which counts there alone
and is maximised as every other is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import CredoError, InputError
from credo.data import Stream, Table
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.predict.rows.rows import encoded_log_likelihood
from credo.train.em.completed import Completed, completed, joined
from credo.train.em.e_step import EStep
from credo.train.em.far_step import e_step_of
from credo.train.em.layout import Layout, Parameters, Statistics
from credo.train.em.maximise import NetworkEM
from credo.train.em.start import available_start
from credo.train.parameters.experiments import Experiments
from credo.train.parameters.told import Told

__all__ = ["SetSteps", "completed_rows", "log_likelihood_of", "parameters_of"]

Floats = NDArray[np.float64]


class SetSteps(EStep):
    """The E-steps of all groups as one."""

    def __init__(
        self,
        layout: Layout,
        rows: Experiments,
        seen: Sequence[str],
        scales: Mapping[str, tuple[float, float]],
        threads: int,
        stack: ExitStack,
    ) -> None:
        self.plain, self.scales, self.threads = layout, scales, threads
        self.parts: list[tuple[list[tuple[int, int]], EStep]] = []  # (family, its own one or -1)
        self.softly: list[int] = []  # what each family is that the layout has besides
        families = list(layout.families)
        for names, table in rows.groups():
            own = [n for n in names if n in layout.at]
            _refuse(layout, own, table, rows.soft)
            step = e_step_of(layout, table, seen, scales, threads, stack)
            set_ = []
            for n in own:
                child, parents = layout.families[layout.at[n]]
                set_.append((layout.at[n], len(families) if rows.soft else -1))
                if rows.soft:
                    self.softly.append(layout.at[n])
                    name = named_under(n, names)
                    families.append((replace(child, name=name), parents))
                    step.observed[name] = step.observed[n]
                    step.marginals[name] = step.marginals[n]
                step.observed[n] = 0.0
            self.parts.append((set_, step))
        self.layout = Layout(families)
        steps = [step for _, step in self.parts]
        self.rows = sum(s.rows for s in steps)
        self.gaps, self.observed = (
            {n: sum(getattr(s, what).get(n, 0.0) for s in steps) for n in of.names}
            for what, of in (("gaps", layout), ("observed", self.layout))
        )
        self.marginals = {
            n: np.sum([s.marginals[n] for s in steps if n in s.marginals], axis=0)
            for n in dict.fromkeys(n for s in steps for n in s.marginals)
        }
        self.native = self

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return sum(s.weight for _, s in self.parts)

    @property
    def problems(self) -> int:
        """How many problems the rows were folded into."""
        return sum(s.native.problems for _, s in self.parts)

    def counted(self) -> tuple[Floats, Floats]:
        """What the families without gaps count."""
        found = [self._without(set_, Statistics(*s.native.counted())) for set_, s in self.parts]
        return sum(f.counts for f in found), sum(f.moments for f in found)  # type: ignore[return-value]

    def expect(self, x: Parameters) -> tuple[Statistics, float]:
        """Expected counts and moments under some parameters, and ln P(rows)."""
        found = []
        for set_, step in self.parts:
            statistics, log = step.expect(Parameters(self._tables(x.theta, set_), x.lines))
            found.append((self._without(set_, statistics), log))
        counts = np.sum([s.counts for s, _ in found], axis=0)
        moments = np.sum([s.moments for s, _ in found], axis=0)
        return Statistics(counts, moments), float(sum(log for _, log in found))

    def left(self) -> tuple[NDArray[np.int32], Floats]:
        """The rows with too many ways to be completed: there must be none to draw the gaps."""
        found = [s.native.left() for _, s in self.parts]
        if any(len(weights) for _, weights in found):
            raise CredoError("rows from experiments have too many ways to be completed")
        first: tuple[NDArray[np.int32], Floats] = found[0]
        return first

    def draw(
        self, theta: Floats, lines: Floats, seed: int, threads: int
    ) -> tuple[Floats, Floats, int]:
        """Counts and moments with the gaps drawn under some parameters."""
        found = []
        for k, (set_, step) in enumerate(self.parts):
            own = self._tables(theta, set_)
            counts, moments, impossible = step.native.draw(own, lines, seed ^ k, threads)
            found.append((self._without(set_, Statistics(counts, moments)), impossible))
        return (
            np.sum([s.counts for s, _ in found], axis=0),
            np.sum([s.moments for s, _ in found], axis=0),
            max(impossible for _, impossible in found),
        )

    def _tables(self, theta: Floats, set_: Sequence[tuple[int, int]]) -> Floats:
        """The tables of one group: those of what was set are 1, or their own."""
        out = theta[: self.plain.cells].copy()
        for i, own in set_:
            self.plain.table(out, i)[...] = 1.0 if own < 0 else self.layout.table(theta, own)
        return out

    def _without(self, set_: Sequence[tuple[int, int]], found: Statistics) -> Statistics:
        """What a group counted, by all families."""
        counts = np.zeros(self.layout.cells)
        counts[: self.plain.cells] = found.counts
        for i, own in set_:
            if own >= 0:
                self.layout.table(counts, own)[...] = self.layout.table(counts, i)
            self.layout.table(counts, i)[...] = 0.0
        return Statistics(counts, found.moments)


def named_under(name: str, set_: Sequence[str]) -> str:
    """What the family of a variable is called where it was softly set, with others.

    >>> named_under("B", ["B", "C"])
    'B under B, C'
    """
    return f"{name} under {', '.join(set_)}"


def parameters_of(em: NetworkEM, net: Network) -> Parameters:
    """The parameters of a network; under soft experiments its own, or what the rows suggest."""
    if len(em.layout.names) == len(net.names):
        return em.parameters_of(net.distributions)
    x = em.parameters_of(net.distributions, available_start(em))
    soft = net.record.details.get("soft", {}) if net.record is not None else {}
    for name, values in soft.items():
        if name in em.layout.at:
            table = em.layout.table(x.theta, em.layout.at[name])
            if table.shape == np.shape(values):
                table[...] = values
    return x


def completed_rows(net: Network, rows: Table | Experiments, seed: int) -> Completed:
    """Rows completed under a network, with what was set in them."""
    if isinstance(rows, Table):
        return completed(net, rows, seed)
    under = _under if rows.soft else _without
    done = [(set_, completed(under(net, set_), part, seed)) for set_, part in rows.groups()]  # type: ignore[arg-type]
    table = joined([one.table for _, one in done])
    masks = {
        name: np.concatenate([np.full(len(one.table), name in set_) for set_, one in done])
        for name in {n for set_, _ in done for n in set_}
    }
    whole = Experiments(table, Told((), lambda part, at: masks), rows.soft)
    return Completed(whole, sum(one.drawn for _, one in done))


def log_likelihood_of(net: Network, rows: Table | Experiments) -> float:
    """ln P of rows as they are held, without the families of what was set in them."""
    if isinstance(rows, Table):
        return encoded_log_likelihood(net, rows)
    total = 0.0
    for set_, part in rows.groups():
        assert isinstance(part, Table)
        if rows.soft:
            total += encoded_log_likelihood(_under(net, set_), part)
            continue
        uniform = sum(np.log(net.variable(n).arity) for n in set_ if n in net.names)
        total += encoded_log_likelihood(_without(net, set_), part) + part.block.weight * uniform
    return float(total)


def _without(net: Network, names: Sequence[str]) -> Network:
    """The network in which some discrete variables have no parents and are uniform."""
    own = {n: net.variable(n) for n in names if n in net.names}
    if not own:
        return net
    uniform = {n: Cpt(v, (), np.full(v.arity, 1 / v.arity)) for n, v in own.items()}
    return Network(net.dag.do(list(own)), {**net.distributions, **uniform})


def _under(net: Network, names: Sequence[str]) -> Network:
    """The network with the tables that some variables have where they are softly set."""
    assert net.record is not None
    soft = net.record.details["soft"]
    own = {n: net.cpt(n) for n in names if n in net.names}
    tables = {n: Cpt(c.child, c.parents, soft[named_under(n, names)]) for n, c in own.items()}
    return Network(net.dag, {**net.distributions, **tables})


def _refuse(layout: Layout, names: Sequence[str], table: Table | Stream, soft: bool) -> None:
    for name in names:
        child = layout.families[layout.at[name]][0]
        if not child.is_discrete:
            raise InputError(
                f"EM takes rows in which discrete variables were set; {name!r} is a number.",
                hint="Cut it into intervals, or leave out the rows in which it was set.",
            )
        if not soft and (name not in table.schema or table.tally([name])[name].skipped > 0):
            raise InputError(
                f"{name!r} was set in rows in which its cell is missing.",
                hint="Write what it was set to, or leave those rows out.",
            )
