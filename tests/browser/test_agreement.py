"""A lead looks at agreement: from a figure to its items, from there to one of them and on to the next."""

import re

import pytest

from annotate import work
from annotate.models import Person, Project
from scoring import running
from tests.browser.test_access import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def judged(site):
    """The demo with a run of the lexical judge over all of it."""
    project = Project.objects.get(slug="demo")
    run = running.start_run(person=Person.objects.get(username="lea"), project=project, judge="lexical")
    work.drain()
    return run


@pytest.fixture
def lead(visit, judged):
    def begin(**options):
        visitor = visit(**options)
        visitor.sign_in("lea")
        visitor.page.goto(f"{visitor.site}/projects/demo/agreement/")
        return visitor.page

    return begin


def test_a_figure_leads_to_its_items_and_these_to_one_another(lead):
    page = lead()
    assert page.locator(".axis-row.is-diamond").first.get_attribute("aria-label").startswith("judge: 0.")
    page.locator("[aria-labelledby=measure-fail] .axis-row.is-diamond").click()
    page.wait_for_url("**/agreement/items/**of=judge**")
    page.click("text=where they differ")
    page.wait_for_url("**agree=no**")
    rows = page.locator("table.said-by tbody tr")
    assert f"{rows.count()} items" in page.inner_text("main")
    items = [row.locator("a").first.inner_text() for row in rows.all()]
    rows.first.locator("a").first.click()
    page.wait_for_selector(".laned")
    seen = [page.inner_text("h1").removeprefix("Item ")]
    for _ in items[1:]:
        page.keyboard.press("j")
        page.wait_for_function(f"document.querySelector('h1').innerText !== 'Item {seen[-1]}'")
        seen.append(page.inner_text("h1").removeprefix("Item "))
    assert seen == items
    page.keyboard.press("j")
    page.wait_for_selector("table.said-by")


def test_the_axis_is_walked_by_keyboard(lead):
    page = lead()
    page.locator("#filter-cluster").focus()
    names = []
    for _ in range(40):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.matches('.axis-row') ? document.activeElement.ariaLabel : ''")
        names += [name.split(":")[0]] if name else []
        if name.startswith("judge"):
            break
    assert names == ["a1", "a2", "a3", "a4", "a5", "judge"]
    page.keyboard.press("Enter")
    page.wait_for_url("**of=judge**")


def test_filters_work_without_script(lead):
    page = lead(java_script_enabled=False)
    page.select_option("#filter-language", "zh")
    page.select_option("#filter-measure", "label")
    page.click(".filters button")
    page.wait_for_url("**language=zh**")
    assert page.locator("h2", has_text="the three labels").count() == 1
    assert page.locator("h2", has_text="fails or passes").count() == 0
    assert page.input_value("#filter-language") == "zh"


def test_the_planted_run_name_is_a_gap_of_the_judge_and_lies_under_the_text(lead, site):
    page = lead()
    project = Project.objects.get(slug="demo")
    item = next(
        one for one in project.items.all() if "crn_hier_L" in one.trace.messages.get(index=one.anchor).text
        and one.trace.source_id == "main-seagrass-en"
    )
    page.goto(f"{site}/projects/demo/items/{item.pk}/labels/")
    marked = page.locator(".lane:not(:has(.lane))", has_text="crn_hier_L")
    assert marked.count() == 1
    tags = page.locator(".lane-tag").evaluate_all("tags => tags.map(tag => tag.dataset.tag)")
    assert any(re.search(r"\bjudge r\b", tag) for tag in tags)
    assert "crn_hier_L" in page.inner_text("section[aria-label='Identifiers and language']")
    judged_text = project.items.get(pk=item.pk).trace.messages.get(index=item.anchor).text
    assert page.text_content(".laned") == judged_text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_everybody_can_use_these_pages_at_any_width(lead, site, scheme, language):
    Person.objects.update(interface_language=language)
    page = lead(color_scheme=scheme)
    found = {}
    listed = page.locator(".axis-row.is-diamond").first.get_attribute("href")
    for address in (page.url, f"{site}{listed}", None):
        if address is None:  # an item of that list
            address = page.locator("table.said-by a").first.evaluate("link => link.href")
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(address)
            for closed in page.locator("main details:not([open]) > summary").all():
                if closed.is_visible():
                    closed.click()
            found[address, width] = violations(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (address, width)
    assert {place: what for place, what in found.items() if what} == {}
