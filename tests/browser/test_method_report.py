"""The pages that compare what experts name: agreement on sets, and the report of the method, as a lead reads them."""

import pytest

from annotate.models import Person
from tests.browser.conftest import PASSWORD
from tests.browser.test_access import violations
from tests.factories import make_cast, make_member, make_run, make_verdict
from tests.scoring.trajectories import label, make_trajectory, say, triplet

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
A, B = triplet(1, "DUP", [2, 3]), triplet(2, "INC")
PAGES = ("agreement", "report")


@pytest.fixture
def study(db):
    """Three experts on twelve trajectories of two domains, with suggestions that four go without, and a judge."""
    cast = make_cast(kind="redundancy")
    people = (cast.ana, cast.ben, make_member(cast.project, "cai"))
    run = make_run(cast.project, "heuristics")
    for place in range(12):
        shown = place % 3 > 0
        area = "retail" if place % 2 else "airline"
        item = make_trajectory(
            cast.project, suggested=[A], is_shown=shown, area=area, cluster=f"task-{place // 2}"
        )
        make_verdict(run, item, label(A))
        for number, who in enumerate(people):
            named = [A] if (place + number) % 4 else []
            decisions = [(1, "keep" if named else "reject")] if shown else []
            say(who, item, *named, *([B] if number and place % 2 else []), decisions=decisions)
    cast.lea.person.set_password(PASSWORD)
    cast.lea.person.save()
    return cast


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_pages_fit(somebody, live_server, study, scheme, language):
    Person.objects.filter(pk=study.lea.person_id).update(interface_language=language)
    lead = somebody(color_scheme=scheme)
    page = lead.sign_in("lea")
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for name in PAGES:
            page.goto(f"{live_server.url}/projects/{study.project.slug}/{name}/")
            page.wait_for_selector("main table")
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_set_measure_leads_to_its_items_in_the_queue(somebody, live_server, study):
    page = somebody().sign_in("lea")
    page.goto(f"{live_server.url}/projects/{study.project.slug}/agreement/?measure=location")
    page.click("text=Items on which people differ")
    page.wait_for_url("**/settling/**measure=location**")
    assert page.locator("table tbody tr, .queue li").count() > 0
