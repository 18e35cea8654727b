"""Twin worlds of a blind comparison: nothing that an annotator is sent changes with which version they read, holds a
word for it, or says that there are two."""

import re

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotate import blind, inviting, pairing
from annotate.models import Assignment, Item, PairsDraw, Project, Trace
from scoring.methods.replies_schema import ARMS
from tests.annotate.api.asking import Script
from tests.annotate.pair_study import make_study
from tests.factories import NOW, make_annotation, make_run, make_verdict
from tests.guards.leaks import in_template
from tests.guards.test_twins import CHANGING

pytestmark = pytest.mark.django_db
STUDY = ("Does rewording help (A2)?", "改写有用吗（甲二）")
STEMS = ("rewrit", "reword", "改写", "默认", "甲二", "published")
WORDS = re.compile("|".join([*(rf"\b{arm.replace('_', '[ _-]')}s?\b" for arm in ARMS), *STEMS]), re.IGNORECASE)
"""What says a condition, or that there are several."""


@pytest.fixture
def study(db):
    """Each of the five has answered one item and has another open."""
    study = make_study(title_en=STUDY[0], title_zh=STUDY[1])
    pairing.draw_pairs(lead=study.lea.person, project=study.project, seed=3, now=NOW)
    for member in study.five:
        first, second = member.assignments.order_by("order")[:2]
        Assignment.objects.filter(pk=first.pk).update(state="submitted", first_shown_at=NOW, ended_at=NOW)
        make_annotation(first)
        Assignment.objects.filter(pk=second.pk).update(state="open")
    return study


def addresses(member):
    slug = member.project.slug
    yield "/"
    yield reverse("annotate:show_tokens")
    yield reverse("annotate:show_account")
    for name in ("next_item", "own_annotations", "guideline"):
        yield reverse(f"annotate:{name}", args=[slug])
    for row in member.assignments.order_by("order")[:3]:
        for name in ("label_item", "correct_item", "show_entries"):
            yield reverse(f"annotate:{name}", args=[row.public_id])


def everything_sent(member, language=""):
    """All pages, whole and as pieces, and all answers of the API."""
    browser, sent = Client(), {}
    slug = member.project.slug
    asked = [f"projects/{slug}/{name}/" for name in ("next", "undo", "guideline")]
    asked += ["projects/", *(f"items/{row.public_id}/" for row in member.assignments.order_by("order")[:3])]
    with transaction.atomic():
        browser.force_login(member.person)
        browser.cookies[settings.LANGUAGE_COOKIE_NAME] = language or "en"
        for address in addresses(member):
            for headers in ({}, {"HX-Request": "true"}):
                sent[address, bool(headers)] = told(browser.get(address, headers=headers))
        script = Script(member)
        for address in asked:
            sent[address, True] = told(script.get(address))
        transaction.set_rollback(True)
    return sent


def told(answer):
    return answer.status_code, sorted(answer.headers.items()), CHANGING.sub(b"", answer.content)


def pages(study, who=0):
    member = study.five[who]
    sent = everything_sent(member)
    own_sessions = reverse("annotate:show_account")
    sent = {address: answer for address, answer in sent.items() if address[0] != own_sessions}
    assert sum(status == 200 for status, _, _ in sent.values()) > 15
    return sent


def without_own_alert(body):
    """Every page has a place for what goes wrong, by a name that is one of the conditions too."""
    return body.decode().replace(' class="notice" id="notice"', "")


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("who", range(5))
def test_no_word_for_a_condition_or_the_study_is_sent_to_any_of_the_five(study, who, language):
    found = [
        (address, part[max(0, WORDS.search(part).start() - 40) :][:100])
        for (address, _), (_, headers, body) in everything_sent(study.five[who], language).items()
        for part in (str([one for one in headers if one[0] != "Content-Security-Policy"]), without_own_alert(body))
        if WORDS.search(part)
    ]
    assert not found


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_title_is_neutral_for_annotators_and_the_leads_own_for_leads(study, language):
    browser = Client()
    browser.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    neutral, own = ("Reply reading", STUDY[0]) if language == "en" else ("回复阅读", STUDY[1])
    _, secret = inviting.make_invite(
        project=study.project, role="annotator", languages=["en"], note="", by=study.lea.person, now=NOW, days=60
    )
    inviting.Invite.objects.update(expires_at="2100-01-01T00:00:00Z")
    invited = browser.get(reverse("annotate:join_project", args=[secret])).content.decode()
    browser.force_login(study.five[0].person)
    home = browser.get("/").content.decode()
    for page in (invited, home):
        assert neutral in page
        assert own not in page
    browser.force_login(study.lea.person)
    assert own in browser.get("/").content.decode()


def arms_are_swapped(study):
    Item.objects.filter(arm="default").update(arm="moving")
    Item.objects.filter(arm="rewrite").update(arm="default")
    Item.objects.filter(arm="moving").update(arm="rewrite")


def it_was_drawn_otherwise(study):
    PairsDraw.objects.update(seed=99, asked={"codes": ["Z"]}, collaborations=[])


def runs_and_models_are_others(study):
    Item.objects.update(origin={"run": 7, "item": 2, "sample": 1})
    Trace.objects.update(metadata={"model": "another"}, area="other", cluster="other")


def other_versions_say_something_else(study):
    """Those that this annotator does not read."""
    own = study.five[0].assignments.values("item")
    Item.objects.exclude(pk__in=own).update(text="Another text altogether.")


def there_are_more_conditions(study):
    one = Item.objects.filter(arm="default").first()
    for arm in ("notice", "default#1", "separate"):
        values = {"project": study.project, "trace": one.trace, "anchor": one.anchor, "cluster": one.cluster}
        Item.objects.create(**values, point=one.point, arm=arm, text="More.", is_planned=False)


def judges_have_read_everything(study):
    run = make_run(study.project, "reader")
    for item in Item.objects.all():
        make_verdict(run, item, "unrepairable_or_no_answer")


def the_others_are_done(study):
    for row in Assignment.objects.exclude(annotator=study.five[0]).exclude(state="submitted"):
        Assignment.objects.filter(pk=row.pk).update(state="submitted", first_shown_at=NOW, ended_at=NOW)


@pytest.mark.parametrize(
    "change",
    [
        *(arms_are_swapped, it_was_drawn_otherwise, runs_and_models_are_others, other_versions_say_something_else),
        *(there_are_more_conditions, judges_have_read_everything, the_others_are_done),
    ],
    ids=lambda change: change.__name__,
)
def test_what_is_hidden_changes_no_byte(study, change):
    before = pages(study)
    change(study)
    assert pages(study) == before


def test_with_the_same_words_both_versions_are_the_same_page(study):
    """Every item that this annotator has becomes the other version of its point: with one text for both, nothing of
    any page tells them apart."""
    Item.objects.update(text="One text for both.")
    before = pages(study)
    other_versions(study.five[0])
    assert pages(study) == before


def test_with_other_words_only_the_words_differ(study):
    before = {address: bare(sent) for address, sent in pages(study).items()}
    other_versions(study.five[0])
    after = pages(study)
    assert {address: bare(sent) for address, sent in after.items()} == before
    assert any(b"Text B" in body or b"Text A" in body for _, _, body in after.values())


def bare(sent):
    """Without the letter by which the texts of both versions differ."""
    status, _, body = sent
    return status, re.sub(rb"Text [AB] of", b"Text of", body)


def other_versions(member):
    for row in member.assignments.select_related("item"):
        other = Item.objects.exclude(pk=row.item_id).get(point=row.point, arm__in=("default", "rewrite"))
        Assignment.objects.filter(pk=row.pk).update(item=other)


# These tests can fail


def test_an_arm_in_a_page_is_found(study, monkeypatch):
    in_template("annotate/_where.html", "{% if not item.progress %}", "{{ row.item.arm }}{% if not item.progress %}")(
        monkeypatch
    )
    before = pages(study)
    arms_are_swapped(study)
    assert pages(study) != before
    assert any(WORDS.search(body.decode()) for _, _, body in before.values())


def test_the_studys_name_in_a_page_is_found(study, monkeypatch):
    monkeypatch.setattr(blind, "titles_for_annotators", lambda assigning, titles: titles)
    assert any(WORDS.search(body.decode()) for _, _, body in pages(study).values())


def test_in_a_panel_titles_are_the_leads_own(study):
    Project.objects.update(assigning="panel")
    assert any(STUDY[0].encode() in body.replace(b"&#x27;", b"'") for _, _, body in pages(study).values())
