"""'credo classify': tables, texts, reading options, saved models, files of several kinds."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import credo as cr
from credo.cli import app
from credo.cli.classify_rows import Classifier
from credo.cli.commands import classify
from credo.errors import CredoError
from credo.estimators import NaiveBayes

# --- `credo classify`: small tables, reading options, renamed columns, saved models, files of
#     rows ---


def run(*arguments):
    return CliRunner().invoke(app, ["classify", *map(str, arguments)])


def refused(*arguments):
    with pytest.raises(CredoError) as caught:
        CliRunner().invoke(
            app, ["classify", *map(str, arguments)], catch_exceptions=False, standalone_mode=False
        )
    return str(caught.value)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("name", "target", "folds"), [
    ("gender_measurements", "sex", 4), ("spam_emails", "Spam", 2),
])  # fmt: skip
@pytest.mark.parametrize("method", ["naive-bayes", "tan", "aode"])
def test_a_small_table_has_fewer_folds(shared_tables, name, target, folds, method):
    path = shared_tables / f"{name}.csv"
    done = run(path, "--target", target, "--method", method)
    assert done.exit_code == 0, done.output
    assert f"{folds}-fold cross-validation" in done.output
    assert f"judged by {folds} folds instead of 5, since no class has more than" in done.output
    told = refused(path, "--target", target, "--cv", "5")
    assert f"cv must be a whole number between 2 and {folds}" in told


def test_one_row_of_each_class_is_not_judged(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("x,z,y\nu,s,a\nv,t,b\n")
    done = run(path, "--target", "y")
    assert done.exit_code == 0, done.output
    assert "not cross-validated, since no class has two rows" in done.output


def test_what_the_figures_mean(shared_tables):
    done = run(shared_tables / "titanic.csv", "--target", "Survived")
    assert "always saying the most frequent class: accuracy 0.6162" in done.output
    assert "a slope below 1 means too sure" in done.output
    told = json.loads(run(shared_tables / "titanic.csv", "--target", "Survived", "--json").output)
    assert told["cross_validation"]["baseline_accuracy"] == pytest.approx(549 / 891)
    assert told["cross_validation"]["folds"] == 5


def test_a_stream_says_that_it_is_not_judged(shared_tables):
    done = run(
        shared_tables / "titanic.csv", "--target", "Survived", "--memory", "10KB", "--cv", "3",
        "--json",
    )  # fmt: skip
    told = json.loads(done.output)
    assert "cross_validation" not in told
    assert any("read as a stream" in note for note in told["notes"])


@pytest.mark.parametrize("method", ["tan", "aode"])
def test_a_stream_is_learned_as_the_table_is(shared_tables, method, monkeypatch):
    path = shared_tables / "titanic.csv"
    more = ["--target", "Survived", "--method", method, "--cv", "0", "--predict", path, "--json"]
    expected = json.loads(run(path, *more).output)["predictions"]
    monkeypatch.setattr(cr.data.Stream, "load", None)  # never all rows at once
    assert json.loads(run(path, *more, "--memory", "10KB").output)["predictions"] == expected


@pytest.mark.parametrize("method", ["naive-bayes", "tan", "aode"])
def test_states_that_training_did_not_show(tmp_path, method):
    path, new = tmp_path / "rows.csv", tmp_path / "new.csv"
    path.write_text("x,z,y\n" + "u,s,a\nv,t,b\nu,t,a\nv,s,b\n" * 5)
    new.write_text("x,z\nu,s\nw,t\n")
    more = [path, "--target", "y", "--method", method, "--cv", "0", "--predict", new, "--json"]
    told = json.loads(run(*more).output)
    assert any("taken as missing: 'x' ('w')" in note for note in told["notes"])
    assert "State 'w' is not one of 'x'" in refused(*more, "--unseen", "error")
    smooth = json.loads(run(*more, "--unseen", "smooth").output)
    assert smooth["notes"] == []
    assert smooth["predictions"][0] == told["predictions"][0]
    clf = Classifier(method, 1.0, "smooth").estimator().fit(cr.read(path), "y")
    expected = clf.predict_proba(cr.read(new, {"x": "discrete", "z": "discrete"}))[1]
    assert smooth["predictions"][1]["p"] == expected.tolist()


def test_where_unseen_means_nothing(tmp_path, shared_tables):
    path, net = tmp_path / "rows.csv", tmp_path / "net.bif"
    path.write_text("x,z,y\n" + "u,s,a\nv,t,b\nu,t,a\nv,s,b\n" * 5)
    run(path, "--target", "y", "--method", "tan", "-o", net)
    given = ["--model", net, "--target", "y", "--predict", path, "--unseen"]
    assert "smooth needs the counts of training" in refused(*given, "smooth")
    assert run(*given, "error").exit_code == 0
    mail = shared_tables / "sms_spam.csv.gz"
    told = refused(mail, "--target", "label", "--unseen", "error")
    assert "Leave --unseen out for free text" in told


def test_a_row_of_a_fold_has_its_number_in_the_file(shared_tables):
    told = refused(shared_tables / "titanic.csv", "--target", "Survived", "--smoothing", "0")
    assert "Row 679 has probability zero in every class: Parch=6 was never seen" in told
    assert "--cv 0" in told
    row = cr.read(shared_tables / "titanic.csv").codes("Parch")[678]
    assert cr.read(shared_tables / "titanic.csv").schema["Parch"].states[row] == 6


@pytest.mark.parametrize("method", ["naive-bayes", "tan", "aode"])
def test_a_renamed_column_is_told(shared_tables, tmp_path, method):
    path, new = shared_tables / "titanic.csv", tmp_path / "ren.csv"
    text = path.read_text(encoding="utf-8")
    new.write_text(text.replace("Sex", "sex", 1), encoding="utf-8")
    more = ["--target", "Survived", "--method", method, "--cv", "0"]
    done = run(path, *more, "--predict", new)
    assert "'Sex' is not in ren.csv and is taken as missing; did you mean 'sex'?" in done.output
    told = refused(path, *more, "--predict", shared_tables / "iris.csv")
    assert "iris.csv has no column of the model. Its features are 'Pclass', 'Sex'" in told


@pytest.mark.parametrize("method", ["naive-bayes", "tan"])
def test_new_rows_are_read_with_the_same_options(tmp_path, method):
    path = tmp_path / "odd.csv"
    path.write_bytes("a;b;y\nx;u;0\nÄ;v;1\nx;v;1\n-;u;0\nÄ;-;1\n".encode("latin1"))
    done = run(path, "--target", "y", "--encoding", "latin1", "--delimiter", ";", "--missing", "-",
               "--predict", path, "--cv", "0", "--json", "--method", method)  # fmt: skip
    told = json.loads(done.output)
    assert told["notes"] == [] and len(told["predictions"]) == 5
    if method == "naive-bayes":
        clean = {"a": ["x", "Ä", "x", None, "Ä"], "b": ["u", "v", "v", "u", None]}
        expected = NaiveBayes().fit(clean, [0, 1, 1, 0, 1]).predict_proba(clean)
        assert np.array([p["p"] for p in told["predictions"]]) == pytest.approx(expected)


@pytest.mark.parametrize("ending", ["credo", "bif"])
@pytest.mark.parametrize("method", ["naive-bayes", "tan"])
def test_a_saved_model_predicts(shared_tables, tmp_path, method, ending):
    path, model = shared_tables / "penguins.csv", tmp_path / f"sp.{ending}"
    if method == "naive-bayes" and ending == "bif":
        path = shared_tables / "house_votes_84.csv"  # a .bif has no numbers
    target = "species" if path.name == "penguins.csv" else "Class"
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    done = run(path, "--target", target, "--method", method, "--cv", "0", "-o", model,
               "--predict", path, "-o", first)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert f"wrote {model}" in done.output and f"wrote {first}" in done.output
    done = run("--model", model, "--target", target, "--predict", path, "-o", second)
    assert done.exit_code == 0, done.output
    one, two = rows_of(first), rows_of(second)
    assert len(one) == len(two) == len(cr.read(path))
    for a, b in zip(one, two, strict=True):
        assert a[target] == b[target]
        for name in a:
            if name != target:
                assert float(a[name]) == pytest.approx(float(b[name]), abs=1e-6)


def test_what_does_not_go_together(shared_tables, tmp_path):
    path = shared_tables / "play_tennis.csv"
    model = tmp_path / "m.credo"
    assert run(path, "--target", "PlayTennis", "--cv", "0", "-o", model).exit_code == 0
    told = refused("--model", model, "--target", "PlayTennis")
    assert "--model predicts the rows of --predict" in told
    told = refused(path, "--target", "PlayTennis", "-o", tmp_path / "rows.csv")
    assert "is a file of rows, which predictions are written to" in told
    assert "A TABLE to learn from is needed" in refused("--target", "PlayTennis")
    told = refused("--model", model, "--target", "Play", "--predict", path)
    assert "There are 'PlayTennis'" in told
    told = refused(path, "--target", "PlayTennis", "-o", "a.bif", "-o", "b.bif")
    assert "once for the model and once for the predictions" in told


def test_numbers_are_modelled_as_asked(shared_tables, tmp_path):
    table = shared_tables / "iris.csv"
    model = tmp_path / "m.credo"
    done = run(table, "--target", "target", "--cv", 0, "--numbers", "binned", "-o", model)
    assert done.exit_code == 0, done.output
    assert all(v.is_discrete for v in cr.load(model).variables)
    name = next(n for n in cr.read(table).schema.names if n != "target")
    done = run(table, "--target", "target", "--cv", 0, "--numbers", f"{name}=binned", "-o", model)
    assert done.exit_code == 0 and cr.load(model).variable(name).is_discrete
    told = refused(table, "--target", "target", "--numbers", "log")
    assert "numbers must be 'auto', 'gaussian', 'transformed' or 'binned', got 'log'" in told
    told = refused(table, "--target", "target", "--method", "tan", "--numbers", "binned")
    assert "--numbers is for naive Bayes" in told


def test_rows_that_are_not_there_are_refused_before_anything_is_learned(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "u,p\nv,q\n" * 20)
    monkeypatch.setattr(classify, "read_from", lambda **_: pytest.fail("the table was read"))
    for name, told in (("nofile.csv", "There is no file"), ("rows.xyz", "There is no file")):
        assert told in refused(path, "--target", "y", "--predict", tmp_path / name)


# --- `credo classify` of a column of free text ---


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


def run_classify_text(*arguments):
    return CliRunner().invoke(app, ["classify", *arguments])


def test_a_column_named(mail):
    done = run_classify_text(mail, "--target", "folder", "--text", "body", "--cv", "3")
    assert done.exit_code == 0, done.output
    assert "learned from 6 texts in 'body' with" in done.output
    assert "free" in done.output and "lecture" in done.output
    assert "3-fold cross-validation" in done.output
    assert "1 rows without a class were left out" in done.output
    assert "only 'body' was used" in done.output


def test_json_and_predictions(mail, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text('body,other\n"a free prize",1\n,2\n"the lecture",3\n')
    done = run_classify_text(mail, "--target", "folder", "--text", "body", "--cv", "0", "--json",
               "--predict", str(new))  # fmt: skip
    told = json.loads(done.output)
    assert [p["class"] for p in told["predictions"]][::2] == ["spam", "ham"]
    assert told["predictions"][1]["p"] == pytest.approx([0.5, 0.5])  # no word: the prior
    assert told["text"] == "body"
    assert told["telling_words"]["spam"][0]["word"] == "free"


def test_the_only_column_is_found(shared_tables):
    done = run_classify_text(str(shared_tables / "sms_spam.csv.gz"), "--target", "label", "--json")
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
