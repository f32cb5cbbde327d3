"""Random undirected models, and the whole joint table of one, for brute force."""

import itertools

import numpy as np

from credo.core.schema import Variable
from credo.model.undirected.factor import Factor
from credo.model.undirected.markov_network import MarkovNetwork


def random_model(seed, n=6, *, factors=8, zeros=0.0, widest=3, least=1, most=3, scale=1.0):
    """Factors over random sets of variables; some variables may be in none."""
    rng = np.random.default_rng([seed, 4])
    variables = [
        Variable(f"x{i}", "discrete", tuple(f"s{k}" for k in range(rng.integers(least, most + 1))))
        for i in range(n)
    ]
    made = []
    for _ in range(factors):
        size = int(rng.integers(1, min(widest, n) + 1))
        scope = tuple(variables[i] for i in rng.choice(n, size, replace=False))
        values = rng.gamma(1.0, size=[v.arity for v in scope]) + 0.05
        values[rng.random(values.shape) < zeros] = 0.0
        made.append(Factor(scope, values * scale ** rng.integers(-1, 2)))
    return MarkovNetwork(made, states=variables)


class Product:
    """The joint table of a model, made by multiplying everything out in logarithms."""

    def __init__(self, model):
        self.model = model
        self.at = {n: i for i, n in enumerate(model.names)}
        shape = [v.arity for v in model.variables]
        logs = np.zeros(shape)
        for f in model.factors:
            for cell in itertools.product(*map(range, shape)):
                logs[cell] += f.log_values[tuple(cell[self.at[n]] for n in f.names)]
        self.most = logs.max()
        weights = np.exp(logs - self.most) if self.most > -np.inf else np.zeros(shape)
        self.total = weights.sum()
        self.p = weights / self.total if self.total else weights

    @property
    def log_z(self):
        return self.most + np.log(self.total)

    def times(self, evidence):
        table = self.p.copy()
        for name, value in evidence.items():
            v = self.model.variable(name)
            if isinstance(value, dict):
                likelihood = np.array([value.get(s, 0.0) for s in v.states])
            elif isinstance(value, set):
                likelihood = np.array([1.0 if s in value else 0.0 for s in v.states])
            else:
                likelihood = np.eye(v.arity)[v.code(value)]
            shape = [1] * table.ndim
            shape[self.at[name]] = v.arity
            table = table * likelihood.reshape(shape)
        return table

    def evidence(self, evidence):
        return float(self.times(evidence).sum())

    def posterior(self, targets, evidence):
        table = self.times(evidence)
        axes = [self.at[t] for t in targets]
        kept = table.sum(axis=tuple(i for i in range(table.ndim) if i not in axes))
        return kept.transpose(np.argsort(np.argsort(axes))) / kept.sum()
