"""Two people look again at what they labelled differently: they read each other's answers without names, talk, and one
of them changes their vote; the first votes stay."""

import pytest
from django.utils import timezone

from annotate.models import Annotation, Assignment, Membership, Person, Post, Project, Round
from annotate.setting_up import NewProject, create_project
from tests.browser.conftest import PASSWORD
from tests.factories import make_item, make_member, make_person, make_submitted, make_trace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(site):
    project = create_project(
        new=NewProject(slug="again", title_en="Looking again", title_zh="再看一遍", seed=3), by=None, now=timezone.now()
    )
    people = {name: make_person(name, PASSWORD) for name in ("nora", "omar")}
    members = {name: make_member(project, person) for name, person in people.items()}
    make_member(project, Person.objects.get(username="lea"), "lead")
    item, agreed = make_item(trace=make_trace(project)), make_item(trace=make_trace(project))
    make_submitted(members["nora"], item, "readable")
    make_submitted(members["omar"], item, "unrepairable_or_no_answer")
    for member in members.values():
        make_submitted(member, agreed, "readable")
    return Project.objects.get(pk=project.pk)


def current(project, name, number):
    rows = Annotation.objects.filter(
        assignment__annotator__project=project,
        assignment__annotator__person__username=name,
        assignment__round__number=number,
        is_current=True,
    )
    return {row.label["label"]: row.informed for row in rows}


def test_an_informed_round_changes_a_vote_and_the_first_one_stays(visit, site, project):
    lead = visit()
    page = lead.sign_in("lea")
    page.goto(f"{site}/projects/again/rounds/")
    page.click("text=Close the round")
    page.check("[name=which][value=disagreeing]")
    page.click("text=Open the round")
    assert "informed" in page.inner_text("table")

    ana, ben = visit(), visit()
    mine, theirs = ana.sign_in("nora"), ben.sign_in("omar")
    for person in (mine, theirs):
        person.goto(f"{site}/projects/again/label/")
        person.wait_for_selector("#thread")
        assert "informed round" in person.inner_text("#where")
        assert person.locator(".earlier li").count() == 2
        assert not {"nora", "omar"} & set(person.inner_text("#item").split())
    assert "unrepairable" in mine.locator(".earlier li").nth(1).inner_text()
    mine.fill("#thread textarea", "It says the price of one only.")
    mine.keyboard.press("Control+Enter")
    mine.wait_for_selector("#thread li")
    assert mine.input_value("#thread textarea") == ""

    theirs.keyboard.press("1")
    theirs.fill("#thread textarea", "half a")
    theirs.click("#label-form [data-submit]")
    assert "did not send it" in theirs.inner_text("#thread [data-post-state]")
    theirs.fill("#thread textarea", "")
    theirs.wait_for_function("() => /Saved/.test(document.getElementById('save-state')?.textContent)")
    theirs.click("text=Look for new posts")
    theirs.wait_for_selector("#thread li")
    said = theirs.inner_text("#thread li")
    assert "It says the price of one only." in said
    assert said.startswith("Annotator ")
    theirs.fill("#thread textarea", "Right, I was wrong.")
    theirs.click("#thread form button")
    theirs.wait_for_function("() => document.querySelectorAll('#thread li').length === 2")
    assert theirs.is_checked("[name=label][value=readable]")
    theirs.click("#label-form [data-submit]")
    theirs.wait_for_selector("text=All done")
    assert current(project, "omar", 1) == {"unrepairable_or_no_answer": False, "readable": False}
    assert current(project, "omar", 2) == {"readable": True}

    mine.keyboard.press("1")
    mine.click("#label-form [data-opens=gap]")
    mine.fill("#gap textarea", "What of a price without a currency?")
    mine.click("#gap button.primary")
    mine.wait_for_selector("#gap-state:has-text('The lead is told')")
    mine.wait_for_function("() => !document.getElementById('gap').open")
    mine.click("#label-form [data-submit]")
    mine.wait_for_selector("text=All done")

    page.reload()
    assert page.inner_text("tbody tr:nth-child(2)").split("\t")[3:8] == ["1", "2", "2", "2", "2"]
    page.click("text=Agreement >> nth=-1")
    assert "Round 2, informed" in page.inner_text("main")
    page.goto(f"{site}/projects/again/gaps/")
    page.check("[name=gap]")
    page.click("text=Write the next protocol from these")
    assert "What of a price without a currency?" in page.input_value("[name=change_note]")
    assert Post.objects.filter(purpose="thread").count() == 2
    assert Round.objects.get(project=project, number=1).closed_at


def test_without_script_a_post_and_a_vote_go_through(visit, site, project):
    Round.objects.filter(project=project).update(closed_at=timezone.now())
    round_ = Round.objects.create(
        project=project, number=2, purpose="informed", informed=True, opened_at=timezone.now()
    )
    item = Annotation.objects.filter(label__label="unrepairable_or_no_answer").get(
        assignment__annotator__project=project
    ).assignment.item
    ana = Membership.objects.get(project=project, person__username="nora")
    row = Assignment.objects.create(annotator=ana, item=item, round=round_, order=0, sequence=1, state="open")
    page = visit(java_script_enabled=False).sign_in("nora")
    page.goto(f"{site}/label/{row.public_id}/")
    page.fill("#thread textarea", "Read it again.")
    page.click("#thread form button")
    assert "Read it again." in page.inner_text("#thread")
    page.check("[name=label][value=unrepairable_or_no_answer]")
    page.click("#label-form [data-submit]")
    assert current(project, "nora", 2) == {"unrepairable_or_no_answer": True}
