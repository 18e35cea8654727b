"""The messages of one run of SWE-agent, out of its `history` and what only its `trajectory` says."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.base import Call, Message, Place
from annotate.traces.chat_messages import Conversation, read_message
from annotate.traces.pairing import pair
from annotate.traces.swe_agent_task import task_parts
from annotate.traces.values import as_id, as_json, as_list, as_object
from annotate.traces.warned import passed_over, unpaired

SHELL = "bash"
TWINS = frozenset({"action", "observation", "response", "thought", "query", "messages", "tool_calls", "tool_call_ids"})
"""Members of a step that the history has too."""
SNAPSHOTS = ("query", "messages")
"""All messages up to a step, as the model was given them."""
READ = frozenset({"role", "content", "thought", "action", "tool_calls", "tool_call_ids", "is_demo", "thinking_blocks"})


@dataclass
class History(Conversation):
    """A conversation while it is put together. `pointers` lead to where each message stands."""

    pointers: list[str] = field(default_factory=list)
    other_steps: dict[str, Any] = field(default_factory=dict)
    """Steps that the history has not, by their number."""
    added: list[Message] = field(default_factory=list)
    open_calls: tuple[Call, ...] = ()
    """Calls that nothing has come back for yet."""
    last_calls: tuple[Call, ...] = ()
    has_task: bool = False

    def add(self, message: Message, pointer: str, extras: Mapping[str, Any] | None = None) -> None:
        index = len(self.added)
        self.added.append(replace(message, index=index))
        self.pointers.append(pointer)
        if extras:
            self.extras[str(index)] = {**self.extras.get(str(index), {}), **extras}

    def finished(self) -> History:
        self.messages = pair(self.added)
        self.warnings += unpaired(self.messages, self.place, self.pointers)
        return self


def history_of(run: Mapping[str, Any], place: Place, pointer: str) -> History:
    """All messages of the history, each joined with its step, and the steps that come after its end."""
    found = History(place)
    entries, steps = as_list(run.get("history")), as_list(run.get("trajectory"))
    own, matched = own_agent(entries), matching(entries, steps)
    step: int | None = None
    for number, entry in enumerate(entries):
        if not is_result(entry):
            add_result_of_step(found, steps, step, pointer)
            step = None
        add_entry(found, entry, f"{pointer}/history/{number}", own, run)
        if number in matched:
            step = matched[number]
            keep_step(found, as_object(steps[step]))
        elif step is not None:
            keep_observation(found, as_object(steps[step]))
    add_result_of_step(found, steps, step, pointer)
    is_cut = bool(matched) or not any(is_said_by_agent(entry) for entry in entries)
    end = max(matched.values(), default=-1) + 1 if is_cut else len(steps)
    count_steps(found, steps[:end], set(matched.values()), pointer)
    for number in range(end, len(steps)):
        add_step(found, steps, number, pointer, run)
    return found.finished()


def own_agent(entries: Iterable[Any]) -> Any:
    """The agent whose run it is: the one the history begins with. Others work for it."""
    return next((entry["agent"] for entry in entries if isinstance(entry, dict) and entry.get("agent")), None)


def matching(entries: Sequence[Any], steps: Sequence[Any]) -> dict[int, int]:
    """Number of an entry -> number of the step that says the same: the next one with its text, else with its action."""
    by_text: dict[str, list[int]] = {}
    by_action: dict[str, list[int]] = {}
    for number, step in enumerate(map(as_object, steps)):
        by_text.setdefault(as_json(step.get("response")), []).append(number)
        by_action.setdefault(as_json(step.get("action")), []).append(number)
    matched, after = {}, 0
    for number, entry in enumerate(entries):
        if not is_said_by_agent(entry):
            continue
        ways = [by_text.get(as_json(entry.get("content")), [])]
        if entry.get("action"):
            ways.append(by_action.get(as_json(entry["action"]), []))
        following = [way[place] for way in ways if (place := bisect_left(way, after)) < len(way)]
        if following:
            matched[number] = min(following)
            after = matched[number] + 1
    return matched


def is_said_by_agent(entry: Any) -> bool:
    there = as_object(entry)
    return there.get("role") == "assistant" and not there.get("is_demo")


def is_result(entry: Any) -> bool:
    there = as_object(entry)
    return there.get("role") in ("user", "tool") and not there.get("is_demo")


def add_entry(found: History, entry: Any, pointer: str, own: Any, run: Mapping[str, Any]) -> None:
    there = as_object(entry)
    if there.get("is_demo"):
        add_demonstration(found, there, pointer)
        return
    index = len(found.added)
    message = read_message(as_chat(there) if there else entry, index, found, pointer)
    not_understood = found.extras.pop(str(index), {}).get("content")
    extras = extras_of(there, message, own) | ({"content": not_understood} if not_understood is not None else {})
    if message.role == "user":
        add_said_to_agent(found, message, pointer, extras, run)
        return
    if message.role == "assistant":
        message = replace(message, calls=message.calls or tuple(shell_call(there.get("action"))))
        found.open_calls = found.last_calls = message.calls
        message = as_spoken(message)
    elif message.role == "tool":
        name = next((call.name for call in found.last_calls if call.id == message.answers_id), message.name)
        message, found.open_calls = replace(message, name=name), ()
    if is_said_by_agent(there) and there.get("agent") not in (None, own):
        message = replace(message, role="other", name=as_id(there["agent"])[:255])
    found.add(message, pointer, extras)


def as_spoken(message: Message) -> Message:
    """A text without a call is one that could not be read as a call: nobody but the environment hears it."""
    return message if message.calls else replace(message, role="other", name="agent")


def as_chat(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as OpenAI's chat API would have it; one result may name several calls, of which it answers the first."""
    chat = {name: entry[name] for name in ("role", "content", "tool_calls") if name in entry}
    ids = as_list(entry.get("tool_call_ids"))
    if ids:
        chat["tool_call_id"] = ids[0]
    return chat


def extras_of(entry: Mapping[str, Any], message: Message, own: Any) -> dict[str, Any]:
    extras = {name: member for name, member in entry.items() if name not in READ and member is not None}
    if extras.get("agent") == own:
        extras.pop("agent", None)
    if as_id(entry.get("thought")).strip() not in message.text:
        extras["thought"] = entry["thought"]
    if entry.get("thinking_blocks"):
        extras["reasoning"] = entry["thinking_blocks"]
    if entry.get("action") and message.calls:
        extras["action"] = entry["action"]
    if len(as_list(entry.get("tool_call_ids"))) > 1:
        extras["tool_call_ids"] = entry["tool_call_ids"]
    return extras


def add_demonstration(found: History, entry: Mapping[str, Any], pointer: str) -> None:
    """Another run, shown to the agent as an example: what was called in it was not called here."""
    chat = {"role": "user", "content": entry.get("content")}
    text = read_message(chat, len(found.added), found, pointer).text
    found.extras.pop(str(len(found.added)), None)
    extras = {name: member for name, member in entry.items() if name not in ("content", "thought")}
    found.add(Message(index=0, role="other", text=text, name="demonstration"), pointer, extras)


def add_said_to_agent(
    found: History, message: Message, pointer: str, extras: Mapping[str, Any], run: Mapping[str, Any]
) -> None:
    """A message of the role user: first the task, then what the environment says."""
    if found.open_calls:
        name = found.open_calls[0].name
        found.add(replace(message, role="tool", side="agent", name=name), pointer, extras)
        found.open_calls = ()
    elif found.has_task:
        found.add(replace(message, role="other", side="agent", name="environment"), pointer, extras)
    else:
        found.has_task = True
        add_task(found, message, pointer, extras, task_parts(message.text, *told_task(run)))


def add_task(
    found: History, message: Message, pointer: str, extras: Mapping[str, Any], parts: tuple[str, str, str]
) -> None:
    before, task, after = parts
    if before:
        found.add(Message(index=0, role="other", text=before, name="template"), pointer)
    found.add(replace(message, text=task), pointer, extras)
    if after:
        found.add(Message(index=0, role="other", text=after, name="template"), pointer)


def told_task(run: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The problem statement and the template, as the settings of the run have them."""
    settings = as_object(run.get("replay_config"))
    statement = as_object(settings.get("problem_statement")).get("text")
    template = as_object(as_object(settings.get("agent")).get("templates")).get("instance_template")
    return [statement] if isinstance(statement, str) else [], [template] if isinstance(template, str) else []


def shell_call(action: Any) -> Iterator[Call]:
    if isinstance(action, str) and action.strip():
        yield Call(id="", name=SHELL, arguments=action)


def add_result_of_step(found: History, steps: Sequence[Any], number: int | None, pointer: str) -> None:
    """The output that only the step has: that of the last call, which no model was shown any more."""
    observation = as_object(steps[number]).get("observation") if number is not None else None
    if found.open_calls and isinstance(observation, str):
        call = found.open_calls[0]
        result = Message(index=0, role="tool", text=observation, answers_id=call.id, name=call.name)
        found.add(result, f"{pointer}/trajectory/{number}/observation")
    found.open_calls = ()


def keep_step(found: History, step: Mapping[str, Any]) -> None:
    extras = {name: member for name, member in step.items() if name not in TWINS and member not in (None, "")}
    if extras:
        index = str(len(found.added) - 1)
        found.extras[index] = {**found.extras.get(index, {}), "step": extras}


def keep_observation(found: History, step: Any) -> None:
    """The raw output, where what the agent was shown does not hold it."""
    observation = as_object(step).get("observation")
    if found.added[-1].role == "tool" and as_id(observation) not in found.added[-1].text:
        index = str(len(found.added) - 1)
        found.extras[index] = {**found.extras.get(index, {}), "observation": observation}


def count_steps(found: History, steps: Sequence[Any], matched: set[int], pointer: str) -> None:
    for number, step in enumerate(steps):
        at = f"{pointer}/trajectory/{number}"
        if number in matched:
            found.warnings.append(passed_over(found.place, "repeated_record", at, "trajectory[]"))
        else:
            found.other_steps[str(number)] = without_snapshots(step)
            found.warnings.append(passed_over(found.place, "other_step", at, "trajectory[]"))
        count_snapshots(found, step, at)


def count_snapshots(found: History, step: Any, at: str) -> None:
    for name in SNAPSHOTS:
        if as_list(as_object(step).get(name)):
            found.warnings.append(passed_over(found.place, "repeated_record", f"{at}/{name}", f"trajectory[].{name}"))


def without_snapshots(step: Any) -> Any:
    if not isinstance(step, dict):
        return step
    return {name: member for name, member in step.items() if name not in SNAPSHOTS}


def messages_of_steps(run: Mapping[str, Any], place: Place, pointer: str) -> History:
    """A run without history: the prompts as the first step was given them, then the steps."""
    found = History(place)
    steps = as_list(run.get("trajectory"))
    first = as_object(steps[0]) if steps else {}
    for name in SNAPSHOTS:
        for number, entry in enumerate(as_list(first.get(name))):
            add_entry(found, entry, f"{pointer}/trajectory/0/{name}/{number}", as_object(entry).get("agent"), run)
        if found.added:
            break
    for number, step in enumerate(steps):
        add_step(found, steps, number, pointer, run)
        count_snapshots(found, {} if number == 0 else step, f"{pointer}/trajectory/{number}")
    return found.finished()


def add_step(found: History, steps: Sequence[Any], number: int, pointer: str, run: Mapping[str, Any]) -> None:
    """What was said in a step, and what came back. A text without a call is answered by the environment."""
    step, at = steps[number], f"{pointer}/trajectory/{number}"
    there = as_object(step)
    found.open_calls = ()
    if not there:
        add_entry(found, step, at, None, run)
        return
    entry = {name: there[name] for name in ("tool_calls", "action", "thought") if name in there}
    said = there.get("response", there.get("thought"))
    add_entry(found, {"role": "assistant", "content": said, **entry}, at, None, run)
    keep_step(found, there)
    if not found.open_calls and as_id(there.get("observation")):
        text = as_id(there["observation"])
        found.add(Message(index=0, role="other", text=text, name="environment"), f"{at}/observation")
    add_result_of_step(found, steps, number, pointer)
