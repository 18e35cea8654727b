"""What tau2-bench tells the requester of a task before it begins, and in which language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from annotate.traces.base import File, Message
from annotate.traces.values import as_json, as_object

HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
LATIN_WORD = re.compile("[A-Za-z]+")
SAID = {"en": "en", "eng": "en", "english": "en"}
SAID |= dict.fromkeys(["zh", "zho", "chi", "cmn", "chinese", "mandarin", "中文", "汉语", "普通话"], "zh")
"""Languages as a file may say them, by code or by name, before any region or script."""
BRIEFING = {
    "en": {
        "": "What you know",
        "persona": "Who you are",
        "reason_for_call": "Why you get in touch",
        "known_info": "What you know",
        "unknown_info": "What you do not know",
        "task_instructions": "What you want, and how you go about it",
    },
    "zh": {
        "": "你所知道的",
        "persona": "你是谁",
        "reason_for_call": "你为什么来询问",
        "known_info": "你知道的",
        "unknown_info": "你不知道的",
        "task_instructions": "你想要什么，怎么做",
    },
}
"""Name and headings of the briefing, in the language of the run. Nothing else of a task is ever shown."""


def language_of(messages: Sequence[Message], said: Iterable[Mapping[str, Any]]) -> str:
    """What the file says; else Chinese where the requester writes it, and English, the language of the benchmark."""
    for there in said:
        language = there.get("language")
        if isinstance(language, str) and language.strip():
            return SAID.get(re.split(r"[-_\s(]", language.strip().lower())[0], "")
    text = "\n".join(message.text for message in messages if message.role == "user")
    return "zh" if len(HAN.findall(text)) > len(LATIN_WORD.findall(text)) else "en"


def briefing(task: Mapping[str, Any], language: str) -> Iterator[File]:
    """The instructions of the requester as a file they have from the start: those members that the benchmark writes for
    its simulator, each under its heading."""
    scenario = as_object(task.get("user_scenario"))
    instructions = scenario.get("instructions")
    given = {"persona": scenario.get("persona"), **as_object(instructions)}
    if isinstance(instructions, str):
        given["task_instructions"] = instructions
    words = BRIEFING[language or "en"]
    parts = [
        f"## {heading}\n\n{as_text(given[name])}"
        for name, heading in words.items()
        if name and as_text(given.get(name))
    ]
    if parts:
        yield File(name=words[""], text="\n\n".join(parts) + "\n")


def as_text(value: Any) -> str:
    return "" if value is None else value.strip() if isinstance(value, str) else as_json(value)
