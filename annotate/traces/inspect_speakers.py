"""Who speaks in a sample of Inspect, and what the run gave to whoever asked.

The log writes its own prompts, results of tools and other agents in the roles user and assistant. A program's message
is told by what the log says (a summary, a payload of calls, the end of a handoff), by Inspect's own sentences, and by
the last step of the plan: an agent loop of Inspect's is the only one who speaks after its model. Anything else that
stands in role user stays the requester's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile, zip_longest
from typing import Any

from annotate.traces.base import Message
from annotate.traces.inspect_messages import Reader
from annotate.traces.values import as_list, as_object

LOOPS = frozenset({"basic_agent", "basic_agent_loop", "react"})
"""Agent loops that come with Inspect."""
LOOP = "agent loop"
PROMPTS = re.compile(
    r"\s*(?:Please proceed to the next step using your best judgement\.(?:\s+If you believe you\s.*)?"
    r"|Your submission was incorrect\. Please proceed and attempt to find the correct answer\.)\s*",
    re.DOTALL,
)
HANDED_TO = re.compile(r"Successfully transferred to (.+)\.")


def speakers(found: Reader, values: Sequence[Any], solvers: Sequence[str]) -> list[Message]:
    """The messages with their roles settled."""
    by_loop = bool(solvers) and solvers[-1] in LOOPS
    messages: list[Message] = []
    for message in found.messages:
        value = value_at(values, found.pointers[message.index])
        if message.role == "user":
            has_agent_spoken = any(earlier.role == "assistant" for earlier in messages)
            message = of_user(message, value, by_loop and has_agent_spoken)
        messages.append(message)
    messages = handed_over(messages)
    return list(answered_by_loop(messages))


def value_at(values: Sequence[Any], pointer: str) -> Any:
    """The message of the log that one came from; nothing for the output."""
    number = pointer.rsplit("/", 1)[-1]
    return as_object(values[int(number)]) if pointer.startswith("/messages/") else {}


def of_user(message: Message, value: Any, by_loop: bool) -> Message:
    if as_object(value.get("metadata")).get("summary") is True:
        return replace(message, role="summary", side="agent")
    if as_list(value.get("tool_call_id")):
        return replace(message, role="other", side="agent", name="tool")
    if value.get("source") is None and (by_loop or PROMPTS.fullmatch(message.text)):
        return replace(message, role="other", side="agent", name=LOOP)
    return message


def handed_over(messages: Sequence[Message]) -> list[Message]:
    """What an agent that was handed the work says is said to the one that handed it over."""
    told: list[Message] = []
    agent, end = "", -1
    for place, message in enumerate(messages):
        handed = HANDED_TO.fullmatch(message.text) if message.role == "tool" else None
        if handed:
            agent, end = handed[1], end_of_handoff(messages, place, handed[1])
        elif agent and message.role == "assistant" and (place < end or message.text.startswith(f"[{agent}]")):
            message = replace(message, role="other", name=agent[:255])
        elif agent and message.role == "user" and place == end:
            message = replace(message, role="other", side="agent", name=agent[:255])
        told.append(message)
    return told


def end_of_handoff(messages: Sequence[Message], start: int, agent: str) -> int:
    """The place of the message that says the agent is done or was stopped; before the first where there is none."""
    for place in range(start + 1, len(messages)):
        if messages[place].role == "user" and messages[place].text.startswith(f"The {agent} "):
            return place
    return -1


def answered_by_loop(messages: Sequence[Message]) -> Iterator[Message]:
    """A text that the loop answered itself reached nobody, unless it is the last one, which is the run's answer."""
    last = max((message.index for message in messages if message.role == "assistant"), default=-1)
    for message, following in zip_longest(messages, messages[1:]):
        is_answered = following is not None and following.role == "other" and following.name == LOOP
        if message.role == "assistant" and not message.calls and is_answered and message.index != last:
            message = replace(message, role="other", name="assistant")
        yield message


def add_output(found: Reader, output: Any) -> bool:
    """Append what the run gave as its answer, where no message says it: the output stands nowhere else, or only beside
    the call of the tool that hands an answer in. True where it is a message already."""
    choices = as_list(as_object(output).get("choices"))
    said = as_object(as_object(choices[0] if choices else None).get("message"))
    if said.get("role") != "assistant":
        return False
    own = Reader(found.place, found.attachments)
    own.add(said, "/output/choices/0/message")
    answer = own.messages[-1]
    twins = [message for message in found.messages if is_twin(message, answer)]
    if twins and not is_handed_in(found.messages, twins[-1]):
        return True
    calls = () if twins else answer.calls
    if answer.text or calls:
        found.warnings += own.warnings
        found.append("assistant", answer.text, "/output/choices/0/message", calls=calls)
        if not twins and own.extras:
            found.extras[str(len(found.messages) - 1)] = next(iter(own.extras.values()))
    return False


def is_twin(message: Message, answer: Message) -> bool:
    return message.role == "assistant" and (message.text, message.calls) == (answer.text, answer.calls)


def is_handed_in(messages: Sequence[Message], caller: Message) -> bool:
    """Whether the text beside calls is what one of their results repeats, by itself or behind the model's own words:
    then it is the answer, and not a remark."""
    results = takewhile(lambda message: message.role == "tool", messages[caller.index + 1 :])
    answers = [message.text.strip() for message in results if message.text.strip()]
    return any(f"\n\n{caller.text.strip()}".endswith(f"\n\n{answer}") for answer in answers)
