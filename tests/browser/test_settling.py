"""A reviewer settles four items without a mouse: adopts, writes, leaves unresolved, sends back; looks at the judge."""

import pytest
from django.utils import timezone

from annotate.models import Membership, Person, Project, Role, Settlement
from scoring.running import start_run
from tests.browser.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rita(site):
    """A reviewer of the demo, and a judge that has begun."""
    person = Person.objects.create_person("rita", PASSWORD)
    project = Project.objects.get(slug="demo")
    Membership.objects.create(
        project=project, person=person, role=Role.REVIEWER, code="r1", languages=["en", "zh"], created_at=timezone.now()
    )
    start_run(person=None, project=project, judge="lexical", phases=["main"])
    return person


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def settle(page, *keys):
    """Choose by these keys and store; ends on the page that says so."""
    press(page, *keys, "Control+Enter")
    page.wait_for_selector("#settled-title")


def test_a_reviewer_settles_four_items_by_keyboard(visit, site, rita):
    visitor = visit()
    page = visitor.sign_in("rita")
    page.click("text=Disagreements")
    page.wait_for_selector("text=how far apart")
    press(page, "c")
    page.wait_for_selector("#label-form")
    first = page.url
    assert page.request.get(f"{first}verdict/").status == 404
    # adopt the second answer; cause and confidence each by a key
    settle(page, "2", "e", "h")
    assert page.inner_text("#settled-title") == "Settled"
    row = Settlement.objects.exclude(how="known").get()
    assert (row.how, row.cause, row.confidence) == ("reviewer", "slip", "high")
    # the judge is uncovered only now
    press(page, "v")
    page.wait_for_selector("h1:has-text('What the judge says')")
    press(page, "c")
    page.wait_for_url(lambda url: "/verdict/" not in url)
    # leave one unresolved, with a note
    press(page, "u", "a", "l", "n")
    page.keyboard.type("Both readings hold.")
    press(page, "Control+Enter")
    page.wait_for_selector("#settled-title")
    assert page.inner_text("#settled-title") == "Left unresolved"
    press(page, "c")
    page.wait_for_selector("#label-form [name=answer]")
    # write another in the kind's own form
    press(page, "w")
    page.wait_for_selector("[data-kind=reply]")
    press(page, "3", "n")
    page.focus("[name=cause][value=guideline]")
    press(page, "Space")
    page.focus("[name=confidence][value=medium]")
    press(page, "Space", "Control+Enter")
    page.wait_for_selector("h2:text-matches('It is settled|Settled')")  # in place, or on the item's page without htmx
    written = Settlement.objects.get(is_current=True, cause="guideline")
    assert (written.label["label"], written.label["states_no_result"]) == ("unrepairable_or_no_answer", True)
    press(page, "c")
    page.wait_for_selector("#label-form [name=answer]")
    # send one back to those who answered
    fourth = page.url
    press(page, "b")
    page.focus("#reason")
    page.keyboard.type("Look at the last sentence again.")
    press(page, "Tab", "Enter")
    page.wait_for_selector("text=not answered again yet")
    settle(page, "1", "q", "m")
    assert page.url == fourth
    # and settle the first one anew: the old one stays
    page.goto(first)
    press(page, "z")
    page.wait_for_selector("#label-form [name=answer]")
    settle(page, "1", "t", "l")
    rows = Settlement.objects.filter(item=row.item).order_by("pk")
    assert [(one.is_current, one.after_verdict) for one in rows] == [(False, False), (True, True)]
    assert Settlement.objects.filter(is_current=True).exclude(how="known").count() == 4


def test_it_goes_without_script_too(visit, site, rita):
    visitor = visit(java_script_enabled=False)
    page = visitor.sign_in("rita")
    page.goto(f"{site}/projects/demo/settling/")
    page.click("main tbody a >> nth=0")
    page.check("[name=answer][value=A]")
    page.check("[name=cause][value=slip]")
    page.check("[name=confidence][value=high]")
    page.click("[data-submit]")
    page.wait_for_selector("#settled-title")
    assert Settlement.objects.exclude(how="known").count() == 1
