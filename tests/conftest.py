"""What holds for every test: which ones touch the database, which ones need data that is no part of the project."""

import os
from pathlib import Path

import pytest
from django.conf import settings
from django.db.backends.sqlite3.base import DatabaseOperations as SqliteOperations

from tests import triggers

pytest_plugins = ["tests.counting"]  # leaves out, in one line, what is marked `shared` where there is no shared data

ROOT = Path(__file__).resolve().parent.parent
SHORT, HOUR, FULL = "short", "hour", "full"
DATABASE_FIXTURES = {
    *("db", "transactional_db", "live_server"),
    *("django_db_reset_sequences", "django_db_serialized_rollback"),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what touches the database before -m chooses, so that `tests/suite.py` can run it on PostgreSQL too."""
    for item in items:
        touches = item.get_closest_marker("django_db") or DATABASE_FIXTURES & set(item.fixturenames)
        if touches and not item.get_closest_marker("sqlite"):
            item.add_marker(pytest.mark.database)


@pytest.fixture(scope="session", autouse=True)
def static_folder(tmp_path_factory):
    """WhiteNoise warns where the folder of collected files is missing, and a warning here is an error. One of our own,
    so that a run of pytest leaves no data folder behind."""
    settings.STATIC_ROOT = tmp_path_factory.mktemp("static")


@pytest.fixture(scope="session", autouse=True)
def emptied_for_the_next_test():
    """Between tests with real commits SQLite is emptied row by row, which the triggers that keep events and releases
    refuse to everybody: they step aside for that moment. PostgreSQL truncates, which they let pass."""
    flush = SqliteOperations.execute_sql_flush

    def flush_without_triggers(self, sql_list):
        with triggers.aside(self.connection):
            flush(self, sql_list)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteOperations, "execute_sql_flush", flush_without_triggers)
        yield


@pytest.fixture(scope="session")
def shared_data():
    """The folder of shared data, for tests marked `shared`."""
    return Path(os.environ.get("SIGHTLINE_SHARED") or ROOT.parent / "shared") / "data"


@pytest.fixture(scope="session")
def scale():
    """`short` in every run of the tests; `./run prove` says `hour` or `full`."""
    return os.environ.get("SIGHTLINE_PROVE", SHORT)


@pytest.fixture(scope="session")
def often(scale):
    """How often: so many times in every run of the tests, in an hour's proof, and in a full one."""

    def choose(short, hour, full=None):
        return {SHORT: short, HOUR: hour, FULL: full or hour}[scale]

    return choose
