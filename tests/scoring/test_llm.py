"""The door to models, against a server that can do everything wrong: every outcome is of the kind it is, within the
deadline and the cap, and no key comes out anywhere."""

import contextlib
import logging
import threading
import time

import pytest

from scoring import llm
from scoring.endpoint_keys import seal
from scoring.llm import ProviderError, Request
from scoring.models import Endpoint
from tests import judge_server as judge
from tests.judge_server import JudgeServer

KEY = "sk-live-4f9b1c77d2a04e1b8c5d"
QUESTION = Request(messages=({"role": "user", "content": "Ready?"},), model="small", temperature=0.0, seed=7)


def endpoint_at(server, **fields):
    """As a row is, without a database."""
    values = {"name": "here", "address": server.url, "model": "small", "deadline_seconds": 5, "most_bytes": 1_000_000}
    values |= {"key_source": "stored", "key_sealed": seal(KEY)}
    return Endpoint(**{**values, **fields})


@pytest.fixture
def ask(settings):
    """Ask a server with this script; what came of it."""

    def asked(script=None, request=QUESTION, *, key=None, tls=None, **fields):
        with JudgeServer(script, key=key, tls=tls) as server:
            settings.LLM_ALLOWED_HOSTS = [server.place]
            asked.server = server
            return llm.ask(endpoint_at(server, **fields), request)

    return asked


def error_of(ask, *args, **fields) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        ask(*args, **fields)
    assert_no_key(raised.value)
    return raised.value


def assert_no_key(error):
    said = f"{error!s} {error!r} {error.sentence!r} {error.__cause__!r} {error.sentence.sentence()}"
    assert not any(KEY[place : place + 6] in said for place in range(len(KEY) - 5))


def test_an_answer_comes_back_with_what_it_took(ask):
    reply = ask(key=KEY)
    assert reply.text == '{"answer": "ready"}'
    assert (reply.cut, reply.refused) == (False, False)
    assert (reply.tokens_in, reply.tokens_out) == (2, 5)
    assert reply.request_id == "req-1"
    assert 0 <= reply.latency_ms < 5000


def test_what_is_sent_is_what_was_asked_and_nothing_of_this_machine(ask, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: s")
    ask(max_output_tokens=9)
    (asked,) = ask.server.asked
    assert asked.body == {
        "model": "small",
        "messages": [{"role": "user", "content": "Ready?"}],
        "max_tokens": 3000,
        "temperature": 0.0,
        "seed": 7,
    }
    assert set(asked.headers) == {
        *("host", "accept", "content-type", "content-length", "authorization", "user-agent", "accept-encoding")
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    ask(key_source="none", key_sealed="")
    assert "authorization" not in ask.server.asked[0].headers


@pytest.mark.parametrize(
    ("form", "wanted", "sent"),
    [
        ("reasoning_effort", False, {"reasoning_effort": "none"}),
        ("chat_template_kwargs", False, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("enable_thinking", True, {"enable_thinking": True}),
        ("thinking", True, {"thinking": {"type": "enabled"}}),
    ],
)
def test_thinking_is_said_in_the_way_of_the_server(ask, form, wanted, sent):
    ask(request=Request(QUESTION.messages, "small", thinking=wanted), thinking_form=form)
    body = ask.server.asked[0].body
    assert sent.items() <= body.items()
    assert "temperature" not in body
    assert "seed" not in body


def test_a_schema_is_sent_to_a_server_that_knows_it_alone(ask):
    request = Request(QUESTION.messages, "small", schema={"type": "object"})
    ask(request=request)
    assert "response_format" not in ask.server.asked[0].body
    ask(request=request, knows_schema=True, limit_field="max_completion_tokens")
    body = ask.server.asked[0].body
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert body["max_completion_tokens"] == 3000
    assert "max_tokens" not in body


def test_an_answer_that_the_limit_ended_says_so(ask):
    reply = ask(judge.cut())
    assert reply.cut
    assert not reply.refused


def test_a_refusal_is_a_reply_that_says_so(ask):
    reply = ask(judge.refusal())
    assert reply.refused
    assert reply.text == "I cannot help with that."
    filtered = ask(judge.error(400, "Filtered.", "content_filter"))
    assert filtered.refused
    assert "Filtered." in filtered.text


@pytest.mark.parametrize(
    ("act", "kind", "wait"),
    [
        (judge.busy(), "busy", None),
        (judge.busy(7), "busy", 7.0),
        (judge.busy("soon"), "busy", None),
        (judge.busy("nan"), "busy", None),
        (judge.busy("-5"), "busy", 0.0),
        (judge.busy("Wed, 21 Oct 2015 07:28:00 GMT"), "busy", 0.0),
        (judge.down(), "down", None),
        (judge.down(503), "down", None),
        (judge.error(408, "Late.", "timeout"), "down", None),
        (judge.reset(), "down", None),
        (judge.no_key(), "key", None),
        (judge.error(403, "No.", "forbidden"), "key", None),
        (judge.no_quota(), "quota", None),
        (judge.error(402, "Pay.", "payment_required"), "quota", None),
        (judge.error(404, "No such model.", "not_found"), "refused", None),
        (judge.error(413, "Too long.", "too_long"), "refused", None),
        (judge.redirect("http://127.0.0.1:9/v1/elsewhere"), "bad_address", None),
        (judge.huge(2_000_000), "too_large", None),
        (judge.packed(), "too_large", None),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_every_failure_is_of_its_kind_and_tried_once(ask, act, kind, wait):
    error = error_of(ask, act)
    assert (error.kind, error.retry_after) == (kind, wait)
    assert len(ask.server.asked) == 1


def test_what_the_server_says_of_a_request_it_refuses_is_told(ask):
    error = error_of(ask, judge.error(404, "The model small does not exist.", "not_found"))
    assert "The model small does not exist." in error.sentence.sentence()
    assert "404" in error.sentence.sentence()


def test_a_server_that_quotes_the_key_is_not_quoted_with_it(ask):
    error = error_of(ask, judge.error(400, f"Bad key {KEY}, that is {KEY[:12]}... or {KEY[-8:]}.", "bad"))
    assert error.kind == "refused"
    assert "Bad key" in error.sentence.sentence()
    echo = judge.Act("echo", lambda asked: f"Your key is {asked.headers['authorization']}")
    assert KEY not in ask(echo).text


NO_REPLIES = [judge.html(), judge.bare(), judge.no_body(), judge.broken_json()]


@pytest.mark.parametrize("act", NO_REPLIES, ids=lambda act: act.name)
def test_what_is_no_reply_is_kept_as_text_that_nobody_can_take_for_one(ask, act):
    reply = ask(act)
    assert reply.text.startswith("HTTP 200 ")
    assert (reply.tokens_in, reply.cut, reply.refused) == (None, False, False)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": {"0": {}}}',
        b'{"choices": [{"message": "text"}]}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"choices": [{"message": {"content": 7}, "finish_reason": ["x"]}], "usage": [1]}',
        b'{"choices": [{"message": {"content": "ok", "refusal": 0}}], "usage": {"prompt_tokens": -1}, "id": {}}',
    ],
)
def test_an_envelope_of_any_other_shape_breaks_nothing(ask, body):
    reply = ask(judge.Act("odd", body=lambda asked: body))
    assert isinstance(reply.text, str)
    assert reply.tokens_in is None


def test_an_error_within_a_good_status_is_an_error(ask):
    said = b'{"error": {"code": 429, "message": "slow down"}}'
    assert error_of(ask, judge.Act("busy", body=lambda asked: said)).kind == "busy"
    said = b'{"error": {"message": "slow down"}}'
    assert error_of(ask, judge.Act("down", body=lambda asked: said)).kind == "down"


def test_texts_that_no_database_keeps_are_put_visibly(ask):
    body = b'{"choices": [{"message": {"content": "a\\u0000b\\ud800c"}}]}'
    assert ask(judge.Act("odd", body=lambda asked: body)).text == "a\u2400b\ufffdc"


@pytest.mark.parametrize("act", [judge.slow(60), judge.drip(0.2)], ids=lambda act: act.name)
def test_the_deadline_is_for_all_of_an_answer(ask, act):
    began = time.monotonic()
    error = error_of(ask, act, deadline_seconds=1)
    assert error.kind == "down"
    assert error.sentence.code == "deadline"
    assert time.monotonic() - began < 3


def test_fifty_megabytes_are_not_read(ask):
    began = time.monotonic()
    assert error_of(ask, judge.huge()).kind == "too_large"
    assert time.monotonic() - began < 4


def test_after_any_failure_the_next_call_goes_through(settings):
    bad = [judge.reset(), judge.huge(), judge.packed(), judge.down(), judge.html(), judge.drip(0.2)]
    with JudgeServer(judge.in_turn(*[act for one in bad for act in (one, judge.right())])) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        endpoint = endpoint_at(server, deadline_seconds=1)
        for _ in bad:
            with contextlib.suppress(ProviderError):
                llm.ask(endpoint, QUESTION)
            assert llm.ask(endpoint, QUESTION).text == '{"answer": "ready"}'


def test_connections_are_used_again_and_threads_do_not_mix(settings):
    echo = judge.Act("echo", lambda asked: asked.text, wait=0.02)
    with JudgeServer(echo) as server:
        settings.LLM_ALLOWED_HOSTS = [server.place]
        endpoint, wrong = endpoint_at(server), []

        def several(name):
            for n in range(10):
                word = f"{name} {n}"
                if llm.ask(endpoint, Request(({"role": "user", "content": word},), "small")).text != word:
                    wrong.append(word)

        threads = [threading.Thread(target=several, args=[name]) for name in "abcdef"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    assert len(server.asked) == 60
    assert server.n_connections <= 6
    assert 2 <= server.most_at_once <= 6


def test_keys_stand_in_no_log(ask, caplog):
    caplog.set_level(logging.DEBUG)
    ask(key=KEY)
    error_of(ask, judge.no_key())
    assert KEY not in caplog.text
    assert KEY[:12] not in caplog.text


# Keys


def test_a_key_of_the_environment_is_sent_where_it_may_be(ask, monkeypatch):
    fields = {"key_source": "environment", "key_variable": "SIGHTLINE_LLM_KEY_LAB", "key_sealed": ""}
    assert error_of(ask, **fields).sentence.code == "key_not_set"
    monkeypatch.setenv("SIGHTLINE_LLM_KEY_LAB", "two words")
    assert error_of(ask, **fields).sentence.code == "key_unfit"
    monkeypatch.setenv("SIGHTLINE_LLM_KEY_LAB", KEY)
    assert ask(key=KEY, **fields).text
    monkeypatch.setenv("SIGHTLINE_LLM_KEY_LAB_HOSTS", "api.example, 127.0.0.1")
    assert ask(key=KEY, **fields).text
    monkeypatch.setenv("SIGHTLINE_LLM_KEY_LAB_HOSTS", "api.example")
    error = error_of(ask, **fields)
    assert (error.kind, error.sentence.code) == ("key", "key_of_other_host")
    assert not ask.server.asked


def test_a_key_that_another_secret_key_sealed_is_said_to_be_lost(ask, settings):
    sealed = seal(KEY)
    assert KEY not in sealed
    assert seal(KEY) != sealed
    settings.SECRET_KEY = "another one, as long as it has to be, at least"
    error = error_of(ask, key_sealed=sealed)
    assert (error.kind, error.sentence.code) == ("key", "key_unreadable")
    assert error_of(ask, key_sealed="damaged").sentence.code == "key_unreadable"


# Other providers


def test_nobody_is_asked_where_answers_are_pasted():
    with pytest.raises(ValueError, match="pasted"):
        llm.ask(Endpoint(provider="pasted"), QUESTION)


def test_recorded_answers_go_by_the_request_and_the_attempt(settings, tmp_path):
    settings.RECORDED_FOLDER = tmp_path
    endpoint = Endpoint(provider="recorded", address="first")
    request = llm.hash_of(QUESTION)
    (tmp_path / "first.jsonl").write_text(
        f'{{"request": "{request}", "attempt": 1, "text": "one", "tokens_in": 3}}\n'
        f'\n{{"request": "{request}", "attempt": 2, "text": "two", "cut": true}}\n'
    )
    first, second = (llm.ask(endpoint, QUESTION, attempt=attempt) for attempt in (1, 2))
    assert (first.text, first.tokens_in, first.cut) == ("one", 3, False)
    assert (second.text, second.tokens_in, second.cut) == ("two", None, True)
    for other, attempt in ((QUESTION, 3), (Request(QUESTION.messages, "large"), 1)):
        with pytest.raises(ProviderError) as raised:
            llm.ask(endpoint, other, attempt=attempt)
        assert (raised.value.kind, raised.value.sentence.code) == ("refused", "not_recorded")
    with pytest.raises(ProviderError):
        llm.ask(Endpoint(provider="recorded", address="../first"), QUESTION)


def test_a_request_is_stored_whole_and_hashed_the_same():
    request = Request(QUESTION.messages, "small", schema={"b": 1, "a": 2})
    same = Request(QUESTION.messages, "small", schema={"a": 2, "b": 1})
    assert llm.hash_of(request) == llm.hash_of(same) != llm.hash_of(QUESTION)
    assert llm.as_json(request)["messages"] == [{"role": "user", "content": "Ready?"}]
