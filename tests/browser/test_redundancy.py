"""Three people find the redundant steps of trajectories by keys, disagree, talk, look again and arrive at a gold set;
and what the screen has to bear: steps whose result is elsewhere, ten thousand messages, five million characters."""

import json
from dataclasses import replace
from io import BytesIO

import pytest
from django.utils import timezone

from annotate import reviewing, rounds
from annotate.kinds.redundancy.examples import MESSAGES, label, step
from annotate.kinds.redundancy.kind import KIND
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.kinds.redundancy.suggest import suggest
from annotate.models import Annotation, Assignment, Disagreement, Person, ReleaseItem
from annotate.traces.base import Answered, Call, Message, Trace
from annotate.traces.reading import Reading
from scoring import comparing
from tests.browser.conftest import PASSWORD
from tests.browser.test_access import violations
from tests.factories import (
    make_assignment,
    make_item,
    make_member,
    make_person,
    make_project,
    make_submitted,
    make_trace,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AIRLINE = "tau-bench-airline-gpt4o/historical_trajectories/gpt-4o-airline.json"
EXPERTS = ("nora", "omar", "pia")
TWICE = {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "rules": ["identical"], "keyword": ""}

KEPT = label(step(9, 10, origin="kept"), decisions=[((9, 10), "keep")])
REJECTED = label(outcome="none", decisions=[((9, 10), "reject")])


def long_trajectory(n_messages, result="{}"):
    """A policy, a wish, then steps next to each other, every tenth like the one before it."""
    said = [Message(0, "system", "Help. Refunds need a manager."), Message(1, "user", "Cancel them all.")]
    for index in range(2, n_messages - 1, 2):
        number = index // 20 if index % 20 == 0 else index
        said.append(Message(index, "assistant", "", calls=(Call("", "get_order", json.dumps({"id": number})),)))
        said.append(Message(index + 1, "tool", result, answers=Answered(index, 0)))
    return said


@pytest.fixture
def project(live_server):
    project = make_project("steps", kind="redundancy", title_en="Redundant steps", title_zh="冗余步骤")
    for name in EXPERTS:
        make_member(project, make_person(name, PASSWORD))
    make_member(project, make_person("lead", PASSWORD), "lead")
    make_member(project, make_person("rita", PASSWORD), "reviewer")
    return project


def trajectory(project, messages=MESSAGES, suggestions=(TWICE,), **fields):
    trace = make_trace(project, messages)
    return make_item(trace=trace, reply=messages[-1].index, suggestions=list(suggestions), **fields)


def given_to(project, item, *names):
    members = {one.person.username: one for one in project.memberships.select_related("person")}
    return {name: make_assignment(members[name], item) for name in names}


def stored(assignment):
    return Annotation.objects.get(assignment=assignment, is_current=True).label


def opened(somebody, live_server, name, assignment):
    page = somebody().sign_in(name)
    page.goto(f"{live_server.url}/label/{assignment.public_id}/")
    page.wait_for_selector("[data-this-step]:not([hidden])")
    return page


def current(page):
    return page.get_attribute(".entry.is-current", "data-name")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def submit(page):
    page.keyboard.press("Control+Enter")


def test_a_step_is_marked_with_type_and_evidence_by_keys_alone(somebody, live_server, project):
    assignment = given_to(project, trajectory(project, suggestions=()), "nora")["nora"]
    page = opened(somebody, live_server, "nora", assignment)
    assert current(page) == "2-3"
    while current(page) != "9-10":
        press(page, "j")
    press(page, "d", "v")
    page.keyboard.type("2")
    press(page, "Enter", "r")
    page.keyboard.type("The same again.")
    page.select_option("[data-certainty]", "high")
    submit(page)
    page.wait_for_selector("text=All done")
    assert stored(assignment)["steps"] == [
        {"step": [9, 10], "type": "DUP", "evidence": [2, 3], "reason": "The same again.", "certainty": "high",
         "origin": "added"}
    ]  # fmt: skip


def label_all(page, live_server, answers):
    """Every item that waits for somebody, with what they say of it by the first words that it shows."""
    page.goto(f"{live_server.url}/projects/steps/label/")
    n_done = 0
    while page.locator("[data-spine]").count():
        here = page.get_attribute("#label-form", "data-item")
        page.wait_for_selector("[data-this-step]:not([hidden])")
        answers(page)
        submit(page)
        page.wait_for_selector(f"#problems, main:not(:has([data-item='{here}']))")
        assert not page.locator("#problems li").count(), page.inner_text("#problems")
        page.wait_for_function("here => document.getElementById('label-form')?.dataset.item !== here", arg=here)
        n_done += 1
    return n_done


def keep_all(page):
    """What is suggested stands; where nothing is, nothing is redundant."""
    if not page.locator("[data-next-suggestion]:not([hidden])").count():
        return press(page, "n")
    while not is_decided(page):
        press(page, "f")
        page.wait_for_selector("[data-suggested]:not([hidden]):not(:has([aria-pressed=true]))")
        press(page, "y")


def is_decided(page):
    done, _, n = page.inner_text("[data-n-waiting]").partition("/")
    return done == n


def other_evidence(page):
    """As suggested, but for the evidence of the first step."""
    keep_all(page)
    if not page.locator("[data-marked] .chip").count():
        return
    page.click("[data-marked] .go >> nth=0")
    if page.get_attribute("[data-none-serves]", "aria-pressed") == "true":
        press(page, "v")
        page.keyboard.type("1")
        press(page, "Enter")
        page.wait_for_selector("[data-evidence] .chip[data-of='1']")
    else:
        press(page, "0")


def other_type(page):
    """As suggested, but for the type of the first step."""
    keep_all(page)
    if page.locator("[data-marked] .chip").count():
        page.click("[data-marked] .go >> nth=0")
        press(page, "e")


def three_people_find_discuss_and_settle(somebody, live_server, project, n_items):
    """How many items they disagreed on, and the reports of both rounds."""
    pages = {name: somebody().sign_in(name) for name in EXPERTS}
    ways = dict(zip(EXPERTS, (keep_all, other_evidence, other_type), strict=True))
    for name, page in pages.items():
        assert label_all(page, live_server, ways[name]) == n_items
    before = comparing.agreement_report(project)
    lead = Person.objects.get(username="lead")
    rounds.close_round(lead=lead, project=project, number=1, now=timezone.now())
    rounds.open_informed_round(lead=lead, project=project, which="disagreeing", now=timezone.now())
    first = pages["nora"]
    first.goto(f"{live_server.url}/projects/steps/label/")
    table = first.inner_text(".aligned")
    assert "severe: another step or another type" in table
    assert table.count("exploratory step") == 1
    assert not {"omar", "pia"} & set(first.inner_text("#item").split())
    first.fill("#thread textarea", "It says the same as before.")
    first.click("#thread form button")
    first.wait_for_selector("#thread li")
    n_again = [label_all(page, live_server, keep_all) for page in pages.values()]
    assert len(set(n_again)) == 1
    n_settled = settle_all(somebody, live_server)
    return n_again[0], n_settled, before, comparing.agreement_report(project, round=2)


def settle_all(somebody, live_server):
    """Each disagreement to the first answer that was given after the talk."""
    page = somebody().sign_in("rita")
    n_settled = 0
    while True:
        page.goto(f"{live_server.url}/projects/steps/settling/")
        if not page.locator("main tbody a").count():
            return n_settled
        page.click("main tbody a >> nth=0")
        page.wait_for_selector(".aligned mark")
        page.check("[name=answer][value='A/2']")
        page.check("[name=cause] >> nth=0")
        page.check("[name=confidence][value=high]")
        page.click("[data-submit]")
        page.wait_for_selector("#settled-title")
        n_settled += 1


def seal(somebody, live_server):
    page = somebody().sign_in("lead")
    page.goto(f"{live_server.url}/projects/steps/releases/")
    page.check("[name=rule][value=reviewed]")
    page.click("text=Look at what it would hold")
    page.wait_for_selector("text=items with a label")
    page.click("text=Seal it")
    page.wait_for_url(f"{live_server.url}/projects/steps/releases/1/")
    for number in (1, 2):
        page.goto(f"{live_server.url}/projects/steps/agreement/?round={number}")
        assert "has a redundant step or none" in page.inner_text("main")


def gold():
    return {row.item_id: row.label for row in ReleaseItem.objects.all() if row.label is not None}


def exact(report):
    return {one.measure: one.agreement.mean.value for one in report.sets}


def test_three_people_disagree_talk_look_again_and_seal_a_gold_set(somebody, live_server, project):
    nothing = [*MESSAGES[:4], replace(MESSAGES[11], index=4)]
    items = [trajectory(project), trajectory(project), trajectory(project, nothing, suggestions=())]
    for item in items:
        given_to(project, item, *EXPERTS)
    n_again, n_settled, before, after = three_people_find_discuss_and_settle(somebody, live_server, project, 3)
    assert (n_again, n_settled) == (2, 2)
    assert exact(before)["location"] == 1
    assert exact(before)["set"] == pytest.approx(1 / 3), "all three say the same of one of three"
    assert exact(after)["set"] == 1
    seal(somebody, live_server)
    assert [len(gold()[item.pk]["steps"]) for item in items] == [1, 1, 0]


@pytest.mark.shared
def test_twelve_recorded_trajectories_become_a_gold_set(somebody, live_server, project, shared_data):
    path = shared_data / AIRLINE
    traces = [one for one in Reading(BytesIO(path.read_bytes()), file_name=path.name) if isinstance(one, Trace)]
    found = [(trace, suggest(trace, SCHEMA)) for trace in traces if KIND.items(trace, SCHEMA)]
    chosen = [one for one in found if one[1]][:8] + [one for one in found if not one[1]][:4]
    for trace, suggestions in chosen:
        item = trajectory(project, trace.messages, suggestions, cluster=trace.cluster)
        given_to(project, item, *EXPERTS)
    n_again, n_settled, before, after = three_people_find_discuss_and_settle(somebody, live_server, project, 12)
    assert (n_again, n_settled) == (8, 8)
    assert exact(before)["set"] == pytest.approx(4 / 12)
    assert exact(after)["set"] == 1
    seal(somebody, live_server)
    assert sum(len(label["steps"]) for label in gold().values()) == sum(len(one) for _, one in chosen)


def go_to(page, name):
    """Walks to a step by the key."""
    for _ in range(400):
        if current(page) == name:
            return
        press(page, "j")
    raise AssertionError(f"{name} was not reached; at {current(page)}")


def test_suggestions_are_kept_changed_and_rejected_and_changes_are_taken_back(somebody, live_server, project):
    again = {"step": [4, 5], "type": "INC", "evidence": [-1], "rules": ["error_keyword"], "keyword": "no flight"}
    item = trajectory(project, suggestions=(again, TWICE))
    assignment = given_to(project, item, "nora")["nora"]
    page = opened(somebody, live_server, "nora", assignment)
    press(page, "n")
    submit(page)
    page.wait_for_selector("#problems:has-text('Every suggestion kept, changed or rejected')")
    press(page, "f")
    assert current(page) == "4-5"
    assert "its result says: “no flight”" in page.inner_text("[data-suggested-words]")
    press(page, "x", "f")
    assert current(page) == "9-10"
    press(page, "y")
    assert page.get_attribute("[data-decide=keep]", "aria-pressed") == "true"
    press(page, "e")
    assert page.get_attribute("[data-decide=change]", "aria-pressed") == "true"
    press(page, "Control+z")
    assert page.get_attribute("[data-decide=keep]", "aria-pressed") == "true"
    press(page, "Control+y")
    page.wait_for_function("() => /Saved/.test(document.getElementById('save-state').textContent)")
    page.reload()
    page.wait_for_selector(".entry.is-marked")
    submit(page)
    page.wait_for_selector("text=All done")
    assert stored(assignment)["decisions"] == [
        {"step": [4, 5], "decision": "reject"}, {"step": [9, 10], "decision": "change"},
    ]  # fmt: skip
    assert [(one["type"], one["origin"]) for one in stored(assignment)["steps"]] == [("EXP", "changed")]


def test_what_cannot_be_marked_says_why_and_evidence_takes_every_form(somebody, live_server, project):
    assignment = given_to(project, trajectory(project, suggestions=()), "nora")["nora"]
    page = opened(somebody, live_server, "nora", assignment)
    go_to(page, "6-7")
    assert "can be evidence only" in page.inner_text("[data-evidence-said]")
    press(page, "m", "d")
    assert json.loads(page.input_value("[name=steps]")) == []
    go_to(page, "9-10")
    press(page, "d", "v")
    page.keyboard.type("4")
    press(page, "Enter")
    assert evidence(page) == [4], "message 4 says something, so it stands for itself"
    page.fill("[data-add-evidence]", "5-4 6-7")
    press(page, "Enter")
    page.wait_for_function("() => JSON.parse(document.querySelector('[name=steps]').value)[0].evidence.length === 4")
    assert evidence(page) == [4, 5, 6, 7]
    press(page, "v")
    page.click(".entry[data-name='2-3']")
    assert evidence(page) == [2, 3, 4, 5, 6, 7]
    press(page, "Escape", "0")
    assert evidence(page) == [-1]
    for typed, words in (("99", "no such"), ("9-10", "itself"), ("9", "itself"), ("2-8", "no such"), ("x", "no such")):
        page.fill("[data-add-evidence]", typed)
        press(page, "Enter")
        page.wait_for_selector(f"[data-evidence-said]:has-text('{words}')")
        assert evidence(page) == [-1]


def evidence(page):
    return json.loads(page.input_value("[name=steps]"))[0]["evidence"]


def test_ten_thousand_messages_answer_keys_at_once_and_open_by_parts(somebody, live_server, project):
    item = trajectory(project, long_trajectory(10_000), suggestions=())
    assignment = given_to(project, item, "nora")["nora"]
    page = opened(somebody, live_server, "nora", assignment)
    assert page.locator("[data-row]").count() < 70
    for key in ("j", "j", "m", "d", "0", "k", "m"):
        assert seconds_of(page, key) < 0.1, key
    for n_parts in range(1, 11):
        page.locator("[data-more=after] a").click()
        page.wait_for_function("n => document.querySelectorAll('[data-row]').length > 30 * n", arg=n_parts)
    for key in ("j", "m", "d", "0"):
        assert seconds_of(page, key) < 0.1, key
    page.fill("[name=q]", "9000")
    press(page, "Enter")
    page.wait_for_function("() => document.querySelector('.entry.is-current').dataset.at === '9000'")
    assert seconds_of(page, "m") < 0.1
    assert [one["step"] for one in json.loads(page.input_value("[name=steps]"))][-1] == [9000, 9001]
    page.fill("[name=q]", '"id": 8998')
    press(page, "Enter")
    page.click(".found a")
    page.wait_for_function("() => document.querySelector('.entry.is-current').dataset.at === '8998'")
    page.focus(".entry.is-current")
    press(page, "v")
    page.keyboard.type("5001")
    press(page, "Enter")
    page.wait_for_selector(".chip[data-of='5000-5001']")


SECONDS = """key => new Promise((done) => {
  const began = performance.now();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  requestAnimationFrame(() => requestAnimationFrame(() => done((performance.now() - began) / 1000)));
})"""


def seconds_of(page, key):
    """From the key to the second frame after it, which shows what it did."""
    return page.evaluate(SECONDS, key)


def test_a_result_of_five_million_characters_opens_by_parts(somebody, live_server, project):
    assignment = given_to(project, trajectory(project, long_trajectory(6, "y" * 5_000_000), ()), "nora")["nora"]
    page = opened(somebody, live_server, "nora", assignment)
    assert len(page.content()) < 200_000
    page.click("[data-shown] [data-rest]")
    page.wait_for_function("() => document.querySelector('[data-shown]').textContent.length > 50000")
    assert "61200 of 5000000" in page.inner_text("[data-shown] [data-rest]").replace(",", "")


def test_labels_can_be_given_without_script(somebody, live_server, project):
    assignment = given_to(project, trajectory(project), "nora")["nora"]
    page = somebody(java_script_enabled=False).sign_in("nora")
    page.goto(f"{live_server.url}/label/{assignment.public_id}/")
    assert "get_flight" in page.inner_text(".spine")
    page.fill("[name=lines]", "4-5 INC 1 Not what was asked.")
    page.click("#label-form [data-submit]")
    assert "Every suggestion kept" in page.inner_text("#problems")
    assert page.input_value("[name=lines]") == "4-5 INC 1 Not what was asked."
    page.check("[name='decide.9-10'] >> nth=0")
    page.click("#label-form [data-submit]")
    assert [(one["step"], one["origin"]) for one in stored(assignment)["steps"]] == [
        ([4, 5], "added"), ([9, 10], "kept"),
    ]  # fmt: skip
    long = given_to(project, trajectory(project, long_trajectory(200, "z" * 5000), ()), "nora")["nora"]
    page.goto(f"{live_server.url}/label/{long.public_id}/")
    page.click("text=later messages")
    assert "60-61" in page.inner_text(".spine")
    page.click("[data-rest] >> nth=0")
    assert page.inner_text("main").count("z") > 3000
    page.go_back()
    page.fill("[name=q]", '"id": 150}')
    page.click("[data-search] > button >> text=Search")
    page.click(".found a")
    assert "150-151" in page.inner_text(".spine")


def informed_and_disputed(project):
    """An item that three people labelled apart, once more in an informed round for nora, and in the queue."""
    item = trajectory(project)
    said = (KEPT, label(step(9, 10, "EXP", [1], origin="changed"), decisions=[((9, 10), "change")]), REJECTED)
    members = {one.person.username: one for one in project.memberships.select_related("person")}
    for name, one in zip(EXPERTS, said, strict=True):
        make_submitted(members[name], item, one)
    lead = Person.objects.get(username="lead")
    rounds.close_round(lead=lead, project=project, number=1, now=timezone.now())
    rounds.open_informed_round(lead=lead, project=project, which="disagreeing", now=timezone.now())
    reviewing.refresh_queue(project)
    again = Assignment.objects.get(annotator=members["nora"], round__purpose="informed")
    own = Assignment.objects.get(annotator=members["nora"], round__purpose="first")
    return item, again, own, Disagreement.objects.get(item=item)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_axe_finds_nothing_on_any_page_of_a_whole_trace(somebody, live_server, project, language):
    item, again, own, dispute = informed_and_disputed(project)
    entries = f"/label/{again.public_id}/entries/"
    card = f"/projects/steps/settling/{dispute.public_id}/"
    visited = {
        "nora": [
            f"/label/{again.public_id}/", f"/label/{own.public_id}/", entries, f"{entries}?text=4", f"{entries}?q=get",
        ],
        "rita": [card, f"{card}?write=1", f"{card}entries/"],
        "lead": [
            f"/projects/steps/items/{item.pk}/", f"/projects/steps/practice/{item.pk}/",
            f"/projects/steps/items/{item.pk}/labels/", f"/projects/steps/items/{item.pk}/entries/?from=4",
        ],
    }  # fmt: skip
    Person.objects.update(interface_language=language)
    found = {}
    for name, addresses in visited.items():
        page = somebody(locale={"en": "en", "zh-hans": "zh-CN"}[language]).sign_in(name)
        for address in addresses:
            page.set_viewport_size({"width": 1280, "height": 800})
            assert page.goto(f"{live_server.url}{address}").status == 200, address
            for width in (1280, 320):
                page.set_viewport_size({"width": width, "height": 800})
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{address} scrolls sideways at {width} px: {wide}"
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    if problems := violations(page):
                        found[address, width, scheme] = problems
    assert found == {}


def test_what_a_row_calls_its_parts_stays_on_one_line(somebody, live_server, project):
    """Beside a long text too, and in Chinese, where a line may end behind any letter."""
    assignment = given_to(project, trajectory(project, long_trajectory(12, "x y " * 200)), "nora")["nora"]
    Person.objects.update(interface_language="zh-hans")
    page = opened(somebody, live_server, "nora", assignment)
    names = page.locator("[data-row] .part > .quiet")
    assert "结果" in names.all_inner_texts()
    assert len(set(names.evaluate_all("those => those.map((one) => one.getClientRects().length)"))) == 1
    assert max(names.evaluate_all("those => those.map((one) => one.offsetHeight)")) < 30
