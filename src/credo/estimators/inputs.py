"""What comes through the door of an estimator: labels, weights, and X of every kind."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, UnknownNameError, shown
from credo.core.schema import Variable, is_missing
from credo.data import Stream, Table, is_path, unmasked
from credo.model.values.reals import NotReal, reals
from credo.stats.by_class import ByClass

Codes = NDArray[np.uint32]
_SPAN = 100_000  # whole labels closer than this are numbered by a table


def is_named_table(x: Any) -> bool:
    """Whether X is a table that scikit-learn does not know: read, a dict, a path, a relation."""
    if hasattr(x, "tocsr"):  # one kind of sparse matrix is a dict
        return False
    if isinstance(x, (Table, Stream, dict, str, os.PathLike)):
        return True
    module = type(x).__module__.split(".")[0]
    if module == "polars":
        return type(x).__name__ == "LazyFrame"
    return module in ("pyarrow", "duckdb", "_duckdb")


def comes_in_batches(x: Any) -> bool:
    """Whether a table is not in memory: a path or a glob, a relation, a stream, a lazy frame.

    >>> comes_in_batches("rows/*.parquet"), comes_in_batches({"a": [1, 2]})
    (True, False)
    """
    module, name = type(x).__module__.split(".")[0], type(x).__name__
    if module == "pyarrow":
        return name == "RecordBatchReader" or hasattr(x, "scanner")
    lazy = module == "polars" and name == "LazyFrame"
    return lazy or module in ("duckdb", "_duckdb") or is_path(x)


def in_memory(x: Any) -> Any:
    """All rows of a relation, a reader, a dataset or a lazy frame; a path is left as it is.

    >>> import pyarrow as pa
    >>> in_memory(pa.table({"a": [1, 2]}).to_reader()).num_rows
    2
    """
    if type(x).__module__.split(".")[0] == "polars":
        return x.collect()
    if hasattr(x, "to_arrow_table"):
        x = x.to_arrow_table()
    if hasattr(x, "to_table"):
        x = x.to_table()
    return x.read_all() if hasattr(x, "read_all") else x


def as_table(x: Any) -> Any:
    """Lists as an array: of objects where they hold text, so that numbers stay numbers.

    What a mask hides is missing.
    """
    x = unmasked(x)
    if isinstance(x, (list, tuple)):
        array = np.asarray(x)
        return np.array(x, dtype=object) if array.dtype.kind in "US" else array
    return x


def validated(estimator: Any, X: Any, reset: bool) -> Any:
    """X after scikit-learn's own checks of its shape and names; frames are not copied."""
    from sklearn.utils.validation import validate_data

    X = as_table(X)
    if plainly_valid(estimator, X, reset):
        return X
    if hasattr(X, "columns") and hasattr(X, "shape"):
        validate_data(estimator, X=X, reset=reset, skip_check_array=True)
        if X.shape[0] == 0:
            raise InputError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return X
    X = validate_data(
        estimator, X=X, reset=reset, dtype=None, ensure_all_finite=False, accept_sparse=False
    )
    if X.dtype.kind == "c":
        raise InputError("Complex data not supported.")
    return X


def plainly_valid(estimator: Any, X: Any, reset: bool) -> bool:
    """Whether X is so plain that scikit-learn's checks would only take note of its shape.

    They cost more than a prediction of a few rows. What is not plain goes through them.
    """
    if type(X) is np.ndarray:
        if X.ndim != 2 or X.dtype.kind not in "biuf" or not X.size:
            return False
        if hasattr(estimator, "feature_names_in_"):
            return False
        if reset:
            estimator.n_features_in_ = X.shape[1]
        return bool(X.shape[1] == getattr(estimator, "n_features_in_", -1))
    kind = type(X)
    package = kind.__module__.split(".")[0]
    if kind.__name__ != "DataFrame" or package not in ("pandas", "polars") or 0 in X.shape:
        return False
    names = X.columns.tolist() if package == "pandas" else X.columns
    if not all(type(n) is str for n in names):
        return False
    if reset:
        estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator.n_features_in_ = len(names)
        return True
    known = getattr(estimator, "feature_names_in_", None)
    return known is not None and known.tolist() == names


def on_classes(statistic: ByClass, known: ByClass | None, classes: Any, fixed: bool) -> ByClass:
    """The statistic after one more `partial_fit`: added to what is known, among the classes given.

    With `fixed` classes, one that was not given at the first call is refused; so are classes that
    are given later and are not those that are known.
    """
    if known is not None:
        refuse_other_classes(known.target, classes)
        new = set(statistic.target.states) - set(known.target.states)
        if fixed and new:
            raise not_among_classes(new)
        return known + statistic
    given = given_classes(statistic.target.name, classes)
    return statistic if given is None else statistic.on(given)


def class_name(y: Any) -> str:
    """What the class is called: as the Series of its labels, or 'y' where they have no name.

    >>> import pandas as pd
    >>> class_name(pd.Series([0, 1], name="ill")), class_name([0, 1])
    ('ill', 'y')
    """
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def not_among_classes(new: Iterable[Any]) -> InputError:
    """The refusal of a class that was not given at the first call."""
    return InputError(
        f"y holds the class {sorted(map(str, new))[0]!r}, which was not among the classes "
        "given at the first call of partial_fit."
    )


def different_lengths(rows: int, classes: int) -> InputError:
    """The refusal of rows and classes that are not as many."""
    return InputError(
        "Found input variables with inconsistent numbers of samples: "
        f"{rows:,} rows and {classes:,} classes."
    )


def given_classes(name: str, classes: Any) -> Variable | None:
    """The class with the classes that were named, each once; None if none were.

    >>> given_classes("y", ["b", "a"]).states
    ('a', 'b')
    """
    if classes is None:
        return None
    given, times = np.unique(np.asarray(classes), return_counts=True)
    if (times > 1).any():
        raise InputError(f"classes names {given[times > 1].tolist()[0]!r} twice.")
    return Variable(name, "discrete", tuple(given.tolist()))


def refuse_other_classes(known: Variable, classes: Any) -> None:
    """Refuse classes that a later `partial_fit` names, if they are not those that are known."""
    later = given_classes(known.name, classes)
    if later is not None and set(later.states) != set(known.states):
        raise InputError(
            f"classes is {list(later.states)!r}, and the classes are {list(known.states)!r} since "
            "the calls of partial_fit before.",
            hint="Name all classes at the first call.",
        )


def among_classes(known: Variable, found: Variable, group: Codes) -> tuple[Variable, Codes]:
    """Labels as classes that are known, where all of them are.

    >>> three = Variable("y", "discrete", ("a", "b", "c"))
    >>> among_classes(three, Variable("y", "discrete", ("c",)), np.array([0, 1, 0], np.uint32))[1]
    array([2, 3, 2], dtype=uint32)
    """
    if known.name != found.name or known.states == found.states:
        return found, group
    try:
        places = [known.code(state) for state in found.states]
    except UnknownNameError:
        return found, group
    return known, np.array([*places, known.arity], dtype=np.uint32)[group]


def encode_labels(y: Any, gaps: bool = False) -> tuple[NDArray[Any], Codes]:
    """The different labels in order, and the number of each row's label.

    With `gaps` a label may be missing (None or NaN); its number is that of the labels.

    >>> encode_labels(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1], dtype=uint32))
    >>> encode_labels(["b", None, "a"], gaps=True)[1].tolist()
    [1, 2, 0]
    """
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    if y is None:
        raise InputError(
            "This estimator requires y to be passed, but the target y is None.",
            hint="Give the classes of the rows, or the name of their column.",
        )
    if type(y) is not np.ndarray or y.ndim != 1:
        y = column_or_1d(with_gaps_kept(y), warn=True)
    if y.dtype.kind in "biuf" and len(y):
        low, high = y.min().item(), y.max().item()
        whole = y.dtype.kind != "f" or (abs(low) < 2**53 and (y == np.floor(y)).all())
        if high - low < _SPAN and whole:
            place = y.astype(np.int64)
            place -= int(low)
            seen = np.bincount(place) > 0
            labels = (np.flatnonzero(seen) + int(low)).astype(y.dtype)
            number = (np.cumsum(seen) - 1).astype(np.uint32)
            return labels, number[place]
    if y.dtype.kind == "O":
        found = _by_first_sight(y)
        if found is not None:
            return found
    if gaps and y.dtype.kind in "fO":
        there = np.array([not is_missing(v) for v in y], dtype=bool)
        if not there.all():
            return _with_gaps(y, there)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise InputError("Input y contains NaN or infinity.", hint="Leave such rows out.")
    if y.dtype.kind == "O" and any(map(is_missing, y)):
        raise InputError("Input y contains NaN or None.", hint="Leave such rows out.")
    if y.dtype.kind == "f":
        check_classification_targets(y)
    try:
        labels, codes = np.unique(y, return_inverse=True)
    except TypeError:
        kinds = " and ".join(sorted({type(v).__name__ for v in y.tolist()}))
        raise InputError(
            f"Labels in y must have an order, as texts or numbers have; these are of type {kinds}.",
            hint="Give a text or a number for each: str(label), or the value of an enum's member.",
        ) from None
    return labels, codes.astype(np.uint32)


def with_gaps_kept(y: Any) -> Any:
    """Labels of which no gap becomes a text (as in an array of texts) or makes numbers of booleans.

    >>> with_gaps_kept(["b", float("nan")])
    array(['b', nan], dtype=object)
    """
    y = unmasked(y)
    if isinstance(y, (list, tuple)):
        array = np.asarray(y) if len(y) else np.zeros(0)
        if array.ndim != 1 or array.dtype.kind not in "US" or all(type(v) is str for v in y):
            return y
        gaps = [is_missing(v) for v in y]
        plain = all(g or isinstance(v, str) for v, g in zip(y, gaps, strict=True))
        return np.array(y, dtype=object) if plain and any(gaps) else y
    extension = hasattr(y, "isna") and hasattr(y, "to_numpy")
    if extension and not isinstance(getattr(y, "dtype", np.dtype("O")), np.dtype):
        return y.to_numpy(dtype=object) if y.isna().any() else y
    return y


def label_array(labels: tuple[Any, ...]) -> NDArray[Any]:
    """The classes as an array, each of its own type."""
    array = np.array(labels)
    if array.ndim != 1 or (
        array.dtype.kind in "US" and not all(isinstance(v, str) for v in labels)
    ):
        array = np.fromiter(labels, dtype=object, count=len(labels))
    return array


def _by_first_sight(y: NDArray[Any]) -> tuple[NDArray[Any], Codes] | None:
    """Texts numbered as they are met, then in order: no sorting of all rows; None for others."""
    met: dict[Any, int] = {}
    try:
        codes = [met.setdefault(v, len(met)) for v in y.tolist()]
    except TypeError:
        return None
    if not all(type(v) is str for v in met):
        return None
    labels, place = np.unique(np.array(list(met), dtype=y.dtype), return_inverse=True)
    return labels, place.astype(np.uint32)[np.array(codes, dtype=np.intp)]


def _with_gaps(y: NDArray[Any], there: NDArray[np.bool_]) -> tuple[NDArray[Any], Codes]:
    """The labels of the rows that have one; where numbers stood beside gaps, whole ones are."""
    if not there.any():
        raise InputError("Every label in y is missing: there is no class to learn.")
    known = np.array(y[there].tolist())
    if known.dtype.kind == "f" and (known == np.floor(known)).all() and np.isfinite(known).all():
        known = known.astype(np.int64)
    labels, found = encode_labels(known)
    codes = np.full(len(y), len(labels), dtype=np.uint32)
    codes[there] = found
    return labels, codes


def row_weights(given: Any, n: int) -> NDArray[Any] | None:
    """One weight for each row: finite, not negative, not all 0; whole ones as integers."""
    if given is None:
        return None
    try:
        weights = reals(given)
    except NotReal as no:
        raise InputError(f"sample_weight must be numbers, got {shown(no.bad)}.") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got {weights.ndim} axes.")
    if len(weights) != n:
        raise InputError(f"sample_weight has {len(weights):,} weights for {n:,} rows.")
    if not np.isfinite(weights).all():
        raise InputError("Input sample_weight contains NaN or infinity.")
    if (weights < 0).any():
        row = int((weights < 0).argmax())
        raise InputError(
            f"Weights must not be negative; that of row {row + 1:,} is {weights[row]:g}."
        )
    if not weights.any():
        raise InputError("Every sample weight is zero, so no row is left.")
    if (weights == np.floor(weights)).all() and weights.max() < 2**53:
        return weights.astype(np.int64)
    return weights


def without_absent(x: Any, y: Any, given: Any) -> tuple[Any, Any, Any]:
    """X, y and the weights without the rows of weight 0: they are absent, with all they hold."""
    from sklearn.utils import _safe_indexing

    given, x = np.asarray(unmasked(given)), unmasked(x)
    if given.ndim != 1 or isinstance(x, (str, os.PathLike)):
        return x, y, given
    weights = row_weights(given, len(given))
    y = np.asarray(with_gaps_kept(y))
    if weights is None or weights.all() or len(y) != len(weights):
        return x, y, given
    kept = np.flatnonzero(weights)
    if comes_in_batches(x):
        x = in_memory(x)
    if isinstance(x, (Table, Stream)):
        table = x.load() if isinstance(x, Stream) else x
        part: Any = table.take(kept)
    elif isinstance(x, dict):
        part = {n: [v[i] for i in kept] for n, v in x.items()}
    else:
        part = _safe_indexing(as_table(x), kept)
    return part, y[kept], weights[kept]


def threads_of(n_jobs: Any) -> int:
    """scikit-learn's n_jobs as a number of threads: None is 1, −1 all cores."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InputError(f"n_jobs must be a whole number that is not 0, or None, got {n_jobs!r}.")
    return int(n_jobs) if n_jobs > 0 else max(1, _core.cores() + 1 + int(n_jobs))
