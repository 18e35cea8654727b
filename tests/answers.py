"""The form of the labelling page as a browser reads and posts it, at little cost, so that the load leaves room."""

import json
import re
from dataclasses import dataclass
from urllib.parse import urlencode

OPENING = "This is what came of it"
"""Every reply to answer begins so; an answer that marks a passage can quote it without reading the reply."""
FORM = re.compile(
    rb'<form id="label-form"[^>]* action="(/label/[^"/]+/)submit/".*?name="csrfmiddlewaretoken" value="([^"]+)"'
    rb'.*?name="protocol" value="([^"]+)".*?name="number" value="([^"]+)".*?name="key" value="([^"]+)"',
    re.DOTALL,
)
SPANS = [{"start": 0, "end": len(OPENING), "type": "reference", "quote": OPENING}]
COMMENT = "What was it that came of what?"
STORED = {"label": "needs_information", "states_no_result": False, "spans": SPANS, "comment": COMMENT}
LABEL = {
    "draft_number": "1",
    "raw_ms": "41000",
    "active_ms": "38000",
    "hidden_ms": "0",
    "label": "needs_information",  # the label that costs most: it has to quote a passage
    "spans": json.dumps(SPANS),
    "comment": COMMENT,
}
READABLE = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
ENCODED_LABEL = urlencode(LABEL).encode()
ENCODED_READABLE = urlencode({**LABEL, "label": "readable", "spans": "[]", "comment": ""}).encode()


@dataclass(frozen=True, slots=True)
class Form:
    """What an answer takes from the page it was given on. `item` is the item's address."""

    item: str
    token: str
    protocol: str
    number: str
    key: str


def form_in(page):
    """The form in a page or piece, or None where all is done."""
    found = FORM.search(page)
    return Form(*(part.decode() for part in found.groups())) if found else None


def answer_to(form):
    """The fields of an answer."""
    return {**LABEL, "protocol": form.protocol, "number": form.number, "key": form.key}


def encoded_answer(form, label=ENCODED_LABEL):
    own = f"csrfmiddlewaretoken={form.token}&protocol={form.protocol}&number={form.number}&key={form.key}&"
    return own.encode() + label
