import itertools
import json
from dataclasses import fields

import pytest

from annotate.kinds.reply.label import SCHEMA
from annotate.kinds.reply.settle import from_finding
from annotate.traces.base import Answered, Call, File, Message, Trace
from scoring.judges.base import Answer, Ask, SettingsError
from scoring.judges.prompts import SHIPPED
from scoring.judges.writer import CONDITIONS, JUDGE, point_view
from tests.scoring.judges.asked import ENDPOINT, asked, in_turn

FACTS = "- slope -0.2 m a day"


def make_view(language="en"):
    messages = (
        Message(0, "system", "SYSTEM-TEXT"),
        Message(1, "user", "REQUEST-1"),
        Message(2, "assistant", "REPLY-1"),
        Message(3, "user", "REQUEST-2"),
        Message(4, "assistant", "BESIDE-TEXT", calls=(Call("1", "fit", "CALL-TEXT"),)),
        Message(5, "tool", "OUTPUT-TEXT", name="fit", answers=Answered(4, 0)),
        Message(6, "assistant", "REPLY-RECORDED"),
        Message(7, "user", "REQUEST-LATER"),
        Message(8, "assistant", "REPLY-LATER", calls=(Call("2", "later_tool", "CALL-LATER"),)),
    )
    files = (File("wells.csv", "FILE-TEXT"), File("more.csv", "FILE-LATER", available_from=7))
    metadata = {"model": "MODEL-SECRET"}
    return point_view(Trace("t", "sightline", messages, files=files, language=language, metadata=metadata), 6)


def asks_of(condition, language="en"):
    """Every question of a condition, the text of the reply said at the end."""
    said = [FACTS, "The reply."] if condition == "fact_list" else ["The reply."]
    return asked(JUDGE, make_view(language), in_turn(*said), condition=condition)


def differing(one, other):
    return {field.name for field in fields(Ask) if getattr(one, field.name) != getattr(other, field.name)}


LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


@LANGUAGES
def test_conditions_differ_by_their_own_part_alone(language):
    """Of every pair of conditions over one view: the questions differ in what the method names, and nothing else."""
    last = {condition: asks_of(condition, language)[1][-1] for condition in CONDITIONS}
    own = {
        "default": set(),
        "notice": {"also"},
        "requirements": {"prompt"},
        "separate": {"prompt", "values", "messages", "tools"},
        "fact_list": {"prompt", "values", "messages", "tools"},
        "separate_requirements": {"prompt", "values", "messages", "tools"},
    }
    for one, other in itertools.combinations(CONDITIONS, 2):
        apart = one in CONDITIONS[3:] and other in CONDITIONS[3:]
        wanted = own[one] | own[other] if not apart else set()
        wanted |= {"values"} if apart and "fact_list" in (one, other) else set()
        wanted |= {"prompt"} if apart and "separate_requirements" in (one, other) else set()
        assert differing(last[one], last[other]) == wanted, (one, other)
    assert {ask.language for ask in last.values()} == {language}
    values = [last[condition].values for condition in CONDITIONS[3:]]
    assert [{name for name in values[0] if values[0][name] != one[name]} for one in values] == [set(), {"work"}, set()]
    separate, both = (SHIPPED[last[name].prompt, language] for name in ("separate", "separate_requirements"))
    assert both.strip() == f"{separate.strip()}\n\n{SHIPPED['writer.requirements', language].strip()}"


def test_the_default_continues_the_working_context_with_nothing_added():
    _, (ask,) = asks_of("default")
    assert (ask.prompt, ask.also, ask.values, ask.schema) == ("", "", {}, {})
    assert ask.messages[0] == {"role": "system", "content": "SYSTEM-TEXT"}
    assert [message["role"] for message in ask.messages] == [
        *("system", "user", "assistant", "user", "assistant", "tool")
    ]
    assert [tool["function"]["name"] for tool in ask.tools] == ["fit"]


def test_a_conversation_of_its_own_has_the_system_prompt_and_one_message():
    _, (ask,) = asks_of("separate")
    assert ask.messages == ({"role": "system", "content": "SYSTEM-TEXT"},)
    assert ask.tools == ()
    assert set(ask.values) == {"files", "conversation", "request", "work"}
    assert ask.values["request"] == "REQUEST-2"
    assert "FILE-TEXT" in ask.values["files"]
    assert "REQUEST-1" in ask.values["conversation"]
    assert "REPLY-1" in ask.values["conversation"]
    assert "REQUEST-2" not in ask.values["conversation"]
    assert all(text in ask.values["work"] for text in ("OUTPUT-TEXT", "CALL-TEXT", "BESIDE-TEXT"))


@LANGUAGES
def test_the_list_of_facts_is_made_in_the_working_context_and_stands_for_the_record(language):
    finding, (facts, reply) = asks_of("fact_list", language)
    _, (default,) = asks_of("default", language)
    assert differing(facts, default) == {"step", "prompt"}
    assert (facts.step, facts.prompt) == ("facts", "writer.facts")
    assert reply.values["work"] == FACTS
    assert "OUTPUT-TEXT" not in json.dumps([dict(reply.values), *reply.messages])
    assert (finding.values["facts"], finding.values["text"]) == (FACTS, "The reply.")


@LANGUAGES
@pytest.mark.parametrize("condition", CONDITIONS)
def test_nothing_is_sent_that_is_not_due_at_the_point(condition, language):
    _, asks = asks_of(condition, language)
    for ask in asks:
        text = json.dumps([dict(ask.values), *ask.messages, *ask.tools], ensure_ascii=False)
        for late in ("REPLY-RECORDED", "REQUEST-LATER", "REPLY-LATER", "CALL-LATER", "later_tool", "FILE-LATER"):
            assert late not in text
        assert "MODEL-SECRET" not in text


@pytest.mark.parametrize("condition", CONDITIONS)
def test_what_is_written_is_kept_and_is_no_label(condition):
    finding, _ = asks_of(condition)
    assert (finding.values["text"], finding.values["condition"]) == ("The reply.", condition)
    assert ("facts" in finding.values) is (condition == "fact_list")
    assert from_finding(finding, SCHEMA) is None
    assert json.loads(json.dumps(finding.values)) == finding.values


FAULTS = {
    "tool call": lambda ask: Answer(ask.step, ask.attempt, "", is_tool_call=True),
    "tool call beside a text": lambda ask: Answer(ask.step, ask.attempt, "I look.", is_tool_call=True),
    "empty": lambda ask: " \n",
    "cut": lambda ask: Answer(ask.step, ask.attempt, "The well is", cut=True),
    "refused": lambda ask: Answer(ask.step, ask.attempt, "No.", refused=True),
    "unfit": lambda ask: "a\0b",
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_text_is_asked_for_three_times_and_then_unreadable(fault, condition):
    finding, asks = asked(JUDGE, make_view(), FAULTS[fault], condition=condition)
    assert [ask.attempt for ask in asks] == [1, 2, 3]
    assert finding.unreadable is not None
    assert "text" not in finding.values
    kept, _ = asked(
        JUDGE,
        make_view(),
        lambda ask: FAULTS[fault](ask) if ask.attempt < 3 else "The text.",
        condition=condition,
    )
    assert (kept.unreadable, kept.values["text"]) == (None, "The text.")


def test_the_language_is_the_requesters_where_nobody_said():
    trace = Trace("t", "sightline", (Message(0, "user", "水位在下降吗？"), Message(1, "assistant", "Yes.")))
    _, (ask,) = asked(JUDGE, point_view(trace, 1), in_turn("是。"), condition="separate")
    assert ask.language == "zh"
    assert (ask.values["work"], ask.messages) == ("[user]\n水位在下降吗？", ())


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "endpoint"),
        ({"endpoint": ENDPOINT, "condition": "rewrite"}, "condition"),
        ({"endpoint": ENDPOINT, "condition": ["default"]}, "condition"),
        ({"endpoint": ENDPOINT, "quota": 8}, "quota"),
    ],
)
def test_settings_it_cannot_work_with_are_refused_by_name(given, field):
    with pytest.raises(SettingsError) as refused:
        JUDGE.read_settings(given)
    assert refused.value.problems[0].field == field
