"""The review of jury and detectors: for everybody, in both themes and languages and at both widths, and from a row to
the step it is about."""

import pytest

from annotate.models import Person
from tests.browser.conftest import PASSWORD
from tests.browser.test_access import violations
from tests.factories import make_cast, make_run, make_verdict
from tests.scoring.trajectories import label, make_trajectory, say, triplet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
A, B = triplet(1, "DUP", [2, 3]), triplet(2, "INC")


@pytest.fixture
def judged(db):
    """A detector on sixty trajectories, with predictions of every state but those without gold."""
    cast = make_cast(kind="redundancy")
    run = make_run(cast.project, "stepdet")
    for place in range(60):
        item = make_trajectory(cast.project, area="retail" if place % 2 else "airline", source_id=f"run-{place:040}")
        for who in (cast.ana, cast.ben):
            say(who, item, A, B)
        steps = [A, {**B, "type": "EXP"}, triplet(3)][: place % 4]
        said = [{**one, "confidence": 0.5} for one in steps]
        make_verdict(run, item, label(*steps), finding={"values": {"steps": said}, "spans": []})
    cast.lea.person.set_password(PASSWORD)
    cast.lea.person.save()
    return cast


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_page_fits(somebody, live_server, judged, scheme, language):
    Person.objects.filter(pk=judged.lea.person_id).update(interface_language=language)
    page = somebody(color_scheme=scheme).sign_in("lea")
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for query in ("", "?state=type_differs", "?state=right"):
            page.goto(f"{live_server.url}/projects/{judged.project.slug}/predictions/{query}")
            page.wait_for_selector("main h1")
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_lead_filters_by_state_and_goes_on_to_the_step(somebody, live_server, judged):
    page = somebody().sign_in("lea")
    page.goto(f"{live_server.url}/projects/{judged.project.slug}/report/")
    page.click("main >> text=Predictions")
    page.select_option("#filter-state", "type_differs")
    page.click("text=Show >> nth=0")
    page.wait_for_url("**state=type_differs**")
    assert page.locator("tbody tr").count() == 30
    assert "exploratory step; gold: incorrect step" in page.locator("tbody tr").nth(0).inner_text()
    page.click("tbody tr >> nth=0 >> a >> nth=1")
    page.wait_for_url("**/labels/?from=6")
    assert page.locator("[data-row]").nth(0).get_attribute("data-at") == "6"
