"""Runs of a model that only proves the wire: marked wherever they show, in no report."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotate.errors import Refused
from scoring import comparing, endpoints, report_queries, running
from scoring.asking import Cap
from scoring.endpoints import values_of
from scoring.method_reports import as_plain, shown_method
from scoring.models import Endpoint
from scoring.running import Asking, start_run
from tests.factories import make_cast, make_endpoint, make_item
from tests.scoring.readings import make_reading

pytestmark = pytest.mark.django_db
MARK = "proof of the wire"


@pytest.fixture
def cast(db):
    return make_cast()


@pytest.fixture
def item(cast):
    return make_item(cast.project, text="Run r7 is done.")


def started(cast, *, is_proof):
    endpoint = make_endpoint(cast.project, name=f"proof {is_proof}", is_proof=is_proof)
    return start_run(person=None, project=cast.project, judge="reader", asking=Asking(endpoint, Cap(calls=9)))


def pages_of(client, cast, run, item):
    client.force_login(cast.lea.person)
    for name, args in (
        ("list_endpoints", []),
        ("list_runs", []),
        ("show_run", [run.number]),
        ("show_item", [item.pk]),
        ("show_reading", [item.pk]),
    ):
        yield client.get(reverse(f"scoring:{name}", args=[cast.project.slug, *args])).content.decode()


@pytest.mark.parametrize("is_proof", [True, False])
def test_every_page_that_shows_such_a_run_marks_it(client, cast, item, is_proof):
    run = started(cast, is_proof=is_proof)
    make_reading(run, item)
    assert [MARK in page.lower() for page in pages_of(client, cast, run, item)] == [is_proof] * 5


def test_no_report_takes_it_even_if_it_is_the_newest_or_asked_for(cast, item):
    real, proof = started(cast, is_proof=False), started(cast, is_proof=True)
    make_reading(real, item)
    make_reading(proof, item)
    assert report_queries.runs_with_verdicts(cast.project, phase="main") == [real]
    report = shown_method(cast.project, given={"n_resamples": 100})
    assert as_plain(report)["reader"]["number"] == real.number
    for asked in (lambda: shown_method(cast.project, run=proof.number), lambda: compared(cast, proof)):
        with pytest.raises(Refused) as refused:
            asked()
        assert refused.value.problem.field == "run"


def compared(cast, run):
    return comparing.chosen_run(cast.project, "main", run.number)


def test_what_a_run_was_stays_when_its_endpoint_is_said_to_be_another(cast, item):
    run = started(cast, is_proof=True)
    make_reading(run, item)
    endpoint = run.endpoint
    told = {**{name: getattr(values_of(endpoint), name) for name in values_of(endpoint).__slots__}, "is_proof": False}
    endpoints.change_endpoint(person=cast.lea.person, endpoint=endpoint, values=endpoints.EndpointValues(**told))
    assert not Endpoint.objects.get().is_proof
    assert report_queries.runs_with_verdicts(cast.project, phase="main") == []
    assert running.queries.runs_of(cast.project).get().is_proof


def test_the_command_says_it_of_an_endpoint(cast):
    make_endpoint(cast.project, name="small")
    call_command("set_endpoint", cast.project.slug, "small", is_proof="yes")
    assert Endpoint.objects.get(name="small").is_proof
