"""Cross-validation of any learner: each row judged by what was learned without it.

    score = mean ln P(row)        or, of a target,  mean ln P(target | rest of the row)

Several learners are dealt the same folds, so that their differences are paired, row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.checking.again.conditionals import probabilities
from credo.checking.again.folds import (
    Learner,
    deal,
    judges_of,
    learner_of,
    quiet,
    scored_by,
    whole_or_stop,
    without_weightless,
)
from credo.checking.again.row_scores import (
    HEAD,
    Score,
    Scored,
    best_first,
    copies,
    score_cells,
    weights_of,
    who_is_best,
)
from credo.checking.findings import Finding, Section, pick
from credo.core.errors import InputError, MissingPackageError
from credo.core.progress import track
from credo.data import Stream, Table, read
from credo.model.graphs.dag import Dag
from credo.model.networks.network import Network
from credo.model.values.randomness import Rng
from credo.model.values.value import View
from credo.train.structure.learning import learn

__all__ = ["CrossValidation", "cross_validate"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CrossValidation(Section):
    """The score of each learner on rows that it has not seen, best first.

    `lead` of a score is how much better the best learner does, in nats a row. `log[name]` has ln P
    of each row (of each of its copies, where it has a whole weight); `accuracy[name]` the share of
    targets that were most probable (with a target).

    >>> import credo as cr
    >>> found = cr.cross_validate(["chow-liu", "[Pneu][Fev][Cou]"], cr.examples.pneumonia(), 4)
    >>> len(found.scores), found.folds
    (2, 4)
    """

    scores: tuple[Score, ...]
    folds: int
    rows: float
    target: str = ""
    accuracy: Mapping[str, float] = field(default_factory=dict)
    log: Mapping[str, Floats] = field(default_factory=dict, metadata={"json": False})

    @property
    def best(self) -> Score:
        """The learner with the best score."""
        return self.scores[0]

    def __getitem__(self, name: str) -> Score:
        return pick(self.scores, "name", name, "Learner", "among those compared")

    def _view(self) -> View:
        rows = []
        for k, s in enumerate(self.scores):
            more = [f"{self.accuracy[s.name]:.4f}"] if self.target else []
            rows.append([s.name, *score_cells(s, "" if k else None), *more])
        head = ["learner", *HEAD, *(["accuracy"] if self.target else [])]
        of = f"ln P({self.target} | rest)" if self.target else "ln P(row)"
        notes = [
            f"{s.name} rules out {s.impossible:,.6g} rows, which are not in its mean"
            for s in self.scores if s.impossible
        ]  # fmt: skip
        title = f"{of} on rows held out, {self.folds} folds of {self.rows:,.6g} rows"
        return View(title, head, rows, (1, 2, 3, 4, 5, 6), "; ".join(notes))

    def findings(self) -> list[Finding]:
        """Which learner does best, and by how much."""
        said = "{best} does best on rows not seen, {by} ahead of {second}."
        return who_is_best("cross_validation", self.scores, said)


def cross_validate(
    learner: Any,
    data: Any,
    folds: int = 10,
    *,
    target: str | None = None,
    rng: Rng = 0,
    weights: Any = None,
    schema: Any = None,
) -> CrossValidation:
    """Score learners on rows that they have not seen.

    Parameters
    ----------
    learner : one learner, a list of them, or a mapping from name to learner
        A function from a Table to a Network, the name of a search, a graph, a network (learned
        again with its graph and priors), or a scikit-learn classifier (with `target`).
    data : anything `cr.read` takes, or a Table
        The rows. Cells may be missing.
    folds : int
        The parts into which the rows are dealt out.
    target : name of a discrete variable
        Score P(target | rest of the row) instead of P(row), and tell the accuracy.

    >>> import credo as cr
    >>> table = cr.examples.play_tennis()
    >>> def tree(rows):
    ...     return cr.learn(rows, search="tan", target="PlayTennis")
    >>> found = cr.cross_validate({"tree": tree, "naive": lambda rows: cr.learn(
    ...     rows, search="naive-bayes", target="PlayTennis")}, table, 7, target="PlayTennis")
    >>> found.best.name
    'naive'
    """
    table = data if isinstance(data, Table) else read(data, schema, weights)
    table = table.load() if isinstance(table, Stream) else table
    table, _ = copies(without_weightless(table))
    if target is not None and not table.schema[target].is_discrete:
        raise InputError(f"The target must be discrete; {target!r} is continuous.")
    parts = deal(len(table), folds, rng)
    every = weights_of(table)
    found: dict[str, Scored] = {}
    hits: dict[str, float] = {}
    for name, one in _several(learner).items():
        if _is_estimator(one):
            scored, right = _estimator(one, table, parts, target)
        else:
            function = learner_of(one)[1] if target is None else _for_class(one, target)
            judges = judges_of(function, table, parts, f"learning by {name}")
            if target is None:
                found[name] = scored_by(list(judges), table)
                continue
            scored, right = _of_target(list(judges), table, target)
        found[name] = scored
        hits[name] = float(every[right].sum() / every.sum())
    scores = best_first(found, every)
    logs = {n: s.log for n, s in found.items()}
    return CrossValidation(scores, len(parts), float(every.sum()), target or "", hits, logs)


def _for_class(one: Any, target: str) -> Learner:
    """A learner; a search that learns for a class is given the target."""
    if isinstance(one, str) and one in ("tan", "naive-bayes"):
        return lambda rows: learn(rows, search=one, target=target, numbers="gaussian")
    return learner_of(one)[1]


def _several(learner: Any) -> dict[str, Any]:
    if isinstance(learner, Mapping):
        found = {str(n): one for n, one in learner.items()}
    elif isinstance(learner, (list, tuple)):
        found = {}
        for one in learner:
            name = type(one).__name__ if _is_estimator(one) else learner_of(one)[0]
            found[name if name not in found else f"{name} ({len(found) + 1})"] = one
    else:
        return _several([learner])
    if not found:
        raise InputError("Name at least one learner.")
    return found


def _is_estimator(given: Any) -> bool:
    """Whether it follows scikit-learn's protocol of a classifier."""
    if isinstance(given, (str, Dag, Network)):
        return False
    return hasattr(given, "fit") and hasattr(given, "predict_proba")


def _of_target(judges: list[Any], table: Table, target: str) -> tuple[Scored, NDArray[np.bool_]]:
    codes = table.codes(target).astype(np.intp)
    seen = codes < table.schema[target].arity
    log, known = np.zeros(len(table)), np.zeros(len(table), dtype=bool)
    right = np.zeros(len(table), dtype=bool)
    possible = scored_by(judges, table).possible
    for judge in judges:
        rows = judge.rows[seen[judge.rows]]
        good = rows[possible[rows]]
        known[rows] = True
        log[rows] = -np.inf
        if not len(good):
            continue
        p, ok = probabilities(judge.net, table.take(good), target)
        with np.errstate(divide="ignore"):
            log[good] = np.log(p[np.arange(len(good)), codes[good]])
        known[good] = ok
        right[good] = ok & (p.argmax(axis=1) == codes[good])
    return Scored(log, known), right


def _estimator(
    given: Any, table: Table, parts: list[Any], target: str | None
) -> tuple[Scored, NDArray[np.bool_]]:
    """A classifier of scikit-learn's kind: P(target | rest) from its predict_proba."""
    from sklearn.base import clone

    if target is None:
        raise InputError(
            "A classifier predicts one column.", hint="Name it: cross_validate(…, target='class')."
        )
    codes = table.codes(target).astype(np.intp)
    states = np.array([str(s) for s in table.schema[target].states], dtype=object)
    seen = codes < len(states)
    rest = table.select([n for n in table.schema.names if n != target])
    frame: Any = rest if type(given).__module__.startswith("credo") else _frame(rest)
    log, right = np.full(len(table), -np.inf), np.zeros(len(table), dtype=bool)
    every = np.flatnonzero(seen)
    for part in track(parts, f"learning by {type(given).__name__}", total=len(parts)):
        rows = part[seen[part]]
        train = np.setdiff1d(every, part)
        if not len(rows):
            continue
        with quiet():
            model = clone(given).fit(_taken(frame, train), states[codes[train]])
            whole_or_stop(getattr(getattr(model, "network_", None), "record", None))
            p = np.asarray(model.predict_proba(_taken(frame, rows)))
        place = {c: k for k, c in enumerate(model.classes_)}
        at = np.array([place.get(states[c], -1) for c in codes[rows]])
        chosen = np.where(at >= 0, p[np.arange(len(rows)), at], 0.0)
        with np.errstate(divide="ignore"):
            log[rows] = np.log(chosen)
        right[rows] = p.argmax(axis=1) == at
    return Scored(log, seen), right


def _taken(frame: Any, rows: Any) -> Any:
    return frame.take(rows) if isinstance(frame, Table) else frame.iloc[rows]


def _frame(table: Table) -> Any:
    try:
        return table.to("pandas")
    except ImportError:
        raise MissingPackageError(
            "Classifiers of other packages are given a pandas frame.",
            hint="Install it: pip install pandas",
        ) from None
