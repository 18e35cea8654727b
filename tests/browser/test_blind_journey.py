"""The whole journey in a browser, through a world in which every secret is a word of its own: people sign in, label
items of each kind, fail, lose their line and come back; a reviewer settles, a lead exports; all sign out and go Back.
Nothing hidden is anywhere in what reached them, no store keeps what they read, and no other host is asked."""

import codecs

import pytest
from django.conf import settings
from django.db import transaction

from annotate.models import Annotation, Assignment, Settlement
from scoring import comparing
from tests.browser.recording import UNSENT, Recording
from tests.browser.test_redundancy import keep_all
from tests.guards.canary import PASSWORD
from tests.guards.leaks import in_header, in_template
from tests.guards.world import make_world

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(live_server, monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "UPLOADS_FOLDER", tmp_path)
    monkeypatch.setattr(comparing, "N_RESAMPLES", 20)
    with transaction.atomic():
        world = make_world()
        Assignment.objects.update(draft=None, draft_number=0)  # whose marks fit no words
    return world


@pytest.fixture
def window(somebody, world):
    """Signs somebody in and records what reaches them."""

    def begin(who):
        visit = somebody()
        recording = Recording(world, visit.page, who)
        page = visit.page
        page.goto(f"{visit.site}/sign-in/")
        page.fill("[name=username]", world.usernames()[who])
        page.fill("[name=password]", PASSWORD)
        page.click("main button")
        page.wait_for_url(f"{visit.site}/")
        recording.look("signing in")
        return visit, page, recording

    return begin


def open_item(visit, page, assignment):
    page.goto(f"{visit.site}/label/{assignment.public_id}/")
    page.wait_for_selector("#label-form")


def submit(page):
    before = page.get_attribute("#item", "data-item")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("before => document.getElementById('item')?.dataset.item !== before", arg=before)


def says(page, words):
    page.wait_for_function(
        "words => document.getElementById('save-state')?.textContent.includes(words)", arg=words
    )


def label_replies(visit, page, recording, world):
    """Two of ana's: one that is refused first, one that is written while the line is down."""
    open_item(visit, page, world.assignments["ana", "third"])
    recording.look("reading a reply")
    for key in ("1", "n"):
        page.keyboard.press(key)
    page.click("[data-submit]")
    page.wait_for_selector("#problems li")
    recording.look("a refused answer")
    page.focus("#reply-text")
    page.keyboard.press("n")
    submit(page)
    recording.look("the next item")
    page.go_back()
    page.wait_for_selector("#own-label")
    recording.look("back to one's own answer")
    open_item(visit, page, world.assignments["ana", "rewritten"])
    visit.context.set_offline(True)
    page.keyboard.press("1")
    says(page, "line is down")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    visit.context.set_offline(False)
    page.wait_for_function(
        "before => document.getElementById('item')?.dataset.item !== before",
        arg=world.assignments["ana", "rewritten"].public_id,
    )
    recording.look("the line is back")


def label_trajectory(visit, page, recording, world):
    open_item(visit, page, world.whole["waiting"])
    page.wait_for_selector("[data-this-step]:not([hidden])")
    recording.look("reading a trajectory")
    keep_all(page)
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => !document.getElementById('label-form')")
    recording.look("after a trajectory")


def answer_question(visit, page, recording, world):
    open_item(visit, page, world.assignments["zoe", "second"])
    recording.look("reading a text")
    page.check("[name='one.tone'][value=calm]")
    submit(page)
    recording.look("after a text")


def settle(visit, page, recording, world):
    page.goto(f"{visit.site}/projects/{world.ours.slug}/settling/")
    recording.look("the queue")
    page.goto(f"{page.url}{world.disputes['not settled in ours'].public_id}/")
    page.wait_for_selector("#label-form")
    recording.look("an item to settle")
    for key in ("1", "e", "h", "Control+Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("#settled-title")
    recording.look("after settling")


def export(visit, page, recording, world):
    page.goto(f"{visit.site}/projects/{world.ours.slug}/releases/")
    page.check("[name=rule][value=majority]")
    page.click("text=Look at what it would hold")
    page.wait_for_selector("text=Seal it")
    recording.look("before sealing")
    page.click("text=Seal it")
    page.wait_for_url(f"{visit.site}/projects/{world.ours.slug}/releases/2/")
    recording.look("a release")
    for name in ("labels.csv", "release.zip"):
        with page.expect_download() as waiting:
            page.click(f"text={name}")
        recording.save(waiting, f"saving {name}")
    with page.expect_download() as waiting:
        page.evaluate("address => { location = address }", f"/projects/{world.ours.slug}/agreement.csv")
    recording.save(waiting, "saving figures")


def sign_out(visit, page, recording):
    """Nothing of what was read is left, whoever sits down at this browser next."""
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("[data-sign-out] button")
    page.wait_for_url(f"{visit.site}/sign-in/")
    recording.who, recording.heard = "anonymous", []
    recording.look("signed out")
    assert not any(name.startswith(UNSENT) for name in page.evaluate("() => Object.keys(localStorage)"))
    addresses = " ".join(recording.addresses)  # which the browser's own history has
    for _ in range(3):
        page.go_back()
        page.wait_for_load_state()
        recording.look("Back after signing out", addresses)
    assert page.locator("[name=password]").count() == 1


def said(recording):
    return "\n".join(dict.fromkeys(map(str, recording.found)))


JOURNEYS = {
    "ana": (label_replies, label_trajectory),
    "zoe": (answer_question,),
    "rita": (settle,),
    "lea": (export,),
}


@pytest.mark.parametrize("who", JOURNEYS)
def test_nothing_hidden_is_anywhere_in_a_browser(window, world, who, record_property):
    visit, page, recording = window(who)
    n_before = Annotation.objects.count() + Settlement.objects.count()
    for part in JOURNEYS[who]:
        part(visit, page, recording, world)
    assert Annotation.objects.count() + Settlement.objects.count() == n_before + {"ana": 3, "lea": 0}.get(who, 1)
    sign_out(visit, page, recording)
    assert not recording.found, said(recording)
    assert recording.missed == []
    assert recording.n_bodies > 10
    record_property(f"bodies of {who}", recording.n_bodies)


# What would tell, planted


LOGS = """
fetch(location.href).then((answer) => {
  const turned = (letter) => String.fromCharCode((letter.charCodeAt(0) - 97 + 13) % 26 + 97);
  console.log([...answer.headers.get("X-Trace")].map(turned).join(""));
});
"""


def logged(visit, page, patch):
    """A script that says on the console what the page keeps in a disguise that no search undoes."""
    in_header("X-Trace", lambda item: codecs.encode(item.trace.source_id, "rot13"))(patch)

    def and_logs(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text() + LOGS)

    page.route("**/js/label*.js", and_logs)


def kept_for_back(visit, page, patch):
    """Pages that htmx keeps in the browser, to be shown when one goes back."""
    in_template("base.html", '"historyCacheSize": 0', '"historyCacheSize": 10')(patch)


LEAKS = {"console log": (logged, "console"), "stale history snapshot": (kept_for_back, "store")}


@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_is_caught(window, world, name, monkeypatch, record_property):
    record_property("named", name)
    plant, channel = LEAKS[name]
    visit, page, recording = window("ana")
    plant(visit, page, monkeypatch)
    open_item(visit, page, world.assignments["ana", "third"])
    page.wait_for_timeout(300)
    page.keyboard.press("1")
    submit(page)
    recording.look("the next item")
    assert recording.channels() == {channel}
