"""On what faults happen: an installation on SQLite and one on a PostgreSQL that keeps what it
reports."""

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
