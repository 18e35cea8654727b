"""A reviewer's script settles like the page does."""

from types import SimpleNamespace

import pytest
from django.core.cache import cache

from annotate.models import Project, SentBack, Settlement
from tests.annotate.api.asking import Script, codes
from tests.annotate.test_reviewing import ELSEWHERE, KEY, NEEDY, READABLE
from tests.factories import make_annotation, make_cast, make_item, make_submitted

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast():
    cache.clear()
    rows = make_cast()
    cast = SimpleNamespace(**{name: getattr(rows, name) for name in rows.__dataclass_fields__})
    for labels in ((READABLE, NEEDY), (NEEDY, ELSEWHERE)):
        item = make_item(cast.project)
        for member, label in zip((cast.ana, cast.ben), labels, strict=True):
            make_submitted(member, item, label)
    return cast


def of(cast, what=""):
    return f"projects/{cast.project.slug}/disagreements/{what}"


def decision(card, **values):
    said = {"key": KEY, "base": card["base"], "seen": card["seen"], "cause": "slip", "confidence": "high"}
    return {**said, **values}


def first_card(cast, script):
    return script.get(of(cast, script.get(of(cast)).json()["rows"][0]["id"] + "/")).json()


def test_the_queue_comes_by_pages_and_narrows(cast):
    rita = Script(cast.rita)
    whole = rita.get(of(cast)).json()
    assert [row["differing"] for row in whole["rows"]] == [["fail", "label"], ["elsewhere"]]
    first = rita.get(of(cast, "?limit=1")).json()
    assert (first["rows"], first["next"]) == (whole["rows"][:1], 1)
    assert rita.get(of(cast, "?limit=1&first=1")).json() == {"rows": whole["rows"][1:], "next": None, "n_left": 0}
    assert rita.get(of(cast, "?measure=elsewhere&phase=main")).json()["rows"] == whole["rows"][1:]
    assert rita.get(of(cast, "?state=mine")).status_code == 400


def test_an_item_is_settled_by_what_its_card_says(cast):
    rita = Script(cast.rita)
    card = first_card(cast, rita)
    assert [one["name"] for one in card["answers"]] == ["A", "B"]
    assert not {"annotator", "code", "active_ms", "item_id"} & set(str(card).replace("'", " ").split())
    address = of(cast, f"{card['id']}/settlements/")
    stored = rita.post(address, decision(card, answer="A"))
    assert stored.status_code == 201
    again = rita.post(address, decision(card, answer="nothing like it"))
    assert (again.status_code, again.json()) == (200, stored.json())
    assert Settlement.objects.get().label == card["answers"][0]["label"]
    late = rita.post(address, decision(card, key="another-key-0123456789"))
    assert (late.status_code, codes(late)) == (409, {("base", "settled_meanwhile")})


def test_what_is_wrong_is_named(cast):
    rita = Script(cast.rita)
    card = first_card(cast, rita)
    address = of(cast, f"{card['id']}/settlements/")
    for values, found in (
        ({"cause": "mood"}, {("cause", "unknown_value")}),
        ({"answer": "Q"}, {("answer", "unknown_value")}),
        ({"answer": "A", "label": READABLE}, {("label", "unknown_field")}),
        ({"label": {**NEEDY, "spans": []}}, {("spans", "span_missing")}),
    ):
        response = rita.post(address, decision(card, **values))
        assert (response.status_code, codes(response)) == (422, found)
    for member in (cast.ana, cast.ben):
        for assignment in member.assignments.all():
            make_annotation(assignment, READABLE)
    response = rita.post(address, decision(card, answer="A"))
    assert (response.status_code, codes(response)) == (409, {("seen", "answers_changed")})
    assert not Settlement.objects.exists()


def test_an_item_is_sent_back_once_to_those_whose_answers_are_named(cast):
    rita = Script(cast.rita)
    card = first_card(cast, rita)
    address = of(cast, f"{card['id']}/send-back/")
    said = {"key": KEY, "seen": card["seen"], "names": ["A"], "reason": "Which unit?"}
    for values, found in (
        ({"reason": " "}, {("reason", "empty_value")}),
        ({"names": []}, {("names", "wrong_type")}),
        ({"names": ["A", "Q"]}, {("names", "unknown_value")}),
        ({"key": "x"}, {("key", "wrong_type")}),
    ):
        response = rita.post(address, {**said, **values})
        assert (response.status_code, codes(response)) == (422, found)
    stale = rita.post(address, {**said, "seen": "x" * 32})
    assert (stale.status_code, codes(stale)) == (409, {("seen", "answers_changed")})
    sent = [rita.post(address, said) for _ in range(2)]
    assert [(one.status_code, one.json()) for one in sent] == [(200, {"key": KEY, "n_people": 1})] * 2
    row = SentBack.objects.get()
    annotator = row.assignment.annotator
    shown = Script(annotator).get(f"items/{row.assignment.public_id}/").json()
    assert (shown["sent_back"], shown["informed"]) == ("Which unit?", None)
    other = cast.ben if annotator == cast.ana else cast.ana
    assert "Which unit?" not in Script(other).get(f"projects/{cast.project.slug}/next/").content.decode()
    again = rita.post(address, {**said, "key": "another-key-0123456789"})
    assert (again.status_code, again.json()["problems"][0]["code"]) == (422, "sent_back_already")
    assert rita.get(of(cast, f"{card['id']}/")).json()["n_waiting"] == 1
    assert Script(cast.lea).post(address, {**said, "key": "a-third-key-0123456789"}).status_code == 404
    assert Script(cast.ana).post(address, said).status_code == 404


def test_a_lead_looks_on_and_nobody_else_sees_anything(cast):
    rita, lea = Script(cast.rita), Script(cast.lea)
    card = first_card(cast, rita)
    address = of(cast, f"{card['id']}/settlements/")
    theirs = first_card(cast, lea)
    assert not theirs["may_settle"]
    assert lea.post(address, decision(theirs, answer="A")).status_code == 404
    Project.objects.update(open_lead=True)
    assert lea.post(address, decision(theirs, answer="A")).status_code == 201
    for who in (cast.ana, cast.zoe):
        script = Script(who)
        missing = script.get("never-was/")
        for place in (of(cast), of(cast, f"{card['id']}/")):
            assert script.get(place).content == missing.content
