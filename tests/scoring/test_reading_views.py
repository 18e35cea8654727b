"""The reader's page of an item: its questions, quotes at their places, and what leads flag."""

import html
import re

import pytest
from django.urls import reverse

from annotate import blind
from annotate.models import Event, Person
from annotate.traces import base
from scoring import queries
from scoring.judges.base import reply_view
from scoring.judges.reader_questions import r_texts
from scoring.models import Flag
from tests.factories import CONVERSATION, make_cast, make_item, make_trace, make_verdict
from tests.scoring.readings import (
    answered,
    checker_run,
    make_checking,
    make_reading,
    make_unreadable,
    question,
    reader_run,
)

pytestmark = pytest.mark.django_db
TEXT = "By one unit, as the table says."
HOSTILE = '<b onclick="x()">Table</b> & {{ 4 }} one'
FILES = (base.File("prices.csv", "A,4\r\nB,5 units each\n"), base.File("late.csv", "x", available_from=8))


@pytest.fixture
def cast(db, client):
    cast = make_cast()
    client.force_login(cast.lea.person)
    return cast


@pytest.fixture
def item(cast):
    return make_item(trace=make_trace(cast.project, CONVERSATION, files=FILES), reply=5)


def show(client, cast, item, **query):
    return client.get(reverse("scoring:show_reading", args=[cast.project.slug, item.pk]), query)


def flag(client, cast, item, **values):
    address = reverse("scoring:flag_question", args=[cast.project.slug, item.pk])
    return client.post(address, {"run": 1, "sample": 0, "place": 0, "what": "question", **values})


def words(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def laned_texts(response):
    """The texts of the page with their marks, in order."""
    found = re.findall(r'<div class="text laned[^>]*>(.*?)</div>', response.content.decode(), re.DOTALL)
    return [(text, html.unescape(re.sub(r"<[^>]+>", "", text))) for text in found]


def test_quotes_are_counted_in_the_texts_that_the_page_shows(item):
    """A quote is at a number and an offset of the texts the judge saw; the page has the same in the same order."""
    view = reply_view(queries.whole_trace(item.trace_id), item.anchor)
    shown = blind.preview_item(item.project_id, item.pk)
    texts = [*(file.pieces for file in shown.files), *(message.pieces for message in shown.messages)]
    assert tuple("".join(piece.text for piece in pieces) for pieces in texts) == r_texts(view)
    assert r_texts(view)[0] == "A,4\nB,5 units each\n"


def test_questions_stand_with_their_scope_answer_and_quote(client, cast, item):
    make_reading(
        reader_run(cast.project),
        item,
        question("the table", TEXT, question="Which table?"),
        answered("one unit", TEXT, "B,5 units each", place=0, start=4, answer="5 less 4."),
        question("table", TEXT, removed="duplicate", is_gap=False),
        flags=["invented_quote"],
    )
    text = words(show(client, cast, item))
    assert "The reader fails this reply It has an information gap." in text
    assert "1 · Which table? about “the table” type reference · asked by the model" in text
    assert "answered nowhere: a gap" in text
    assert "answered in what the requester has seen answer 5 less 4. quote “B,5 units each” · it stands there" in text
    assert "Dropped questions 3 · What is table?" in text
    assert "dropped Another question asks the same." in text
    assert "A quote stands in no text." in text


def test_gaps_and_quotes_are_marked_where_they_stand(client, cast, item):
    make_reading(
        reader_run(cast.project),
        item,
        question("the table", TEXT),
        answered("one unit", TEXT, "B,5 units each", place=0, start=4),
        answered("By", TEXT, "as the table says", scope="reply", place="reply", start=13),
        answered("unit", TEXT, "The first one is cheaper.", place=2, start=0),
        answer_start=0,
        answer_end=12,
    )
    texts = laned_texts(show(client, cast, item))
    assert [plain for _, plain in texts] == [
        "A,4\nB,5 units each\n", CONVERSATION[0].text, CONVERSATION[3].text, CONVERSATION[4].text, TEXT,
    ]  # fmt: skip
    assert 'data-tag="2 q"></span><span class="lane lane-1 type-quote">B,5 units each</span>' in texts[0][0]
    assert 'data-tag="4 q"' in texts[2][0]
    assert texts[1][0] == html.escape(CONVERSATION[0].text)
    reply = texts[-1][0]
    assert 'data-tag="1 r"' in reply
    assert 'data-tag="3 q"' in reply
    assert 'data-tag="answer a"' in reply
    assert "type-reference" in reply


def test_hostile_text_stays_text(client, cast):
    item = make_item(cast.project, text=HOSTILE)
    made = question("Table", HOSTILE, question="<script>x</script>", answer="<i>", quote="<u>", quote_invented=True)
    make_reading(reader_run(cast.project), item, made)
    page = show(client, cast, item).content.decode()
    for tag in ("<script>x", "<b onclick", "<i>", "<u>"):
        assert tag not in page
    assert "it stands in no text: invented" in page


def test_both_verdicts_and_the_answer_are_told(client, cast, item):
    make_reading(reader_run(cast.project), item, no_answer=True, unchecked=False)
    text = words(show(client, cast, item))
    assert "It does not answer what was asked." in text
    assert "Without looking quotes up it would have said the opposite." in text
    assert "The reader asked nothing." in text


def test_an_answer_that_nobody_could_read_is_shown_as_it_came(client, cast, item):
    make_unreadable(reader_run(cast.project), item, "<script>alert(1)</script>")
    page = show(client, cast, item)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.content.decode()


def test_the_newest_run_is_shown_and_others_can_be_chosen(client, cast, item):
    first, second = reader_run(cast.project), reader_run(cast.project)
    make_reading(first, item, question("the table", TEXT))
    make_reading(second, item)
    make_checking(checker_run(cast.project), item)
    assert "passes this reply" in words(show(client, cast, item))
    assert 'href="?run=1&amp;sample=0"' in show(client, cast, item).content.decode()
    assert "fails this reply" in words(show(client, cast, item, run=1))
    for query in ({"run": 3}, {"run": "x"}, {"run": 1, "sample": 4}):
        assert show(client, cast, item, **query).status_code == 404


def test_a_flag_is_shown_told_in_the_log_and_taken_back(client, cast, item):
    verdict = make_reading(reader_run(cast.project), item, question("the table", TEXT, quote="a table"))
    label = verdict.label
    response = flag(client, cast, item, note="It is explained <above>.")
    assert response["Location"].endswith("/reading/?run=1&sample=0#question-1")
    flag(client, cast, item, what="quote")
    flag(client, cast, item, note="Twice.")
    text = words(show(client, cast, item))
    assert f"question flagged {cast.lea.person.username}: Twice. Take back" in text
    assert "quote flagged" in text
    assert "Flag as wrong" not in text
    assert Flag.objects.count() == 2
    verdict.refresh_from_db()
    assert verdict.label == label
    flag(client, cast, item, do="take_back")
    flag(client, cast, item, do="take_back")
    assert [one.what for one in Flag.objects.all()] == ["quote"]
    assert [one.action for one in Event.objects.order_by("pk")].count("flag_taken_back") == 1
    assert Event.objects.filter(action="question_flagged").first().detail["place"] == 0


def test_what_cannot_be_flagged_is_not_there(client, cast, item):
    make_reading(reader_run(cast.project), item, question("the table", TEXT))
    make_verdict(checker_run(cast.project), item, None)
    for wrong in ({"place": 1}, {"place": "x"}, {"what": "x"}, {"run": 2}, {"sample": 1}, {"run": ""}):
        assert flag(client, cast, item, **wrong).status_code == 404, wrong
    page = flag(client, cast, item, note="x" * 2001)
    assert (page.status_code, "At most 2000 characters" in words(page)) == (422, True)
    assert not Flag.objects.exists()


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_for_everybody_else_it_is_not_there(client, cast, item, who):
    make_reading(reader_run(cast.project), item, question("the table", TEXT))
    client.force_login(getattr(cast, who).person)
    missing = client.get(reverse("scoring:show_reading", args=["no-such-project", item.pk]))
    assert show(client, cast, item).content == missing.content
    assert (flag(client, cast, item).status_code, Flag.objects.exists()) == (404, False)


def test_the_page_of_the_item_leads_here_and_lists_what_the_checker_found(client, cast, item):
    make_reading(reader_run(cast.project), item, question("the table", TEXT))
    make_checking(checker_run(cast.project), item, errors=["One <unit> is wrong."], omissions=[], downplayed=["A"])
    page = client.get(reverse("scoring:show_item", args=[cast.project.slug, item.pk]))
    assert "/reading/?run=1&amp;sample=0" in page.content.decode()
    text = words(page)
    assert "Against the record, or not in it: 1 One <unit> is wrong. Results left out: 0" in text
    assert 'data-tag="judge r"' in page.content.decode()


def test_the_page_answers_in_chinese(client, cast, item):
    make_reading(reader_run(cast.project), item, question("the table", TEXT))
    Person.objects.filter(pk=cast.lea.person_id).update(interface_language="zh-hans")
    assert show(client, cast, item)["Content-Language"] == "zh-hans"


def test_statements_do_not_grow_with_questions_and_flags(client, cast, item, django_assert_num_queries):
    run = reader_run(cast.project)
    make_reading(run, item, question("the table", TEXT))
    with django_assert_num_queries(STATEMENTS):
        show(client, cast, item)
    other = make_item(trace=make_trace(cast.project, CONVERSATION, files=FILES), reply=5)
    made = make_reading(run, other, *(question("the table", TEXT) for _ in range(9)))
    for place in range(9):
        Flag.objects.create(verdict=made, place=place, what="question", person=cast.lea.person)
    with django_assert_num_queries(STATEMENTS):
        show(client, cast, other)


STATEMENTS = 9
