"""The report of a project's method over the API."""

import json

import pytest
from django.core.cache import cache

from scoring import method_reports
from scoring.method_paragraph import report_json
from tests.annotate.api.asking import Script
from tests.factories import make_cast, make_item, make_member, make_project
from tests.scoring.readings import make_reading, question, reader_run

pytestmark = pytest.mark.django_db
TEXT = "Run r7 of the lower zone is done."


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    cache.clear()
    settings = method_reports.settings_of
    monkeypatch.setattr(
        method_reports,
        "settings_of",
        lambda method, project, given: settings(method, project, {"n_resamples": 100, **given}),
    )


@pytest.fixture
def cast(db):
    cast = make_cast()
    run = reader_run(cast.project)
    for place in range(3):
        make_reading(run, make_item(cast.project, text=TEXT), *([question("r7", TEXT)] if place else []))
    return cast


def test_it_is_what_the_page_and_the_command_say(cast):
    response = Script(cast.lea).get(f"projects/{cast.project.slug}/report/")
    assert response.status_code == 200
    said = response.json()
    assert said == json.loads(json.dumps(report_json(method_reports.shown_method(cast.project))))
    (rate,) = (row for table in said["tables"] if table["name"] == "reader" for row in table["rows"][:1])
    assert (rate["metric"], rate["k"], rate["n"]) == ("failure_rate", 2, 3)


def test_what_is_not_there_is_refused_by_name(cast):
    script = Script(cast.lea)
    for query in ("run=9", "protocol=9", "checker_run=1", "phase=practice", "run=x"):
        response = script.get(f"projects/{cast.project.slug}/report/?{query}")
        (problem,) = response.json()["problems"]
        assert (response.status_code, problem["field"]) == (400, query.partition("=")[0])


def test_a_kind_without_a_method_has_none(cast):
    other = make_project(kind="choice")
    response = Script(make_member(other, "max", "lead")).get(f"projects/{other.slug}/report/")
    assert (response.status_code, response.json()["problems"][0]["code"]) == (409, "no_method")


@pytest.mark.parametrize("who", ["ana", "rita"])
def test_it_is_for_leads(cast, who):
    script = Script(getattr(cast, who))
    assert script.get(f"projects/{cast.project.slug}/report/").status_code == 404
