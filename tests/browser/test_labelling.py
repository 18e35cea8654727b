"""The journey of an annotator: read, mark, label, submit; and everything that can come between."""

import json

import pytest

from annotate.models import Annotation, Assignment, Message, Session
from tests.browser.conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SELECT = """([start, end]) => {
  const root = document.getElementById("reply-text");
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let seen = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (start >= seen && start <= seen + node.length) range.setStart(node, start - seen);
    if (end > seen && end <= seen + node.length) range.setEnd(node, end - seen);
    seen += node.length;
  }
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


def select(page, words):
    """Select words of the reply as a mouse would, given in the page's own units."""
    text = page.evaluate("document.getElementById('reply-text').textContent")
    start = len(text[: text.index(words)].encode("utf-16-le")) // 2
    page.evaluate(SELECT, [start, start + len(words.encode("utf-16-le")) // 2])


def first_words(page, n=3):
    text = page.evaluate("document.getElementById('reply-text').textContent")
    return " ".join(text.split("\n")[-1].split(" ")[:n]).strip()


def saved(page):
    page.wait_for_function("() => /Saved/.test(document.getElementById('save-state')?.textContent)")


def spans_in(page):
    return json.loads(page.input_value("[name=spans]"))


def submit(page):
    before = page.get_attribute("#item", "data-item")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("before => document.getElementById('item')?.dataset.item !== before", arg=before)


def annotations():
    return list(Annotation.objects.filter(assignment__annotator__person__username="demo").order_by("pk"))


def assignment_of(page):
    return Assignment.objects.get(public_id=page.get_attribute("#item", "data-item"))


def test_a_reply_is_marked_labelled_and_submitted_and_the_next_one_comes(visit):
    page = visit().label()
    words = first_words(page)
    page.keyboard.press("2")
    select(page, words)
    page.keyboard.press("r")
    saved(page)
    submit(page)
    [annotation] = annotations()
    assert annotation.label["label"] == "needs_information"
    [span] = annotation.label["spans"]
    assert (span["quote"], span["type"]) == (words, "reference")
    assert 0 < annotation.active_ms <= annotation.raw_ms
    assert "2 of 33" in page.inner_text("#where")
    assert page.inner_text("#save-state").startswith("Saved")
    assert page.url.endswith(f"/label/{page.get_attribute('#item', 'data-item')}/")


def test_the_type_may_be_chosen_before_the_words(visit):
    page = visit().label()
    page.keyboard.press("b")
    assert page.get_attribute("[data-mark=background]", "aria-pressed") == "true"
    page.dblclick("#reply-text", position={"x": 50, "y": 12})
    page.wait_for_selector(".chip")
    assert [span["type"] for span in spans_in(page)] == ["background"]
    page.click(".chip .remove")
    assert spans_in(page) == []


def test_offsets_behind_an_emoji_and_a_rare_character_are_code_points_of_whole_graphemes(visit):
    text = "图 👩‍👩‍👧 和 𠮷 字\r\n之后的 café 代号 R03 没有说明。"
    visitor = visit()
    page = visitor.label()
    row = assignment_of(page)
    Message.objects.filter(trace=row.item.trace, index=row.item.anchor).update(text=text)
    page.reload()
    canonical = text.replace("\r\n", "\n")
    assert page.evaluate("document.getElementById('reply-text').textContent") == canonical
    select(page, "R03")
    page.keyboard.press("r")
    select(page, "\u200d👩")  # the middle of the family: widened to the whole of it
    page.keyboard.press("d")
    page.keyboard.press("2")
    spans = spans_in(page)
    assert [canonical[span["start"] : span["end"]] for span in spans] == ["👩‍👩‍👧", "R03"]
    submit(page)
    assert [span["quote"] for span in annotations()[0].label["spans"]] == ["👩‍👩‍👧", "R03"]


def test_what_is_refused_is_said_and_nothing_typed_is_lost(visit):
    page = visit().label()
    page.keyboard.press("1")
    page.keyboard.press("n")
    page.fill("[name=comment]", "a note")
    page.click("[data-submit]")
    page.wait_for_selector("#problems li")
    assert "states no result" in page.inner_text("#problems")
    assert page.input_value("[name=comment]") == "a note"
    assert page.is_checked("[name=states_no_result]")
    assert annotations() == []
    page.focus("[name=comment]")
    page.keyboard.press("Control+Enter")
    page.keyboard.type(", longer")  # typed while the answer is on its way
    page.wait_for_timeout(500)
    assert page.input_value("[name=comment]") == "a note, longer"
    page.focus("#reply-text")
    page.keyboard.press("n")
    submit(page)
    assert annotations()[0].label["comment"] == "a note, longer"


def test_a_double_click_on_submit_gives_one_annotation(visit):
    page = visit().label()
    page.keyboard.press("1")
    page.dblclick("[data-submit]")
    page.wait_for_function("() => /2 of 33/.test(document.getElementById('where').textContent)")
    page.wait_for_timeout(300)
    assert len(annotations()) == 1
    assert "2 of 33" in page.inner_text("#where")


def test_a_reload_brings_the_draft_back(visit):
    page = visit().label()
    words = first_words(page)
    page.keyboard.press("3")
    select(page, words)
    page.keyboard.press("d")
    saved(page)
    page.reload()
    assert page.is_checked("[value=unrepairable_or_no_answer]")
    assert [span["quote"] for span in spans_in(page)] == [words]
    assert page.locator(".chip").count() == 1


@pytest.mark.fault(22)
def test_a_lost_line_keeps_the_answer_and_sends_it_once_when_it_is_back(visit):
    visitor = visit()
    page = visitor.label()
    visitor.context.set_offline(True)
    page.keyboard.press("1")
    page.wait_for_function("() => /line is down/.test(document.getElementById('save-state').textContent)")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(500)
    assert "line is down" in page.inner_text("#save-state")
    assert annotations() == []
    visitor.context.set_offline(False)
    page.wait_for_function("() => /2 of 33/.test(document.getElementById('where').textContent)")
    assert len(annotations()) == 1


def test_what_was_not_saved_survives_a_closed_window(visit):
    visitor = visit()
    page = visitor.label()
    address = page.url
    visitor.context.set_offline(True)
    page.fill("[name=comment]", "written without a line")
    page.keyboard.press("Tab")
    page.wait_for_function("() => /line is down/.test(document.getElementById('save-state').textContent)")
    page.close()
    visitor.context.set_offline(False)
    page = visitor.open()
    page.goto(address)
    page.wait_for_function("() => !document.getElementById('notice').hidden")
    assert page.input_value("[name=comment]") == "written without a line"
    saved(page)
    assert assignment_of(page).draft["fields"]["comment"] == "written without a line"


@pytest.mark.fault(23)
def test_an_expired_session_keeps_the_text_and_goes_on_after_signing_in(visit):
    visitor = visit()
    page = visitor.label()
    Session.objects.all().delete()
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => /signed out/.test(document.getElementById('notice').textContent)")
    assert page.is_checked("[value=readable]")
    with visitor.context.expect_page() as opened:
        page.click("#notice a")
    other = opened.value
    other.fill("[name=username]", "demo")
    other.fill("[name=password]", PASSWORD)
    other.click("main button")
    other.wait_for_url(f"{visitor.site}/")
    page.bring_to_front()
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.wait_for_function("() => /2 of 33/.test(document.getElementById('where').textContent)")
    assert len(annotations()) == 1


def test_a_second_window_is_told_and_merges_nothing(visit):
    visitor = visit()
    page = visitor.label()
    other = visitor.open()
    other.goto(page.url)
    page.keyboard.press("1")
    submit(page)
    other.keyboard.press("3")
    other.keyboard.press("Control+Enter")
    other.wait_for_function("() => /another window/.test(document.getElementById('notice').textContent)")
    assert other.is_checked("[value=unrepairable_or_no_answer]")
    assert [annotation.label["label"] for annotation in annotations()] == ["readable"]
    other.click("#notice a")
    other.wait_for_selector("#own-label")


@pytest.mark.fault(24)
def test_back_shows_the_submitted_answer_read_only_and_undo_opens_it_again(visit):
    page = visit().label()
    words = first_words(page)
    page.keyboard.press("2")
    select(page, words)
    page.keyboard.press("d")
    submit(page)
    page.go_back()
    page.wait_for_selector("#own-label")
    assert page.locator("#label-form").count() == 0
    assert words in page.inner_text("#own-label")
    page.keyboard.press("z")
    page.wait_for_selector("#label-form")
    assert page.is_checked("[value=needs_information]")
    assert [annotation.is_current for annotation in annotations()] == [True]
    page.click(".chip .remove")
    page.keyboard.press("1")
    submit(page)
    assert [(a.number, a.is_current, a.label["label"]) for a in annotations()] == [
        (1, False, "needs_information"),
        (2, True, "readable"),
    ]
    assert "2 of 33" in page.inner_text("#where")


def test_a_correction_after_the_next_submit_asks_for_a_reason(visit):
    visitor = visit()
    page = visitor.label()
    first = page.url
    for _ in range(2):
        page.keyboard.press("1")
        submit(page)
    page.goto(f"{first}correct/")
    page.keyboard.press("3")
    page.fill("[name=reason]", "misread the table")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => /3 of 33/.test(document.getElementById('where').textContent)")
    current = Annotation.objects.get(reason="misread the table")
    assert (current.number, current.is_current) == (2, True)


def test_a_problem_ends_the_item_and_opens_the_next(visit):
    visitor = visit()
    page = visitor.label()
    page.keyboard.press("p")
    page.fill("[name=problem]", "the file is cut off")
    page.keyboard.press("Enter")
    page.wait_for_function("() => /2 of 33/.test(document.getElementById('where').textContent)")
    assert annotations() == []
    assert Assignment.objects.filter(state="problem").count() == 1
    lead = visit()
    lead.sign_in("lea")
    lead.page.goto(f"{lead.site}/projects/demo/")
    assert "the file is cut off" in lead.page.inner_text("main")
    lead.page.click("text=Give back")
    page.goto(f"{visitor.site}/projects/demo/label/")
    page.wait_for_selector("#label-form")
    assert "1 of 33" in page.inner_text("#where")


def test_keys_are_quiet_while_one_types_or_composes(visit):
    page = visit().label()
    page.click("[name=comment]")
    page.keyboard.type("1 2 3 n p")
    assert page.input_value("[name=comment]") == "1 2 3 n p"
    assert page.locator("[name=label]:checked").count() == 0
    page.evaluate(
        """() => document.getElementById("reply-text").dispatchEvent(
        new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, isComposing: true, bubbles: true}))"""
    )
    page.wait_for_timeout(300)
    assert annotations() == []
    assert page.locator("#problems li").count() == 0


def test_after_signing_out_back_shows_nothing(visit):
    visitor = visit()
    page = visitor.label()
    reply = page.inner_text("#reply-text")
    page.click("[data-sign-out] button")
    page.wait_for_url(f"{visitor.site}/sign-in/")
    page.go_back()
    page.wait_for_load_state()
    assert reply not in page.content()
    assert page.locator("[name=password]").count() == 1


def test_the_guideline_opens_over_the_reply(visit):
    page = visit().label()
    page.keyboard.press("g")
    page.wait_for_selector("#guideline[open] h1")
    assert "Reading replies" in page.inner_text("#guideline")
    page.keyboard.press("Escape")
    assert page.locator("#guideline[open]").count() == 0


def test_time_beyond_two_minutes_without_input_is_raw_and_not_active(visit):
    visitor = visit()
    visitor.page.clock.install()
    page = visitor.label()
    page.clock.fast_forward("10:00")
    page.keyboard.press("1")
    raw, active, hidden = (int(page.input_value(f"[name={name}]")) for name in ("raw_ms", "active_ms", "hidden_ms"))
    assert 600_000 <= raw < 630_000
    assert 120_000 <= active < 130_000
    assert hidden == 0


def unsent(page):
    return page.evaluate("Object.keys(localStorage).filter((place) => place.startsWith('sightline:unsent:')).length")


def lose_the_answer_of(page, pattern):
    """The server gets the next request and commits it; the page never hears of it."""

    def handle(route):
        route.fetch()
        route.abort()

    page.route(pattern, handle, times=1)


def test_an_acknowledged_answer_leaves_nothing_behind_in_the_browser(visit):
    page = visit().label()
    page.keyboard.press("1")
    submit(page)
    assert unsent(page) == 0


@pytest.mark.fault(22)
def test_an_answer_whose_receipt_was_lost_is_sent_again_and_stored_once(visit):
    page = visit().label()
    lose_the_answer_of(page, "**/submit/")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => /2 of 33/.test(document.getElementById('where').textContent)")
    assert [annotation.number for annotation in annotations()] == [1]


@pytest.mark.fault(22)
def test_what_is_changed_after_a_lost_receipt_is_another_answer_and_never_acknowledged_by_the_old_receipt(visit):
    page = visit().label()
    lose_the_answer_of(page, "**/submit/")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => /line is down/.test(document.getElementById('save-state').textContent)")
    page.keyboard.press("3")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#notice [data-number]")
    assert [annotation.label["label"] for annotation in annotations()] == ["readable"]
    page.click("#notice [data-number]")
    page.wait_for_selector("#label-form")
    assert page.is_checked("[value=unrepairable_or_no_answer]")  # what was typed went along
    submit(page)
    assert [(a.label["label"], a.is_current) for a in annotations()] == [
        ("readable", False),
        ("unrepairable_or_no_answer", True),
    ]


def test_after_a_refusal_drafts_are_saved_again(visit):
    page = visit().label()
    page.keyboard.press("2")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#problems li")
    page.fill("[name=comment]", "after the refusal")
    saved(page)
    page.wait_for_timeout(600)
    assert assignment_of(page).draft["fields"]["comment"] == "after the refusal"


def test_an_untick_made_without_a_line_is_restored_as_one(visit):
    visitor = visit()
    page = visitor.label()
    page.keyboard.press("n")
    saved(page)
    visitor.context.set_offline(True)
    page.keyboard.press("n")
    page.wait_for_function("() => /line is down/.test(document.getElementById('save-state').textContent)")
    visitor.context.set_offline(False)
    page.reload()
    assert not page.is_checked("[name=states_no_result]")


def test_an_older_copy_never_overwrites_a_newer_draft_unasked(visit):
    visitor = visit()
    page = visitor.label()
    visitor.context.set_offline(True)
    page.fill("[name=comment]", "older, never saved")
    page.wait_for_function("() => /line is down/.test(document.getElementById('save-state').textContent)")
    address = page.url
    page.close()
    Assignment.objects.filter(public_id=address.split("/")[-2]).update(
        draft={"number": 0, "draft_number": 50, "fields": {"comment": "newer"}}, draft_number=50
    )
    visitor.context.set_offline(False)
    page = visitor.open()
    page.goto(address)
    page.wait_for_selector("#notice button")
    assert page.input_value("[name=comment]") == "newer"
    page.click("#notice button")
    assert page.input_value("[name=comment]") == "older, never saved"
    saved(page)


def test_an_edit_takes_an_unsent_answer_back_until_it_is_submitted_again(visit):
    visitor = visit()
    page = visitor.label()
    page.keyboard.press("1")
    saved(page)
    visitor.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => /line is down/.test(document.getElementById('save-state').textContent)")
    page.keyboard.press("3")
    page.wait_for_function("() => /was not sent/.test(document.getElementById('notice').textContent)")
    visitor.context.set_offline(False)
    saved(page)
    page.wait_for_timeout(2500)
    assert annotations() == []
    submit(page)
    assert [annotation.label["label"] for annotation in annotations()] == ["unrepairable_or_no_answer"]


def test_a_problem_report_on_a_lost_line_says_so_and_is_stored_once(visit):
    visitor = visit()
    page = visitor.label()
    page.keyboard.press("p")
    page.fill("[name=problem]", "the file is cut off")
    visitor.context.set_offline(True)
    page.keyboard.press("Enter")
    page.wait_for_function("() => /line is down/.test(document.getElementById('problem-state').textContent)")
    visitor.context.set_offline(False)
    lose_the_answer_of(page, "**/problem/")
    page.click("#problem .primary")
    page.wait_for_timeout(500)
    page.click("#problem .primary")
    page.wait_for_function("() => /2 of 33/.test(document.getElementById('where').textContent)")
    assert Assignment.objects.filter(state="problem").count() == 1
    assert Assignment.objects.filter(annotator__person__username="demo", state="open").count() == 1


def test_enter_in_a_field_or_on_a_choice_submits_nothing(visit):
    page = visit().label()
    page.keyboard.press("1")
    page.focus("[value=readable]")
    page.keyboard.press("Enter")
    page.fill("[name=comment]", "first line")
    page.keyboard.press("Enter")
    page.keyboard.type("second line")
    page.wait_for_timeout(400)
    assert annotations() == []
    assert page.input_value("[name=comment]") == "first line\nsecond line"


def test_backspace_takes_back_the_mark_that_was_made_last(visit):
    page = visit().label()
    text = page.evaluate("document.getElementById('reply-text').textContent")
    words = [word for word in text.split() if word.isalpha()]
    first, last = words[0], words[-1]
    select(page, last)
    page.keyboard.press("d")
    select(page, first)
    page.keyboard.press("r")
    page.keyboard.press("Backspace")
    assert [span["quote"] for span in spans_in(page)] == [last]


def test_a_drag_may_end_outside_the_text(visit):
    page = visit().label()
    page.keyboard.press("b")
    box = page.locator("#reply-text").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 12)
    page.mouse.move(box["x"] + 200, box["y"] - 40)
    page.mouse.up()
    page.wait_for_selector(".chip")
    assert [span["type"] for span in spans_in(page)] == ["background"]
