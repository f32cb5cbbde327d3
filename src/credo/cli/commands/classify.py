"""`credo classify`: learn a classifier from a table, judge it, use it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import click

from credo.cli.classify_rows import (
    Classifier,
    Learned,
    documents_of,
    judge_texts,
    learn_table,
    predict_rows,
    print_telling,
    text_column,
    write_predictions,
)
from credo.cli.costs import costs_by_state, read_costs
from credo.cli.models import load_model, normalise_option, refuse_no_folder, refuse_unwritable
from credo.cli.options import Common, Manual, common_options, files, option
from credo.cli.reading import read_from, reading_settings, text_options
from credo.cli.rules import numbers_from
from credo.cli.terminal import print_table
from credo.core.errors import CredoWarning, InputError
from credo.core.render import many
from credo.core.state_values import json_state
from credo.model.decisions.costs import Costs

__all__ = ["command"]

_SHOWN = 20  # rows of predictions printed for people; --json and -o have all


@click.command("classify", cls=Manual)
@click.argument("table", required=False, shell_complete=files)
@reading_settings
@option("--target", required=True, metavar="NAME", help="The column with the classes.")
@option("--method", choices=["naive-bayes", "tan", "aode"], default="naive-bayes",
        help="Which classifier.")  # fmt: skip
@option("--text", metavar="NAME", help="The column of free text to classify by its words (found "
        "if it is the only feature).")  # fmt: skip
@option("--smoothing", default=1.0, help="l of (n + l) / (N + l·J).")
@option("--numbers", multiple=True, metavar="[FEATURE=]WAY", help="How naive Bayes models numbers: "
        "gaussian, transformed, binned, or auto, which asks the rows (the default).")  # fmt: skip
@option("--unseen", choices=["missing", "error", "smooth"], default="missing",
        help="A state that training did not show: taken as missing with a note, refused, or "
        "given the probability of a new state.")  # fmt: skip
@option("--cv", type=int, metavar="FOLDS", help="Folds of cross-validation; 0 for none.  "
        "[default: 5, or fewer on a small table]")  # fmt: skip
@option("--model", metavar="FILE", shell_complete=files, help="Predict with this network file "
        "instead of learning from TABLE.")  # fmt: skip
@option("--predict", "rows", metavar="FILE", help="Predict the rows of this table.")
@option("--costs", metavar="COSTS", help="What it costs to call one class another, "
        "CLASS:CALLED=COST, … or a CSV file of them: predict the cheapest class.")  # fmt: skip
@option("--reject", type=float, metavar="COST", help="What it costs not to decide: where every "
        "class is expected to cost more, none is predicted.")  # fmt: skip
@option("-o", "--output", multiple=True, metavar="FILE", help="Write the model (a network file) "
        "or the predictions (.csv, .parquet, …), or both.")  # fmt: skip
@normalise_option
@common_options()
def command(
    table: str | None,
    target: str,
    method: str,
    text: str | None,
    smoothing: float,
    numbers: tuple[str, ...],
    unseen: str,
    cv: int | None,
    model: str | None,
    rows: str | None,
    costs: str | None,
    reject: float | None,
    output: tuple[str, ...],
    common: Common,
    **reading: Any,
) -> None:
    """Learn to predict one column of a table from the others, or predict with a saved model.

    The classifier is judged by cross-validation. TABLE is anything `credo schema` reads; the rows
    of --predict are read with the same options.

    \b
    Examples:
      credo classify patients.csv --target lung
      credo classify patients.csv --target lung --method tan -o lung.bif
      credo classify patients.csv --target lung --predict more.csv --json
      credo classify --model asia.bif --target lung --predict more.csv -o predictions.csv
      credo classify patients.csv --target lung --predict more.csv --costs "yes:no=9, no:yes=1"
      credo classify mail.csv --target folder --text body
    """
    saved, written = _outputs(output, rows)
    if rows is None and (costs is not None or reject is not None):
        raise InputError(
            "--costs and --reject choose the classes of the rows of --predict, and none are given.",
            hint="credo check MODEL TABLE --costs … tells what decisions by a model cost.",
        )
    prices = None if costs is None else read_costs(costs)
    if numbers and (model is not None or method != "naive-bayes"):
        raise InputError(
            "--numbers is for naive Bayes: tan and aode cut numbers for the class, and a --model "
            "has its own.",
            hint="Leave --numbers out, or use --method naive-bayes.",
        )
    if model is not None:
        learned, words = _load(model, table, target, unseen, rows, saved, reading), None
    else:
        if table is None:
            raise InputError("A TABLE to learn from is needed, or --model FILE to predict with.")
        reading = {"table": table, **reading}
        how = Classifier(method, smoothing, unseen, numbers_from(numbers, "auto"))
        learned, words = _learn(target, how, text, cv, rows, saved, reading)
    clf, found = learned.clf, learned.found
    if saved is not None:
        _network(clf, method).save(saved)
    classes = [json_state(c) for c in clf.classes_]
    if found is not None:
        chosen = found.argmax(axis=1)
        if prices is not None or reject is not None:
            by_state = None if prices is None else costs_by_state(prices, classes)
            chosen = Costs.of(classes, by_state).choose(found, reject)
        learned = replace(learned, chosen=chosen.tolist())
    if written is not None and found is not None:
        write_predictions(written, target, tuple(classes), found, learned.chosen)
    if common.as_json:
        told = _json(target, model or method, classes, learned, saved, written)
        if words is not None:
            told["text"], told["words"] = words, len(clf.vocabulary_)
            told["telling_words"] = {
                str(c): [{"word": w, "bits": bits} for w, bits in telling]
                for c, telling in clf.telling_words(10).items()
            }
        common.emit("classify", told)
        return
    common.say(f"{model or method} for {target}: {', '.join(map(str, classes[:12]))}", bold=True)
    if words is not None:
        common.say(
            f"learned from {learned.rows:,} texts in {words!r} with {len(clf.vocabulary_):,} words"
        )
        if not common.quiet:
            print_telling(classes, clf.telling_words(8))
    elif model is None:
        features = many(clf.n_features_in_, "feature")
        common.say(f"learned from {many(learned.rows, 'row')} and {features}\n")
    if learned.judged is not None:
        common.say("\n".join(learned.judged.lines()) + "\n")
    if found is not None and written is None:
        _print_predictions(classes, found, learned.chosen)
    for note in learned.notes:
        common.say(f"noticed: {note}")
    for path in (saved, written):
        if path is not None:
            common.say(f"wrote {path}")


def _outputs(given: tuple[str, ...], rows: str | None) -> tuple[str | None, str | None]:
    """Where the model goes, and where the predictions go: the endings say which is which."""
    from pathlib import Path

    from credo.data.out.writing import ROW_ENDINGS

    tables = [p for p in given if Path(p).suffix.lower() in ROW_ENDINGS]
    models = [p for p in given if p not in tables]
    if len(tables) > 1 or len(models) > 1:
        raise InputError("-o may be given once for the model and once for the predictions.")
    if tables and rows is None:
        raise InputError(
            f"{tables[0]!r} is a file of rows, which predictions are written to.",
            hint="Give the rows to predict with --predict, or a network file such as model.credo.",
        )
    for path in models:
        refuse_unwritable(path)
    for path in tables:
        refuse_no_folder(path)
    return next(iter(models), None), next(iter(tables), None)


def _load(
    model: str,
    table: str | None,
    target: str,
    unseen: str,
    rows: str | None,
    saved: str | None,
    reading: dict[str, Any],
) -> Learned:
    """The predictions of a network file."""
    from credo.estimators import NetworkClassifier
    from credo.model.networks.network import Network

    if table is not None or rows is None or saved is not None:
        raise InputError(
            "--model predicts the rows of --predict, and learns from no TABLE.",
            hint="Write credo classify --model FILE --target NAME --predict ROWS -o FILE.csv.",
        )
    net = load_model(model)
    if not isinstance(net, Network):
        raise InputError(f"{model} holds a {type(net).__name__}; a Bayesian network is needed.")
    if not net.variable(target).is_discrete:
        raise InputError(f"{target!r} is continuous in {model}; a class is discrete.")
    if unseen == "smooth":
        raise InputError(
            f"--unseen smooth needs the counts of training, which {model} has not.",
            hint="Use --unseen missing or error, or learn from a TABLE.",
        )
    clf = NetworkClassifier(net, target=target, unseen=unseen)
    clf._use(net, target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CredoWarning)
        found, notes = predict_rows(clf, target, rows, reading)
    return Learned(clf, 0, None, found, [*(str(w.message) for w in caught), *notes])


def _learn(
    target: str,
    how: Classifier,
    text: str | None,
    cv: int | None,
    rows: str | None,
    saved: str | None,
    reading: dict[str, Any],
) -> tuple[Learned, str | None]:
    """A classifier of a table, or of the texts of one of its columns."""
    if rows is not None and rows != "-":
        _refuse_unreadable(rows, reading)
    table = read_from(**reading)
    if target not in table.schema:
        table.schema[target]  # says what is there instead
    if not table.schema[target].is_discrete:
        raise InputError(
            f"The class {target!r} is continuous.",
            hint=f"Use --kind '{target}=discrete' if its numbers are classes.",
        )
    words = text_column(table, target, text)
    if words is not None:
        return _learn_texts(table, target, words, how, cv, rows, saved, reading), words
    if not [n for n in table.schema.names if n != target]:
        aside = "; ".join(f"{n!r} ({why})" for n, why in list(table.schema.set_aside.items())[:5])
        raise InputError(
            f"There is no feature to learn {target!r} from" + (f": {aside}." if aside else "."),
            hint="Use --kind NAME=discrete or --text NAME to use a column that was set aside.",
        )
    if how.method == "aode" and saved is not None:
        _network(None, how.method)
    return learn_table(table, target, how, cv, rows, reading), None


def _refuse_unreadable(rows: str, reading: dict[str, Any]) -> None:
    """Look at the rows to predict before anything is learned: a wrong path should not wait."""
    from credo.data.sources.files import feed_of_path
    from credo.data.sources.queries import is_query

    if not is_query(rows):
        feed_of_path(rows, text_options(reading))


def _learn_texts(
    table: Any,
    target: str,
    words: str,
    how: Classifier,
    cv: int | None,
    rows: str | None,
    output: str | None,
    reading: dict[str, Any],
) -> Learned:
    """The same for a column of free text, by `TextNaiveBayes`."""
    import numpy as np

    from credo.estimators import TextNaiveBayes

    if how.method != "naive-bayes":
        raise InputError(f"Free text is classified by naive Bayes, not by {how.method!r}.")
    if how.unseen != "missing":
        raise InputError(
            "Words that training did not show say nothing about the class.",
            hint="Leave --unseen out for free text.",
        )
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
    clf = TextNaiveBayes(smoothing=how.smoothing)
    judged = None
    if cv != 0:
        judged, note = judge_texts(clf, kept, codes, cv, known)
        notes += [note] if note else []
    clf.fit(kept, np.array(label.states, dtype=object)[codes])
    found = None
    if rows is not None:
        new, _ = documents_of(rows, words, None, reading)
        found = clf.predict_proba(new)
    return Learned(clf, len(kept), judged, found, notes)


def _network(clf: Any, method: str) -> Any:
    if method == "aode":
        raise InputError(
            "AODE is an average of networks and has no file format.", hint="Use --method tan."
        )
    return clf.model_.network() if method == "naive-bayes" else clf.network_


def _print_predictions(classes: list[Any], found: Any, chosen: list[int]) -> None:
    head = ["row", "prediction", *(f"P({c})" for c in classes[:8])]
    lines = [
        [str(i + 1), "(none)" if k < 0 else str(classes[k]), *(f"{v:.4f}" for v in p[:8])]
        for i, (k, p) in enumerate(zip(chosen[:_SHOWN], found, strict=False))
    ]
    print_table(head, lines, right=[0, *range(2, len(head))])
    if len(found) > _SHOWN:
        click.echo(f"… {len(found) - _SHOWN:,} more; -o FILE.csv writes all")


def _json(
    target: str,
    method: str,
    classes: list[Any],
    learned: Learned,
    saved: str | None,
    written: str | None,
) -> dict[str, Any]:
    out: dict[str, Any] = {"target": target, "method": method, "classes": classes}
    if learned.judged is not None:
        out["cross_validation"] = learned.judged.figures()
    if learned.found is not None:
        out["predictions"] = [
            {"class": None if k < 0 else classes[k], "p": [float(v) for v in p]}
            for k, p in zip(learned.chosen, learned.found, strict=True)
        ]
    if written is not None:
        out["predictions_output"] = written
    return out | {"output": saved, "notes": learned.notes}
