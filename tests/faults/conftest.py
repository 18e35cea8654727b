"""How often each fault happens, and on what: an installation on SQLite and one on a PostgreSQL that keeps what it
reports."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests import programs
from tests.faults import place as places

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.installation)


SHORT, HOUR, FULL = "short", "hour", "full"


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


@pytest.fixture(scope="session")
def folder():
    made = Path(tempfile.mkdtemp(prefix="sightline-faults-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster():
    with programs.cluster(print, programs.DURABLE) as server:
        if server is None:
            pytest.skip(programs.PROGRAMS["postgresql"].remedy)
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def make_place(request, folder, tmp_path):
    """Makes the installation of a test; on PostgreSQL a database of its own."""
    made = []

    def make(**environment):
        url = ""
        if request.param == "postgresql":
            url = request.getfixturevalue("cluster").new_database()
        home = Path(tempfile.mkdtemp(dir=folder))
        made.append(places.Place(home, url, **environment))
        return made[-1]

    make.database = request.param
    yield make
    for one in made:
        one.end()
