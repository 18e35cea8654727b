"""The pages of reviewers, through the browser's requests, with and without htmx."""

import re
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Event, Project, Role, SentBack, Settlement
from tests.annotate.test_reviewing import ELSEWHERE, KEY, NEEDY, READABLE
from tests.factories import make_annotation, make_cast, make_item, make_member, make_run, make_submitted

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def cast():
    rows = make_cast()
    cast = SimpleNamespace(**{name: getattr(rows, name) for name in rows.__dataclass_fields__})
    cast.items = [make_item(cast.project) for _ in range(3)]
    for item, labels in zip(cast.items, ((READABLE, NEEDY), (NEEDY, ELSEWHERE), (READABLE, READABLE)), strict=True):
        for member, label in zip((cast.ana, cast.ben), labels, strict=True):
            make_submitted(member, item, label)
    return cast


@pytest.fixture
def rita(cast):
    return signed_in(cast.rita)


def signed_in(member):
    browser = Client()
    browser.force_login(member.person)
    return browser


def queue_address(cast, query=""):
    return reverse("annotate:settling_queue", args=[cast.project.slug]) + query


def first_card(cast, browser):
    page = browser.get(queue_address(cast)).content.decode()
    return re.search(rf"/projects/{cast.project.slug}/settling/([\w-]+)/", page)[0]


def fields_of(page):
    """The hidden fields of the form that settles."""
    form = page.split('id="label-form"')[1]
    return {name: re.search(rf'name="{name}" value="([^"]*)"', form)[1] for name in ("key", "base", "seen")}


def decide(browser, address, headers=None, **values):
    page = browser.get(address).content.decode()
    fields = {**fields_of(page), "cause": "slip", "confidence": "high", **values}
    return browser.post(f"{address}store/", fields, headers=headers or {})


def test_the_queue_shows_what_matters_most_first_without_names(cast, rita):
    page = rita.get(queue_address(cast)).content.decode()
    rows = re.findall(r'<td class="number">(\d+)%</td><td>([^<]*)</td>', page)
    in_passages = "marked passages or what no measure reads"
    assert [differing for _, differing in rows] == ["fails or passes · the three labels", in_passages]
    assert int(rows[0][0]) > int(rows[1][0])
    assert_names_nobody(cast, page)


def assert_names_nobody(cast, page):
    """In what is read; secrets of forms may hold any two letters."""
    words = re.findall(r"[\w-]+", re.sub(r"<[^>]*>", " ", page))
    assert not {who for one in (cast.ana, cast.ben) for who in (one.code, one.person.username)} & set(words)


@pytest.mark.parametrize("query", ["?state=mine", "?after=-1", "?after=x", "?phase=practice", "?after=9999999999"])
def test_an_address_that_asks_for_none_is_the_404(cast, rita, query):
    assert rita.get(queue_address(cast, query)).status_code == 404


def test_filters_go_along_to_the_item_and_to_the_next_one(cast, rita):
    page = rita.get(queue_address(cast, "?measure=elsewhere&phase=main")).content.decode()
    address = re.search(rf"/projects/{cast.project.slug}/settling/[\w-]+/\?[^\"]*", page)[0].replace("&amp;", "&")
    assert address.endswith("?phase=main&measure=elsewhere")
    assert "measure=elsewhere" in rita.get(address).content.decode().split("store/")[1][:60]


@pytest.mark.parametrize("who", ["ana", "zoe"])
def test_nobody_else_sees_anything(cast, rita, who):
    address = first_card(cast, rita)
    browser = signed_in(getattr(cast, who))
    missing = browser.get(f"/projects/{cast.project.slug}/settling/never-was/")
    for path in (queue_address(cast), address, f"{address}verdict/"):
        response = browser.get(path)
        assert (response.status_code, response.content) == (404, missing.content)
    for path in (f"{address}store/", f"{address}send-back/"):
        assert browser.post(path, {"key": KEY}).status_code == 404


def test_the_card_shows_the_text_once_and_answers_by_letter(cast, rita):
    page = rita.get(first_card(cast, rita)).content.decode()
    assert page.count("Which of the two is cheaper?") == 1
    assert re.findall(r'name="answer" value="([^"]*)"', page) == ["A", "B", "unresolved"]
    assert "≠" in page
    assert_names_nobody(cast, page)


def test_an_answer_is_adopted_and_the_page_says_so(cast, rita):
    address = first_card(cast, rita)
    response = decide(rita, address, answer="A", note="Plain.")
    assert (response.status_code, response.headers["Location"]) == (302, address)
    page = rita.get(address).content.decode()
    assert 'id="settled-title">Settled' in page
    assert "Plain." in page
    assert "What the judge says" in page
    assert Settlement.objects.get().label in (READABLE, NEEDY)


def test_what_is_missing_is_said_and_what_was_typed_stays(cast, rita):
    address = first_card(cast, rita)
    response = decide(rita, address, answer="B", cause="", note="so far")
    page = response.content.decode()
    assert response.status_code == 422
    assert "Say why people disagreed" in page
    assert re.search(r'value="B"[^>]* checked', page)
    assert 'value="so far"' in page
    assert not Settlement.objects.exists()


def test_another_label_is_written_in_the_kinds_own_form(cast, rita):
    address = first_card(cast, rita)
    page = rita.get(f"{address}?write=1").content.decode()
    assert 'data-kind="reply"' in page
    fields = {**fields_of(page), "answer": "written", "cause": "ambiguous", "confidence": "low"}
    wrong = rita.post(f"{address}store/", {**fields, "label": "needs_information", "spans": "[]"})
    assert wrong.status_code == 422
    assert "at least one passage" in wrong.content.decode()
    piece = rita.post(f"{address}store/", {**fields, "label": "", "spans": "[]"}, headers=HTMX)
    assert (piece.status_code, piece.headers["HX-Retarget"]) == (422, "#problems")
    done = rita.post(f"{address}store/", {**fields, "label": "unrepairable_or_no_answer", "spans": "[]"}, headers=HTMX)
    assert done.status_code == 200
    assert "It is settled" in done.content.decode()
    assert Settlement.objects.get().label["label"] == "unrepairable_or_no_answer"


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "piece"])
def test_the_second_of_two_reviewers_sees_both_and_can_store_theirs(cast, rita, headers):
    rob = signed_in(make_member(cast.project, "rob", Role.REVIEWER))
    address = first_card(cast, rita)
    page = rob.get(f"{address}?write=1").content.decode()
    mine = {**fields_of(page), "answer": "written", "cause": "ambiguous", "confidence": "low", "note": "mine"}
    mine |= {"label": "unrepairable_or_no_answer", "spans": "[]", "comment": "typed by rob"}
    decide(rita, address, answer="A", note="theirs")
    response = rob.post(f"{address}store/", mine, headers=headers)
    page = response.content.decode()
    assert response.status_code == 409
    assert "Another reviewer settled it meanwhile" in page
    for words in ("theirs", "mine", "typed by rob", "unrepairable or no answer"):
        assert words in page
    assert Settlement.objects.count() == 1
    again = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.replace("&quot;", '"')))
    assert again["base"] == "1"
    assert rob.post(f"{address}store/", again).status_code == 302
    assert [(row.note, row.is_current) for row in Settlement.objects.order_by("pk")] == [
        ("theirs", False), ("mine", True),
    ]  # fmt: skip


def test_an_answer_that_changed_meanwhile_is_told_and_what_was_chosen_is_kept(cast, rita):
    address = first_card(cast, rita)
    fields = {**fields_of(rita.get(address).content.decode()), "cause": "slip", "confidence": "high"}
    for item in cast.items:
        make_annotation(cast.ana.assignments.get(item=item), NEEDY)
    response = rita.post(f"{address}store/", {**fields, "answer": "A", "note": "kept"})
    assert response.status_code == 409
    assert "An answer changed meanwhile" in response.content.decode()
    assert "kept" in response.content.decode()
    assert "Store mine" not in response.content.decode()
    assert not Settlement.objects.exists()


def test_sent_twice_it_is_stored_once(cast, rita):
    address = first_card(cast, rita)
    fields = {**fields_of(rita.get(address).content.decode()), "cause": "slip", "confidence": "high", "answer": "A"}
    assert [rita.post(f"{address}store/", fields).status_code for _ in range(2)] == [302, 302]
    assert Settlement.objects.count() == 1


def test_an_item_is_sent_back_with_a_reason(cast, rita):
    address = first_card(cast, rita)
    seen = fields_of(rita.get(address).content.decode())["seen"]
    refused = rita.post(f"{address}send-back/", {"key": KEY, "seen": seen, "names": ["A", "B"], "reason": " "})
    assert refused.status_code == 422
    sent = rita.post(f"{address}send-back/", {"key": KEY, "seen": seen, "names": ["A", "B"], "reason": "Look again."})
    assert sent.status_code == 302
    assert SentBack.objects.count() == 2
    assert "2 people have not answered again yet" in rita.get(address).content.decode()
    ana = cast.ana.assignments.get(round__purpose="sent_back")
    page = signed_in(cast.ana).get(reverse("annotate:label_item", args=[ana.public_id])).content.decode()
    assert "Look again." in page
    assert cast.rita.person.username not in page


def test_the_judge_is_covered_until_ones_own_is_stored(cast, rita):
    run = make_run(cast.project, items=cast.items)
    address = first_card(cast, rita)
    assert rita.get(f"{address}verdict/").status_code == 404
    decide(rita, address, answer="A")
    page = rita.get(f"{address}verdict/").content.decode()
    assert "readable" in page
    assert f"Run {run.number}" not in page
    assert Settlement.objects.get().verdict_seen_at is not None
    anew = rita.get(f"{address}?again=1").content.decode()
    assert 'name="answer"' in anew
    rita.post(f"{address}store/", {**fields_of(anew), "cause": "slip", "confidence": "low", "answer": "unresolved"})
    assert Settlement.objects.get(is_current=True).after_verdict


def test_a_lead_looks_on_and_settles_where_leads_label_too(cast, rita):
    lea, address = signed_in(cast.lea), first_card(cast, rita)
    page = lea.get(address).content.decode()
    assert 'name="answer"' not in page
    posted = {"key": KEY, "base": "0", "seen": fields_of(page)["seen"], "answer": "A", "cause": "slip"}
    assert lea.post(f"{address}store/", {**posted, "confidence": "high"}).status_code == 404
    Project.objects.filter(pk=cast.project.pk).update(open_lead=True)
    assert decide(lea, address, answer="A").status_code == 302


def test_a_lead_closes_the_project_and_people_see_where_they_differ(cast, rita):
    address = first_card(cast, rita)
    card = rita.get(address).content.decode()
    letter = "A" if 'aria-label="A"' in card else "B"
    decide(rita, address, answer=letter)
    lea, close = signed_in(cast.lea), reverse("annotate:close_project", args=[cast.project.slug])
    assert lea.post(close, {}).status_code == 422
    assert lea.post(close, {"knowingly": "yes", "show_settled": "yes"}).status_code == 302
    overview = lea.get(reverse("annotate:show_project", args=[cast.project.slug])).content.decode()
    assert "This project is closed" in overview
    settled = Settlement.objects.get()
    for member in (cast.ana, cast.ben):
        own = member.assignments.get(item=settled.item)
        page = signed_in(member).get(reverse("annotate:label_item", args=[own.public_id])).content.decode()
        same = own.annotations.get().label == settled.label
        assert ("settled to the same" in page) is same
        assert ("settled to something else" in page) is not same
        member.refresh_from_db()
        assert member.settled_seen_at is not None
        listed = signed_in(member).get(reverse("annotate:own_annotations", args=[cast.project.slug])).content.decode()
        assert listed.count("settled to") == 1
    assert Event.objects.filter(action="settled_seen").count() == 2


def test_a_reviewer_comes_in_by_their_first_page(cast, rita):
    page = rita.get("/").content.decode()
    assert queue_address(cast) in page
    guideline = rita.get(reverse("annotate:guideline", args=[cast.project.slug])).content.decode()
    assert queue_address(cast) in guideline
    assert "Continue reading" not in guideline


@pytest.mark.parametrize("n_more", [0, 30])
def test_pages_take_a_fixed_number_of_statements(cast, rita, n_more, django_assert_num_queries):
    for _ in range(n_more):
        item = make_item(cast.project)
        make_submitted(cast.ana, item, READABLE)
        make_submitted(cast.ben, item, NEEDY)
    address = first_card(cast, rita)
    with django_assert_num_queries(7):  # session and person; the queue's five
        rita.get(queue_address(cast))
    with django_assert_num_queries(11):
        rita.get(address)
