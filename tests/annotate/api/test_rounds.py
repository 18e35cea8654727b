"""Rounds over the API: what an informed item tells its annotator, and what leads do with rounds, gaps and pauses."""

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.models import Assignment, Membership, Post, Project, Round, Settlement
from tests.annotate.api.asking import Script, codes
from tests.annotate.test_rounds import look_again, own_in
from tests.factories import (
    NOW,
    make_assignment,
    make_cast,
    make_item,
    make_member,
    make_protocol,
    make_round,
    make_submitted,
)

pytestmark = pytest.mark.django_db
KEY, OTHER_KEY = "key-of-a-post-0001", "key-of-a-post-0002"
GOOD, POOR = "readable", "needs_information"


@pytest.fixture
def cast():
    """ana, ben and cara differ on one item; ana and ben agree on another."""
    cache.clear()
    cast = make_cast()
    cast.__dict__["cara"] = make_member(cast.project, "cara")
    cast.__dict__["disputed"], cast.__dict__["agreed"] = make_item(cast.project), make_item(cast.project)
    for member, label in ((cast.ana, GOOD), (cast.ben, POOR), (cast.cara, POOR)):
        make_submitted(member, cast.disputed, label)
    for member in (cast.ana, cast.ben):
        make_submitted(member, cast.agreed)
    return cast


@pytest.fixture
def again(cast):
    """ana's informed assignment of what they differ on."""
    look_again(cast)
    return own_in(cast.ana, 2, cast.disputed)


@pytest.fixture
def lea(cast):
    return Script(cast.lea)


def of(cast, what=""):
    return f"projects/{cast.project.slug}/{what}"


def say(script, assignment, key=KEY, text="It lacks the unit.", what="thread", **fields):
    return script.post(f"items/{assignment.public_id}/{what}/", {"key": key, "text": text, **fields})


def statements(script, method, address, body=None):
    with CaptureQueriesContext(connection) as captured:
        response = script.ask(method, address, body)
    assert response.status_code in (200, 201), response.content
    return len(captured)


# Annotators


def test_an_informed_item_carries_earlier_answers_and_the_thread_without_names(cast, again):
    ana, ben = Script(cast.ana), Script(cast.ben)
    theirs = own_in(cast.ben, 2, cast.disputed)
    assert say(ben, theirs).status_code == 201
    assert say(ana, again, text="  It is in the table.\n").status_code == 201
    shown = ana.get(of(cast, "next/")).json()["item"]
    assert shown["public_id"] == again.public_id
    answers, thread = shown["informed"]["answers"], shown["informed"]["thread"]
    assert [(one["is_own"], one["label"]["label"]) for one in answers] == [(True, GOOD), (False, POOR), (False, POOR)]
    assert {tuple(sorted(one)) for one in answers} == {("is_own", "label", "label_schema")}
    assert thread.pop("posts") == [
        {"number": ben.get(f"items/{theirs.public_id}/").json()["informed"]["thread"]["number"], "is_own": False,
         "text": "It lacks the unit."},
        {"number": thread["number"], "is_own": True, "text": "It is in the table."},
    ]  # fmt: skip
    assert (thread["n"], thread["is_open"]) == (3, True)
    first = ana.get(f"items/{own_in(cast.ana, 1, cast.disputed).public_id}/").json()
    assert first["informed"] is None


def test_an_earlier_answer_comes_with_the_labels_it_was_given_under(cast):
    make_protocol(cast.project, label_schema={"anything": "else"})
    look_again(cast)
    shown = Script(cast.ana).get(of(cast, "next/")).json()["item"]
    assert shown["label_schema"] == {"anything": "else"}
    assert all("anything" not in one["label_schema"] for one in shown["informed"]["answers"])


def test_a_post_is_stored_once_for_a_key_whatever_becomes_of_the_item(cast, again):
    ana = Script(cast.ana)
    assert say(ana, again).json() == {"key": KEY}
    again_said = say(ana, again, text="Something else.")
    assert (again_said.status_code, again_said.json()) == (200, {"key": KEY})
    assert Post.objects.get().text == "It lacks the unit."
    Round.objects.update(closed_at=NOW)
    assert say(ana, again).status_code == 200
    assert say(ana, again, key=OTHER_KEY).status_code == 404
    assert ana.get(f"items/{again.public_id}/").status_code == 404


def test_a_key_of_another_post_is_refused_and_loses_nothing(cast):
    look_again(cast, "all")
    Assignment.objects.filter(round__number=2).update(state="open")
    ana = Script(cast.ana)
    disputed, agreed = (own_in(cast.ana, 2, item) for item in (cast.disputed, cast.agreed))
    assert say(ana, disputed).status_code == 201
    for assignment, what, said in ((agreed, "thread", {}), (disputed, "gap", {"protocol": 1})):
        response = say(ana, assignment, what=what, **said)
        assert (response.status_code, codes(response)) == (422, {("key", "key_taken")})
    assert say(ana, agreed, key=OTHER_KEY).status_code == 201
    assert Post.objects.count() == 2


@pytest.mark.parametrize("what", ["thread", "gap"])
def test_words_that_cannot_be_stored_are_refused_by_name(cast, again, what):
    ana = Script(cast.ana)
    said = {"protocol": 1} if what == "gap" else {}
    for fields, found in (
        ({"text": " "}, {("text", "empty_value")}),
        ({"text": "x" * 4001}, {("text", "too_many")}),
        ({"key": "short"}, {("key", "wrong_type")}),
        ({"text": 1}, {("text", "wrong_type")}),
    ):
        response = say(ana, again, what=what, **{**said, **fields})
        assert (response.status_code, codes(response)) == (422, found)
    assert say(ana, again, what=what, more=1, **said).status_code == 400
    assert not Post.objects.exists()


def test_there_is_no_thread_outside_an_informed_round_and_none_of_others(cast, again):
    ana = Script(cast.ana)
    missing = say(ana, again, what="nothing-such")
    first, theirs = own_in(cast.ana, 1, cast.disputed), own_in(cast.ben, 2, cast.disputed)
    for assignment in (first, theirs):
        response = say(ana, assignment)
        assert (response.status_code, response.content) == (404, missing.content)
    for script in (Script(cast.lea), Script(cast.zoe)):
        assert say(script, again).status_code == 404
    assert not Post.objects.exists()
    assert say(ana, again).status_code == 201
    response = say(ana, theirs)  # which tells nothing of what item that is of
    assert (response.status_code, response.content) == (404, missing.content)


def test_a_token_posts_in_its_own_project_alone_and_says_nothing_of_others(cast, again):
    part = Membership.objects.create(
        project=cast.other_project, person=cast.ana.person, role="annotator", code="a9", languages=["en"]
    )
    ana, elsewhere = Script(cast.ana), Script(part)
    assert say(ana, again).status_code == 201
    for key in (KEY, OTHER_KEY):
        for what, said in (("thread", {}), ("gap", {"protocol": 1})):
            assert say(elsewhere, again, key=key, what=what, **said).status_code == 404
    assert Post.objects.count() == 1


def test_a_gap_goes_to_the_lead_with_the_protocol_it_was_met_in(cast, lea):
    ana = Script(cast.ana)
    make_protocol(cast.project)
    waiting = make_assignment(cast.ana)
    for key, protocol in ((KEY, 1), (OTHER_KEY, 2)):
        assert say(ana, waiting, key=key, text=f"What of {protocol}?", what="gap", protocol=protocol).status_code == 201
    assert say(ana, waiting, what="gap", protocol=1).status_code == 200
    wrong = say(ana, waiting, key="key-of-a-post-0003", what="gap", protocol=9)
    assert (wrong.status_code, codes(wrong)) == (422, {("protocol", "unknown_protocol")})
    first = lea.get(of(cast, "gaps/?limit=1")).json()
    second = lea.get(of(cast, f"gaps/?limit=1&cursor={first['next']}")).json()
    rows = first["rows"] + second["rows"]
    assert [(row["text"], row["protocol"], row["code"]) for row in rows] == [
        ("What of 2?", 2, cast.ana.code), ("What of 1?", 1, cast.ana.code)
    ]  # fmt: skip
    assert second["next"] is None
    assert lea.get(of(cast, "gaps/?protocol=1")).json()["rows"] == rows[1:]
    shown = ana.get(f"items/{waiting.public_id}/")
    assert "What of" not in shown.content.decode()
    assert shown.json()["is_submitted"] is False


def test_a_guideline_of_an_earlier_protocol_can_be_read(cast):
    ana = Script(cast.ana)
    make_protocol(cast.project)
    assert ana.get(of(cast, "guideline/")).json()["protocol"] == 2
    assert ana.get(of(cast, "guideline/?protocol=1")).json()["protocol"] == 1
    assert ana.get(of(cast, "guideline/?protocol=3")).status_code == 404


# Leads


def test_a_lead_closes_a_round_opens_an_informed_one_and_sees_both(cast, lea):
    waiting = make_assignment(cast.ana)
    listed = lea.get(of(cast, "rounds/")).json()
    assert [row["number"] for row in listed["rows"]] == [1]
    assert listed["to_look_at"] == {"all": 0, "common": 0, "disagreeing": 0}
    assert codes(lea.post(of(cast, "rounds/"), {"which": "all"})) == {("which", "nothing_to_look_at")}
    closed = lea.patch(of(cast, "rounds/1/"), {"state": "closed", "rest": "withdraw"})
    assert closed.status_code == 200
    assert closed.json() == lea.get(of(cast, "rounds/1/")).json()
    assert (closed.json()["n_done"], closed.json()["n_waiting"]) == (5, 0)
    waiting.refresh_from_db()
    assert waiting.state == Assignment.State.WITHDRAWN
    again = lea.patch(of(cast, "rounds/1/"), {"state": "closed"})
    assert (again.status_code, again.json()) == (200, closed.json())
    assert lea.get(of(cast, "rounds/")).json()["to_look_at"] == {"all": 2, "common": 1, "disagreeing": 1}
    opened = lea.post(of(cast, "rounds/"), {"which": "disagreeing"})
    assert (opened.status_code, opened.json()) == (201, {"number": 2, "n_items": 1, "n_assignments": 3})
    row = lea.get(of(cast, "rounds/2/")).json()
    assert (row["purpose"], row["informed"], row["n_waiting"], row["closed_at"]) == ("informed", True, 3, None)
    twice = lea.post(of(cast, "rounds/"), {"which": "all"})
    assert (twice.status_code, codes(twice)) == (422, {("which", "round_open")})


def test_what_nobody_submitted_goes_on_where_nothing_else_is_said(cast, lea):
    waiting = make_assignment(cast.ana)
    assert lea.patch(of(cast, "rounds/1/"), {"state": "closed"}).status_code == 200
    waiting.refresh_from_db()
    assert (waiting.state, waiting.round.number, waiting.round.informed) == (Assignment.State.OPEN, 2, False)


def test_wrong_words_about_rounds_are_named(cast, lea):
    for body, field in (({"which": "some"}, "which"), ({"which": "all", "phase": "practice"}, "phase")):
        response = lea.post(of(cast, "rounds/"), body)
        assert (response.status_code, codes(response)) == (422, {(field, "unknown_value")})
    for body, field in (({"state": "open"}, "state"), ({"state": "closed", "rest": "lost"}, "rest")):
        response = lea.patch(of(cast, "rounds/1/"), body)
        assert (response.status_code, codes(response)) == (422, {(field, "unknown_value")})
    for number in (9, "9" * 30):
        response = lea.patch(of(cast, f"rounds/{number}/"), {"state": "closed"})
        assert (response.status_code, response.content) == (404, lea.get("never-was/").content)
    assert not Round.objects.exclude(closed_at=None).exists()


def test_what_reviewers_name_as_gaps_is_listed(cast, lea):
    for cause in ("guideline", "slip"):
        item = make_item(cast.project)
        Settlement.objects.create(
            item=item, how="unresolved", person=cast.rita.person, cause=cause, note=cause,
            protocol=cast.project.protocols.get(),
        )  # fmt: skip
    rows = lea.get(of(cast, "gaps/settled/")).json()["rows"]
    assert [(row["note"], row["protocol"]) for row in rows] == [("guideline", 1)]


def test_a_rule_for_known_answers_is_set_told_and_ended(cast, lea):
    address = of(cast, "pass-rule/")
    none = {"last": None, "percent": None, "standings": []}
    assert lea.get(address).json() == none
    assert lea.put(address, {"last": 4, "percent": 75}).json() == {"last": 4, "percent": 75, "standings": []}
    known = {"label": GOOD, "states_no_result": False, "spans": [], "comment": ""}
    Settlement.objects.create(item=cast.agreed, how="known", label=known)
    told = {"code": cast.ana.code, "n_right": 1, "n": 1, "is_paused": False}
    assert told in lea.get(address).json()["standings"]
    for body, found in (
        ({"last": 0, "percent": 75}, {("last", "out_of_range")}),
        ({"last": 4, "percent": None}, {("known_last", "out_of_range")}),
        ({"last": None, "percent": 75}, {("known_last", "out_of_range")}),
        ({"last": 4}, {("percent", "missing_field")}),
    ):
        response = lea.put(address, body)
        assert (response.status_code, codes(response)) == (422, found)
    assert lea.get(address).json()["last"] == 4
    assert lea.put(address, {"last": None, "percent": None}).json()["last"] is None


def test_a_project_is_closed_knowingly_and_then_tells_what_was_settled(cast, lea):
    label = {"label": POOR, "states_no_result": False, "spans": [], "comment": ""}
    Settlement.objects.create(
        item=cast.disputed, how="reviewer", label=label, person=cast.rita.person,
        protocol=cast.project.protocols.get(),
    )  # fmt: skip
    ana, first = Script(cast.ana), own_in(cast.ana, 1, cast.disputed)
    unknowing = lea.post(of(cast, "close/"), {"show_settled": True})
    assert (unknowing.status_code, codes(unknowing)) == (422, {("knowingly", "missing_field")})
    assert ana.get(f"items/{first.public_id}/").json()["settled"] is None
    assert lea.get(of(cast)).json()["closed_at"] is None
    closed = lea.post(of(cast, "close/"), {"show_settled": True, "knowingly": True})
    assert closed.status_code == 200
    assert closed.json()["closed_at"] is not None
    assert closed.json()["show_settled"] is True
    assert lea.post(of(cast, "close/"), {"show_settled": False, "knowingly": True}).json() == closed.json()
    settled = ana.get(f"items/{first.public_id}/").json()["settled"]
    assert (settled["label"], settled["is_same"]) == (label, False)
    assert settled["label_schema"] == cast.project.protocols.get().label_schema
    assert Project.objects.get(pk=cast.project.pk).memberships.exclude(settled_seen_at=None).count() == 1


def test_only_leads_do_any_of_this(cast):
    asks = (
        *(("GET", "rounds/", None), ("POST", "rounds/", {"which": "all"}), ("PATCH", "rounds/1/", {"state": "closed"})),
        *(("GET", "gaps/", None), ("GET", "gaps/settled/", None), ("GET", "pass-rule/", None)),
        *(("PUT", "pass-rule/", {"last": 1, "percent": 1}), ("POST", "close/", {"show_settled": True})),
    )
    for who in (cast.ana, cast.rita, cast.zoe):
        script = Script(who)
        missing = script.get("never-was/").content
        for method, what, body in asks:
            response = script.ask(method, of(cast, what), body)
            assert (response.status_code, response.content) == (404, missing)


# What it costs


@pytest.mark.parametrize("n", [1, 20])
def test_each_address_takes_a_fixed_number_of_statements(cast, lea, again, n):
    ana, project = Script(cast.ana), cast.project
    for number in range(n):
        member = make_member(project, f"max{number}")
        make_submitted(member, cast.disputed, round=project.rounds.get(number=1))
        theirs = make_assignment(member, cast.disputed, round=again.round)
        for purpose in ("thread", "gap"):
            said = {"item": cast.disputed, "round": theirs.round, "author": member, "text": "x"}
            Post.objects.create(purpose=purpose, key=f"{purpose} {number}", **said)
        Settlement.objects.create(
            item=make_item(project), how="known", label={"label": GOOD, "spans": []}, cause="guideline"
        )
        make_round(project, "protocol", closed_at=NOW)
    known = Settlement.objects.first().item
    make_submitted(cast.ana, known, round=project.rounds.get(number=1))
    thread = f"items/{again.public_id}/thread/"
    gap = {"key": OTHER_KEY, "text": "x", "protocol": 1}
    counts = {
        "item": statements(ana, "GET", f"items/{again.public_id}/"),
        "thread": statements(ana, "POST", thread, {"key": KEY, "text": "x"}),
        "thread again": statements(ana, "POST", thread, {"key": KEY, "text": "x"}),
        "gap": statements(ana, "POST", f"items/{again.public_id}/gap/", gap),
        "rounds": statements(lea, "GET", of(cast, "rounds/")),
        "round": statements(lea, "GET", of(cast, "rounds/1/")),
        "gaps": statements(lea, "GET", of(cast, "gaps/")),
        "settled gaps": statements(lea, "GET", of(cast, "gaps/settled/")),
        "pass rule": statements(lea, "GET", of(cast, "pass-rule/")),
    }
    assert counts == COUNTS


COUNTS = {
    **{"item": 10, "thread": 7, "thread again": 2, "gap": 9},
    **{"rounds": 7, "round": 4, "gaps": 3, "settled gaps": 3, "pass rule": 4},
}
"""Each with the one for its token, and two where a service opens its transaction."""
