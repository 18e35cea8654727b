"""The page of a project's method report, and its files."""

import csv
import html
import io
import json
import re

import pytest
from django.urls import reverse

from annotate.models import Person
from scoring import method_reports
from scoring.methods import replies
from tests.factories import make_cast, make_item, make_member, make_project, make_submitted
from tests.scoring.readings import checker_run, make_checking, make_reading, question, reader_run

pytestmark = pytest.mark.django_db
TEXT = "Run r7 of the lower zone is done."


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    settings = method_reports.settings_of
    monkeypatch.setattr(
        method_reports,
        "settings_of",
        lambda method, project, given: settings(method, project, {"n_resamples": 100, **given}),
    )


@pytest.fixture
def cast(db, client):
    cast = make_cast()
    client.force_login(cast.lea.person)
    return cast


def judged(cast, n=3):
    run = reader_run(cast.project)
    for place in range(n):
        item = make_item(cast.project, text=TEXT)
        make_reading(run, item, *([question("r7", TEXT)] if place else []))
        for who in (cast.ana, cast.ben):
            make_submitted(who, item)
    return run


def show(client, cast, name="show_method_report", **query):
    return client.get(reverse(f"scoring:{name}", args=[cast.project.slug]), query)


def words(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def test_the_page_has_the_tables_and_what_they_rest_on(client, cast):
    judged(cast)
    page = show(client, cast)
    text = words(page)
    assert page.status_code == 200
    assert "Run 1 of the judge reader, version 1." in text
    assert "Labels of people: blind rounds, protocol 1; left out: 0 reported problems." in text
    assert "fail 66.7 %" in text
    assert "May the reader stand in for an annotator?" in text
    assert 'aria-current="page">Report' in page.content.decode()


def test_another_run_and_a_protocol_can_be_chosen(client, cast):
    judged(cast)
    second = reader_run(cast.project)
    make_reading(second, make_item(cast.project, text=TEXT))
    make_checking(checker_run(cast.project), make_item(cast.project, text=TEXT))
    assert "fail 0.0 %" in words(show(client, cast))
    page = show(client, cast, run="1", protocol="1")
    assert "fail 66.7 %" in words(page)
    assert "report.csv?run=1&amp;protocol=1" in page.content.decode()
    assert "Run of the checker" in words(page)


def test_the_files_have_the_figures_of_the_page(client, cast):
    judged(cast)
    said = json.loads(show(client, cast, "method_json").content)
    (rate,) = (row for table in said["tables"] if table["name"] == "reader" for row in table["rows"][:1])
    rows = list(csv.DictReader(io.StringIO(show(client, cast, "method_csv").content.decode())))
    (line,) = (row for row in rows if (row["table"], row["metric"]) == ("reader", "failure_rate"))
    assert (rate["metric"], rate["value"]) == ("failure_rate", float(line["value"]))
    assert said["reader"]["number"] == 1


def test_names_that_would_run_in_a_spreadsheet_are_guarded(client, cast):
    person = make_member(cast.project, "mal", code="=1+1")
    judged(cast)
    make_submitted(person, make_item(cast.project, text=TEXT))
    rows = csv.reader(io.StringIO(show(client, cast, "method_csv").content.decode()))
    assert not any(cell.startswith("=") for row in rows for cell in row)


def test_an_empty_project_says_what_to_do(client, cast):
    text = words(show(client, cast))
    assert "No reader has judged this phase yet. Start a run" in text
    assert "Nobody has labelled this phase yet" in text


def test_what_is_not_there_is_said_on_the_page_and_is_no_file(client, cast):
    judged(cast)
    page = show(client, cast, run="7")
    assert (page.status_code, "One of: 1." in words(page)) == (409, True)
    assert show(client, cast, "method_csv", run="7").status_code == 404
    for query in ({"run": "x"}, {"phase": "practice"}, {"protocol": "9" * 30}):
        assert show(client, cast, **query).status_code == 404


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
@pytest.mark.parametrize("name", ["show_method_report", "method_json", "method_csv"])
def test_for_everybody_else_it_is_not_there(client, cast, who, name):
    judged(cast)
    client.force_login(getattr(cast, who).person)
    missing = client.get(reverse(f"scoring:{name}", args=["no-such-project"]))
    response = show(client, cast, name)
    assert (response.status_code, response.content) == (404, missing.content)


def test_a_kind_without_a_method_has_no_report_and_no_link_to_one(client, cast):
    other = make_project(kind="choice")
    make_member(other, cast.lea.person, "lead")
    assert client.get(reverse("scoring:show_method_report", args=[other.slug])).status_code == 404
    page = client.get(reverse("annotate:show_project", args=[other.slug])).content.decode()
    assert "/report/" not in page


def test_the_page_answers_in_chinese_from_the_same_kept_report(client, cast):
    judged(cast)
    show(client, cast)
    Person.objects.filter(pk=cast.lea.person_id).update(interface_language="zh-hans")
    page = show(client, cast)
    assert page["Content-Language"] == "zh-hans"
    assert "信息缺口" in words(page)
    assert cast.project.reports.count() == 1


def test_statements_of_the_page_do_not_grow(client, cast, django_assert_num_queries):
    judged(cast, 2)
    show(client, cast)
    with django_assert_num_queries(STATEMENTS):
        show(client, cast)
    judged(cast, 9)
    show(client, cast)
    with django_assert_num_queries(STATEMENTS):
        show(client, cast)


STATEMENTS = 13


def test_the_method_names_the_kind_it_is_of():
    assert replies.METHOD.kind == "reply"
