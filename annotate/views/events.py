"""The log of a project: everything that was done to it, newest first."""

import json

from django.http import Http404
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from annotate import lead_queries
from annotate.traces.base import gettext_noop
from annotate.views.project import led_project, title_of

N_EVENTS = 100
ACTIONS = {
    "project_created": gettext_noop("The project was made"),
    "project_changed": gettext_noop("Settings were changed"),
    "phase_opened": gettext_noop("The phase up to which people may label was changed"),
    "protocol_opened": gettext_noop("A new protocol was opened"),
    "items_reopened": gettext_noop("Items were re-opened for a new protocol"),
    "known_answer_given": gettext_noop("An item was given its known answer"),
    "known_answers_brought": gettext_noop("Known answers were brought in"),
    "pass_rule_set": gettext_noop("The pass rule of known answers was set"),
    "round_closed": gettext_noop("A round was closed"),
    "round_opened": gettext_noop("An informed round was opened"),
    "overlap_rule_set": gettext_noop("The rule for more people was set"),
    "subsets_drawn": gettext_noop("It was drawn who reads what"),
    "pairs_drawn": gettext_noop("It was drawn who reads which version"),
    "pairs_taken_over": gettext_noop("Somebody took over what another had not finished"),
    "overlap_added": gettext_noop("Items were opened to more people"),
    "upload_received": gettext_noop("A file was uploaded"),
    "traces_imported": gettext_noop("Traces were brought in"),
    "items_published": gettext_noop("Items were published from another project"),
    "import_tried_again": gettext_noop("An import was begun again"),
    "problem_given_back": gettext_noop("A reported item was given back"),
    "invite_made": gettext_noop("An invitation was made"),
    "invite_revoked": gettext_noop("An invitation was revoked"),
    "member_added": gettext_noop("Somebody was given a part"),
    "member_joined": gettext_noop("Somebody joined by an invitation"),
    "member_languages_set": gettext_noop("The languages somebody reads were set"),
    "member_paused": gettext_noop("Somebody was paused"),
    "member_paused_by_rule": gettext_noop("Somebody was paused by the pass rule"),
    "member_resumed": gettext_noop("Somebody goes on after a pause"),
    "member_retired": gettext_noop("Somebody's part was ended"),
    "member_left": gettext_noop("Somebody closed their account and left"),
    "member_brought_back": gettext_noop("Somebody who had left has their part again"),
    "token_made": gettext_noop("A token for scripts was made"),
    "token_revoked": gettext_noop("A token for scripts was revoked"),
    "endpoint_made": gettext_noop("A place to ask a model was set up"),
    "endpoint_changed": gettext_noop("A place to ask a model was changed"),
    "endpoint_archived": gettext_noop("A place to ask a model was archived"),
    "endpoint_tried": gettext_noop("A place to ask a model was tried"),
    "answer_pasted": gettext_noop("An answer of a model was pasted"),
    "run_started": gettext_noop("A run of a judge was started"),
    "run_paused": gettext_noop("A run of a judge was paused"),
    "run_held": gettext_noop("A run of a judge was held, as something was wrong for all of it"),
    "run_resumed": gettext_noop("A run of a judge was resumed"),
    "run_cancelled": gettext_noop("A run of a judge was called off"),
    "run_tried_again": gettext_noop("What a run had given up was tried again"),
    "prompt_written": gettext_noop("A version of a prompt was written"),
    "points_chosen": gettext_noop("Replies to be written anew were chosen"),
    "outcomes_imported": gettext_noop("Outcomes of experience replays were brought in"),
    "trial_started": gettext_noop("A trial of two versions of a prompt was started"),
    "question_flagged": gettext_noop("A question of the reader, or its quote, was flagged"),
    "flag_taken_back": gettext_noop("A flag on a question of the reader was taken back"),
    "item_settled": gettext_noop("An item was settled"),
    "item_sent_back": gettext_noop("An item was sent back"),
    "verdict_uncovered": gettext_noop("A reviewer looked at the verdict of a judge after settling"),
    "settled_seen": gettext_noop("An annotator saw what was settled"),
    "project_closed": gettext_noop("The project was closed"),
    "release_sealed": gettext_noop("A release was sealed"),
    "release_imported": gettext_noop("A release was brought in"),
}
"""What happened, in words; an action that is not here is shown as it is."""


@require_safe
def show_events(request, project):
    """A page of the log, of all actions or of one."""
    project = led_project(request, project)
    action, before = request.GET.get("action", ""), request.GET.get("before", "")
    if action not in ("", *ACTIONS) or not is_place(before):
        raise Http404
    events = list(lead_queries.events_of(project, action=action, before=int(before) if before else None)[:N_EVENTS])
    context = {
        "project": project,
        "title": title_of(project),
        "events": [event_row(event) for event in events],
        "actions": sorted(((name, gettext(words)) for name, words in ACTIONS.items()), key=lambda one: one[1]),
        "action": action,
        "more": events[-1].pk if len(events) == N_EVENTS else None,
    }
    return render(request, "annotate/show_events.html", context)


def is_place(word: str) -> bool:
    """Whether this is an id of the log, or none at all."""
    return not word or (word.isascii() and word.isdecimal() and len(word) < 19)


def event_row(event) -> dict[str, object]:
    """A line of the log; its details by name, as the databases keep them in orders of their own."""
    words = ACTIONS.get(event.action)
    detail = event.detail if isinstance(event.detail, dict) else {"": event.detail}
    return {
        "at": event.created_at,
        "person": event.person.username if event.person else "",
        "words": gettext(words) if words else event.action,
        "detail": [(name, one_line(value)) for name, value in sorted(detail.items())],
    }


def one_line(value: object) -> str:
    """A value of a detail; what is no text as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
