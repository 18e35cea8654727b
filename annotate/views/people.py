"""The people of a project, for its leads: who works on it and how far they are, what becomes of them, and links."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from annotate import inviting, lead_queries, people
from annotate.errors import NotYours, Refused
from annotate.models import Invite, Membership
from annotate.people_forms import LANGUAGE_NAMES, InviteForm, language_choices
from annotate.traces.base import Problem
from annotate.views.project import led_project, pool_of, title_of


@dataclass(frozen=True)
class Row:
    """A line of the table of people. `ticked` are the languages in its form, `problem` what was refused in it."""

    member: Membership
    languages: str
    n_given: int
    ticked: list[str]
    problem: dict[str, Any] | None
    is_open: bool

    @property
    def is_partial(self):
        return self.member.left_at is not None and self.member.n_submitted < self.n_given


@dataclass(frozen=True)
class Link:
    """A line of the tables of links: "open", or "used", "revoked" or "expired" since `ended_at`."""

    invite: Invite
    languages: str
    state: str
    ended_at: datetime | None


@require_safe
def show_people(request, project):
    """The page; the piece with the table of people for htmx. `member` is whose changes are on offer."""
    project = led_project(request, project)
    context = people_piece(project, chosen=request.GET.get("member", ""))
    if request.htmx:
        return render(request, "annotate/_people.html", context)
    return render(request, "annotate/show_people.html", {**page(project), **context, **invites_piece(project)})


def page(project):
    return {"project": project, "title": title_of(project), "pool": pool_of(project)}


def people_piece(project, *, chosen: str = "", problem: Problem | None = None, ticked=None):
    """The table of people, with what can be done about one of them, `chosen`; `problem` says why something was refused,
    and `ticked` what was posted with it."""
    rows = [
        Row(
            member=member,
            languages=in_words(member.languages),
            n_given=n_given,
            ticked=ticked if ticked is not None and str(member.pk) == chosen else member.languages,
            problem=problem.as_dict(gettext) if problem and str(member.pk) == chosen else None,
            is_open=str(member.pk) == chosen,
        )
        for member, n_given in lead_queries.people_and_given(project)
    ]
    return {
        "project": project,
        "rows": rows,
        "nobody_labels": not any(row.member.role == "annotator" and row.member.left_at is None for row in rows),
        "languages": language_choices(project),
    }


def invites_piece(project, *, form=None, new_link=None):
    """The form of a new link, the one just made, and those there are."""
    now = timezone.now()
    links = [
        Link(invite, in_words(invite.languages), *state_of(invite, now)) for invite in lead_queries.invites_of(project)
    ]
    return {
        "project": project,
        "form": form or InviteForm(project=project),
        "new_link": new_link,
        "open_links": [link for link in links if link.state == "open"],
        "closed_links": [link for link in links if link.state != "open"],
    }


def in_words(languages) -> str:
    return gettext(", ").join(str(LANGUAGE_NAMES.get(language, language)) for language in languages)


def state_of(invite: Invite, now: datetime) -> tuple[str, datetime | None]:
    if invite.spent_at:
        return "used", invite.spent_at
    if invite.revoked_at:
        return "revoked", invite.revoked_at
    return ("open", None) if invite.expires_at > now else ("expired", invite.expires_at)


@require_POST
def make_invite(request, project):
    """The link is in this very answer and nowhere else, so no redirect can follow: only its hash is kept."""
    project = led_project(request, project)
    form = InviteForm(request.POST, project=project)
    new_link = link_of(request, project, form) if form.is_valid() else None
    context = invites_piece(project, form=None if new_link else form, new_link=new_link)
    status = 200 if new_link else 422
    if request.htmx:
        return render(request, "annotate/_invites.html", context, status=status)
    context = {**page(project), **people_piece(project), **context}
    return render(request, "annotate/show_people.html", context, status=status)


def link_of(request, project, form):
    """The link that a form describes and its address; None where the service refuses it, which the form says then."""
    try:
        invite, secret = inviting.make_invite(project=project, by=request.user, now=timezone.now(), **form.cleaned_data)
    except Refused as refusal:
        form.refuse(refusal.problem)
        return None
    return {"address": request.build_absolute_uri(reverse("annotate:join_project", args=[secret])), "invite": invite}


@require_POST
def revoke_invite(request, project, invite_id):
    project = led_project(request, project)
    try:
        inviting.revoke_invite(project=project, invite_id=invite_id, by=request.user, now=timezone.now())
    except NotYours:
        raise Http404 from None
    if request.htmx:
        return render(request, "annotate/_invites.html", invites_piece(project))
    return redirect("annotate:show_people", project=project.slug)


@require_POST
def retire_member(request, project, member_id):
    """Who ends their own part cannot see the page any more."""
    knowingly = request.POST.get("knowingly") == "yes"
    return change_member(request, project, member_id, people.retire_member, knowingly=knowingly)


@require_POST
def bring_back_member(request, project, member_id):
    return change_member(request, project, member_id, people.bring_back_member)


@require_POST
def pause_member(request, project, member_id):
    return change_member(request, project, member_id, people.pause_member)


@require_POST
def resume_member(request, project, member_id):
    return change_member(request, project, member_id, people.resume_member)


@require_POST
def set_languages(request, project, member_id):
    languages = request.POST.getlist("languages")
    return change_member(request, project, member_id, people.set_languages, ticked=languages, languages=languages)


def change_member(request, project, member_id, service, *, ticked=None, **values):
    """Have a service change a member, and show how they are now or why they are as they were."""
    project = led_project(request, project)
    try:
        service(project=project, member_id=member_id, by=request.user, now=timezone.now(), **values)
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        context = people_piece(project, chosen=str(member_id), problem=refusal.problem, ticked=ticked)
        if request.htmx:
            return render(request, "annotate/_people.html", context, status=422)
        context |= {**page(project), **invites_piece(project)}
        return render(request, "annotate/show_people.html", context, status=422)
    if not lead_queries.led_projects(request.user).filter(pk=project.pk).exists():
        return HttpResponseClientRedirect("/") if request.htmx else redirect("annotate:home")
    if request.htmx:
        return render(request, "annotate/_people.html", people_piece(project, chosen=str(member_id)))
    return redirect("annotate:show_people", project=project.slug)
