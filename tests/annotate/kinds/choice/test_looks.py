"""How types of marks are told apart where answers of several protocols stand in one text."""

import copy

from django.utils.translation import override

from annotate.kinds.base import OTHER_STYLE
from annotate.kinds.choice.examples import made, part
from annotate.kinds.choice.kind import KIND

TERM, REFERENCE = made("term", "term", "术语", "t"), made("ref", "reference", key="r")
OLD = {"judged": "text", "parts": [part("gaps", "marks", "Gaps", labels=[TERM, REFERENCE])]}
NEW = {
    "judged": "text",
    "parts": [part("gaps", "marks", "Gaps", labels=[made("ref", "a reference", key="t"), made("new", "new", key="n")])],
    "removed": [{"id": "term", "title": {"en": "term", "zh": "术语"}}],
}


def looks(*schemas):
    return {type: (str(one.title), one.style, one.letter) for type, one in KIND.looks(schemas).items()}


def test_each_type_has_the_underline_the_key_and_the_title_of_the_page_on_which_one_answers():
    assert looks(OLD) == {"term": ("term", "1", "t"), "ref": ("reference", "2", "r")}
    with override("zh-hans"):
        assert looks(OLD)["term"][0] == "术语"
        assert looks(OLD)["ref"][0] == "reference"


def test_the_newest_protocol_comes_first_and_what_it_has_no_more_takes_nothing_from_it():
    found = looks(OLD, NEW)
    assert found == {
        "term": ("term", OTHER_STYLE, ""),
        "ref": ("a reference", "1", "t"),
        "new": ("new", "2", "n"),
    }
    without = copy.deepcopy(NEW) | {"removed": []}
    assert looks(OLD, without)["term"] == ("term", OTHER_STYLE, "")
