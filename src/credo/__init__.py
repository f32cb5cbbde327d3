"""credo: from a table of data to a probabilistic model you can question, with its uncertainty.

The public names load when they are first used, so that `import credo` is quick; `__init__.pyi`
beside this file says where each lives.
"""

from credo.core.lazy import public_names

__version__ = "0.1.0"

# old name → where it is, and what to write instead; for this version
_RENAMED = {
    "compare_models": ("credo.checking.questions.comparing.compare", "credo.compare"),
    "fit_markov": ("credo.train.markov.fit.fit_markov", "credo.fit of an UndirectedGraph"),
    "gaussian_mixture": ("credo.train.mixtures.learn.gaussian_mixture", "credo.mixture"),
    "latent_classes": ("credo.train.mixtures.learn.latent_classes", "credo.mixture"),
    **{
        name: (f"credo.distributions.{name}", f"credo.distributions.{name}")
        for name in (
            "Approximation", "Estimate", "Gaussians", "Rates", "Tables", "MixedJoint",
            "MultivariateGaussian", "MultivariateMixture", "MultivariateT", "NormalInverseGamma",
            "NormalInverseWishart", "NormalMean", "NormalMixture", "StudentT",
        )
    },
}  # fmt: skip


def load_ipython_extension(shell: object) -> None:
    """`%load_ext credo`: a network at the end of a notebook's cell is one to click on."""
    from credo.studio.widget import shown_as_widgets

    shown_as_widgets(shell)


__getattr__, __dir__, __all__ = public_names(__name__, __file__, _RENAMED)
