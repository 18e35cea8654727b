"""The report of replies as a lead reads it: tables, their drawings, and the paragraph for a paper."""

import pytest

from annotate.models import Person
from tests.browser.conftest import PASSWORD
from tests.browser.test_access import violations
from tests.factories import CONVERSATION, make_cast, make_item, make_member, make_submitted, make_trace
from tests.scoring.readings import checker_run, make_checking, make_reading, question, reader_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MODELS = ("alpha-1", "beta-1")
CONDITIONS = ("default", "requirements", "rewrite")


@pytest.fixture
def study(db):
    """Eight collaborations of two models, each with a point written anew under three conditions, of which each of three
    people reads one; a reader and a checker."""
    cast = make_cast()
    people = (cast.ana, cast.ben, make_member(cast.project, "cai"))
    reader, checker = reader_run(cast.project), checker_run(cast.project)
    for place in range(8):
        model, area = MODELS[place % 2], ("upland", "lowland")[place % 4 // 2]
        trace = make_trace(cast.project, CONVERSATION, metadata={"model": model}, area=area)
        for number, arm in enumerate(CONDITIONS):
            text = f"Run r{place} under way, see table {number}."
            item = make_item(trace=trace, text=text, point=f"p{place}", arm=arm)
            has_gap = (place + number) % 3 == 0
            make_reading(reader, item, *([question(f"r{place}", text)] if has_gap else []))
            make_checking(checker, item, errors=["one"] * (place % 2))
            who = people[(place + number) % 3]
            label = "needs_information" if has_gap else "readable"
            spans = [{"start": 4, "end": 6, "type": "reference", "quote": text[4:6]}] if has_gap else []
            make_submitted(who, item, label={"label": label, "states_no_result": False, "spans": spans})
    cast.lea.person.set_password(PASSWORD)
    cast.lea.person.save()
    return cast


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_the_page_fits(somebody, live_server, study, scheme, language):
    Person.objects.filter(pk=study.lea.person_id).update(interface_language=language)
    page = somebody(color_scheme=scheme).sign_in("lea")
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{live_server.url}/projects/{study.project.slug}/report/")
        page.wait_for_selector("figure.strips svg")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_each_drawn_row_is_the_table_s_and_the_paragraph_is_there_twice(somebody, live_server, study):
    page = somebody().sign_in("lea")
    page.goto(f"{live_server.url}/projects/{study.project.slug}/report/")
    section = page.locator("section", has=page.locator("#conditions"))
    drawn = section.locator("figure .strip-name").all_inner_texts()
    assert drawn == ["default", "requirements", "rewrite"]
    words = [one.split(" (")[0] for one in section.locator("figure .strip-words").all_inner_texts()]
    shown = section.locator("table tbody tr", has=page.locator("th", has_text="fail")).locator("td:nth-child(3)")
    assert [one.split(" n ")[0].strip() for one in words] == shown.all_inner_texts()
    paragraphs = page.locator("section", has=page.locator("#paragraph")).locator("p.said")
    assert [one.get_attribute("lang") for one in paragraphs.all()] == ["en", "zh-hans"]
    assert "written anew under each condition" in paragraphs.first.inner_text()
