"""A lead draws subsets and brings labels in by keyboard; both pages are for everybody, in both themes and languages and
at both widths."""

import json

import pytest
from axe_playwright_python.sync_playwright import Axe

from annotate.models import Person, Settlement
from tests.annotate.test_known_files import triplet
from tests.annotate.test_subsets import bring_in
from tests.browser.conftest import PASSWORD
from tests.factories import make_member, make_person, make_project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def project(live_server):
    project = make_project("steps", kind="redundancy", assigning="subsets")
    make_member(project, make_person("lea", PASSWORD), "lead")
    for name in ("ana", "ben"):
        make_member(project, make_person(name, PASSWORD))
    bring_in(project, {"airline": 8, "retail": 4})
    return project


def violations(page):
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]})
    return [(one["id"], [node["html"][:80] for node in one["nodes"]]) for one in found.response["violations"]]


def test_a_lead_draws_by_keyboard_and_everybody_has_their_part(project, somebody, live_server):
    page = somebody().sign_in("lea")
    page.goto(f"{live_server.url}/projects/steps/")
    page.click("#subsets a")
    page.focus("#n_common")
    page.keyboard.type("20")
    page.keyboard.press("Tab")
    page.keyboard.type("4")
    page.keyboard.press("Enter")
    assert "20 traces that everybody reads; there are 12." in page.inner_text("[role=alert]")
    page.fill("#n_common", "3")
    page.focus("#n_unique")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Draw anew")
    rows = [row.inner_text().split("\t") for row in page.locator("table").nth(1).locator("tbody tr").all()]
    assert [row[1:] for row in rows] == [["ana", "3", "4"], ["ben", "3", "4"]]
    first = page.locator("table").nth(0).locator("tbody tr").nth(0)
    assert first.inner_text().split("\t") == ["airline", "8", "8", "2"]
    reader = somebody().sign_in("ana")
    reader.goto(f"{live_server.url}/projects/steps/label/")
    reader.wait_for_selector("#label-form")
    assert project.memberships.get(person__username="ana").assignments.count() == 7


def test_labels_made_elsewhere_are_pasted(project, somebody, live_server):
    page = somebody().sign_in("lea")
    page.goto(f"{live_server.url}/projects/steps/practice/")
    names = list(project.traces.order_by("pk").values_list("source_id", flat=True)[:2])
    page.fill("#bring-labels", json.dumps({names[0]: [triplet(4, 40)]}))
    page.click("#bring button >> nth=0")
    assert "from 0 to 11; not 40" in page.inner_text("#bring [role=alert]")
    page.fill("#bring-labels", json.dumps({names[0]: [triplet(9, 10)], names[1]: []}))
    page.click("#bring button >> nth=0")
    assert "Known answers brought in: 2." in page.inner_text("#bring [role=status]")
    assert Settlement.objects.filter(how="known").count() == 2


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(project, somebody, live_server, scheme, language, tmp_path):
    Person.objects.update(interface_language=language)
    page = somebody(color_scheme=scheme).sign_in("lea")
    found = {}
    for path in ("subsets", "practice", "settings"):
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(f"{live_server.url}/projects/steps/{path}/")
            if path == "subsets" and width == 320:
                page.fill("#n_common", "99")
                page.fill("#n_unique", "0")
                page.click(".fields button.primary")
                page.wait_for_selector("[role=alert]")
            found[path, width] = violations(page)
            page.screenshot(path=tmp_path / f"{path}-{width}.png", full_page=True)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{path} scrolls sideways at {width} px: {wide}"
    assert {place: what for place, what in found.items() if what} == {}
