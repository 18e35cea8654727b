import copy
import json

import pytest

from annotate.rules.requester_view import replies, requester_view
from annotate.traces.identity import canonical_json, content_hash
from annotate.traces.reading import Reading
from annotate.traces.strict_json import Caps
from annotate.traces.tally import Tally
from tests.annotate.traces.files import FIXTURES, SHARED, lines, read

FIXTURE = FIXTURES / "tau2_bench.json"
DATA = SHARED / "data"


@pytest.fixture(scope="module")
def ours():
    traces, problems, warnings = read(FIXTURE.read_bytes())
    assert (problems, warnings) == ([], [])
    return traces


def said(role, content, **members):
    return {"role": role, "content": content, **members}


def call(name="look", id_="", requestor="assistant", **arguments):
    return {"id": id_, "name": name, "arguments": arguments, "requestor": requestor}


def result(text, id_="", **members):
    return {"id": id_, "role": "tool", "content": text, **members}


def simulation(*messages, **members):
    numbered = [
        {**message, "turn_idx": index} if isinstance(message, dict) else message
        for index, message in enumerate(messages)
    ]
    return {"id": "s1", "task_id": "1", "termination_reason": "user_stop", "messages": numbered, **members}


def results(*simulations, tasks=(), **members):
    info = {"environment_info": {"domain_name": "library"}}
    return {"info": info, "tasks": list(tasks), "simulations": list(simulations), **members}


def task(id_="1", **scenario):
    return {"id": id_, "user_scenario": scenario}


def read_one(*messages, **members):
    """The trace of a single simulation, and the warnings but that it names no domain."""
    (trace,), problems, warnings = read(json.dumps(simulation(*messages, **members)).encode())
    assert problems == []
    return trace, [warning for warning in warnings if warning.code != "no_domain"]


def texts(trace):
    return [message.text for message in trace.messages]


# What a file of results says


def test_runs_keep_their_ids_and_repeats_of_a_task_share_its_cluster(ours):
    assert [trace.source_id[-1] for trace in ours] == ["1", "2", "3"]
    assert [trace.cluster for trace in ours] == [
        "library task renew",
        "library task renew",
        "library task [kiosk]reader_locked[PERSONA:Easy]",
    ]
    assert {(trace.area, trace.language, trace.format) for trace in ours} == {("library", "en", "tau2_bench")}
    assert [trace.place.prefix for trace in ours] == ["/simulations/0", "/simulations/1", "/simulations/2"]


def test_models_policy_reward_and_expected_actions_are_private(ours):
    metadata = ours[0].metadata
    assert metadata["info"]["agent_info"]["llm"] == "another invented model"
    assert metadata["simulation"]["reward_info"]["reward"] == 1.0
    assert metadata["task"]["evaluation_criteria"]["communicate_info"] == ["10 March"]
    assert metadata["results"]["timestamp"].startswith("2031")
    assert "messages" not in metadata["simulation"]
    for trace in ours:
        seen = canonical_json([trace.files, [message.text for message in trace.messages]])
        for hidden in ("invented", "renew_0", "Checks that", "never renewed", "names the reset button", "is locked."):
            assert hidden not in seen


def test_the_instructions_of_the_requester_are_a_file_from_the_start(ours):
    (file,) = ours[0].files
    assert (file.name, file.available_from) == ("What you know", 0)
    assert file.text == (
        "## Why you get in touch\n\nYou want to keep both books that you have borrowed.\n\n"
        "## What you know\n\nYou are Ida Brandt. Your card is L-2207.\n\n"
        "## What you do not know\n\nYou do not know the numbers of the loans.\n\n"
        "## What you want, and how you go about it\n\n"
        "Ask for two more weeks. If one book cannot be renewed, ask which one.\n"
    )
    assert ours[2].files[0].text == (
        "## Who you are\n\nYou are patient and not used to machines.\n\n"
        "## What you want, and how you go about it\n\n"
        "You stand at the kiosk and cannot sign in. Do what the desk tells you.\n"
    )


@pytest.mark.parametrize("scenario", [{}, {"instructions": None}, {"instructions": {"known_info": " ", "domain": "x"}}])
def test_a_task_that_tells_the_requester_nothing_gives_no_file(scenario):
    (trace,), _, _ = read(json.dumps(results(simulation(said("user", "a")), tasks=[task(**scenario)])).encode())
    assert trace.files == ()


def test_members_of_the_instructions_that_we_do_not_know_stay_private():
    told = task(instructions={"known_info": ["card", 7], "hidden_goal": "KRONOS"})
    (trace,), _, _ = read(json.dumps(results(simulation(said("user", "a")), tasks=[told])).encode())
    assert trace.files[0].text == '## What you know\n\n["card", 7]\n'


@pytest.mark.parametrize("order", [("info", "tasks", "simulations"), ("simulations", "tasks", "info")])
@pytest.mark.parametrize("indent", [None, 2])
def test_tasks_and_info_may_stand_behind_the_simulations_and_all_on_one_line(ours, order, indent):
    whole = json.loads(FIXTURE.read_text("utf-8"))
    turned = {name: whole[name] for name in [*order, *(whole.keys() - set(order))]}
    traces, problems, _ = read(json.dumps(turned, indent=indent).encode())
    assert problems == []
    assert [content_hash(trace) for trace in traces] == [content_hash(trace) for trace in ours]


def test_a_file_of_results_may_be_larger_than_a_record(ours):
    whole = json.loads(FIXTURE.read_text("utf-8"))
    longest = max(len(json.dumps(one, indent=1)) for one in [whole["tasks"], *whole["simulations"]]) + 3000
    assert longest < FIXTURE.stat().st_size
    traces, problems, _ = read(FIXTURE.read_bytes(), caps=Caps(line_bytes=longest))
    assert (traces, problems) == (ours, [])


def test_results_as_lines_or_elements_are_read_like_a_file_of_them(ours):
    whole = json.loads(FIXTURE.read_text("utf-8"))
    other = copy.deepcopy(whole)
    for number, one in enumerate(other["simulations"]):
        one["id"] = f"again {number}"
    for content in (lines(whole, other), json.dumps([whole, other]).encode()):
        traces, problems, _ = read(content)
        assert problems == []
        assert [content_hash(trace) for trace in traces[:3]] == [content_hash(trace) for trace in ours]
        assert [trace.source_id for trace in traces[3:]] == ["again 0", "again 1", "again 2"]
    assert [trace.place.prefix for trace in traces[3:]] == [f"/1/simulations/{number}" for number in range(3)]


def test_a_task_that_the_file_does_not_have_is_said():
    content = json.dumps(results(simulation(said("user", "a"), task_id="9"), tasks=[task("1")])).encode()
    (trace,), problems, (warning,) = read(content)
    assert (problems, trace.files, trace.cluster) == ([], (), "library task 9")
    assert (warning.code, warning.pointer, warning.params["found"]) == ("unknown_task", "/simulations/0/task_id", "9")


# Single simulations


def test_a_recording_of_a_person_has_no_domain_and_says_so():
    (trace,), problems, (warning,) = read(
        json.dumps(simulation(said("user", "a"), agent_cost=None, reward_info=None), indent=1).encode()
    )
    assert problems == []
    assert (trace.source_id, trace.area, trace.cluster, trace.files) == ("s1", "", "task 1", ())
    assert (warning.code, warning.params["task"]) == ("no_domain", "1")


def test_a_dump_of_one_run_brings_its_task_and_its_id():
    dump = simulation(said("user", "a"), said("assistant", "b"), run_info={"simulation_id": "s7"})
    dump["task"] = task(instructions={"domain": "library", "known_info": "Your card is L-2207."})
    del dump["id"], dump["termination_reason"]
    (trace,), problems, warnings = read(json.dumps(dump).encode())
    assert (problems, warnings) == ([], [])
    assert (trace.source_id, trace.area, trace.cluster) == ("s7", "library", "library task 1")
    assert trace.files[0].text == "## What you know\n\nYour card is L-2207.\n"
    assert trace.metadata["task"] == dump["task"]
    assert "task" not in trace.metadata["simulation"]


def test_runs_without_an_id_are_told_apart_by_what_was_said():
    one = simulation(said("user", "a"), trial=0)
    del one["id"]
    other = {**one, "messages": [said("user", "b", turn_idx=0)]}
    traces, problems, _ = read(json.dumps(results(one, other)).encode())
    assert problems == []
    assert [trace.source_id.rsplit(" ", 1)[0] for trace in traces] == ["library task 1 trial 0"] * 2
    assert traces[0].source_id != traces[1].source_id


def test_an_empty_run_is_kept_and_said():
    dump = {"task_id": "3", "task": {}, "run_info": {"termination_reason": "agent_error"}, "messages": []}
    (trace,), problems, warnings = read(json.dumps({**dump, "id": "s1"}).encode())
    assert (problems, trace.messages) == ([], ())
    assert [(warning.code, warning.pointer) for warning in warnings] == [
        ("empty_run", "/messages"),
        ("no_domain", None),
    ]


def test_a_very_long_task_gives_a_cluster_of_its_own():
    names = ["[mobile]" + "|".join(["data_mode_off"] * 30) + f"[PERSONA:{persona}]" for persona in ("Easy", "Hard")]
    traces, problems, _ = read(
        json.dumps(results(*(simulation(said("user", "a"), id=name[-5:], task_id=name) for name in names))).encode()
    )
    clusters = {trace.cluster for trace in traces}
    assert (problems, len(clusters)) == ([], 2)
    assert all(len(cluster) <= 255 and cluster.startswith("library task [mobile]data") for cluster in clusters)


@pytest.mark.parametrize(
    ("asked", "members", "language"),
    [
        ("Hello there", {}, "en"),
        ("你好，我想续借两本书。", {}, "zh"),
        ("Please renew 两本书 for me, the two of them.", {}, "en"),
        ("Hello there", {"language": "zh-CN"}, "zh"),
        ("Hello there", {"language": "Chinese"}, "zh"),
        ("Hello there", {"language": " chinese (simplified)"}, "zh"),
        ("Hello there", {"language": "zh_Hans"}, "zh"),
        ("Hello there", {"language": "中文"}, "zh"),
        ("你好，我想续借两本书。", {"language": "English"}, "en"),
        ("你好，我想续借两本书。", {"language": "EN-us"}, "en"),
        ("Hello there", {"language": "ja"}, ""),
        ("Hello there", {"language": "Enga"}, ""),
    ],
)
def test_the_language_is_english_unless_the_file_or_the_requester_says_otherwise(asked, members, language):
    trace, _ = read_one(said("user", asked), **members, task=task(instructions="a"))
    assert trace.language == language
    assert trace.files[0].name == ("你所知道的" if language == "zh" else "What you know")


# Calls and results


def test_calls_with_empty_and_repeated_ids_are_paired_in_order(ours):
    counts = [
        (sum(len(message.calls) for message in trace.messages), sum(m.answers is not None for m in trace.messages))
        for trace in ours
    ]
    assert counts == [(4, 4), (0, 0), (4, 4)]
    loans = [(m.answers.index, m.answers.call, m.text[10:17]) for m in ours[0].messages[5:7]]
    assert loans == [(4, 0, "loan_51"), (4, 1, "loan_52")]
    kiosk = [(m.answers.index, m.answers.call, m.side) for m in ours[2].messages if m.role == "tool"]
    assert kiosk == [(3, 0, "user"), (3, 1, "user"), (7, 0, "agent"), (10, 0, "user")]
    assert ours[2].messages[3].calls[1].arguments == '{"side": "left"}'


def test_the_requesters_own_calls_and_their_results_belong_to_r_and_the_agents_do_not(ours):
    assert [replies(trace.messages) for trace in ours] == [(7, 11), (2,), (2, 9, 13)]
    seen = requester_view(ours[2], 13)
    assert [message.index for message in seen.dialog] == [0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 12]
    assert [file.name for file in seen.files] == ["What you know"]
    assert "night run" not in "".join(message.text for message in seen.dialog)


def test_calls_without_a_result_and_results_without_a_call_are_said_and_kept():
    trace, warnings = read_one(
        said("user", "a"),
        said("assistant", None, tool_calls=[call(), call("ask")]),
        result("1", requestor="assistant"),
        said("assistant", "b"),
        result("2", "call_9", requestor="user"),
    )
    assert [(warning.code, warning.pointer) for warning in warnings] == [
        ("orphan_tool_result", "/messages/4"),
        ("unanswered_call", "/messages/1"),
    ]
    assert [(message.text, message.side) for message in trace.messages if message.role == "tool"] == [
        ("1", "agent"),
        ("2", "user"),
    ]


def test_what_the_agent_was_told_never_counts_as_shown_to_the_requester():
    """Also where a file puts it right behind the requester's own call."""
    trace, warnings = read_one(
        said("user", "a", tool_calls=[call(requestor="user")]),
        result("KRONOS", requestor="assistant"),
        said("assistant", "b"),
    )
    assert [warning.code for warning in warnings] == ["orphan_tool_result", "unanswered_call"]
    assert (trace.messages[1].side, trace.messages[1].answers) == ("agent", None)
    assert "KRONOS" not in canonical_json([message.text for message in requester_view(trace, 2).dialog])


def test_a_result_that_does_not_say_whose_it_is_goes_with_its_call():
    trace, warnings = read_one(
        *(said("user", "a", tool_calls=[call(requestor="user")]), result("1")),
        *(said("assistant", None, tool_calls=[call()]), result("2")),
    )
    assert warnings == []
    assert [message.side for message in trace.messages if message.role == "tool"] == ["user", "agent"]


def test_results_bundled_in_one_message_are_messages_of_their_own():
    bundle = {"role": "tool", "tool_messages": [result("1", "b"), result("2", "a"), 7]}
    trace, warnings = read_one(
        said("user", "a"),
        said("assistant", "", tool_calls=[call(id_="a"), call(id_="b")]),
        bundle,
        said("assistant", "c"),
    )
    assert [message.index for message in trace.messages] == [0, 1, 2, 3, 4, 5]
    assert [message.answers.call for message in trace.messages[2:4]] == [1, 0]
    assert [(warning.code, warning.pointer) for warning in warnings] == [
        ("unknown_role", "/messages/2/tool_messages/2"),
    ]
    assert trace.metadata["messages"]["5"] == {"turn_idx": 3}


# Texts


@pytest.mark.parametrize(
    ("text", "shown", "signs"),
    [
        ("###STOP###", "", "STOP"),
        ("Thanks.\n\n###STOP###", "Thanks.", "STOP"),
        ("Please do.###TRANSFER###", "Please do.", "TRANSFER"),
        ("No.\n###OUT-OF-SCOPE###", "No.", "OUT-OF-SCOPE"),
        ("###STOP### Bye.", "Bye.", "STOP"),
        ("Thanks ###STOP### and bye ###TRANSFER######STOP###\n", "Thanks and bye", "STOP TRANSFER STOP"),
        ("### STOP ###", "### STOP ###", ""),
        ("###NOTE###", "###NOTE###", ""),
        (" a \n", " a \n", ""),
    ],
)
def test_the_signs_of_the_simulator_are_taken_out_of_what_the_requester_says(text, shown, signs):
    trace, _ = read_one(said("user", text))
    assert texts(trace) == [shown]
    noted = {"0": {"stop_tokens": [f"###{sign}###" for sign in signs.split()]}} if signs else None
    assert trace.metadata.get("messages") == noted


def test_a_text_of_the_agent_stays_letter_for_letter_unless_it_is_nothing_but_a_sign():
    trace, _ = read_one(
        *(said("user", "a"), said("assistant", "Say ###STOP### to end. ")),
        *(said("user", "b"), said("assistant", "###STOP###"), said("assistant", None, tool_calls=[call()])),
        result("Say ###STOP### to end."),
    )
    assert texts(trace) == ["a", "Say ###STOP### to end. ", "b", "", "", "Say ###STOP### to end."]
    assert replies(trace.messages) == (1,)
    assert trace.metadata["messages"] == {"3": {"stop_tokens": ["###STOP###"]}}


def test_the_vendors_copy_of_a_message_is_read_once(ours):
    assert canonical_json(ours[0]).count("Hi, I want to keep the two books") == 1
    assert ours[0].metadata["messages"]["1"]["raw_data"] == {
        "model": "an invented model",
        "finish_reason": "stop",
        "reasoning_content": "The member sounds tired.",
    }


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (
            {"finish_reason": "stop", "index": 0, "message": {"content": "a", "tool_calls": []}},
            {"finish_reason": "stop"},
        ),
        ({"action": "a"}, None),
        ({"choices": [], "model": 7}, None),
        ("a", None),
        ([{"model": "x"}], None),
        (None, None),
    ],
)
def test_a_copy_of_any_shape_is_left_out(raw, kept):
    trace, _ = read_one(said("assistant", "a", raw_data=raw))
    assert trace.metadata.get("messages", {}).get("0", {}).get("raw_data") == kept


def test_other_members_of_messages_are_private():
    trace, _ = read_one(
        said("user", "a", cost=0.1, usage=None, timestamp="2031", is_audio=False), result("x", error=True)
    )
    assert trace.metadata["messages"] == {
        "0": {"cost": 0.1, "timestamp": "2031", "is_audio": False},
        "1": {"error": True},
    }


def test_what_we_do_not_understand_is_kept_private_and_said():
    trace, warnings = read_one(
        said("moderator", "a"), 7, said("user", {"a": 1}), said("assistant", "b", tool_calls=[call(), 9])
    )
    assert [(warning.code, warning.pointer) for warning in warnings] == [
        ("unknown_role", "/messages/0/role"),
        ("unknown_role", "/messages/1"),
        ("non_text_content", "/messages/2/content"),
        ("unanswered_call", "/messages/3"),
        ("unanswered_call", "/messages/3"),
    ]
    assert [message.role for message in trace.messages] == ["other", "other", "other", "assistant"]
    assert replies(trace.messages) == ()


# What is wrong


@pytest.mark.parametrize("value", [7, None, "s", [], {}, {"task_id": "1"}, {"task_id": "1", "messages": None}])
def test_what_is_no_simulation_is_passed_over_and_counted(value):
    traces, problems, (warning,) = read(
        json.dumps(results(simulation(said("user", "a")), value, tasks=[task()])).encode()
    )
    assert (len(traces), problems) == (1, [])
    assert (warning.code, warning.pointer) == ("unknown_record", "/simulations/1")


def test_results_are_known_by_what_stands_around_their_simulations():
    plain = {"id": "s1", "task_id": "1", "messages": [said("user", "a")]}
    traces, problems, warnings = read(json.dumps(results(7, plain, tasks=[task()])).encode())
    assert ([trace.format for trace in traces], problems) == (["tau2_bench"], [])
    assert [warning.code for warning in warnings] == ["unknown_record"]


def test_a_simulation_twice_in_a_file_is_refused_by_name():
    one = simulation(said("user", "a"))
    _, (problem,), _ = read(json.dumps(results(one, one, tasks=[task()])).encode())
    assert (problem.code, problem.pointer) == ("duplicate_id", "/simulations/1/id")
    assert "element /simulations/0 " in problem.sentence()


@pytest.mark.parametrize(
    ("old", "new", "code", "pointer"),
    [
        (b'"E-41"', b'"E-41", "code": 1', "duplicate_key", "/simulations/2/messages/7/tool_calls/0/arguments/code"),
        (b"0.01", b"NaN", "number_not_finite", "/simulations/0/agent_cost"),
        (b"1200.0", b"1" * 500, "number_too_long", "/simulations/0/duration"),
        (b"The light is orange", b"The \\u0000", "nul_character", "/simulations/2/messages/5/content"),
        (b"I look at both", b"\\ud800", "lone_surrogate", "/simulations/0/messages/4/content"),
        (b"You do not know the", b"\\ud800", "lone_surrogate", "/tasks/0/user_scenario/instructions/unknown_info"),
        (b'"library"', b'"library", "domain_name": 1', "duplicate_key", "/info/environment_info/domain_name"),
        (b"user_stop", b"\xff", "not_utf8", "/simulations/0"),
        (b'"agent_cost": 0.01', b'"agent_cost": ' + b"[" * 200 + b"]" * 200, "too_deep", "/simulations/0"),
        (b'"trial": 0', b'"trial": ', "malformed_json", "/simulations/0"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_pointer(old, new, code, pointer):
    content = FIXTURE.read_bytes()
    assert old in content
    traces, problems, _ = read(content.replace(old, new, 1))
    assert (problems[0].code, problems[0].pointer) == (code, pointer)
    assert len(traces) == (2 if pointer.startswith("/simulations") else 0)


def test_a_file_that_is_cut_off_names_the_simulation_where_it_ends():
    content = FIXTURE.read_bytes()
    traces, problems, _ = read(content[: content.index(b"The light is green")])
    assert [trace.source_id[-1] for trace in traces] == ["1", "2"]
    assert [(problem.code, problem.pointer) for problem in problems] == [("malformed_json", "/simulations/2")]


def test_too_long_a_text_and_too_large_a_simulation_name_their_settings():
    _, problems, _ = read(FIXTURE.read_bytes(), caps=Caps(string_characters=100))
    assert "/simulations/0/messages/7/content" in [problem.pointer for problem in problems]
    traces, problems, _ = read(FIXTURE.read_bytes(), caps=Caps(line_bytes=5000))
    assert [trace.source_id[-1] for trace in traces] == ["2", "3"]
    assert [(problem.code, problem.pointer) for problem in problems] == [("too_large", "/simulations/0")]
    assert "IMPORT_MAX_LINE_BYTES" in problems[0].sentence()


def test_hostile_text_is_kept_letter_for_letter():
    payload = '"><img src=x onerror=x()> \u202e ﷽ ```\n=1+1'
    told = task("1", persona=payload, instructions=payload)
    one = simulation(said("user", payload, tool_calls=[call(payload, payload, "user", **{payload: payload})]))
    (trace,), problems, _ = read(json.dumps(results(one, tasks=[told])).encode())
    assert problems == []
    assert (trace.messages[0].text, trace.messages[0].calls[0].name) == (payload, payload)
    assert trace.files[0].text.count(payload) == 2


# The real files


FOLDERS = {
    "tau2-airline-gemini": (2, 40, 774, 167, 180, {}),
    "tau2-airline-grok": (1, 4, 86, 16, 23, {}),
    "tau2-retail-codesque16": (22, 22, 582, 161, 122, {"empty_run": 1}),
    "tau2-activegraph-mixed-domains": (11, 15, 254, 66, 51, {}),
    "tau2-retail-and-human/evaluations": (1, 40, 1032, 293, 211, {}),
    "tau2-retail-and-human/data": (70, 70, 2331, 540, 555, {"no_domain": 70}),
}
"""Files, traces, messages and calls (of which each has its result; all as the folders' own counts say), replies, and
what was warned of. The numbers of replies were counted apart from `replies`, see below."""


def read_folder(folder):
    tally, traces = Tally(), []
    paths = sorted((DATA / folder).rglob("*.json"))
    for path in paths:
        with path.open("rb") as file:
            reading = Reading(file, file_name=path.name)
            traces += tally.traces_in(reading)
            assert reading.format == "tau2_bench"
    return len(paths), traces, tally


@pytest.mark.shared
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_real_runs_are_counted_as_they_are(folder):
    n_files, traces, tally = read_folder(folder)
    n_replies = sum(len(replies(trace.messages)) for trace in traces)
    counted = (n_files, tally.traces, tally.messages, tally.calls, n_replies, dict(tally.skipped))
    assert counted == FOLDERS[folder]
    assert (tally.paired, tally.unpaired, tally.problems) == (tally.calls, 0, [])
    assert len({trace.source_id for trace in traces}) == len(traces)


def raw_simulations(folder):
    for path in sorted((DATA / folder).rglob("*.json")):
        value = json.loads(path.read_text("utf-8"))
        yield from value.get("simulations") or [value]


@pytest.mark.shared
@pytest.mark.parametrize("folder", FOLDERS)
def test_real_texts_sides_and_replies_by_a_second_route(folder):
    """Straight from the files: in these runs every result stands right behind its call in the order of the calls, and
    an agent's text without calls that follows words of the requester is a reply, once."""
    n_replies = 0
    for raw, trace in zip(raw_simulations(folder), read_folder(folder)[1], strict=True):
        waiting, is_asked = [], False
        for message, found in zip(raw["messages"], trace.messages, strict=True):
            words = (message.get("content") or "").split("###")[0].strip()
            if message["role"] == "tool":
                index, number = waiting.pop(0)
                assert (found.answers.index, found.answers.call, found.text) == (index, number, message["content"])
                assert found.side == ("user" if message["requestor"] == "user" else "agent")
            elif message["role"] == "user":
                assert found.text.strip() == words
                is_asked |= bool(words)
            else:
                assert found.text in (message["content"] or "", words)
                n_replies += is_asked and bool(words) and not message["tool_calls"]
                is_asked &= not words or bool(message["tool_calls"])
            assert [call.name for call in found.calls] == [call["name"] for call in message.get("tool_calls") or []]
            waiting += [(found.index, number) for number in range(len(found.calls))]
        assert waiting == []
    assert n_replies == FOLDERS[folder][4]


@pytest.mark.shared
def test_runs_read_by_hand():
    """Read in the files with the eye.

    1. activegraph 20260601-041221, telecom: 28 messages; the agent calls at 4, 6, 8 and 10, one tool each; the
       requester at 15 (two), 20 (two) and 25, each beside a text. Replies at 2, 12, 14, 19 and 24; 0 greets, 27 ends.
    2. codesque16 gpt-5-mini task_14, retail: 33 messages; calls at 4, 6, 10 (two), 14 (two, the requester's), 22 (two)
       and 30 (the requester's). Replies at 2, 8, 13, 18, 20, 25, 27 and 29; 32 is nothing but ###STOP###.
    3. human retail task_50: 16 messages; calls with empty ids at 4, 6 and 10; replies at 2, 8, 12 and 14; 15 ends with
       ###TRANSFER### behind two line ends.
    4. human retail task_20: the agent itself says ###STOP### at 36, which is no reply; 34 is the last.
    """
    runs = {
        "tau2-activegraph-mixed-domains/runs/20260601-041221-091109": (28, 9, 5, (2, 12, 14, 19, 24)),
        "tau2-retail-codesque16/docs/data/_gpt-5-mini__base__all_/task_14.json": (
            *(33, 9, 3),
            (2, 8, 13, 18, 20, 25, 27, 29),
        ),
        "tau2-retail-and-human/data/tau2/human_trajectories/retail/task_50_human.json": (16, 3, 0, (2, 8, 12, 14)),
        "tau2-retail-and-human/data/tau2/human_trajectories/retail/task_20_human.json": (
            *(37, 11, 0),
            (2, 8, 16, 28, 30, 34),
        ),
    }
    for name, expected in runs.items():
        path = DATA / name
        (trace,), problems, _ = read((path if path.is_file() else next(path.rglob("*.json"))).read_bytes())
        calls = [message.side for message in trace.messages for _ in message.calls]
        assert problems == []
        assert (len(trace.messages), len(calls), calls.count("user"), replies(trace.messages)) == expected
    assert texts(trace)[36] == ""


@pytest.mark.shared
def test_the_real_telecom_run_shows_the_requesters_tools_and_nothing_of_the_agents():
    (trace,), _, _ = read(
        next((DATA / "tau2-activegraph-mixed-domains/runs/20260601-041221-091109").rglob("*.json")).read_bytes()
    )
    seen = requester_view(trace, 24)
    shown = "\n".join([seen.files[0].text, *(message.text for message in seen.dialog)])
    assert "Airplane Mode is now OFF." in shown
    assert "You are John Smith with phone number 555-123-2002." in shown
    for hidden in (
        "goodwill_credit_used",
        "gpt-4.1",
        'Premium Plan", "data_limit',
        "evaluation",
        "Test resolution path",
    ):
        assert hidden not in shown
    assert canonical_json(trace).count("The status bar also shows the Airplane Mode icon") == 1


@pytest.mark.shared
def test_policies_and_tasks_are_no_runs():
    for path in (DATA / "tau2-policies-and-tasks").rglob("*.json"):
        with path.open("rb") as file:
            _, problems, _ = read(file)
        assert [problem.code for problem in problems] == ["unknown_format"]
