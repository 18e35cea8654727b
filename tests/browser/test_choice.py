"""A team's own question in the browser: a lead makes it on a page, and a person answers it by keys alone."""

import os

import pytest
from django.utils import timezone

from annotate import importing, setting_up
from annotate.models import Annotation, Assignment, Person, Project, Role
from tests.annotate.choice_study import QUESTION, import_texts, make_study
from tests.browser.conftest import PASSWORD
from tests.browser.test_access import violations
from tests.factories import make_annotation, make_person

TEXTS = "id,text\na,The GTR fell by a third.\nb,It rose again.\n"
SHOTS = os.environ.get("SIGHTLINE_SHOTS")


def shot(page, name):
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def fill(page, place, english, chinese=""):
    page.fill(f"[name=parts-{place}-en]", english)
    if chinese:
        page.fill(f"[name=parts-{place}-zh]", chinese)


def press(page, name):
    """A button of the page on which the question is made; the answer has come when its row is there."""
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.click(f"#labels button[name=do][value={name}]")
    page.wait_for_load_state("networkidle")


def has_the_focus(page, name):
    page.wait_for_function("name => document.activeElement.name === name", arg=name)


def make_the_question(page, site):
    page.goto(f"{site}/new-project/")
    page.fill("[name=title_en]", "Tone")
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.select_option("[name=kind]", "choice")
    page.wait_for_selector("[name=parts-0-title-en]")
    page.check("[name=open_phase][value=main]")
    page.check("[name=judged][value=text]")
    fill(page, "0-title", "How calm is it?", "有多平静？")
    fill(page, "0-labels-0-title", "calm", "平静")
    fill(page, "0-labels-1-title", "terse", "简短")
    press(page, "label-0")
    has_the_focus(page, "parts-0-labels-2-title-en")
    page.keyboard.type("angry")
    page.check("[name=parts-0-ordered]")
    press(page, "add-marks")
    has_the_focus(page, "parts-1-title-en")
    page.keyboard.type("What is unclear")
    fill(page, "1-labels-0-title", "term")
    press(page, "label-1")
    fill(page, "1-labels-1-title", "reference")
    press(page, "add-note")
    fill(page, "2-title", "Why is it angry?")
    page.fill("[name=parts-2-key]", "w")
    page.wait_for_function("document.querySelector('#labels-parts-2-when').options.length > 3")
    page.select_option("[name=parts-2-when]", label="How calm is it? = angry")


def test_a_lead_makes_a_question_with_ordered_labels_and_two_types_of_marks_and_a_person_answers_by_keys(
    somebody, live_server, tmp_path
):
    make_person("lee", PASSWORD, may_create_projects=True)
    lead = somebody()
    page = lead.sign_in("lee")
    make_the_question(page, live_server.url)
    preview = page.locator("#labels-preview")
    preview.locator("text=reference").first.wait_for()
    assert preview.locator("[lang=zh] >> text=平静").count()
    shot(page, "choice-question")
    page.fill("[name=parts-2-key]", "p")
    page.click("text=Make the project")
    page.wait_for_selector("#labels .problems")
    assert "the key “p” is taken by the page" in page.inner_text("#labels .problems")
    assert page.input_value("[name=parts-1-labels-1-title-en]") == "reference"
    page.fill("[name=parts-2-key]", "w")
    page.click("text=Make the project")
    page.wait_for_url(f"{live_server.url}/projects/tone/")
    project = Project.objects.get(slug="tone")
    schema = project.protocols.get().label_schema
    assert [part["id"] for part in schema["parts"]] == ["how_calm_is_it", "what_is_unclear", "why_is_it_angry"]
    path = tmp_path / "texts.csv"
    path.write_text(TEXTS, "utf-8")
    importing.import_traces(project=project, path=path, file_name=path.name)
    setting_up.add_member(
        project=project, person=make_person("ana", PASSWORD), role=Role.ANNOTATOR, by=None, now=timezone.now()
    )
    reader = somebody(locale="en-US")
    answer_by_keys(reader, live_server.url)


def answer_by_keys(reader, site):
    page = reader.sign_in("ana")
    page.goto(f"{site}/projects/tone/label/")
    page.wait_for_selector("#label-form")
    assert page.locator(".message").count() == 0
    words = page.inner_text("#reply-text")
    why = page.locator("[data-part=why_is_it_angry]")
    assert why.is_hidden()
    page.keyboard.press("3")
    assert why.is_visible()
    page.focus("#reply-text")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+Control+ArrowRight")
    page.keyboard.press("t")
    page.locator(".chip").first.wait_for()
    page.keyboard.press("w")
    page.keyboard.type("it shouts")
    shot(page, "choice-label")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("before => document.querySelector('#reply-text').innerText !== before", arg=words)
    annotation = Annotation.objects.get()
    assert annotation.label["answers"] == {"how_calm_is_it": "angry"}
    assert annotation.label["notes"] == {"why_is_it_angry": "it shouts"}
    (span,) = annotation.label["spans"]
    assert (span["start"], span["type"]) == (0, "term")
    assert words.startswith(span["quote"])
    page.keyboard.press("z")
    page.wait_for_selector(".chip")
    assert page.is_checked("[name='one.how_calm_is_it'][value=angry]")
    assert Person.objects.count() == 2


@pytest.fixture
def study(live_server, tmp_path):
    """A project with texts, one of them labelled by its one annotator, whose every part is on the page."""
    parts = [*QUESTION["parts"]]
    parts[2] = {**parts[2], "ends": [{"en": "not at all", "zh": "完全不"}, {"en": "fully", "zh": "完全"}]}
    parts[4] = {**parts[4], "when": {"part": "tone", "label": "angry"}}
    project = make_study(names=("ana",), schema={**QUESTION, "parts": parts})
    import_texts(project, tmp_path)
    for person in Person.objects.all():
        person.set_password(PASSWORD)
        person.save()
    return project


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_its_pages_are_for_everybody(somebody, study, live_server, scheme, language):
    Person.objects.update(interface_language=language)
    labelled, first = Assignment.objects.order_by("order")[1:3]
    answers = {"tone": "angry", "faults": ["long"]}
    make_annotation(labelled, {"answers": answers, "notes": {"more": "x"}, "spans": [SPAN]})
    Assignment.objects.filter(pk=labelled.pk).update(state="submitted")
    Assignment.objects.filter(pk=first.pk).update(state="open")
    own = [("label", f"/label/{first.public_id}/"), ("answer", f"/label/{labelled.public_id}/")]
    led = [
        ("next-protocol", "/projects/tone/protocols/new/"),
        ("protocols", "/projects/tone/protocols/"),
        ("item", f"/projects/tone/items/{labelled.item_id}/labels/"),
    ]
    found = {}
    for name, addresses in (("tone-ana", own), ("tone-lead", led)):
        visitor = somebody(color_scheme=scheme, locale={"en": "en", "zh-hans": "zh-CN"}[language])
        page = visitor.sign_in(name)
        for which, address in addresses:
            for width in (1280, 320):
                page.set_viewport_size({"width": width, "height": 800})
                response = page.goto(f"{live_server.url}{address}")
                assert response.status == 200, address
                if problems := violations(page):
                    found[which, width] = problems
                shot(page, f"choice-{which}-{scheme}-{language}-{width}")
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{address} scrolls sideways at {width} px: {wide}"
    assert found == {}


SPAN = {"start": 8, "end": 11, "type": "term", "quote": "the"}
