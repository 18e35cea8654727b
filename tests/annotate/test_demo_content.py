"""The demo's files hold together: counts, quotes, planted gaps, and labels that agree as planned. No Django."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"
PHASES = {"practice": 2, "pilot": 1, "main": 8}
LABELS = {"readable", "needs_information", "unrepairable_or_no_answer"}
TYPES = {"definition", "reference", "background"}
CODES = ["a1", "a2", "a3", "a4", "a5"]
WRONG_LANGUAGE = ("main-seagrass-zh", 3)
NO_ANSWER = ("main-coldchain-en", 2)
BEYOND_BMP = ("main-spacing-zh", 2)

# Expressions of a reply that the agent's private context holds and the requester's view does not.
PLANTED = {
    ("practice-library-en", 2): ["E04", "shift_lowcarry"],
    ("practice-library-en", 3): ["P-A", "S0", "T2", "V-row", "F3", "P-B'"],
    ("practice-canteen-zh", 1): ["NWI"],
    ("practice-canteen-zh", 3): ["松湾小学"],
    ("pilot-nightbus-zh", 2): ["nb_gap60", "nb_gap60w", "D05"],
    ("main-seagrass-en", 2): ["crn_hier_L", "crn_flat_S", "R03"],
    ("main-seagrass-en", 3): ["stop rule"],
    ("main-spacing-en", 1): ["LSR"],
    ("main-spacing-zh", 2): ["set_B2x", "R11"],
    ("main-coldchain-en", 3): ["plan_K7", "tight window"],
    ("main-coldchain-zh", 3): ["预案"],
    ("main-ebike-en", 1): ["base table"],
    ("main-ebike-en", 2): ["fleet_mc_12b", "S2", "deferred rule"],
    ("main-ebike-zh", 1): ["B07", "B12"],
    ("main-ebike-zh", 2): ["三号口径", "elas_c3"],
    ("main-ebike-zh", 3): ["双轨结算"],
}
# Expressions that point to something the requester was never told, without a word that stands in the private context.
VAGUE = {
    ("pilot-nightbus-zh", 3): "前一种口径",
    ("main-seagrass-zh", 1): "基线换过之后",
    ("main-spacing-en", 3): "the second option",
}


def lines(name):
    return [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]


@cache
def traces(phase=None):
    return [trace for name in PHASES if phase in (None, name) for trace in lines(f"{name}.jsonl")]


@cache
def reply_places():
    """(trace id, reply number) -> (trace, message index): agent texts without calls that follow a requester message."""
    found = {}
    for trace in traces():
        waiting, number = False, 0
        for index, message in enumerate(trace["messages"]):
            if message["role"] == "user":
                waiting = True
            elif waiting and message["role"] == "assistant" and not message.get("calls"):
                waiting, number = False, number + 1
                found[trace["id"], number] = (trace, index)
    return found


def reply_text(key):
    trace, index = reply_places()[key]
    return trace["messages"][index]["text"]


def is_open(message):
    return message["role"] == "user" or (message["role"] == "assistant" and not message.get("calls"))


def requester_view(key):
    trace, index = reply_places()[key]
    files = [file["name"] + "\n" + file["text"] for file in trace["files"] if file.get("available_from", 0) <= index]
    return "\n".join(files + [message["text"] for message in trace["messages"][:index] if is_open(message)])


def private_context(key):
    trace, index = reply_places()[key]
    hidden = [message for message in trace["messages"][:index] if not is_open(message)]
    calls = [call for message in hidden for call in message.get("calls", [])]
    return "\n".join(
        [message["text"] for message in hidden] + [json.dumps(call["arguments"], ensure_ascii=False) for call in calls]
    )


def place(span, text):
    """Offset of the n-th occurrence of a quote, or -1."""
    at = -1
    for _ in range(span["occurrence"]):
        at = text.find(span["quote"], at + 1)
    return at


def han_and_latin(text):
    prose = re.sub(r"`[^`]*`", " ", text)
    return len(re.findall(r"[\u3400-\u9fff\U00020000-\U0003ffff]", prose)), len(re.findall(r"[A-Za-z]{2,}", prose))


def failed(row):
    return row["label"] != "readable"


@cache
def main_votes():
    votes = defaultdict(list)
    for row in lines("labels.jsonl"):
        if row["trace"].startswith("main-"):
            votes[row["trace"], row["reply"]].append(failed(row))
    return dict(votes)


def test_each_phase_has_its_collaborations_of_three_requests_and_three_replies():
    assert {phase: len(traces(phase)) for phase in PHASES} == PHASES
    assert len({trace["id"] for trace in traces()}) == 11
    for trace in traces():
        assert sum(message["role"] == "user" for message in trace["messages"]) == 3, trace["id"]
    assert Counter(trace for trace, _ in reply_places()) == {trace["id"]: 3 for trace in traces()}


def test_languages_and_areas_are_mixed_as_planned():
    assert Counter(trace["language"] for trace in traces("practice")) == {"en": 1, "zh": 1}
    pairs = Counter((trace["area"], trace["language"]) for trace in traces("main"))
    areas = {"seagrass", "spacing", "cold_chain", "ebike_service"}
    assert pairs == {(area, language): 1 for area in areas for language in ("en", "zh")}


@pytest.mark.parametrize("trace", traces(), ids=lambda trace: trace["id"])
def test_a_collaboration_is_well_formed(trace):
    assert set(trace) == {"id", "language", "area", "files", "messages", "meta"}
    assert set(trace["meta"]) == {"model", "run"}
    messages = trace["messages"]
    sessions = [message["session"] for message in messages]
    assert sessions[0] == 1
    assert all(later - earlier in (0, 1) for earlier, later in pairwise(sessions))
    assert messages[0]["role"] == "system"
    assert 1 <= len(trace["files"]) <= 2
    for file in trace["files"]:
        assert file["text"].strip()
        assert "available_from" not in file or messages[file["available_from"]]["role"] == "user"
    calls = [call["id"] for message in messages for call in message.get("calls", [])]
    assert len(calls) >= 5
    assert len(set(calls)) == len(calls)
    assert [message["answers"] for message in messages if message["role"] == "tool"] == calls
    assert any(call["name"] == "write_file" for message in messages for call in message.get("calls", []))
    for message in messages:
        assert set(message) <= {"role", "session", "text", "calls", "answers"}
        assert message["text"] or message.get("calls")


def test_most_collaborations_have_more_than_one_session():
    assert sum(trace["messages"][-1]["session"] > 1 for trace in traces()) >= 9


@pytest.mark.parametrize("key", list(reply_places()), ids=lambda key: f"{key[0]}-{key[1]}")
def test_a_reply_has_a_natural_length(key):
    han, latin = han_and_latin(reply_text(key))
    if reply_places()[key][0]["language"] == "zh" and key != WRONG_LANGUAGE:
        assert 100 <= han <= 400
    else:
        assert 60 <= latin <= 250


def test_exactly_one_reply_is_in_the_wrong_language():
    wrong = []
    for key, (trace, _) in reply_places().items():
        han, latin = han_and_latin(reply_text(key))
        if ("zh" if han >= latin else "en") != trace["language"]:
            wrong.append(key)
    assert wrong == [WRONG_LANGUAGE]


@pytest.mark.parametrize("key", list(PLANTED), ids=lambda key: f"{key[0]}-{key[1]}")
def test_a_planted_name_is_private_and_never_in_the_requesters_view(key):
    for name in PLANTED[key]:
        assert name in reply_text(key)
        assert name in private_context(key), name
        assert name not in requester_view(key), name


@pytest.mark.parametrize("key", list(VAGUE), ids=lambda key: f"{key[0]}-{key[1]}")
def test_a_vague_expression_stands_in_the_reply_only(key):
    assert VAGUE[key] in reply_text(key)
    assert VAGUE[key] not in requester_view(key)


def test_an_emoji_and_a_rare_character_stand_before_a_gap():
    before = reply_text(BEYOND_BMP).partition("set_B2x")[0]
    assert "📌" in before
    assert "𠮷" in before
    assert len(before.encode("utf-16-le")) // 2 > len(before)


def test_model_and_run_names_stand_in_no_text():
    secrets = {value for trace in traces() for value in trace["meta"].values()}
    for trace in traces():
        shown = json.dumps([trace["files"], trace["messages"]], ensure_ascii=False)
        assert not [secret for secret in secrets if secret in shown]


def test_the_expected_answers_cover_the_practice_replies_in_both_languages():
    rows = lines("known.jsonl")
    practice = {trace["id"] for trace in traces("practice")}
    assert [(row["trace"], row["reply"]) for row in rows] == [key for key in reply_places() if key[0] in practice]
    assert {row["label"] for row in rows} == LABELS
    for row in rows:
        assert han_and_latin(row["reason_en"])[0] <= 1
        assert han_and_latin(row["reason_zh"])[0] > 20


def test_every_annotator_labels_every_reply_once():
    rows = lines("labels.jsonl")
    assert Counter((row["trace"], row["reply"], row["annotator"]) for row in rows) == {
        (*key, code): 1 for key in reply_places() for code in CODES
    }


@pytest.mark.parametrize("name", ["known.jsonl", "labels.jsonl"])
def test_labels_follow_the_rules_and_their_quotes_stand_in_the_reply(name):
    for row in lines(name):
        text = reply_text((row["trace"], row["reply"]))
        assert row["label"] in LABELS
        assert row["label"] != "readable" or (not row["spans"] and not row["states_no_result"]), row
        assert row["label"] != "needs_information" or row["spans"], row
        for span in row["spans"]:
            assert set(span) == {"quote", "type", "occurrence"}
            assert span["type"] in TYPES
            assert place(span, text) >= 0, (row["trace"], row["reply"], span)


def test_the_two_special_replies_are_labelled_as_such():
    by_reply = defaultdict(list)
    for row in lines("labels.jsonl"):
        by_reply[row["trace"], row["reply"]].append(row)
    assert {row["label"] for row in by_reply[WRONG_LANGUAGE]} == {"unrepairable_or_no_answer"}
    assert all(row["states_no_result"] for row in by_reply[NO_ANSWER])
    assert all(map(failed, by_reply[NO_ANSWER]))
    flagged = {key for key, rows in by_reply.items() if any(row["states_no_result"] for row in rows)}
    assert {key for key in flagged if key[0].startswith("main-")} == {NO_ANSWER}


def test_spans_on_the_planted_gaps_overlap_and_differ_in_their_ends():
    ends = defaultdict(set)
    for row in lines("labels.jsonl"):
        key = row["trace"], row["reply"]
        for name in PLANTED.get(key, []):
            for span in row["spans"]:
                if name in span["quote"]:
                    start = place(span, reply_text(key))
                    ends[key, name].add((start, start + len(span["quote"])))
    assert sum(len(places) > 1 for places in ends.values()) >= 12


def test_fleiss_kappa_of_failing_is_as_planned():
    votes = main_votes()
    assert len(votes) == 24
    assert all(len(given) == 5 for given in votes.values())
    fails = [sum(given) for given in votes.values()]
    share = sum(fails) / (24 * 5)
    observed = sum(k * (k - 1) + (5 - k) * (4 - k) for k in fails) / (24 * 5 * 4)
    by_chance = share**2 + (1 - share) ** 2
    assert 0.45 <= share <= 0.6
    assert 0.55 <= (observed - by_chance) / (1 - by_chance) <= 0.65


def test_some_replies_split_the_panel_and_tie_the_other_four():
    assert sum(sum(given) in (2, 3) for given in main_votes().values()) >= 3
    tied = [key for key, given in main_votes().items() if any(2 * (sum(given) - one) == 4 for one in given)]
    assert len(tied) >= 2


def test_no_annotator_is_constant_and_times_are_plausible():
    for code in CODES:
        mine = [row for row in lines("labels.jsonl") if row["annotator"] == code]
        assert 5 <= sum(map(failed, mine)) <= 28
        assert len({row["active_s"] for row in mine}) > 25
        assert all(20 <= row["active_s"] <= 150 for row in mine)


def test_the_project_names_its_people_and_says_that_its_labels_are_synthetic():
    project = json.loads((DEMO / "project.json").read_text(encoding="utf-8"))
    assert project["slug"] == "demo"
    assert [person["code"] for person in project["annotators"]] == CODES
    assert project["open_annotator"] == {"username": "demo", "code": "a6"}
    assert "synthetic" in project["title_en"]
    assert "合成" in project["title_zh"]
