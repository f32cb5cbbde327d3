"""What is believed of counts after the rows: a law for each configuration of discrete parents.

    x | u ~ π_u [x = 0] + (1 − π_u) · NB(x; mean μ_u, size r)          r = ∞: Poisson

With p = r/(r+μ) and z of the zeros extra ones, all is conjugate given r and z:

    p_u ~ Beta(1 + k r + (n−z) r,  k m + s)      π_u ~ Beta(k π₀ + z, k (1−π₀) + n − z)

of a configuration with n rows, n₀ zeros and the sum s. Beforehand each has seen k rows like all
(mean m, a share π₀ of extra zeros), so a posterior mean is (k m + s)/(k + n − z). For Poisson
μ_u ~ Gamma(k m + s, k + n − z), whose predictive is a negative binomial. The size r is one for
all configurations; it and z are summed over, at nodes:

    P(rows | r, u) = Σ_z C(n₀, z) B(π) B(p) · Π_x Γ(x+r)/(Γ(r) x!)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp

from credo.model.values.value import readonly

__all__ = ["CountPosterior", "CountStatistic", "count_masses", "log_given_size", "log_terms"]

Floats = NDArray[np.float64]

_NODES = 128  # of the number of extra zeros
_DEEP = 40.0  # nats below the highest that are summed over
_LEAST = 1e-12  # the weight of a node that the predictive needs


@dataclass(frozen=True, eq=False)
class CountStatistic:
    """Rows, sum and zeros of each configuration [u], and how often each number came [x] in all."""

    n: Floats
    total: Floats
    zeros: Floats
    often: Floats

    @classmethod
    def of(cls, counts: NDArray[Any]) -> CountStatistic:
        """From a table of counts, the child's axis last; its last state is its least number.

        >>> CountStatistic.of(np.array([[2, 1, 0, 1], [0, 0, 3, 0]])).total.tolist()
        [4.0, 6.0]
        """
        flat = np.asarray(counts, np.float64).reshape(-1, counts.shape[-1])
        x = np.arange(flat.shape[1], dtype=np.float64)
        return cls(flat.sum(axis=1), flat @ x, flat[:, 0], flat.sum(axis=0))

    @property
    def pooled(self) -> CountStatistic:
        """All configurations as one."""
        n, total, zeros = (np.atleast_1d(a.sum()) for a in (self.n, self.total, self.zeros))
        return CountStatistic(n, total, zeros, self.often)


def count_masses(mean: Any, size: Any, share: Any, states: int) -> Floats:
    """P(0), …, P(states − 2) and P(more) along a last axis; `size` may be infinite (Poisson).

    >>> count_masses(2.0, np.inf, 0.0, 4).round(6).tolist()
    [0.135335, 0.270671, 0.270671, 0.323324]
    """
    x = np.arange(states - 1, dtype=np.float64)
    mean, size, share = (np.asarray(a, np.float64)[..., None] for a in (mean, size, share))
    mean = np.maximum(mean, 1e-300)
    with np.errstate(invalid="ignore"):
        r = np.where(np.isinf(size), 1.0, size)
        log = gammaln(x + r) - gammaln(r) - r * np.log1p(mean / r) - x * np.log1p(r / mean)
    log = np.where(np.isinf(size), x * np.log(mean) - mean, log) - gammaln(x + 1)
    return _ended(np.exp(log), share)


def _ended(p: Floats, share: Any) -> Floats:
    """Masses with the extra zeros among them, and what lies beyond as the last."""
    p = (1 - share) * p
    p[..., :1] += share
    out = np.concatenate([p, np.maximum(1 - p.sum(axis=-1, keepdims=True), 1e-300)], axis=-1)
    return np.asarray(out / out.sum(axis=-1, keepdims=True), np.float64)


def log_given_size(
    of: CountStatistic, sizes: Floats, rows: float, mean: float, share: float | None
) -> Floats:
    """ln P(rows | r) at each size: means, and extra zeros if any, summed out."""
    x, r = np.arange(len(of.often)), sizes[:, None]
    seen = of.often > 0
    x, h = x[seen], of.often[seen]
    with np.errstate(invalid="ignore"):
        rising = gammaln(x + r) - gammaln(r)
    out = (np.where(np.isinf(r), 0.0, rising) - gammaln(x + 1)) @ h
    if share is None:
        return np.asarray(out + _means(sizes, of.n, of.total, rows, mean).sum(axis=-1))
    # configurations that are alike add alike, and those without rows nothing
    stack = np.stack([of.n, of.total, of.zeros], axis=1)[of.n > 0]
    different, times = np.unique(stack, axis=0, return_counts=True)
    few = different[:, 2] <= _NODES
    if few.any():
        out = out + _few_terms(sizes, different[few], rows, mean, share) @ times[few]
    for (n, s, zero), t in zip(different[~few], times[~few], strict=True):
        out = out + t * logsumexp(log_terms(sizes, n, s, zero, rows, mean, share)[1], axis=1)
    return np.asarray(out)


def _few_terms(sizes: Floats, of: Floats, rows: float, mean: float, share: float) -> Floats:
    """ln of the sum over all numbers of extra zeros, of many configurations at once [size, u]."""
    n, total, zeros = (of[:, k, None] for k in range(3))
    z = np.arange(np.floor(zeros.max()) + 1)
    there = z <= zeros
    z = np.minimum(z, zeros)
    log = _ways(z, zeros, n, rows, share) + _means(sizes, n - z, total, rows, mean)
    return np.asarray(logsumexp(np.where(there, log, -np.inf), axis=-1))


def _ways(z: Any, zeros: Any, n: Any, rows: float, share: float) -> Floats:
    """ln of the ways in which z of the zeros are extra ones, their share summed out."""
    a, b = rows * share, rows * (1 - share)
    ways = gammaln(zeros + 1) - gammaln(z + 1) - gammaln(zeros - z + 1)
    return np.asarray(ways + betaln(a + z, b + n - z) - betaln(a, b))


def log_terms(
    sizes: Floats, n: float, total: float, zeros: float, rows: float, mean: float, share: float
) -> tuple[Floats, Floats]:
    """Nodes z of the extra zeros of one configuration, and ln of what each adds [size, z]."""
    first, last = 0.0, float(np.floor(zeros))
    while True:
        step = max((last - first) / _NODES, 1.0)
        z = np.unique(np.floor(np.arange(first, last + 0.5 * step, step)))
        wide = np.gradient(z) if step > 1 else np.ones(len(z))
        log = _ways(z, zeros, n, rows, share) + np.log(wide)
        log = log + _means(sizes, n - z, total, rows, mean)
        near = np.flatnonzero((log > log.max(axis=1, keepdims=True) - _DEEP).any(axis=0))
        low, high = max(near[0] - 1, 0), min(near[-1] + 1, len(z) - 1)
        if step == 1 or high - low > len(z) // 2:
            return z, log
        first, last = z[low], z[high]


def _means(sizes: Floats, n: Floats, total: Any, rows: float, mean: float) -> Floats:
    """ln of the means summed out [size, …]: a Beta for p, for Poisson a Gamma for μ."""
    r = sizes.reshape(-1, *(1,) * np.ndim(n))
    b = rows * mean
    finite = np.where(np.isinf(r), 1.0, r)
    a = 1 + rows * finite
    negative = betaln(a + n * finite, b + total) - betaln(a, b)
    poisson = gammaln(b + total) - gammaln(b) + b * np.log(rows) - (b + total) * np.log(rows + n)
    return np.asarray(np.where(np.isinf(r), poisson, negative))


@dataclass(frozen=True, eq=False)
class CountPosterior:
    """The posterior of counts; `n`, `total` and `zeros` have an axis for each discrete parent.

    `sizes` are nodes of r with `weights`; `rows`, `mean` and `share` are k, m and π₀ above (no
    share: no extra zeros).
    """

    n: Floats
    total: Floats
    zeros: Floats
    sizes: Floats
    weights: Floats
    rows: float
    mean: float
    share: float | None

    def __post_init__(self) -> None:
        for name in ("n", "total", "zeros", "sizes", "weights"):
            object.__setattr__(self, name, readonly(getattr(self, name)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each discrete parent."""
        return self.n.shape

    def on(self, order: list[int]) -> CountPosterior:
        """The same with the parents in another order."""
        n, total, zeros = (a.transpose(order) for a in (self.n, self.total, self.zeros))
        return replace(self, n=n, total=total, zeros=zeros)

    def _nodes(self) -> list[tuple[Floats, Floats]]:
        """Of each configuration the nodes z and their probabilities given each size [size, z]."""
        out = []
        for n, s, zero in zip(self.n.flat, self.total.flat, self.zeros.flat, strict=True):
            if self.share is None:
                out.append((np.zeros(1), np.ones((len(self.sizes), 1))))
                continue
            z, log = log_terms(self.sizes, n, s, zero, self.rows, self.mean, self.share)
            p = np.exp(log - log.max(axis=1, keepdims=True))
            out.append((z, p / p.sum(axis=1, keepdims=True)))
        return out

    def _zeros_after(self, n: Any, z: Any) -> tuple[Any, Any]:
        """The Beta of the share of extra zeros."""
        share = self.share or 0.0
        return self.rows * share + z, self.rows * (1 - share) + n - z

    def means(self) -> tuple[Floats, Floats]:
        """The posterior means of μ and of the share of extra zeros [u]."""
        mean, share = np.empty(self.n.size), np.zeros(self.n.size)
        each = zip(self.n.flat, self.total.flat, self._nodes(), strict=True)
        for u, (n, s, (z, p)) in enumerate(each):
            w = self.weights @ p
            mean[u] = w @ ((self.rows * self.mean + s) / (self.rows + n - z))
            if self.share is not None:
                a, b = self._zeros_after(n, z)
                share[u] = w @ (a / (a + b))
        return mean.reshape(self.shape), share.reshape(self.shape)

    def masses(self, states: int) -> Floats:
        """The posterior predictive of each configuration: [u…, states]."""
        out = np.empty((self.n.size, states))
        x = np.arange(states - 1, dtype=np.float64)
        each = zip(self.n.flat, self.total.flat, self._nodes(), strict=True)
        for u, (n, s, (z, p)) in enumerate(each):
            at, node = np.nonzero((w := self.weights[:, None] * p) > _LEAST)
            weight, r, left = w[at, node], self.sizes[at][:, None], (n - z[node])[:, None]
            b = self.rows * self.mean + s
            with np.errstate(invalid="ignore"):
                a = 1 + self.rows * r + left * r
                log = gammaln(x + r) - gammaln(r) + betaln(a + r, b + x) - betaln(a, b)
            rate = self.rows + left  # a Gamma mixture of Poissons: a negative binomial
            limit = gammaln(b + x) - gammaln(b) - b * np.log1p(1 / rate) - x * np.log1p(rate)
            mass = np.exp(np.where(np.isinf(r), limit, log) - gammaln(x + 1))
            share = 0.0
            if self.share is not None:
                one, two = self._zeros_after(n, z[node])
                share = (one / (one + two))[:, None]
            out[u] = weight / weight.sum() @ _ended(mass, share)
        return out.reshape(*self.shape, states)

    def draw(
        self, n: int, gammas: np.random.Generator, uniforms: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Draws of μ [n, u…], of the size [n] and of the share of extra zeros [n, u…].

        Draws taken in parts are the draws taken at once.
        """
        many = self.n.size
        u = uniforms.random((n, 1 + many))
        at = np.searchsorted(np.cumsum(self.weights)[:-1], u[:, 0])
        z = np.zeros((n, many))
        if self.share is not None:
            for k, (nodes, p) in enumerate(self._nodes()):
                upto = np.cumsum(p, axis=1)[at]
                z[:, k] = nodes[np.minimum((upto < u[:, 1 + k, None]).sum(axis=1), len(nodes) - 1)]
        r = self.sizes[at][:, None]
        left, b = self.n.ravel() - z, self.rows * self.mean + self.total.ravel()
        finite = np.where(np.isinf(r), 1.0, r)
        a = 1 + (self.rows + left) * finite
        one, two = self._zeros_after(self.n.ravel(), z)
        shapes = np.stack(np.broadcast_arrays(a, b, one, two), axis=-1)
        g = np.maximum(gammas.standard_gamma(np.maximum(shapes, 1e-12)), 1e-300)
        mean = np.where(np.isinf(r), g[..., 1] / (self.rows + left), finite * g[..., 1] / g[..., 0])
        share = g[..., 2] / (g[..., 2] + g[..., 3]) if self.share is not None else 0.0 * mean
        return mean.reshape(n, *self.shape), r[:, 0], share.reshape(n, *self.shape)
