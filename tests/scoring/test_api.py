"""The figures by the API are those of the page and the command."""

import json

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Round
from scoring import comparing
from scoring.comparing import agreement_report
from tests.annotate.api.asking import Script, codes
from tests.factories import make_annotation, make_cast, make_item, make_protocol, make_round, make_submitted

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db, monkeypatch):
    cache.clear()
    monkeypatch.setattr(comparing, "N_RESAMPLES", 20)
    cast = make_cast()
    for phase, labels in (("main", ["readable", "readable", "unrepairable_or_no_answer"]), ("pilot", ["readable"])):
        for label in labels:
            item = make_item(cast.project, phase=phase)
            make_submitted(cast.ana, item, label)
            make_submitted(cast.ben, item, "readable")
    return cast


@pytest.fixture
def lea(cast):
    return Script(cast.lea)


def address(cast, query=""):
    return f"projects/{cast.project.slug}/agreement/{query}"


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("", {}),
        ("?phase=pilot", {"phase": "pilot"}),
        ("?measure=label", {"measure": "label"}),
        ("?protocol=1&measure=fail", {"protocol": 1, "measure": "fail"}),
    ],
)
def test_the_answer_is_the_report_whole_and_to_the_last_digit(cast, lea, query, asked):
    response = lea.get(address(cast, query))
    assert response.status_code == 200
    assert response.json() == json.loads(json.dumps(agreement_report(cast.project, **asked).as_dict()))


def test_phase_and_protocol_split_the_labels(cast, lea):
    make_protocol(cast.project)
    again = make_round(cast.project, purpose=Round.Purpose.PROTOCOL)
    item = make_item(cast.project)
    for member in (cast.ana, cast.ben):
        make_submitted(member, item, "readable", round=again)
    newest, older, pilot = (lea.get(address(cast, query)).json() for query in ("", "?protocol=1", "?phase=pilot"))
    n_items = [report["measures"][0]["agreement"]["n_items"] for report in (newest, older, pilot)]
    assert n_items == [1, 3, 1]
    assert newest["protocols"] == [{"protocol": 1, "n_labels": 6}, {"protocol": 2, "n_labels": 2}]
    assert [report["is_result"] for report in (newest, older, pilot)] == [True, True, False]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("?phase=practice", ("phase", "unknown_value")),
        ("?measure=kappa", ("measure", "unknown_measure")),
        ("?protocol=9", ("protocol", "unknown_protocol")),
        ("?protocol=x", ("protocol", "wrong_type")),
        ("?protocol=0", ("protocol", "out_of_range")),
        ("?protocol=99999999999999999999", ("protocol", "out_of_range")),
        ("?rater=a1", ("rater", "unknown_filter")),
    ],
)
def test_what_there_is_not_is_refused_by_name(cast, lea, query, problem):
    response = lea.get(address(cast, query))
    assert response.status_code == 400
    assert codes(response) == {problem}


def test_labels_that_make_no_table_are_said_to(cast, lea):
    assignment = make_submitted(cast.ana, make_item(cast.project))
    second = make_submitted(cast.ana, assignment.item, round=make_round(cast.project, closed_at=assignment.ended_at))
    make_annotation(second)
    response = lea.get(address(cast))
    assert response.status_code == 409
    assert {code for _, code in codes(response)} == {"duplicate_rating"}


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_figures_are_for_leads(cast, who):
    script = Script(getattr(cast, who))
    response = script.get(address(cast))
    assert (response.status_code, response.content) == (404, script.get("never-was/").content)


@pytest.mark.parametrize("n", [1, 20])
def test_it_takes_a_fixed_number_of_statements(cast, lea, n):
    for _ in range(n):
        make_submitted(cast.ana, make_item(cast.project))
    for expected in (24, 8):  # the second time the stored report is shown
        with CaptureQueriesContext(connection) as captured:
            assert lea.get(address(cast)).status_code == 200
        assert len(captured) == expected
