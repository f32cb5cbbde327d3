"""What `model.json` says: variables, parents, distributions, record, and where the numbers are.

Version 1 holds distributions. Version 2 adds, to those that were learned, what they were learned
from (below). Version 3 adds the scales of numbers, and the posteriors of completed rows where EM
drew the gaps; version 4 families of counts and softmaxes. Each is written where there are some. A
later version must keep reading these: `tests/unit/formats` holds a file of each.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.core.schema import Variable
from credo.formats.archive_counts import counts_json, counts_of
from credo.formats.archive_scales import scale_of, scale_said
from credo.formats.archive_softmax import softmax_json, softmax_of
from credo.formats.reading import Reading, assemble, exact_cpt
from credo.formats.states import from_json, to_json
from credo.model.networks.count_table import CountTable
from credo.model.networks.cpt import Cpt
from credo.model.networks.line_prior import LINE_FIELDS, LinePrior
from credo.model.networks.linear_gaussian import LinearGaussian, LinePosterior
from credo.model.networks.network import Local, Network
from credo.model.networks.softmax import Softmax
from credo.model.values.learned import Learned
from credo.model.values.record import Record
from credo.stats.counts import Counts
from credo.stats.moments import Moments

VERSION = 4
"""The latest version that is read; the least that says all is written."""

Floats = NDArray[np.float64]
_LINES = ("intercept", "coefficients", "variance")
_RECORD = ("how", "source", "score", "trace", "reason", "seconds", "seed", "notes", "details")


# --- writing ------------------------------------------------------------------------------


def array_said(values: Floats, arrays: list[bytes]) -> dict[str, Any]:
    """What is said of an array, whose numbers are added to `arrays`."""
    raw = np.ascontiguousarray(values, dtype="<f8").tobytes()
    arrays.append(raw)
    return {"shape": list(values.shape), "sha256": hashlib.sha256(raw).hexdigest()}


def model_of(net: Network) -> tuple[dict[str, Any], list[bytes]]:
    """What `model.json` holds, and the arrays in their order."""
    arrays: list[bytes] = []

    def array(values: Floats) -> dict[str, Any]:
        return array_said(values, arrays)

    nodes = [local_said(local, array) for local in net.distributions.values()]
    record = record_said(net.record)
    drawn = any("completed" in n.get("learned", ()) for n in nodes)
    version = 3 if net.schema.scales or drawn else 2
    if any(isinstance(d, CountTable | Softmax) for d in net.distributions.values()):
        version = VERSION
    return {"format": "credo", "version": version, "nodes": nodes, "record": record}, arrays


def local_said(local: Local, array: Put) -> dict[str, Any]:
    """A variable with its distribution as plain data."""
    node = variable_said(local.child)
    node["parents"] = [p.name for p in local.parents]
    if isinstance(local, CountTable):
        node["distribution"] = counts_json(local, array)
    elif isinstance(local, Cpt):
        counts = None if local.counts is None else array(local.counts)
        node["distribution"] = {
            "kind": "table",
            "values": array(local.values),
            "counts": counts,
            "rescaled": local.rescaled,
        }
        if counts is not None:  # the order in arrays.bin is the order of the keys
            node["distribution"] = {
                k: node["distribution"][k] for k in ("kind", "counts", "values", "rescaled")
            }
    elif isinstance(local, Softmax):
        node["distribution"] = softmax_json(local, array)
    else:
        lines = {what: array(getattr(local, what)) for what in _LINES}
        node["distribution"] = {"kind": "linear gaussian", **lines}
        if local.posterior is not None:
            node["distribution"]["posterior"] = posterior_json(local.posterior, array)
    if local.learned is not None:
        node["learned"] = learned_json(local.learned, array)
    return node


def record_said(record: Record | None) -> dict[str, Any] | None:
    """A record as plain data."""
    if record is None:
        return None
    return {what: to_json(getattr(record, what)) for what in _RECORD}


def variable_said(v: Variable) -> dict[str, Any]:
    """A variable as plain data."""
    out: dict[str, Any] = {"name": v.name, "kind": v.kind}
    if v.is_discrete:
        out |= {"states": [_state_said(s, v.name) for s in v.states], "ordered": v.ordered}
    if v.scale is not None:
        out["scale"] = scale_said(v.scale)
    return out


def _state_said(state: object, name: str) -> Any:
    """A state as plain data; what would not come back the same is refused."""
    out = to_json(state)
    if (isinstance(out, dict) and ("text" in out or "map" in out)) or isinstance(out, list):
        raise InputError(
            f"The state {state!r} of {name!r} is of a type that a .credo file does not keep.",
            hint="States may be text, numbers, decimals, booleans, dates, times, durations, UUIDs, "
            "bytes, and tuples of these.",
        )
    return out


# --- reading ------------------------------------------------------------------------------


class Arrays:
    """Takes the arrays one after the other, each checked against its shape and checksum."""

    def __init__(self, data: bytes, reading: Reading) -> None:
        self.data = data
        self.reading = reading
        self.at = 0
        if len(data) > 8 * reading.limits.numbers:
            raise reading.too_large(None, f"The file holds {len(data) // 8:,} numbers", "numbers")

    def take(self, said: Any, what: str) -> Floats:
        shape = take(said, "shape", list, what)
        if len(shape) > 64 or any(type(n) is not int or n < 0 for n in shape):
            raise InputError(f"{what}: the shape {str(shape)[:60]} is not one of an array.")
        size = 8
        for n in shape:
            size *= n
        raw = self.data[self.at : self.at + size] if size <= len(self.data) else b""
        if len(raw) < size:
            raise InputError(f"{what}: its numbers are not all in the file.")
        if hashlib.sha256(raw).hexdigest() != take(said, "sha256", str, what):
            raise InputError(f"{what}: its checksum is not that of its numbers.")
        self.at += size
        return np.frombuffer(raw, dtype="<f8").astype(np.float64).reshape(shape)

    def done(self) -> None:
        if self.at != len(self.data):
            raise InputError("There are numbers in the file that belong to no variable.")


def take(said: Any, key: str, kind: type | tuple[type, ...], what: str) -> Any:
    """What is said under a key, which must be of a kind."""
    value = said.get(key, take) if isinstance(said, dict) else take
    wrong = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
    if value is take or wrong:
        raise InputError(f"{what}: {key!r} is missing or not what it should be.")
    return value


def network_of(model: dict[str, Any], data: bytes, reading: Reading) -> Network:
    """The network that `model.json` and the arrays describe."""
    arrays = Arrays(data, reading)
    tables = tables_of(model, arrays, reading)
    arrays.done()
    return network_from(tables, model, reading)


def tables_of(model: dict[str, Any], arrays: Arrays, reading: Reading) -> list[Local]:
    """The distributions, whose arrays come first."""
    nodes = take(model, "nodes", list, "model.json")
    variables = variables_of(nodes, reading)
    return [local_of(node, variables, arrays) for node in nodes]


def network_from(tables: list[Local], model: dict[str, Any], reading: Reading) -> Network:
    """The network of some distributions, with its record."""
    if not tables:
        raise InputError("There is no variable in the file.")
    return assemble(tables, record_of(model.get("record")), reading.source)


def variables_of(said: list[Any], reading: Reading) -> dict[str, Variable]:
    """The variables that are declared, by name."""
    if len(said) > reading.limits.variables:
        raise reading.too_large(None, f"The file has {len(said):,} variables", "variables")
    out: dict[str, Variable] = {}
    for one in said:
        variable = _variable(one, reading)
        if variable.name in out:
            raise InputError(f"The variable {variable.name!r} is declared twice.")
        out[variable.name] = variable
    return out


def _variable(node: Any, reading: Reading) -> Variable:
    name = take(node, "name", str, "A variable")
    kind = take(node, "kind", str, f"The variable {name!r}")
    scale = scale_of(node.get("scale"), f"The variable {name!r}")
    if kind != "discrete":
        return Variable(name, kind, scale=scale)
    states = take(node, "states", list, f"The variable {name!r}")
    reading.check_states(len(states), name, None)
    ordered = take(node, "ordered", bool, f"The variable {name!r}")
    return Variable(name, "discrete", tuple(from_json(s) for s in states), ordered, scale)


def local_of(node: Any, variables: dict[str, Variable], arrays: Arrays) -> Local:
    """The distribution that was written of one variable."""
    name = node["name"]
    what = f"The variable {name!r}"
    parents = take(node, "parents", list, what)
    for parent in parents:
        if not isinstance(parent, str) or parent not in variables:
            raise InputError(f"{what}: the parent {str(parent)[:40]!r} is not in the file.")
    found = tuple(variables[p] for p in parents)
    said = take(node, "distribution", dict, what)
    kind = take(said, "kind", str, what)
    if kind == "table":
        counts = arrays.take(said["counts"], what) if said.get("counts") is not None else None
        values = arrays.take(said.get("values"), what)
        rescaled = take(said, "rescaled", (int, float), what)
        table = exact_cpt(variables[name], found, values, counts, float(rescaled))
        learned = learned_of(node.get("learned"), table.variables, arrays.take, what)
        object.__setattr__(table, "learned", learned)
        return table
    if kind == "counts":
        family = (*found, variables[name])
        table = counts_of(said, family, arrays.take, what)
        learned = learned_of(node.get("learned"), family, arrays.take, what)
        object.__setattr__(table, "learned", learned)
        return table
    if kind == "softmax":
        return softmax_of(said, (*found, variables[name]), arrays.take, what)
    if kind == "linear gaussian":
        lines = [arrays.take(said.get(line), what) for line in _LINES]
        posterior = posterior_of(said.get("posterior"), arrays.take, what)
        family = (*found, variables[name])
        learned = learned_of(node.get("learned"), family, arrays.take, what)
        return LinearGaussian(
            variables[name], found, lines[0], lines[1], lines[2], posterior, learned
        )
    raise InputError(f"{what}: a distribution of the kind {kind[:40]!r} is not known.")


def record_of(said: Any) -> Record | None:
    """The record that was written, or None."""
    if said is None:
        return None
    take(said, "how", str, "The record")
    try:
        return Record(**{k: from_json(v) for k, v in said.items()})
    except TypeError:
        raise InputError("The record is not one that this credo knows.") from None


# --- What a distribution was learned from, as JSON and arrays: statistic, prior, estimate, ties.
# The arrays stand in the file in the order in which they are written here, and are taken in it.

Put = Callable[[Floats], dict[str, Any]]
Take = Callable[[Any, str], Floats]

_POSTERIOR = ("weight", "centre", "mean", "slope", "spread", "alpha", "beta")
_MOMENTS = ("configurations", "n", "mean", "scatter")


def posterior_json(posterior: LinePosterior, array: Put) -> dict[str, Any]:
    """The posterior of lines."""
    return {what: array(getattr(posterior, what)) for what in _POSTERIOR}


def posterior_of(said: Any, take: Take, what: str) -> LinePosterior | None:
    """The posterior that was written, or None."""
    if said is None:
        return None
    _mapping(said, what)
    return LinePosterior(*(take(said.get(part), what) for part in _POSTERIOR))


def learned_json(learned: Learned, array: Put) -> dict[str, Any]:
    """What a distribution was learned from."""
    out: dict[str, Any] = {"estimate": learned.estimate, "tied": list(learned.tied)}
    found = learned.observed
    if isinstance(found, Counts):
        dense = found.dense().values
        out["whole"] = dense.dtype.kind == "i"
        out["skipped"] = found.skipped
        out["counts"] = array(dense.astype(np.float64))
    else:
        out["skipped"] = found.skipped
        out["moments"] = {m: array(getattr(found, m).astype(np.float64)) for m in _MOMENTS}
    if isinstance(learned.prior, LinePrior):
        out["line prior"] = {p: np.asarray(getattr(learned.prior, p)).tolist() for p in LINE_FIELDS}
    elif learned.prior is not None:
        out["prior"] = array(_compact(learned.prior))
    if isinstance(learned.completed, np.ndarray):
        out["completed"] = array(learned.completed)
    elif learned.completed is not None:
        out["completed"] = posterior_json(learned.completed, array)
    return out


def _compact(prior: Floats) -> Floats:
    """The one number or row behind pseudo-counts that repeat."""
    if prior.size and (prior == prior.flat[0]).all():
        return np.array(prior.flat[0])
    if prior.ndim > 1 and (prior == prior[(0,) * (prior.ndim - 1)]).all():
        return np.array(prior[(0,) * (prior.ndim - 1)])
    return prior


def learned_of(said: Any, family: tuple[Variable, ...], take: Take, what: str) -> Learned | None:
    """What was written of a family: parents in order, then the child; None if nothing was."""
    if said is None:
        return None
    _mapping(said, what)
    skipped, tied = said.get("skipped", 0), said.get("tied", [])
    if not isinstance(tied, list) or not all(isinstance(t, str) for t in tied):
        raise InputError(f"{what}: the names it is tied to are not names.")
    if not isinstance(skipped, (int, float)) or isinstance(skipped, bool):
        raise InputError(f"{what}: the rows it skipped are not a number.")
    observed: Counts | Moments
    if "counts" in said:
        values: NDArray[Any] = take(said["counts"], what)
        if said.get("whole") is True:
            if not ((values == np.floor(values)) & (values < 2**53)).all():
                raise InputError(f"{what}: its counts are not whole.")
            values = values.astype(np.int64)
        observed = Counts(family, values, None, skipped)
    else:
        observed = _moments(said.get("moments"), family, take, what, skipped)
    prior = _prior(said, family, take, what)
    completed = _completed(said.get("completed"), family, take, what)
    return Learned(observed, str(said.get("estimate")), prior, tuple(tied), completed)


def _completed(said: Any, family: tuple[Variable, ...], take: Take, what: str) -> Any:
    if said is None:
        return None
    shape = tuple(v.arity for v in family if v.is_discrete)
    if family[-1].is_discrete:
        values = take(said, what)
        fits = values.ndim == len(shape) + 1 and values.shape[1:] == shape
        if not fits or not values.size or not _above_0(values):
            raise InputError(f"{what}: the pseudo-counts of its completed rows do not fit it.")
        return values
    posterior = posterior_of(said, take, what)
    assert posterior is not None
    fits = posterior.shape == (len(np.atleast_1d(posterior.weight)), *shape)
    if not fits or not posterior.weight.size or posterior.parents != len(family) - len(shape) - 1:
        raise InputError(f"{what}: the posterior of its completed rows does not fit it.")
    return posterior


def _above_0(values: Floats) -> bool:
    return bool(((values > 0) & np.isfinite(values)).all())


def _moments(
    said: Any, family: tuple[Variable, ...], take: Take, what: str, skipped: float
) -> Moments:
    _mapping(said, what)
    where, n, mean, scatter = (take(said.get(m), what) for m in _MOMENTS)
    discrete = tuple(v for v in family if v.is_discrete)
    continuous = tuple(v for v in family if not v.is_discrete)
    arities = np.array([v.arity for v in discrete])
    if (
        where.ndim != 2
        or where.shape[1] != len(discrete)
        or not ((where >= 0) & (where < arities) & (where == np.floor(where))).all()
    ):
        raise InputError(f"{what}: the configurations it was learned from are not its own.")
    if not ((n > 0) & np.isfinite(n)).all() or n.ndim != 1:
        raise InputError(f"{what}: the weights it was learned from are not all above 0.")
    return Moments(discrete, continuous, where.astype(np.uint32), n, mean, scatter, skipped)


def _prior(said: Any, family: tuple[Variable, ...], take: Take, what: str) -> Any:
    if "line prior" in said:
        line = said["line prior"]
        if not isinstance(line, dict) or {*line, LINE_FIELDS[-1]} != set(LINE_FIELDS):
            raise InputError(f"{what}: its prior is not one of a line.")
        prior = LinePrior(**line)
        shape = tuple(v.arity for v in family[:-1] if v.is_discrete)
        if {np.shape(prior.mean), np.shape(prior.kappa)} not in ({()}, {shape}):
            raise InputError(f"{what}: its prior is not one of its configurations.")
        return prior
    if "prior" not in said:
        return None
    values = take(said["prior"], what)
    shape = tuple(v.arity for v in family if v.is_discrete)
    try:
        whole = np.broadcast_to(values, shape)
    except ValueError:
        raise InputError(f"{what}: its prior does not fit its table.") from None
    if not _above_0(whole):
        raise InputError(f"{what}: its prior pseudo-counts must be above 0.")
    return whole


def _mapping(said: Any, what: str) -> None:
    if not isinstance(said, dict):
        raise InputError(f"{what}: what it was learned from cannot be read.")
