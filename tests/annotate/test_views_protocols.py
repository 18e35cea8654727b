"""The lead's pages of protocols: the numbered list, the next one, its preview."""

import html
import re

import pytest
from django.urls import reverse

from annotate.models import Event, Protocol, Role
from tests.factories import (
    make_annotation,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_protocol,
    make_round,
    make_submitted,
)

pytestmark = pytest.mark.django_db
TEXTS = {
    "guideline_en": "Read it *twice*.",
    "guideline_zh": "读**两**遍。",
    "change_note": "Twice is better.",
    "after": "1",
}


@pytest.fixture
def cast(client):
    cast = make_cast()
    client.force_login(cast.lea.person)
    return cast


def words(response):
    return html.unescape(response.content.decode())


def show(client, cast, query=""):
    return client.get(reverse("annotate:show_protocols", args=[cast.project.slug]) + query)


def write(client, cast, **fields):
    return client.post(reverse("annotate:new_protocol", args=[cast.project.slug]), {**TEXTS, **fields})


def preview(client, cast, headers=None, **fields):
    path = reverse("annotate:preview_guideline", args=[cast.project.slug])
    return client.post(path, {**TEXTS, **fields}, headers=headers)


def rows(response):
    """The list: number, by whom, what changed, how many labels."""
    found = re.findall(r"<tr><td class=\"number\">(.*?)</tr>", words(response))
    cells = [[re.sub("<.*?>", "", cell) for cell in row.split("</td>")] for row in found]
    return [(number, by, note, n) for number, _, by, note, n, _ in cells]


# The list


def test_a_lead_sees_every_protocol_with_its_labels_and_the_newest_guideline(client, cast):
    make_submitted(cast.ana)
    make_submitted(cast.ben)
    corrected = make_submitted(cast.ben)
    write(client, cast)
    make_annotation(corrected)
    assert rows(show(client, cast)) == [
        ("2", "lea", "Twice is better.", "1"),
        ("1", "", "the guideline of the kind", "2"),
    ]
    assert "Read it <em>twice</em>." in words(show(client, cast))
    assert "读<strong>两</strong>遍。" in words(show(client, cast))


def test_an_older_guideline_can_be_read_and_one_there_is_not_cannot(client, cast):
    write(client, cast)
    assert "Read it (1)." in words(show(client, cast, "?number=1"))
    assert "Read it (1)." not in words(show(client, cast))
    for number in ("3", "0", "x", "01"):
        assert show(client, cast, f"?number={number}").status_code == 404


def test_a_guideline_goes_through_the_one_filter(client, cast):
    write(client, cast, guideline_en="<script>go()</script> ![dot](http://other.example/dot.png) [a](javascript:go())")
    said = show(client, cast).content.decode()
    assert "<script>go()" not in said
    assert "<img" not in said
    assert 'href="javascript' not in said


@pytest.mark.parametrize("n", [1, 20])
def test_the_list_takes_six_statements_however_long_it_is(client, cast, django_assert_num_queries, n):
    for _ in range(n):
        make_submitted(cast.ana)
        make_protocol(cast.project)
    with django_assert_num_queries(6):
        show(client, cast)


# Re-opening


def asks(client, cast):
    found = re.search(r"under an older protocol only: (\d+)\.", words(show(client, cast)))
    return int(found[1]) if found else 0


def test_labels_of_the_main_phase_under_an_older_protocol_are_asked_about(client, cast):
    for item in (make_item(cast.project), make_item(cast.project), make_item(cast.project, phase="pilot")):
        make_submitted(cast.ana, item)
    make_submitted(cast.ben)
    make_assignment(cast.ben)
    assert asks(client, cast) == 0
    response = write(client, cast)
    assert response["Location"] == reverse("annotate:show_protocols", args=[cast.project.slug])
    assert asks(client, cast) == 3
    assert reverse("annotate:reopen_items", args=[cast.project.slug]) in words(show(client, cast))


def test_what_was_labelled_again_or_waits_for_it_is_not_asked_about_again(client, cast):
    first, second, third = (make_submitted(cast.ana) for _ in range(3))
    make_submitted(cast.ben, third.item)
    write(client, cast)
    assert asks(client, cast) == 4
    again = make_round(cast.project, "protocol")
    make_submitted(cast.ana, first.item, round=again)
    make_assignment(cast.ana, second.item, "locked", round=again)
    make_assignment(cast.ana, third.item, "withdrawn", round=again)
    assert asks(client, cast) == 2
    client.post(reverse("annotate:reopen_items", args=[cast.project.slug]))
    assert asks(client, cast) == 0


# The next one


def test_a_lead_opens_the_next_protocol_from_the_newest(client, cast):
    page = client.get(reverse("annotate:new_protocol", args=[cast.project.slug]))
    assert "Read it (1)." in words(page)
    assert "读它（1）。" in words(page)
    assert write(client, cast).status_code == 302
    made = Protocol.objects.get(project=cast.project, number=2)
    assert (made.guideline_en, made.guideline_zh, made.change_note) == (
        *("Read it *twice*.\n", "读**两**遍。\n"),
        "Twice is better.",
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"guideline_en": "Read it (1).", "guideline_zh": "读它（1）。"}, "this one is the same in both languages."),
        ({"guideline_en": " ", "guideline_zh": ""}, "This field is required. Fill it in."),
        ({"change_note": ""}, "This field is required."),
        ({"guideline_en": "x" * 50_001}, "Ensure this value has at most 50000 characters"),
        ({"guideline_en": "a\0b"}, "Null characters are not allowed."),
        ({"after": ""}, "This field is required."),
    ],
)
def test_what_is_wrong_is_named_and_what_was_typed_stays(client, cast, fields, said):
    fields = {"change_note": "A note that is kept.", **fields}
    response = write(client, cast, **fields)
    assert response.status_code == 422
    assert said in words(response)
    for name in ("guideline_en", "guideline_zh", "change_note"):
        assert {**TEXTS, **fields}[name].replace("\0", "") in words(response).replace("\0", "")
    assert Protocol.objects.filter(project=cast.project).count() == 1


def test_where_another_lead_was_first_the_text_stays_and_theirs_stands_beside_it(client, cast):
    lee = make_member(cast.project, "lee", Role.LEAD)
    client.force_login(lee.person)
    write(client, cast, guideline_en="Read it **aloud**.", change_note="Aloud.")
    client.force_login(cast.lea.person)
    response = write(client, cast)
    assert response.status_code == 422
    said = words(response)
    assert "Somebody opened protocol 2 while you were writing." in said
    assert "Read it <strong>aloud</strong>." in said
    assert "Read it *twice*." in said
    assert 'name="after" value="2"' in said
    assert Protocol.objects.filter(project=cast.project).count() == 2
    assert write(client, cast, after="2").status_code == 302
    assert rows(show(client, cast))[0][:2] == ("3", "lea")


def test_a_name_of_a_model_is_asked_about_once(client, cast):
    named = {"guideline_en": "Mark what ChatGPT says.", "guideline_zh": "标出它说的。"}
    response = write(client, cast, **named)
    assert response.status_code == 422
    (names,) = re.findall(r'name="confirm_names" value="(.*?)"', words(response))
    assert "chatgpt" in names.lower()
    assert not Protocol.objects.filter(number=2).exists()
    assert write(client, cast, **named, confirm_names=names).status_code == 302
    again = {**named, "guideline_en": "Mark all that ChatGPT says."}
    assert write(client, cast, **again, after="2").status_code == 302


# The preview


def test_the_preview_is_a_piece_for_a_script_and_saves_nothing(client, cast):
    response = preview(client, cast, headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert words(response).startswith('<section id="guideline-preview"')
    assert "Read it <em>twice</em>." in words(response)
    assert "<textarea" not in words(response)
    assert not Protocol.objects.filter(number=2).exists()
    assert not Event.objects.exists()


def test_without_a_script_the_preview_is_the_page_with_everything_typed(client, cast):
    response = preview(client, cast, change_note="So far.", guideline_zh="", after="1")
    said = words(response)
    assert response.status_code == 200
    assert "Read it <em>twice</em>." in said
    for typed in ("Read it *twice*.", "So far.", 'name="after" value="1"'):
        assert typed in said
    assert "读它（1）。" not in said


def test_the_preview_names_what_would_be_asked_about(client, cast):
    said = words(preview(client, cast, headers={"HX-Request": "true"}, guideline_en="As DeepSeek does."))
    assert re.search(r"This text names .*deepseek", said, re.IGNORECASE)


def test_a_preview_does_not_hide_that_another_lead_was_first(client, cast):
    write(client, cast)
    said = words(preview(client, cast, guideline_en="Mine."))
    assert 'name="after" value="1"' in said
    assert ">\nMine.</textarea>" in said
    assert "Somebody opened protocol 2" in words(write(client, cast, guideline_en="Mine."))


def test_what_is_asked_first_does_not_hide_that_another_lead_was_first(client, cast):
    write(client, cast)
    named = {"guideline_en": "Mark what ChatGPT says."}
    response = write(client, cast, **named)
    assert "Somebody opened" not in words(response)
    assert 'name="after" value="1"' in words(response)
    (names,) = re.findall(r'name="confirm_names" value="(.*?)"', words(response))
    response = write(client, cast, **named, confirm_names=names)
    assert "Somebody opened protocol 2 while you were writing." in words(response)
    assert 'name="after" value="2"' in words(response)


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_for_everybody_else_the_pages_are_not_there(client, cast, who):
    client.force_login(getattr(cast, who).person)
    missing = client.get(reverse("annotate:show_project", args=["no-such-project"]))
    answers = [
        show(client, cast),
        client.get(reverse("annotate:new_protocol", args=[cast.project.slug])),
        write(client, cast),
        preview(client, cast),
        preview(client, cast, headers={"HX-Request": "true"}),
    ]
    for response in answers:
        assert (response.status_code, response.content) == (404, missing.content)
    assert Protocol.objects.filter(project=cast.project).count() == 1
