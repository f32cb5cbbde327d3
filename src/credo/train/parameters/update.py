"""More rows for a learned network: what fitting all rows at once would have given.

posterior = prior + (observed + more)
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from credo.core.errors import InputError, TableError
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Local, Network
from credo.model.networks.softmax import Softmax
from credo.model.values.learned import Learned
from credo.stats.counts import Counts
from credo.stats.moments import Moments
from credo.stats.tally import Statistic
from credo.train.parameters.families import FamilySpec, learn
from credo.train.parameters.softmax_families import fit_softmax, softmax_item
from credo.train.parameters.sources import Opened

__all__ = ["refit", "update"]


def update(
    net: Network, source: Any, *, weights: Any = None, threads: int | None = None
) -> Network:
    """The network after more rows: what fitting all rows at once would have given."""
    began = time.perf_counter()
    for local in net.distributions.values():
        if isinstance(local, Softmax):
            raise InputError(
                f"The softmax of {local.name!r} is learned from all rows together, so more of them "
                "cannot be added.",
                hint="Fit all rows together: cr.fit(net, rows).",
            )
    specs = [_again(net, local) for local in net.distributions.values()]
    if all(isinstance(s, str) for s in specs):
        raise InputError(
            "This network was not learned from rows, so it cannot be updated with more.",
            hint="Learn it with cr.fit(net, rows, prior=cr.BDeu(1)), which keeps its states.",
        )
    wanted = [s for s in specs if isinstance(s, FamilySpec)]
    families = [(s.child.name, [p.name for p in s.parents]) for s in wanted]
    names = {n for child, parents in families for n in (child, *parents)}
    known = {v.name: v for v in net.variables if v.name in names}
    try:
        opened = Opened(source, known, weights, None)
        opened.variables(families)
        tally = opened.tally(families, threads)
    except TableError as error:
        if "schema=" not in error.hint:
            raise
        # the states are the network's: more of them are a matter for a new fit
        raise type(error)(
            error.message,
            hint="A fitted network keeps its states; fit all rows together with "
            "cr.fit(dag, rows, schema={…}) to have more of them.",
        ) from None
    more = []
    for spec, family in zip(wanted, families, strict=True):
        old = spec.learned
        total = _sum(old.observed, tally[family])
        learned = Learned(total, old.estimate, old.prior, old.tied)
        more.append(FamilySpec(spec.child, spec.parents, learned, spec.held, spec.prior))
    said = net.record.details.get("rows", 0) if net.record is not None else 0
    rows = tally.rows + (said if isinstance(said, (int, float)) else 0)
    kept = {n: d for n, d in net.distributions.items() if n not in {s.child.name for s in more}}
    return learn(net.dag, more, rows, opened.label, "fit, updated", began, kept)


def refit(net: Network, source: Any, *, threads: int | None = None) -> Network:
    """The network as the same learner would have it from other rows: graph and priors are kept.

    Distributions that were not learned stay as they are.
    """
    began = time.perf_counter()
    wanted = [
        FamilySpec(d.child, d.parents, d.learned, d if d.learned.estimate == "fixed" else None,
                   _prior_said(net, n))
        for n, d in net.distributions.items() if d.learned is not None
    ]  # fmt: skip
    softmaxes = [d for d in net.distributions.values() if isinstance(d, Softmax) and d.posterior]
    if not wanted:
        raise InputError(
            "This network was not learned from rows, so it cannot be learned again.",
            hint="Learn it with cr.fit(net, rows, prior=cr.BDeu(1)), which keeps its states.",
        )
    families = [(s.child.name, [p.name for p in s.parents]) for s in wanted]
    names = {n for child, parents in families for n in (child, *parents)}
    names |= {v.name for d in softmaxes for v in d.variables}
    opened = Opened(source, {v.name: v for v in net.variables if v.name in names}, None, None)
    opened.variables(families)
    tally = opened.tally(families, threads)
    again = []
    for spec, family in zip(wanted, families, strict=True):
        old = spec.learned
        learned = Learned(tally[family], old.estimate, old.prior, old.tied)
        again.append(FamilySpec(spec.child, spec.parents, learned, spec.held, spec.prior))
    kept = {n: d for n, d in net.distributions.items() if d.learned is None}
    told = {}
    for one in softmaxes:
        local, found = fit_softmax(one.child, one.parents, opened.source, one.ridge)
        kept[one.name], told[one.name] = local, softmax_item(local, found)
    return learn(net.dag, again, tally.rows, opened.label, "fit, again", began, kept, told)


def _again(net: Network, local: Local) -> FamilySpec | str:
    """How a distribution was learned; its name alone if it was not."""
    learned = local.learned
    said = _prior_said(net, local.name)
    if learned is not None:
        held = local if learned.estimate == "fixed" else None
        return FamilySpec(local.child, local.parents, learned, held, said)
    if isinstance(local, Cpt) and local.counts is not None:
        # a posterior of unknown origin is the prior of what comes
        nothing = Counts(local.variables, np.zeros(local.shape, dtype=np.int64))
        learned = Learned(nothing, "mean", local.counts)
        return FamilySpec(local.child, local.parents, learned, None, "pseudo-counts")
    return local.name


def _prior_said(net: Network, name: str) -> str:
    if net.record is not None:
        for item in net.record.details.get("families", ()):
            if item.get("child") == name:
                return str(item.get("prior", ""))
    return ""


def _sum(a: Statistic, b: Statistic) -> Counts | Moments:
    if isinstance(a, Counts) and isinstance(b, Counts):
        return a + b
    assert isinstance(a, Moments) and isinstance(b, Moments)
    return a + b
