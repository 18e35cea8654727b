import json

import pytest

from annotate.kinds.reply.label import SCHEMA
from annotate.kinds.reply.settle import from_finding
from annotate.traces.base import Answered, Call, File, Message, Trace
from scoring.judges.base import Answer, SettingsError
from scoring.judges.prompts import SHIPPED, render
from scoring.judges.rewriter import JUDGE, draft_view
from tests.scoring.judges.asked import ENDPOINT, asked, in_turn


def make_view(language="en"):
    messages = (
        Message(0, "system", "SYSTEM-SECRET"),
        Message(1, "user", "EARLIER-REQUEST"),
        Message(2, "assistant", "EARLIER-REPLY"),
        Message(3, "system", "SYSTEM-SECRET MEMORY-SECRET", session=2),
        Message(4, "user", "REQUEST-TEXT", session=2),
        Message(5, "assistant", "", session=2, calls=(Call("1", "fit", "CALL-TEXT"),)),
        Message(6, "tool", "OUTPUT-TEXT", session=2, name="fit", answers=Answered(5, 0)),
        Message(7, "tool", "OWN-PLOT", session=2, name="plot", side="user"),
        Message(8, "assistant", "RECORDED-REPLY", session=2),
        Message(9, "user", "LATER-REQUEST", session=2),
    )
    trace = Trace(
        "SOURCE-ID",
        "sightline",
        messages,
        files=(File("FILE-NAME", "FILE-TEXT"),),
        language=language,
        area="AREA-TEXT",
        metadata={"model": "MODEL-NAME"},
    )
    earlier = {"text": "DRAFT-TEXT", "condition": "CONDITION-NAME", "facts": "FACTS-TEXT", "label": None}
    return draft_view(trace, 8, earlier=earlier)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_request_holds_record_request_and_message_and_nothing_else(language):
    _, (ask,) = asked(JUDGE, make_view(language), in_turn("Better."))
    assert (ask.messages, ask.also, ask.tools, ask.prompt, ask.language) == ((), "", (), "rewriter", language)
    assert ask.values == {
        "record": "[user]\nREQUEST-TEXT\n\n[assistant]\n[call fit]\nCALL-TEXT\n\n[tool fit]\nOUTPUT-TEXT",
        "request": "REQUEST-TEXT",
        "message": "DRAFT-TEXT",
    }
    sent = render(SHIPPED[ask.prompt, language], ask.values, "mark-of-nobody")
    planted = (
        *("SYSTEM-SECRET", "MEMORY-SECRET", "EARLIER-REQUEST", "EARLIER-REPLY", "OWN-PLOT", "RECORDED-REPLY"),
        *("LATER-REQUEST", "FILE-NAME", "FILE-TEXT", "SOURCE-ID", "AREA-TEXT", "MODEL-NAME", "CONDITION-NAME"),
        "FACTS-TEXT",
    )
    assert [text for text in planted if text in sent] == []
    assert sent.count("DRAFT-TEXT") == 1
    assert SHIPPED["writer.requirements", language].strip() in sent


def test_what_is_written_is_kept_and_is_no_label():
    finding, asks = asked(JUDGE, make_view(), in_turn("  Better.\n"))
    assert len(asks) == 1
    assert finding.values == {"label": None, "condition": "rewrite", "text": "Better."}
    assert from_finding(finding, SCHEMA) is None
    assert json.loads(json.dumps(finding.values)) == finding.values


@pytest.mark.parametrize("fault", [{"is_tool_call": True}, {"cut": True}, {"refused": True}, {"text": " "}])
def test_what_is_no_text_is_asked_for_three_times_and_then_unreadable(fault):
    def model(ask):
        return Answer(ask.step, ask.attempt, **{"text": "Better.", **fault})

    finding, asks = asked(JUDGE, make_view(), model)
    assert [ask.attempt for ask in asks] == [1, 2, 3]
    assert finding.unreadable is not None
    assert "text" not in finding.values


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "endpoint"),
        ({"endpoint": ENDPOINT, "default_run": "1"}, "default_run"),
        ({"endpoint": ENDPOINT, "condition": "default"}, "condition"),
    ],
)
def test_settings_it_cannot_work_with_are_refused_by_name(given, field):
    with pytest.raises(SettingsError) as refused:
        JUDGE.read_settings(given)
    assert refused.value.problems[0].field == field
