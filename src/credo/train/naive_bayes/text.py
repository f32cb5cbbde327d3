"""Naive Bayes for documents: a table of weights for each word and class, and a bias.

    ln P(c, document) = bias[c] + Σ_word count · table[word, c]

    multinomial   table = ln (n_ck + l) / (n_c + l·|V|)             bias = ln P(c)
    bernoulli     table = ln p/(1 − p), p = (d_ck + l)/(d_c + 2l)   bias = ln P(c) + Σ ln(1 − p)
    complement    table = −ln (n_¬c,k + l) / (n_¬c + l·|V|)         bias = 0

n_ck is how often word k stands in the documents of class c, d_ck in how many of them; ¬c are all
other classes (Rennie, Shih, Teevan & Karger 2003), and with `norm` the weights of a class are
divided by their sum. Where each word has its own l, l·|V| is the sum over the words. Words that are
not in the vocabulary are skipped, as in Mitchell's algorithm of the lecture notes (000), which is
the multinomial with l = 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo import _core
from credo.core.errors import InputError, unknown_name
from credo.core.frozen import Frozen
from credo.stats.by_class import ByClass, Totals
from credo.train.naive_bayes.fit import Options, class_log_prior, not_negative

Floats = NDArray[np.float64]

FORMS = ("multinomial", "bernoulli", "complement")
"""What a document is: draws of words, words that are there or not, or the first by complements."""


@dataclass(frozen=True, eq=False)
class TextModel(Frozen):
    """A trained classifier of documents: `table[word, class]` and `bias[class]`."""

    form: str
    statistic: ByClass
    table: Floats
    bias: Floats
    log_prior: Floats

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes, in order."""
        return self.statistic.target.states

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, in order."""
        return self.statistic.names

    @cached_property
    def vocabulary(self) -> Any:
        """The words as the kernel finds them."""
        native = _core.Vocabulary()
        native.add(list(self.words))
        return native

    @cached_property
    def scorer(self) -> Any:
        """Table and bias as the kernel reads them for dense rows."""
        empty = np.zeros((0, len(self.bias)))
        return _core.NaiveScorer(self.bias, [], [], empty, empty, empty, self.table)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("vocabulary", "scorer")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def zero_words(
        self, words: Sequence[tuple[int, Any]], classes: Sequence[int] | None = None
    ) -> str:
        """Which word of a document is impossible in each class (of all, or of some)."""
        out = []
        for c in range(len(self.classes)) if classes is None else classes:
            label = repr(self.classes[c])
            if np.isneginf(self.bias[c]):
                out.append(f"class {label} has no weight")
                continue
            word = next((k for k, _ in words if np.isneginf(self.table[k, c])), None)
            if word is not None:
                out.append(f"{self.words[word]!r} was never seen in class {label}")
        return "; ".join(out[:6])

    def telling(self, most: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """For each class the words that speak most for it against the others, in bits.

        Without smoothing a word that only this class has says ∞; more frequent ones come first.
        """
        share = np.exp(self.log_prior)
        out = {}
        for c, label in enumerate(self.classes):
            rest = np.delete(share, c)
            rest = rest / rest.sum() if rest.sum() else np.full(len(rest), 1.0 / max(len(rest), 1))
            mine, others = self.table[:, c], np.delete(self.table, c, axis=1)[:, rest > 0]
            gone = np.isneginf(others).any(axis=1)
            mean = np.where(np.isneginf(others), 0.0, others) @ rest[rest > 0]
            bits = np.where(gone, np.inf, (mine - mean) / np.log(2))
            bits = np.where(np.isneginf(mine), -np.inf, bits)
            often = np.where(np.isposinf(bits), mine, 0.0)
            order = np.lexsort((-often, -bits))[:most]
            out[label] = [(self.words[i], float(bits[i])) for i in order]
        return out


def train_text(statistic: ByClass, form: str, options: Options, norm: bool = False) -> TextModel:
    """The model of some documents, from the totals of their words by class.

    >>> from credo import Variable
    >>> y = Variable("y", "discrete", ("ham", "spam"))
    >>> totals = Totals(("free", "lecture"), np.array([[0.0, 3.0], [2.0, 0.0]]))
    >>> statistic = ByClass(y, np.array([2, 1]), totals.words, words=totals)
    >>> model = train_text(statistic, "multinomial", Options())
    >>> np.exp(model.table).round(3).tolist()
    [[0.2, 0.75], [0.8, 0.25]]
    """
    if form not in FORMS:
        raise InputError(f"form must be one of {', '.join(FORMS)}, got {form!r}.")
    part = statistic.words
    assert isinstance(part, Totals)
    l = _smoothing(options, part.words)  # noqa: E741
    if form != "multinomial" and not l.all():
        raise InputError(
            f"smoothing must be above 0 for {form!r} documents, got 0.",
            hint="form='multinomial' can do without.",
        )
    if norm and form != "complement":
        raise InputError(f"norm=True is for form='complement', and form is {form!r}.")
    prior = class_log_prior(statistic, options)
    n = np.ascontiguousarray(part.values, dtype=np.float64)
    weight = np.ascontiguousarray(statistic.weight, dtype=np.float64)
    table, added = _core.text_table(n, form, weight, l)
    if norm:
        sums = table.sum(axis=0)
        table = table / np.where(sums > 0, sums, 1.0)
    bias = np.zeros(len(prior)) if form == "complement" and len(prior) > 1 else prior + added
    return TextModel(form, statistic, table, bias, prior)


def _smoothing(options: Options, words: Sequence[str]) -> Floats:
    """l of each word: one for all, a mapping by word (1 for the others), or a list in order."""
    given = options.smoothing
    if isinstance(given, Mapping):
        for word in given:
            if word not in words:
                raise unknown_name("The smoothing of", word, words, "in the vocabulary")
        return np.array([options.smoothing_of(w) for w in words], dtype=np.float64)
    if not isinstance(given, Iterable) or isinstance(given, str):
        return np.full(len(words), not_negative(given, "smoothing"))
    each = [not_negative(v, "smoothing") for v in given]
    if len(each) != len(words):
        raise InputError(
            f"smoothing has {len(each):,} numbers for {len(words):,} words.",
            hint="Give one number, one for each word, or a mapping from words to numbers.",
        )
    return np.array(each, dtype=np.float64)
