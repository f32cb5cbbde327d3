"""`credo classify`: learn a classifier from a table, judge it, use it."""

from __future__ import annotations

import warnings
from typing import Any

import click

from credo.cli.classify_text import documents_of, judge_texts, print_telling, text_column
from credo.cli.options import Common, Manual, common_options
from credo.cli.reading import read_from, reading_options
from credo.cli.terminal import print_table
from credo.errors import CredoWarning, InputError

__all__ = ["command"]

_SHOWN = 20  # rows of predictions printed for people; --json has all


@click.command("classify", cls=Manual)
@reading_options
@click.option("--target", required=True, metavar="NAME", help="The column with the classes.")
@click.option(
    "--method",
    type=click.Choice(["naive-bayes", "tan", "aode"]),
    default="naive-bayes",
    show_default=True,
    help="Which classifier.",
)
@click.option(
    "--text",
    metavar="NAME",
    help="The column of free text to classify by its words (found if it is the only feature).",
)
@click.option("--smoothing", default=1.0, show_default=True, help="l of (n + l) / (N + l·J).")
@click.option("--cv", default=5, show_default=True, help="Folds of cross-validation; 0 for none.")
@click.option("-o", "--output", metavar="FILE", help="Write the model as a network file.")
@click.option("--predict", "rows", metavar="FILE", help="Predict the rows of this table.")
@common_options()
def command(
    target: str,
    method: str,
    text: str | None,
    smoothing: float,
    cv: int,
    output: str | None,
    rows: str | None,
    common: Common,
    **reading: Any,
) -> None:
    """Learn to predict one column of a table from the others.

    The classifier is judged by cross-validation. TABLE is anything `credo schema` reads.

    \b
    Examples:
      credo classify patients.csv --target lung
      credo classify patients.csv --target lung --method tan -o lung.bif
      credo classify patients.csv --target lung --predict more.csv --json
      credo classify mail.csv --target folder --text body
    """
    table = read_from(**reading)
    if target not in table.schema:
        table.schema[target]  # says what is there instead
    if not table.schema[target].is_discrete:
        raise InputError(
            f"The class {target!r} is continuous.",
            hint=f"Use --kind '{target}=discrete' if its numbers are classes.",
        )
    words = text_column(table, target, text)
    if words is None and not [n for n in table.schema.names if n != target]:
        aside = "; ".join(f"{n!r} ({why})" for n, why in list(table.schema.set_aside.items())[:5])
        raise InputError(
            f"There is no feature to learn {target!r} from" + (f": {aside}." if aside else "."),
            hint="Use --kind NAME=discrete or --text NAME to use a column that was set aside.",
        )
    if words is not None:
        learned = _learn_texts(table, target, words, method, smoothing, cv, rows, output, reading)
    else:
        learned = _learn_table(table, target, method, smoothing, cv, rows)
    clf, count, judged, found, notes = learned
    if output is not None:
        _network(clf, method).save(output)
    classes = [_plain(c) for c in clf.classes_]
    if common.as_json:
        told = _json(target, method, classes, judged, found, output, notes)
        if words is not None:
            told["text"], told["words"] = words, len(clf.vocabulary_)
            told["telling_words"] = {
                str(c): [{"word": w, "bits": bits} for w, bits in telling]
                for c, telling in clf.telling_words(10).items()
            }
        common.emit("classify", told)
        return
    common.say(f"{method} for {target}: {', '.join(map(str, classes[:12]))}", bold=True)
    if words is not None:
        common.say(f"learned from {count:,} texts in {words!r} with {len(clf.vocabulary_):,} words")
        if not common.quiet:
            print_telling(classes, clf.telling_words(8))
    else:
        common.say(f"learned from {count:,} rows and {clf.n_features_in_} features\n")
    if judged is not None:
        common.say(f"{cv}-fold cross-validation: {judged.title}\n")
    if found is not None:
        _print_predictions(clf, classes, found)
    for note in notes:
        common.say(f"noticed: {note}")
    if output is not None:
        common.say(f"wrote {output}")


def _learn_table(
    table: Any, target: str, method: str, smoothing: float, cv: int, rows: str | None
) -> tuple[Any, int, Any, Any, list[str]]:
    """The classifier, the rows it learned from, its report, its predictions, what was noticed."""
    from credo.data import Stream

    if isinstance(table, Stream) and method != "naive-bayes":
        table = table.load()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CredoWarning)
        clf = _classifier(method, smoothing).fit(table, target)
        judged = None if cv == 0 or isinstance(table, Stream) else _judge(clf, table, target, cv)
        found = None if rows is None else clf.predict_proba(rows)
        notes = list(dict.fromkeys(str(w.message) for w in caught))
    return clf, len(table), judged, found, notes


def _learn_texts(
    table: Any,
    target: str,
    words: str,
    method: str,
    smoothing: float,
    cv: int,
    rows: str | None,
    output: str | None,
    reading: dict[str, Any],
) -> tuple[Any, int, Any, Any, list[str]]:
    """The same for a column of free text, by `TextNaiveBayes`."""
    import numpy as np

    from credo.estimators import TextNaiveBayes

    if method != "naive-bayes":
        raise InputError(f"Free text is classified by naive Bayes, not by {method!r}.")
    if output is not None:
        raise InputError(
            "A classifier of free text has no file format.", hint="Leave -o out, or use --json."
        )
    if reading.get("weights"):
        raise InputError("Free text is learned without weights.", hint="Leave --weights out.")
    label = table.schema[target]
    texts, codes = documents_of(reading["table"], words, label, reading)
    known = np.flatnonzero(codes < label.arity)
    notes = []
    if len(known) < len(texts):
        notes.append(f"{len(texts) - len(known):,} rows without a class were left out")
    others = [n for n in table.schema.names if n not in (target, words)]
    if others:
        notes.append(f"only {words!r} was used, not {', '.join(map(repr, others[:6]))}")
    kept, codes = [texts[i] for i in known], codes[known]
    clf = TextNaiveBayes(smoothing=smoothing)
    judged = None if cv == 0 else judge_texts(clf, kept, codes, cv)
    clf.fit(kept, np.array(label.states, dtype=object)[codes])
    found = None
    if rows is not None:
        new, _ = documents_of(rows, words, None, reading)
        found = clf.predict_proba(new)
    return clf, len(kept), judged, found, notes


def _classifier(method: str, smoothing: float) -> Any:
    from credo.estimators import NaiveBayes, NetworkClassifier

    if method == "naive-bayes":
        return NaiveBayes(smoothing=smoothing)
    return NetworkClassifier(method, smoothing=smoothing)


def _judge(clf: Any, table: Any, target: str, cv: int) -> Any:
    """The report of cross-validation, rows without a class left out."""
    import numpy as np
    from sklearn.base import clone

    from credo.estimators.calibration import report_of
    from credo.estimators.comparison import _folds, _table

    whole = _table(table, target)
    p = np.empty((len(whole), whole.schema[target].arity))
    for train, test in _folds(whole, target, cv, 0):
        p[test] = clone(clf).fit(whole.take(train), target).predict_proba(whole.take(test))
    return report_of(p, whole.codes(target))


def _network(clf: Any, method: str) -> Any:
    if method == "aode":
        raise InputError(
            "AODE is an average of networks and has no file format.", hint="Use --method tan."
        )
    return clf.model_.network() if method == "naive-bayes" else clf.network_


def _print_predictions(clf: Any, classes: list[Any], found: Any) -> None:
    head = ["row", "prediction", *(f"P({c})" for c in classes[:8])]
    lines = [
        [str(i + 1), str(classes[int(p.argmax())]), *(f"{v:.4f}" for v in p[:8])]
        for i, p in enumerate(found[:_SHOWN])
    ]
    print_table(head, lines, right=[0, *range(2, len(head))])
    if len(found) > _SHOWN:
        click.echo(f"… {len(found) - _SHOWN:,} more; --json prints all")


def _json(
    target: str,
    method: str,
    classes: list[Any],
    judged: Any,
    found: Any,
    output: str | None,
    notes: list[str],
) -> dict[str, Any]:
    out: dict[str, Any] = {"target": target, "method": method, "classes": classes}
    if judged is not None:
        out["cross_validation"] = {
            "accuracy": judged.accuracy,
            "log_loss": judged.log_loss,
            "brier": judged.brier,
            "calibration_error": judged.error,
            "slope": judged.slope,
        }
    if found is not None:
        out["predictions"] = [
            {"class": classes[int(p.argmax())], "p": [float(v) for v in p]} for p in found
        ]
    return out | {"output": output, "notes": notes}


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, (str, int, float, bool)) else str(value)
