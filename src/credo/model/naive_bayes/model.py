"""NaiveBayesModel: a class and features that are independent once the class is known.

    P(c, x₁, …, x_n) = P(c) · Π_j P(x_j | c)

A frozen value: a Bayesian network with one class node, learned from one tally, which it keeps. So
two models merge exactly (`a + b` is the model of both tables), and parameters keep their posterior.
What can be asked of it is in `model/methods/naive_bayes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.core.render import Shown, View, many, number
from credo.core.schema import Variable
from credo.model.answers.distribution import Distribution
from credo.model.methods.naive_bayes import NaiveBayesMethods
from credo.model.naive_bayes.blocks import FeatureBlock
from credo.model.naive_bayes.features import Feature, Normal, States
from credo.model.networks.network import Network
from credo.model.values.reals import Floats
from credo.model.values.record import Record
from credo.stats.by_class import ByClass

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, eq=False)
class NaiveBayesModel(Shown, NaiveBayesMethods, Frozen):
    """A trained naive Bayes classifier. Made by `credo.naive_bayes` and by `NaiveBayes.fit`.

    >>> import credo as cr
    >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis", smoothing=0)
    >>> today = {"Outlook": "Sunny", "Temperature": "Cool", "Humidity": "High", "Wind": "Strong"}
    >>> print(model.p(today))
    PlayTennis        p
    No          0.79542  ███████████████▉
    Yes         0.20458  ████▏
    """

    target: Variable
    log_prior: Floats
    features: Sequence[Feature]
    statistic: ByClass = field(repr=False)
    again: Callable[[ByClass], NaiveBayesModel] = field(repr=False)
    record: Record | None = field(default=None, repr=False)
    class_alpha: Floats | None = field(default=None, repr=False)
    """The pseudo-counts of the posterior of P(class); None where P(class) was given."""

    # --- what it is -----------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """Reached for what a classifier does not have; its network may have it."""
        if name in ("ask", "save", "do", "mpe", "marginals", "impute", "sample", "check"):
            raise AttributeError(
                f"A naive Bayes model has no {name!r}; its network has: model.network().{name}(…)."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in order."""
        return self.target.states

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        if isinstance(self.features, FeatureBlock):
            return self.features.names
        if len(self.features) == 1:
            return self.features[0].names
        return tuple(n for f in self.features for n in f.names)

    @property
    def prior(self) -> Distribution:
        """P(class)."""
        return Distribution((self.target,), np.exp(self.log_prior))

    @property
    def by_em(self) -> bool:
        """Whether rows without a class were shared out among the classes."""
        return self.record is not None and bool(self.record.details.get("unlabelled"))

    def feature(self, name: str) -> Feature:
        """A feature by the name of its variable."""
        for found in self.features:
            if name in found.names:
                return found
        raise unknown_name("Feature", name, self.names, "in the model")

    def __add__(self, other: object) -> NaiveBayesModel:
        """The model of both tables, as if they had been one."""
        if not isinstance(other, NaiveBayesModel):
            return NotImplemented
        for model in (self, other):
            if model.by_em:
                raise InputError(
                    "A model that shared rows without a class out by EM cannot be added to: more "
                    "rows would change the shares.",
                    hint="Fit all rows together.",
                )
        return self.again(self.statistic + other.statistic)

    def with_class_called(self, name: str) -> NaiveBayesModel:
        """The same model whose class has another name.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis")
        >>> model.with_class_called("play").target.name
        'play'
        """
        target = replace(self.target, name=name)
        return replace(self, target=target, statistic=replace(self.statistic, target=target))

    def network(self, *, target: str | None = None) -> Network:
        """The same model as a Bayesian network, for every question that a network answers.

        `target` gives the class another name. States held in reserve by `min_states` become one
        state of their own, so that every posterior is that of the model.

        >>> import credo as cr
        >>> model = cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis")
        >>> model.network().dag.children("PlayTennis")
        ('Outlook', 'Temperature', 'Humidity', 'Wind')
        """
        from credo.model.naive_bayes.as_network import network_of

        return network_of(self, target)

    # --- how it looks ---------------------------------------------------------------------

    def _view(self) -> View:
        rows = []
        for f in self.features[:40]:
            kind = {"States": "categorical", "Normal": "Gaussian", "Normals": "joint Gaussian"}
            what = kind.get(type(f).__name__, type(f).__name__.lower())
            rows.append([", ".join(f.names[:6]) + ("…" if len(f.names) > 6 else ""), what])
            cut = isinstance(f, States) and f.cuts is not None
            scale = f.scale if isinstance(f, Normal) else None
            rows[-1][1] = "binned" if cut else "transformed" if scale is not None else what
            rows[-1].append(
                f"{many(f.variable.arity, 'interval' if cut else 'state')}, "
                f"l = {number(f.smoothing)}"
                if isinstance(f, States)
                else ""
                if scale is None
                else scale.words
            )
        more = len(self.features) - len(rows)
        note = f"… {more} more" if more > 0 else ""
        return View(repr(self), ["feature", "kind", ""], rows, note=note)

    def __repr__(self) -> str:
        classes = ", ".join(map(str, self.classes[:6])) + ("…" if len(self.classes) > 6 else "")
        return f"NaiveBayesModel({self.target.name}: {classes}; {len(self.names)} features)"

    def __str__(self) -> str:
        return f"{self!r}\n{self.prior}\n\n{self._view()._replace(title='').text()}"
