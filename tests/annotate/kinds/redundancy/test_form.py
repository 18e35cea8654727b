"""What a page posts: JSON where a script wrote it, lines that one types where there is none."""

import pytest

from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.form import line_of, read_form, step_of
from annotate.kinds.redundancy.kind import KIND
from annotate.kinds.redundancy.schema import SCHEMA


def typed(lines, **fields):
    return read_form({"lines": lines, "note": "", **fields}, SCHEMA)


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("8-9 DUP 4-5", {"step": [8, 9], "type": "DUP", "evidence": [4, 5], "reason": ""}),
        ("8-9 dup 4-5,2-3 The same again.", {"step": [8, 9], "type": "DUP", "evidence": [4, 5, 2, 3],
                                              "reason": "The same again."}),
        ("8-9 ABN -", {"step": [8, 9], "type": "ABN", "evidence": [-1], "reason": ""}),
        ("8-9 INC 6 中文", {"step": [8, 9], "type": "INC", "evidence": [6], "reason": "中文"}),
    ],
)  # fmt: skip
def test_a_step_is_typed_on_a_line(line, step):
    assert step_of(line) == step
    assert step_of(line_of(step)) == step


def test_typed_steps_and_decisions_make_a_label():
    fields = {"decide.9-10": "keep 9-10 DUP 2-3", "decide.4-5": "change", "decide.4-8": "reject"}
    data = typed("4-5 EXP 1 Unused.\r\n\r\n2-3 ABN -", **fields)
    assert data["outcome"] == "steps"
    label = KIND.parse(data, SCHEMA, None)
    assert [(one.step, one.type, one.origin) for one in label.steps] == [
        ((2, 3), "ABN", "added"), ((4, 5), "EXP", "changed"), ((9, 10), "DUP", "kept"),
    ]  # fmt: skip
    assert [(one.step, one.decision) for one in label.decisions] == [
        ((4, 5), "change"), ((4, 8), "reject"), ((9, 10), "keep"),
    ]  # fmt: skip


def test_what_is_kept_and_typed_as_well_is_one_step():
    data = typed("9-10 DUP 2-3 why", **{"decide.9-10": "keep 9-10 DUP 2-3"})
    assert [(one["reason"], one["origin"]) for one in data["steps"]] == [("why", "kept")]


@pytest.mark.parametrize("line", ["x", "8 DUP 4-5", "8-9", "8-9 WHAT 4-5", "8-9 DUP", "8-9 DUP 4--5", "8-9 DUP 4-5,6"])
def test_what_cannot_be_read_stays_as_it_was_typed_and_is_refused(line):
    data = typed(line)
    assert line_of(data["steps"][0]) == line
    with pytest.raises(LabelError):
        KIND.parse(data, SCHEMA, None)


def test_nothing_typed_is_nothing_said():
    assert typed(" \n")["steps"] == []
    assert read_form({"steps": "[]", "outcome": "none"}, SCHEMA)["outcome"] == "none"
