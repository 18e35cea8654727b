"""A whole trace by parts: bounded pages with a fixed number of statements, whatever the trace is like, through the one
door."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import blind, reviewing
from annotate.errors import NotYours
from annotate.kinds.redundancy.examples import MESSAGES, label, step
from annotate.kinds.spine import MOST_AT_ONCE, MOST_CHARACTERS, N_ENTRIES
from annotate.models import Settlement
from annotate.traces.base import Answered, Call, Message
from tests.factories import make_assignment, make_cast, make_item, make_submitted, make_trace

pytestmark = pytest.mark.django_db
PIECE = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def cast(db):
    return make_cast(kind="redundancy")


def long_trace(n_messages, text="ok"):
    said = [Message(0, "system", "Never book twice."), Message(1, "user", "Go on.")]
    for index in range(2, n_messages, 2):
        said.append(Message(index, "assistant", "", calls=(Call("id-HIDDEN", "look_up", f'{{"n": {index}}}'),)))
        said.append(Message(index + 1, "tool", text, answers=Answered(index, 0)))
    return said


def given(cast, messages=MESSAGES, member=None, **fields):
    item = make_item(trace=make_trace(cast.project, messages), reply=messages[-1].index, **fields)
    return make_assignment(member or cast.ana, item)


def address(assignment, query=""):
    return reverse("annotate:show_entries", args=[assignment.public_id]) + query


def test_a_part_is_bounded_and_says_what_comes_before_and_after(cast):
    trace = blind.own_trace(cast.ana.person, given(cast, long_trace(400)).public_id)
    first, later, last = trace.part(0), trace.part(N_ENTRIES), trace.part(10_000)
    assert (first.first, first.last, first.before, first.after) == (0, N_ENTRIES - 1, None, N_ENTRIES)
    assert (later.first, later.before, later.after) == (N_ENTRIES, 0, 2 * N_ENTRIES)
    assert (last.first, last.last, last.after) == (399, 399, None)
    assert [index for index, _ in later.policies] == [0]


def test_no_text_of_a_part_is_longer_than_its_share(cast):
    trace = blind.own_trace(cast.ana.person, given(cast, long_trace(20, "x" * 50_000)).public_id)
    steps = [row for row in trace.part(0).rows if row.what == "step"]
    assert {len(row.text.pieces[0].text) for row in steps} == {MOST_CHARACTERS}
    assert {row.text.n_characters for row in steps} == {50_000}


@pytest.mark.parametrize("n_messages", [12, 2000])
def test_a_part_takes_three_statements_however_long_the_trace_is(cast, n_messages):
    trace = blind.own_trace(cast.ana.person, given(cast, long_trace(n_messages)).public_id)
    for start in (0, n_messages // 2):
        with CaptureQueriesContext(connection) as asked:
            trace.part(start)
        assert len(asked) == 3


def test_the_page_takes_as_many_statements_for_a_long_trace_as_for_a_short_one(client, cast):
    client.force_login(cast.ana.person)
    counts = []
    for messages in (MESSAGES, long_trace(1500, "y" * 3000)):
        assignment = given(cast, messages)
        page = reverse("annotate:label_item", args=[assignment.public_id])
        client.get(page)
        with CaptureQueriesContext(connection) as asked:
            answer = client.get(page)
        counts.append(len(asked))
        assert answer.status_code == 200
        assert len(answer.content) < 400_000
    assert len(set(counts)) == 1


def test_a_long_text_opens_by_parts_that_make_the_whole(client, cast):
    text = "".join(f"{number:07}\n" for number in range(20_000))
    trace = blind.own_trace(cast.ana.person, given(cast, long_trace(6, text)).public_id)
    parts, start = [], 0
    while True:
        with CaptureQueriesContext(connection) as asked:
            part = trace.text(3, None, start)
        assert len(asked) == 1
        parts.append("".join(piece.text for piece in part.pieces))
        if not part.is_cut:
            break
        start = part.end
    assert "".join(parts) == text
    assert max(map(len, parts)) == MOST_AT_ONCE


def test_long_arguments_open_too_and_what_is_not_there_does_not(cast):
    said = [
        Message(0, "assistant", "", calls=(Call("", "write", "a" * 100_000),)),
        Message(1, "tool", "ok", answers=Answered(0, 0)),
    ]
    trace = blind.own_trace(cast.ana.person, given(cast, said).public_id)
    assert trace.text(0, 0, 60_000).end == 100_000
    assert trace.text(0, 1, 0) is None
    assert trace.text(2, None, 0) is None
    assert trace.text(1, None, 99) is None


def test_words_are_found_in_the_whole_trace_in_texts_names_and_arguments(cast):
    said = [*long_trace(300)[:-1], Message(299, "tool", "Der STRASSE 退款 (100%)", answers=Answered(298, 0))]
    trace = blind.own_trace(cast.ana.person, given(cast, said).public_id)
    with CaptureQueriesContext(connection) as asked:
        assert [(hit.index, hit.words) for hit in trace.find("strasse")] == [(299, "STRASSE")]
    assert len(asked) == 1
    assert [hit.index for hit in trace.find("退款")] == [299]
    assert [hit.index for hit in trace.find("100%)")] == [299]
    assert [hit.index for hit in trace.find('"n": 150}')] == [150]
    assert len(trace.find("LOOK_up")) == 100
    assert trace.find("id-HIDDEN") == trace.find("  ") == ()


def test_pieces_and_pages_show_the_same(client, cast):
    assignment = given(cast, long_trace(200))
    client.force_login(cast.ana.person)
    for query, words in (("?from=60", "60-61"), ("?text=2&call=0", "&quot;n&quot;: 2"), ("?q=look", "look")):
        piece, page = client.get(address(assignment, query), **PIECE), client.get(address(assignment, query))
        assert words in piece.content.decode()
        assert words in page.content.decode()
        assert b"<html" in page.content
        assert b"<html" not in piece.content


ABSENT = ("?text=x", "?text=", "?text=999", "?text=2&call=7", "?text=3&at=99999", "?text=9999999999999")


@pytest.mark.parametrize("query", ABSENT)
def test_what_is_not_there_is_the_one_404(client, cast, query):
    client.force_login(cast.ana.person)
    assert client.get(address(given(cast), query)).status_code == 404


ODD = ("?from=-1", "?from=x", "?from=999999999", "?q=%00", "?q=" + "a" * 5000, "?text=2&call=0&at=x")


@pytest.mark.parametrize("query", ODD)
def test_what_is_no_place_does_no_harm(client, cast, query):
    client.force_login(cast.ana.person)
    assert client.get(address(given(cast), query), **PIECE).status_code == 200


def test_nobody_elses_item_and_no_other_kind_opens(client, cast):
    theirs = given(cast, member=cast.ben)
    with pytest.raises(NotYours):
        blind.own_trace(cast.ana.person, theirs.public_id)
    client.force_login(cast.ana.person)
    assert client.get(address(theirs)).status_code == 404
    other = make_assignment(cast.zoe)
    with pytest.raises(NotYours):
        blind.own_trace(cast.zoe.person, other.public_id)


def test_leads_get_the_same_parts_and_annotators_do_not(client, cast):
    assignment = given(cast, long_trace(200))
    preview = reverse("annotate:preview_entries", args=[cast.project.slug, assignment.item_id])
    client.force_login(cast.lea.person)
    assert "60-61" in client.get(preview + "?from=60", **PIECE).content.decode()
    assert client.get(reverse("annotate:preview_item", args=[cast.project.slug, assignment.item_id])).status_code == 200
    client.force_login(cast.ana.person)
    assert client.get(preview).status_code == 404


def three_labels(cast):
    """An item of which two people say different things."""
    item = given(cast, member=cast.ben).item
    item.assignments.all().delete()
    make_submitted(cast.ana, item, label(step(9, 10)))
    make_submitted(cast.ben, item, label(step(9, 10, "EXP", [1])))
    reviewing.refresh_queue(cast.project)
    return cast.project.disagreements.get(item=item)


def test_a_reviewer_has_the_answers_side_by_side_step_by_step_and_the_same_parts(client, cast):
    dispute = three_labels(cast)
    client.force_login(cast.rita.person)
    card = reverse("annotate:settle_item", args=[cast.project.slug, dispute.public_id])
    page = client.get(card).content.decode()
    assert "severe: another step or another type" in page
    assert '<a href="?from=9" data-from="9">9-10</a>' in page
    assert "<mark>exploratory step</mark>" in page
    entries = reverse("annotate:settling_entries", args=[cast.project.slug, dispute.public_id])
    assert "4-8" in client.get(entries + "?from=4", **PIECE).content.decode()
    assert client.get(reverse("annotate:settling_entries", args=[cast.project.slug, "x" * 20])).status_code == 404
    client.force_login(cast.ana.person)
    assert client.get(entries).status_code == 404


def test_leads_and_reviewers_are_shown_no_suggestion_in_their_form(client, cast):
    suggestion = {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "rules": ["identical"], "keyword": ""}
    assignment = given(cast, suggestions=[suggestion])
    client.force_login(cast.ana.person)
    page = client.get(reverse("annotate:label_item", args=[assignment.public_id])).content.decode()
    assert "&quot;identical&quot;" in page
    client.force_login(cast.lea.person)
    known = reverse("annotate:answer_practice", args=[cast.project.slug, assignment.item_id])
    page = client.get(known).content.decode()
    assert 'data-suggestions="[]"' in page


def test_no_vendors_id_of_a_call_is_in_any_part(client, cast):
    assignment = given(cast, long_trace(200))
    client.force_login(cast.ana.person)
    for query in ("", "?text=2&call=0", "?q=n"):
        assert b"HIDDEN" not in client.get(address(assignment, query)).content
    assert b"HIDDEN" not in client.get(reverse("annotate:label_item", args=[assignment.public_id])).content


def everything_sent(client, assignment):
    """The bytes of the page and its parts, without what is random in each answer."""
    page = client.get(reverse("annotate:label_item", args=[assignment.public_id])).content.decode()
    page = re.sub(r'(csrfmiddlewaretoken|key)" value="[^"]*"', "", page)
    parts = [client.get(address(assignment, query), **PIECE) for query in ("?from=4", "?text=2&call=0", "?q=flight")]
    return [page, *((part.content, sorted(part.headers.items())) for part in parts)]


def test_nothing_hidden_changes_a_byte_of_what_is_sent(client, cast):
    assignment = given(cast)
    client.force_login(cast.ana.person)
    client.get(reverse("annotate:label_item", args=[assignment.public_id]))
    before = everything_sent(client, assignment)
    item, trace = assignment.item, assignment.item.trace
    for message in trace.messages.all():
        message.calls = [{**call, "id": f"other-{call['id']}"} for call in message.calls]
        message.name, message.answers_id = "another name", "another id"
        message.save()
    type(trace).objects.filter(pk=trace.pk).update(metadata={"model": "another"}, source_id="another", cluster="x")
    type(item).objects.filter(pk=item.pk).update(cluster="another", origin={"run": "another"})
    make_submitted(cast.ben, item, label(step(9, 10)))
    assert everything_sent(client, assignment) == before


def test_a_practice_item_tells_what_differs_and_leads_to_the_steps(client, cast):
    item = given(cast, member=cast.ben, phase="practice").item
    Settlement.objects.create(item=item, label=label(step(9, 10)), how="known", reason_en="It was there already.")
    mine = make_submitted(cast.ana, item, label(step(9, 10, "EXP", [1])))
    client.force_login(cast.ana.person)
    page = client.get(reverse("annotate:label_item", args=[mine.public_id])).content.decode()
    assert "The expected answer is another one." in page
    assert "their types" in page
    assert "It was there already." in page
    assert page.count('href="?from=9" data-from="9"') == 2
