"""How the model came to be, and how to make it, ask it and write this report again."""

from __future__ import annotations

import base64
import re
import shlex
import tempfile
from pathlib import Path
from typing import Any

from credo import __version__
from credo.core.errors import CredoError
from credo.core.render import number
from credo.core.schema import Schema, Variable
from credo.data import names_of, read
from credo.reports.charts import curve
from credo.reports.markup import Html, code, items, join, note, paragraph, picture, table, tag
from credo.reports.page import Section
from credo.reports.subject import Subject
from credo.train.structure.recipe import arguments_of

__all__ = ["how_read", "learned_section", "reproduce_section", "rows_of"]

_EMBEDDED = 2_000_000  # bytes of a model that are put into the page


def learned_section(subject: Subject) -> Section:
    """The record: by what, from what, the score, the trace, the seed, what was noticed."""
    record = subject.model.record
    if record is None:
        text = "The model carries no record: it was typed, or read from a file that keeps none."
        return Section("learned", "How it was learned", paragraph(text))
    details = record.details
    rows: list[tuple[str, object]] = [("how", record.how)]
    if record.source:
        rows.append(("from", record.source))
    if isinstance(details.get("rows"), (int, float)):
        rows.append(("rows", number(details["rows"])))
    if record.score is not None:
        rows.append(("score", f"{record.score:.6f} (natural logarithm; larger is better)"))
    for key, words in (("score", "kind of score"), ("search", "search")):
        if isinstance(details.get(key), str):
            rows.append((words, details[key]))
    if details.get("proven"):
        rows.append(("proof", "no graph scores better"))
    if isinstance(details.get("iterations"), int):
        rows.append(("iterations", number(details["iterations"])))
    if record.reason:
        rows.append(("stopped because", record.reason))
    if record.seconds is not None:
        rows.append(("seconds", f"{record.seconds:.3g}"))
    if record.seed is not None:
        rows.append(("seed", record.seed))
    parts: list[object] = [table(["", ""], rows, caption="The record the model carries")]
    if record.notes:
        parts += [paragraph("Noticed while learning:"), items(record.notes[:40])]
    if len(record.trace) > 1:
        score = details.get("score")
        words = "The objective at the start and after each iteration."
        label = f"score ({score})" if isinstance(score, str) else "ln P(rows)"
        parts.append(picture(curve(record.trace, "iteration", label), words))
    families = record.families
    if len(families):
        view = families._view()
        parts.append(table(view.head, view.rows, right=view.right, caption="Family by family"))
        if view.note:
            parts.append(note(view.note))
    return Section("learned", "How it was learned", join(parts))


def reproduce_section(subject: Subject) -> Section:
    """Commands and Python that do the same again, and the model itself."""
    model, data = shlex.quote(subject.model_name), shlex.quote(subject.data_file)
    asked = (*subject.questions, *subject.usual_questions)[:1]
    commands, lines = [], ["import credo as cr", ""]
    flags, schema = how_read(subject) if subject.data_file else ("", "")
    learn = _learn_again(subject, flags) if subject.data_file else None
    if learn is not None:
        commands.append(learn[0])
        lines += [f"rows = cr.read({subject.data_file!r}{schema})", learn[1]]
    else:
        lines.append(f"net = cr.load({subject.model_name!r})")
        if subject.data_file:
            lines.append(f"rows = cr.read({subject.data_file!r}{schema})")
    commands += [f"credo ask {model} {shlex.quote(q)}" for q in asked]
    lines += [f"print(net.ask({q!r}))" for q in asked]
    given = f" --data {data}" if subject.data_file else ""
    questions = "".join(f" --question {shlex.quote(q)}" for q in subject.questions)
    commands.append(f"credo report {model}{given}{subject.reading}{questions} -o report.html")
    arguments = ", data=rows" if subject.data_file else ""
    if subject.questions:
        arguments += f", questions={list(subject.questions)!r}"
    lines.append(f'cr.write_report(net, "report.html"{arguments})')
    parts: list[object] = [
        paragraph("On the command line:"),
        code("\n".join(commands), "commands"),
        paragraph("In Python:"),
        code("\n".join(lines), "python"),
    ]
    if learn is not None:
        parts.append(note(learn[2]))
    parts.append(_embedded(subject))
    parts.append(
        note(f"Written by credo {__version__}; random draws started from seed {subject.seed}.")
    )
    return Section("reproduce", "How to reproduce it", join(parts))


def _learn_again(subject: Subject, flags: str) -> tuple[str, str, str] | None:
    """The command and the call that learn the model again, as far as its record tells."""
    record = subject.model.record
    if record is None or not subject.directed:
        return None
    source = Path(record.source).name
    if source and subject.data_file and Path(subject.data_file).name != source:
        return None  # these are other rows than those it was learned from
    data, out = shlex.quote(subject.data_file), shlex.quote(subject.model_name)
    details = record.details
    score, search = details.get("score"), details.get("search")
    if isinstance(score, str) and isinstance(search, str) and record.how.startswith("learned by"):
        search = search.split(" ")[0]
        seed = 0 if record.seed is None else record.seed
        ess = _ess(record) if score in ("bdeu", "bds") else None
        size = "" if ess is None else f" --ess {ess:g}"
        command = (
            f"credo learn {data}{flags} -o {out} --score {score} --search {search}"
            f"{size} --seed {seed}"
        )
        more = "" if ess is None else f", ess={ess:g}"
        if score not in ("bdeu", "bds", "k2"):
            weight = _table_prior(record)
            more += "" if weight is None else f", parameters=cr.BDeu({weight:g})"
        call = f"net = cr.learn(rows, score={score!r}, search={search!r}{more}, rng={seed})"
        words = (
            "Learning again takes the score, the search and the seed of the record; edges that "
            "were required or forbidden, tiers and other options are not in these lines: give them "
            f"again.{_other_settings(record)}"
        )
        return command, call, words
    found = _prior(record)
    if record.how.split(" ")[0] == "fit" and found is not None:
        options, prior = found
        command = f"credo fit {out} {data}{subject.reading} -o again.credo{options}"
        call = f"net = cr.fit(cr.load({subject.model_name!r}), rows{prior})"
        words = (
            "Fitting again keeps the graph and the states of the model and counts the rows anew."
        )
        return command, call, words
    return None


def _other_settings(record: Any) -> str:
    """What else the search was told, in the words of `cr.learn`."""
    told = arguments_of(record)
    usual = ("score", "search", "ess", "rng", "parameters")
    if not isinstance(told, dict) or not any(k not in usual for k in told):
        return ""
    said = ", ".join(f"{k}={v!r}" for k, v in told.items() if k not in usual)
    return f" The record has {said}."


def _ess(record: Any) -> float | None:
    found = {re.sub(r"^BDeu\((.+)\)$", r"\1", f["prior"]) for f in record.families}
    try:
        return float(found.pop()) if len(found) == 1 else None
    except ValueError:
        return None


def _table_prior(record: Any) -> float | None:
    """The weight of the BDeu prior that the tables were learned with, if they were."""
    found = {m[1] for f in record.families if (m := re.fullmatch(r"BDeu\((.+)\)", f["prior"]))}
    return float(found.pop()) if len(found) == 1 else None


def _prior(record: Any) -> tuple[str, str] | None:
    """The prior of a fit as options of the command and as an argument, if it is one for all."""
    priors = {f["prior"] for f in record.families}
    estimates = {f["estimate"] for f in record.families}
    if len(priors) != 1 or len(estimates) != 1 or record.families[0]["tied"]:
        return None
    prior, estimate = priors.pop(), estimates.pop()
    if prior == "none":
        return ("", "") if estimate == "mle" else None
    found = re.fullmatch(r"(BDeu|K2|Laplace)\(([\d.]*)\)", prior)
    if found is None or estimate not in ("mean", "map"):
        return None
    size = f" --ess {found[2]}" if found[2] else ""
    flags = f" --prior {found[1].lower()}{size}"
    call = f", prior=cr.{prior}"
    if estimate == "map":
        flags, call = f"{flags} --estimate map", f'{call}, estimate="map"'
    return flags, call


def _embedded(subject: Subject) -> Html:
    """The model as a file inside the page, so that nothing else is needed to go on."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.credo"
            subject.model.save(path)
            raw = path.read_bytes()
    except CredoError:
        return Html("")
    if len(raw) > _EMBEDDED:
        return note(f"The model has {len(raw):,} bytes and is not put into this page.")
    link = tag(
        "a",
        f"model.credo ({len(raw):,} bytes)",
        href="data:application/octet-stream;base64," + base64.b64encode(raw).decode("ascii"),
        download="model.credo",
    )
    return paragraph(join(["The model itself, with its posterior and its record: ", link, "."]))


# --- How the table must be read for the model's kinds and states: what differs from the rules
# The file is read once more by the rules, and each column that they would take for something else
# than the model has is named: its kind, its states, or that it is left out.

_STATES = 40  # of a column, up to which they are written out


def rows_of(model: Any, data: Any) -> Any:
    """A table by the model's schema, as far as it has its columns."""
    names = names_of(data)
    have = tuple(v for v in model.variables if v.name in names)
    return read(data, Schema(have) if have else None)


def how_read(subject: Subject) -> tuple[str, str]:
    """Options of a command, and the argument of `cr.read`, that read the table for the model."""
    wanted = _wanted(subject)
    if not wanted:
        return subject.reading, ""
    flags = ""
    for name, word in wanted.items():
        if word == "drop":
            flags += f" --drop {shlex.quote(name)}"
        elif isinstance(word, str):
            flags += f" --kind {shlex.quote(f'{name}={word}')}"
        else:
            flags += f" --states {shlex.quote(f'{name}=' + ','.join(map(str, word)))}"
    shaped = any(f" {option} " in subject.reading for option in ("--kind", "--states", "--drop"))
    said = ", ".join(f"{n!r}: {w!r}" for n, w in wanted.items())
    return subject.reading if shaped else flags + subject.reading, f", schema={{{said}}}"


def _wanted(subject: Subject) -> dict[str, Any]:
    plain = subject.by_rules
    if plain is None:
        return {}
    out: dict[str, Any] = {}
    for v in subject.model.variables:
        if v.name in plain:
            word = _word(v, plain[v.name])
            if word is not None:
                out[v.name] = word
        elif v.name in plain.set_aside:
            states = v.is_discrete and v.scale is None and v.arity <= _STATES
            out[v.name] = list(v.states) if states else _kind(v)
    out |= {n: "drop" for n in plain.names if n not in subject.model.schema}
    return out


def _kind(variable: Variable) -> str:
    """What a variable is to who reads the table: a number with a scale is one."""
    return variable.kind if variable.scale is None else "continuous"


def _word(mine: Variable, other: Variable) -> Any:
    if _kind(mine) != other.kind:
        return _kind(mine)
    if other.is_discrete and mine.states != other.states and mine.arity <= _STATES:
        return list(mine.states)
    return None
