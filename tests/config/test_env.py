"""Settings from the environment: a wrong value ends the start with the variable's name."""

import os
import stat
from pathlib import Path

import pytest

from config import env


@pytest.mark.parametrize(
    ("value", "is_on"),
    [("1", True), ("true", True), ("YES", True), (" 1 ", True), ("0", False), ("False", False), ("no", False)],
)
def test_a_switch_is_read(monkeypatch, value, is_on):
    monkeypatch.setenv("A_SWITCH", value)
    assert env.flag("A_SWITCH", default=not is_on) is is_on


def test_what_is_not_set_has_its_default(monkeypatch):
    for value in (None, "", "  "):
        if value is None:
            monkeypatch.delenv("A_NAME", raising=False)
        else:
            monkeypatch.setenv("A_NAME", value)
        assert env.flag("A_NAME") is False
        assert env.flag("A_NAME", default=True) is True
        assert env.number("A_NAME", 7) == 7
        assert env.words("A_NAME", ["x"]) == ["x"]


@pytest.mark.parametrize("value", ["2", "on", "maybe", "ja"])
def test_a_switch_that_is_neither_is_refused_by_name(monkeypatch, value):
    monkeypatch.setenv("SIGHTLINE_HTTPS", value)
    with pytest.raises(env.EnvironmentRefused) as refusal:
        env.flag("SIGHTLINE_HTTPS")
    assert str(refusal.value) == f"SIGHTLINE_HTTPS: {value!r} is no switch. Use 1 or 0."
    assert isinstance(refusal.value, SystemExit)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", "1e6", "²"])
def test_a_number_that_is_none_is_refused_by_name(monkeypatch, value):
    monkeypatch.setenv("IMPORT_MAX_NESTING", value)
    with pytest.raises(env.EnvironmentRefused, match=r"^IMPORT_MAX_NESTING: .* is no whole number of at least 1\."):
        env.number("IMPORT_MAX_NESTING", 100)
    monkeypatch.setenv("IMPORT_MAX_NESTING", "12")
    assert env.number("IMPORT_MAX_NESTING", 100) == 12


def test_words_are_separated_by_commas(monkeypatch):
    monkeypatch.setenv("SIGHTLINE_ALLOWED_HOSTS", "a.example, b.example,,")
    assert env.words("SIGHTLINE_ALLOWED_HOSTS", ["localhost"]) == ["a.example", "b.example"]


def test_places_are_hosts_with_their_ports(monkeypatch):
    monkeypatch.delenv("LLM_ALLOWED_HOSTS", raising=False)
    assert env.places("LLM_ALLOWED_HOSTS") == []
    monkeypatch.setenv("LLM_ALLOWED_HOSTS", "Model.lab:8080, 10.0.0.5:80,[::1]:9")
    assert env.places("LLM_ALLOWED_HOSTS") == ["model.lab:8080", "10.0.0.5:80", "[::1]:9"]


@pytest.mark.parametrize("value", ["model.lab", "model.lab:", ":80", "http://a:80", "a@c:80", "a:0", "a:99999", "::1"])
def test_a_place_without_host_or_port_is_refused_by_name(monkeypatch, value):
    monkeypatch.setenv("LLM_ALLOWED_HOSTS", f"fine.lab:80,{value}")
    with pytest.raises(env.EnvironmentRefused, match=r"^LLM_ALLOWED_HOSTS: .* is no HOST:PORT\."):
        env.places("LLM_ALLOWED_HOSTS")


def test_the_data_folder_is_absolute_and_beside_run_unless_it_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("SIGHTLINE_DATA", raising=False)
    assert env.data_folder(tmp_path) == tmp_path / "data"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGHTLINE_DATA", "elsewhere")
    assert env.data_folder(Path("/srv/sightline")) == tmp_path / "elsewhere"


# The secret key


@pytest.fixture
def no_key(monkeypatch):
    monkeypatch.delenv("SIGHTLINE_SECRET_KEY", raising=False)


def test_the_secret_key_is_made_once_for_its_owner_alone(no_key, tmp_path):
    key = env.secret_key(tmp_path)
    assert len(key) >= 50
    assert env.secret_key(tmp_path) == key
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]
    assert stat.S_IMODE((tmp_path / "secret-key").stat().st_mode) == 0o600


def test_of_two_processes_that_start_at_once_one_key_counts(no_key, monkeypatch, tmp_path):
    link = os.link

    def other_was_first(made, path):
        path.write_text("the key of the other process", "ascii")
        link(made, path)

    monkeypatch.setattr(os, "link", other_was_first)
    assert env.secret_key(tmp_path) == "the key of the other process"
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]


def test_a_command_without_a_data_folder_leaves_none_behind(no_key, tmp_path):
    folder = tmp_path / "data"
    assert env.secret_key(folder) != env.secret_key(folder)
    assert not folder.exists()


def test_a_given_key_is_used_and_a_short_one_refused_by_name(monkeypatch, tmp_path):
    monkeypatch.setenv("SIGHTLINE_SECRET_KEY", "k" * 32)
    assert env.secret_key(tmp_path) == "k" * 32
    monkeypatch.setenv("SIGHTLINE_SECRET_KEY", "k" * 31)
    with pytest.raises(env.EnvironmentRefused, match=r"^SIGHTLINE_SECRET_KEY: is shorter than 32 characters\."):
        env.secret_key(tmp_path)
    assert not list(tmp_path.iterdir())


# The database


def database(monkeypatch, url, folder=Path("/data")):
    monkeypatch.setenv("DATABASE_URL", url)
    return env.database(folder)


def test_without_an_address_it_is_sqlite_in_the_data_folder(monkeypatch):
    entry = database(monkeypatch, "")
    assert (entry["ENGINE"], entry["NAME"]) == ("django.db.backends.sqlite3", Path("/data/db.sqlite3"))
    assert entry["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        assert pragma in entry["OPTIONS"]["init_command"]


def test_an_sqlite_address_names_its_file(monkeypatch):
    assert database(monkeypatch, "sqlite:////srv/my%20lab/db.sqlite3")["NAME"] == Path("//srv/my lab/db.sqlite3")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (
            "postgresql://ana:p%40ss@db.example:5433/replies",
            {"NAME": "replies", "USER": "ana", "PASSWORD": "p@ss", "HOST": "db.example", "PORT": "5433"},
        ),
        (
            "postgres://app@/replies?host=/run/postgresql",
            {"NAME": "replies", "USER": "app", "PASSWORD": "", "HOST": "/run/postgresql", "PORT": ""},
        ),
        (
            "postgresql:///replies?host=/run/pg&port=5434",
            {"NAME": "replies", "USER": "", "PASSWORD": "", "HOST": "/run/pg", "PORT": "5434"},
        ),
    ],
)
def test_a_postgresql_address_is_taken_apart(monkeypatch, url, expected):
    entry = database(monkeypatch, url)
    assert entry["ENGINE"] == "django.db.backends.postgresql"
    assert {name: entry[name] for name in expected} == expected
    assert entry["OPTIONS"] == env.NOTICED


def test_other_options_of_an_address_are_handed_on(monkeypatch):
    entry = database(monkeypatch, "postgresql://app@db.example/replies?sslmode=require")
    assert entry["OPTIONS"] == {**env.NOTICED, "sslmode": "require"}


def test_a_wait_of_an_address_goes_before_ours(monkeypatch):
    entry = database(monkeypatch, "postgresql://app@db.example/replies?connect_timeout=30")
    assert entry["OPTIONS"] == {**env.NOTICED, "connect_timeout": "30"}


@pytest.mark.parametrize(
    "url", ["mysql://app@db/replies", "postgresql://app@db", "postgresql://app@db/", "db.sqlite3", "postgresql://app@db:x/y"]
)
def test_an_address_that_is_none_is_refused_by_name(monkeypatch, url):
    with pytest.raises(env.EnvironmentRefused, match=r"^DATABASE_URL: is no PostgreSQL or SQLite address\. Use "):
        database(monkeypatch, url)


# The broker


@pytest.mark.parametrize("url", ["", "redis://:secret@cache.example:6379/1", "rediss://cache.example", "amqps://a@b//"])
def test_an_address_of_a_broker_is_taken_as_it_is(monkeypatch, url):
    monkeypatch.setenv("SIGHTLINE_BROKER_URL", url)
    assert env.broker_url() == url


@pytest.mark.parametrize("url", ["http://cache.example", "redis://", "cache.example", "redis://cache.example:x", "sqs://a"])
def test_an_address_that_is_no_broker_is_refused_by_name(monkeypatch, url):
    monkeypatch.setenv("SIGHTLINE_BROKER_URL", url)
    with pytest.raises(env.EnvironmentRefused, match=r"^SIGHTLINE_BROKER_URL: is no address of a broker\. Use "):
        env.broker_url()


def test_without_one_messages_are_files_in_one_folder():
    options = env.broker_options(Path("/data/broker"))
    assert options["data_folder_in"] == options["data_folder_out"] == "/data/broker/messages"
    assert options["control_folder"] == "/data/broker/control"
    assert 0.1 <= options["polling_interval"] <= 0.5
    assert env.broker_options(None) == {}
