"""A lead's pages of judges."""

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate import work
from annotate.models import Work, WorkGroup
from scoring.models import Run, Verdict
from tests.factories import CONVERSATION, make_cast, make_item, make_run, make_trace, make_work
from tests.scoring.judges_here import first_words, judge_that, known

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(db, client):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    items = [make_item(cast.project, trace=trace, reply=anchor) for anchor in (3, 5)]
    client.force_login(cast.lea.person)
    return SimpleNamespace(project=cast.project, lea=cast.lea.person, ana=cast.ana.person, items=items, client=client)


def address(name, cast, *args):
    return reverse(f"scoring:{name}", args=[cast.project.slug, *args])


def start(cast, **posted):
    return cast.client.post(address("start_run", cast), {"judge": "lexical", "phases": ["main"], **posted})


def test_a_run_is_started_from_the_page_and_shown_to_its_end(cast):
    assert b"No judge has run yet" in cast.client.get(address("list_runs", cast)).content
    response = start(cast)
    assert response.headers["Location"] == address("show_run", cast, 1)
    page = cast.client.get(response.headers["Location"]).content.decode()
    assert "0 of 2 judged." in page
    assert 'hx-trigger="every 2s"' in page
    work.drain()
    piece = cast.client.get(response.headers["Location"], headers={"HX-Request": "true"}).content.decode()
    assert "Done: 2 verdicts." in piece
    assert "hx-trigger" not in piece
    assert "<html" not in piece
    assert Verdict.objects.count() == 2
    assert "lexical" not in cast.client.get(address("list_runs", cast)).content.decode().split("Runs</h2>")[1]


@pytest.mark.parametrize("posted", [{"judge": "nobody"}, {"phases": ["pilot"]}, {"phases": []}, {"judge": ""}])
def test_what_does_not_go_is_said_above_the_form_which_keeps_what_was_chosen(cast, posted):
    response = start(cast, **posted)
    assert response.status_code == 422
    assert b'role="alert"' in response.content
    assert not Run.objects.exists()
    if posted.get("phases"):
        assert b'value="pilot" checked' in response.content


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_run_is_held_resumed_and_called_off(cast, headers):
    start(cast)
    for act, state in (("pause_run", "held"), ("resume_run", "open"), ("cancel_run", "cancelled")):
        response = cast.client.post(address(act, cast, 1), headers=headers)
        assert response.status_code == (200 if headers else 302)
        assert WorkGroup.objects.get().state == state
    assert b"Called off." in cast.client.get(address("show_run", cast, 1)).content


def test_what_was_given_up_is_listed_with_its_reason_and_can_be_tried_again(cast):
    start(cast)
    Work.objects.filter(payload__item=cast.items[0].pk).update(state="dead", error="It broke down.", attempts=3)
    work.drain()
    page = cast.client.get(address("show_run", cast, 1)).content.decode()
    assert "It broke down." in page
    assert reverse("annotate:preview_item", args=[cast.project.slug, cast.items[0].pk]) in page
    cast.client.post(address("try_run_again", cast, 1))
    work.drain()
    assert Verdict.objects.count() == 2
    assert "It broke down." not in cast.client.get(address("show_run", cast, 1)).content.decode()


def test_a_run_of_a_judge_that_is_no_more_is_shown_by_its_name(cast):
    make_run(cast.project, judge="bygone", items=cast.items)
    for page in (address("list_runs", cast), address("show_run", cast, 1)):
        assert b"bygone" in cast.client.get(page).content


@pytest.mark.parametrize("number", [2, 2**31, 2**70])
def test_another_number_is_the_one_404(cast, number):
    make_run(cast.project)
    assert cast.client.get(address("show_run", cast, number)).status_code == 404


@pytest.mark.parametrize("page", ["0", "x", "-1", "12345678"])
def test_a_page_that_is_no_number_is_404_and_none_before_the_first(cast, page):
    expected = 200 if page == "0" else 404
    assert cast.client.get(address("list_runs", cast), {"page": page}).status_code == expected


def test_long_lists_go_by_pages(cast):
    for _ in range(27):
        make_run(cast.project)
    first = cast.client.get(address("list_runs", cast)).content.decode()
    assert "?page=2" in first
    assert address("show_run", cast, 27) in first
    assert address("show_run", cast, 2) + '"' not in first
    second = cast.client.get(address("list_runs", cast), {"page": 2}).content.decode()
    assert address("show_run", cast, 2) in second


def test_statements_do_not_grow_with_runs_and_their_jobs(cast, django_assert_num_queries):
    for _ in range(2):
        run = make_run(cast.project, items=cast.items)
        make_work(cast.project, kind="verdict", group=run.group, state="done")
    with django_assert_num_queries(8):
        cast.client.get(address("list_runs", cast))
    for _ in range(5):
        run = make_run(cast.project, items=cast.items)
        make_work(cast.project, kind="verdict", group=run.group, state="done")
    with django_assert_num_queries(8):
        cast.client.get(address("list_runs", cast))
    with django_assert_num_queries(7):
        cast.client.get(address("show_run", cast, 1))


def test_annotators_find_nothing_there(cast):
    make_run(cast.project, items=cast.items)
    cast.client.force_login(cast.ana)
    for name, args in (("list_runs", ()), ("show_run", (1,))):
        assert cast.client.get(address(name, cast, *args)).status_code == 404
    for name in ("pause_run", "resume_run", "cancel_run", "try_run_again"):
        assert cast.client.post(address(name, cast, 1)).status_code == 404
    assert start(cast).status_code == 404


def test_a_run_that_nobody_takes_up_says_so(cast):
    """What is not begun after a minute says that there may be no worker."""
    with known(judge_that(first_words)):
        start(cast, judge="spoken")
    assert b"No worker has taken it up" not in cast.client.get(address("show_run", cast, 1)).content
    Run.objects.update(started_at="2024-01-01T00:00:00Z")
    assert b"No worker has taken it up" in cast.client.get(address("show_run", cast, 1)).content
