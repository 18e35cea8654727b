"""The lead's pages of a project: making one, how far it is, its settings, opening the next phase."""

import html
import re

import pytest
from django.urls import reverse

from annotate import people
from annotate.errors import NotYours
from annotate.models import Assignment, Event, Membership, Post, Project, Role, Settlement
from tests.factories import (
    NOW,
    make_assignment,
    make_batch,
    make_cast,
    make_item,
    make_member,
    make_person,
    make_submitted,
    make_trace,
)

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def cast(db):
    return make_cast()


def show(client, cast, person=None):
    client.force_login(person or cast.lea.person)
    return client.get(reverse("annotate:show_project", args=[cast.project.slug]))


def words(response):
    return html.unescape(response.content.decode())


def report(cast, text="The reply is cut off."):
    trace = make_trace(cast.project, source_id="run-of-the-night")
    assignment = make_assignment(cast.ana, make_item(trace=trace), State.PROBLEM, ended_at=NOW)
    Post.objects.create(
        item=assignment.item, round=assignment.round, author=cast.ana, purpose=Post.Purpose.PROBLEM, text=text
    )
    return assignment


def give_back(client, project, assignment):
    return client.post(reverse("annotate:give_back", args=[project.slug, assignment.pk]))


def test_a_lead_sees_people_problems_and_imports(client, cast):
    report(cast)
    make_submitted(cast.ben)
    make_batch(cast.project, file_name="night.jsonl", counts={"traces": 3})
    response = show(client, cast)
    assert response.status_code == 200
    for word in ("ana", "ben", "lea", "The reply is cut off.", "run-of-the-night", "night.jsonl"):
        assert word in words(response)
    assert "synthetic" not in words(response)


def steps(response):
    """The list of what to do next: words by what is done, and the one that is next."""
    lines = re.findall(
        r'<li class="(.*?)"><span class="tick" aria-hidden="true">.</span><span>([^<]*)', words(response)
    )
    return {text.strip(): state for state, text in lines}


def test_an_empty_project_says_what_comes_next(client, cast):
    response = show(client, cast)
    assert steps(response) == {
        "Bring in traces. Items so far: practice 0, pilot 0, main phase 0.": "is-next",
        "Invite annotators; agreement needs two. So far: 2.": "is-done",
        "Open the main phase.": "is-done",
    }
    assert f'class="button primary" href="{reverse("annotate:list_imports", args=[cast.project.slug])}"' in words(
        response
    )


def test_the_list_follows_the_project_and_ends_with_nothing_to_do(client, cast):
    Project.objects.filter(pk=cast.project.pk).update(open_phase="practice")
    practice = make_item(cast.project, phase="practice")
    make_item(cast.project, phase="pilot")
    make_item(cast.project)
    assert [text for text, state in steps(show(client, cast)).items() if state == "is-next"] == [
        "Answer the practice items; they open when all are. Answered: 0 of 1."
    ]
    Settlement.objects.create(item=practice, label={}, how="known")
    assert steps(show(client, cast))["Open the pilot when practice is done."] == "is-next"
    client.post(reverse("annotate:open_phase", args=[cast.project.slug]), {"phase": "main"})
    assert steps(show(client, cast)) == {}
    assert "Everything is set up, and nothing waits for you." in words(show(client, cast))


def test_phases_show_how_far_they_are(client, cast):
    practice, other = make_item(cast.project, phase="practice"), make_item(cast.project, phase="practice")
    Settlement.objects.create(item=practice, label={}, how="known")
    Settlement.objects.create(item=other, label={}, how="known", is_current=False)
    make_submitted(cast.ana, practice)
    make_assignment(cast.ben, practice)
    make_assignment(cast.ben, other, State.PROBLEM)
    make_assignment(cast.ana, other, State.WITHDRAWN)
    make_item(trace=make_trace(cast.project, is_staged=True))
    row = re.search(r'<th scope="row">practice</th>(.*?)</tr>', words(show(client, cast)))[1]
    assert re.findall(r"<td.*?>(.*?)</td>", row) == ["2", "1", "1", "3", "1", "open to annotators"]


def test_a_lead_sees_who_left_and_what_they_had(client, cast):
    make_submitted(cast.ana)
    make_assignment(cast.ana, state=State.WITHDRAWN)
    make_assignment(cast.ben, state=State.WITHDRAWN)
    Membership.objects.filter(pk=cast.ana.pk).update(left_at=NOW)
    Membership.objects.filter(pk=cast.ben.pk).update(paused_at=NOW)
    rows = re.findall(r"<tr><td>(a\d)</td><td>\w+</td><td>(.*?)</td>(.*?)</tr>", words(show(client, cast)))
    counts = {code: (part, re.findall(r">(\d+)<", numbers)) for code, part, numbers in rows}
    assert counts[cast.ana.code] == ("annotator · has left", ["1", "2", "0"])
    assert counts[cast.ben.code] == ("annotator · paused", ["0", "0", "0"])


@pytest.mark.parametrize("is_open", [True, False])
def test_a_project_in_which_leads_label_says_so(client, cast, is_open):
    Project.objects.filter(pk=cast.project.pk).update(open_lead=is_open, is_synthetic=is_open)
    said = words(show(client, cast))
    assert ("Leads label too (open lead); every report says so." in said) == is_open
    assert (reverse("annotate:next_item", args=[cast.project.slug]) in said) == is_open
    assert ("Demo: the labels in this project are synthetic." in said) == is_open


def test_the_page_is_in_the_language_of_its_reader(client, cast):
    person = cast.lea.person
    person.interface_language = "zh-hans"
    person.save()
    assert f"<h1>{cast.project.title_zh}</h1>" in words(show(client, cast))


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_for_everybody_else_the_page_is_not_there(client, cast, who):
    missing = client.get("/no/such/page/")
    response = show(client, cast, getattr(cast, who).person)
    missing = client.get(reverse("annotate:show_project", args=["no-such-project"]))
    assert (response.status_code, response.content) == (404, missing.content)


def test_a_lead_who_left_sees_nothing_any_more(client, cast):
    Membership.objects.filter(pk=cast.lea.pk).update(left_at=NOW)
    assert show(client, cast).status_code == 404


def test_a_lead_gives_a_reported_item_back(client, cast):
    assignment = report(cast)
    show(client, cast)
    response = give_back(client, cast.project, assignment)
    assert (response.status_code, response["Location"]) == (
        302,
        reverse("annotate:show_project", args=[cast.project.slug]),
    )
    assignment.refresh_from_db()
    assert (assignment.state, assignment.ended_at) == (State.OPEN, None)
    assert "The reply is cut off." not in words(show(client, cast))
    assert give_back(client, cast.project, assignment).status_code == 302
    assert Event.objects.filter(action="problem_given_back").count() == 1


@pytest.mark.parametrize("who", ["ana", "ben", "rita", "zoe"])
def test_nobody_else_can_give_an_item_back(client, cast, who):
    assignment = report(cast)
    client.force_login(getattr(cast, who).person)
    assert give_back(client, cast.project, assignment).status_code == 404
    assert give_back(client, cast.other_project, assignment).status_code == 404
    assignment.refresh_from_db()
    assert assignment.state == State.PROBLEM


def test_a_lead_cannot_reach_an_item_of_another_project(client, cast):
    other = make_assignment(cast.zoe, state=State.PROBLEM)
    client.force_login(cast.lea.person)
    assert give_back(client, cast.project, other).status_code == 302
    other.refresh_from_db()
    assert other.state == State.PROBLEM
    mine = report(cast)
    give_back(client, cast.project, mine)
    mine.refresh_from_db()
    assert mine.state == State.OPEN


@pytest.mark.parametrize("n", [1, 30])
def test_the_page_takes_nine_statements_whatever_it_holds(client, cast, django_assert_num_queries, n):
    for number in range(n):
        make_submitted(cast.ana)
        report_of = make_assignment(cast.ben, make_item(cast.project, phase="practice"), State.PROBLEM)
        Post.objects.create(
            item=report_of.item, round=report_of.round, author=cast.ben, purpose=Post.Purpose.PROBLEM, text="Cut."
        )
        make_member(cast.project, f"annotator {number}")
    client.force_login(cast.lea.person)
    with django_assert_num_queries(9):
        client.get(reverse("annotate:show_project", args=[cast.project.slug]))


# Opening a phase


def open_phase(client, cast, phase, who=None):
    client.force_login(who or cast.lea.person)
    return client.post(reverse("annotate:open_phase", args=[cast.project.slug]), {"phase": phase})


def test_a_lead_opens_the_next_phase_and_hears_before_what_is_missing(client, cast):
    Project.objects.filter(pk=cast.project.pk).update(open_phase="practice")
    make_assignment(cast.ana, make_item(cast.project, phase="practice"))
    said = words(show(client, cast))
    for sentence in ("Practice items without a known answer: 1.", "People who have not finished practice: 1."):
        assert sentence in said
    response = open_phase(client, cast, "pilot")
    assert (response.status_code, response["Location"]) == (
        302,
        reverse("annotate:show_project", args=[cast.project.slug]),
    )
    assert Project.objects.get(pk=cast.project.pk).open_phase == "pilot"


def test_what_was_shown_cannot_be_closed_and_the_page_says_so(client, cast):
    make_submitted(cast.ana)
    assert 'value="practice"' not in words(show(client, cast))
    response = open_phase(client, cast, "practice")
    assert response.status_code == 422
    assert "A phase can be closed while nothing of it was shown; 1 items were. Leave it open." in words(response)
    assert Project.objects.get(pk=cast.project.pk).open_phase == "main"


def test_what_was_not_shown_can_be_closed(client, cast):
    assert "Close what comes after: practice" in words(show(client, cast))
    assert open_phase(client, cast, "practice").status_code == 302
    assert Project.objects.get(pk=cast.project.pk).open_phase == "practice"


def test_what_was_shown_and_withdrawn_cannot_be_closed_and_is_not_offered(client, cast):
    shown = make_assignment(cast.ana, first_shown_at=NOW)
    people.retire_member(project=cast.project, member_id=cast.ana.pk, by=cast.lea.person, now=NOW)
    shown.refresh_from_db()
    assert (shown.state, shown.first_shown_at) == ("withdrawn", NOW)
    assert "Close what comes after" not in words(show(client, cast))
    assert open_phase(client, cast, "practice").status_code == 422


@pytest.mark.parametrize("phase", ["", "later"])
def test_a_phase_that_is_none_is_refused(client, cast, phase):
    response = open_phase(client, cast, phase)
    assert response.status_code == 422
    assert "One of: practice, pilot, main." in words(response)


# A new project


NEW = {
    "title_en": "Airline replies",
    "title_zh": "航空回复",
    "slug": "airline",
    "kind": "reply",
    "languages": ["en", "zh"],
    "seed": "77",
    "text_beside_calls": "visible",
    "show": "plain",
    "open_phase": "pilot",
}


@pytest.fixture
def maker(client):
    person = make_person("lee", may_create_projects=True)
    client.force_login(person)
    return person


def make(client, **fields):
    return client.post(reverse("annotate:new_project"), {**NEW, **fields})


def test_who_may_makes_a_project_and_leads_it(client, maker):
    response = make(client)
    assert (response.status_code, response["Location"]) == (302, reverse("annotate:show_project", args=["airline"]))
    project = Project.objects.get()
    assert (project.title_en, project.title_zh, project.seed, project.languages) == (
        *("Airline replies", "航空回复"),
        *(77, ["en", "zh"]),
    )
    assert project.settings == {"text_beside_calls": "visible", "show": "plain"}
    assert (project.open_phase, project.open_lead) == ("pilot", False)
    assert project.memberships.values_list("person", "role").get() == (maker.pk, Role.LEAD)
    assert client.get(response["Location"]).status_code == 200


def test_a_new_project_begins_with_practice_and_a_drawn_seed(client, maker):
    first, second = (words(client.get(reverse("annotate:new_project"))) for _ in range(2))
    assert re.search(r'value="practice"[^>]*checked', first)
    seeds = [re.search(r'name="seed" value="(\d+)"', page)[1] for page in (first, second)]
    assert seeds[0] != seeds[1]


def test_a_name_is_made_from_the_english_title(client, maker):
    make(client, slug="", title_en="Airline: replies, 2nd  round!")
    assert Project.objects.get().slug == "airline-replies-2nd-round"


def test_without_an_english_title_a_name_is_asked_for_and_the_titles_stand_for_each_other(client, maker):
    response = make(client, slug="", title_en="")
    assert response.status_code == 422
    assert "Give the project a name; none can be made without an English title." in words(response)
    make(client, title_en="")
    assert Project.objects.values_list("title_en", "title_zh").get() == ("航空回复", "航空回复")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"title_en": "", "title_zh": " "}, "A project has a title in at least one language."),
        ({"slug": "two words"}, "A project's name has at most 60 letters, digits, hyphens and underscores."),
        ({"slug": "there-already"}, "There is a project there-already already."),
        ({"languages": []}, "This field is required."),
        ({"languages": ["de"]}, "Select a valid choice."),
        ({"kind": "Reply"}, "Select a valid choice."),
        ({"seed": "-1"}, "Ensure this value is greater than or equal to 0."),
        ({"seed": str(2**63)}, "Ensure this value is less than or equal to"),
        ({"seed": "x"}, "Enter a whole number."),
        ({"show": "bold"}, "Select a valid choice."),
        ({"text_beside_calls": ""}, "This field is required."),
        ({"open_phase": "later"}, "Select a valid choice."),
        ({"title_zh": "a\0b"}, "Null characters are not allowed."),
    ],
)
def test_what_is_wrong_is_named_and_what_was_typed_stays(client, maker, fields, said):
    make(client, slug="there-already", title_en="Taken")
    response = make(client, **{"title_zh": "保留", "seed": "4711", **fields})
    assert response.status_code == 422
    assert said in words(response)
    if "title_zh" not in fields:
        assert 'value="保留"' in words(response)
    assert Project.objects.count() == 1


@pytest.mark.parametrize("who", ["ana", "rita", "lea", "zoe"])
def test_for_who_may_not_make_projects_the_page_is_not_there(client, cast, who):
    client.force_login(getattr(cast, who).person)
    missing = client.get(reverse("annotate:show_project", args=["no-such-project"]))
    for response in (client.get(reverse("annotate:new_project")), make(client)):
        assert (response.status_code, response.content) == (404, missing.content)
    assert not Project.objects.filter(slug="airline").exists()


def test_a_title_that_names_a_model_has_to_be_confirmed(client, maker):
    response = make(client, title_en="Does GPT-4o answer?")
    assert response.status_code == 422
    assert not Project.objects.exists()
    (names,) = re.findall(r'name="confirm_names" value="(.*?)"', words(response))
    assert "gpt-4o" in names.lower()
    assert make(client, title_en="Does ChatGPT answer?", confirm_names=names).status_code == 422
    assert make(client, title_en="Does GPT-4o answer?", confirm_names=names).status_code == 302
    assert Project.objects.get().title_en == "Does GPT-4o answer?"


# Settings


def settings_of(client, cast, who=None, **fields):
    client.force_login(who or cast.lea.person)
    path = reverse("annotate:edit_project", args=[cast.project.slug])
    values = {"title_en": cast.project.title_en, "title_zh": cast.project.title_zh, "languages": ["en", "zh"]}
    values |= {"show": "light", "text_beside_calls": "private"}
    return client.post(path, {**values, **fields}) if fields else client.get(path)


def test_a_lead_changes_the_settings(client, cast):
    response = settings_of(client, cast, title_en="Other", show="plain", open_lead="on", text_beside_calls="visible")
    assert (response.status_code, response["Location"]) == (
        302,
        reverse("annotate:show_project", args=[cast.project.slug]),
    )
    project = Project.objects.get(pk=cast.project.pk)
    assert (project.title_en, project.open_lead) == ("Other", True)
    assert project.settings == {"text_beside_calls": "visible", "show": "plain"}
    settings_of(client, cast, title_en="Other")
    assert not Project.objects.get(pk=cast.project.pk).open_lead


@pytest.mark.parametrize("n", [1, 20])
def test_the_settings_take_four_statements_whatever_the_project_holds(client, cast, django_assert_num_queries, n):
    for number in range(n):
        make_submitted(cast.ana)
        make_member(cast.project, f"annotator {number}")
    client.force_login(cast.lea.person)
    with django_assert_num_queries(4):
        client.get(reverse("annotate:edit_project", args=[cast.project.slug]))


@pytest.mark.parametrize("what", ["settings", "phase"])
def test_a_lead_who_is_removed_meanwhile_finds_nothing_there(client, cast, monkeypatch, what):
    def removed(project, by):
        raise NotYours

    with monkeypatch.context() as patch:
        patch.setattr("annotate.people.lock_led", removed)
        response = open_phase(client, cast, "pilot") if what == "phase" else settings_of(client, cast, show="plain")
    assert response.status_code == 404


def test_what_cannot_be_changed_stands_there_with_the_reason(client, cast):
    said = words(settings_of(client, cast))
    for sentence in ("It stands in addresses that people have.", "Orders that people have begun to read come from it."):
        assert sentence in said
    assert f"<code>{cast.project.slug}</code>" in said
    assert 'name="seed"' not in said
    assert 'name="text_beside_calls"' in said
    make_trace(cast.project)
    said = words(settings_of(client, cast))
    assert 'name="text_beside_calls"' not in said
    assert "It was decided when the first trace came in." in said
    settings_of(client, cast, text_beside_calls="visible", show="plain", seed="1", kind="x", slug="y")
    project = Project.objects.get(pk=cast.project.pk)
    assert project.settings == {"text_beside_calls": "private", "show": "plain"}
    assert (project.seed, project.kind, project.slug) == (cast.project.seed, "reply", cast.project.slug)


def test_what_a_service_refuses_is_said_at_its_field_and_what_was_typed_stays(client, cast):
    make_trace(cast.project, language="zh")
    response = settings_of(client, cast, languages=["en"], title_en="Typed and kept")
    assert response.status_code == 422
    assert "“zh” is that of 1 traces and is read by 4 people." in words(response)
    assert 'id="id_languages_error"' in words(response)
    assert 'value="Typed and kept"' in words(response)
    assert Project.objects.get(pk=cast.project.pk).title_en == cast.project.title_en


def test_only_a_name_that_is_new_in_a_title_is_asked_about(client, cast):
    Project.objects.filter(pk=cast.project.pk).update(title_en="Is ChatGPT clear?")
    assert settings_of(client, cast, title_en="Is ChatGPT clear now?").status_code == 302
    response = settings_of(client, cast, title_en="Are ChatGPT and DeepSeek clear?")
    assert response.status_code == 422
    (names,) = re.findall(r'name="confirm_names" value="(.*?)"', words(response))
    assert "deepseek" in names.lower()
    assert "chatgpt" not in names.lower()


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_nobody_else_sees_or_changes_settings_and_phases(client, cast, who):
    person = getattr(cast, who).person
    client.force_login(person)
    missing = client.get(reverse("annotate:show_project", args=["no-such-project"]))
    answers = [
        settings_of(client, cast, who=person),
        settings_of(client, cast, who=person, title_en="Mine"),
        open_phase(client, cast, "practice", who=person),
    ]
    for response in answers:
        assert (response.status_code, response.content) == (404, missing.content)
    assert Project.objects.get(pk=cast.project.pk).open_phase == "main"
    assert not Event.objects.exists()


# The first page


def test_the_first_page_leads_to_a_new_project_who_may_make_one(client, cast):
    for person, may in ((cast.lea.person, False), (make_person("lee", may_create_projects=True), True)):
        client.force_login(person)
        assert (reverse("annotate:new_project") in words(client.get("/"))) == may


@pytest.mark.parametrize("is_open", [True, False])
def test_a_lead_who_labels_goes_on_reading_from_the_first_page(client, cast, is_open):
    Project.objects.filter(pk=cast.project.pk).update(open_lead=is_open)
    client.force_login(cast.lea.person)
    assert (reverse("annotate:next_item", args=[cast.project.slug]) in words(client.get("/"))) == is_open
