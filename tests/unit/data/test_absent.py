"""Columns that rows lack: told where they seem to be renamed, and not where they are left out."""

import pytest

import credo as cr
from credo.data.columns.absent import absent_columns
from credo.errors import CredoWarning, InputError


@pytest.mark.parametrize(
    ("wanted", "given", "alike"),
    [
        ("Sex", ["sex", "Age"], "sex"),
        ("bill_length_mm", ["Bill length (mm)"], "Bill length (mm)"),
        ("temperature", ["temprature"], "temprature"),
        ("x1", ["x2", "x11"], None),
        ("income", ["outcome", "id"], None),
        ("age", [], None),
    ],
)
def test_renamed_columns(wanted, given, alike):
    told = absent_columns([wanted], given, near=True)
    assert told == (
        []
        if alike is None
        else [f"{wanted!r} is not in the rows and is taken as missing; did you mean {alike!r}?"]
    )
    assert len(absent_columns([wanted], given)) == 1


@pytest.fixture(scope="module")
def net():
    return cr.naive_bayes(cr.examples.play_tennis(), "PlayTennis").network()


def test_a_network_tells_of_renamed_columns(net):
    with pytest.warns(CredoWarning, match="'Wind' is not in the rows .* did you mean 'wind'"):
        p = net.predict_proba({"wind": ["Weak"], "Outlook": ["Sunny"]}, "PlayTennis")
    assert p == pytest.approx(net.predict_proba({"Outlook": ["Sunny"]}, "PlayTennis"))
    with pytest.warns(CredoWarning, match="did you mean 'wind'"):
        net.log_likelihood(cr.read({"wind": ["Weak", "Strong"], "Outlook": ["Sunny", "Rain"]}))
    with pytest.raises(InputError, match="no column of the model but 'PlayTennis'"):
        net.predict_proba({"wind": ["Weak"]}, "PlayTennis")


def test_a_column_left_out_on_purpose_is_no_news(net):
    assert net.predict_proba({"Outlook": ["Sunny"], "day": [3]}, "PlayTennis").shape == (1, 2)
