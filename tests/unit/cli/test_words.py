"""What the library advises, the command line says in its own words."""

import pytest
from click.testing import CliRunner

from credo.cli import app
from credo.cli.words import in_options


@pytest.mark.parametrize(
    ("python", "options"),
    [
        ("Mend the line, or skip such lines with ragged='skip'.", "--skip-ragged"),
        ("Read the table with schema={'a b': 'discrete'} (or 'continuous') to use it.",
         "--kind 'a b=discrete'"),
        
        ("Leave the column out with schema={'a': 'drop'}.", "--drop 'a'"),
        ("Name the kinds in schema= to use them.", "Name their kinds with --kind to use them."),
        ("Mend the cell, or name it in missing= to take it as missing.", "--missing TEXT"),
        ("Give its encoding, for example encoding='latin-1'.", "--encoding latin-1"),
        ("if it should, read it with delimiter='|'", "read it with --delimiter '|'"),
        
        ("Use missing='structural-em'.", "Use --missing-cells structural-em."),
        ("Give max_parents=, or use search='order'.", "Give --max-parents, or use --search order."),
        ("Name its variable with target='…'.", "--target NAME"),
        
        ("Learn its parameters with a prior: cr.fit(net, rows, prior=cr.BDeu(1)).",
         "credo fit MODEL TABLE --prior bdeu -o new.credo"),
        ("Give more rows, or a prior: prior={'Weight': cr.LinePrior(kappa=1, alpha=2)}.",
         "or a prior: --prior bdeu."),
        
        ("or raise memory=.", "or raise --memory."),
        
        ("k_max must be a whole number, 2 or more, got 1.", "--k-max must be"),
        
        
        
        ("A tree is cut by k= or by height=, not both.", "cut by --k or by --height, not both."),
        ("height= cuts a tree, and k-means makes none. Use k=.", "--height cuts a tree"),
        
        ("k-means chooses k by 'gap', 'silhouette', got by='bic'.", "got --by 'bic'"),
        ("EM (cr.em) uses them too", "EM (credo em) uses them too"),
    ],
)  # fmt: skip
def test_advice(python, options):
    said = in_options(python)
    assert options in said and "cr." not in said


def test_other_text_is_left_alone():
    for text in ("P(k=3 | level=2) = 0.1", "target=True and method=old cannot be true together"):
        assert in_options(text) == text
    assert in_options("P(lung=yes | smoke=no) = 0.1") == "P(lung=yes | smoke=no) = 0.1"


def test_the_notes_of_a_report_are_in_options_too(tmp_path):
    from click.testing import CliRunner

    from credo.cli.commands.schema import command

    path = tmp_path / "t.csv"
    path.write_text("a,b,e\nnone,1.0,\nx,2.0,\ny,1.0,\n")
    for words in ([str(path)], [str(path), "--json"]):
        said = CliRunner().invoke(command, words).output
        assert "take it with --missing '+none' if it is missing" in said
        assert "--kind 'b=continuous' keeps numbers" in said
        assert "missing=" not in said and "schema=" not in said


def test_several_columns_in_one_option(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Sex,Age,Name\nmale,22,Ann\nfemale,38,Bob\nmale,26,Cy\n")
    for given, cure in (
        (("--drop", "Age,Name"), "--drop Age --drop Name"),
        (("--kind", "Age, Name=discrete"), "--kind Age=discrete --kind Name=discrete"),
    ):
        found = CliRunner().invoke(app, ["schema", str(path), *given])
        assert f"Name each by itself: {cure}." in in_options(str(found.exception))
    found = CliRunner().invoke(app, ["schema", str(path), "--states", "Sex=male"])
    cure = "Did you mean 'male'? If not, add it to its --states."
    assert cure in in_options(str(found.exception))


def test_every_option_named_is_one():
    from credo.cli import app
    from credo.cli.words import _OPTIONS

    commands = [app.get_command(None, name) for name in app.list_commands(None)]
    there = {o for c in commands for p in c.params for o in p.opts}
    assert set(_OPTIONS.values()) <= there
