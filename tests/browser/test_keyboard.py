"""An annotator without a mouse: the caret in the reply, marks and their list, every key, and what is said aloud."""

import json
from itertools import pairwise

import pytest
from axe_playwright_python.sync_playwright import Axe

from annotate.models import Annotation, Assignment, Post
from annotate.rules.quotes import canonical
from annotate.traces import base
from tests.browser.conftest import PASSWORD
from tests.factories import make_assignment, make_item, make_member, make_person, make_project, make_trace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ENGLISH = """## Comparison

The two designs differ by 4.2 points, which R03 would call noise. crn_hier_L stays ahead at **every budget** we tried, \
so `run.py --all` is enough. "Is it stable?" Yes!

| design | points |
|---|---|
| crn_hier_L | 71.2 |

1. First we looked at the table.
2. Then at the rest of a rather long line that is wrapped more than once in a narrow window.
"""
NASTY = (
    "Cafe\u0301 \U0001d11e ok 👩‍👩‍👧 and 👍🏽 then 🇩🇪🇫🇷 go.\u200b End\u202e back\u202c of it.\r\n"
    "\u05e9\u05dc\u05d5\u05dd R03 \u05e2\u05d5\u05dc\u05dd. 𠮷野家 costs 5\u00a0€.\n\n"
    "```\ncode\tline\n```\nlast a\u200db\n"
)
CHINESE = (
    "两种设计相差4.2分，R03会称之为噪声。crn_hier_L在每个预算下都领先；是否稳定？稳定！\n"
    "代号𠮷没有说明，层级归一化也没有定义。这一行足够长，会在狭窄的窗口里换行不止一次，这样才能检验上下移动。"
)
TEXTS = [(ENGLISH, "en"), (NASTY, "en"), (CHINESE, "zh")]

CARET = """() => import("/static/js/caret.js").then((module) => {
  const caret = module.currentCaret();
  return {at: caret.at, anchor: caret.anchor, before: caret.text.slice(0, caret.at), after: caret.text.slice(caret.at)};
})"""


@pytest.fixture
def site(live_server):
    """A project whose open annotator, ana, has three replies to read."""
    project = make_project("study", title_en="A study", title_zh="一项研究")
    make_plan_of(make_member(project, make_person("ana", PASSWORD)), TEXTS)
    return live_server.url


def make_plan_of(member, texts):
    for place, (text, language) in enumerate(texts):
        said = [base.Message(0, "user", "Which is better?"), base.Message(1, "assistant", text)]
        trace = make_trace(member.project, said, language=language)
        state = Assignment.State.LOCKED if place else Assignment.State.OPEN
        make_assignment(member, make_item(trace=trace, phase="main"), state)


@pytest.fixture
def reader(visit):
    """Ana with an item open: the one that holds the words asked for."""

    def begin(text=ENGLISH, **options):
        assignments = Assignment.objects.select_related("item__trace").order_by("order")
        chosen = next(a for a in assignments if text_of(a) == text)
        assignments.exclude(pk=chosen.pk).update(state=Assignment.State.LOCKED)
        assignments.filter(pk=chosen.pk).update(state=Assignment.State.OPEN)
        visitor = visit(**options)
        visitor.sign_in("ana")
        visitor.page.goto(f"{visitor.site}/projects/study/label/")
        visitor.page.wait_for_selector("#reply-text:focus")
        return visitor.page

    return begin


def text_of(assignment):
    return assignment.item.trace.messages.get(index=assignment.item.anchor).text


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def place(page):
    """The text before and after the caret."""
    caret = page.evaluate(CARET)
    return caret["before"], caret["after"]


def selected(page):
    return page.evaluate("String(getSelection())")


def marks(page):
    return [(span["type"], span["quote"]) for span in json.loads(page.input_value("[name=spans]"))]


def focused(page, selector):
    return page.evaluate("selector => document.activeElement.matches(selector)", selector)


def tab_to(page, selector, key="Tab"):
    for _ in range(60):
        if focused(page, selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"no Tab stop at {selector}")


def heard(page, words):
    page.wait_for_function("words => document.getElementById('spoken').textContent.includes(words)", arg=words)


def submit(page):
    before = page.get_attribute("#item", "data-item")
    press(page, "Control+Enter")
    page.wait_for_function("before => document.getElementById('item')?.dataset.item !== before", arg=before)
    page.wait_for_function("() => document.activeElement.closest('#item')")


def stored():
    return [annotation.label for annotation in Annotation.objects.order_by("pk")]


# The whole way


@pytest.mark.parametrize("language", ["en", "zh"])
def test_three_items_are_labelled_from_sign_in_to_the_end_with_the_keyboard_alone(visit, language):
    visitor = visit()
    page = visitor.page
    page.goto(visitor.site)
    page.wait_for_selector("[name=username]")
    if language == "zh":
        tab_to(page, "[name=language]", "Shift+Tab")
        press(page, "Enter")
        page.wait_for_selector("html[lang=zh-hans] [name=username]")
    tab_to(page, "[name=username]")
    page.keyboard.type("ana")
    press(page, "Tab")
    page.keyboard.type(PASSWORD)
    press(page, "Enter")
    page.wait_for_url(f"{visitor.site}/")
    tab_to(page, "a[href$='/projects/study/label/']")
    press(page, "Enter")
    page.wait_for_selector("#reply-text:focus")

    # A word, a sentence, a line and the rest of the text; one mark is taken out of the list, one is taken back.
    press(page, "ArrowDown", "ArrowDown", *["Control+ArrowRight"] * 8, "Control+Shift+ArrowRight", "r")
    press(page, "Alt+ArrowDown", "Alt+Shift+ArrowDown", "d")
    press(page, "Control+Home", "Shift+End", "b")
    assert len(marks(page)) == 3
    press(page, "m", "End", "Delete", "Escape", "Control+z", "Control+End", "Alt+Shift+ArrowUp", "b", "Backspace")
    press(page, "g")
    page.wait_for_selector("#guideline[open] .prose")
    press(page, "Escape", "2")
    press(page, "t")
    page.keyboard.type("d r b 1 ?")
    submit(page)

    press(page, "p")
    assert focused(page, "#problem input")
    press(page, "Escape")
    assert focused(page, "#reply-text")
    press(page, *["Control+ArrowRight"] * 2, "Control+Shift+ArrowRight", "r", "3", "n")
    submit(page)

    press(page, "Control+Shift+ArrowRight", "d", "ArrowDown", "p")
    page.keyboard.type("cut off")
    press(page, "Enter")
    page.wait_for_selector("#item.page")
    assert focused(page, "#item h2")

    first, second = stored()
    assert (first["label"], first["comment"]) == ("needs_information", "d r b 1 ?")
    assert [(span["type"], span["quote"]) for span in first["spans"]] == [
        ("background", "## Comparison"),
        ("reference", "R03"),
        ("definition", "crn_hier_L stays ahead at **every budget** we tried, so `run.py --all` is enough."),
    ]
    assert (second["label"], second["states_no_result"]) == ("unrepairable_or_no_answer", True)
    assert [span["quote"] for span in second["spans"]] == ["👩‍👩‍👧"]
    assert Assignment.objects.get(state=Assignment.State.PROBLEM).item.trace.language == "zh"


# Where words and sentences are


MOVES = [
    # text, language, step, forward, extending, from the text before the caret, to the text before it
    ("one, two", "en", "word", True, False, "", "one, "),
    ("one, two", "en", "word", True, True, "", "one"),
    ("one, two", "en", "word", True, False, "one, t", "one, two"),
    ("one, two", "en", "word", False, False, "one, tw", "one, "),
    ("one, two", "en", "word", False, True, "one, ", ""),
    ("a crn_hier_L b", "en", "word", True, True, "a ", "a crn_hier_L"),
    ("by 4.2 points", "en", "word", True, True, "by ", "by 4.2"),
    ("ok 👩‍👩‍👧 🇩🇪 x", "en", "word", True, True, "ok ", "ok 👩‍👩‍👧"),
    ("ok 👩‍👩‍👧 🇩🇪 x", "en", "word", True, False, "ok 👩‍👩‍👧", "ok 👩‍👩‍👧 "),
    ("没有说明，定义", "zh", "word", True, True, "", "没有"),
    ("没有说明，定义", "zh", "word", True, False, "没有", "没有说明，"),
    ("𠮷e\u0301", "en", "character", True, False, "", "𠮷"),
    ("𠮷e\u0301", "en", "character", False, False, "𠮷e\u0301", "𠮷"),
    ("🇩🇪🇫🇷", "en", "character", True, False, "", "🇩🇪"),
    ("no! (He said: yes.) R03 is", "en", "sentence", True, False, "", "no! "),
    ("no! (He said: yes.) R03 is", "en", "sentence", True, True, "no! ", "no! (He said: yes.)"),
    ("3.5 is noise. crn_hier_L is", "en", "sentence", True, False, "", "3.5 is noise. "),
    ("a line\n\nanother one", "en", "sentence", True, True, "", "a line"),
    ("a line\n\nanother one", "en", "sentence", True, False, "", "a line\n\n"),
    ("好。“是吗？”对；完", "zh", "sentence", True, False, "好。", "好。“是吗？”"),
    ("好。“是吗？”对；完", "zh", "sentence", True, True, "好。“是吗？”", "好。“是吗？”对；"),
    ("好。“是吗？”对；完", "zh", "sentence", False, False, "好。“是吗？”对；完", "好。“是吗？”对；"),
    ("no such language", "x-none-at-all-of-that-name", "word", True, True, "", "no"),
    ("end", "en", "word", True, False, "end", "end"),
    ("end", "en", "sentence", False, True, "", ""),
]

MOVE = """([text, language, step, isForward, isExtending, before]) =>
  import("/static/js/boundaries.js").then(({Boundaries}) =>
    text.slice(0, new Boundaries(text, language)[step](before.length, isForward, isExtending)))"""


def test_words_sentences_and_characters_are_those_of_the_language(visit):
    visitor = visit()
    visitor.page.goto(f"{visitor.site}/sign-in/")
    wrong = {move: got for move in MOVES if (got := visitor.page.evaluate(MOVE, list(move[:6]))) != move[6]}
    assert wrong == {}


def test_the_right_arrow_stops_once_at_every_grapheme_and_the_left_arrow_comes_back_by_the_same_way(reader):
    page = reader(NASTY)
    text = canonical(NASTY)
    graphemes = page.evaluate("text => [...new Intl.Segmenter('en').segment(text)].map((one) => one.segment)", text)
    assert "".join(graphemes) == text == "".join(place(page))
    stops = []
    for _ in graphemes:
        press(page, "ArrowRight")
        stops.append(place(page)[0])
    assert stops == ["".join(graphemes[: n + 1]) for n in range(len(graphemes))]
    press(page, "ArrowRight", *["ArrowLeft"] * len(graphemes))
    assert place(page) == ("", text)


@pytest.mark.parametrize("text", [NASTY, CHINESE], ids=["nasty", "chinese"])
def test_what_the_caret_marks_is_what_the_server_cuts_out_of_its_own_text(reader, text):
    """Every grapheme but blanks, each marked alone: the server refuses a quote that its offsets do not give."""
    page = reader(text)
    content = canonical(text)
    graphemes = page.evaluate("text => [...new Intl.Segmenter('en').segment(text)].map((one) => one.segment)", content)
    wanted = [one for one in graphemes if one.strip() and one != "\ufeff"]
    for one in graphemes:
        press(page, "Shift+ArrowRight")
        if one.strip():
            press(page, "d")
        else:
            press(page, "Escape")
    press(page, "2")
    submit(page)
    [label] = stored()
    assert [span["quote"] for span in label["spans"]] == wanted
    assert all(content[span["start"] : span["end"]] == span["quote"] for span in label["spans"])


# Lines


def test_up_and_down_keep_the_column_over_short_and_empty_lines(reader):
    page = reader()
    press(page, "ArrowDown", "ArrowDown", *["ArrowRight"] * 30)
    column = page.locator(".caret").bounding_box()["x"]
    before = place(page)
    press(page, "ArrowUp")
    assert place(page)[1].startswith("\nThe two")  # the empty line
    press(page, "ArrowUp")
    assert place(page)[0] == "## Comparison"
    press(page, "ArrowDown", "ArrowDown")
    assert place(page) == before
    press(page, "ArrowDown")
    assert abs(page.locator(".caret").bounding_box()["x"] - column) < 8
    press(page, "Control+End", "ArrowDown", "ArrowDown")
    assert place(page)[1] == ""
    press(page, *["ArrowUp"] * 30)
    assert place(page)[0] == ""


def test_home_and_end_are_those_of_the_line_one_sees(reader):
    page = reader()
    page.set_viewport_size({"width": 320, "height": 640})
    press(page, "ArrowDown", "ArrowDown", "End")
    right = page.locator(".caret").bounding_box()
    press(page, "Shift+Home")
    line = selected(page)
    assert line.startswith("The two designs")
    assert line.endswith(" ")
    assert "\n" not in line
    press(page, "ArrowRight")  # to the end of the selection, which is where the next line begins
    press(page, "ArrowLeft", "End")
    assert page.locator(".caret").bounding_box() == right
    press(page, "ArrowDown", "Home", "Shift+End", "d")
    [(_, quote)] = marks(page)
    assert ENGLISH[ENGLISH.index(line) + len(line) :].startswith(quote)


def test_page_keys_take_the_caret_along_and_it_is_always_in_view(reader):
    Assignment.objects.filter(state=Assignment.State.OPEN).first().item.trace.messages.filter(index=1).update(
        text="\n".join(f"Line {number} of a long reply." for number in range(200))
    )
    page = reader(Assignment.objects.order_by("order").first().item.trace.messages.get(index=1).text)
    for width in (1280, 320):
        page.set_viewport_size({"width": width, "height": 640})
        press(page, "Control+Home")
        for keys in (["PageDown"], ["PageDown"], ["Control+End"], ["ArrowUp"], ["PageUp"], ["Control+Home"]):
            press(page, *keys)
            box, bar = page.locator(".caret").bounding_box(), page.locator(".bar").bounding_box()
            assert 0 <= box["y"] <= box["y"] + box["height"] <= bar["y"], (width, keys, box, bar)
        press(page, "PageDown")
        line = place(page)[0].count("\n")
        assert 5 < line < 40
        press(page, "PageUp")
        assert place(page)[0] == ""


# What it leaves alone


def test_a_mouse_and_the_caret_are_one(reader):
    page = reader()
    box = page.locator("#reply-text").bounding_box()
    page.mouse.click(box["x"] + 60, box["y"] + 68)
    before, after = place(page)
    assert before.endswith("\n" + before.rsplit("\n", 1)[1])
    assert before.rsplit("\n", 1)[1]
    press(page, "Shift+End")
    assert after.startswith(selected(page))
    page.dblclick("#reply-text", position={"x": 60, "y": 68})
    word = selected(page)
    assert word.strip()
    press(page, "d")
    assert marks(page) == [("definition", word.strip())]
    page.mouse.move(box["x"] + 20, box["y"] + 68)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 68, steps=5)
    dragged = selected(page)
    page.mouse.up()
    assert len(dragged) > 10
    assert selected(page) == dragged
    press(page, "Control+Shift+ArrowRight")
    assert selected(page).startswith(dragged)


def test_nothing_moves_or_shifts_when_the_caret_and_marks_come(reader):
    page = reader()
    content = page.inner_html("#reply-text")
    before = page.locator("#reply-text").bounding_box()
    press(page, "Control+ArrowRight", "Control+Shift+ArrowRight", "d")
    assert marks(page) != []
    assert page.locator("#reply-text").bounding_box() == before
    assert page.inner_html("#reply-text") == content


def test_the_caret_rests_while_one_types_and_in_dialogs(reader):
    page = reader()
    press(page, *["ArrowRight"] * 3, "t")
    page.keyboard.type("brd 123")
    press(page, "ArrowLeft", "Shift+Home", "Backspace")
    assert page.input_value("[name=comment]") == "3"  # the field's own: all before the last character was removed
    press(page, "Escape")
    assert focused(page, "#reply-text")
    assert place(page)[0] == "## "
    for key, dialog in (("?", "keys"), ("g", "guideline"), ("p", "problem")):
        press(page, key)
        page.wait_for_selector(f"#{dialog}[open]")
        press(page, "ArrowDown", "Control+End", "Control+Shift+ArrowLeft")
        page.locator(f"#{dialog}").evaluate("dialog => dialog.focus()")
        press(page, "d", "1", "m", "Backspace", "Control+z")
        press(page, "Escape")
        assert page.locator("dialog[open]").count() == 0
        assert focused(page, "#reply-text"), dialog
    assert place(page)[0] == "## "
    assert marks(page) == []
    assert page.locator("[name=label]:checked").count() == 0
    assert page.locator("[data-mark][aria-pressed=true]").count() == 0


def test_browsers_keep_their_own_keys(reader):
    page = reader()
    press(page, "1", "Control+1", "Alt+d", "Control+b", "Shift+D", "Alt+ArrowRight", "Meta+ArrowRight")
    assert place(page)[0] == ""
    assert marks(page) == []
    assert page.locator("[data-mark][aria-pressed=true]").count() == 0
    tab_to(page, "[value=readable]")
    press(page, "ArrowRight")
    assert page.is_checked("[value=needs_information]")
    press(page, "ArrowDown")
    assert page.is_checked("[value=unrepairable_or_no_answer]")
    assert place(page)[0] == ""


def test_on_a_mac_option_and_command_move_as_they_do_elsewhere_there(visit):
    visitor = visit()
    page = visitor.page
    page.add_init_script("Object.defineProperty(Navigator.prototype, 'platform', {get: () => 'MacIntel'})")
    visitor.sign_in("ana")
    page.goto(f"{visitor.site}/projects/study/label/")
    page.wait_for_selector("#reply-text:focus")
    press(page, "Alt+ArrowRight")
    assert place(page)[0] == "## "
    press(page, "Shift+Alt+ArrowRight")
    assert selected(page) == "Comparison"
    press(page, "Meta+ArrowDown")
    assert place(page)[1] == ""
    press(page, "Meta+ArrowUp", "Shift+Meta+ArrowRight", "Control+ArrowRight")
    assert selected(page) == "## Comparison"


def test_an_input_method_has_its_keys_to_itself(reader):
    """Enter and letters that compose or choose a candidate belong to the note; what follows is ours again."""
    page = reader()
    press(page, "3", "t")
    keyboard = page.context.new_cdp_session(page)
    keyboard.send("Input.imeSetComposition", {"text": "bei", "selectionStart": 3, "selectionEnd": 3})
    assert page.input_value("[name=comment]") == "bei"
    for modifiers in (0, 2):  # Enter alone, and with Ctrl
        event = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229, "modifiers": modifiers}
        keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **event})
        keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})
    keyboard.send("Input.insertText", {"text": "背景"})
    assert page.input_value("[name=comment]") == "背景"
    page.evaluate(
        """() => {
          const text = document.getElementById("reply-text");
          const keys = [["Enter", {ctrlKey: true}], ["z", {ctrlKey: true}],
            ...["Enter", "d", "1", "?", "m", "Backspace", "ArrowRight", "Escape"].map((key) => [key, {}])];
          text.focus();
          for (const [key, held] of keys) {
            for (const how of [{isComposing: true}, {keyCode: 229}]) {
              text.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true, ...held, ...how}));
            }
          }
        }"""
    )
    page.wait_for_timeout(600)
    assert stored() == []
    assert page.locator("#problems li").count() == 0
    assert page.is_checked("[value=unrepairable_or_no_answer]")
    assert page.locator("[data-mark][aria-pressed=true]").count() == 0
    assert page.locator("dialog[open]").count() == 0
    assert place(page)[0] == ""
    press(page, "t")
    submit(page)
    assert stored()[0]["comment"] == "背景"


# Marks and their list


def test_the_type_may_come_first_and_enter_marks_the_selection(reader):
    page = reader()
    press(page, "b")
    heard(page, "background: select the passage, then press Enter")
    press(page, "Control+ArrowRight", "Shift+End", "Enter")
    assert marks(page) == [("background", "Comparison")]
    assert page.get_attribute("[data-mark=background]", "aria-pressed") == "false"
    press(page, "d", "Escape", "Shift+ArrowLeft", "Enter")
    assert marks(page) == [("background", "Comparison")]


def test_the_list_of_marks_is_walked_by_arrows_and_leads_to_the_words(reader):
    page = reader()
    press(page, "ArrowDown", "ArrowDown")
    for key in "drb":
        press(page, "Control+ArrowRight", "Control+Shift+ArrowRight", key)
    assert marks(page) == [("definition", "two"), ("reference", "designs"), ("background", "differ")]
    chips = page.get_by_role("list", name="Marked passages")
    for kind, words in marks(page):
        assert chips.get_by_role("button", name=f"{kind}: {words}", exact=True).count() == 1
        assert chips.get_by_role("button", name=f"Remove the mark: {kind}, {words}").count() == 1
    press(page, "m")
    assert focused(page, ".chip:nth-child(3) .go") or focused(page, ".chip:nth-child(1) .go")
    press(page, "Home", "ArrowRight", "Enter")
    assert focused(page, "#reply-text")
    assert selected(page) == "designs"
    heard(page, "designs: selected")
    press(page, "Escape", "Enter")  # and from the words back to their place in the list
    assert focused(page, ".chip:nth-child(2) .go")
    press(page, "Delete")
    assert marks(page) == [("definition", "two"), ("background", "differ")]
    assert focused(page, ".chip:nth-child(2) .go")
    press(page, "Backspace")
    assert focused(page, ".chip:nth-child(1) .go")
    press(page, "Tab", "Shift+Tab")  # one stop for Tab
    assert focused(page, ".chip:nth-child(1) .go")
    press(page, "Delete")
    assert marks(page) == []
    assert focused(page, "#reply-text")


def test_undo_takes_back_the_last_change_of_marks_and_not_what_is_typed(reader):
    page = reader()
    press(page, "Control+Shift+ArrowRight", "d", "Control+ArrowRight", "Control+Shift+ArrowRight", "r", "Backspace")
    [first] = marks(page)
    press(page, "Control+z")
    assert [kind for kind, _ in marks(page)] == ["definition", "reference"]
    press(page, "Control+z", "Control+z", "Control+z")
    assert marks(page) == []
    press(page, "Control+Shift+z")
    assert marks(page) == [first]
    press(page, "Control+y")
    assert len(marks(page)) == 2
    press(page, "t")
    page.keyboard.type("note")
    press(page, "Control+z")
    assert page.input_value("[name=comment]") != "note"
    assert len(marks(page)) == 2
    press(page, "Escape", "Control+z")
    assert marks(page) == [first]


def test_marks_that_overlap_have_letters_and_underlines_apart(reader):
    page = reader()
    press(page, "Control+ArrowRight", "Shift+End", "d")
    for key in "rb":
        press(page, "m", "Home", "Enter", key)
    assert [kind for kind, _ in marks(page)] == ["definition", "reference", "background"]
    letters = sorted(
        (letter.bounding_box() for letter in page.locator("#mark-letters span").all()), key=lambda box: box["x"]
    )
    assert len(letters) == 3
    assert all(one["x"] + one["width"] <= other["x"] for one, other in pairwise(letters))
    offsets = page.evaluate(
        """() => ["definition", "reference", "background"].map((type) =>
        getComputedStyle(document.getElementById("reply-text"), `::highlight(mark-${type})`).textUnderlineOffset)"""
    )
    assert len(set(offsets)) == 3


@pytest.mark.parametrize("taken", ["", "touchstart", "pointerup"])
def test_a_tap_marks_what_a_finger_selected_even_where_the_tap_takes_the_selection_away(reader, taken):
    """Headless Chromium selects nothing by a long press, so the selection is made as its handles would leave it."""
    page = reader(has_touch=True, is_mobile=True)
    page.set_viewport_size({"width": 320, "height": 640})
    page.evaluate(
        """(taken) => {
          const text = document.getElementById("reply-text").firstElementChild.nextSibling.firstChild;
          getSelection().setBaseAndExtent(text, 0, text, 7);
          if (taken) document.addEventListener(taken, () => getSelection().removeAllRanges(), {capture: true});
        }""",
        taken,
    )
    page.tap("[data-mark=reference]")
    assert marks(page) == [("reference", "Compari")]
    page.tap(".chip .remove")
    assert marks(page) == []


# The list of keys, and the way about


def test_the_list_of_keys_opens_anywhere_but_where_one_types(reader):
    page = reader()
    for stop in ("#reply-text", ".seen", "[value=readable]", "[data-submit]"):
        page.focus(stop)
        press(page, "?")
        assert page.locator("#keys[open]").count() == 1, stop
        assert page.locator("#keys").evaluate("dialog => dialog.scrollTop") == 0
        press(page, "Escape")
        assert page.locator("#keys[open]").count() == 0
        assert focused(page, stop)
    page.focus("[name=comment]")
    press(page, "?")
    assert page.locator("#keys[open]").count() == 0
    assert page.input_value("[name=comment]") == "?"


def test_every_key_of_a_button_is_shown_beside_it_and_stands_in_the_list(reader):
    page = reader()
    keys = page.locator("[data-key]").evaluate_all("all => all.map((one) => one.dataset.key)")
    assert set(keys) >= set("123nmtdrbpgG?")
    listed = page.locator("#keys kbd").all_text_contents()
    assert {spelled(key) for key in keys} <= set(listed)
    for button in page.locator(".bar button:visible").all():
        assert button.locator("kbd").count() == 1, button.inner_text()
    shown = "all => all.map((one) => one.closest('label, button, a').querySelector('kbd').textContent)"
    assert page.locator(".bar [data-key]").evaluate_all(shown) == [spelled(key) for key in keys if key != "?"]


def spelled(key):
    """A capital is the letter with Shift."""
    return f"Shift+{key}" if key.isupper() else key


def test_a_gap_in_the_guideline_has_its_key_before_and_after_the_answer(reader):
    page = reader()
    for before in ((), ("3", "Control+Enter")):
        press(page, *before)
        if before:
            page.wait_for_selector("#item")
            page.goto(f"{page.url.split('/label/')[0].split('/projects/')[0]}/projects/study/annotations/")
            page.click("main li a")
        assert page.locator("[data-opens=gap] kbd").inner_text() == "Shift+G"
        press(page, "Shift+G")
        assert focused(page, "#gap textarea")
        page.keyboard.type("G and g are letters here")
        press(page, "Control+Enter")
        page.wait_for_selector("#gap-state:has-text('The lead is told')")
        page.wait_for_function("() => !document.getElementById('gap').open")
    assert Post.objects.filter(purpose="gap").count() == 2


NAME_OF_STOP = """() => {
  const {id, name, dataset, className} = document.activeElement;
  return id || name || dataset.mark || dataset.key || className;
}"""


def test_the_skip_link_leads_into_the_main_part_and_tab_goes_in_reading_order(reader):
    page = reader()
    page.focus(".skip")
    press(page, "Enter")
    stops = []
    for _ in range(9):
        press(page, "Tab")
        stops.append(page.evaluate(NAME_OF_STOP))
    fields = ["label", "states_no_result", "definition", "reference", "background", "comment"]
    assert stops == ["seen", "reply-text", *fields, "p"]


# What is said aloud


def test_moves_by_word_and_sentence_are_said_and_a_held_key_speaks_once(reader):
    page = reader()
    press(page, "ArrowDown", "ArrowDown", "Control+ArrowRight", "Control+ArrowRight", "Control+ArrowRight")
    heard(page, "differ")
    assert "two" not in page.inner_text("#spoken").split()
    press(page, "Alt+ArrowDown")
    heard(page, "crn_hier_L stays ahead at")
    press(page, "Control+Shift+ArrowRight")
    heard(page, "crn_hier_L: selected")
    press(page, "Control+Shift+ArrowLeft")
    heard(page, "crn_hier_L: no longer selected")
    press(page, "Control+End")
    heard(page, "end of the text")


def test_marks_are_said_with_type_and_words_when_they_come_and_go(reader):
    page = reader()
    press(page, "Control+ArrowRight", "Shift+End", "r")
    heard(page, "Marked: reference, Comparison")
    press(page, "Backspace")
    heard(page, "Mark removed: reference, Comparison")
    press(page, "Control+z")
    last = "words => document.getElementById('spoken').lastElementChild.textContent === words"
    page.wait_for_function(last, arg="Marked: reference, Comparison")


def test_saved_is_said_once_and_not_on_each_keystroke(reader):
    page = reader()
    page.evaluate(
        """() => {
          window.lines = [];
          const listen = (changes) => changes.forEach((change) => lines.push(...change.addedNodes));
          new MutationObserver(listen).observe(document.getElementById("spoken"), {childList: true});
        }"""
    )
    press(page, "t")
    for word in ("a", " longer", " note"):
        page.keyboard.type(word, delay=30)
        page.wait_for_timeout(2000)
    heard(page, "Saved")
    page.wait_for_timeout(1500)
    said = page.evaluate("lines.map((line) => line.textContent)")
    assert 1 <= len(said) <= 2, said  # twice only where the minute turned
    assert all(line.startswith("Saved ") for line in said)
    assert page.get_attribute("#save-state", "aria-live") == "off"


def test_that_nothing_is_saved_is_said_at_once(reader):
    page = reader()
    page.context.set_offline(True)
    press(page, "1")
    heard(page, "Not saved: the line is down.")
    page.context.set_offline(False)
    heard(page, "Saved")


def test_the_next_item_takes_the_focus_and_says_where_one_is(reader):
    page = reader()
    press(page, "3", "t")
    submit(page)
    assert focused(page, "#reply-text")
    heard(page, "Saved ")
    heard(page, "2 of 3 in all")
    assert place(page)[0] == ""
    for _ in range(2):
        press(page, "3")
        submit(page)
    assert focused(page, "#item h2")
    heard(page, "All done")


AT_ONCE = """() => {
  window.isTheSamePage = true;
  const answer = (event) => {
    if (event.detail.target.id !== "item") return;
    document.removeEventListener("htmx:afterSwap", answer);
    setTimeout(() => {
      document.querySelector("#label-form [data-key='3']").click();
      document.querySelector("#label-form [data-submit]").click();
    });
  };
  document.addEventListener("htmx:afterSwap", answer);
}"""


def test_who_answers_the_moment_an_item_is_there_stays_on_the_page(reader):
    page = reader()
    page.evaluate(AT_ONCE)
    press(page, "3", "Control+Enter")
    heard(page, "3 of 3 in all")
    assert page.evaluate("window.isTheSamePage")
    assert len(stored()) == 2


def test_a_refusal_is_an_alert_and_the_focus_stays(reader):
    page = reader()
    press(page, "2", "Control+Enter")
    page.wait_for_selector("#problems li")
    assert page.locator("[role=alert]:visible").count() == 1
    assert focused(page, "#reply-text")


def violations(page):
    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {[node['target'] for node in one['nodes']][:3]}" for one in found]


@pytest.mark.parametrize("width", [1280, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_with_marks_and_each_dialog(reader, scheme, width):
    page = reader(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    found = {}
    press(page, "Control+Shift+ArrowRight", "d", "ArrowDown", "ArrowDown", "Shift+End", "r", "m")
    found["marks"] = violations(page)
    press(page, "1", "Control+Enter")
    page.wait_for_selector("#problems li")
    found["problems"] = violations(page)
    for key, dialog in (("?", "keys"), ("g", "guideline"), ("p", "problem"), ("Shift+G", "gap")):
        press(page, key)
        page.wait_for_selector(f"#{dialog}[open] :is(h2, .prose)")
        found[dialog] = violations(page)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{dialog} scrolls sideways: {wide}"
        press(page, "Escape")
    assert {what: errors for what, errors in found.items() if errors} == {}
