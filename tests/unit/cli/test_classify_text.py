"""`credo classify` of a column of free text."""

import json

import pytest
from click.testing import CliRunner

from credo.cli import app
from credo.errors import CredoError

MAIL = [
    ("win a free prize now", "spam"), ("free offer claim your prize", "spam"),
    ("claim the free offer today", "spam"), ("are you coming to the lecture", "ham"),
    ("the lecture is at ten", "ham"), ("see you at home", "ham"), ("no label here", ""),
]  # fmt: skip


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("body,folder,size\n" + "".join(f'"{t}",{c},{len(t)}\n' for t, c in MAIL))
    return str(path)


def run(*arguments):
    return CliRunner().invoke(app, ["classify", *arguments])


def test_a_column_named(mail):
    done = run(mail, "--target", "folder", "--text", "body", "--cv", "3")
    assert done.exit_code == 0, done.output
    assert "learned from 6 texts in 'body' with" in done.output
    assert "free" in done.output and "lecture" in done.output
    assert "3-fold cross-validation" in done.output
    assert "1 rows without a class were left out" in done.output
    assert "only 'body' was used" in done.output


def test_json_and_predictions(mail, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text('body,other\n"a free prize",1\n,2\n"the lecture",3\n')
    done = run(mail, "--target", "folder", "--text", "body", "--cv", "0", "--json",
               "--predict", str(new))  # fmt: skip
    told = json.loads(done.output)
    assert [p["class"] for p in told["predictions"]][::2] == ["spam", "ham"]
    assert told["predictions"][1]["p"] == pytest.approx([0.5, 0.5])  # no word: the prior
    assert told["text"] == "body"
    assert told["telling_words"]["spam"][0]["word"] == "free"


def test_the_only_column_is_found(shared_tables):
    done = run(str(shared_tables / "sms_spam.csv.gz"), "--target", "label", "--json")
    told = json.loads(done.output)
    assert told["text"] == "text"
    assert told["cross_validation"]["accuracy"] > 0.98
    assert told["words"] == 8753


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--text", "bdy"], "Did you mean 'body'"),
        (["--text", "folder"], "two columns"),
        (["--text", "body", "--method", "tan"], "not by 'tan'"),
        (["--text", "body", "-o", "m.bif"], "no file format"),
        (["--text", "body", "--cv", "9"], "between 2 and 3"),
        (["--text", "body", "--weights", "size"], "without weights"),
    ],
)
def test_bad_input(mail, arguments, says):
    with pytest.raises(CredoError, match=says):
        CliRunner().invoke(
            app, ["classify", mail, "--target", "folder", *arguments],
            catch_exceptions=False, standalone_mode=False,
        )  # fmt: skip


def test_no_feature_at_all(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,same\na,1\nb,1\n")
    with pytest.raises(CredoError, match="no feature to learn 'y' from: 'same'"):
        CliRunner().invoke(app, ["classify", str(path), "--target", "y"],
                           catch_exceptions=False, standalone_mode=False)  # fmt: skip
