"""Mixtures as a method of clustering: a row belongs to its most probable class."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.errors import InputError, unknown_name
from credo.core.lazy import renamed_arguments
from credo.data import Table
from credo.model.mixtures.mixture import Mixture
from credo.model.values.randomness import Rng, generator
from credo.predict.rows.mixture import plan_of_parts
from credo.train.clusters.geometry import usual_distance
from credo.train.clusters.partition import Partition, told_of_bare, told_of_columns
from credo.train.mixtures.choose import Options
from credo.train.mixtures.learn import GAUSSIAN, LATENT, gaussian_plan, latent_plan, learned

__all__ = ["partition_gaussian", "partition_latent_classes"]

_OPTIONS = (
    "covariance", "criterion", "restarts", "prior", "max_components", "start", "tol", "max_iter",
    "variance_floor", "accelerate",
)  # fmt: skip


_BY_MODEL = "a model of each class makes the groups, not a distance"


@renamed_arguments(budget="max_iter")
def partition_gaussian(
    table: Table, k: int | str, *, rng: Rng = 0, threads: int | None = None, **options: Any
) -> Partition:
    """The classes of a Gaussian mixture; the options are those of `cr.mixture`.

    >>> import credo as cr
    >>> table = cr.read({"x": [1.0, 1.1, 0.9, 1.05, 5.0, 5.1, 4.9]})
    >>> partition_gaussian(table, 2, covariance="spherical").labels.tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """
    known = GAUSSIAN | {"prior": 1.0} | _checked(options)
    found = learned(table, gaussian_plan(table), k, Options(**known), generator(rng), threads)
    return _partition(found.mixture, table, threads)


@renamed_arguments(budget="max_iter")
def partition_latent_classes(
    table: Table, k: int | str, *, rng: Rng = 0, threads: int | None = None, **options: Any
) -> Partition:
    """Latent classes of columns of any kind; the options are those of `cr.mixture`.

    >>> import credo as cr
    >>> table = cr.read({"a": ["u", "u", "v", "v", "u"], "b": ["p", "p", "q", "q", "p"]})
    >>> partition_latent_classes(table, 2).labels.tolist()
    [0, 0, 1, 1, 0]
    """
    known = LATENT | _checked(options, (*_OPTIONS, "counts"))
    plan = latent_plan(table, known.pop("counts", ()))
    found = learned(table, plan, k, Options(**known), generator(rng), threads)
    return _partition(found.mixture, table, threads)


def _checked(options: dict[str, Any], known: tuple[str, ...] = _OPTIONS) -> dict[str, Any]:
    for name in options:
        if name == "average":
            raise InputError("Groups need one mixture: average=True is for cr.mixture.")
        if name not in known:
            raise unknown_name("Option", name, known, "one of a mixture")
    return options


def _assign(
    mixture: Mixture, threads: int | None, rows: Table
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    share = mixture.responsibilities(rows, threads=threads)
    return share.argmax(axis=1), share


def _partition(mixture: Mixture, table: Table, threads: int | None) -> Partition:
    share = mixture.responsibilities(table, threads=threads)
    assert mixture.candidates is not None and mixture.record is not None
    best, plan = mixture.candidates.best, plan_of_parts(mixture.parts)
    distance = usual_distance(table)
    quality = {"log-likelihood": best.log_likelihood, "bic": best.bic, "icl": best.icl}
    return Partition(
        labels=share.argmax(axis=1),
        k=mixture.k,
        assign=partial(_assign, mixture, threads),
        membership=share,
        quality=quality,
        trace=mixture.record.trace,
        reason=mixture.record.reason,
        notes=(
            _BY_MODEL if mixture.k == 1 else f"{_BY_MODEL}; the silhouette is in {distance}",
            *told_of_columns(table),
            *mixture.record.notes,
            *told_of_bare(table),
        ),
        model=mixture,
        numbers=(*plan.reals, *plan.counts),
    )
