"""The import cases of `fixtures/reference/bad-input.jsonl` on our own format: 2xx is accepted, 4xx is refused with the
case's code and names. IN-18 (gzip) is in `test_bad_uploads.py`, IN-35 in `test_importing.py`."""

import base64
import io
import json
import time
import tracemalloc

import pytest

from annotate.traces.strict_json import Caps
from tests.annotate.traces.files import ROOT, SHARED, line, lines, read, record

CASE_FILE = ROOT / "fixtures" / "reference" / "bad-input.jsonl"
CASES = {
    case["id"]: case
    for case in map(json.loads, CASE_FILE.read_text("utf-8").splitlines())
    if case["id"].startswith("IN-")
}
OUR_NAMES = {"turns": "messages", "content": "text", "tool_calls": "calls", "tool_call_id": "answers"}
PAYLOAD = '"><img src=x onerror=x()>'
ELSEWHERE = {"IN-18", "IN-35", "IN-51", "IN-56", "IN-20"}
"""Not read yet; needs a database; several files each; too long to be built for a parameter."""


def in_our_names(text):
    for theirs, ours in OUR_NAMES.items():
        text = text.replace(theirs, ours)
    return text


def thousand_lines():
    made = [line(record(f"t{number}")) for number in range(1, 1001)]
    made[499] = made[499][:-1]
    return b"\n".join(made)


def deep():
    return line(record()).replace(b'"messages"', b'"meta": ' + b"[" * 100_000 + b"]" * 100_000 + b', "messages"')


def ten_lines_two_alike():
    return lines(*(record("t3" if number == 8 else f"t{number}", meta={"n": number}) for number in range(1, 11)))


def without_id():
    made = record()
    del made["id"]
    return line(made)


GENERATED = {"IN-04": [thousand_lines()], "IN-32": [deep()], "IN-34": [ten_lines_two_alike()]}
GENERATED["IN-36"] = [without_id(), *(line(record(id_)) for id_ in (None, 7, "", "   "))]


def contents(case):
    """The files of a case, in our field names."""
    if "text" in case["input"]:
        return [in_our_names(case["input"]["text"]).encode()]
    if "base64" in case["input"]:
        raw = base64.b64decode(case["input"]["base64"])
        for theirs, ours in OUR_NAMES.items():
            raw = raw.replace(theirs.encode(), ours.encode())
        return [raw]
    return GENERATED[case["id"]]


@pytest.mark.shared
def test_the_case_file_is_the_shared_one():
    assert CASE_FILE.read_bytes() == (SHARED / "data" / "cases" / "bad-input.jsonl").read_bytes()


@pytest.mark.parametrize("name", sorted(CASES.keys() - ELSEWHERE))
def test_case(name):
    expected = CASES[name]["expect"]
    for content in contents(CASES[name]):
        begun = time.monotonic()
        traces, problems, _ = read(content)
        assert time.monotonic() - begun < 2
        if 422 not in expected["status"]:
            assert traces
            assert problems == []
            continue
        assert problems
        assert problems[0].code == expected.get("code", problems[0].code)
        for named in map(in_our_names, expected.get("names", [])):
            assert named in problems[0].sentence()


def test_codes_of_a_wrong_id():
    codes = [read(content)[1][0].code for content in GENERATED["IN-36"]]
    assert codes == ["missing_field", "wrong_type", "wrong_type", "empty_value", "empty_value"]


def test_one_bad_line_leaves_the_others_readable_for_skipping():
    traces, problems, _ = read(thousand_lines())
    assert len(traces) == 999
    assert [problem.line for problem in problems] == [500]


def test_the_byte_position_of_a_bad_byte_is_given_in_line_and_file():
    (content,) = contents(CASES["IN-08"])
    problem = read(content)[1][0]
    assert content[problem.params["byte_of_file"] - 1] == 0xE9
    assert content.split(b"\n")[1][problem.params["byte"] - 1] == 0xE9


def test_errors_in_an_array_name_the_element():
    content = b"[" + line(record()) + b"," + line(record("t2", messages=[])) + b"]"
    traces, (problem,), _ = read(content)
    assert [trace.source_id for trace in traces] == ["t1"]
    assert problem.pointer == "/1/messages"


def test_both_lines_of_an_id_are_named():
    _, (problem,), _ = read(ten_lines_two_alike())
    assert "line 3" in problem.sentence()
    assert "line 8" in problem.sentence()


def test_an_unanswered_call_is_a_warning_that_names_line_and_call():
    (trace,), problems, (warning,) = read(contents(CASES["IN-42"])[0])
    assert problems == []
    assert "line 1" in warning.sentence()
    assert "c1" in warning.sentence()
    assert trace.messages[0].calls[0].arguments == "{}"


class LongLine(io.RawIOBase):
    """A record of 200 MB that is never in memory as a whole."""

    def __init__(self, n_letters):
        self.parts = [(b'{"id":"t1","messages":[{"role":"user","text":"', 1), (b"a", n_letters), (b'"}]}', 1)]
        self.length = sum(len(part) * times for part, times in self.parts)
        self.position = 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=0):
        self.position = offset
        return offset

    def readinto(self, buffer):
        begin, made, at = self.position, b"", 0
        for part, times in self.parts:
            end = at + len(part) * times
            if begin < end and len(made) < len(buffer):
                skip = max(0, begin - at)
                wanted = len(buffer) - len(made)
                made += (part * min(times, wanted + len(part)))[skip if times == 1 else 0 :][
                    : min(wanted, end - at - skip)
                ]
                begin = at + skip + min(wanted, end - at - skip)
            at = end
        buffer[: len(made)] = made
        self.position += len(made)
        return len(made)


def test_a_line_of_200_million_letters_is_refused_without_being_held():
    caps = Caps()
    tracemalloc.start()
    try:
        traces, (problem,), _ = read(io.BufferedReader(LongLine(200_000_000)), caps=caps)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert traces == []
    assert problem.code == "line_too_long"
    assert problem.line == 1
    assert "IMPORT_MAX_LINE_BYTES" in problem.sentence()
    assert peak < 4 * caps.line_bytes


def test_hostile_text_is_kept_letter_for_letter():
    for name in ("IN-50", "IN-52", "IN-54", "IN-55"):
        (content,) = contents(CASES[name])
        (trace,), _, _ = read(content)
        assert trace.messages[0].text == json.loads(content)["messages"][0]["text"]


def test_a_payload_in_id_tool_name_and_metadata_key_is_kept_and_in_a_role_refused_in_words_that_quote_it():
    called = [{"role": "assistant", "text": "", "calls": [{"name": PAYLOAD}]}, {"role": "tool", "text": "1"}]
    (trace,), problems, _ = read(line(record(PAYLOAD, called, meta={PAYLOAD: 1})))
    assert problems == []
    assert (trace.source_id, trace.messages[0].calls[0].name) == (PAYLOAD, PAYLOAD)
    assert trace.metadata["meta"] == {PAYLOAD: 1}
    _, (problem,), _ = read(line(record("t1", [{"role": PAYLOAD, "text": "a"}])))
    assert problem.code == "unknown_role"
    assert PAYLOAD in problem.sentence()


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_cells_that_begin_like_formulas_are_kept(first):
    (trace,), problems, _ = read(line(record(f"{first}1+1", [{"role": "user", "text": f"{first}1+1"}])))
    assert problems == []
    assert (trace.source_id, trace.messages[0].text) == (f"{first}1+1", f"{first}1+1")


def test_unknown_fields_are_private_metadata():
    (trace,), _, _ = read(contents(CASES["IN-57"])[0])
    assert trace.metadata["other_fields"] == {"": {"model": "SECRET-M", "whatever": {"k": "SECRET-W"}}}


def test_every_import_case_is_covered():
    assert CASES.keys() - ELSEWHERE | ELSEWHERE == CASES.keys()
    assert CASES["IN-20"]["expect"]["code"] == "line_too_long"


# The same cases where a file of tau2 results can meet them: the records of a case are its simulations.


def as_results(records):
    """A file of results around records, byte by byte, so that what is wrong with them stays wrong."""
    simulations = b",".join(
        record.replace(b'"id":', b'"task_id":"1","id":', 1).replace(b'"turns"', b'"messages"') for record in records
    )
    return (
        b'{"info":{"environment_info":{"domain_name":"wells"}},"tasks":[{"id":"1"}],"simulations":['
        + simulations
        + b"]}"
    )


def of_case(name):
    found = CASES[name]["input"]
    raw = found["text"].encode() if "text" in found else base64.b64decode(found["base64"])
    return raw.removeprefix(b"\xef\xbb\xbf").splitlines()


@pytest.mark.parametrize(
    ("name", "pointer"),
    [
        ("IN-03", "/simulations/2"),
        ("IN-08", "/simulations/1"),
        ("IN-24", "/simulations/0/meta/score"),
        ("IN-28", "/simulations/0/id"),
        ("IN-29", "/simulations/0/messages/0/content"),
        ("IN-31", "/simulations/0/messages/0/content"),
    ],
)
def test_a_simulation_is_refused_for_the_same_reasons_and_named_by_its_pointer(name, pointer):
    _, problems, _ = read(as_results(of_case(name)))
    assert (problems[0].code, problems[0].pointer) == (CASES[name]["expect"]["code"], pointer)


def test_deep_long_and_doubled_simulations_are_refused_in_time():
    begun = time.monotonic()
    nested = b'{"id":"t1","turns":[],"meta":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    good = of_case("IN-03")[0]
    for records, code in (([good, nested], "too_deep"), ([good, good], "duplicate_id")):
        _, (problem,), _ = read(as_results(records))
        assert problem.code == code
    content = as_results([b'{"id":"t9","turns":[{"role":"user","content":"' + b"a" * 40_000_000 + b'"}]}', good])
    traces, (problem,), _ = read(content)
    assert ([trace.source_id for trace in traces], problem.code) == (["t1"], "too_large")
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("name", ["IN-06", "IN-50", "IN-52", "IN-54", "IN-55", "IN-57"])
def test_a_simulation_with_odd_text_is_taken_letter_for_letter(name):
    for mark in (b"", b"\xef\xbb\xbf"):
        (trace,), problems, warnings = read(mark + as_results(of_case(name)))
        assert (problems, warnings, trace.format) == ([], [], "tau2_bench")
        turns = json.loads(of_case(name)[0])["turns"]
        assert [message.text for message in trace.messages] == [turn["content"] for turn in turns]
        assert "SECRET" not in trace.messages[0].text


@pytest.mark.parametrize(
    ("name", "code"), [("IN-38", "unknown_role"), ("IN-40", "orphan_tool_result"), ("IN-42", "unanswered_call")]
)
def test_what_is_not_understood_in_a_simulation_is_kept_and_counted(name, code):
    (trace,), problems, (warning,) = read(as_results(of_case(name)), format="tau2_bench")
    assert (problems, warning.code, len(trace.messages)) == ([], code, len(json.loads(of_case(name)[0])["turns"]))
    assert warning.pointer.startswith("/simulations/0/messages/")
