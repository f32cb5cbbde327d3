"""`credo fit-markov`: the parameters of a Markov network, learned from a table."""

from __future__ import annotations

from typing import Any

import click

from credo.cli.models import load_model, normalise_option
from credo.cli.options import Common, Manual, common_options, option
from credo.cli.reading import read_from, reading_options
from credo.core.errors import InputError

__all__ = ["command"]


@click.command("fit-markov", cls=Manual)
@reading_options
@option("--edge", "-e", "edges", nargs=2, multiple=True, metavar="A B",
        help="Join two variables; once for each edge.")  # fmt: skip
@option("--like", metavar="MODEL", help="Take the graph of a model file instead: a Markov "
        "network's potentials, or the moral graph of a Bayesian network.")  # fmt: skip
@option("--output", "-o", metavar="FILE", help="Write the model: .uai or .credo.")
@option("--method", default="auto", help="likelihood, pseudo-likelihood, or auto.")
@option("--l2", default=0.001, help="Precision of the Gaussian prior.")
@option("--potentials", default="cliques", help="A potential for each maximal clique, or for "
        "each edge: cliques or pairs.")  # fmt: skip
@normalise_option
@common_options()
def command(
    edges: tuple[tuple[str, str], ...],
    like: str | None,
    output: str | None,
    method: str,
    l2: float,
    potentials: str,
    common: Common,
    **reading: Any,
) -> None:  # fmt: skip
    """Learn a Markov network from TABLE: its graph is given, its potentials are learned.

    \b
    Examples:
      credo fit-markov coronary.csv -e Smoking Proteins -e Proteins Pressure -o coronary.uai
      credo fit-markov patients.csv --like asia.bif -o asia-markov.credo
    """
    from credo.formats.files import format_of
    from credo.train.markov.fit import fit_markov

    if bool(edges) == (like is not None):
        raise InputError("Give the graph either by --edge, once for each edge, or by --like.")
    if output is not None and format_of(output)[0] not in ("uai", "credo"):
        raise InputError(f"A Markov network is written as .uai or .credo, got {output!r}.")
    structure = _structure(like) if like is not None else list(edges)
    net = fit_markov(
        structure, read_from(**reading), method=method, l2=l2, potentials=potentials
    )  # fmt: skip
    if output is not None:
        net.save(output)
    record = net.record
    assert record is not None
    if common.as_json:
        document = {
            "model": output,
            "method": record.details["method"],
            "score": record.score,
            "iterations": len(record.trace),
            "reason": record.reason,
            "seconds": record.seconds,
            "notes": list(record.notes),
            "weights": net.weights,
            "variables": list(net.names),
            "edges": [list(e) for e in net.graph.edges],
        }
        common.emit("fit-markov", document)
        return
    common.say(f"{net}\n\n{record}")
    if output is not None:
        common.say(f"\nwrote {output}")


def _structure(path: str) -> Any:
    from credo.model.networks.network import Network

    model = load_model(path)
    return model.dag.moral() if isinstance(model, Network) else model
