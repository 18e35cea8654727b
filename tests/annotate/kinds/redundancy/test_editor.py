"""The words of the rules on a page."""

import pytest

from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.editor import draft_schema, edit_schema, read_schema
from annotate.kinds.redundancy.schema import SCHEMA

POST = {"suggest": "on", "keywords-ABN": "timeout\r\n\r\n 超时 \n", "keywords-INC": "error\nerror"}


def test_the_page_begins_with_the_words_that_there_are_and_reads_them_back():
    editor = edit_schema(None, SCHEMA)
    post = {"suggest": "on", **{f"keywords-{type}": words for type, words in editor.words}}
    assert read_schema(post, None) == SCHEMA


def test_words_are_read_line_by_line_and_the_rules_may_be_off():
    schema = read_schema(POST, SCHEMA)
    assert schema["keywords"] == {"ABN": ["timeout", "超时"], "INC": ["error"]}
    assert schema["suggest"]
    assert not read_schema({name: POST[name] for name in POST if name != "suggest"}, None)["suggest"]
    assert schema["types"] == SCHEMA["types"]


def test_what_is_wrong_stays_on_the_page_and_is_named_once_for_each_list():
    post = {**POST, "keywords-INC": "\n".join(["x" * 100, "y" * 100])}
    with pytest.raises(LabelError) as refusal:
        read_schema(post, None)
    assert [one.pointer for one in refusal.value.problems] == ["/keywords/INC"]
    assert dict(edit_schema(post, SCHEMA).words)["INC"] == post["keywords-INC"]
    assert draft_schema(post)["keywords"]["ABN"] == ["timeout", "超时"]
