"""A lead's page of what the reader said of one item: its questions, where it found an answer, and the quotes at their
places. Leads flag there what it got wrong."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from annotate.blind import BlindItem
from annotate.errors import Refused
from annotate.models import Project
from annotate.rules.lanes import LanedText, Mark, laned
from annotate.views.items import looked_at
from annotate.views.label import own
from annotate.views.project import led_project, title_of
from scoring import flagging, item_queries
from scoring.item_queries import GivenFlag
from scoring.models import Flag, Verdict
from scoring.views import number_in

REPLY = "reply"
SCOPES = {
    "window": gettext_noop("in the words around it"),
    "reply": gettext_noop("elsewhere in the reply"),
    "context": gettext_noop("in what the requester has seen"),
    "none": gettext_noop("nowhere: a gap"),
}
REMOVED = {
    "file_or_path": gettext_noop("It asks about a file or a path."),
    "not_in_reply": gettext_noop("What it asks about does not stand in the reply."),
    "duplicate": gettext_noop("Another question asks the same."),
}
ORIGINS = {"model": gettext_noop("asked by the model"), "lexical": gettext_noop("an identifier, asked by rule")}
REASONS = {
    "fail_gap": gettext_noop("It has an information gap."),
    "fail_language": gettext_noop("It is in another language than the requester's."),
    "fail_answer": gettext_noop("It does not answer what was asked."),
}
FLAGS = {
    "invented_quote": gettext_noop("A quote stands in no text."),
    "answer_unverified": gettext_noop("The sentence that is to answer does not stand in the reply."),
    "obeys_the_text": gettext_noop("An answer was copied from the judged texts."),
    "steering_text": gettext_noop("The judged texts try to steer a judge."),
    "names_left_out": gettext_noop("There were more unknown identifiers than are asked about."),
}
"""What the reader says of itself; a flag that is not here is shown as it is."""


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """A question under its number, from 1, with what leads said of it."""

    place: int
    said: Mapping[str, Any]
    flags: tuple[GivenFlag, ...]

    @property
    def number(self) -> int:
        return self.place + 1

    @property
    def scope(self) -> str:
        return worded(SCOPES, self.said["scope"])

    @property
    def origin(self) -> str:
        return worded(ORIGINS, self.said["origin"])

    @property
    def why_removed(self) -> str:
        return worded(REMOVED, self.said["removed"])

    @property
    def open_flags(self) -> list[tuple[str, str]]:
        """What can still be flagged of it; a quote only where there is one."""
        given = {one.what for one in self.flags}
        those = [Flag.What.QUESTION, *([Flag.What.QUOTE] if self.said["quote"] else [])]
        return [(what.value, str(what.label)) for what in those if what not in given]


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A text of what the requester saw, with the quotes that stand in it; `numbers` are those of their questions."""

    who: str
    name: str
    laned: LanedText
    numbers: tuple[int, ...]


def worded(words: Mapping[str, str], name: str) -> str:
    return gettext(words[name]) if name in words else name


@require_safe
def show_reading(request, project, item_id):
    """The newest verdict of the reader on an item, or that of `run` and `sample`."""
    project = led_project(request, project)
    run, sample = (number_in(request.GET[name]) if request.GET.get(name) else None for name in ("run", "sample"))
    return render(request, "scoring/show_reading.html", reading_page(project, item_id, run, sample or 0))


def reading_page(project: Project, item_id: int, run: int | None, sample: int) -> dict[str, object]:
    item = looked_at(project, item_id)
    verdict = item_queries.reading_verdict(project, item_id, run=run, sample=sample)
    if verdict is None:
        raise Http404
    return {
        "project": project,
        "title": title_of(project),
        "item": item,
        "item_id": item_id,
        "verdict": verdict,
        "others": [one for one in item_queries.readings_of(project, item_id) if one != key_of(verdict)],
        **reading(item, verdict),
    }


def key_of(verdict: Verdict) -> tuple[int, int]:
    return verdict.run.number, verdict.sample


def reading(item: BlindItem, verdict: Verdict) -> dict[str, object]:
    """What the page shows of a verdict; an answer that nobody could read as it came."""
    values = verdict.finding.get("values") or {}
    flags = [worded(FLAGS, one) for one in values.get("flags") or ()]
    if verdict.is_unreadable or "verdict" not in values:
        return {"answer": verdict.finding.get("unreadable") or "", "own_flags": flags}
    given = item_queries.flags_of(verdict.pk)
    asked = [
        ShownQuestion(place, said, tuple(one for one in given if one.place == place))
        for place, said in enumerate(values["questions"])
    ]
    kept = [one for one in asked if not one.said["removed"]]
    return {
        "values": values,
        "own_flags": flags,
        "reasons": [gettext(words) for name, words in REASONS.items() if values["verdict"].get(name)],
        "kept": kept,
        "dropped": [one for one in asked if one.said["removed"]],
        "reply": laned(item.pieces, reply_marks(kept, values)),
        "seen": seen_texts(item, kept),
    }


def reply_marks(kept: Sequence[ShownQuestion], values: Mapping[str, Any]) -> list[Mark]:
    """What is asked about, the quotes that stand in the reply, and the sentence that answers."""
    marks = [
        Mark(one.said["start"], one.said["end"], one.said["type"], str(one.number))
        for one in kept
        if one.said["start"] is not None
    ]
    marks += quote_marks(kept, REPLY)
    start, end = values.get("answer_start"), values.get("answer_end")
    return marks if start is None or end is None else [*marks, Mark(start, end, "answer", gettext("answer"))]


def quote_marks(kept: Iterable[ShownQuestion], where: str | int) -> list[Mark]:
    return [
        Mark(one.said["quote_start"], one.said["quote_end"], "quote", str(one.number))
        for one in kept
        if one.said["quote_in"] == where and one.said["quote_start"] is not None
    ]


def seen_texts(item: BlindItem, kept: Sequence[ShownQuestion]) -> list[QuotedText]:
    """What the requester saw, in the order in which quotes count it: files, then what was said."""
    texts = [("", file.name, file.pieces) for file in item.files]
    texts += [(message.speaker, "", message.pieces) for message in item.messages]
    found = []
    for place, (who, name, pieces) in enumerate(texts):
        marks = quote_marks(kept, place)
        numbers = tuple(sorted({int(mark.who) for mark in marks}))
        found.append(QuotedText(who, name, laned(pieces, marks), numbers))
    return found


@require_POST
@own
def flag_question(request, project, item_id):
    """Flag a question or its quote, or with `do=take_back` take that back."""
    project = led_project(request, project)
    numbers = {name: number_in(request.POST.get(name, "")) for name in ("run", "sample", "place")}
    if item_id >= 2**63:
        raise Http404
    asked = {**numbers, "item": item_id, "what": request.POST.get("what", "")}
    try:
        if request.POST.get("do") == "take_back":
            flagging.take_back(person=request.user, project=project, **asked)
        else:
            note = request.POST.get("note", "")
            flagging.flag_question(person=request.user, project=project, note=note, **asked)
    except Refused as refusal:
        context = reading_page(project, item_id, numbers["run"], numbers["sample"])
        context["problem"] = refusal.problem.as_dict(gettext)
        return render(request, "scoring/show_reading.html", context, status=422)
    address = reverse("scoring:show_reading", args=[project.slug, item_id])
    place = f"?run={numbers['run']}&sample={numbers['sample']}#question-{numbers['place'] + 1}"
    return redirect(address + place)
