"""N4. Gaussian with full covariance per class: features that vary together.

The notes (002) give the density and no numbers, so these are checked against SciPy and
scikit-learn's quadratic discriminant analysis, which is the same model.

    p(x | c) = exp(−½ (x − μ_c)ᵀ Σ_c⁻¹ (x − μ_c)) / √((2π)^d |Σ_c|)
"""

import warnings

import numpy as np
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

import credo as cr
from credo.estimators import NaiveBayes

# Two kinds of leaf: the same means and spreads, but in one long leaves are wide, in the other not.
rng = np.random.default_rng(0)
kind = np.repeat(["oak", "elm"], 300)
length, noise = rng.normal(10, 2, 600), rng.normal(0, 1, 600)
slope = np.where(kind == "oak", 0.8, -0.8)
leaves = np.stack([length, 5 + slope * (length - 10) + noise], axis=1)

alone = NaiveBayes(variance="ml").fit(leaves, kind)
together = NaiveBayes(covariance="full", variance="ml").fit(leaves, kind)
print(f"one by one: accuracy {alone.score(leaves, kind):.3f}")
print(f"together:   accuracy {together.score(leaves, kind):.3f}")
assert together.score(leaves, kind) > alone.score(leaves, kind) + 0.2

(f,) = together.model_.features
for c, label in enumerate(together.classes_):
    rows = leaves[kind == label]
    np.testing.assert_allclose(f.covariance[c], np.cov(rows.T, ddof=0), rtol=1e-12)
    print(f"\n{label}: means {f.mean[c].round(3)}, covariance\n{f.covariance[c].round(3)}")
    x = [12.0, 6.0]
    density = np.exp(f.log_p(x)[c])
    np.testing.assert_allclose(density, multivariate_normal(f.mean[c], f.covariance[c]).pdf(x))
    print(f"p(12 long, 6 wide | {label}) = {density:.6f}")

peer = QuadraticDiscriminantAnalysis(store_covariance=True).fit(leaves, kind)
ratio = peer.covariance_[0][0, 0] / f.covariance[0][0, 0]  # it divides by n, or n − 1
same = together if abs(ratio - 1) < 1e-9 else NaiveBayes(covariance="full", variance="sample")
same = same.fit(leaves, kind)
np.testing.assert_allclose(same.predict_proba(leaves), peer.predict_proba(leaves), atol=1e-9)

# A cell that is missing is integrated out: what is left is the Gaussian of the others.
gap = together.predict_proba([[12.0, np.nan]])
np.testing.assert_allclose(gap, alone.predict_proba([[12.0, np.nan]]), rtol=1e-12)

# How sure: draws of means and covariances from the normal-inverse-Wishart posterior.
low, high = together.predict_interval([[12.0, 6.0]], 0.9)[0, list(together.classes_).index("oak")]
p = together.predict_proba([[12.0, 6.0]])[0, list(together.classes_).index("oak")]
print(f"\nP(oak | 12 long, 6 wide) = {p:.3f}, 90 % interval {low:.3f} to {high:.3f}")
assert low < p < high

# Columns that say the same twice: credo adds a ridge, and says so.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = cr.naive_bayes({"cm": leaves[:, 0], "mm": 10 * leaves[:, 0], "kind": kind}, "kind",
                           covariance="full")  # fmt: skip
print(f"\n{caught[0].message}")
assert "a ridge was added" in str(caught[0].message)
