"""What Codex itself puts into messages of the user's role, told from what the requester wrote.

Codex writes the project's rules, the environment, skills, notices and much else as user messages, each a fragment with
a mark at both ends. An editor puts its own context before the request, under a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotate.traces.base import Call
from annotate.traces.openai_responses_items import Piece
from annotate.traces.openai_responses_parts import part_text
from annotate.traces.values import as_list, as_object

FRAGMENT = re.compile(r"\s*<([a-z][a-z0-9_]*)(?: instructions)?(?:\s[^<>]*)?>.*</\1(?: instructions)?>\s*\Z", re.DOTALL)
"""One element and nothing else."""
INJECTED = frozenset(
    {
        *("additional_context", "apps_instructions", "codex_internal_context", "collaboration_mode"),
        *("context_window", "context_window_guidance", "environment_context", "goal_context", "hook_prompt"),
        *("internal_model_context", "model_switch", "permissions", "personality_spec", "plugins_instructions"),
        *("realtime_conversation", "recommended_plugins", "rollout_budget", "skill", "skills_instructions"),
        *("subagent_notification", "system_reminder", "token_budget", "tools", "turn_aborted", "user_action"),
        *("user_instructions", "user_shell_command"),
    }
)
RULES = re.compile(r"\s*# AGENTS\.md instructions\b")
NOTICES = ("Warning: apply_patch was requested via ", "Warning: The maximum number of unified exec processes ")
SUMMARY = re.compile(r"\s*Another language model started to solve this problem and produced a summary\b")
EDITOR = re.compile(
    r"\A\s*# (?:Context from my IDE setup|Files mentioned by the user):.*?^## My request for Codex:[ \t]*\n",
    re.DOTALL | re.MULTILINE,
)
IMAGE_FRAME = re.compile(r"\s*(?:<image(?:\s[^<>]*)?>|</image>)\s*\Z")
SHELL = re.compile(
    r"\s*<user_shell_command>\s*<command>\n?(.*?)\n?</command>\s*<result>\n?(.*?)\n?</result>\s*</user_shell_command>\s*\Z",
    re.DOTALL,
)


def name_of_injected(text: str) -> str:
    """What a text is that no person wrote; empty for one that a person may have written."""
    element = FRAGMENT.match(text)
    if element and element[1] in INJECTED:
        return element[1]
    if RULES.match(text):
        return "AGENTS.md"
    return "notice" if text.lstrip().startswith(NOTICES) else ""


def said_by_requester(piece: Piece, content: Any) -> Iterator[Piece]:
    """A user message as what its parts are: injected ones first, each by itself, and then what the requester said."""
    texts = [part_text(part) for part in as_list(content)] if isinstance(content, list) else [piece.text]
    if len(texts) < 2 or any(text is None for text in texts):
        texts = [piece.text]
    has_image = any(as_object(part).get("type") == "input_image" for part in as_list(content))
    said, before = [], []
    for text in texts:
        if text is None or (has_image and IMAGE_FRAME.match(text)):
            continue
        if SUMMARY.match(text):
            before.append(replace(piece, role="summary", text=text, side="agent"))
        elif command := SHELL.match(text):
            before += own_command(piece, command)
        elif name := name_of_injected(text):
            before.append(replace(piece, role="other", text=text, name=name, side="agent"))
        elif editor := EDITOR.match(text):
            before.append(replace(piece, role="other", text=editor[0], name="editor", side="agent"))
            said.append(text[editor.end() :])
        else:
            said.append(text)
    yield from before
    if said or not before:
        yield replace(piece, text="\n".join(said))


def own_command(piece: Piece, command: re.Match[str]) -> list[Piece]:
    """A command that the requester ran in the same window: their own tool, whose result they saw."""
    call = Call(id="", name="shell", arguments=command[1])
    return [
        replace(piece, kind="break"),
        replace(piece, kind="call", text="", call=call),
        replace(piece, kind="result", text=command[2], name="shell", extras={}),
        replace(piece, kind="break"),
    ]


def is_sub_agent(meta: Mapping[str, Any]) -> bool:
    """A session that another agent started, which is then who speaks in the user's role."""
    return "subagent" in as_object(meta.get("source")) or meta.get("thread_source") == "subagent"
