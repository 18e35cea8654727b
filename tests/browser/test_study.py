"""A whole study in the browser: set up by a lead, read by two people, one of them by keys alone and in Chinese."""

import json

import pytest
from django.utils import timezone

from annotate import setting_up, work
from annotate.models import Annotation, Assignment, Event, Membership, Person, Project
from tests.browser.conftest import PASSWORD, Visit
from tests.conftest import ROOT

RUNS = json.loads((ROOT / "fixtures" / "traces" / "tau2_bench.json").read_text("utf-8"))
PHASES = {"practice": 1, "pilot": 0, "main": 2}
"""Which run of the file is for which phase: of one, two and three replies."""


@pytest.fixture
def files(tmp_path):
    """A tau2 file a phase."""
    paths = {}
    for phase, place in PHASES.items():
        paths[phase] = tmp_path / f"{phase}.json"
        paths[phase].write_text(json.dumps({**RUNS, "simulations": [RUNS["simulations"][place]]}), "utf-8")
    return paths


@pytest.fixture
def somebody(chromium, live_server):
    """Opens a window of its own for each person; none may ask another host or break a script."""
    visits = []

    def begin(**options):
        context = chromium.new_context(viewport={"width": 1280, "height": 800}, **options)
        visits.append(Visit(context, live_server.url))
        return visits[-1]

    yield begin
    for visit in visits:
        visit.context.close()
        assert visit.errors == []
        assert visit.hosts <= {live_server.url.split("/")[2]}


# What people do


class Lead:
    def __init__(self, visit):
        self.visit, self.page, self.site = visit, visit.page, visit.site

    def go(self, path=""):
        self.page.goto(f"{self.site}/projects/library/{path}")

    def set_up(self):
        self.page.goto(f"{self.site}/set-up/{setting_up.first_lead_secret(now=timezone.now())}/")
        self.page.fill("[name=username]", "lee")
        self.page.fill("[name=password]", PASSWORD)
        self.page.click("main button")
        self.page.wait_for_url(f"{self.site}/")
        self.page.click("main a[href='/new-project/']")
        self.page.fill("[name=title_en]", "Library desk")
        self.page.fill("[name=title_zh]", "图书馆服务台")
        self.page.fill("[name=slug]", "library")
        self.page.click("main button.primary")
        self.page.wait_for_url(f"{self.site}/projects/library/")

    def upload(self, path, phase):
        self.go("imports/")
        self.page.set_input_files("[name=file]", path)
        self.page.check(f"[name=phase][value={phase}]")
        self.page.click("#upload-form [type=submit]")
        self.page.wait_for_url(f"{self.site}/projects/library/imports/*/")
        work.drain()
        self.page.wait_for_selector("text=tau2_bench")

    def invite(self, note, language):
        self.go("people/")
        self.page.fill("[name=note]", note)
        for box in self.page.locator("#invites [name=languages]").all():
            box.set_checked(box.get_attribute("value") in ("en", language))
        self.page.click("#invites .fields button.primary")
        return self.page.input_value("#new-link")

    def answer_practice(self):
        self.go("practice/")
        self.page.click("main td a.primary")
        self.page.wait_for_selector("#label-form")
        self.page.wait_for_load_state()  # before its scripts are there the form goes the way without them
        self.page.check("[name=label][value=unrepairable_or_no_answer]")
        self.page.fill("[name=reason_en]", "It does not say until when.")
        self.page.fill("[name=reason_zh]", "没有说明续借到哪一天。")
        self.page.click("[data-submit]")
        self.page.wait_for_selector("#item.page [role=status]")

    def open_phase(self, phase):
        self.go()
        self.page.click(f"button[name=phase][value={phase}]")
        self.page.wait_for_load_state()

    def change_guideline(self, words):
        self.go("protocols/new/")
        self.page.fill("[name=guideline_en]", words)
        self.page.fill("[name=change_note]", "after a talk")
        self.page.click("form.wide button.primary")
        self.page.wait_for_url(f"{self.site}/projects/library/protocols/**")

    def retire(self, name):
        self.go("people/")
        self.page.locator("#people tr", has_text=name).locator("a[aria-expanded]").click()
        self.page.click("#people form[action$='/retire/'] button")
        self.page.wait_for_selector("#people form[action$='/retire/']", state="detached")

    def agreement(self, query=""):
        self.page.goto(f"{self.site}/projects/library/agreement/{query}")
        return self.page.inner_text("main")


class Reader:
    """Somebody with a mouse."""

    def __init__(self, visit, link, name):
        self.page, self.site = visit.page, visit.site
        self.page.goto(link)
        self.fill("username", name)
        self.fill("password", PASSWORD)
        self.press_button("main form.fields button.primary")
        self.page.wait_for_url(lambda url: "/join/" not in url)

    def fill(self, field, words):
        self.page.fill(f"[name={field}]", words)

    def press_button(self, selector):
        self.page.click(selector)

    def read(self):
        self.page.goto(f"{self.site}/projects/library/label/")

    def choose(self, label):
        self.page.check(f"[name=label][value={label}]")

    def submit(self):
        before = self.page.get_attribute("#label-form", "data-item")
        self.press_button("[data-submit]")
        self.page.wait_for_selector(f"#label-form[data-item='{before}']", state="detached")

    def go_on(self):
        self.press_button("#own-label a.primary")
        self.page.wait_for_selector("#own-label", state="detached")

    def said(self):
        return self.page.inner_text("main")


class KeyboardReader(Reader):
    """The same by keys alone."""

    KEYS = {"readable": "1", "needs_information": "2", "unrepairable_or_no_answer": "3"}

    def tab_to(self, selector):
        """Tab on until the element has the focus; it has to be on the way."""
        for _ in range(60):
            if self.page.evaluate("selector => document.activeElement?.matches(selector)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} is never reached by Tab")

    def fill(self, field, words):
        self.tab_to(f"[name={field}]")
        self.page.keyboard.type(words)

    def press_button(self, selector):
        self.tab_to(selector)
        self.page.keyboard.press("Enter")

    def choose(self, label):
        self.page.keyboard.press(self.KEYS[label])

    def submit(self):
        before = self.page.get_attribute("#label-form", "data-item")
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_selector(f"#label-form[data-item='{before}']", state="detached")

    def go_on(self):
        self.page.keyboard.press("c")
        self.page.wait_for_selector("#own-label", state="detached")

    def in_chinese(self):
        self.press_button("button[name=language]")
        self.page.wait_for_selector("html[lang='zh-hans']")

    def mark_first_words(self):
        """From the start of the reply: two words, as a reference that cannot be followed."""
        self.page.wait_for_function("document.activeElement.id === 'reply-text'")
        self.page.keyboard.press("Control+Home")
        for _ in range(2):
            self.page.keyboard.press("Control+Shift+ArrowRight")
        self.page.keyboard.press("r")
        self.page.wait_for_selector("[data-chips] li")


def wait_for_item(reader):
    reader.page.wait_for_selector("#label-form")
    reader.page.focus("#reply-text")


@pytest.mark.django_db(transaction=True)
def test_a_whole_study(somebody, files):
    lead = Lead(somebody())
    lead.set_up()
    for phase in ("practice", "pilot", "main"):
        lead.upload(files[phase], phase)
    rosa = Reader(somebody(), lead.invite("for Rosa", "en"), "rosa")
    wei = KeyboardReader(somebody(), lead.invite("for Wei", "zh"), "wei")
    wei.in_chinese()

    # Practice waits for its answer, tells it afterwards, and the pilot waits for the lead.
    rosa.read()
    assert "not ready" in rosa.said()
    lead.answer_practice()
    for reader, label in ((rosa, "readable"), (wei, "unrepairable_or_no_answer")):
        reader.read()
        wait_for_item(reader)
        assert "until when" not in reader.said()
        reader.choose(label)
        reader.submit()
    assert "It does not say until when." in rosa.said()
    assert "another one" in rosa.said()
    assert "没有说明续借到哪一天。" in wei.said()
    for reader in (rosa, wei):
        reader.go_on()
    assert "not been opened yet" in rosa.said()

    # The pilot, and its agreement under its own heading.
    lead.open_phase("pilot")
    for reader, labels in ((rosa, ["readable", "needs"]), (wei, ["unrepairable_or_no_answer", "needs"])):
        reader.read()
        for label in labels:
            wait_for_item(reader)
            if label == "needs" and reader is wei:
                reader.choose("needs_information")
                reader.mark_first_words()
            else:
                reader.choose("unrepairable_or_no_answer" if label == "needs" else label)
            reader.submit()
    assert "Pilot, not a result." in lead.agreement("?phase=pilot")
    assert "Pilot" not in lead.agreement()

    # The guideline changes before the main phase, and once in the middle of it.
    lead.change_guideline("# Reading\n\nSay *at once* what stops you.")
    lead.open_phase("main")
    for reader, n in ((rosa, 2), (wei, 3)):
        reader.read()
        for _ in range(n):
            wait_for_item(reader)
            reader.choose("readable")
            reader.submit()
    lead.change_guideline("# Reading\n\nSay what stops you, and where.")
    lead.page.click("form[action$='/protocols/reopen/'] button")
    lead.page.wait_for_load_state()
    wei.read()
    wait_for_item(wei)
    wei.choose("unrepairable_or_no_answer")
    wei.submit()

    # rosa leaves: her labels stay, her open items go, and the figures say so.
    lead.retire("rosa")
    rosa.read()
    assert rosa.page.locator("#label-form").count() == 0
    said = lead.agreement()
    assert "Only labels given under protocol 3." in said
    assert "protocol 2: 5 labels" in said
    assert "left and is partial: 2 of 5 labels given" in said  # three items, two of them once more
    assert "5 ratings of 3 items by 2 raters" in lead.agreement("?protocol=2")
    assert_rows()


def assert_rows():
    """What is stored at the end, past all pages."""
    project = Project.objects.get(slug="library")
    rosa, wei = (Membership.objects.get(project=project, person__username=name) for name in ("rosa", "wei"))
    counts = {
        member.person.username: Annotation.objects.filter(assignment__annotator=member, is_current=True).count()
        for member in (rosa, wei)
    }
    assert counts == {"rosa": 1 + 2 + 2, "wei": 1 + 2 + 3 + 1}
    assert not rosa.assignments.filter(state__in=[Assignment.State.OPEN, Assignment.State.LOCKED]).exists()
    (marked,) = [row for row in Annotation.objects.all() if row.label["spans"]]
    span = marked.label["spans"][0]
    judged = marked.assignment.item.trace.messages.get(index=marked.assignment.item.anchor).text
    assert judged[span["start"] : span["end"]] == span["quote"]
    assert Person.objects.get(username="wei").interface_language == "zh-hans"
    actions = set(Event.objects.filter(project=project).values_list("action", flat=True))
    assert {"project_created", "traces_imported", "known_answer_given", "items_reopened"} <= actions


@pytest.mark.shared
@pytest.mark.django_db(transaction=True)
def test_a_real_file_of_forty_runs_comes_in_and_is_read(somebody, shared_data):
    (path,) = (shared_data / "tau2-retail-and-human" / "evaluations").rglob("*.json")
    lead = Lead(somebody())
    lead.set_up()
    lead.upload(path, "main")
    assert "40" in lead.page.inner_text("main")
    rosa = Reader(somebody(), lead.invite("for Rosa", "en"), "rosa")
    lead.open_phase("main")
    rosa.read()
    for _ in range(2):
        wait_for_item(rosa)
        assert "What you know" in rosa.page.text_content(".seen")
        rosa.choose("readable")
        rosa.submit()
    project = Project.objects.get(slug="library")
    assert project.traces.count() == 40
    assert project.items.count() == Assignment.objects.filter(annotator__person__username="rosa").count() == 211
