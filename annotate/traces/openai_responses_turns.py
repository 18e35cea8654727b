"""Pieces in the order of a file become messages: texts and calls of one turn of the model in one message, and the
results right behind it.

The API writes a text, each call and each result by itself, so that one turn lies over several items, with results
between its calls. A call and its result hold everything of the model between them together; what a requester says
meanwhile comes after. Where the agent already answered that, the late result stays where it is, as the result of no
call: the agent did not have it when it answered.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotate.traces.base import Message, Problem, Role
from annotate.traces.openai_responses_items import Piece
from annotate.traces.pairing import orphan_results, pair, unanswered_calls
from annotate.traces.warned import orphan_result, unanswered_call

FINAL, COMMENTARY = "final_answer", "commentary"
"""Phases of texts: after the final one the model says nothing more in its turn; the other is a note on the way, which
beside a final answer is no answer."""


@dataclass
class Turns:
    """The messages of a trace, their private rest by index, and reasoning that belongs to no message."""

    messages: Sequence[Message] = ()
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    reasoning: list[str] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


@dataclass
class Group:
    """Texts and calls of one turn with the results, up to the piece number `end`."""

    pieces: list[Piece] = field(default_factory=list)
    results: list[Piece] = field(default_factory=list)
    later: list[Piece] = field(default_factory=list)
    """What others said while the calls ran."""
    reasoning: list[str] = field(default_factory=list)
    end: int = -1
    has_calls: bool = False
    is_final: bool = False

    def add(self, piece: Piece, end: int) -> None:
        self.pieces.append(piece)
        self.end = max(self.end, end)
        self.has_calls = self.has_calls or piece.call is not None
        self.is_final = self.is_final or piece.extras.get("phase") == FINAL


def turns_of(pieces: Sequence[Piece]) -> Turns:
    """All messages, paired, with a warning of everything that finds no partner."""
    ends = ends_of_calls(pieces)
    building = Building()
    for number, piece in enumerate(pieces):
        building.add(number, piece, ends.get(number, -1))
    building.close()
    messages = [
        replace(message, name=message.name or tool_name(message, building.messages))
        for message in pair(building.messages)
    ]
    return Turns(messages, building.extras, building.waiting, list(lonely(messages, building.heads)))


def lonely(messages: Sequence[Message], heads: Sequence[Piece]) -> Iterator[Problem]:
    for result in orphan_results(messages):
        yield orphan_result(heads[result.index].place, heads[result.index].pointer, result)
    for call in unanswered_calls(messages):
        name = messages[call.index].calls[call.call].name
        yield unanswered_call(heads[call.index].place, heads[call.index].pointer, name)


def tool_name(message: Message, messages: Sequence[Message]) -> str:
    if message.answers is None:
        return ""
    return messages[message.answers.index].calls[message.answers.call].name[:255]


def ends_of_calls(pieces: Sequence[Piece]) -> Mapping[int, int]:
    """Number of the last piece that belongs to a call: its result, wherever that may stand in the turn."""
    asked = [number for number, piece in enumerate(pieces) if is_said(piece, "user")]
    answered = [number for number, piece in enumerate(pieces) if is_said(piece, "assistant")]
    waiting: dict[str, list[int]] = defaultdict(list)
    ends = {}
    for number, piece in enumerate(pieces):
        if piece.call:
            waiting[piece.call.id].append(number)
        elif piece.kind == "result" and piece.id and waiting[piece.id]:
            call = waiting[piece.id].pop()
            question = bisect_right(asked, call)
            answer = bisect_left(answered, asked[question]) if question < len(asked) else len(answered)
            if answer == len(answered) or answered[answer] > number:
                ends[call] = number
    return ends


def is_said(piece: Piece, role: str) -> bool:
    return piece.kind == "message" and piece.role == role and bool(piece.text.strip())


class Building:
    """The messages so far and the group that is still open."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.heads: list[Piece] = []
        self.extras: dict[str, dict[str, Any]] = {}
        self.group = Group()
        self.waiting: list[str] = []
        """Reasoning that stands before what it led to."""

    def add(self, number: int, piece: Piece, end: int) -> None:
        if piece.kind == "reasoning":
            self.waiting += [piece.text] if piece.text else []
        elif number > self.group.end and not self.follows(piece):
            self.close()
            self.begin(piece, end)
        elif piece.kind == "result":
            self.group.results.append(piece)
        elif piece.call or (piece.kind == "message" and piece.role == "assistant"):
            self.take(piece, end)
        elif piece.kind == "message":
            self.group.later.append(piece)

    def follows(self, piece: Piece) -> bool:
        """Whether it goes on with the group though no call waits: a call after texts or calls, a result after calls."""
        group = self.group
        if not group.pieces or group.later:
            return False
        if piece.kind == "result":
            return group.has_calls
        if group.pieces[0].side != piece.side or group.is_final:
            return False
        if piece.call:
            return not group.results
        return piece.kind == "message" and piece.role == "assistant" and not group.has_calls

    def begin(self, piece: Piece, end: int) -> None:
        if piece.call or (piece.kind == "message" and piece.role == "assistant"):
            self.take(piece, end)
        elif piece.kind in ("message", "result"):
            self.write(piece, piece.text)

    def take(self, piece: Piece, end: int) -> None:
        """A text or a call of the agent, with the reasoning before it."""
        self.group.add(piece, end)
        self.group.reasoning += self.waiting
        self.waiting = []

    def close(self) -> None:
        """Texts without a call stay messages of their own; with one they stand beside it."""
        group, self.group = self.group, Group()
        if group.has_calls:
            calls = [piece for piece in group.pieces if piece.call]
            texts = [piece.text for piece in group.pieces if piece.text]
            self.write(calls[0], "\n".join(texts), group.pieces, group.reasoning)
        else:
            for number, piece in enumerate(group.pieces):
                if group.is_final and piece.extras.get("phase") == COMMENTARY:
                    piece = replace(piece, role="other", name=COMMENTARY)
                self.write(piece, piece.text, [piece], group.reasoning if number == 0 else [])
        for piece in [*group.results, *group.later]:
            self.write(piece, piece.text)

    def write(
        self, head: Piece, text: str, pieces: Sequence[Piece] | None = None, reasoning: Sequence[str] = ()
    ) -> None:
        index = len(self.messages)
        pieces = [head] if pieces is None else pieces
        calls = [piece.call for piece in pieces if piece.call]
        is_result = head.kind == "result"
        speaker: Role = "user" if head.side == "user" else "assistant"
        role = "tool" if is_result else speaker if calls else head.role
        self.messages.append(
            Message(
                index=index,
                role=role,
                text=text,
                side=head.side,
                calls=tuple(calls),
                answers_id=head.id if is_result else "",
                name=head.name[:255] if is_result or role == "other" else "",
            )
        )
        self.heads.append(head)
        items = [piece.extras for piece in pieces if piece.extras]
        private = {
            **({"items": items} if items else {}),
            **({"reasoning": "\n\n".join(reasoning)} if reasoning else {}),
        }
        if private:
            self.extras[str(index)] = private
