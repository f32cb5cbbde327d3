"""The effect of setting a variable when the graph itself is not sure: over all graphs.

    P(y | do(x)) = Σ_G P(G | rows) P(y | do(x), G)

Every draw is a graph and its parameters, the same for both values of x, so the interval of the
difference includes how sure the graph is: in a graph without a path from x to y it is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.model.structures.structure_posterior import StructurePosterior
from credo.predict.averaged.asking import answer, intervened, joint_samples, mean_samples, notes_of
from credo.predict.causal.estimate import EffectEstimate, compared_tables

__all__ = ["averaged_effect"]


def averaged_effect(
    post: StructurePosterior, x: str, y: str, pair: tuple[Any, Any], state: Any, level: float,
    draws: int, seed: int,
) -> EffectEstimate:  # fmt: skip
    """The effect over all graphs of a posterior."""
    cause, outcome = post.schema[x], post.schema[y]
    to = None if state is None else outcome.code(state)
    points, samples = [], []
    for value in pair:
        set_ = intervened(post, {x: value})
        found = answer(set_, y)
        if to is None:
            points.append(float(found.mean))
            samples.append(mean_samples(set_, y, draws, seed))
        else:
            points.append(float(found.p[to]))
            samples.append(joint_samples(set_, [y], {}, draws, seed)[:, to])
    seen = [answer(post, y, {x: value}) for value in pair]
    plain = [float(f.mean) if to is None else float(f.p[to]) for f in seen]
    more: dict[str, Any] = {}
    if to is not None and cause.is_discrete:
        joint = np.asarray(answer(post, (x, y)).p).reshape(cause.arity, outcome.arity)
        every = np.stack([answer(intervened(post, {x: s}), y).p for s in cause.states])
        more = compared_tables(joint, every, to)
        more["at"] = (cause.code(pair[0]), cause.code(pair[1]))
    path = post.path(x, y)
    return EffectEstimate(
        x, y, pair, state, p=(points[0], points[1]), plain=(plain[0], plain[1]),
        samples=np.ascontiguousarray(np.stack(samples, axis=1)), level=level, found=None,
        reason=f"a directed path from {x} to {y} has probability {path}; in the other graphs "
        "setting it changes nothing",
        adjustment=None, notes=notes_of(post, level), **more,
    )  # fmt: skip
