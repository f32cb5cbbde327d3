"""How sure is a class probability? Draws from the posterior of the parameters, through Bayes' rule.

    P(class)  ~ Dirichlet(n + max(l₀, 1)), or as it was given
    θ[c]      ~ Dirichlet(n[c] + l)            with one state more for those never seen, if smoothed
    σ²[c]     ~ scatter / χ²(n − 1)            mean[c] ~ N(mean, σ² / n)
    Σ[c]      ~ inverse Wishart(scatter, n − 1)

The first rows are what the counts were smoothed with; then the posterior of a Gaussian under
the reference prior 1/σ²; the last that of several together under |Σ|^(−(d+1)/2), which for d = 1
is the same (Gelman et al., Bayesian Data Analysis, 3.6). Each draw of all parameters gives one
P(class | row); their quantiles are the interval. (Simulation: no closed form exists for the ratio.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, LimitError
from credo.data import Columns, columns_for
from credo.model.naive_bayes.features import Bag, Normal, Normals, States
from credo.model.naive_bayes.model import NaiveBayesModel
from credo.model.values.randomness import generator
from credo.predict.rows.naive import coded, plain_codes, predict_columns, real, variables_of

Floats = NDArray[np.float64]
_CELLS = 2_000_000  # numbers held at a time
_MOST = 100_000_000  # draws times parameters


def intervals_of_row(
    model: NaiveBayesModel, row: Mapping[str, Any], level: float, draws: int, rng: Any
) -> Floats:
    """The interval of each class for one row: an array [class, low and high]."""
    for name in row:
        if name not in model.names:
            model.feature(name)  # says what there is
    one = {n: [row.get(n)] for n in model.names}
    columns = columns_for(one, variables_of(model))
    found: Floats = intervals_of_columns(model, columns, level, draws, rng, "missing")[0]
    return found


def intervals_of_columns(
    model: NaiveBayesModel, columns: Columns, level: float, draws: int, rng: Any, unseen: str
) -> Floats:
    """The interval of each class for each row: an array [row, class, low and high]."""
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise InputError(f"The level of an interval must be between 0 and 1, got {level!r}.")
    if not isinstance(draws, (int, np.integer)) or draws < 100:
        raise InputError(f"draws must be a whole number of 100 or more, got {draws!r}.")
    predict_columns(model, columns, "posterior", unseen)  # refuses or warns as a prediction does
    random = generator(rng)
    n, k = columns.rows, len(model.classes)
    parameters = sum(_size(f) for f in model.features)
    if draws * parameters > _MOST:
        raise LimitError(
            f"{draws:,} draws of {parameters:,} parameters would take {8 * draws * parameters:,} "
            "bytes.",
            hint="Ask for fewer draws.",
        )
    prior = np.broadcast_to(model.log_prior, (draws, k))
    if model.class_alpha is not None:
        prior = np.log(random.dirichlet(model.class_alpha, size=draws))
    smooth = unseen == "smooth"
    tables = [_draw(f, random, draws, model, smooth) for f in model.features]
    out = np.empty((n, k, 2))
    ends = [(1 - level) / 2, (1 + level) / 2]
    step = max(1, _CELLS // (draws * k))
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        joint = np.repeat(prior[None], rows.stop - rows.start, axis=0)  # [row, draw, class]
        for f, table in zip(model.features, tables, strict=True):
            joint += _log_p(f, table, columns, rows)
        joint -= joint.max(axis=2, keepdims=True)
        p = np.exp(joint)
        p /= p.sum(axis=2, keepdims=True)
        out[rows] = np.quantile(p, ends, axis=1).transpose(1, 2, 0)
    return out


def _size(f: Any) -> int:
    """The parameters of a feature."""
    if isinstance(f, (States, Bag)):
        return int(np.size(f.alpha))
    return int(np.size(f.covariance)) if isinstance(f, Normals) else len(f.names)


def _draw(
    f: Any, random: np.random.Generator, draws: int, model: NaiveBayesModel, smooth: bool
) -> Any:
    """Draws of the parameters of one feature; with `smooth` of a state never seen, too."""
    if isinstance(f, (States, Bag)):
        if not (f.alpha > 0).all():
            raise InputError(
                f"The posterior of {f.names[0]!r} needs a prior: a count is 0, not smoothed.",
                hint="Use smoothing above 0.",
            )
        return _draw_shares(f, random, draws, smooth and isinstance(f, States))
    if isinstance(f, Normal):
        if f.idle:
            return f.mean, f.variance
        if (f.n < 2).any():
            label = model.classes[int((f.n < 2).argmax())]
            raise InputError(
                f"The spread of {f.name!r} in class {label!r} cannot be told from one row or none."
            )
        floor = f.variance * 1e-12
        scatter = np.maximum(f.scatter, np.where(f.floored, f.variance * f.n, floor))
        variance = scatter / random.chisquare(f.n - 1, size=(draws, len(f.n)))
        mean = random.normal(f.mean, np.sqrt(variance / f.n))
        return mean, variance
    if isinstance(f, Normals):
        return _draw_together(f, random, draws, model)
    raise InputError(
        f"A kernel density has no parameters to be unsure of, so {f.names[0]!r} has no interval.",
        hint="Make it 'gaussian'.",
    )


def _draw_shares(f: States | Bag, random: np.random.Generator, draws: int, smooth: bool) -> Floats:
    """ln θ under each draw [draw, class, state]; with `smooth` a last one, never seen.

    States that have no name (`min_states`) take their share, as in θ = (n + l) / (N + l·J).
    """

    def gamma(shape: Floats) -> Floats:
        return np.maximum(random.standard_gamma(shape, size=(draws, *shape.shape)), 1e-300)

    found = gamma(f.alpha)
    total = found.sum(axis=2)
    known = f.alpha.sum(axis=1)
    reserve = known * (1 / np.exp(f.log_theta).sum(axis=1) - 1)
    if (reserve > 1e-9 * known).any():
        total = total + gamma(np.maximum(reserve, 0.0))
    out: Floats = np.log(found) - np.log(total)[:, :, None]
    if not smooth or not isinstance(f, States):
        return out
    new = gamma(np.full(len(known), float(f.smoothing)))
    return np.concatenate([out, (np.log(new) - np.log(total + new))[:, :, None]], axis=2)


def _draw_together(
    f: Normals, random: np.random.Generator, draws: int, model: NaiveBayesModel
) -> tuple[Floats, Floats]:
    """Draws of means [draw, class, d] and of covariances [draw, class, d, d].

    Σ⁻¹ is drawn by Bartlett's decomposition of the Wishart distribution.
    """
    d = len(f.names)
    if (f.n <= d).any():
        label = model.classes[int((f.n <= d).argmax())]
        raise InputError(
            f"How {', '.join(map(repr, f.names))} vary together in class {label!r} cannot be told "
            f"from {int(f.n.min()):,} rows: more than {d} are needed."
        )
    means = np.empty((draws, len(f.n), d))
    covariances = np.empty((draws, len(f.n), d, d))
    for c, n in enumerate(f.n):
        root = np.linalg.cholesky(f.scatter[c])  # scatter = root · rootᵀ
        lower = np.tril(random.standard_normal((draws, d, d)), -1)
        for i in range(d):
            lower[:, i, i] = np.sqrt(random.chisquare(n - 1 - i, size=draws))
        # scatter⁻¹ = (root⁻¹)ᵀ·root⁻¹, so W = (root⁻¹)ᵀ·B·Bᵀ·root⁻¹ and Σ = root·(B·Bᵀ)⁻¹·rootᵀ
        half = np.linalg.solve(lower, np.broadcast_to(root.T, lower.shape)).transpose(0, 2, 1)
        covariances[:, c] = half @ half.transpose(0, 2, 1)
        noise = random.standard_normal((draws, d, 1)) / np.sqrt(n)
        means[:, c] = f.mean[c] + (half @ noise)[:, :, 0]
    return means, covariances


def _log_p(f: Any, table: Any, columns: Columns, rows: slice) -> Floats:
    """ln P(value | class) under each draw: [row, draw, class], 0 where missing."""
    if isinstance(f, Bag):
        counts = np.zeros((rows.stop - rows.start, len(f.names)))
        for i, name in enumerate(f.names):
            if name in columns.by_name:
                counts[:, i] = np.nan_to_num(columns.by_name[name].values[rows].astype(np.float64))
        bag: Floats = np.einsum("rv,dcv->rdc", counts, table)
        return bag
    if isinstance(f, Normals):
        return _log_p_together(f, table, columns, rows)
    column = columns.by_name.get(f.names[0])
    if isinstance(f, Normal):
        if f.idle:
            return np.zeros((1, 1, 1))
        mean, variance = table
        x = np.asarray(real(column, columns.rows)[rows], dtype=np.float64)
        x = f.on_scale(x)[:, None, None]
        with np.errstate(over="ignore"):
            far = np.minimum((x - mean) ** 2 / (2 * variance), 1e290)
        return np.where(np.isnan(x), 0.0, -0.5 * np.log(variance) - far)
    values, window = coded(f, column, columns.rows)
    code = plain_codes(values[rows], window)
    known = code < window[3]
    if table.shape[2] > window[3]:  # the last one is that of states never seen
        new = code == window[3] + 1
        code, known = np.where(new, window[3], code), known | new
    looked: Floats = table[:, :, np.where(known, code, 0)].transpose(2, 0, 1)
    return np.where(known[:, None, None], looked, 0.0)


def _log_p_together(f: Normals, table: Any, columns: Columns, rows: slice) -> Floats:
    """ln of the joint density of the cells that are there, under each draw: [row, draw, class]."""
    means, covariances = table
    x = np.stack([np.asarray(real(columns.by_name.get(n), columns.rows)[rows], float)
                  for n in f.names], axis=1)  # fmt: skip
    out = np.zeros((len(x), *means.shape[:2]))
    there = ~np.isnan(x)
    for seen in np.unique(there, axis=0):
        if not seen.any():
            continue
        where = np.flatnonzero((there == seen).all(axis=1))
        root = np.linalg.cholesky(covariances[..., seen, :][..., seen])
        log_det = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
        inverse = np.linalg.inv(root)
        for r in where:
            with np.errstate(over="ignore"):
                away = np.einsum("dcij,dcj->dci", inverse, x[r, seen] - means[..., seen])
                out[r] = -log_det - np.minimum(0.5 * (away**2).sum(axis=-1), 1e290)
    return out
