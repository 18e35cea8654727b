"""Every route of the resolver, asked by everybody in every way, and what is wrong with the answers.

Every person asks at every address of a route, own, other, ended and malformed, by every method that the route takes;
where the route serves the person, every query string and every body follows, each with and without htmx. The other
methods, Accept and whatever is left join in so that every two values of two axes meet (`pairs.py`).

In the full proof everything meets everything where a route serves somebody, and elsewhere all but the query strings,
which go round: with those too it would be days.
"""

import contextlib
import itertools
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import unquote, urlencode

from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.test.client import ClientHandler, RequestFactory
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve

from tests.guards.api_crawl import ABSENT, API_AUDIENCE, API_QUERIES, api_bodies_of, api_values_of
from tests.guards.canary import PASSWORD, Viewer
from tests.guards.net import Catch
from tests.guards.pairs import Pairs
from tests.guards.questions import FORM as OWN_FORM
from tests.guards.world import World, key_of

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
ACCEPTS = tuple({"HTTP_ACCEPT": accept} for accept in ("text/html", "application/json", "text/csv", "*/*"))
HTMX = ({}, {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "item"})
PAGE, PIECE = (ACCEPTS[0] | htmx for htmx in HTMX)
IS_WHOLE = os.environ.get("SIGHTLINE_PROVE") == "full"
QUERIES = (
    "",
    "format=json&fields=*&expand=trace&include=all&ordering=-trace&search=a&page=1&q=a&debug=1&before=9&phase=pilot",
    "format=csv",
    "format=api&debug=true",
    "fields=id,trace,arm,label",
    "expand=item.trace,annotator",
    "include=trace",
    "ordering=item__trace__metadata",
    "search=a&q=a",
    "page=999999999",
    "page=last",
    "before=0",
    "before=-1",
    "before=99999999999999999999",
    "phase=pilot",
    "phase=practice",
    "protocol=1",
    "rule=majority&protocol=1",
    "next=/",
    "next=//elsewhere.example/",
    "from=2&text=3",
    "from=2",
    "text=2&call=0&at=1",
    *API_QUERIES,
)
FORM = "application/x-www-form-urlencoded"
UNSAFE_SOURCES = ("unsafe-inline", "unsafe-eval")
BETRAYING_HEADERS = ("ETag", "Last-Modified", "Server-Timing", "X-Powered-By", "Age", "Server", "Content-Encoding")
BETRAYING_HEADERS += ("SourceMap", "X-SourceMap", "Access-Control-Allow-Origin", "Link")
ALWAYS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""What every answer says, whoever asks for whatever."""

AUDIENCE = {
    "annotate:home": "everybody signed in",
    "annotate:sign_in": "everybody",
    "annotate:sign_out": "everybody",
    "annotate:set_language": "everybody",
    "annotate:set_up": "who has the link",
    "annotate:new_password": "who has the link",
    "annotate:show_account": "everybody signed in",
    "annotate:change_preferences": "everybody signed in",
    "annotate:change_password": "everybody signed in",
    "annotate:sign_out_elsewhere": "everybody signed in",
    "annotate:close_account": "everybody signed in",
    "annotate:keep_alive": "everybody signed in",
    "annotate:label_item": "whose assignment it is",
    "annotate:correct_item": "whose assignment it is",
    "annotate:submit_annotation": "whose assignment it is",
    "annotate:save_draft": "whose assignment it is",
    "annotate:report_problem": "whose assignment it is",
    "annotate:next_item": "members",
    "annotate:own_annotations": "members",
    "annotate:guideline": "members",
    "annotate:new_project": "who may create projects",
    "annotate:show_project": "leads",
    "annotate:edit_project": "leads",
    "annotate:open_phase": "leads",
    "annotate:show_protocols": "leads",
    "annotate:new_protocol": "leads",
    "annotate:preview_guideline": "leads",
    "annotate:show_events": "leads",
    "annotate:give_back": "leads",
    **{f"annotate:{name}": "reviewers" for name in ("settling_queue", "settle_item")},
    **{f"annotate:{name}": "reviewers" for name in ("store_settlement", "send_item_back")},
    "scoring:settled_verdict": "who has settled it",
    "annotate:close_project": "leads",
    "annotate:join_project": "who has the link",
    "annotate:show_people": "leads",
    "annotate:make_invite": "leads",
    "annotate:revoke_invite": "leads",
    "annotate:retire_member": "leads",
    "annotate:bring_back_member": "leads",
    "annotate:pause_member": "leads",
    "annotate:resume_member": "leads",
    "annotate:set_languages": "leads",
    "annotate:show_tokens": "everybody signed in",
    "annotate:make_token": "everybody signed in",
    "annotate:revoke_token": "whose token it is",
    "annotate:list_imports": "leads",
    "annotate:upload_traces": "leads",
    "annotate:show_import": "leads",
    "annotate:try_import_again": "leads",
    "annotate:list_items": "leads",
    "annotate:preview_item": "leads",
    "annotate:list_practice": "leads",
    "annotate:answer_practice": "leads",
    "annotate:reopen_items": "leads",
    **{f"scoring:{name}": "leads" for name in ("show_agreement", "agreement_csv", "list_compared_items", "show_item")},
    **{f"scoring:{name}": "leads" for name in ("show_method_report", "method_json", "method_csv")},
    **{f"scoring:{name}": "leads" for name in ("show_reading", "flag_question")},
    **{f"scoring:{name}": "leads" for name in ("list_predictions", "predictions_json", "predictions_csv")},
    **{f"scoring:{name}": "leads" for name in ("list_prompts", "write_prompt", "show_prompt")},
    **{f"scoring:{name}": "leads" for name in ("start_trial", "show_trial")},
    **{f"scoring:{name}": "leads" for name in ("list_runs", "start_run", "show_run", "pause_run", "resume_run")},
    "scoring:plan_run": "leads",
    **{f"scoring:{name}": "leads" for name in ("show_publishing", "publish_gaps", "publish_texts")},
    **dict.fromkeys(("scoring:list_points", "scoring:choose_points"), "leads"),
    **{f"scoring:{name}": "leads" for name in ("show_experience", "import_outcomes", "workflows_file")},
    **{f"scoring:{name}": "leads" for name in ("cancel_run", "try_run_again")},
    **{f"scoring:{name}": "leads" for name in ("list_endpoints", "new_endpoint", "show_endpoint", "try_endpoint")},
    **{f"scoring:{name}": "leads" for name in ("archive_endpoint", "list_questions", "paste_answer")},
    **{f"scoring:{name}": "leads" for name in ("list_releases", "seal_release", "show_release", "release_file")},
    **dict.fromkeys(("scoring:seal_jury", "scoring:bring_predictions"), "leads"),
    "annotate:show_entries": "whose assignment it is",
    "annotate:preview_entries": "leads",
    "annotate:settling_entries": "reviewers",
    **dict.fromkeys(("annotate:post_in_thread", "annotate:report_gap"), "whose assignment it is"),
    **{f"annotate:{name}": "leads" for name in ("show_rounds", "open_round", "close_round", "list_gaps")},
    **dict.fromkeys(("annotate:set_pass_rule", "scoring:set_overlap_rule"), "leads"),
    **dict.fromkeys(("annotate:show_pairs", "annotate:draw_pairs"), "leads"),
    **dict.fromkeys(("annotate:show_subsets", "annotate:draw_subsets", "annotate:bring_known"), "leads"),
    **API_AUDIENCE,
}
"""Whom each route serves; for anybody else there is the one 404. A new route says it here."""


@dataclass(frozen=True)
class Route:
    name: str
    pattern: str
    arguments: tuple[str, ...]
    methods: tuple[str, ...] = ("GET", "POST")
    """How it is asked with every body and query, where it serves somebody."""

    @property
    def is_api(self) -> bool:
        return self.pattern.startswith("api/")

    def path(self, values: list[str]) -> str:
        """Its address with these values, in their order, in place of the arguments."""
        left = iter(values)
        return "/" + re.sub("<[^>]+>", lambda _: next(left), self.pattern)


def routes(resolver=None, prefix: str = "", space: str = "") -> Iterator[Route]:
    """Every address the site answers to, in whichever app it stands."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            inner = f"{space}{entry.namespace}:" if entry.namespace else space
            yield from routes(entry, prefix + str(entry.pattern), inner)
        elif isinstance(entry, URLPattern):
            pattern = prefix + str(entry.pattern)
            name, arguments = f"{space}{entry.name or entry.lookup_str}", tuple(entry.pattern.converters)
            yield Route(name, pattern, arguments, methods_of(entry) or Route.methods)


def methods_of(entry: URLPattern) -> tuple[str, ...]:
    """What an address of the API takes; a page does not say."""
    view = getattr(entry.callback, "cls", None)
    return tuple(method for method in ("GET", "POST", "PUT", "PATCH") if hasattr(view, method.lower()))


ITEMS_LOOKED_AT = (
    *(("ana", "practice"), ("ben", "practising"), ("ana", "first"), ("ana", "rewritten")),
    ("zoe", "practice"),
)


def values_of(world: World, argument: str) -> dict[str, str]:
    """What the crawl puts in the place of an argument, by what it is. KeyError for an argument it does not know."""
    one_each = {f"{row.state} of {name}": row for (name, item), row in world.assignments.items()}
    return {
        **api_values_of(world),
        "token_id": {
            **{f"token of {name}": str(row.pk) for name, row in world.tokens_made.items()},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "public_id": {
            **{what: row.public_id for what, row in one_each.items()},
            "rewritten of ana": world.public_id("ana", "rewritten"),
            **{f"practised of {name}": world.public_id(name, "practice") for name in ("ana", "zoe")},
            "sent back of ana": world.sent_back.public_id,
            **{f"informed of {name}": row.public_id for name, row in world.again.items()},
            **{f"told of {name}": row.public_id for name, row in world.told.items()},
            **{f"{what} whole of ana": row.public_id for what, row in world.whole.items()},
            **{f"{what} asked of ana": row.public_id for what, row in world.asked.items()},
            **{"absent": ABSENT, "long": "x" * 300, "other letters": "%C3%A9%F0%9F%99%82", "NUL": "a%00b"},
            **{"quotes": "'%20or%201=1", "number": "1"},
        },
        "disagreement_id": {
            **{what: row.public_id for what, row in world.disputes.items()},
            **{"absent": ABSENT, "other letters": "%C3%A9", "NUL": "a%00b"},
        },
        "project": {
            **{"ours": world.ours.slug, "other": world.other.slug, "ended": world.ended.slug},
            **{"absent": ABSENT, "long": "x" * 300},
            **{"other letters": "%C3%A9", "number": "1"},
        },
        "work_id": {
            **{what: str(row.pk) for what, row in world.work.items()},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "item_id": {
            **{f"{name} of {whose}": str(world.assignments[whose, name].item_id) for whose, name in ITEMS_LOOKED_AT},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "member_id": {
            **{name: str(world.members[name].pk) for name in ("ana", "gone", "lea", "zoe")},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "invite_id": {
            **{what: str(row.pk) for what, row in world.invites.items()},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "endpoint_id": {
            **{what: str(row.pk) for what, row in world.endpoints.items()},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "prompt": {"questions": "reader.questions", "absent": "reader", "long": "x" * 300, "NUL": "a%00b"},
        "language": {"English": "en", "absent": "fr", "other letters": "%C3%A9"},
        "call_id": {
            **{what: str(row.pk) for what, row in world.calls.items()},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "assignment_id": {
            **{what: str(one_each[what].pk) for what in ("problem of ana", "open of ana", "open of zoe")},
            **{"absent": "999999", "huge": "9" * 30},
        },
        "number": {"the first": "1", "absent": "999999", "huge": "9" * 30},
        "name": {
            **{name: name for name in ("release.json", "labels.csv", "release.zip")},
            **{"absent": ABSENT, "NUL": "a%00b"},
        },
        "secret": {
            **{"unspent": world.set_up_secret, "a password": world.password_secret, "a part": world.invite_secret},
            **{"absent": ABSENT, "long": "x" * 300, "NUL": "a%00b"},
        },
    }[argument]


def bodies_of(world: World, route: str) -> dict[str, dict[str, str]]:
    """What is posted to a route, by name: whatever its form can hold, and what breaks it. A route that takes posts and
    is not here is a problem of its own."""
    fresh = {"key": "a-fresh-key-0123456789", "protocol": "2", "number": "0", "draft_number": "5"}
    times = {"raw_ms": "5000", "active_ms": "4000", "hidden_ms": "0"}
    readable = {**fresh, **times, "label": "readable", "spans": "[]"}
    needy = {**readable, "label": "needs_information"}
    span = {"start": 0, "end": 4, "type": "definition", "quote": "nope"}
    new_project = {"title_en": "New", "title_zh": "New", "slug": "made-new", "kind": "reply", "languages": "en"}
    new_project |= {"seed": "1", "text_beside_calls": "private", "show": "light", "open_phase": "practice"}
    new_protocol = {"guideline_en": "Read it anew.", "guideline_zh": "", "change_note": "anew", "after": "2"}
    draft = {"number": 0, "draft_number": 9, "fields": {"label": "readable", "comment": "so far"}}
    question = {"schema_form": "choice", "judged": "last", "parts-0-id": "+1", "parts-0-type": "scale"}
    question |= {"parts-0-title-en": "How much?", "parts-0-lowest": "1", "parts-0-highest": "5"}
    return {
        "annotate:submit_annotation": {
            "an answer": readable,
            "an answer to a question of their own": OWN_FORM,
            "an answer that is none there": {**OWN_FORM, "one.tone": "furious", "scale.clarity": "x"},
            "a correction": {**readable, "number": "1", "reason": "because"},
            "a correction without a reason": {**readable, "number": "1"},
            "a correction of a correction": {**readable, "number": "2", "reason": "because"},
            "nothing": {},
            "no label": {**fresh, "label": ""},
            "no protocol": {**readable, "protocol": "99"},
            "a wrong quote": {**needy, "spans": json.dumps([span])},
            "a span beyond the end": {**needy, "spans": json.dumps([{**span, "end": 10**9}])},
            "spans that are no JSON": {**needy, "spans": "[{"},
            "spans that are no spans": {**needy, "spans": json.dumps({"a": [None]})},
            "numbers beyond the columns": {**readable, **dict.fromkeys(["draft_number", "raw_ms"], "9" * 15)},
            "numbers that are none": {**readable, "number": "-1", "draft_number": "x"},
            "a character that cannot be stored": {**readable, "comment": "a\0b"},
            "the key of an own answer": {**readable, "key": key_of(world.assignments["ana", "first"])},
            "the key of ben's answer": {**readable, "key": key_of(world.assignments["ben", "first"])},
        },
        "annotate:save_draft": {
            "a draft": {"draft": json.dumps(draft)},
            "a draft of a correction": {"draft": json.dumps({**draft, "number": 1})},
            "a late draft": {"draft": json.dumps({**draft, "draft_number": 0})},
            "nothing": {},
            "no JSON": {"draft": "{"},
            "no numbers": {"draft": "{}"},
            "numbers beyond the columns": {"draft": json.dumps({**draft, "draft_number": 2**31})},
            "a character that cannot be stored": {"draft": json.dumps({**draft, "fields": {"comment": "a\0b"}})},
        },
        "annotate:report_problem": {"words": {"problem": "It is cut off."}, "nothing": {}, "NUL": {"problem": "\0"}},
        "annotate:post_in_thread": {
            "words": {"key": "a-fresh-key-0123456789", "text": "It lacks the unit."},
            "nothing": {},
            "no words": {"key": "a-fresh-key-0123456789", "text": " "},
            "NUL": {"key": "a-fresh-key-0123456789", "text": "\0"},
            "the key of ben's answer": {"key": key_of(world.assignments["ben", "first"]), "text": "again"},
            "the key of an own post": {"key": world.posts["ana"].key, "text": "again"},
            "the key of ben's post": {"key": world.posts["ben"].key, "text": "again"},
        },
        "annotate:report_gap": {
            "words": {"key": "a-fresh-key-0123456789", "text": "What of two?", "protocol": "1"},
            "nothing": {},
            "NUL": {"key": "a-fresh-key-0123456789", "text": "\0", "protocol": "x"},
            "the key of another post": {"key": world.posts["ana"].key, "text": "again"},
        },
        "annotate:open_round": {"a choice": {"which": "all", "phase": "main"}, "wrong": {"which": "x"}, "nothing": {}},
        "annotate:close_round": {"withdraw": {"rest": "withdraw"}, "go on": {"rest": "go_on"}, "nothing": {}},
        "annotate:set_pass_rule": {
            "a rule": {"last": "10", "percent": "80"},
            "no numbers": {"last": "x", "percent": "-1"},
            "nothing": {},
        },
        "scoring:flag_question": {
            "a flag": {"run": "2", "sample": "0", "place": "0", "what": "question", "note": "why"},
            "taken back": {"run": "2", "sample": "0", "place": "0", "what": "quote", "do": "take_back"},
            "wrong values": {"run": "2", "sample": "0", "place": "99999", "what": "x", "note": "\0"},
            "nothing": {},
        },
        "scoring:set_overlap_rule": {
            "a rule": {"measure": "fail", "under": "0.8", "at_most": "5", "each": "item"},
            "a rule of a question": {"measure": "tone", "under": "0.8", "at_most": "5", "each": "item"},
            "wrong values": dict.fromkeys(["measure", "under", "at_most", "each"], "x"),
            "the end": {"do": "end"},
            "nothing": {},
        },
        "annotate:give_back": {"nothing": {}},
        "annotate:bring_known": {
            "labels": {"labels": '{"a": []}', "name": "elsewhere", "base": "1"},
            "no JSON": {"labels": "{", "base": "x"},
            "NUL": {"labels": "\0", "name": "\0"},
            "what came with the traces": {"do": "marks"},
            "nothing": {},
        },
        "annotate:draw_subsets": {
            "numbers": {"n_common": "1", "n_unique": "0", "people": "a1", "only_successful": "yes"},
            "wrong values": {"n_common": "x", "n_unique": "-1", "people": "\0"},
            "nothing": {},
        },
        "annotate:draw_pairs": {
            "numbers": {"seed": "1", "quota": "1", "n_points": "", "people": "a1"},
            "wrong values": {"seed": "x", "quota": "-1", "n_points": "9" * 30, "people": "\0"},
            "nothing": {},
        },
        **settling_bodies(readable),
        "annotate:close_project": {
            "knowingly": {"knowingly": "yes", "show_settled": "yes"},
            "unknowingly": {"show_settled": "yes"},
            "nothing": {},
        },
        "annotate:new_project": {
            "a project": new_project,
            "a name that is taken": {**new_project, "slug": world.other.slug},
            "a question of their own": {**new_project, "kind": "choice", "slug": "made-own", **question},
            "a question that is none": {**new_project, "kind": "choice", "schema_form": "choice", "parts-0-id": "x"},
            "a question drawn again": {**new_project, "kind": "choice", **question, "do": "add-scale"},
            "a name of a model": {**new_project, "title_en": "ChatGPT"},
            "wrong values": dict.fromkeys(new_project, "x"),
            "nothing": {},
        },
        "annotate:edit_project": {
            "settings": {**new_project, "open_lead": "on"},
            "a language in use": {**new_project, "languages": "zh"},
            "wrong values": dict.fromkeys(new_project, "x"),
            "nothing": {},
        },
        "annotate:open_phase": {"a phase": {"phase": "main"}, "one shown": {"phase": "practice"}, "nothing": {}},
        "annotate:new_protocol": {
            "a protocol": new_protocol,
            "begun before another": {**new_protocol, "after": "1"},
            "a name of a model": {**new_protocol, "guideline_en": "ChatGPT"},
            "NUL": {**new_protocol, "guideline_en": "\0"},
            "nothing": {},
        },
        "annotate:preview_guideline": {
            "a guideline": new_protocol,
            "no number": {**new_protocol, "after": "x"},
            "NUL": {**new_protocol, "guideline_en": "\0"},
            "nothing": {},
        },
        "annotate:upload_traces": {
            "no file": {"phase": "main", "format": "auto", "skip_bad": "on"},
            "wrong values": {"phase": "x", "format": "x"},
            "nothing": {},
        },
        "annotate:try_import_again": {"nothing": {}},
        "annotate:reopen_items": {"nothing": {}},
        "annotate:answer_practice": {
            "an answer": {**readable, "reason_en": "because", "reason_zh": "because"},
            "no reasons": readable,
            "a wrong quote": {**needy, "spans": json.dumps([span]), "reason_en": "because", "reason_zh": "because"},
            "nothing": {},
        },
        "annotate:join_project": {
            "somebody new": {"username": "rosa", "password": "seven yellow kettles"},
            "a name that is taken": {"username": world.usernames()["ben"], "password": "seven yellow kettles"},
            "a bad password": {"username": "rosa", "password": "1"},
            "another project": {"project": world.other.slug, "role": "lead"},
            "nothing": {},
        },
        "annotate:make_invite": {
            "a link": {"role": "annotator", "languages": "en", "note": "for Rosa", "days": "7"},
            "wrong values": {"role": "boss", "languages": "x", "note": "a\0b", "days": "99"},
            "two lines": {"role": "lead", "languages": "en", "note": "a\nb", "days": "7"},
            "nothing": {},
        },
        **{f"annotate:{name}": {"nothing": {}} for name in ("revoke_invite", "bring_back_member")},
        **{f"annotate:{name}": {"nothing": {}} for name in ("pause_member", "resume_member")},
        "annotate:retire_member": {"nothing": {}, "knowingly": {"knowingly": "yes"}},
        "annotate:set_languages": {"one": {"languages": "zh"}, "no language": {"languages": "x"}, "nothing": {}},
        "annotate:make_token": {
            "a token": {"project": world.ours.slug, "name": "a script"},
            "for a project of others": {"project": world.other.slug, "name": "a script"},
            "no name": {"project": world.ours.slug, "name": ""},
            "nothing": {},
        },
        "annotate:revoke_token": {"nothing": {}},
        "scoring:publish_gaps": {
            "a run": {"run": "3", "n": "5", "seed": "", "target": "nowhere"},
            "wrong values": {"run": "x", "n": "\0", "seed": "x", "target": "\0"},
            "nothing": {},
        },
        "scoring:publish_texts": {
            "a run": {"runs": "3", "target": "nowhere"},
            "wrong values": {"runs": "x", "target": "\0"},
            "nothing": {},
        },
        "scoring:start_run": {
            "a judge": {"judge": "lexical", "phases": "main"},
            "nobody": {"judge": "nobody", "phases": "main"},
            "no phase": {"judge": "lexical", "phases": "later"},
            "a judge that asks": {"judge": "reader", "endpoint": "small", "phases": "main", "cap_calls": "9"},
            "no cap yet": {"judge": "reader", "endpoint": "small", "phases": "main"},
            "wrong values": {"judge": "reader", "endpoint": "a\0b", "n_samples": "x", "cap_calls": "\0"},
            "nothing": {},
        },
        **{f"scoring:{name}_run": {"nothing": {}} for name in ("pause", "cancel")},
        "scoring:resume_run": {"nothing": {}, "a cap": {"cap_calls": "9"}, "wrong values": {"cap_calls": "x"}},
        **{f"scoring:{name}_endpoint": endpoint_bodies() for name in ("new", "show")},
        **{f"scoring:{name}_endpoint": {"nothing": {}} for name in ("try", "archive")},
        "scoring:write_prompt": {
            "a text": {"text": "{{mark}} {{files}} {{conversation}} {{reply}}", "examples": ""},
            "a text that is none": {"text": "{{reply}} {{replay}} \0", "examples": "x 999999 -1"},
            "nothing": {},
        },
        "scoring:choose_points": {
            "numbers": {"quota": "2", "n": "3", "seed": "5"},
            "wrong values": {"quota": "x", "n": "0", "seed": "9" * 30},
            "nothing": {},
        },
        "scoring:import_outcomes": {
            "outcomes": {
                "name": "replays",
                "outcomes": "domain,task,repeat,condition,success,tokens\na,t,1,none,true,9",
            },
            "no outcomes": {"name": "\0", "outcomes": "x\0"},
            "nothing": {},
        },
        "scoring:start_trial": {
            "two versions": {
                **{"new": "reader.questions en 2", "old": "reader.questions en 1", "endpoint": "small", "release": "1"},
                **{"n_items": "2", "cap_calls": "9"},
            },
            "wrong values": dict.fromkeys(["new", "old", "endpoint", "release", "n_items", "cap_calls"], "x y z"),
            "nothing": {},
        },
        "scoring:paste_answer": {
            "an answer": {"text": "It says ready.", "cut": "on"},
            "nothing": {},
            "NUL": {"text": "\0"},
        },
        "scoring:try_run_again": {"nothing": {}},
        "scoring:seal_release": {
            "a rule": {"rule": "majority", "protocol": "1"},
            "no rule": {"rule": "best"},
            "no protocol": {"rule": "majority", "protocol": "9" * 30},
            "nothing": {},
        },
        "scoring:seal_jury": {"nothing": {}},
        "scoring:bring_predictions": {
            "no file": {"system": "s", "setting": "detection", "variant": "", "release": ""},
            "wrong values": {"system": "\0", "setting": "x", "variant": "x" * 99, "release": "9" * 30},
            "nothing": {},
        },
        **api_bodies_of(world, key_of),
        "annotate:keep_alive": {"nothing": {}},
        "annotate:sign_out": {"nothing": {}},
        "annotate:set_language": {
            "a language": {"language": "zh-hans", "next": "/"},
            "another site": {"language": "en", "next": "//elsewhere.example/"},
            "no language": {"language": "tlh"},
        },
        "annotate:sign_in": {
            "the right password": {"username": world.usernames()["ana"], "password": PASSWORD},
            "a wrong password": {"username": world.usernames()["ana"], "password": "x"},
            "nobody": {"username": "nobody", "password": "x"},
            "nothing": {},
        },
        "annotate:new_password": {
            "a new password": dict.fromkeys(["new_password", "again"], "seven yellow kettles"),
            "two that differ": {"new_password": "seven yellow kettles", "again": "six yellow kettles"},
            "a bad password": dict.fromkeys(["new_password", "again"], "1"),
            "nothing": {},
        },
        "annotate:change_preferences": {
            "a choice": {"interface_language": "zh-hans", "time_zone": "Asia/Shanghai"},
            "no such zone": {"interface_language": "en", "time_zone": "Elsewhere/City"},
            "another site": {"interface_language": "en", "time_zone": "", "next": "//elsewhere.example/"},
            "nothing": {},
        },
        "annotate:change_password": {
            "the right password": {"password": PASSWORD, **dict.fromkeys(["new_password", "again"], "seven kettles")},
            "a wrong password": {"password": "x", **dict.fromkeys(["new_password", "again"], "seven kettles")},
            "nothing": {},
        },
        "annotate:sign_out_elsewhere": {"nothing": {}},
        "annotate:close_account": {
            "the right password": {"password": PASSWORD},
            "a wrong password": {"password": "x"},
            "nothing": {},
        },
        "annotate:set_up": {
            "a new lead": {"username": "lee", "password": "seven yellow kettles"},
            "a name that is taken": {"username": world.usernames()["ben"], "password": "seven yellow kettles"},
            "a bad password": {"username": "lee", "password": "1"},
            "nothing": {},
        },
    }.get(route, {})


def endpoint_bodies() -> dict[str, dict[str, str]]:
    """What leads post of a place where models are asked."""
    values = {"name": "made new", "provider": "openai", "address": "https://host.example/v1", "model": "small"}
    values |= {"max_output_tokens": "9", "limit_field": "max_tokens", "thinking_form": "thinking", "per_minute": "9"}
    values |= {"concurrency": "1", "deadline_seconds": "9", "most_bytes": "9000", "key_source": "stored"}
    return {
        "an endpoint": {**values, "key": "a-key-of-somebody"},
        "no key": values,
        "a key of the server": {**values, "key_source": "environment", "key_variable": "SIGHTLINE_SECRET_KEY"},
        "a private address": {**values, "key_source": "none", "address": "http://127.0.0.1:8000/"},
        "wrong values": dict.fromkeys(values, "x"),
        "NUL": {**values, "name": "a\0b", "key": "\0"},
        "nothing": {},
    }


def settling_bodies(readable) -> dict[str, dict[str, dict[str, str]]]:
    """What reviewers post."""
    decided = {"key": "a-fresh-key-0123456789", "base": "2", "seen": "x" * 32, "cause": "slip", "confidence": "high"}
    sent = {"key": "a-fresh-key-0123456789", "seen": "x" * 32, "names": "A", "reason": "Look again."}
    return {
        "annotate:store_settlement": {
            "an answer": {**decided, "answer": "A"},
            "a label of their own": {**readable, **decided, "answer": "written"},
            "a label that is none": {**readable, **decided, "answer": "written", "label": "x", "spans": "[{"},
            "unresolved": {**decided, "answer": "unresolved", "note": "why"},
            "what was settled meanwhile": {**decided, "base": "0", "answer": "A"},
            "wrong values": {**decided, "cause": "x", "confidence": "x", "answer": "x", "note": "x" * 3000},
            "a character that cannot be stored": {**decided, "answer": "unresolved", "note": "a\0b"},
            "a number that is none": {**decided, "base": "-1", "answer": "A"},
            "nothing": {},
        },
        "annotate:send_item_back": {
            "a reason": sent,
            "no reason": {**sent, "reason": ""},
            "NUL": {**sent, "reason": "a\0b"},
            "nothing": {},
        },
    }


# Asking

Deed = tuple[str, str, dict[str, str]]
"""A method, and the name and the values of what is sent by it."""
Row = tuple
"""One value of each axis: who, the address by what it is and as it is, a deed, Accept, htmx, a query string."""


def one_by_one(values: Sequence) -> list[tuple[int]]:
    return [(number,) for number in range(len(values))]


class Axes:
    """Everything that differs between two requests for a route, and which of it have met."""

    def __init__(self, people: list[str], places: list[tuple[str, str]], deeds: list[Deed]):
        self.values = (people, places, deeds, ACCEPTS, HTMX, QUERIES)
        self.pairs = Pairs(tuple(map(len, self.values)))

    def at_all_places(self, methods: Iterable[str]) -> Iterator[Row]:
        """Everybody at every address by every one of these methods."""
        people, places, deeds, *others = map(one_by_one, self.values)
        by_method = [self.numbers_of(method) for method in methods]
        free = others[:2] if IS_WHOLE else [[None], [None]]
        begun = itertools.product(people, places, deeds if IS_WHOLE else by_method, *free, [None])
        return map(self.row, map(self.pairs.fill, begun))

    def where_served(self, spots: Iterable[tuple[str, tuple[str, str], str]]) -> Iterator[Row]:
        """Reading with every query string, every body with and without htmx; in the full proof everything."""
        people, places, *_ = self.values
        for who, place, method in spots:
            spot = (people.index(who),), (places.index(place),)
            done, (accept, htmx, query) = self.numbers_of(method), map(one_by_one, self.values[3:])
            each = [(number,) for number in done]
            ways = (each, accept, htmx, query) if IS_WHOLE else (each, [None], htmx, [None])
            ways = ([done], [None], [None], query) if method == "GET" and not IS_WHOLE else ways
            yield from (self.row(self.pairs.fill((*spot, *way))) for way in itertools.product(*ways))

    def rest(self) -> Iterator[Row]:
        return map(self.row, self.pairs.rest())

    def row(self, numbers: tuple[int, ...]) -> Row:
        return tuple(values[number] for values, number in zip(self.values, numbers, strict=True))

    def numbers_of(self, method: str) -> tuple[int, ...]:
        return tuple(number for number, deed in enumerate(self.values[2]) if deed[0] == method)


@dataclass(frozen=True)
class Ask:
    route: Route
    who: str
    what: str
    path: str
    method: str = "GET"
    body_name: str = ""
    body: dict[str, str] = field(default_factory=dict, hash=False)
    headers: dict[str, str] = field(default_factory=dict, hash=False)
    query: str = ""
    by_token: bool = True
    """Of the API: who asks it by their browser's cookie alone is nobody to it."""

    def sent(self) -> str:
        """All that the asking side says, and so knows."""
        body = json.dumps(self.body) if self.route.is_api else " ".join(self.body.values())
        return f"{self.path}?{self.query} {body}".lower()

    def __str__(self):
        words = [self.who, self.method, self.route.name, f"({self.what})" if self.what else "", self.body_name]
        return " ".join([*filter(None, words), *self.headers.values(), self.query]).strip()


class Browser(RequestFactory):
    """Sends requests through all middleware, without what the test client keeps for tests."""

    def __init__(self):
        super().__init__()
        self.handler = ClientHandler(enforce_csrf_checks=False)

    def request(self, **environ):
        return self.handler(self._base_environ(**environ))


@dataclass(frozen=True)
class Alarm:
    ask: Ask
    kind: str
    words: str

    def __str__(self):
        return f"{self.ask}: {self.kind}: {self.words}"


class Stopped(Exception):
    """The alarm that was waited for."""


class Crawl:
    """`stop` ends the crawl at an alarm by raising Stopped."""

    def __init__(self, world: World, stop=lambda alarm: False):
        self.world = world
        self.stop = stop
        self.browser = Browser()
        self.alarms: list[Alarm] = []
        self.n_asked = 0
        self.reached: dict[str, set[str]] = {}

    def ask(self, ask: Ask) -> HttpResponse:
        """One request, looked at while its changes are there, which are then undone."""
        with transaction.atomic():
            response = self.send(ask)
            self.look(ask, response)
            transaction.set_rollback(True)
        self.n_asked += 1
        if reaches(ask):
            self.reached.setdefault(ask.route.name, set()).add(ask.who)
        return response

    def send(self, ask: Ask) -> HttpResponse:
        environ = {**ask.headers, **self.shown_by(ask), "HTTP_ACCEPT_LANGUAGE": "en"}
        encode, kind = (json.dumps, "application/json") if ask.route.is_api else (urlencode, FORM)
        data = encode(ask.body) if ask.method not in ("GET", "HEAD", "OPTIONS") else ""
        address = f"{ask.path}?{ask.query}" if ask.query else ask.path
        # 404 and 405 are what is asked for here; each would be a line in the log.
        logging.disable(logging.CRITICAL)
        try:
            return self.browser.generic(ask.method, address, data, kind, **environ)
        finally:
            logging.disable(logging.NOTSET)

    def shown_by(self, ask: Ask) -> dict[str, str]:
        """By what the server is to know who asks."""
        if ask.route.is_api and ask.by_token:
            secret = self.world.secrets.get(ask.who)
            return {"HTTP_AUTHORIZATION": f"Token {secret}"} if secret else {}
        return {"HTTP_COOKIE": self.world.cookies[ask.who]}

    def look(self, ask: Ask, response: HttpResponse) -> None:
        for catch in self.caught(ask, response):
            self.alarm(ask, "token", f"{catch.token} {catch.how}")
        if response.status_code >= 500:
            self.alarm(ask, "broken", f"status {response.status_code}")
        for words in wrong_headers(response):
            self.alarm(ask, "header", words)
        is_written = ask.method in ("POST", "PUT", "PATCH") and not is_refusal(response)
        if is_written and not bodies_of(self.world, ask.route.name):
            self.alarm(ask, "no body", "takes posts; say in bodies_of what its form holds and what breaks it")

    def caught(self, ask: Ask, response: HttpResponse) -> list[Catch]:
        """Tokens in status line, headers, cookies and body that this person may not see. What one has sent oneself may
        come back."""
        person = self.world.people[ask.who]
        viewer = Viewer(person.pk if person else None, ask.sent())
        head = [f"{response.status_code} {response.reason_phrase}", response.cookies.output()]
        head += [f"{name}: {value}" for name, value in response.headers.items()]
        found = {
            catch: None
            for part in ["\n".join(head).encode(), body_of(response)]
            for catch in self.world.net.catch(part)
        }
        sent = ask.sent() if found else ""
        return [catch for catch in found if catch.token.text not in sent and not catch.token.may_reach(viewer)]

    def alarm(self, ask: Ask, kind: str, words: str) -> None:
        self.alarms.append(Alarm(ask, kind, words))
        if self.stop(self.alarms[-1]):
            raise Stopped

    # What is asked

    def crawl(self, route: Route) -> None:
        self.everybody_everywhere(route, list(self.world.cookies))
        self.one_404(route)
        if route.is_api:
            self.nobody_by_cookie(route)

    def everybody_everywhere(self, route: Route, people: list[str]) -> None:
        """These people at every address by every method the route takes; where it serves them every query string and
        every body; and what it then takes for every two values of two axes to meet."""
        axes = Axes(people, self.places(route), self.deeds(route))
        served: dict[tuple, None] = {}
        for row in axes.at_all_places(route.methods):
            who, place, (method, *_), *_ = row
            is_refused = is_refusal(self.ask_row(route, row))
            if not is_refused and method in route.methods and self.is_theirs(who, place[0], route):
                served[who, place, method] = None
        for row in itertools.chain(axes.where_served(served), axes.rest()):
            self.ask_row(route, row)

    def ask_row(self, route: Route, row: Row) -> HttpResponse:
        who, (what, path), (method, body_name, body), accept, htmx, query = row
        return self.ask(Ask(route, who, what, path, method, body_name, body, accept | htmx, query))

    def deeds(self, route: Route) -> list[Deed]:
        """Each method with all it can bring: where the route takes it, every body."""
        bodies = list(self.bodies(route).items())
        return [
            (method, *body)
            for method in METHODS
            for body in ([("", {})] if method in WITHOUT_BODY else bodies if method in route.methods else bodies[:1])
        ]

    def places(self, route: Route) -> list[tuple[str, str]]:
        """Every address of a route: what it stands for, and the path."""
        known = [values_of(self.world, argument).items() for argument in route.arguments]
        return [
            ("; ".join(what for what, _ in chosen), route.path([value for _, value in chosen]))
            for chosen in itertools.product(*known)
        ]

    def bodies(self, route: Route) -> dict[str, dict[str, str]]:
        return bodies_of(self.world, route.name) or {"nothing": {}}

    # The one 404

    def one_404(self, route: Route) -> None:
        """Whatever is not one's own is told apart by nothing: the same bytes for foreign, locked, ended and missing."""
        first, *others = self.bodies(route).items()
        for who in self.world.cookies:
            places = [place for place in self.places(route) if not self.is_theirs(who, place[0], route)]
            if who == "anonymous" or not places:  # anonymous is sent to sign in from everywhere
                continue
            if who == "gone" and route.is_api:  # whose token opens nothing, like none
                continue
            if who == "ana":
                bodies, headers = [first, *others], [PAGE, PIECE]
            else:
                bodies, headers = [first], [PIECE if who in ("gone", "rita", "zoe") else PAGE]
            headers = headers[:1] if route.is_api else headers
            writing = [method for method in route.methods if method != "GET"]
            asked = [(route.methods[0], *first), *[(method, *body) for method in writing for body in bodies]]
            for (method, name, body), kind in itertools.product(asked, headers):
                self.compare([Ask(route, who, *place, method, name, body, kind) for place in places])

    def nobody_by_cookie(self, route: Route) -> None:
        """Signed in or not, by cookie it is the one 401 everywhere."""
        body = next(iter(self.bodies(route).items()))
        asks = [
            Ask(route, who, *place, method, *body, by_token=False)
            for who, place in itertools.product(("anonymous", "ana", "ben", "lea"), self.places(route)[:6])
            for method in route.methods
        ]
        answers = {ask: fingerprint(self.ask(ask)) for ask in asks if reaches(ask)}
        first = next(iter(answers.values()))
        for ask, answer in answers.items():
            if answer[0] != 401 or answer[1:] != first[1:]:
                self.alarm(ask, "by cookie", f"answers {answer[0]}")

    def is_theirs(self, who: str, what: str, route: Route) -> bool:
        """Whether the route serves this person at the place."""
        audience = AUDIENCE.get(route.name, "")
        if route.is_api and what.startswith("ended"):  # nobody has a token for it
            return False
        if audience == "whose assignment it is":
            # One's own report, sent again because its answer was lost, is answered like the first.
            reported = [f"problem of {who}"] if route.name in REPORTING else []
            states = ("open", "submitted", "rewritten", "practised", "sent back")
            own = [*(f"{state} of {who}" for state in states), *reported]
            own += [f"informed of {who}", *([] if route.is_api else [f"told of {who}"])]
            shown = itertools.product(("waiting", "stored"), ("whole", "asked"))
            own += [] if route.is_api else [f"{what} {how} of {who}" for what, how in shown]
            own += [f"withdrawn of {who}"] if who == "zoe" else []  # of the pool, whose place is gone
            return who != "gone" and what in own
        if audience == "who has the link":
            return what == LINKS[route.name]
        if audience == "who may create projects":
            return bool(self.world.people[who]) and self.world.people[who].may_create_projects
        if audience == "whose token it is":
            return what == f"token of {who}"
        if audience in ("nobody", "every lead"):
            return audience == "every lead" and who in ("lea", "zack")
        if audience in ("reviewers", "who has settled it"):
            return is_for_reviewer(who, what.split("; "), audience)
        if audience not in ("members", "leads"):
            return True
        return who in (LEADS if audience == "leads" else MEMBERS).get(what.split(";")[0], ())

    def compare(self, asks: list[Ask]) -> None:
        """The same answer to all; the 404, unless the route does not take the method or refused a bad body unread."""
        answers = {ask: fingerprint(self.ask(ask)) for ask in asks if reaches(ask)}
        (first_ask, first), *others = answers.items()
        if first[0] == 404:
            others += [(ask, fingerprint(self.ask(ask))) for ask in asks if ask not in answers]
        elif first[0] != 405 and first_ask.body_name == next(iter(self.bodies(first_ask.route))):
            self.alarm(first_ask, "one 404", f"answers {first[0]} to somebody it is not for")
        for ask, answer in others:
            if answer != first:
                self.alarm(ask, "one 404", f"answers {answer[0]}, and {first[0]} or other bytes for {first_ask.what}")


def reaches(ask: Ask) -> bool:
    """Whether the path is one of the route's; a malformed argument may make it one of nobody's."""
    return view_at(ask.path) == ask.route.name


@cache
def view_at(path: str) -> str:
    with contextlib.suppress(Resolver404):
        return resolve(unquote(path)).view_name
    return ""


def is_refusal(response: HttpResponse) -> bool:
    return response.status_code in (401, 403, 404, 405) or "/sign-in/" in response.headers.get("Location", "")


REPORTING = ("annotate:report_problem", "annotate:api:problem")
LINKS = {
    "annotate:set_up": "unspent",
    "annotate:new_password": "a password",
    "annotate:join_project": "a part",
}
LEADS = {"ours": ("lea",), "other": ("zack",), "ended": ("lea",)}
REVIEWERS = {"ours": ("rita", "lea"), "other": ("zack",), "ended": ("lea",)}
SETTLED = {"ours": "rita", "other": "zack"}


def is_for_reviewer(who: str, places: list[str], audience: str) -> bool:
    """Of a queue its reviewers and leads; of an item in it only by the queue it is in, and of what a judge says of it
    only who has settled it."""
    project, *items = places
    if who not in REVIEWERS.get(project, ()) or not all(item.endswith(f" in {project}") for item in items):
        return False
    is_own = all(item.startswith("settled by oneself") for item in items)
    return audience == "reviewers" or (is_own and SETTLED[project] == who)


MEMBERS = {"ours": ("ana", "ben", "rita", "lea"), "other": ("zoe", "zack"), "ended": ("ana", "ben", "lea")}


def fingerprint(response: HttpResponse) -> tuple[int, str, str, bytes]:
    headers = sorted((name, value) for name, value in response.headers.items() if name != "Date")
    return response.status_code, repr(headers), response.cookies.output(), body_of(response)


def body_of(response: HttpResponse) -> bytes:
    return b"".join(response) if response.streaming else response.content


def wrong_headers(response: HttpResponse) -> Iterator[str]:
    """No page is kept anywhere, says when or of what it was made, is framed, tells others where one was, is packed or
    runs a script that is not a file of ours; and no script reads a cookie but the one that it has to send."""
    for name, value in ALWAYS.items():
        if response.headers.get(name) != value:
            yield f"{name}: {response.headers.get(name)}"
    policy = response.headers.get("Content-Security-Policy", "")
    if "default-src 'none'" not in policy or any(word in policy for word in UNSAFE_SOURCES):
        yield f"Content-Security-Policy: {policy or 'none'}"
    yield from (f"{name}: {response.headers[name]}" for name in BETRAYING_HEADERS if name in response.headers)
    for name, cookie in response.cookies.items():
        if not cookie.value:  # taken back
            continue
        if cookie["samesite"] != "Lax" or bool(cookie["httponly"]) == (name == settings.CSRF_COOKIE_NAME):
            yield f"cookie {name}: {cookie.OutputString([])}"
