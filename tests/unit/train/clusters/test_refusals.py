"""Bad input is told in one sentence, and the command line's advice names its own options."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import credo as cr
from credo.cli.words import in_options
from credo.errors import CredoError, InputError
from credo.estimators import GaussianMixture

X = np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize("start", ["abc", [[1, 2], [3]], [[1.0, np.inf], [0.0, 0.0]], 5])
def test_a_start_that_is_no_centres(start: object) -> None:
    with pytest.raises(InputError, match="start must be 2 centres of 2 finite coordinates"):
        cr.cluster(X, k=2, start=start)


@pytest.mark.parametrize("gamma", [np.inf, np.nan, 0.0, -1, "a", True])
def test_a_gamma_that_is_no_finite_number(gamma: object) -> None:
    with pytest.raises(InputError, match="gamma must be a finite number above 0"):
        cr.cluster(X, "spectral", k=2, affinity="rbf", gamma=gamma)


def test_numbers_of_numpy_are_numbers() -> None:
    one = cr.cluster(X, "average", height=np.float32(1))
    assert one.k == cr.cluster(X, "average", height=1.0).k
    assert cr.cluster(X, "spectral", k=2, affinity="rbf", gamma=np.float32(1)).k == 2


def test_a_mixture_is_made_from_a_network() -> None:
    with pytest.raises(InputError, match="made from a network, got 'foo'"):
        cr.Mixture.from_network("foo")  # type: ignore[arg-type]


@pytest.mark.parametrize("picture", ["plot", "plot_tree", "plot_profiles", "plot_heat_map"])
def test_options_that_no_picture_has(picture: str) -> None:
    with pytest.raises(CredoError, match="foo"):
        getattr(cr.cluster(X, "average", k=2), picture)(foo=1)


@pytest.mark.parametrize("option", ["columns", "aside", "counts"])
@pytest.mark.parametrize("value", [3, 1.5, True])
def test_names_that_are_none(option: str, value: object) -> None:
    with pytest.raises(InputError, match="A name or a list of names is needed"):
        cr.cluster(X, "latent-class", k=2, **{option: value})


@pytest.mark.parametrize("by", [[], {}, 2])
def test_a_criterion_that_is_no_text(by: object) -> None:
    with pytest.raises(InputError, match="k-means chooses k by 'gap', 'silhouette'"):
        cr.cluster(X, by=by)


def test_names_of_any_kind() -> None:
    groups = cr.cluster(X, k=2, columns=np.array(["a", "b"]), aside=None)
    assert groups.columns == ("a", "b")
    with pytest.raises(CredoError, match="Did you mean 'counts'"):
        cr.cluster(X, "latent-class", k=2, count=["x0"])


def test_one_cluster_explains_nothing() -> None:
    x = np.random.default_rng(0).integers(0, 50, (30, 2))
    groups = cr.cluster(x, k=1)
    assert groups.quality["explained"] >= 0 and "explained 0.0 %" in str(groups)


def test_mixtures_take_arrays() -> None:
    named = {"x0": X[:, 0], "x1": X[:, 1]}
    for learn in (cr.mixture, cr.mixture):
        one, two = learn(X, 2), learn(named, 2)
        assert one.names == ("x0", "x1")
        assert one.weights.tolist() == two.weights.tolist()
        assert one.log_likelihood(X) == two.log_likelihood(named)
        assert one.predict(X).tolist() == two.predict(named).tolist()
        with pytest.raises(InputError, match="New rows need 2 columns"):
            one.predict(np.zeros((3, 5)))


def test_a_frame_with_text_is_refused_by_its_column() -> None:
    frame = pd.DataFrame({"x": X[:, 0], "species": ["Adelie"] * 40, "y": X[:, 1]})
    with pytest.raises(InputError, match=r"column 'species' holds text.*drop\(columns="):
        GaussianMixture(2).fit(frame)
    assert GaussianMixture(2).fit(frame.drop(columns=["species"])).n_components_ == 2


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Use by='silhouette'.", "Use --by silhouette."),
        ("Ask for k=3 or fewer.", "Ask for --k 3 or fewer."),
        ("Use distance='gower', which", "Use --distance gower, which"),
        ("a sample of the rows (table.take). memory= raises", "a sample of the rows. --memory raises"),
        ("Use landmarks=500, or affinity='neighbours'.",
         "Use --set landmarks=500, or --set affinity=neighbours."),
        ("Use method='k-means', which streams, or stream.load().",
         "Use --method k-means, which streams, or more --memory."),
    ],
)  # fmt: skip
def test_advice_names_options(said: str, told: str) -> None:
    assert in_options(said) == told


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--k", "3", "--set", "start=abc"], "start must be 3 centres"),
        (["--method", "spectral", "--k", "3", "--set", "affinity=rbf", "--set", "gamma=inf"],
         "gamma must be a finite number"),
        (["--k", "3", "--set", "memory=3"], "'memory' is not an option of a method"),
    ],
)  # fmt: skip
def test_the_command_line_says_it_in_one_sentence(given: list, words: str, tmp_path) -> None:
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    done = subprocess.run(
        [sys.executable, "-m", "credo", "cluster", str(path), *given],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ") and words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"k": "3"}, r"k must be a whole number or 'auto', got '3'. Write k=3, without quotes."),
        ({"k": "many"}, r"k must be a whole number or 'auto', got 'many'.$"),
        ({"start": [[0.0, 0.0], [1.0, 1.0]]}, "start= begins from given clusters, so k= must say"),
        ({"k": np.array([2, 3])}, r"k must be a whole number, 1 or more, got array"),
        ({"method": "average", "height": 1.0, "by": "height"}, "by= chooses k, and height= cuts"),
        ({"method": "gaussian", "by": "icl", "criterion": "bic"}, "say 'icl' and 'bic'"),
        ({"k": 2, "k_max": 0}, "k_max must be a whole number, 2 or more"),
    ],
)
def test_nothing_is_swallowed(given: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cr.cluster(X, **given)


def test_candidates_may_be_an_array_but_not_empty() -> None:
    assert list(cr.which_k(X, k=np.arange(2, 5)).rows) == [2, 3, 4]
    with pytest.raises(InputError, match="k must hold at least one number of clusters"):
        cr.which_k(X, k=[])


@pytest.mark.parametrize("given", [{"by": "nonsense"}, {"by": "gap"}])
def test_a_stream_swallows_nothing_either(given: dict, tmp_path) -> None:
    path = tmp_path / "x.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    with pytest.raises(InputError, match="by= chooses k, and k is given"):
        cr.cluster(cr.read(str(path), memory="20B"), k=2, **given)


def test_a_cut_says_where_it_was_made() -> None:
    groups = cr.cluster(X, "average", k=3)
    assert groups.cut(height=1.0).record.reason.startswith("cut at the height 1, between")
    assert groups.cut(k=4).record.reason.startswith("cut at k = 4, between")
    assert groups.cut("gap").record.reason.startswith("cut at the largest gap, between")


def test_one_cluster_has_no_silhouette_to_speak_of() -> None:
    holed = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    for method in ("k-means", "gaussian"):
        assert not any("silhouette" in n for n in cr.cluster(holed, method, k=1).record.notes)
        assert any("silhouette" in n for n in cr.cluster(holed, method, k=2).record.notes)


def test_one_resample_has_no_spread() -> None:
    assert "±" not in str(cr.cluster(X, k=2, stability=1).stability)
    assert "±" in str(cr.cluster(X, k=2, stability=2).stability)
