import copy
import io
import json
import zipfile
from collections import Counter

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces.base import Place, Problem
from annotate.traces.documents import Document
from annotate.traces.inspect_eval import layout
from annotate.traces.inspect_eval import read as read_documents
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, SHARED, read
from tests.annotate.traces.junk import JUNK, mutations

FIXTURE = FIXTURES / "inspect_eval.json"
LOG = json.loads(FIXTURE.read_text("utf-8"))
HEADER = {key: member for key, member in LOG.items() if key not in ("samples", "reductions")}
INSPECT = SHARED / "data" / "fmt-inspect-ai" / "tests"
SCOUT = SHARED / "data" / "fmt-inspect-scout" / "tests" / "recorder" / "logs"
DOCENT = SHARED / "data" / "fmt-docent" / "docent" / "docent" / "samples" / "log.eval"


@pytest.fixture(scope="module")
def traces():
    traces, problems, _ = read(FIXTURE.read_bytes())
    assert problems == []
    return traces


def asked(content="How deep is it?", **members):
    return {"role": "user", "content": content, "source": "input", **members}


def told(content="Four metres.", *calls, **members):
    return {"role": "assistant", "content": content, "tool_calls": list(calls) or None, **members}


def call(function="sound", id_="call_1", arguments=None, **members):
    return {"id": id_, "function": function, "arguments": {} if arguments is None else arguments, **members}


def result(content="4 m", id_="call_1", function="sound", **members):
    return {"role": "tool", "content": content, "tool_call_id": id_, "function": function, **members}


def sample(*messages, **members):
    return {"id": 1, "epoch": 1, "input": "", "target": "", "messages": list(messages), **members}


def log(*samples, solvers=("generate",), **members):
    plan = {"steps": [{"solver": solver, "params": {}} for solver in solvers]}
    about = {"task": "harbour", "run_id": "r1", "model": "mockllm/model"}
    return {"version": 2, "status": "success", "eval": about, "plan": plan, "samples": list(samples), **members}


def trace_of(*messages, solvers=("generate",), **members):
    (trace,), problems, _ = read(json.dumps(log(sample(*messages, **members), solvers=solvers)).encode())
    assert problems == []
    return trace


def roles(trace):
    return [(message.role, message.name) for message in trace.messages]


def texts(trace):
    return [message.text for message in trace.messages]


def packed(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, json.dumps(value))
    return out.getvalue()


def test_a_sample_is_a_run_and_its_epochs_share_a_cluster(traces):
    assert [trace.cluster for trace in traces] == ["harbour_desk berth", "harbour_desk mooring", "harbour_desk berth"]
    assert [trace.source_id for trace in traces] == [
        "Tn8wKd3xYc5vQh7mZr2bLp",
        "harbour_desk mooring epoch 1 Hf7bXa4UeGq9nKtVw6oZcM",
        "Vx4cPq7nRm2wTz9kLb6eHj",
    ]


def test_parallel_calls_that_repeat_an_id_are_answered_in_their_order(traces):
    _, _, calling, first, second, *_ = traces[0].messages
    assert [one.name for one in calling.calls] == ["piers", "tide"]
    assert [(one.answers.index, one.answers.call) for one in (first, second)] == [(2, 0), (2, 1)]


def test_results_before_others_in_another_order_are_paired_by_their_ids():
    trace = trace_of(
        asked(),
        told("", call(id_="a"), call("tide", "b")),
        result("low", "b", "tide"),
        result("4 m", "a"),
        told(),
    )
    assert [message.answers.call for message in trace.messages[2:4]] == [1, 0]


def test_calls_and_results_without_ids_are_paired_by_their_place():
    trace = trace_of(asked(), told("", call(id_=""), call("tide", None)), result(id_=None), result("low", ""), told())
    assert [message.answers.call for message in trace.messages[2:4]] == [0, 1]


def test_the_requester_sees_neither_calls_nor_results_nor_what_the_loop_says(traces):
    _, second = replies(traces[0].messages)
    assert [message.text for message in requester_view(traces[0], second).dialog] == [
        "Which berth is free tonight? 🚢",
        "Berth 4 is free tonight. I could not read the tide.",
        "泊位在哪里？",
    ]
    (reply,) = replies(traces[1].messages)
    assert [message.text for message in requester_view(traces[1], reply).dialog] == [
        "What does a mooring for two nights cost?"
    ]


def test_a_user_message_without_a_source_is_the_requesters_where_nothing_says_otherwise(traces):
    assert roles(traces[0])[6] == ("user", "")


def test_a_prompt_of_the_loop_and_the_text_it_answers_reach_nobody(traces):
    assert roles(traces[1])[1:3] == [("other", "assistant"), ("other", "agent loop")]


@pytest.mark.parametrize(
    "prompt",
    [
        "Please proceed to the next step using your best judgement.",
        "\nPlease proceed to the next step using your best judgement. If you believe you\nhave completed the task, "
        "please call the `submit()` tool.\n",
        "\nYour submission was incorrect. Please proceed and attempt to find the correct answer.\n",
    ],
)
def test_sentences_that_come_with_inspect_are_no_persons(prompt):
    trace = trace_of(asked(), told("Let me think."), {"role": "user", "content": prompt}, told())
    assert roles(trace) == [("user", ""), ("other", "assistant"), ("other", "agent loop"), ("assistant", "")]
    assert texts(trace)[2] == prompt


def test_the_same_sentence_as_the_task_is_the_requesters():
    trace = trace_of(asked("Please proceed to the next step using your best judgement."), told())
    assert roles(trace)[0] == ("user", "")


@pytest.mark.parametrize("solver", ["basic_agent", "basic_agent_loop", "inspect_ai/react"])
def test_after_an_agent_loop_of_inspect_began_every_prompt_is_the_loops(solver):
    own = {"role": "user", "content": "Go on, please."}
    trace = trace_of(asked(), own, told("Let me think."), own, told(), solvers=("system_message", solver))
    assert [role for role, _ in roles(trace)] == ["user", "user", "other", "other", "assistant"]


def test_an_agent_loop_with_something_after_it_proves_nothing():
    own = {"role": "user", "content": "Go on, please."}
    trace = trace_of(asked(), told(), own, told(), solvers=("react", "visitor"))
    assert [role for role, _ in roles(trace)] == ["user", "assistant", "user", "assistant"]


def test_the_last_text_is_the_answer_even_where_the_loop_asked_for_more():
    prompt = {"role": "user", "content": "Please proceed to the next step using your best judgement."}
    last = told("I give up.")
    trace = trace_of(asked(), told("Hm."), prompt, last, prompt, output={"choices": [{"message": last}]})
    assert [role for role, _ in roles(trace)] == ["user", "other", "other", "assistant", "other"]
    assert replies(trace.messages) == (3,)


def test_an_answer_handed_in_by_a_tool_is_said_once_more_as_the_reply(traces):
    calling, _, answer = traces[1].messages[-3:]
    assert ([one.name for one in calling.calls], answer.calls, answer.text) == (["submit"], (), "36 crowns")
    assert replies(traces[1].messages) == (7,)


def test_an_answer_behind_the_models_own_words_is_handed_in_too():
    last = told("I measured.\n\n4 m", call("submit", arguments={"answer": "4 m"}))
    trace = trace_of(asked(), last, result("4 m", function="submit"), output={"choices": [{"message": last}]})
    assert texts(trace)[-1] == "I measured.\n\n4 m"
    assert replies(trace.messages) == (3,)


def test_a_remark_beside_a_call_is_no_answer_when_the_run_stops_there():
    last = told("I sound the depth.", call())
    trace = trace_of(asked(), last, result(), output={"choices": [{"message": last}]})
    assert [role for role, _ in roles(trace)] == ["user", "assistant", "tool"]


def test_an_output_that_is_no_message_is_the_last_one():
    output = {"choices": [{"message": told("Four metres, then."), "stop_reason": "stop"}]}
    trace = trace_of(asked(), told("4"), output=output)
    assert texts(trace)[-1] == "Four metres, then."


def test_other_choices_of_the_output_are_kept():
    output = {"choices": [{"message": told(), "stop_reason": "stop"}, {"message": told("Five.")}], "usage": {"a": 1}}
    kept = trace_of(asked(), told(), output=output).metadata["sample"]["output"]
    assert (kept["choices"][0], kept["choices"][1]["message"]["content"]) == ({"stop_reason": "stop"}, "Five.")


def test_what_an_agent_says_to_the_one_that_handed_over_is_private():
    trace = trace_of(
        asked(),
        told("", call("transfer_to_diver")),
        result("Successfully transferred to diver.", function="transfer_to_diver"),
        told("[diver] I go down.", call("dive", "call_2")),
        result("mud", "call_2", "dive"),
        told("[diver] It is mud."),
        {"role": "user", "content": "The diver agent has completed its work."},
        told("The ground is mud."),
    )
    assert [role for role, _ in roles(trace)] == [
        "user",
        "assistant",
        "tool",
        "other",
        "tool",
        "other",
        "other",
        "assistant",
    ]
    assert {name for role, name in roles(trace) if role == "other"} == {"diver"}
    assert trace.messages[4].answers.index == 3
    assert replies(trace.messages) == (7,)


def test_a_summary_of_a_compaction_is_no_requester_message():
    summary = {"role": "user", "content": "So far: 4 m.", "metadata": {"summary": True}}
    assert roles(trace_of(asked(), summary, told()))[1] == ("summary", "")


def test_a_payload_of_calls_in_the_role_of_the_user_is_private():
    payload = {"role": "user", "content": "chart", "tool_call_id": ["call_1"]}
    assert roles(trace_of(asked(), told("", call()), result(), payload, told()))[3] == ("other", "tool")


def test_reasoning_is_kept_beside_its_message(traces):
    kept = traces[0].metadata["messages"]["2"]
    assert kept["reasoning"] == "The plan of the piers and the tide, both."
    assert kept["reasoning_details"] == [{"signature": "c2lnbmVkLWhlcmU="}]
    assert all("both" not in message.text for message in traces[0].messages)


def test_thinking_in_front_of_a_text_is_reasoning():
    trace = trace_of(asked(), told("<think>\n4 or 5?\n</think>\n\n Four."))
    assert (texts(trace)[1], trace.metadata["messages"]["1"]["reasoning"]) == (" Four.", "\n4 or 5?\n")


def test_a_tool_of_the_models_provider_is_a_call_with_its_result_and_the_text_after_it_the_reply():
    used = {"type": "tool_use", "tool_type": "web_search", "id": "srvtoolu_1", "name": "web_search"}
    parts = [
        {"type": "text", "text": "I look."},
        {**used, "arguments": '{"query": "depth"}', "result": "[4 m]"},
        {**used, "id": "srvtoolu_2", "arguments": "no json", "result": "", "error": "too_many"},
        {"type": "text", "text": "It is 4 m."},
    ]
    trace = trace_of(asked(), told(parts))
    assert texts(trace) == ["How deep is it?", "I look.", "[4 m]", "too_many", "It is 4 m."]
    assert [one.arguments for one in trace.messages[1].calls] == ['{"query": "depth"}', "no json"]
    assert [message.answers.call for message in trace.messages[2:4]] == [0, 1]
    assert replies(trace.messages) == (4,)


def test_a_picture_lying_apart_is_named(traces):
    assert traces[0].messages[3].text == "Free: 4\r\nTaken: 1, 2, 3\n[image: image/png]"
    assert "iVBORw0KGgo" not in json.dumps(traces[0].metadata)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "image", "image": "https://harbour.example/charts/north%20pier.png?x=1"}, "[image: north pier.png]"),
        ({"type": "image", "image": "<base64-data-removed>"}, "[image: ?]"),
        ({"type": "image", "image": "iVBORw0KGgo/" * 500}, "[image: ?]"),
        ({"type": "audio", "audio": "data:audio/wav;base64,UklGRg==", "format": "wav"}, "[audio: audio/wav]"),
        ({"type": "video", "video": "tide.mp4", "format": "mp4"}, "[video: tide.mp4]"),
        ({"type": "document", "document": "data:x/pdf;base64,JVBE", "filename": "fees.pdf"}, "[file: fees.pdf]"),
    ],
)
def test_what_is_no_text_is_named(part, text):
    assert texts(trace_of(asked([{"type": "text", "text": "See:"}, part]), told()))[0] == f"See:\n{text}"


@pytest.mark.parametrize("protocol", ["attachment", "tc"])
def test_texts_lying_apart_are_put_in_their_places(protocol):
    where = f"{protocol}://abc123"
    trace = trace_of(
        asked(where),
        told(where, call(arguments={"at": [where]})),
        result(where),
        attachments={"abc123": "deep\r\n\x1b[1m"},
    )
    assert texts(trace) == ["deep\r\n\x1b[1m"] * 3
    assert trace.messages[1].calls[0].arguments == json.dumps({"at": ["deep\r\n\x1b[1m"]})


def test_the_first_logs_kept_attachments_with_the_events():
    trace = trace_of(asked("tc://abc123"), transcript={"events": [], "content": {"abc123": "deep"}})
    assert texts(trace) == ["deep"]


def test_a_missing_attachment_is_warned_of_and_its_reference_stays():
    traces, _, warnings = read(json.dumps(log(sample(asked("attachment://abc123"), told()))).encode())
    assert texts(traces[0])[0] == "attachment://abc123"
    (warning,) = [warning for warning in warnings if warning.code == "missing_attachment"]
    assert warning.pointer == "/samples/0/messages/0/content"


def test_a_tool_that_said_nothing_says_why_it_failed(traces):
    assert traces[0].messages[4].text == "The gauge did not answer."
    assert traces[0].metadata["messages"]["4"]["error"]["type"] == "timeout"


def test_arguments_keep_their_letters():
    broken = call(arguments='{"at": 4', parse_error="no JSON")
    trace = trace_of(asked(), told("", broken, call(arguments={"海": "深"}), 7), result(), result(), result())
    assert [one.arguments for one in trace.messages[1].calls] == ['{"at": 4', '{"海": "深"}', "7"]
    assert trace.metadata["messages"]["1"]["calls"] == [{"call": 0, "parse_error": "no JSON"}]


def test_texts_stay_as_they_are(traces):
    assert traces[1].messages[4].text == "\x1b[32m36 crowns\x1b[0m"
    assert texts(trace_of(asked(" \r\n深さ 🌊 "), told("x" * 200_000)))[0] == " \r\n深さ 🌊 "


@pytest.mark.parametrize("content", [None, "", []])
def test_a_message_may_have_no_text(content):
    assert texts(trace_of(asked(), told(content, call()), result(), told()))[1] == ""


def test_a_role_or_a_part_that_is_not_understood_is_kept_private_and_counted():
    parts = [{"type": "hologram"}, {"type": "text", "text": "4"}]
    messages = [asked(), {"role": "robot", "content": "beep"}, 7, told(parts)]
    (trace,), _, warnings = read(json.dumps(log(sample(*messages))).encode())
    assert roles(trace)[1:3] == [("other", "robot"), ("other", "7")]
    assert (trace.messages[3].text, trace.metadata["messages"]["3"]["content"]) == ("4", [{"type": "hologram"}])
    assert Counter(warning.code for warning in warnings)["unknown_role"] == 2
    assert Counter(warning.code for warning in warnings)["non_text_content"] == 1


def test_model_usage_and_success_are_private(traces):
    first, second, third = (trace.metadata for trace in traces)
    assert first["model"] == "mockllm/harbour-large"
    assert first["usage"] == {"input_tokens": 450, "output_tokens": 65, "total_tokens": 515}
    assert (first["success"], second["success"]) == ("C", {"includes": "C", "brevity": 1.0})
    assert third["sample"]["error"]["message"].startswith("RuntimeError")
    assert third["sample"]["input"] == "Which berth is free tonight?"
    assert first["log"]["plan"]["steps"][1]["solver"] == "desk_with_visitor"
    assert first["sample"]["target"] == "berth 4"


def test_numbers_that_are_no_tokens_are_not_added():
    usage = {"a": {"input_tokens": 1, "reasoning_tokens": 10**300}, "b": {"input_tokens": 2.5, "cached": True}}
    trace = trace_of(asked(), told(), model_usage=usage)
    assert trace.metadata["usage"] == {"input_tokens": 3.5}
    assert trace.metadata["sample"]["model_usage"] == usage


def test_a_sample_that_a_zip_holds_twice_is_read_once():
    name = "samples/1_epoch_1.json"
    assert layout([name, "header.json", name]).records == [name]


def test_nothing_of_the_vendors_reaches_a_text(traces):
    said = "\n".join(text for trace in traces for text in texts(trace))
    for sign in ("call_h4rB0r", "toolu_", "end_turn", "tool_calls", "attachment://", "GRADE", "m3aYqTz"):
        assert sign in FIXTURE.read_text("utf-8")
        assert sign not in said


def test_events_and_twins_are_passed_over_and_counted():
    _, _, warnings = read(FIXTURE.read_bytes())
    found = Counter((warning.code, warning.params.get("what")) for warning in warnings)
    assert found == {
        ("bookkeeping", "results"): 1,
        ("bookkeeping", "stats"): 1,
        ("bookkeeping", "reductions"): 1,
        ("repeated_record", "output"): 1,
        ("repeated_record", "message_pool"): 1,
        ("repeated_record", "sample_init"): 1,
        ("repeated_record", "model"): 1,
        ("repeated_record", "tool"): 1,
        ("meta_record", "model"): 1,
        ("bookkeeping", "step"): 1,
        ("bookkeeping", "score"): 1,
        ("empty_run", None): 1,
    }


def test_a_zip_is_read_sample_by_sample_in_its_order(traces):
    files = {"_journal/start.json": {"version": 2}}
    files |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in LOG["samples"]}
    files |= {"_journal/summaries/1.json": [{"id": "berth"}], "summaries.json": [], "header.json": HEADER}
    from_zip, problems, _ = read(packed(files))
    assert (from_zip, problems) == (traces, [])
    assert from_zip[0].place.file == "x.jsonl/samples/berth_epoch_1.json"


def test_a_zip_that_was_never_finished_has_what_was_written_at_its_start():
    start = {key: HEADER[key] for key in ("version", "eval", "plan")}
    files = {"_journal/start.json": start, "samples/mooring_epoch_1.json": LOG["samples"][1]}
    (trace,), problems, _ = read(packed(files))
    assert (trace.source_id, problems) == ("harbour_desk mooring epoch 1 Hf7bXa4UeGq9nKtVw6oZcM", [])


@pytest.mark.parametrize(
    "names",
    [["a.json", "header.json"], ["samples/1_epoch_1.json"], ["samples/readme.json", "header.json"], []],
)
def test_other_zips_are_no_logs(names):
    assert layout(names) is None


@pytest.mark.parametrize("content", [log(), {key: log()[key] for key in ("version", "eval", "plan")}])
def test_a_log_without_samples_is_refused_for_that_reason(content):
    traces, (problem,), _ = read(json.dumps(content).encode())
    assert (traces, problem.code) in [([], "no_traces"), ([], "empty_file")]


def test_a_zip_without_samples_is_refused_for_that_reason():
    traces, problems, warnings = read(packed({"_journal/start.json": HEADER, "header.json": HEADER}))
    assert (traces, len(problems)) == ([], 1)
    assert any("A log with samples" in warning.expected for warning in warnings)


def test_a_sample_whose_parts_lie_in_files_of_their_own_is_passed_over_and_counted():
    files = {"header.json": HEADER, "samples/1_epoch_1/sample.json": {"id": 1, "epoch": 1, "input": "", "target": ""}}
    traces, problems, warnings = read(packed(files))
    assert (traces, len(problems)) == ([], 1)
    assert any("a list of messages" in warning.expected for warning in warnings)


def test_samples_by_themselves_and_whole_logs_on_lines_are_read_too():
    lines = b"\n".join(json.dumps(one).encode() for one in (LOG, sample(asked(), told())))
    traces, problems, _ = read(lines)
    assert (len(traces), problems) == (4, [])
    assert (traces[3].source_id, traces[3].cluster) == ("1 epoch 1 x", "1")


def test_a_record_that_is_no_sample_is_passed_over_and_counted():
    traces, _, warnings = read(json.dumps(log(sample(asked(), told()), {"id": 2}, 7)).encode())
    assert len(traces) == 1
    assert [warning.pointer for warning in warnings if warning.code == "unknown_record"] == ["/samples/1", "/samples/2"]


def test_logs_and_their_samples_are_known_by_their_own_reader_alone_or_first():
    first = {**LOG, "samples": LOG["samples"][:1]}
    for value in (LOG, first, {**HEADER, "samples": []}, {**HEADER, "samples": LOG["samples"][2:]}):
        assert [name for name, reader in readers().items() if not reader.sniff(value).missing] == ["inspect_eval"]
    for value in LOG["samples"]:
        fitting = [name for name, reader in readers().items() if not reader.sniff(value).missing]
        assert fitting[0] == "inspect_eval"


@pytest.mark.parametrize(
    "value",
    [
        *JUNK,
        {"eval": {}},
        {"version": 1, "eval": "x", "samples": []},
        {"id": 1, "messages": []},
        {"samples": []},
        {"id": 1, "input": "a", "target": "b"},
    ],
)
def test_other_values_are_nothing(value):
    assert readers()["inspect_eval"].sniff(value).missing


def small_log():
    """The fixture without what repeats, so that junk at every place is soon done."""
    small = copy.deepcopy({**LOG, "samples": LOG["samples"][:2]})
    small["eval"] = {name: small["eval"][name] for name in ("run_id", "task", "model")}
    return small


def test_no_json_at_all_makes_the_reader_fail():
    sniff = readers()["inspect_eval"].sniff
    for value in mutations(small_log()):
        sniff(value)
        around = {**value, "samples": []} if isinstance(value, dict) else None
        samples = value.get("samples") if isinstance(value, dict) else None
        inside = [Document(one, Place("x"), around) for one in samples] if isinstance(samples, list) else []
        for found in read_documents([Document(value, Place("x")), *inside]):
            if not isinstance(found, Problem):
                json.dumps(found.metadata)
                assert [message.index for message in found.messages] == list(range(len(found.messages)))


def counted(path, **options):
    with path.open("rb") as file:
        traces, problems, warnings = read(file, **options)
    messages = [message for trace in traces for message in trace.messages]
    calls = sum(len(message.calls) for message in messages)
    paired = sum(message.answers is not None for message in messages)
    return traces, problems, warnings, (len(traces), len(messages), calls, paired)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("analysis/test_logs/2025-05-12T20-27-36-04-00_browser.json", (1, 10, 4, 4)),
        ("analysis/test_logs/2025-05-12T20-28-26-04-00_security-guide.json", (3, 9, 0, 0)),
        ("analysis/test_logs_choices/mmlu-no-summary-choices.eval", (1, 2, 0, 0)),
        ("log/test_eval_log/log_formats.eval", (1, 3, 0, 0)),
        ("log/test_eval_log/log_formats.json", (1, 3, 0, 0)),
        ("log/test_eval_log/log_images_tc.json", (1, 3, 0, 0)),
        ("log/test_eval_log/log_message_deduplication.eval", (1, 12, 5, 5)),
        ("log/test_eval_log/log_read_sample.json", (1, 3, 0, 0)),
        ("log/test_eval_log/log_streaming.eval", (4, 12, 0, 0)),
        ("log/test_list_logs/ignore.json", (1, 3, 0, 0)),
        ("log/test_list_logs/2024-11-05T13-32-37-05-00_input-task_hxs4q9azL3ySGkjJirypKZ.eval", (1, 3, 0, 0)),
        ("scorer/logs/2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval", (10, 30, 0, 0)),
    ],
)
def test_the_logs_of_inspects_own_tests_are_counted_as_they_are(name, counts):
    _, problems, warnings, found = counted(INSPECT / name)
    assert (problems, found) == ([], counts)
    assert not {warning.code for warning in warnings} & {"unknown_role", "non_text_content", "missing_attachment"}


@pytest.mark.shared
def test_a_real_log_without_samples_holds_no_record():
    path = INSPECT / "analysis" / "test_logs" / "2025-05-12T20-28-13-04-00_no-samples.json"
    traces, (problem,), _, _ = counted(path)
    assert (traces, problem.code) == ([], "empty_file")


@pytest.mark.shared
def test_the_logs_of_scout_are_counted_as_they_are():
    found = [counted(path) for path in sorted(SCOUT.iterdir())]
    assert [(problems, counts) for _, problems, _, counts in found] == [([], (16, 48, 0, 0)), ([], (1, 2, 0, 0))]


@pytest.mark.shared
def test_the_runs_with_a_nul_are_refused_and_read_when_it_is_replaced():
    _, problems, _, _ = counted(DOCENT)
    assert {(problem.code, problem.file.rsplit("/", 1)[-1]) for problem in problems} == {
        ("nul_character", "72_epoch_1.json")
    }
    traces, problems, warnings, counts = counted(DOCENT, replace_nul=True)
    assert (problems, counts) == ([], (15, 344, 121, 120))
    assert Counter(warning.code for warning in warnings)["unanswered_call"] == 1
    assert Counter(len(replies(trace.messages)) for trace in traces) == {1: 14, 0: 1}
    (stopped,) = [trace for trace in traces if not replies(trace.messages)]
    assert (stopped.messages[-1].calls[0].name, stopped.metadata["sample"]["limit"]["type"]) == ("python", "message")


@pytest.mark.shared
def test_each_message_of_the_real_runs_is_there_letter_for_letter_by_a_second_route():
    traces, _, _, _ = counted(DOCENT, replace_nul=True)
    with zipfile.ZipFile(DOCENT) as archive:
        for trace in traces:
            raw = json.loads(archive.read("samples/" + trace.place.file.rsplit("/", 1)[-1]))
            said = [message["content"].replace("\0", "␀") for message in raw["messages"]]
            ours = [message.text for message in trace.messages[: len(said)]]
            assert [text for text, own in zip(said, ours, strict=True) if text and text != own] == []
            extra = [message.text for message in trace.messages[len(said) :]]
            assert extra in ([], [raw["output"]["choices"][0]["message"]["content"]])
