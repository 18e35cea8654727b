"""Conversations of Anthropic's Messages API: requests {model, system, messages}, responses {type: "message"}, pairs
{request, response}, entries of message batches ({custom_id, params}, {custom_id, result}), and lists of messages, as a
file, an array or lines; or one file that is itself the list of messages.

Requester, reply, calls, results, private parts: see `anthropic_blocks`; `system` is the system message. A record with
messages is a trace. Requests of one agent repeat the conversation: of those that go on from each other the last counts,
the earlier ones are counted as `repeated_record`; entries of a batch, which have names, never go on from each other.
A record that stands twice counts once. Single messages make up one conversation; a response that follows a response
with another id begins the next. Responses with the same id are one API message over several lines: their blocks are put
together, the last usage counts. An id is the batch's, the record's, the last response's, the file's name where it is
one trace, else a digest. Model: of responses, else of the request. Usage: added up over the responses. What the request
says besides is kept as `request`. Nothing says success, but a batch's result keeps its type.
Streams: of requests the last HELD conversations are held, of single messages one conversation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from annotate.traces.anthropic_blocks import Draft, is_block, read_message, scrubbed
from annotate.traces.anthropic_records import LOOKED_AT, Record, has_role, is_request, is_response, record_of
from annotate.traces.base import Likeness, Message, Place, Problem, Trace, gettext_noop
from annotate.traces.documents import Document
from annotate.traces.identity import FirstPlaces, conversation_id, digest
from annotate.traces.snapshots import Key, key_of
from annotate.traces.values import as_id, as_list, as_object
from annotate.traces.warned import empty_run, likeness, passed_over, unknown_record

FORMAT = "anthropic_messages"
TITLE = "Anthropic messages"
HELD = 8
"""So many conversations may go on side by side in a log of requests."""
@dataclass(slots=True)
class Episode:
    """A conversation as far as a log of requests has told it."""

    record: Record
    draft: Draft
    keys: list[Key]
    responses: list[Mapping[str, Any]]


def sniff(value: Any) -> Likeness:
    """A response, or messages one of which has a block that only this API has, or which a request of this API holds."""
    record = record_of(value, Place())
    if record is None:
        return Likeness(missing=("messages",))
    if record.kind == "response":
        return likeness({"type": True, "content": True, "stop_reason": is_response(value)})
    messages = [record.value] if record.kind == "message" else record.messages[:LOOKED_AT]
    is_own = record.kind == "batch" or is_response(record.response) or is_request(record.request)
    is_own = is_own or any(is_block(block) for one in messages for block in as_list(as_object(one).get("content")))
    marks = {
        "messages": True,
        "messages[].role": record.kind == "batch" or all(has_role(message) for message in messages),
        "messages[].content[].type": is_own,
    }
    return likeness(marks)


def read(documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
    with closing(FirstPlaces()) as ids, closing(FirstPlaces()) as records:
        yield from Log(ids, records).read(documents)


class Log:
    """What is open while a file is read."""

    def __init__(self, ids: FirstPlaces, records: FirstPlaces) -> None:
        self.ids = ids
        self.records = records
        self.thread: list[Record] = []
        self.episodes: list[Episode] = []

    def read(self, documents: Iterable[Document | Problem]) -> Iterator[Trace | Problem]:
        for document in documents:
            if isinstance(document, Problem):
                yield document
                continue
            record = record_of(document.value, document.place)
            if record is None:
                yield unknown_record(
                    document.place, gettext_noop("A request, a response or a message of Anthropic's Messages API.")
                )
            elif record.kind != "message" and self.records.earlier(digest(record.value), record.place) is not None:
                yield passed_over(record.place, "repeated_record", "", record.kind)
            elif record.kind in ("message", "response"):
                yield from self.follow(record)
            else:
                yield from self.close_thread()
                yield from self.take(record)
        yield from self.close_thread()
        for episode in self.episodes:
            yield from self.trace(episode)

    def follow(self, record: Record) -> Iterator[Trace | Problem]:
        """A message goes on; a response after another one begins a conversation, unless the file is one of messages."""
        last = self.thread[-1] if self.thread else None
        begins = last is not None and record.kind == last.kind == "response" and self.thread[0].kind == "response"
        if begins and last is not None and not is_same_answer(last.value, record.value):
            yield from self.close_thread()
        self.thread.append(record)

    def close_thread(self) -> Iterator[Trace | Problem]:
        thread, self.thread = self.thread, []
        if not thread:
            return
        if len(thread) == 1:
            record = thread[0]
            values, pointer, place = [record.value], None, record.place
        else:
            values, pointer = [record.value for record in thread], ""
            place = Place(thread[0].place.file)
        whole = Record(thread[0].kind, place, None, values, pointer or "")
        yield from self.trace(opened(whole, pointer))

    def take(self, record: Record) -> Iterator[Trace | Problem]:
        """A request that goes on from an earlier one takes its place."""
        episode = opened(record, record.pointer)
        earlier = next((one for one in reversed(self.episodes) if goes_on(one, episode)), None)
        if earlier is not None:
            self.episodes.remove(earlier)
            carry(earlier, episode)
            yield passed_over(earlier.record.place, "repeated_record", "", "request")
        self.episodes.append(episode)
        if len(self.episodes) > HELD:
            yield from self.trace(self.episodes.pop(0))

    def trace(self, episode: Episode) -> Iterator[Trace | Problem]:
        record, draft = episode.record, episode.draft
        messages = draft.paired()
        yield from draft.warnings
        if not messages:
            yield empty_run(record.place, record.pointer)
        yield Trace(
            source_id=self.source_id(episode, messages),
            format=FORMAT,
            messages=messages,
            files=tuple(draft.files),
            metadata=metadata_of(episode),
            place=record.place,
        )

    def source_id(self, episode: Episode, messages: Sequence[Message]) -> str:
        record, place = episode.record, episode.record.place
        is_whole_file = place.line is None and not place.prefix
        given = [record.rest.get("custom_id"), record.rest.get("id"), record.request.get("id")]
        is_one_by_one = record.kind != "message"
        given += [response.get("id") for response in reversed(episode.responses) if is_one_by_one]
        own = next((id_ for id_ in given if isinstance(id_, str) and id_.strip() and len(id_) <= 200), "")
        own = own or (PurePath(place.file).stem[:200] if is_whole_file else "") or conversation_id(messages)
        return own if self.ids.earlier(own, place) is None else f"{own} {place}"


def opened(record: Record, pointer: str | None) -> Episode:
    """The conversation of one record. Without a pointer the record is the one message itself."""
    draft = Draft(record.place)
    if (system := record.request.get("system")) is not None:
        read_message({"role": "system", "content": system}, draft, record.pointer.removesuffix("/messages") + "/system")
    entries = [(value, "" if pointer is None else f"{pointer}/{at}") for at, value in enumerate(record.messages)]
    if record.response is not None:
        entries.append((record.response, record.response_pointer))
    values = one_by_id(entries, draft)
    for value, at in values:
        read_message(value, draft, at)
    answers = [as_object(value) for value, _ in values if as_object(value).get("role") == "assistant"]
    responses = [answer for answer in answers if answer.keys() & {"id", "model", "usage"}]
    return Episode(record, draft, keys_of(draft.messages), responses)


def one_by_id(entries: Sequence[tuple[Any, str]], draft: Draft) -> list[tuple[Any, str]]:
    """Answers with the same id put together where the first stands; the last says how it ended and what it used."""
    kept: list[tuple[Any, str]] = []
    places: dict[str, int] = {}
    for value, at in entries:
        there = as_object(value)
        id_ = as_id(there.get("id")) if there.get("role") == "assistant" else ""
        if not id_ or id_ not in places or not isinstance(there.get("content"), list):
            if id_:
                places[id_] = len(kept)
            kept.append((value, at))
            continue
        first, first_at = kept[places[id_]]
        if first == value:
            draft.warnings.append(passed_over(draft.place, "repeated_record", at, "message"))
            continue
        kept[places[id_]] = ({**first, **there, "content": together(first.get("content"), there["content"])}, first_at)
    return kept


def together(earlier: Any, later: list[Any]) -> list[Any]:
    """A line has its own blocks, or all blocks so far."""
    before = list(earlier) if isinstance(earlier, list) else [earlier] if isinstance(earlier, str) else []
    return list(later) if later[: len(before)] == before else [*before, *later]


def is_same_answer(one: Any, other: Any) -> bool:
    id_ = as_id(as_object(one).get("id"))
    return bool(id_) and id_ == as_id(as_object(other).get("id"))


def keys_of(messages: Sequence[Message]) -> list[Key]:
    """System messages change from request to request."""
    return [key_of(message) for message in messages if message.role != "system"]


def goes_on(earlier: Episode, later: Episode) -> bool:
    """Whether the later one repeats all of the earlier. The same request answered twice is two samples."""
    n = len(earlier.keys)
    is_more = len(later.keys) > n or earlier.record.response is None
    is_log = "batch" not in (earlier.record.kind, later.record.kind)
    return is_log and is_more and n > 0 and later.keys[:n] == earlier.keys


def carry(earlier: Episode, later: Episode) -> None:
    """What only the earlier response said of a message: its thinking, its end, its usage."""
    places = [index for index, message in enumerate(later.draft.messages) if message.role != "system"]
    before = [index for index, message in enumerate(earlier.draft.messages) if message.role != "system"]
    for old, new in zip(before, places, strict=False):
        known = earlier.draft.extras.get(str(old), {})
        if known:
            later.draft.extras[str(new)] = {**known, **later.draft.extras.get(str(new), {})}
    later.responses[:0] = earlier.responses


def metadata_of(episode: Episode) -> dict[str, Any]:
    """Everything else the record says, private."""
    record, draft = episode.record, episode.draft
    said = [*episode.responses, *([record.request] if not episode.responses else [])]
    models = list(dict.fromkeys(one["model"] for one in said if isinstance(one.get("model"), str)))
    usage: dict[str, Any] = {}
    for response in episode.responses:
        add_up(usage, as_object(response.get("usage")))
    request = {key: scrubbed(member) for key, member in record.request.items() if key != "system"}
    return {
        **{key: scrubbed(member) for key, member in record.rest.items()},
        **({"model": models[0] if len(models) == 1 else models} if models else {}),
        **({"usage": usage} if usage else {}),
        **({"request": request} if request else {}),
        **({"messages": draft.extras} if draft.extras else {}),
    }


def add_up(total: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Numbers by their names, also those in objects."""
    for name, member in more.items():
        if isinstance(member, dict):
            inner = total.setdefault(name, {})
            if isinstance(inner, dict):
                add_up(inner, member)
        elif isinstance(member, int | float) and not isinstance(member, bool):
            before = total.get(name, 0)
            total[name] = (before if isinstance(before, int | float) else 0) + member
