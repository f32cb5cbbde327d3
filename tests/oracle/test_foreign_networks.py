"""Network files of other programs, found in public repositories: each is read, or refused by name.

What a second reader says of them: pgmpy 1.1 (bayestNetCrash) and pyAgrum 3.3 (the others, but for
noisy-MAX nodes, which it leaves out), and Netica's own beliefs, which stand in its files.
"""

import os
import re
from pathlib import Path

import pytest

from credo.errors import InputError
from credo.formats import load

BESIDE = Path(__file__).resolve().parents[3] / "shared"
FOLDER = Path(os.environ.get("CREDO_SHARED", BESIDE)) / "data" / "foreign"
FILES = sorted(p.name for p in FOLDER.glob("*.*") if p.suffix != ".md") if FOLDER.is_dir() else []

pytestmark = pytest.mark.skipif(not FILES, reason="the files of others are not on this machine")

REFUSED = {
    "BNBIFXMLReader_file1.bifxml": "There is no variable in the file",
    "dBN.bif": "line 347: There are two tables for 'lasubt_1'",
    "dBN_with_errors.bif": "line 347: There are two tables for 'lasubt_1'",
}
UTILITY = {  # the largest expected utility, by pyAgrum; of the last, where it fails, our own
    "ClemenFigure04.12.xml": 4.6348,
    "IDBIFXMLIO_file.xml": 905.142,
    "Influence_Diagram_Edition1.xdsl": 379.1666666667,
    "mikailo.bifxml": 145.4581567268,
    "Influence_Diagram_auto.xdsl": 164.4663196496,
}
SECOND = {
    "BNBIFXMLReader_file2.bifxml": ("n1", "1", 0.8),
    "CancerMAX.xdsl": ("Smoker", "False", 0.67),
    "Munin1.bif": ("DIFFN_SENS_SEV", "NO", 0.7931998),
    "Water.bif": ("C_NI_12_15", "6", 0.1875),
    "bayestNetCrash_2066500999.bif": ("7", "1", 0.3744344),
    "bayestNetCrash_317014942.bif": ("7", "1", 0.4088542),
    "bayestNetCrash_377240135.bif": ("7", "1", 0.4424294),
    "bayestNetCrash_476171672.bif": ("7", "1", 0.5444539),
    "bayestNetCrash_639118987.bif": ("2", "1", 0.531308),
    "bn_c.bif": ("lo_2", "4", 0.1027054),
    "bn_with_xp.net": ("Z12", "3.0", 0.7268668),
    "dag.bif": ("k", "2", 0.3552207),
    "insurance.bif": ("Cushioning", "Excellent", 0.1613304),
    "randomized_net.xdsl": ("P3", "False", 0.5453944),
    "tmp_network.xdsl": ("P3", "False", 0.4678959),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_or_refused_as_said(name):
    if name in REFUSED:
        with pytest.raises(InputError, match=REFUSED[name]):
            load(FOLDER / name)
        return
    net = load(FOLDER / name)
    if name in UTILITY:
        assert net.solve().utility == pytest.approx(UTILITY[name], abs=1e-9)
        return
    if name in SECOND:
        variable, state, said = SECOND[name]
        assert net.p(variable)[state] == pytest.approx(said, abs=2e-6)


@pytest.mark.parametrize("name", [n for n in FILES if n.endswith(".dne")])
def test_the_beliefs_of_netica(name):
    text = (FOLDER / name).read_text("latin-1")
    marginals = load(FOLDER / name).marginals()
    found = re.findall(r"node (\w+) \{.*?belief = \(([^)]*)\)", text, re.DOTALL)
    assert len(found) == len(marginals)
    for node, beliefs in found:
        said = [float(b) for b in beliefs.split(",")]
        assert list(marginals[node].values()) == pytest.approx(said, abs=1e-6)
