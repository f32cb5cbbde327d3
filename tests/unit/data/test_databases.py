"""DuckDB's own files."""

import duckdb
import pytest
from click.testing import CliRunner

import credo as cr
from credo import cli
from credo.errors import InputError, TableError, UnknownNameError


@pytest.fixture
def shop(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.sql(
            "create table visits as select i % 3 as n, i % 2 = 0 as b from range(90) t(i)"
        )
    return path


def with_more(path):
    with duckdb.connect(str(path)) as connection:
        connection.sql("create view even as select n from visits where b")
        connection.sql('create schema s; create table s."odd ""name" as select \'x\' as u')
    return path


def test_the_only_table_is_read(shop):
    table = cr.read(shop)
    with duckdb.connect(str(shop), read_only=True) as connection:
        expected = cr.read(connection.table("visits"))
        assert table.schema.variables == expected.schema.variables and len(table) == 90
        assert table.tally([("b", ["n"])]) == expected.tally([("b", ["n"])])
    stream = cr.read(str(shop), memory=100)
    assert str(stream) == "shop.duckdb, visits: 90 rows, read batch by batch"
    assert stream.tally([("b", ["n"])]) == table.tally([("b", ["n"])])
    assert len(cr.read([shop, shop])) == 180


def test_a_table_or_view_is_named(shop):
    assert len(cr.read(f"{shop}/visits")) == 90
    with_more(shop)
    assert len(cr.read(f"{shop}/even")) == 45
    assert cr.read(f'{shop}/s.odd "name', schema={"u": "discrete"}).schema.names == ("u",)
    with pytest.raises(TableError, match=r"has 3 tables: even, visits, s.odd") as error:
        cr.read(shop)
    assert error.value.hint == f"Name one: {shop}/even"
    with pytest.raises(UnknownNameError, match=r"Table 'visit' is not in shop.duckdb.*'visits'"):
        cr.read(f"{shop}/visit")


def test_what_cannot_be_read(shop, tmp_path):
    with pytest.raises(InputError, match=r"shop\.duckdb is none"):
        cr.read(shop, delimiter=";")
    with pytest.raises(TableError, match="There is no file"):
        cr.read(tmp_path / "other.duckdb" / "visits")
    (tmp_path / "bad.duckdb").write_text("no database\n" * 100)
    with pytest.raises(TableError, match=r"DuckDB cannot open bad.duckdb: .*not a valid"):
        cr.read(tmp_path / "bad.duckdb")
    with duckdb.connect(str(tmp_path / "none.duckdb")):
        pass
    with pytest.raises(TableError, match=r"none.duckdb has no tables\."):
        cr.read(tmp_path / "none.duckdb")
    with duckdb.connect(str(shop)) as connection:
        connection.sql("create view late as select * from visits")
        connection.sql("drop table visits")
        with pytest.raises(TableError, match=r"cannot open shop\.duckdb") as error:
            cr.read(shop)
        assert "open elsewhere" in error.value.hint
    with pytest.raises(TableError, match="DuckDB cannot read 'late'"):
        cr.read(shop)


def test_nothing_is_written(shop):
    before = shop.read_bytes()
    cr.read(shop)
    assert shop.read_bytes() == before and [p.name for p in shop.parent.iterdir()] == [
        "shop.duckdb"
    ]


def test_a_model_goes_beside_the_database(shop):
    run = CliRunner().invoke(cli.app, ["learn", f"{shop}/visits", "--quiet"])
    assert run.exit_code == 0, run.output
    assert cr.load(shop.parent / "visits.credo").names == ("n", "b")
