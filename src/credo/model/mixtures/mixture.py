"""Mixture: rows come from one of k classes that nobody saw.

    P(row) = Σ_c w_c · Π_parts P(part | c)

A frozen value: weights, and for each part of the columns one distribution a class. A Gaussian
mixture has one part; latent classes (a mixture of naive Bayes) have one for each discrete column.
What can be asked of it is in `model/methods/mixture.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import Shown, View, bar, number
from credo.core.schema import Variable
from credo.model.graphs.dag import Dag
from credo.model.methods.mixture import MixtureMethods
from credo.model.mixtures.candidates import Candidates
from credo.model.mixtures.parts import Gaussians, Part, Rates, Tables
from credo.model.networks.chain import chain_of_lines
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.networks.network import Network
from credo.model.values.reals import Floats, shown
from credo.model.values.record import Record
from credo.model.values.value import readonly, text


@dataclass(frozen=True, eq=False)
class Mixture(Shown, MixtureMethods, Frozen):
    """A mixture of k classes. Made by `cr.mixture`, or by hand.

    >>> import credo as cr
    >>> parts = [cr.distributions.Gaussians(("x",), [[0], [4]], [1, 1], "spherical")]
    >>> mixture = cr.Mixture([0.5, 0.5], parts)
    >>> mixture.responsibilities({"x": [0.0, 2.0]}).round(3).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    >>> round(mixture.log_likelihood({"x": [0.0, 2.0]}), 6)
    -4.530689
    >>> print(mixture)
    Mixture of 2 classes over 1 column, 5 parameters
    class  weight                          x
    0         0.5  ██████████              0 ± 1
    1         0.5  ██████████              4 ± 1
    """

    weights: Floats
    parts: tuple[Part, ...]
    name: str = "Class"
    record: Record | None = field(default=None, repr=False)
    candidates: Candidates | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", readonly(self.weights))
        object.__setattr__(self, "parts", tuple(self.parts))
        text(self.name, "The name of the class")
        w = self.weights
        if w.ndim != 1 or not len(w) or (w < 0).any() or abs(float(w.sum()) - 1) > 1e-6:
            raise InputError("The weights of a mixture must be probabilities that add up to 1.")
        if not self.parts:
            raise InputError("A mixture needs at least one column.")
        for part in self.parts:
            if not isinstance(part, (Gaussians, Tables, Rates)):
                raise InputError(f"A part is Gaussians, Tables or Rates, got {part!r}.")
            if part.classes != len(w):
                raise InputError(
                    f"The part of {part.names[0]!r} has {part.classes} classes, and there are "
                    f"{len(w)} weights."
                )
        if sum(isinstance(p, Gaussians) for p in self.parts) > 1:
            raise InputError("The continuous columns of a mixture are one part.")
        names = [self.name, *self.names]
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise InputError(f"The name {twice!r} is used twice.")

    # --- what it is -----------------------------------------------------------------------

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.weights)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(n for p in self.parts for n in p.names)

    @property
    def gaussians(self) -> Gaussians | None:
        """The part of the continuous columns, if there are any."""
        return next((p for p in self.parts if isinstance(p, Gaussians)), None)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The columns as variables."""
        out: list[Variable] = []
        for p in self.parts:
            if isinstance(p, Tables):
                out.append(p.variable)
            else:
                out += [Variable(n, "continuous") for n in p.names]
        return tuple(out)

    @property
    def free_parameters(self) -> int:
        """How many numbers the mixture could choose."""
        return self.k - 1 + sum(p.free_parameters for p in self.parts)

    def by_size(self) -> Mixture:
        """The same mixture with the heaviest class first."""
        order = np.argsort(-self.weights, kind="stable")
        return replace(
            self, weights=self.weights[order], parts=tuple(p.reordered(order) for p in self.parts)
        )

    def to_network(self) -> Network:
        """The same distribution as a Bayesian network with a hidden class; see `from_network`.

        A full covariance becomes a chain: each column a line in those before it, for each class.
        The form of the covariances is kept in the record.
        """

        return to_network(self)

    @classmethod
    def from_network(cls, network: Network, name: str | None = None) -> Mixture:
        """A network whose one root is a discrete class, and all else hangs from it, as a mixture.

        >>> import credo as cr
        >>> part = cr.distributions.Gaussians(("x",), [[0], [4]], [1, 1], "spherical")
        >>> net = cr.Mixture([0.5, 0.5], [part]).to_network()
        >>> cr.Mixture.from_network(net, "Class").k
        2
        """

        return from_network(network, name)

    # --- how it looks ---------------------------------------------------------------------

    def __repr__(self) -> str:
        k, d = self.k, len(self.names)
        return (
            f"Mixture of {k} class{'es' * (k != 1)} over {d} column{'s' * (d != 1)}, "
            f"{self.free_parameters:,} parameters"
        )

    def _view(self, most: int = 6) -> View:
        shown = self.names[:most]
        head = ["class", "weight", "", *shown]
        rows = []
        for c in range(min(self.k, 40)):
            cells = [cell for p in self.parts for cell in _cells(p, c)][:most]
            w = float(self.weights[c])
            rows.append([str(c), number(w, 3), bar(w, 20).ljust(20), *cells])
        more = ((len(self.names) - most, "columns"), (self.k - 40, "classes"))
        note = "\n".join(f"… {n} more {what}" for n, what in more if n > 0)
        return View(repr(self), head, rows, [1], note)

    def _repr_html_(self) -> str:
        return self._view(12).html()  # a page is wider than a terminal


def _cells(part: Part, c: int) -> list[str]:
    """What a class looks like, column by column."""
    if isinstance(part, Tables):
        best = int(part.values[c].argmax())
        return [f"{part.variable.states[best]} {part.values[c, best]:.2f}"]
    if isinstance(part, Rates):
        return [f"rate {number(float(part.rates[c]), 3)}"]
    sd = np.sqrt(part.variances[c])
    return [
        f"{number(float(m), 3)} ± {number(float(s), 3)}"
        for m, s in zip(part.means[c], sd, strict=True)
    ]


# --- A mixture as a Bayesian network with a hidden class, and back ---
#
#     P(c, row) = P(c) · Π P(x_j | c)          columns apart: naive Bayes
#
# Columns that vary together become a chain of lines (`model/networks/chain.py`).


_FORM = "covariance"  # the detail of the record that says how the covariances look


def to_network(mixture: Mixture) -> Network:
    """The same distribution as a network; the class is a variable with the states 0, 1, …"""
    hidden = Variable(mixture.name, "discrete", tuple(range(mixture.k)))
    tables: dict[str, Cpt | LinearGaussian] = {mixture.name: Cpt(hidden, (), mixture.weights)}
    for part in mixture.parts:
        if isinstance(part, Tables):
            tables[part.names[0]] = Cpt(part.variable, (hidden,), part.values)
        elif isinstance(part, Rates):
            raise InputError(
                f"The column {part.name!r} has a Poisson rate, which a network has no table for.",
                hint="Learn the classes without counts=, to have it as states or a Gaussian.",
            )
        else:
            apart = part.form in ("diagonal", "spherical")
            spread = part.variances if apart else part.matrices
            lines = chain_of_lines(part.names, hidden, part.means, spread)
            tables |= {line.name: line for line in lines}
    edges = [(p.name, name) for name, local in tables.items() for p in local.parents]
    return Network(Dag(edges, nodes=list(tables)), tables, record=_record(mixture))


def _record(mixture: Mixture) -> Record | None:
    """The record with the form of the covariances, which lines do not show."""
    part = mixture.gaussians
    if part is None:
        return mixture.record
    record = Record("made of a mixture") if mixture.record is None else mixture.record
    return replace(record, details={**record.details, _FORM: part.form})


def from_network(network: Network, name: str | None = None) -> Mixture:
    """A network in which every variable has the class `name` as a parent, as a mixture.

    Besides the class, tables may have no parent, and lines only other lines.
    """

    if not isinstance(getattr(network, "dag", None), Dag):
        raise InputError(
            f"A mixture is made from a network, got {shown(network)}.",
            hint="Read a file with cr.load.",
        )
    roots = [n for n in network.names if not network.dag.parents(n)]
    if name is None:
        if len(roots) != 1:
            raise InputError(
                f"The network has {len(roots)} roots, so the class must be named: from_network"
                f"(net, {roots[0]!r})."
            )
        name = roots[0]
    if name not in network.names:
        raise unknown_name("Variable", name, network.names, "in the network")
    own = network.cpt(name)
    if not isinstance(own, Cpt) or own.parents:
        raise InputError(f"The class {name!r} must be discrete and without parents.")
    parts: list[Part] = []
    lines: list[LinearGaussian] = []
    for other in network.dag.order:
        if other == name:
            continue
        local = network.cpt(other)
        if name not in network.dag.parents(other):
            raise InputError(f"{other!r} does not depend on {name!r}, so this is no mixture.")
        if isinstance(local, LinearGaussian):
            if len(local.discrete) != 1:
                raise InputError(f"{other!r} has another discrete parent than {name!r}.")
            lines.append(local)
        elif len(local.parents) != 1:
            raise InputError(
                f"{other!r} has another parent than {name!r}; within a class the columns of a "
                "mixture are independent."
            )
        else:
            assert isinstance(local, Cpt)  # its one parent is discrete
            parts.append(Tables(local.child, local.values))
    if lines:
        form = None if network.record is None else network.record.details.get(_FORM)
        parts.insert(0, _joined(lines, len(own.values), form))
    if not parts:
        raise InputError(f"Nothing depends on {name!r}, so this is no mixture.")
    return Mixture(own.values, tuple(parts), name, record=network.record)


def _joined(lines: list[LinearGaussian], k: int, form: object) -> Gaussians:
    """The Gaussians of a chain of lines, in the form that is recorded, or the one they show."""
    names = tuple(line.name for line in lines)
    d = len(names)
    means = np.zeros((k, d))
    slopes = np.zeros((k, d, d))
    left = np.stack([line.variance for line in lines], axis=1)
    for j, line in enumerate(lines):
        at = [names.index(p.name) for p in line.continuous]
        slopes[:, j, at] = line.coefficients
        means[:, j] = line.intercept + np.einsum("ci,ci->c", line.coefficients, means[:, at])
    round_ = bool((left == left[:, :1]).all())
    alike = bool((left == left[:1]).all() and (slopes == slopes[:1]).all())
    if not slopes.any() and form not in ("full", "tied"):
        if round_ and (form == "spherical" or (form is None and d > 1)):
            return Gaussians(names, means, left[:, 0], "spherical")
        return Gaussians(names, means, left, "diagonal")
    unit = np.linalg.inv(np.eye(d) - slopes)
    matrices = (unit * left[:, None, :]) @ unit.transpose(0, 2, 1)
    if alike and (form == "tied" or (form is None and k > 1)):
        return Gaussians(names, means, matrices[0], "tied")
    return Gaussians(names, means, matrices, "full")
