"""The two rules, and the words that a schema gives them."""

import json

import pytest

from annotate.kinds.redundancy.kind import KIND
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.kinds.redundancy.suggest import canonical_json, suggest
from annotate.traces.base import Answered, Call, Message, Trace


def trajectory(*steps, side="agent"):
    """Each step is a tool, its arguments and its result; a fourth member is whose it is."""
    messages = [Message(0, "user", "Go.")]
    for tool, arguments, result, *whose in steps:
        side = whose[0] if whose else "agent"
        index = len(messages)
        role = "user" if side == "user" else "assistant"
        messages += [
            Message(index, role, "", side=side, calls=(Call("x", tool, arguments),)),
            Message(index + 1, "tool", result, side=side, answers=Answered(index, 0)),
        ]
    return Trace("", "", tuple(messages))


def found(*steps, **schema):
    return suggest(trajectory(*steps), {**SCHEMA, **schema})


def test_a_repeated_call_is_a_duplicate_of_the_earliest_whatever_the_order_of_its_arguments():
    assert found(
        ("get", '{"a": 1, "b": [" x ", 2.0]}', '{"ok": true}'),
        ("other", '{"a": 1, "b": ["x", 2]}', '{"ok": true}'),
        ("get", '{"b":["x",2],"a":1.0}', ' {"ok":true}\n'),
        ("get", '{"a": 1e0, "b": ["x", 2]}', '{"ok": true}'),
    ) == [
        {"step": [5, 6], "type": "DUP", "evidence": [1, 2], "rules": ["identical"], "keyword": ""},
        {"step": [7, 8], "type": "DUP", "evidence": [1, 2], "rules": ["identical"], "keyword": ""},
    ]


@pytest.mark.parametrize(
    "other",
    [
        ("get", '{"a": 1}', "three"),
        ("get", '{"a": 2}', "two"),
        ("get", '{"a": "1"}', "two"),
        ("get", '{"a": true}', "two"),
        ("get", '{"a": 1, "b": null}', "two"),
        ("got", '{"a": 1}', "two"),
        ("get", '{"a": 1}', '"two"'),
    ],
)
def test_another_tool_argument_or_result_is_no_duplicate(other):
    assert found(("get", '{"a": 1}', "two"), other) == []


def test_what_the_user_did_before_is_no_earlier_step_and_is_never_suggested():
    mine, theirs = ("get", "{}", "two"), ("get", "{}", "two", "user")
    assert found(theirs, mine) == []
    assert found(mine, theirs) == []
    assert found(("get", "{}", "Error", "user")) == []


@pytest.mark.parametrize(
    ("result", "type", "keyword"),
    [
        ("Error: user not found", "INC", "Error"),
        ("ERROR: connection reset", "ABN", "connection"),
        ("Request timed  out", "ABN", "timed  out"),
        ("HTTP 503", "ABN", "HTTP 503"),
        ('{"status_code": 502}', "ABN", "code\": 502"),
        ("504 Gateway", "ABN", "504 G"),
        ("查询失败：用户不存在", "INC", "失败"),
        ("请求超时", "ABN", "超时"),
    ],
)
def test_a_word_of_failure_in_a_result_suggests_a_type(result, type, keyword):
    assert found(("get", "{}", result)) == [
        {"step": [1, 2], "type": type, "evidence": [-1], "rules": ["error_keyword"], "keyword": keyword}
    ]


@pytest.mark.parametrize(
    "result",
    ["terrorist", "errors: 0", "unfailed", "523.0", "500", '{"price": 512}', "connections", "invalidate", "", "已找到"],
)
def test_parts_of_words_and_prices_are_no_errors(result):
    assert found(("get", "{}", result)) == []


def test_a_step_that_both_rules_find_is_suggested_once_with_the_type_that_is_checked_first():
    failed, waited = ("get", "{}", "Error: no such user"), ("get", "{}", "timeout")
    assert found(failed, failed)[1] == {
        "step": [3, 4], "type": "DUP", "evidence": [1, 2], "rules": ["identical", "error_keyword"], "keyword": "Error",
    }  # fmt: skip
    assert found(waited, waited)[1]["type"] == "ABN"
    assert found(waited, waited)[1]["evidence"] == [-1]


def test_words_are_the_schemas_and_the_rules_can_be_switched_off():
    steps = [("get", "{}", "error"), ("get", "{}", "Kaputt (a.b)")]
    words = {"ABN": ["kaputt", "A.B"], "INC": []}
    assert [(one["step"], one["type"]) for one in found(*steps, keywords=words)] == [([3, 4], "ABN")]
    assert found(*steps, suggest=False) == []
    assert found(("get", "{}", "a+b"), keywords=words) == []


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("1", "1.0", True),
        ("100", "1e2", True),
        ("0", "-0.0", True),
        ("0.10", "1E-1", True),
        ("12345678901234567890123456789012345678901", "12345678901234567890123456789012345678902", False),
        ("1e400", "1e401", False),
        ("NaN", "NaN", True),
        ('"1"', "1", False),
        ("[1, 2]", "[2, 1]", False),
        ("not json", " not json ", True),
        ("[" * 100_000, "[" * 100_000, True),
        ("9" * 5000, "9" * 5000 + ".0", True),
    ],
)
def test_values_are_compared_as_json_compares_them(one, other, is_same):
    assert (canonical_json(one) == canonical_json(other)) is is_same


def test_what_is_suggested_can_be_kept_as_it_is():
    (one,) = found(("get", "{}", "x"), ("get", "{}", "x"))
    kept = {name: one[name] for name in ("step", "type", "evidence")} | {"origin": "kept"}
    data = {"outcome": "steps", "steps": [kept], "decisions": [{"step": one["step"], "decision": "keep"}]}
    label = KIND.parse(data, SCHEMA, None)
    trace = trajectory(("get", "{}", "x"), ("get", "{}", "x"))
    blocks = KIND.view(trace, 4, SCHEMA)
    KIND.check(label, SCHEMA, type(blocks)(blocks.context, None, blocks.entries, (json.loads(json.dumps(one)),)))
