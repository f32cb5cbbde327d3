"""What `credo learn TABLE` decides when it is told nothing else, and says so."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from credo.cli.options import Common, listed
from credo.core.progress import LATE
from credo.core.render import many
from credo.core.state_values import is_number

__all__ = [
    "MISSING",
    "by_either",
    "checked",
    "default_output",
    "gaps_line",
    "next_steps",
    "program",
    "quick_check",
    "tell_check",
    "weights_line",
]

_ENDINGS = (".gz", ".zst", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".pq",
            ".arrow", ".feather", ".ipc", ".duckdb", ".ddb")  # fmt: skip


_WIDE = 40  # variables beyond which the short check is of held-out rows alone
_WEIGHTS = {"weight", "weights", "count", "counts", "freq", "frequency", "n"}


def weights_line(table: Any) -> str:
    """A word on a column that looks like the weights of the rows, but was not named as such."""
    schema = table.schema
    if any(c.kind == "weights" for c in schema.columns):
        return ""
    for v in schema.variables:
        numbers = not v.is_discrete or all(map(is_number, v.states))
        if v.name.casefold() in _WEIGHTS and numbers:
            return f"{v.name} may be the weights of the rows; if so, give --weights {v.name}."
    return ""


def default_output(table: str) -> str:
    """Where a model goes when nobody says: beside its table, under a name that is free.

    >>> default_output("no-such-folder/patients.csv.gz")
    'patients.credo'
    """
    from credo.data.sources.queries import is_query

    if table == "-" or any(c in table for c in "*?[") or is_query(table):
        folder, stem = Path(), "model"
    else:
        path = Path(table)
        folder, stem = path.parent, path.name
        while stem.lower().endswith(_ENDINGS):
            stem = stem[: stem.rindex(".")]
        if folder.is_file():  # a table of a database: beside that
            folder = folder.parent
        if not _writable(folder):
            folder = Path()
    stem = stem or "model"
    for k in range(1, 10_000):
        found = folder / (f"{stem}.credo" if k == 1 else f"{stem}-{k}.credo")
        if not found.exists():
            return str(found)
    return str(folder / f"{stem}.credo")  # pragma: no cover


def _writable(folder: Path) -> bool:
    """Whether a folder is meant to be written to, also for a user who may do anything."""
    try:
        return os.access(folder, os.W_OK) and bool(folder.stat().st_mode & 0o222)
    except OSError:
        return False


MISSING = ("structural-em", "available-cases", "node-average", "complete-rows")
"""What may be done where cells are missing."""


def by_either(learn: Callable[[str, float], Any], limit: float, common: Common) -> Any:
    """Structural EM, and where a row has too many ways to be completed available cases, said so."""
    from credo.core.errors import LimitError

    began = time.monotonic()
    try:
        return learn("structural-em", limit)
    except LimitError as error:
        common.say(f"Structural EM is not possible here: {error}")
        common.say("Instead parents are judged on the rows that have them all (available-cases).")
        left = max(limit - (time.monotonic() - began), limit / 4)
        return learn("available-cases", left)


_CHECKED = ("held_out", "predictive", "calibration", "independence")


def quick_check(net: Any, table: Any, seed: int, seconds: float = 0) -> Any:
    """A short check of a model on its rows; `credo check` makes the whole one.

    All of it ends after so many seconds: a section that is late is left out, with the reason.
    """
    from credo.checking import check

    sections = _CHECKED[:1] if len(net.names) > _WIDE else _CHECKED
    return check(
        net, table, folds=5, draws=50, rows=1000, edges=0, sections=list(sections), rng=seed,
        seconds=seconds or None,
    )  # fmt: skip


def checked(net: Any, table: Any, common: Common, seconds: float = 0) -> Any:
    """The report of a short check, or None: a model that cannot be checked is still a model."""
    from credo.core.errors import CredoError

    try:
        return quick_check(net, table, common.seed, seconds)
    except CredoError as error:
        common.say(f"Not checked: {error}")
        return None


def tell_check(report: Any, common: Common, most: int = 3) -> None:
    """Whether the model is better than independent columns, and the worst findings in a line each.

    Those that are alike are told once; `credo check` says what to do about each.
    """
    from credo.cli.commands.check import print_sentences

    against = [f for f in report.of("held_out") if f.where == "independent columns"]
    bad = [f for f in report.findings if f.severity in ("problem", "warning") and f not in against]
    late = [n.replace("_", " ") for n, why in report.left_out.items() if why.startswith(LATE)]
    print_sentences(against, 1)
    if bad or not late:
        verdict = f"{report.sentence[:1].upper()}{report.sentence[1:]}"
        common.say(f"{verdict}{', worst first:' * bool(bad)}")
    print_sentences(bad, most)
    if late:
        common.say(f"Not checked, for lack of time (--seconds): {', '.join(late)}")


_BY_EM = (
    "Each row counts for what it says; a gap counts for every value it may have (structural EM), "
    "or for draws of them where there are too many."
)


def gaps_line(table: Any, missing_cells: str) -> str:
    """How many cells are missing, and what is done about them."""
    from credo.train.structure.incomplete import has_gaps

    if not has_gaps(table):
        return "No cell is missing."
    schema = table.schema
    rows = len(table)
    missing = {n: round(rate * rows) for n, rate in schema.missing.items() if rate > 0}
    total = sum(missing.values())
    worst = sorted(missing, key=lambda n: -missing[n])
    share = 100 * total / (rows * len(schema.variables))
    how = {
        "auto": _BY_EM,
        "structural-em": _BY_EM,
        "available-cases": "Parents are judged on the rows that have them all (available-cases).",
        "node-average": "Each family is scored on the rows that have it (node-average).",
        "complete-rows": "Rows with a gap are left out (complete-rows).",
    }[missing_cells]
    return (
        f"{many(total, 'gap')} ({share:.2g} % of the cells) in "
        f"{many(len(missing), 'column')}: {listed(worst)}. {how}"
    )


def program() -> str:
    """How to call this program from a shell."""
    here = Path(sys.argv[0])
    if shutil.which("credo") or here.stem != "credo":
        return "credo"
    return shlex.quote(os.path.relpath(here))


def next_steps(net: Any, model: str, table: str, how: str = "") -> list[tuple[str, str]]:
    """Commands that can be pasted, and what each is for; `how` says how the table is read."""
    credo, name = program(), shlex.quote(model)
    rows = shlex.quote(table)
    steps = []
    question = _question(net)
    if question:
        interval = " --interval 0.95" if _is_sure(net) else ""
        asked = shlex.quote(question)
        steps.append((f"{credo} ask {name} {asked}{interval}", "how sure is the answer?"))
    steps.append((f"{credo} ask {name}", "a prompt"))
    if table != "-":
        page = shlex.quote(str(Path(model).with_suffix(".html")))
        steps.append((f"{credo} check {name} {rows}{how}", "every finding, and what to do"))
        steps.append((f"{credo} report {name} --data {rows}{how} -o {page}", "all on one page"))
    return steps


def _is_sure(net: Any) -> bool:
    return any(getattr(d, "learned", None) is not None and d.learned.prior is not None
               for d in net.distributions.values())  # fmt: skip


def _question(net: Any) -> str:
    """A question that this network can answer: a child given one of its parents."""
    from credo.predict.questions.question import quoted

    discrete = sorted((v for v in net.variables if v.is_discrete), key=lambda v: v.arity)
    for v in discrete:  # those with few states are easiest to read
        for parent in net.dag.parents(v.name):
            p = net.variable(parent)
            if v.arity > 1 and p.arity > 1:
                return f"P({quoted(v.name)} | {quoted(parent)}={quoted(p.states[-1])})"
    if discrete:
        return f"P({quoted(discrete[-1].name)})"
    return f"P({quoted(net.names[0])})" if net.names else ""
