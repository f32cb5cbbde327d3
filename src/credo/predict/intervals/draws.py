"""Parameters drawn from the posterior of a network, family by family.

    θ_u ~ Dirichlet(α_u),  the rows of a table independently;   lines as in LinePosterior.draw

Every family draws from generators of its own, seeded by `rng` and its name: the same seed gives
the same parameters whatever is asked, in whatever blocks they are drawn. Tied families share one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError
from credo.model.networks.cpt import Cpt
from credo.model.networks.linear_gaussian import LinearGaussian
from credo.model.values.randomness import Rng, generator

if TYPE_CHECKING:
    from credo.model.networks.network import Local, Network

__all__ = ["Draws", "dirichlet_rows", "has_posterior"]

Floats = NDArray[np.float64]
Line = tuple[Floats, Floats, Floats]

_TINY = 0.1  # rows worth fewer imagined rows than this are drawn as logarithms


def has_posterior(local: Local) -> bool:
    """Whether a distribution knows how sure it is."""
    return (local.counts if isinstance(local, Cpt) else local.posterior) is not None


class Draws:
    """The draws of one seed; each call of `next` goes on where the last one ended."""

    def __init__(self, net: Network, rng: Rng) -> None:
        if not any(map(has_posterior, net.distributions.values())):
            searched = net.record is not None and bool(net.record.details.get("search"))
            also = ", or learn it so: cr.learn(rows, parameters=cr.BDeu(1))" if searched else ""
            raise InputError(
                "This network has no posterior, so it cannot say how sure it is.",
                hint="Learn its parameters with a prior: "
                f"cr.fit(net, rows, prior=cr.BDeu(1)){also}.",
            )
        self.net = net
        if isinstance(rng, np.random.Generator):
            rng = int(rng.integers(2**63))
        generator(rng)  # refuses what is not a seed
        self.seed = int(rng)
        self._sources: dict[str, tuple[np.random.Generator, np.random.Generator]] = {}

    def next(self, names: Iterable[str], n: int) -> dict[str, Any]:
        """The next `n` draws of some families: [n, cells] for a table, a `Line` for a line."""
        out: dict[str, Any] = {}
        shared: dict[str, Any] = {}
        for name in names:
            local = self.net.distributions[name]
            if not has_posterior(local):
                continue
            key = local.learned.tied[0] if local.learned and local.learned.tied else name
            if key not in shared:
                shared[key] = self._draw(local, key, n)
            out[name] = shared[key]
        return out

    def _draw(self, local: Local, key: str, n: int) -> Any:
        gammas, others = self._generators(key)
        if isinstance(local, LinearGaussian):
            assert local.posterior is not None
            return local.posterior.draw(n, gammas, others)
        assert local.counts is not None
        if not (local.counts.sum(axis=-1) > 0).all():
            raise InputError(
                f"The posterior of {local.name!r} has a row without counts: nothing can be drawn.",
                hint="Learn it with a prior, such as cr.BDeu(1).",
            )
        return dirichlet_rows(local.counts, n, gammas, others)

    def _generators(self, key: str) -> tuple[np.random.Generator, np.random.Generator]:
        found = self._sources.get(key)
        if found is None:
            digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
            words = np.frombuffer(digest, dtype="<u4").tolist()
            first, second = (
                np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(*words, i)))
                for i in (0, 1)
            )
            found = self._sources[key] = (first, second)
        return found


def dirichlet_rows(
    alpha: Floats, n: int, gammas: np.random.Generator, uniforms: np.random.Generator
) -> Floats:
    """Draws of every row of a table, flat: [n, cells]. Gammas divided by their sum.

    >>> two = [np.random.default_rng(s) for s in (0, 1)]
    >>> dirichlet_rows(np.array([[1.0, 2.0], [3.0, 1.0]]), 5, *two).shape
    (5, 4)
    """
    r = alpha.shape[-1]
    flat = alpha.reshape(-1, r)
    tiny = flat.sum(axis=1) < _TINY
    if not tiny.any():
        g = gammas.standard_gamma(flat, (n, *flat.shape))
    else:
        # Γ(α) = Γ(α + 1)·U^(1/α): as logarithms, so that a row of tiny gammas does not vanish
        low = np.where(tiny[:, None], flat + 1.0, flat)
        g = gammas.standard_gamma(low, (n, *flat.shape))
        u = uniforms.random((n, int(tiny.sum()), r))
        with np.errstate(divide="ignore"):  # a count of 0 is a probability of 0
            logs = np.log(g[:, tiny]) + np.log1p(-u) / flat[tiny]
        g[:, tiny] = np.exp(logs - logs.max(axis=-1, keepdims=True))
    g /= g.sum(axis=-1, keepdims=True)
    out: Floats = g.reshape(n, -1)
    return out
