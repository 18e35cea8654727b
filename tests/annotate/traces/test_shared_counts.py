"""Every real file of traces, read and counted: what `inspect_traces` finds in each folder, and how that fits the counts
of whoever collected the files. Each figure that differs from theirs is explained here by name."""

import contextlib
import json
from collections import Counter

import pytest
from django.core.management import call_command

from tests.annotate.traces.files import SHARED

pytestmark = pytest.mark.shared
DATA = SHARED / "data"

COUNTED = {
    "agent-as-a-judge-devai": {
        "openhands": (1, 1, 68, 33, 33, 0),
    },
    "agentrx-magentic": {
        "agentrx": (37, 37, 1754, 0, 0, 0),
    },
    "fmt-agent-sessions-multi-cli": {
        "claude_code": (4, 5, 63, 5, 3, 3),
        "codex": (5, 6, 60, 13, 12, 2),
        "openai_chat": (2, 2, 6, 1, 1, 0),
    },
    "fmt-claude-code-log": {
        "claude_code": (3, 4, 36, 8, 6, 2),
    },
    "fmt-claude-code-transcripts": {
        "claude_code": (2, 2, 40, 14, 14, 0),
    },
    "fmt-docent": {
        "inspect_eval": (1, 14, 326, 115, 114, 1),
    },
    "fmt-eval-protocol": {
        "openai_chat": (2, 15, 68, 19, 8, 11),
    },
    "fmt-inspect-ai": {
        "inspect_eval": (13, 27, 96, 9, 9, 0),
    },
    "fmt-inspect-scout": {
        "atif": (2, 2, 17, 5, 5, 0),
        "claude_code": (8, 8, 31, 2, 2, 0),
        "inspect_eval": (2, 17, 50, 0, 0, 0),
    },
    "fmt-langfuse": {
        "langfuse": (20, 7, 38, 8, 8, 0),
    },
    "fmt-langsmith": {
        "anthropic_events": (3, 3, 17, 4, 4, 0),
        "langsmith": (5, 5, 10, 0, 0, 0),
    },
    "fmt-langwatch-otel": {
        "otel_genai": (1, 0, 0, 0, 0, 0),
    },
    "fmt-llamafactory-tools-zh": {
        "sharegpt": (1, 300, 1880, 216, 216, 2),
    },
    "fmt-mini-swe-agent": {
        "mini_swe_agent": (1, 1, 8, 2, 2, 0),
    },
    "fmt-openhands": {
        "openhands": (4, 3, 18, 4, 4, 0),
    },
    "fmt-openinference-otel": {
        "otel_genai": (7, 13, 35, 0, 0, 0),
    },
    "fmt-polylogue-chat-exports": {
        "atif": (1, 1, 10, 4, 4, 0),
        "chatgpt_export": (1, 1, 2, 0, 0, 0),
        "claude_ai_export": (1, 1, 3, 0, 0, 0),
    },
    "fmt-swe-agent": {
        "swe_agent": (12, 12, 325, 141, 141, 0),
    },
    "fmt-vercel-ai-provider-responses": {
        "anthropic_messages": (10, 10, 25, 15, 7, 10),
        "openai_responses": (14, 14, 23, 13, 3, 11),
    },
    "mast-masft-annotated": {
        "mast": (56, 56, 1353, 0, 0, 0),
    },
    "nemo-gym-rollouts": {
        "openai_responses": (3, 15, 106, 33, 28, 5),
    },
    "revision-peer-review-masft": {
        "mast": (7, 7, 147, 0, 0, 0),
    },
    "tau-bench-airline-gpt4o": {
        "tau_bench": (1, 200, 5308, 1164, 1164, 0),
        "tau_dialogue": (1, 69, 1955, 479, 479, 0),
    },
    "tau-bench-retail-agentrx": {
        "tau_bench": (6, 34, 1224, 323, 323, 0),
    },
    "tau2-activegraph-mixed-domains": {
        "tau2_bench": (11, 15, 254, 66, 66, 0),
    },
    "tau2-airline-gemini": {
        "tau2_bench": (2, 40, 774, 167, 167, 0),
    },
    "tau2-airline-grok": {
        "tau2_bench": (1, 4, 86, 16, 16, 0),
    },
    "tau2-retail-and-human": {
        "tau2_bench": (71, 110, 3363, 833, 833, 0),
    },
    "tau2-retail-codesque16": {
        "tau2_bench": (22, 22, 582, 161, 161, 0),
    },
    "who-and-when": {
        "who_and_when": (119, 119, 2634, 0, 0, 0),
    },
}
"""By folder and format: files, traces, messages, calls, calls with a result, calls and results without their other."""

REFUSED = {
    "agent-as-a-judge-devai": {"unknown_format": 220},
    "agentrx-magentic": {"empty_file": 1, "labels_only": 1, "malformed_json": 6},
    "fmt-agent-sessions-multi-cli": {"malformed_json": 1, "unknown_format": 52},
    "fmt-docent": {"nul_character": 3},
    "fmt-eval-protocol": {"unknown_format": 1},
    "fmt-inspect-ai": {"empty_file": 1},
    "fmt-langfuse": {"no_trace": 13},
    "fmt-langwatch-otel": {"no_text": 1},
    "fmt-openhands": {"no_traces": 1},
    "fmt-openinference-otel": {"no_text": 2, "unknown_format": 1},
    "tau-bench-retail-agentrx": {"labels_only": 1, "unknown_format": 1},
}
"""Files without a trace we read, by why. Files that hold no data at all (policies, explanations) are passed over."""

COLLECTED = {
    "tau-bench-airline-gpt4o": {"tau_bench": (200, 5308, 1164), "tau_dialogue": (69, None, None)},
    "tau-bench-retail-agentrx": {"tau_bench": (34, 1224, 323)},
    "tau2-airline-gemini": {"tau2_bench": (40, 774, 167)},
    "tau2-activegraph-mixed-domains": {"tau2_bench": (15, 254, 66)},
    "tau2-airline-grok": {"tau2_bench": (4, 86, 16)},
    "tau2-retail-and-human": {"tau2_bench": (110, 3363, 833)},
    "tau2-retail-codesque16": {"tau2_bench": (22, 582, 161)},
    "nemo-gym-rollouts": {"openai_responses": (15, None, None)},
    "who-and-when": {"who_and_when": (83 + 36, 722 + 1794 + 118, None)},
    "agentrx-magentic": {"agentrx": (37, 1719 + 35, None)},
    "mast-masft-annotated": {"mast": (21 + 14 + 21, None, None)},
    "fmt-swe-agent": {"swe_agent": (12, None, None)},
    "fmt-mini-swe-agent": {"mini_swe_agent": (1, None, None)},
    "fmt-langfuse": {"langfuse": (7, None, None)},
    "fmt-llamafactory-tools-zh": {"sharegpt": (300, None, None)},
    "revision-peer-review-masft": {"mast": (7, None, None)},
}
"""Traces, messages and calls as COUNTS.md has them, where it counts these; what we add to them is written as a sum."""

EXPLAINED = {
    "who-and-when": (
        "118 messages are added: the question of 83 generated runs, in which nobody asks it, and the answer behind "
        "FINAL ANSWER of 35 hand-crafted ones."
    ),
    "agentrx-magentic": "35 messages are added: the answer behind FINAL ANSWER, which stands inside an agent's step.",
    "mast-masft-annotated": (
        "Turns (120) and log lines (23,766) are counted by tests of the reader: a message is a turn or a log record "
        "of several lines, and the task comes before them."
    ),
    "fmt-inspect-ai": "14 logs: 13 with samples, each a run; one was written without them.",
    "fmt-inspect-scout": "12 files: 2 Inspect logs, 2 ATIF trajectories, 8 Claude Code sessions.",
    "fmt-docent": "One log of 15 runs; one of them holds U+0000 and is read with --replace-nul only.",
    "fmt-openhands": "4 files: 3 event lists, each a run, and one of predictions, which are no runs.",
    "fmt-langsmith": "8 files: 3 event streams and 5 payloads, each a run.",
    "fmt-claude-code-log": "3 files; one holds two sessions.",
    "fmt-claude-code-transcripts": "2 files, each a session.",
    "fmt-ccusage": "3 files of usage counts without any message text: refused, as nothing can be labelled in them.",
    "fmt-agent-sessions-multi-cli": (
        "65 files of 13 agents: we read Claude Code, Codex and what is in OpenAI's form; the others' formats are ones "
        "we have no reader for."
    ),
    "fmt-openinference-otel": "8 files: 5 with conversations, 2 of embeddings (no_text), one a report about spans.",
    "fmt-langwatch-otel": "One span, which holds counts and no text.",
    "fmt-vercel-ai-provider-responses": "24 single responses, 10 of Anthropic and 14 of OpenAI.",
    "fmt-eval-protocol": (
        "13 snapshots are 2 runs (the last of each counts) and 13 cases are 13; the tasks hold no runs."
    ),
    "fmt-polylogue-chat-exports": "3 files, each a conversation.",
    "tau2-retail-and-human": "40 simulations and 70 recordings of people.",
}
"""What a folder's figure is made of, where it is not the plain number of COUNTS.md."""


def found_in(folder, capsys):
    with pytest.raises(SystemExit) if folder in REFUSED else contextlib.nullcontext():
        call_command("inspect_traces", str(DATA / folder), "--json")
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("folder", sorted(COUNTED))
def test_a_folder_holds_what_it_was_counted_to_hold(folder, capsys):
    found = found_in(folder, capsys)
    columns = ("files", "traces", "messages", "calls", "paired", "unpaired")
    rows = {row["format"]: tuple(row[name] for name in columns) for row in found["formats"] if row["format"]}
    assert rows == COUNTED[folder]
    refused = Counter(problem["code"] for file in found["files"] for problem in file["refused"])
    assert refused == REFUSED.get(folder, {})


@pytest.mark.parametrize("folder", sorted(COLLECTED))
def test_the_figures_are_those_of_the_collector(folder):
    for format, (traces, messages, calls) in COLLECTED[folder].items():
        _, n_traces, n_messages, n_calls, *_ = COUNTED[folder][format]
        assert n_traces == traces
        assert messages in (None, n_messages)
        assert calls in (None, n_calls)


def test_every_folder_that_is_counted_is_read_or_explained():
    text = (DATA / "COUNTS.md").read_text()
    rows = {row.split("|")[1].strip(): row for row in text.splitlines() if row.startswith("| ")}
    of_traces = [name for name in rows if name.startswith(("fmt-", "tau", "nemo", "who", "agentrx", "mast"))]
    assert not [name for name in of_traces if name not in {*COLLECTED, *EXPLAINED, "tau2-policies-and-tasks"}]
    assert "tau2-policies-and-tasks" in rows  # policies, manuals and tasks: no traces


def test_every_file_that_is_refused_has_a_reason_and_says_what_to_do(capsys):
    for folder in REFUSED:
        for file in found_in(folder, capsys)["files"]:
            assert all(problem["expected"] and problem["remedy"] for problem in file["refused"])
