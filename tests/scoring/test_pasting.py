"""A run without a server: its questions are shown, a person pastes the answers, and it goes on to its end."""

from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotate import work
from annotate.errors import NotYours, Refused
from annotate.models import Event
from scoring import driving, pasting
from scoring.models import Call, Verdict
from scoring.running import cancel_run, pause_run, run_progress
from tests.factories import CONVERSATION, make_call, make_cast, make_endpoint, make_item, make_run, make_trace
from tests.scoring.asking_here import ASKER, started
from tests.scoring.judges_here import known

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client):
    cast = make_cast()
    trace = make_trace(cast.project, CONVERSATION)
    items = [make_item(cast.project, trace=trace, reply=anchor) for anchor in (3, 5)]
    client.force_login(cast.lea.person)
    endpoint = make_endpoint(cast.project, provider="pasted", name="by hand", concurrency=1)
    run = started(cast.project, endpoint, calls=10)
    drain()
    return SimpleNamespace(
        project=cast.project, lea=cast.lea.person, ana=cast.ana.person, items=items, client=client, run=run
    )


def drain():
    assert driving.drive in work.HANDLERS.values()
    with known(ASKER):
        work.drain()


def questions(cast):
    return reverse("scoring:list_questions", args=[cast.project.slug, cast.run.number])


def paste(cast, call, **posted):
    address = reverse("scoring:paste_answer", args=[cast.project.slug, cast.run.number, call])
    return cast.client.post(address, posted)


def waiting():
    return list(Call.objects.filter(state="stored").order_by("pk"))


def test_a_run_is_gone_through_by_hand(cast):
    page = cast.client.get(questions(cast)).content.decode()
    assert "2 questions wait for their answers." in page
    assert "begin reply]]" in page
    n_pasted = 0
    while calls := waiting():
        for call in calls:
            assert paste(cast, call.pk, text='{"n": 1}').headers["Location"] == questions(cast)
            n_pasted += 1
        drain()
    assert n_pasted == 4
    assert run_progress(cast.run).state == "done"
    assert Verdict.objects.count() == 2
    assert b"No question waits now." in cast.client.get(questions(cast)).content
    assert Event.objects.filter(action="answer_pasted").count() == 4


def test_what_cannot_be_read_is_asked_again_and_then_no_verdict_is_made_up(cast):
    for attempt in (1, 2, 3):
        call = next(call for call in waiting() if call.item_id == cast.items[0].pk)
        assert call.attempt == attempt
        paste(cast, call.pk, text="I think it is fine.")
        drain()
    (verdict,) = Verdict.objects.all()
    assert verdict.is_unreadable
    assert verdict.finding["unreadable"] == "I think it is fine."


def test_an_answer_is_recorded_once(cast):
    call = waiting()[0]
    paste(cast, call.pk, text='{"n": 1}')
    assert paste(cast, call.pk, text='{"n": 0}').status_code == 302
    assert pasting.paste_answer(person=cast.lea, call=call, text='{"n": 0}') is False
    call.refresh_from_db()
    assert call.response == '{"n": 1}'


def test_an_empty_answer_is_refused_and_a_character_that_no_database_keeps_is_put_visibly(cast):
    first, second = waiting()
    for text in ("", " \n"):
        response = paste(cast, first.pk, text=text)
        assert response.status_code == 422
        assert b"Paste it whole, as it came." in response.content
    with pytest.raises(Refused):
        pasting.paste_answer(person=cast.lea, call=first, text="x" * 200_001)
    paste(cast, second.pk, text="a\0b", cut="on")
    second.refresh_from_db()
    assert (second.response, second.cut) == ("a\u2400b", True)


def test_a_run_that_was_called_off_takes_no_answers_and_a_held_one_does(cast):
    first, second = waiting()
    pause_run(person=cast.lea, run=cast.run)
    assert pasting.paste_answer(person=cast.lea, call=first, text='{"n": 1}')
    cancel_run(person=cast.lea, run=cast.run)
    assert pasting.paste_answer(person=cast.lea, call=second, text='{"n": 1}') is False
    assert Call.objects.filter(state="answered").count() == 1


def test_only_leads_answer_and_only_where_answers_are_pasted(cast):
    call = waiting()[0]
    with pytest.raises(NotYours):
        pasting.paste_answer(person=cast.ana, call=call, text='{"n": 1}')
    asked = make_run(cast.project, endpoint=make_endpoint(cast.project), cap_calls=1)
    other = make_call(asked, cast.items[0])
    assert cast.client.get(reverse("scoring:list_questions", args=[cast.project.slug, asked.number])).status_code == 404
    assert paste(cast, other.pk, text='{"n": 1}').status_code == 404
    cast.client.force_login(cast.ana)
    assert cast.client.get(questions(cast)).status_code == 404
    assert paste(cast, call.pk, text='{"n": 1}').status_code == 404
    assert not Call.objects.filter(state="answered").exists()


def test_the_page_takes_a_fixed_number_of_statements(cast, django_assert_num_queries):
    with django_assert_num_queries(6):
        cast.client.get(questions(cast))
    for number in range(20):
        make_call(cast.run, cast.items[0], step=f"step {number}")
    with django_assert_num_queries(6):
        cast.client.get(questions(cast))
