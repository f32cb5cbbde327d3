"""TextNaiveBayes: documents in, classes out; scikit-learn's protocol over a frozen model.

The default rule for words: letters, digits and underscores that stand together, in lower case, at
least `shortest` long (so `It's 10 am` is `it`, `s`, `10`, `am`); letters are what Python's
`str.isalnum` says. With shortest=2 these are the tokens of scikit-learn's CountVectorizer.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from credo import _core
from credo.core.errors import ImpossibleError, InputError
from credo.core.schema import Variable
from credo.data import matrix_columns, position_names, unmasked
from credo.estimators.answers import JointAnswers, with_columns_of
from credo.estimators.inputs import (
    encode_labels,
    on_classes,
    plainly_valid,
    row_weights,
    threads_of,
)
from credo.estimators.text_documents import (
    DenseRows,
    Rows,
    SparseRows,
    documents_in,
    one_document,
    refuse_counts,
)
from credo.predict.rows.naive_row import (
    Contributions,
    compared_classes,
    contributions,
    difference,
    ruled_out,
)
from credo.stats.by_class import ByClass, Totals
from credo.train.naive_bayes.fit import Options
from credo.train.naive_bayes.text import FORMS, TextModel, train_text

Floats = NDArray[np.float64]
_VALUES = [np.float64, np.float32, np.int64, np.int32]
_BATCH = 20_000  # documents of a stream that are held at a time


class TextNaiveBayes(JointAnswers, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes for documents: texts, lists of words, or a (sparse) matrix of counts.

    Parameters
    ----------
    form : "multinomial", "bernoulli" or "complement"
        Draws of words; words that are there or not; or each class by all the others.
    smoothing : number, list or mapping from word to number, default 1
        l of P(word | class) = (n_k + l) / (n + l·|V|); for each word its own.
    norm : bool
        For "complement": divide the weights of each class by their sum.
    class_prior, class_smoothing
        As in `NaiveBayes`.
    tokeniser : function from a document to its words, optional
        Instead of the default rule (see the module).
    vocabulary : list of words, optional
        The words to know; otherwise every word of the training documents.
    shortest : int; lower : bool
        The fewest letters of a word; whether capitals are made small.
    n_jobs : int, optional
        Threads in prediction.

    >>> from credo.estimators import TextNaiveBayes
    >>> mail = ["Hello, my car is stuck on the highway", "I want to offer you a discount"]
    >>> clf = TextNaiveBayes().fit(mail, ["important", "not important"])
    >>> clf.predict(["a discount for a car on offer"]).tolist()
    ['not important']
    >>> len(clf.vocabulary_)
    15
    """

    def __init__(
        self,
        form: str = "multinomial",
        *,
        smoothing: Any = 1.0,
        norm: bool = False,
        class_prior: Any = None,
        class_smoothing: float = 0.0,
        tokeniser: Callable[[str], Iterable[str]] | None = None,
        vocabulary: Any = None,
        shortest: int = 1,
        lower: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.form = form
        self.smoothing = smoothing
        self.norm = norm
        self.class_prior = class_prior
        self.class_smoothing = class_smoothing
        self.tokeniser = tokeniser
        self.vocabulary = vocabulary
        self.shortest = shortest
        self.lower = lower
        self.n_jobs = n_jobs

    # --- learning -------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from documents and their classes. Both may be iterators: nothing is kept."""
        self.__dict__.pop("model_", None)
        self._fixed = False
        if isinstance(X, Iterator):
            return self._fit_stream(X, y, sample_weight)
        self._learn(self._statistic(X, y, sample_weight, reset=True))
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more documents: exactly what `fit` would have learned from all of them."""
        first = not hasattr(self, "model_")
        if first:
            self._fixed = classes is not None
        statistic = self._statistic(X, y, sample_weight, reset=first)
        known = None if first else self.model_.statistic
        statistic = on_classes(statistic, known, classes, self._fixed)
        self._learn(statistic)
        return self

    def _fit_stream(self, documents: Iterator[Any], y: Any, sample_weight: Any) -> Self:
        labels = iter(y) if y is not None else iter(())
        weights = iter(sample_weight) if sample_weight is not None else None
        total: Any = 0
        absent = False
        while batch := list(islice(documents, _BATCH)):
            answers = list(islice(labels, len(batch)))
            if len(answers) < len(batch):
                raise InputError("There are fewer classes in y than documents in X.")
            w = None if weights is None else list(islice(weights, len(batch)))
            if w and not any(w):  # documents of weight 0 are absent
                absent = True
                continue
            total = total + self._statistic(batch, answers, w, reset=not total)
        for what, rest in (("classes in y", labels), ("weights", weights)):
            if rest is not None and next(rest, self) is not self:
                raise InputError(f"There are more {what} than documents in X.")
        if isinstance(total, int):
            if absent:
                raise InputError("Every sample weight is zero, so no row is left.")
            raise InputError("There are no documents: found 0 samples.")
        self._learn(total)
        return self

    def merge(self, other: TextNaiveBayes) -> TextNaiveBayes:
        """A new estimator that knows what both know, as if their documents had been one list.

        >>> a = TextNaiveBayes().fit(["free offer", "my lecture"], [1, 0])
        >>> b = TextNaiveBayes().fit(["an offer", "home"], [1, 2])
        >>> both = a.merge(b)
        >>> both.class_count_.tolist(), both.vocabulary_
        ([1, 2, 1], ('an', 'free', 'home', 'lecture', 'my', 'offer'))
        """
        if not isinstance(other, TextNaiveBayes):
            raise InputError(f"A TextNaiveBayes can be merged with another, got {other!r}.")
        check_is_fitted(self, "model_")
        check_is_fitted(other, "model_")
        for name in ("form", "tokeniser", "vocabulary", "shortest", "lower", "_text"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine is not its and not np.array_equal(mine, its):
                what = "what they were fitted to" if name == "_text" else f"{name}="
                raise InputError(f"The two estimators differ in {what}, so they cannot be merged.")
        if not self._text and self.vocabulary_ != other.vocabulary_:
            raise InputError("The two estimators were fitted to matrices with other columns.")
        out: TextNaiveBayes = with_columns_of(self, "_text")
        out._learn(self.model_.statistic + other.model_.statistic)
        return out

    def _options(self) -> Options:
        if self.form not in FORMS:
            raise InputError(f"form must be one of {', '.join(FORMS)}, got {self.form!r}.")
        return Options(self.smoothing, self.class_prior, self.class_smoothing)

    def _learn(self, statistic: ByClass) -> None:
        self.model_: TextModel = train_text(statistic, self.form, self._options(), self.norm)
        self.classes_ = np.array(statistic.target.states)
        self.class_count_ = np.array(statistic.weight)
        self.vocabulary_ = self.model_.words

    def _statistic(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> ByClass:
        self._options()
        threads = threads_of(self.n_jobs)
        words, rows = self._rows(X, reset, learn=True)
        labels, group = encode_labels(y)
        n = len(rows)
        if len(group) != n:
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: {n:,} documents and "
                f"{len(group):,} classes."
            )
        weights = row_weights(sample_weight, n)
        k = len(labels)
        floats = None if weights is None else weights.astype(np.float64)
        weight = np.bincount(group, weights, minlength=k)
        if weights is None or weights.dtype.kind == "i":
            weight = weight.astype(np.int64)
        if weights is not None and not weights.all():  # a row of weight 0 is absent
            kept = np.flatnonzero(np.bincount(group[weights != 0], minlength=k))
            place = np.full(k + 1, len(kept), dtype=np.uint32)
            place[kept] = np.arange(len(kept))
            labels, weight, k = labels[kept], weight[kept], len(kept)
            group = place[group]
        present = self.form == "bernoulli"
        totals, countable = rows.totals(len(words), group, k, floats, present, threads)
        if not countable:
            refuse_counts(X)
        part = Totals(tuple(words), totals)
        if self._text and self.vocabulary is None:
            part = _sorted(part, weights)
        target = Variable("y", "discrete", tuple(labels.tolist()))
        return ByClass(target, weight, part.words, words=part)

    # --- documents ------------------------------------------------------------------------

    def _rows(self, X: Any, reset: bool, learn: bool = False) -> tuple[Any, Rows]:
        """The words, and how often each document has each of them."""
        documents = documents_in(X)
        text = documents is not None
        if reset:
            self._text = text
        elif text != self._text:
            raise InputError(
                "The estimator was fitted to "
                + ("texts and got a matrix." if self._text else "a matrix and got texts.")
            )
        if documents is None:
            return self._matrix(X, reset)
        if self.tokeniser is not None:
            documents = [list(self.tokeniser(d)) for d in documents]
        if not isinstance(self.shortest, (int, np.integer)) or self.shortest < 1:
            raise InputError(f"shortest must be a whole number above 0, got {self.shortest!r}.")
        if learn:
            if not documents:
                raise InputError("There are no documents: found 0 samples.")
            native = _core.Vocabulary()
            if self.vocabulary is not None:
                given = list(dict.fromkeys(self.vocabulary))
                native.add(given)
            grow = self.vocabulary is None
            bags = native.bags(documents, grow, int(self.shortest), bool(self.lower))
            if reset:
                self.n_features_in_ = 1
            return native.words(), SparseRows(*bags)
        native = self.model_.vocabulary
        bags = native.bags(documents, False, int(self.shortest), bool(self.lower))
        return self.model_.words, SparseRows(*bags)

    def _matrix(self, X: Any, reset: bool) -> tuple[Any, Rows]:
        X = unmasked(X)
        plain = matrix_columns(X)
        if plain is not None and plainly_valid(self, X, reset):
            X = plain.matrix
        elif not self._is_plain(X, reset):
            X = validate_data(  # the kernels look at the numbers
                self,
                X=X,
                reset=reset,
                accept_sparse="csr",
                dtype=_VALUES,
                ensure_all_finite=False,
            )
        if not reset and hasattr(self, "model_"):
            names: Any = self.model_.words
        elif hasattr(self, "feature_names_in_"):
            names = tuple(map(str, self.feature_names_in_))
        else:
            names = position_names(X.shape[1])
        if not hasattr(X, "indptr"):
            return names, DenseRows(X)
        if self.form == "bernoulli" and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        begin, columns = X.indptr, X.indices
        if begin.dtype != columns.dtype:
            begin, columns = begin.astype(np.int64), columns.astype(np.int64)
        return names, SparseRows(begin, columns, X.data)

    def _is_plain(self, X: Any, reset: bool) -> bool:
        """Whether scikit-learn's checks of X would only take note of its width."""
        if getattr(X, "format", "") != "csr" or X.ndim != 2 or not X.shape[0] * X.shape[1]:
            return False
        if X.dtype not in _VALUES or hasattr(self, "feature_names_in_"):
            return False
        if reset:
            self.n_features_in_ = X.shape[1]
        return bool(X.shape[1] == getattr(self, "n_features_in_", -1))

    # --- answering ------------------------------------------------------------------------

    def _answer(self, X: Any, answer: str) -> Any:
        if not hasattr(self, "model_"):
            check_is_fitted(self, "model_")
        threads = threads_of(self.n_jobs)
        if isinstance(X, Iterator):
            X = list(X)
        _, rows = self._rows(X, reset=False)
        found, bad, countable = rows.scores(self.model_, answer, threads)
        if not countable:
            refuse_counts(X)
        if bad >= 0:
            told = self.model_.zero_words(rows.row(bad))
            raise ImpossibleError(
                f"Document {bad + 1:,} has probability zero in every class: {told}.",
                hint="Use smoothing above 0.",
            )
        return found

    def telling_words(self, most: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """For each class the words that speak most for it, with their bits.

        >>> clf = TextNaiveBayes().fit(["free offer", "my lecture", "free"], [1, 0, 1])
        >>> clf.telling_words(1)
        {0: [('lecture', 1.22...)], 1: [('free', 1.36...)]}
        """
        check_is_fitted(self, "model_")
        return self.model_.telling(most)

    def explain(self, document: Any, *, of: Any = None, against: Any = None) -> Contributions:
        """What each word of a document says for one class against another, in bits.

        `document` is a text, a list of words, or a row of counts: what the estimator was fitted to.
        """
        check_is_fitted(self, "model_")
        model = self.model_
        X = one_document(document, self._text)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            joint = self.predict_joint_log_proba(X)[0]
            _, rows = self._rows(X, reset=False)
        target = Variable("class", "discrete", model.classes)
        first, second = compared_classes(target, joint, of, against)
        words = rows.row(0)
        if joint[first] == joint[second] == -np.inf:
            told = model.zero_words(words, [first, second])
            raise ruled_out("The document", model.classes[first], model.classes[second], told)
        cells = []
        for k, n in words:
            once = difference(model.table[k, first], model.table[k, second])
            count = int(n) if n == int(n) else float(n)
            cells.append((model.words[k], count, once * (1 if model.form == "bernoulli" else n)))
        prior = difference(model.bias[first], model.bias[second])
        return contributions(target, joint, first, second, prior, cells)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.string = True
        tags.classifier_tags.poor_score = True
        return tags


def _sorted(part: Totals, weights: Any) -> Totals:
    """The words in order, so that the order of documents does not matter."""
    order = sorted(range(len(part.words)), key=part.words.__getitem__)
    words, values = tuple(part.words[i] for i in order), part.values[:, order]
    if weights is not None and not weights.all():  # words of absent documents only
        seen = np.asarray(values.any(axis=0))
        words, values = tuple(w for w, s in zip(words, seen, strict=True) if s), values[:, seen]
    return Totals(words, np.ascontiguousarray(values))
