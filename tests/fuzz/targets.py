"""One target for each reader, and mutations of valid files that keep it busy.

A target takes any bytes; it returns for a network or a `CredoError` and lets everything else
through. `python -m tests.fuzz bif` runs a target under atheris.
"""

from __future__ import annotations

import hashlib
import random
import warnings
from collections.abc import Iterator

import numpy as np

import credo as cr
from credo.core.schema import Variable
from credo.errors import CredoError, CredoWarning
from credo.formats import FORMATS, Limits, dumps, loads
from credo.model.decisions.decision_network import DecisionNetwork
from credo.model.networks.cpt import Cpt
from credo.model.networks.network import Network
from credo.model.undirected.factor_model import FactorModel
from credo.model.undirected.markov_network import ising_grid
from tests.fuzz.tables import TABLES, table_seeds, table_target

READERS = (*FORMATS, "dne", "pgmx", *TABLES)
LIMITS = Limits(numbers=1_000_000, decompressed_bytes=2**24)
WORDS = (
    b"probability table default variable network property type discrete node states data "
    b'potential <a> </a> <!-- --> & &lt; { } ( ) [ ] ; , | = : " / // /* */ % # _x _x20_ _x_ nan inf '
    b"decision utility utilities mau weights credo_memory limited information costs "
    b"bnet kind probs functable parents levels @imposs noisymax strengths parameters 50 -1e-7 0e-9 "
    b"-1 1e999 0x1 1_0 2147483647 99999999999999999999 0 1 2 BAYES MARKOV c credo \x00 \xff \xc3 \n \t"
).split(b" ")


def target(format: str, data: bytes) -> None:
    """Read the bytes."""
    if format in TABLES:
        table_target(format, data)
        return
    if format == "credo" and len(data) > 77:
        body = data[:-77]  # with the right seal, or nothing behind it is ever reached
        data = body + b"credo sha256 " + hashlib.sha256(body).hexdigest().encode()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CredoWarning)
            net = loads(data, format, types=True, normalise=len(data) % 2 == 0, limits=LIMITS)
    except CredoError as error:
        assert str(error)
        return
    if isinstance(net, FactorModel):
        for factor in net.factors:
            assert np.isfinite(factor.values).all() and (factor.values >= 0).all()
        return
    if isinstance(net, DecisionNetwork):
        assert all(np.isfinite(u.values).all() for u in net.utilities.values())
        net = net.chance
    for local in net.distributions.values():
        if isinstance(local, Cpt):
            assert np.abs(local.values.sum(axis=-1) - 1).max() < 1e-12
            assert (local.values >= 0).all()


def seeds(format: str) -> list[bytes]:
    """Small valid files."""
    if format in TABLES:
        return table_seeds(format)
    if format in ("dne", "pgmx"):
        return [NETICA if format == "dne" else MARKOV]
    a = Variable("A b", "discrete", ("yes", "<5.12", ""))
    b = Variable("B", "discrete", (1, 2), ordered=True)
    c = Variable("C", "discrete", ("x", "y"))
    rows = np.random.default_rng(1).dirichlet(np.ones(2), size=(3, 2))
    tables = {
        "A b": Cpt(a, (), [0.2, 0.3, 0.5]),
        "B": Cpt(b, (a,), [[0.5, 0.5], [0.25, 0.75], [0.125, 0.875]]),
        "C": Cpt(c, (a, b), rows, counts=rows * 10),
    }
    odd = Network([("A b", "B"), ("A b", "C"), ("B", "C")], tables)
    plain = Network("[A][B|A]", {"A": [0.5, 0.5], "B": [[0.1, 0.9], [0.4, 0.6]]})
    networks = [odd, plain]
    if format == "credo":  # what a network was learned from is kept there
        rows = {
            "a": ["x", "y"] * 4,
            "b": [0, 1, 1, 1, 0, 0, 1, 0],
            "c": [0.5, 1.5, 2, 3, 1, 4, 2, 0],
        }
        networks.append(cr.fit("[a][b|a][c|a]", cr.read(rows, {"c": "continuous"}), cr.BDeu(2)))
    out = []
    undirected = [odd.to_markov_network(), odd.to_factor_graph(), ising_grid(2)]
    for net in (*networks, *(undirected if format in ("uai", "credo") else ())):
        data = dumps(net, format)
        out.append(data.encode() if isinstance(data, str) else data)
    if format in ("xdsl", "net", "xmlbif", "credo"):
        decided = odd.decide(
            {"D e|B": ["l", "r"], "F": [0, 1]}, {"U|D e:C": np.eye(2), "V|F": [1, 0]}
        )
        data = dumps(decided.but(memory="limited"), format)
        out.append(data.encode() if isinstance(data, str) else data)
    return [*out, NOISY, UTILITY] if format == "xdsl" else out


UTILITY = b"""<smile><nodes><cpt id="A"><state id="a"/><state id="b"/>
<probabilities>0.5 0.5</probabilities></cpt><decision id="D"><state id="x"/><state id="y"/>
<parents>A</parents></decision><utility id="U"><parents>A D</parents><utilities>1 2 3 4</utilities>
</utility><utility id="V"><parents>D</parents><utilities>1 -1e3</utilities></utility>
<mau id="T"><parents>U V</parents><weights>0.5 2</weights></mau></nodes></smile>"""


NOISY = b"""<smile><nodes><cpt id="A"><state id="a"/><state id="b"/>
<probabilities>0.5 0.5</probabilities></cpt><noisymax id="B"><state id="x"/><state id="y"/>
<parents>A</parents><strengths>1 0</strengths><parameters>0.2 0.8 0 1 0.1 0.9</parameters>
</noisymax></nodes></smile>"""
MARKOV = b"""<ProbModelXML><ProbNet type="BayesianNetwork"><Variables>
<Variable name="A"><States><State name="a"/><State name="b"/></States></Variable>
<Variable name="B"><States><State name="x"/><State name="y"/></States></Variable></Variables>
<Potentials><Potential type="Uniform"><Variables><Variable name="A"/></Variables></Potential>
<Potential type="Table"><Variables><Variable name="B"/><Variable name="A"/></Variables>
<Values>0.2 0.8 0.5 0.5</Values></Potential></Potentials></ProbNet></ProbModelXML>"""
NETICA = b"""// Netica
bnet x { visual V1 { font = f {size= 9;}; };
node A { kind = NATURE; states = (yes, no); parents = (); probs = (0.2, 0.8); };
node B { discrete = FALSE; levels = (0, 1, INFINITY); parents = (A);
  probs = ((0.3333, 0.6667), // yes
           (@imposs, @imposs)); };
node C { chance = DETERMIN; numstates = 2; parents = (B, A); functable = (#0, #1, #1, #0); };
};"""


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The file with a few flips, cuts, copies, words put in, and pieces swapped."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at = rng.randrange(len(out) + 1)
        end = min(len(out), at + rng.choice([1, 1, 2, 4, 16, 100]))
        how = rng.randrange(6)
        if how == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif how == 1:
            del out[at:end]
        elif how == 2:
            out[at:at] = out[at:end] * rng.choice([1, 1, 2, 50])
        elif how == 3:
            out[at:at] = rng.choice(WORDS)
        elif how == 4:
            parts = bytes(out).split()
            if len(parts) > 1:
                i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
                first, second = parts[i], parts[j]
                place = bytes(out).find(first, rng.randrange(len(out)))
                if place >= 0:
                    out[place : place + len(first)] = second
        else:
            out[at:end] = bytes(rng.randrange(256) for _ in range(end - at))
    return bytes(out)


def cases(format: str, count: int, seed: int = 20240229) -> Iterator[bytes]:
    """Mutations of the valid files, the same on every run."""
    rng = random.Random(f"{format} {seed}")
    starts = seeds(format)
    for i in range(count):
        yield mutated(starts[i % len(starts)], rng)
