"""Two people put gaps into categories, by keys alone; what they are shown, and what their lead sees of it."""

import pytest
from django.utils import timezone

from annotate.importing import FORMAT, add_items
from annotate.models import Annotation, Person
from annotate.staging import NewItem
from annotate.traces import base
from tests.browser.conftest import PASSWORD
from tests.browser.test_access import violations
from tests.factories import make_cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "The plots of the upland arm were read again after the storm, and nothing else was changed in between. " * 2


@pytest.fixture
def study(db):
    cast = make_cast(kind="gap")
    traces = []
    for place, words in enumerate(("run-12", "GTR", "北坡方案")):
        text = f"{LONG}As in {words}, it fell. {LONG}"
        start = text.index(words)
        asked = {"question": f"What is {words}?", "type": "reference", "start": start, "end": start + len(words)}
        trace = base.Trace(f"t{place}", FORMAT, (), cluster=f"c{place}", language="zh" if place == 2 else "en")
        traces.append((trace, [NewItem(3, text, asked=asked)]))
    add_items(project=cast.project, source="gaps", traces=traces, by=cast.lea.person, now=timezone.now())
    for member in (cast.ana, cast.ben, cast.lea):
        member.person.set_password(PASSWORD)
        member.person.save()
    return cast


def first_item(somebody, live_server, study, name, **options):
    page = somebody(**options).sign_in(name)
    page.goto(f"{live_server.url}/projects/{study.project.slug}/label/")
    page.wait_for_selector("#label-form")
    return page


def answer(page, key):
    question = page.locator("#of-its-own .words").inner_text()
    page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "question => document.querySelector('#of-its-own .words')?.innerText !== question", arg=question
    )


def test_three_gaps_by_keys_and_their_agreement(somebody, live_server, study):
    for name, keys in (("ana", "123"), ("ben", "124")):
        page = first_item(somebody, live_server, study, name)
        words = page.locator("#of-its-own .words").inner_text().removeprefix("What is ").removesuffix("?")
        assert page.locator("#reply-text mark").inner_text() == words
        for key in keys:
            answer(page, key)
    said = Annotation.objects.order_by("pk").values_list("label__category", flat=True)
    assert list(said) == ["pointer", "coined", "term", "pointer", "coined", "background"]
    page = somebody().sign_in("lea")
    page.goto(f"{live_server.url}/projects/{study.project.slug}/agreement/")
    assert "category of the gap" in page.locator("main").inner_text()


def test_without_a_category_nothing_is_sent_and_the_page_says_so(somebody, live_server, study):
    page = first_item(somebody, live_server, study, "ana")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".problems:visible, :invalid")
    assert not Annotation.objects.exists()
    page.keyboard.press("2")
    assert page.locator("[name=category][value=coined]").is_checked()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_page_fits(somebody, live_server, study, scheme, language):
    Person.objects.filter(pk=study.ana.person_id).update(interface_language=language)
    page = first_item(somebody, live_server, study, "ana", color_scheme=scheme)
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
