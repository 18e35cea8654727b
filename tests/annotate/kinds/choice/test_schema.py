"""A question as a lead makes it: what is refused, which ids and keys are given, what stays when it changes."""

import pytest

from annotate.kinds.base import LabelError
from annotate.kinds.choice.editor import draft_schema, edit_schema, read_schema
from annotate.kinds.choice.examples import SCHEMA, made, part, title
from annotate.kinds.choice.kind import KIND
from annotate.kinds.choice.label import load
from annotate.kinds.choice.measures import distance, same
from annotate.kinds.choice.question import FIRST
from annotate.kinds.choice.schema import check_schema

YES_NO = [made("", "yes"), made("", "no")]


def question(*parts, judged="replies"):
    return {"judged": judged, "parts": list(parts)}


def one(id="", en="Tone", labels=YES_NO, **more):
    return part(id, "one", en, labels=labels, **{"ordered": False, **more})


def keyed(key):
    return question(one(labels=[made("", "a", key=key), YES_NO[0]]))


def scale(lowest, highest, **more):
    return question(part("s", "scale", "S", lowest=lowest, highest=highest, **more))


def refusals(schema, newest=None):
    with pytest.raises(LabelError) as refusal:
        check_schema(schema, newest)
    for problem in refusal.value.problems:
        said = problem.as_dict()
        assert "%(" not in said["expected"] + said["remedy"]
        assert said["remedy"]
    return {(problem.code, problem.pointer) for problem in refusal.value.problems}


BAD = {
    "no parts": (question(), ("missing_field", "/parts")),
    "a note alone": (question(part("n", "note", "Note", key="")), ("missing_field", "/parts")),
    "parts are no list": ({"judged": "replies", "parts": {}}, ("wrong_type", "/parts")),
    "a part is a text": (question("tone"), ("wrong_type", "/parts/0")),
    "unknown type": (question({**one(), "type": "rank"}), ("wrong_value", "/parts/0/type")),
    "unknown field": (question(one(), part("x", "note", "N", key="", labels=[])), ("unknown_field", "/parts/1/labels")),
    "nothing is judged": (question(one(), judged="all"), ("wrong_value", "/judged")),
    "no title": (question(one(en=" ")), ("missing_field", "/parts/0/title/en")),
    "no title of a label": (
        question(one(labels=[*YES_NO, made("", "")])),
        ("missing_field", "/parts/0/labels/2/title/en"),
    ),
    "one label": (question(one(labels=YES_NO[:1])), ("missing_field", "/parts/0/labels")),
    "no type of marks": (question(part("m", "marks", "Marks", labels=[])), ("missing_field", "/parts/0/labels")),
    "a title is a text": (question({**one(), "title": "Tone"}), ("wrong_type", "/parts/0/title")),
    "a title in French": (question({**one(), "title": {"fr": "Ton"}}), ("unknown_field", "/parts/0/title/fr")),
    "a long title": (question(one(en="x" * 201)), ("too_many", "/parts/0/title/en")),
    "ordered as text": (question(one(ordered="yes")), ("wrong_type", "/parts/0/ordered")),
    "a key of the page": (keyed("z"), ("duplicate_key", "/parts/0/labels/0/key")),
    "a key twice": (
        question(one(labels=[made("", "a", key="1"), made("", "b", key="1")])),
        ("duplicate_key", "/parts/0/labels/1/key"),
    ),
    "a long key": (keyed("ab"), ("wrong_value", "/parts/0/labels/0/key")),
    "a large letter": (keyed("A"), ("wrong_value", "/parts/0/labels/0/key")),
    "an id twice": (question(one("a"), one("a")), ("duplicate_id", "/parts/1/id")),
    "marks is taken": (question(one("marks")), ("duplicate_id", "/parts/0/id")),
    "a scale that goes down": (scale(5, 1), ("out_of_range", "/parts/0/highest")),
    "a long scale": (scale(0, 101), ("out_of_range", "/parts/0/highest")),
    "a fraction": (scale(0.5, 2), ("wrong_type", "/parts/0/lowest")),
    "digits beyond nine": (
        scale(1, 10, digits=True),
        ("wrong_value", "/parts/0/digits"),
    ),
    "digits that labels have": (
        question(
            one(labels=[made("", "a", key="1"), made("", "b", key="2")]),
            part("s", "scale", "S", lowest=1, highest=3, digits=True),
        ),
        ("duplicate_key", "/parts/1/digits"),
    ),
    "a note that is required": (
        question(one(), part("n", "note", "N", key="", required=True)),
        ("wrong_value", "/parts/1/required"),
    ),
    "asked where nothing is": (
        question(one("a"), one("b", when={"part": "a", "label": "maybe"})),
        ("wrong_value", "/parts/1/when"),
    ),
    "asked after itself": (
        question(one("a", when={"part": "b", "label": "yes"}), one("b")),
        ("wrong_value", "/parts/0/when"),
    ),
    "when is a text": (question(one("a"), one("b", when="a")), ("wrong_type", "/parts/1/when")),
    "many types of marks": (
        question(part("m", "marks", "M", labels=[made("", f"type {n}") for n in range(7)])),
        ("too_many", "/parts"),
    ),
    "many parts": (question(*[one(en=f"Part {n}") for n in range(13)]), ("too_many", "/parts")),
    "many labels": (question(one(labels=[made("", f"l{n}") for n in range(31)])), ("too_many", "/parts/0/labels")),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_question_is_refused_at_its_field(name):
    schema, expected = BAD[name]
    assert expected in refusals(schema)


def test_more_wrong_than_can_be_told_is_cut_off():
    labels = [made("", "", key="Z") for _ in range(30)]
    assert ("more_problems", None) in refusals(question(one(labels=labels), one(labels=labels)))


def test_ids_come_from_english_titles_and_are_never_given_twice():
    schema = check_schema(
        question(
            one(en="How calm?", labels=[made("", "yes"), made("", "", "否"), made("", "yes!")]),
            one(en="How calm?", labels=[made("", "Yes"), made("own", "no")]),
            part("", "marks", "标记", labels=[made("", "yes")]),
        ),
        None,
    )
    ids = [(one["id"], [label["id"] for label in one["labels"]]) for one in schema["parts"]]
    assert ids == [
        ("how_calm", ["yes", "label", "yes_2"]),
        ("how_calm_2", ["yes_3", "own"]),
        (schema["parts"][2]["id"], ["yes_4"]),
    ]


def test_keys_that_are_left_empty_are_given_and_none_of_the_page_s():
    schema = check_schema(
        question(
            one(labels=[made("", "a"), made("", "b", key="2"), made("", "c")]),
            part("", "marks", "M", labels=[made("", "gap"), made("", "zoo"), made("", "中文")]),
            part("", "note", "N", key="x"),
        ),
        None,
    )
    keys = [label["key"] for one in schema["parts"] for label in one.get("labels", ())]
    assert keys == ["1", "2", "3", "a", "o", "b"]


def test_a_renamed_label_keeps_its_id_and_a_removed_one_its_name():
    newest = check_schema(SCHEMA, None)
    renamed = {**newest, "parts": [{**one} for one in newest["parts"]]}
    tone = renamed["parts"][0]
    tone["labels"] = [{**tone["labels"][0], "title": title("serene")}, *tone["labels"][1:]]
    renamed["parts"] = [one for one in renamed["parts"] if one["id"] != "faults"]
    then = check_schema(renamed, newest)
    assert then["parts"][0]["labels"][0] == {"id": "calm", "title": title("serene"), "key": "1"}
    assert {one["id"] for one in then["removed"]} == {"old", "faults", "long", "vague"}
    again = {**then, "parts": [*then["parts"], part("", "several", "Faults", labels=[made("", "long")])]}
    added = check_schema(again, then)["parts"][-1]
    assert (added["id"], added["labels"][0]["id"]) == ("faults_2", "long_2")


def test_what_is_taken_away_leaves_its_ids_behind_even_where_the_writer_does_not_say_so():
    newest = check_schema(SCHEMA, None)
    assert {one["id"] for one in check_schema(FIRST, newest)["removed"]} >= {"tone", "calm", "gaps", "term", "old"}


def test_labels_of_two_protocols_are_compared_by_their_values():
    calm = {"answers": {"tone": "calm", "faults": ["long"]}, "notes": {}, "spans": []}
    older, newer = load(calm, SCHEMA), load(calm, FIRST)
    assert same(older, newer)
    assert distance(older, newer) == 0
    assert distance(older, load({**calm, "answers": {"tone": "x", "faults": ["long"]}}, FIRST)) == 0.5


def test_a_label_of_an_older_protocol_is_read_and_is_no_rating_on_the_newer_scale():
    old = load({"answers": {"tone": "gone", "style": "x", "clarity": 99}, "spans": []}, SCHEMA)
    assert (old.value("tone"), old.value("style")) == ("gone", "x")
    assert {measure.rate(old) for measure in KIND.measures(SCHEMA)} == {None, "no"}


# The page


POST = {
    "judged": "last",
    "parts-0-id": "+1",
    "parts-0-type": "one",
    "parts-0-title-en": "Tone",
    "parts-0-required": "on",
    "parts-0-labels-0-id": "+2",
    "parts-0-labels-0-title-en": "calm",
    "parts-0-labels-1-id": "+3",
    "parts-0-labels-1-title-zh": "生气",
    "parts-1-id": "+4",
    "parts-1-type": "scale",
    "parts-1-title-en": "How much?",
    "parts-1-lowest": "0",
    "parts-1-highest": "ten",
    "parts-1-when": "+1/+3",
}


def parts_of(post, newest=FIRST):
    return edit_schema(post, newest).question.parts


def test_what_was_typed_is_in_the_form_and_in_the_refusal_and_then_in_the_schema():
    editor = edit_schema(POST, FIRST)
    assert editor.typed == {"+4": ("0", "ten")}
    assert (editor.question.parts[0].title.en, editor.question.parts[0].labels[1].title.zh) == ("Tone", "生气")
    with pytest.raises(LabelError) as refusal:
        read_schema(POST, None)
    assert [problem.pointer for problem in refusal.value.problems] == ["/parts/1/highest"]
    schema = read_schema({**POST, "parts-1-highest": "10"}, None)
    assert schema["parts"][1]["when"] == {"part": "tone", "label": "label"}
    assert schema["judged"] == "last"


def test_ids_that_no_protocol_has_are_not_believed():
    post = {**POST, "parts-0-id": "mine", "parts-0-labels-0-id": "<b>", "parts-1-when": "mine/<b>"}
    schema = read_schema({**post, "parts-1-highest": "9"}, FIRST)
    assert schema["parts"][1]["when"] == {"part": "tone", "label": "calm"}
    assert schema["parts"][0]["id"] == "tone"
    assert schema["parts"][0]["labels"][0]["id"] == "calm"


def test_ids_of_the_newest_protocol_stay_through_the_form():
    newest = check_schema(SCHEMA, None)
    post = {"judged": "replies", "parts-0-id": "tone", "parts-0-type": "one", "parts-0-title-en": "Mood"}
    for place, id in enumerate(["calm", "angry"]):
        post |= {f"parts-0-labels-{place}-id": id, f"parts-0-labels-{place}-title-en": f"{id} now"}
    schema = read_schema(post, newest)
    assert [label["id"] for label in schema["parts"][0]["labels"]] == ["calm", "angry"]
    assert "terse" in {one["id"] for one in schema["removed"]}


BUTTONS = {
    "add-note": lambda parts: parts[-1].type == "note",
    "remove-0": lambda parts: [part.title.en for part in parts] == ["How much?"],
    "down-0": lambda parts: [part.title.en for part in parts] == ["How much?", "Tone"],
    "up-1": lambda parts: [part.title.en for part in parts] == ["How much?", "Tone"],
    "label-0": lambda parts: len(parts[0].labels) == 3,
    "unlabel-0-0": lambda parts: [label.title.zh for label in parts[0].labels] == ["生气"],
    "raise-0-1": lambda parts: [label.title.zh for label in parts[0].labels] == ["生气", ""],
    "lower-0-0": lambda parts: [label.title.zh for label in parts[0].labels] == ["生气", ""],
}


@pytest.mark.parametrize("do", BUTTONS)
def test_buttons_change_the_form_and_keep_what_was_typed(do):
    parts = parts_of({**POST, "do": do})
    assert BUTTONS[do](parts)
    assert edit_schema({**POST, "do": do}, FIRST).typed == {"+4": ("0", "ten")}
    ids = [id for part in parts for id in (part.id, *part.label_ids)]
    assert len(set(ids)) == len(ids)


NO_BUTTONS = ["", "draw", "x", "add-rank", "add-3", "remove-9", "unlabel-0", "unlabel-0-99", "up-one", "down-999"]


@pytest.mark.parametrize("do", NO_BUTTONS)
def test_buttons_that_there_are_not_change_nothing(do):
    assert parts_of({**POST, "do": do}) == parts_of(POST)


def test_a_form_holds_no_more_parts_and_labels_than_a_question_may_have():
    post = {f"parts-{n}-id": f"+{n}" for n in range(300)} | {f"parts-0-labels-{n}-id": f"+{n}x" for n in range(300)}
    parts = parts_of(post)
    assert (len(parts), len(parts[0].labels)) == (13, 31)
    assert len(parts_of({**post, "do": "add-one"})) == 13


def test_a_draft_is_a_schema_the_form_can_show_complete_or_not():
    assert draft_schema({})["parts"] == []
    assert draft_schema(POST)["parts"][1]["highest"] > 1000
