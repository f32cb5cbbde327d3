"""Random mixed networks, and their answers by brute force: every configuration of the discrete
variables, one dense Gaussian each, conditioned by matrices."""

import itertools

import numpy as np
from scipy.stats import multivariate_normal

import credo as cr


def mixed_network(seed, discrete=3, continuous=4):
    """Parents, tables and lines at random; x's have d's and earlier x's as parents."""
    rng = np.random.default_rng(seed)
    dn = [f"d{i}" for i in range(discrete)]
    cn = [f"x{i}" for i in range(continuous)]
    known = {n: cr.Variable(n, "discrete", tuple("abc"[: rng.integers(2, 4)])) for n in dn}
    known |= {n: cr.Variable(n, "continuous") for n in cn}
    tables = []
    for i, n in enumerate(dn):
        parents = [known[m] for m in dn[:i] if rng.random() < 0.5]
        shape = tuple(p.arity for p in parents)
        rows = rng.dirichlet(np.ones(known[n].arity), size=shape)
        tables.append(cr.Cpt(known[n], tuple(parents), rows))
    for i, n in enumerate(cn):
        parents = [known[m] for m in dn if rng.random() < 0.4]
        parents += [known[m] for m in cn[:i] if rng.random() < 0.6]
        rng.shuffle(parents)
        shape = tuple(p.arity for p in parents if p.is_discrete)
        slopes = sum(not p.is_discrete for p in parents)
        line = cr.LinearGaussian(
            known[n],
            tuple(parents),
            2 * rng.normal(size=shape),
            rng.normal(size=(*shape, slopes)),
            rng.uniform(0.3, 2, size=shape),
        )
        tables.append(line)
    edges = [(p.name, t.name) for t in tables for p in t.parents]
    return cr.Network(cr.Dag(edges, nodes=dn + cn), {t.name: t for t in tables})


def by_force(net, evidence, targets):
    """[(codes, weight, mean, covariance)] of the targets given evidence, and ln p(evidence)."""
    discrete = [v for v in net.variables if v.is_discrete]
    order = [n for n in net.dag.order if not net.variable(n).is_discrete]
    k = [i for i, n in enumerate(order) if n in evidence]
    y = np.array([evidence[order[i]] for i in k])
    t = [order.index(n) for n in targets]
    found = []
    for codes in itertools.product(*(range(v.arity) for v in discrete)):
        case = dict(zip([v.name for v in discrete], codes, strict=True))
        states = {v.name: v.states[case[v.name]] for v in discrete}
        if any(states.get(n, s) != s for n, s in evidence.items()):
            continue
        log = 0.0
        for v in discrete:
            table = net.cpt(v.name)
            log += np.log(table.values[tuple(case[p.name] for p in table.variables)])
        mean, cov = _whole(net, order, case)
        m, c = mean[t], cov[np.ix_(t, t)]
        if k:
            log += multivariate_normal(mean[k], cov[np.ix_(k, k)]).logpdf(y)
            gain = cov[np.ix_(t, k)] @ np.linalg.inv(cov[np.ix_(k, k)])
            m, c = m + gain @ (y - mean[k]), c - gain @ cov[np.ix_(k, t)]
        found.append((case, log, m, c))
    logs = np.array([f[1] for f in found])
    total = float(np.logaddexp.reduce(logs))
    return [(f[0], float(np.exp(f[1] - total)), f[2], f[3]) for f in found], total


def _whole(net, order, case):
    n = len(order)
    slopes, at, noise = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    for i, name in enumerate(order):
        line = net.cpt(name)
        row = tuple(case[p.name] for p in line.discrete)
        at[i], noise[i] = line.intercept[row], line.variance[row]
        for j, p in enumerate(line.continuous):
            slopes[i, order.index(p.name)] = line.coefficients[row][j]
    inverse = np.linalg.inv(np.eye(n) - slopes)
    return inverse @ at, inverse @ np.diag(noise) @ inverse.T


def some_evidence(net, rng, share=0.4):
    """Evidence on some variables, of both kinds."""
    out = {}
    for v in net.variables:
        if rng.random() < share:
            out[v.name] = v.states[rng.integers(v.arity)] if v.is_discrete else float(rng.normal())
    return out
