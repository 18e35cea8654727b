"""Pages are for everybody: axe finds nothing to object to, in both themes, both languages and at both widths, and no
page has to be moved sideways. Every page of the resolver is walked; one that is new fails here until it is listed."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.urls import reverse
from django.utils import timezone

from annotate import inviting
from annotate.accounts import make_password_link
from annotate.models import Assignment, Disagreement, Item, Person, Post, Project, Settlement, Work
from annotate.reviewing import refresh_queue
from scoring.models import Flag
from tests.annotate.releases import seal
from tests.browser import studies
from tests.factories import make_call, make_endpoint, make_prompt, make_run, make_trial, make_verdict, make_work
from tests.guards.crawl import routes
from tests.scoring.readings import answered, make_reading, question, reader_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OPEN = ("sign_in", "set_up", "new_password", "join_project")
OWN = ("home", "show_account", "show_tokens", "next_item", "own_annotations", "guideline", "label_item", "correct_item")
LED = (
    *("show_project", "list_imports", "show_import", "list_items", "preview_item", "list_practice", "answer_practice"),
    *("show_rounds", "list_gaps", "show_subsets", "show_pairs"),
    *("show_protocols", "new_protocol", "show_people", "show_events", "edit_project", "new_project", "show_agreement"),
    *("list_releases", "show_release", "list_runs", "show_run", "plan_run", "show_publishing", "list_points"),
    *("list_endpoints", "new_endpoint", "show_endpoint", "list_questions"),
    *("list_prompts", "write_prompt", "show_prompt", "show_trial"),
    *("list_compared_items", "show_item", "show_reading", "show_method_report"),
    "show_experience",
    *("settling_queue", "settle_item", "settled_verdict"),
)
ACTIONS = {
    *("sign_out", "set_language", "change_preferences", "change_password", "sign_out_elsewhere", "close_account"),
    *("make_token", "revoke_token", "keep_alive", "submit_annotation", "save_draft", "report_problem", "open_phase"),
    *("preview_guideline", "reopen_items", "make_invite", "revoke_invite", "retire_member", "bring_back_member"),
    *("pause_member", "resume_member", "set_languages", "upload_traces", "try_import_again", "give_back"),
    *("store_settlement", "send_item_back", "close_project", "draw_subsets", "draw_pairs", "bring_known"),
    *("post_in_thread", "report_gap", "open_round", "close_round", "set_pass_rule", "set_overlap_rule"),
    *("publish_gaps", "publish_texts"),
    *("start_run", "pause_run", "resume_run", "cancel_run", "try_run_again", "seal_release", "seal_jury"),
    "bring_predictions",
    *("archive_endpoint", "try_endpoint", "paste_answer", "start_trial", "choose_points"),
    "import_outcomes",
    "flag_question",
}
"""What only takes posts and has no page of its own."""
QUERIES = {"plan_run": "?judge=reader&endpoint=planned&phases=main"}
FILES = {"release_file", "agreement_csv", "method_csv", "method_json", "predictions_csv", "predictions_json"}
FILES |= {"workflows_file"}
"""What is saved and not shown."""


PARTS = {"show_entries", "preview_entries", "settling_entries"}
"""Of whole traces, which the demo has none of: walked in test_redundancy.py."""
PREDICTED = {"list_predictions"}
"""Of a kind that the demo is not of: walked in test_predictions.py."""


def pages():
    """The names of all routes of pages; those of the API answer in JSON."""
    return set(full_names())


def full_names():
    """By the name of a page, the one with its app."""
    return {route.name.split(":")[-1]: route.name for route in routes() if not route.pattern.startswith("api/")}


def test_every_page_is_walked():
    assert pages() == {*OPEN, *OWN, *LED, *ACTIONS, *FILES, *PARTS, *PREDICTED}


def addresses(names):
    """Where these pages are in the demo, with its rows and links of every kind."""
    project = Project.objects.get(slug="demo")
    lea, now = Person.objects.get(username="lea"), timezone.now()
    mine = Assignment.objects.filter(annotator__person__username="demo").order_by("order")
    practice = Item.objects.filter(project=project).order_by("pk").first()
    Item.objects.filter(trace=practice.trace).update(phase="practice")
    reported = mine.last()
    Assignment.objects.filter(pk=reported.pk).update(state="problem")
    Post.objects.create(
        item=reported.item, round=reported.round, author=reported.annotator, purpose="problem", text="It is cut off."
    )
    work, _ = Work.objects.get_or_create(kind="import_traces", key="one", project=project, defaults=UPLOAD)
    arguments = {
        "label_item": lambda: [mine[0].public_id],
        "correct_item": lambda: [mine[0].public_id],
        "show_import": lambda: ["demo", work.pk],
        "preview_item": lambda: ["demo", practice.pk],
        "answer_practice": lambda: ["demo", practice.pk],
        "show_item": lambda: ["demo", mine[0].item_id],
        "show_reading": lambda: ["demo", item_that_was_read(project)],
        "settle_item": lambda: ["demo", disputed(project)[0]],
        "settled_verdict": lambda: ["demo", settled(project, lea)],
        "show_run": lambda: ["demo", run_with_everything(project).number],
        "plan_run": lambda: [make_endpoint(project, name="planned").project.slug],
        "show_endpoint": lambda: ["demo", make_endpoint(project, name="small model").pk],
        "list_questions": lambda: ["demo", run_with_a_question(project).number],
        "show_release": lambda: ["demo", seal(project).number],
        "write_prompt": lambda: ["demo", "reader.questions", "en"],
        "show_prompt": lambda: ["demo", "reader.questions", "en", make_prompt(project, 2).number],
        "show_trial": lambda: ["demo", make_trial(project, seal(project), list(project.items.all()[:3])).number],
        "set_up": lambda: ["no-such-link"],
        "new_password": lambda: [make_password_link(person=Person.objects.get(username="demo"), now=now)],
        "join_project": lambda: [
            inviting.make_invite(
                project=project, role="annotator", languages=["en"], note="for you", by=lea, now=now
            )[1]
        ],
        **dict.fromkeys(("home", "show_account", "show_tokens", "new_project", "sign_in"), list),
    }
    full = full_names()
    for name in names:
        yield name, reverse(full[name], args=arguments.get(name, lambda: ["demo"])()) + QUERIES.get(name, "")


def disputed(project):
    """The public ids of the queue, what matters most first."""
    refresh_queue(project)
    return list(project.disagreements.order_by("-weight", "item").values_list("public_id", flat=True))


def settled(project, person):
    """An item that this person has settled and may look at the verdict of."""
    row = Disagreement.objects.get(public_id=disputed(project)[1])
    make_verdict(make_run(project), row.item)
    label = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
    Settlement.objects.get_or_create(
        item=row.item, person=person, is_current=True, defaults={"how": "reviewer", "label": label, "cause": "slip"}
    )
    return row.public_id


def run_with_a_question(project):
    """A run whose answers are pasted, with one that is waited for."""
    run = make_run(project, endpoint=make_endpoint(project, provider="pasted"), cap_calls=9, ended_at=None)
    make_call(run, Item.objects.filter(project=project).order_by("pk").first())
    return run


def item_that_was_read(project):
    """An item with questions of a reader: open, answered, dropped, flagged."""
    item = Item.objects.filter(project=project).order_by("pk").first()
    asked = [question("the", start=0), answered("a", "a", "word", place=0), question("b", removed="duplicate")]
    verdict = make_reading(reader_run(project), item, *asked, flags=["invented_quote"])
    Flag.objects.create(verdict=verdict, place=0, what="question", note="It is explained.")
    return item.pk


def run_with_everything(project):
    """A paused run with verdicts, one that nobody could read and a job that was given up."""
    first, second = Item.objects.filter(project=project).order_by("pk")[:2]
    run = make_run(project, items=[first], ended_at=None)
    make_verdict(run, second, None, is_unreadable=True)
    run.group.state = "held"
    run.group.save()
    fields = {"kind": "verdict", "group": run.group, "payload": {"item": second.pk}}
    make_work(project, key=f"dead {run.pk}", state="dead", error="It broke down on the way.", attempts=3, **fields)
    make_work(project, key=f"waiting {run.pk}", **fields)
    return run


UPLOAD = {
    "payload": {"file_name": "runs.jsonl", "phase": "main", "format": "auto", "path": "x"},
    "state": "dead",
    "error": "It broke down on the way.",
}


def violations(page):
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}" for one in found]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "names"), [("", OPEN), ("demo", OWN), ("lea", LED)], ids=["nobody", "demo", "lea"])
def test_axe_finds_nothing(visit, site, name, names, scheme, language):
    Person.objects.update(interface_language=language)
    visitor = visit(color_scheme=scheme, locale={"en": "en", "zh-hans": "zh-CN"}[language])
    if name:
        visitor.sign_in(name)
    page, found = visitor.page, {}
    for which, address in addresses(names):
        for width in (1280, 320):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(f"{site}{address}")
            assert page.get_attribute("html", "lang") == language
            found[which, width] = violations(page)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{address} scrolls sideways at {width} px: {wide}"
    assert {place: what for place, what in found.items() if what} == {}


# What pages of settling, rounds and pools look like in the middle of the work


def ask_a_question(page):
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.select_option("[name=kind]", "choice")
    page.fill("[name=parts-0-title-en]", "How calm is it?")
    page.fill("[name=parts-0-labels-0-title-en]", "calm")
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.fill("[name=parts-0-labels-1-title-en]", "angry")
    page.locator("#labels-preview >> text=angry").first.wait_for()


def press_for(key, dialog):
    def act(page):
        page.keyboard.press(key)
        page.wait_for_selector(f"#{dialog}[open] :is(h2, .prose)")

    return act


def settle_late(field):
    """Store on the page of somebody who has had it open for too long: `field` says what has changed since."""

    def act(page):
        page.keyboard.press("2")
        page.keyboard.press("a")
        page.keyboard.press("h")
        page.locator(f"#label-form [name={field}]").evaluate("field => { field.value = '0'; }")
        page.click("#label-form [data-submit]")
        page.wait_for_selector("[role=alert]")

    return act


def refuse_rule(page):
    page.fill("#overlap-under", "7")
    page.click("#overlap button >> nth=0")
    page.wait_for_selector("#overlap .problems")


def refuse_pass_rule(page):
    page.fill("#rule-last", "5")
    page.fill("#rule-percent", "700")
    page.click("#rule button")
    page.wait_for_selector("#rule .problems")


def states(folder):
    """By person, addresses with what is done there first; None where looking is enough."""
    tone, again = studies.own_question(folder)
    _, gone = studies.pool()
    over, mine = studies.closed()
    dispute = {number: f"/projects/tone/settling/{studies.dispute(tone, number)}/" for number in studies.SAID}
    member = over.memberships.get(person__username="ana").pk
    informed = studies.opened(tone, "ana", 0, again)
    sent_back = studies.opened(tone, "ana", 1, 2)
    return {
        "ana": [
            ("/", None),
            (informed, None),
            (informed, press_for("Shift+G", "gap")),
            (informed, press_for("?", "keys")),
            (sent_back, None),
            ("/projects/tone/annotations/", None),
            (f"/label/{studies.own(tone, 'ana', 0, 1).public_id}/", None),
            (f"/label/{studies.own(tone, 'ana', 0, 1).public_id}/", press_for("Shift+G", "gap")),
            ("/projects/shared/label/", None),
            (f"/label/{gone}/", None),
            ("/projects/over/label/", None),
            ("/projects/over/annotations/", None),
            *((f"/label/{own}/", None) for own in mine),
        ],
        "rita": [
            ("/projects/tone/settling/", None),
            ("/projects/tone/settling/?state=all", None),
            ("/projects/tone/settling/?state=unresolved&phase=pilot", None),
            ("/projects/over/settling/", None),
            (dispute[5], None),
            (dispute[5], press_for("b", "send-back")),
            (dispute[5], press_for("?", "keys")),
            (dispute[5], press_for("g", "guideline")),
            (dispute[5], settle_late("seen")),
            (f"{dispute[3]}?write=1", None),
            (dispute[0], None),
            (f"{dispute[0]}?again=1", None),
            (f"{dispute[0]}?again=1", settle_late("base")),
            (f"{dispute[0]}verdict/", None),
            (dispute[1], None),
            (dispute[2], None),
            (f"{dispute[2]}verdict/", None),
        ],
        "lee": [
            ("/new-project/", ask_a_question),
            ("/projects/tone/protocols/", None),
            ("/projects/tone/protocols/new/", None),
            ("/projects/tone/rounds/", None),
            ("/projects/over/rounds/", None),
            ("/projects/tone/gaps/", None),
            ("/projects/shared/gaps/", None),
            ("/projects/tone/practice/", None),
            ("/projects/tone/practice/", refuse_pass_rule),
            (f"/projects/tone/items/{studies.item_of(tone, 0).pk}/labels/", None),
            (dispute[3], None),
            ("/projects/tone/agreement/", None),
            (f"/projects/tone/agreement/?round={again}&phase=main", None),
            ("/projects/shared/agreement/", None),
            ("/projects/shared/agreement/", refuse_rule),
            ("/projects/shared/", None),
            ("/projects/shared/people/", None),
            ("/projects/shared/settings/", None),
            ("/projects/over/", None),
            (f"/projects/over/people/?member={member}", None),
        ],
    }


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_axe_finds_nothing_in_the_middle_of_the_work(somebody, live_server, tmp_path, language):
    pages, found = states(tmp_path), {}
    Person.objects.update(interface_language=language)
    for name, visited in pages.items():
        page = somebody(locale={"en": "en", "zh-hans": "zh-CN"}[language]).sign_in(name)
        for address, act in visited:
            page.set_viewport_size({"width": 1280, "height": 800})
            answer = page.goto(f"{live_server.url}{address}")
            assert answer.status in (200, 409), address
            assert page.get_attribute("html", "lang") == language
            if act:
                act(page)
            what = f"{address} {act.__qualname__ if act else ''}"
            for width in (1280, 320):
                page.set_viewport_size({"width": width, "height": 800})
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{what} scrolls sideways at {width} px: {wide}"
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    if problems := violations(page):
                        found[what, width, scheme] = problems
    assert found == {}
