"""Judges that send a chat as it is: what goes over the wire, what is stored of it, and what calling a tool is."""

import json
from types import SimpleNamespace

import pytest

from annotate import work
from annotate.errors import JobFailed
from annotate.kinds.base import Finding
from scoring import call_queries, calling, driving, pasting_queries
from scoring.asking import Cap
from scoring.estimating import estimate_run
from scoring.judges.base import Ask, JudgeSpec, reply_view
from scoring.models import Call, Prompt, Verdict
from scoring.running import Asking, run_progress, start_run
from tests import judge_server as judge
from tests.factories import CONVERSATION, make_cast, make_endpoint, make_item, make_trace
from tests.judge_server import JudgeServer
from tests.scoring.asking_here import read_settings
from tests.scoring.judges_here import known

HANDLERS_OF = [driving]
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
CALLS = [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]
CHAT = (
    {"role": "system", "content": "You work."},
    {"role": "user", "content": "Which is better?"},
    {"role": "assistant", "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "c1", "content": "B7"},
)
VERSIONS = {
    ("checker", "en"): Prompt(text="Check {{reply}}."),
    ("reader.questions", "en"): Prompt(text="They saw {{files}}."),
}


def ask_of(prompt="", **fields):
    values = {"reply": "R", "files": "F"}
    return Ask(
        step="write", attempt=1, prompt=prompt, language="en", values=values, schema={}, **{"messages": CHAT, **fields}
    )


def said(ask):
    return calling.messages_of(VERSIONS, ask)


def test_a_chat_is_sent_as_it_is_and_a_prompt_comes_behind_it():
    assert said(ask_of()) == CHAT
    *chat, last = said(ask_of("checker"))
    assert tuple(chat) == CHAT
    assert last["role"] == "user"
    assert last["content"].startswith("Check [[")
    assert "\nR\n" in last["content"]


def test_what_is_told_besides_stands_in_the_system_message():
    first, *others = said(ask_of(also="reader.questions"))
    assert first["role"] == "system"
    assert first["content"].startswith("You work.\n\nThey saw [[")
    assert tuple(others) == CHAT[1:]
    assert CHAT[0]["content"] == "You work."


@pytest.mark.parametrize(
    ("chat", "roles"),
    [(CHAT[1:2], ["system", "user"]), ((), ["system"]), ((CHAT[1], CHAT[0]), ["user", "system"])],
)
def test_without_a_system_message_one_is_made(chat, roles):
    messages = said(ask_of(also="reader.questions", messages=chat))
    assert [message["role"] for message in messages] == roles
    assert "They saw [[" in next(message["content"] for message in messages if message["role"] == "system")


def test_a_system_message_of_parts_gains_a_part():
    parts = {"role": "system", "content": [{"type": "text", "text": "You work."}]}
    (message,) = said(ask_of(also="checker", messages=(parts,)))
    assert [part["text"][:8] for part in message["content"]] == ["You work", "Check [["]


def test_a_prompt_that_the_run_has_not_is_no_request():
    with pytest.raises(JobFailed):
        said(ask_of(also="another"))


def test_calls_and_tools_count_for_what_is_reckoned():
    endpoint = {"model": "m", "temperature": 0, "max_output_tokens": 9, "thinking": None, "seed": 1}
    bare = calling.tokens_in_of(calling.request_by(endpoint, VERSIONS, ask_of(messages=CHAT[:2])))
    called = calling.tokens_in_of(calling.request_by(endpoint, VERSIONS, ask_of(messages=CHAT[:3])))
    declared = calling.tokens_in_of(calling.request_by(endpoint, VERSIONS, ask_of(messages=CHAT[:2], tools=(TOOL,))))
    assert bare < called
    assert bare < declared


# As a run


def step(view, settings, answers):
    texts = [answer for answer in answers if not answer.is_tool_call]
    if texts:
        return Finding(values={"text": texts[-1].text})
    if len(answers) == 3:
        return Finding(values={}, unreadable=answers[-1].text)
    return Ask("write", len(answers) + 1, "", "en", {}, {}, messages=CHAT, tools=(TOOL,))


WRITER = JudgeSpec(
    name="chatter",
    title="chatter",
    describe="",
    version="1",
    kinds=("reply",),
    view=reply_view,
    step=step,
    read_settings=read_settings,
    asks=True,
)


@pytest.fixture
def cast(db):
    cast = make_cast()
    item = make_item(cast.project, trace=make_trace(cast.project, CONVERSATION), reply=3)
    return SimpleNamespace(project=cast.project, lea=cast.lea.person, item=item)


def run_of(project, endpoint, **options):
    with known(WRITER):
        return start_run(
            person=None, project=project, judge="chatter", asking=Asking(endpoint, Cap(calls=99)), **options
        )


def asked_at(server, cast, settings):
    settings.LLM_ALLOWED_HOSTS = [server.place]
    run = run_of(cast.project, make_endpoint(cast.project, server, concurrency=1, per_minute=100_000))
    with known(WRITER):
        work.drain()
    assert run_progress(run).n_done == 1
    return Verdict.objects.get(run=run)


def test_a_chat_with_tools_goes_over_the_wire_and_is_stored_whole(cast, settings):
    written = judge.Act("written", lambda asked: "B7 is better.")
    with JudgeServer(judge.in_turn(judge.tool_call(), written)) as server:
        verdict = asked_at(server, cast, settings)
        bodies = [asked.body for asked in server.asked]
    assert [body["messages"] for body in bodies] == [list(CHAT)] * 2
    assert [(body["tools"], body["tool_choice"]) for body in bodies] == [([TOOL], "none")] * 2
    assert all("response_format" not in body for body in bodies)
    assert verdict.finding["values"] == {"text": "B7 is better."}
    calls = Call.objects.order_by("pk")
    assert [(call.prompt, call.is_tool_call) for call in calls] == [(None, True), (None, False)]
    assert calls[0].request["messages"] == list(CHAT)
    assert json.loads(calls[0].response)[0]["function"]["name"] == "look_up"
    again = [calling.answer_of(call) for call in calls]
    assert [answer.is_tool_call for answer in again] == [True, False]


def test_only_tool_calls_are_in_the_end_an_answer_that_cannot_be_read(cast, settings):
    with JudgeServer(judge.always(judge.tool_call())) as server:
        verdict = asked_at(server, cast, settings)
        assert len(server.asked) == 3
    assert verdict.is_unreadable
    copied = run_of(cast.project, Call.objects.first().run.endpoint)
    with known(WRITER):
        work.drain()
    assert call_queries.asked_by([copied.pk])[copied.pk].n_copied == 3
    assert set(Call.objects.values_list("is_tool_call", flat=True)) == {True}


def test_a_chat_is_shown_to_who_pastes_its_answer_and_reckoned_before(cast):
    endpoint = make_endpoint(cast.project, provider="pasted", concurrency=1)
    run = run_of(cast.project, endpoint)
    with known(WRITER):
        work.drain()
        reckoned = estimate_run(person=None, project=cast.project, judge="chatter", endpoint=endpoint)
    (question,) = pasting_queries.open_questions(run, limit=5)
    assert [role for role, _ in question.messages] == ["system", "user", "assistant", "tool"]
    assert "look_up" in question.messages[2][1]
    assert reckoned.n_calls >= 1
