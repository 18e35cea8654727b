"""What a link to a project opens: for whoever holds it, signed in or not."""

from django.contrib.auth import login
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_http_methods

from annotate import inviting
from annotate.errors import Refused
from annotate.forms import SetUpForm
from annotate.middleware import open_to_all
from annotate.models import Role
from annotate.rules.neutral_titles import titles_for_annotators
from annotate.views.errors import link_dead


@open_to_all
@require_http_methods(["GET", "HEAD", "POST"])
def join_project(request, secret):
    """Reading the page spends nothing; posting it spends the link. Of the project it tells the title and the part."""
    invite = inviting.find_invite(secret, timezone.now())
    if invite is None:
        return link_dead()
    if request.user.is_authenticated:
        return join_signed_in(request, secret, invite)
    return join_as_somebody_new(request, secret, invite)


def join_signed_in(request, secret, invite):
    problem = inviting.why_not(request.user, invite.project)
    if request.method != "POST":
        return show(request, invite, problem=problem)
    try:
        member = inviting.join_project(secret=secret, person=request.user, now=timezone.now())
    except Refused as refusal:
        return show(request, invite, problem=refusal.problem, status=409)
    return link_dead() if member is None else redirect("annotate:home")


def join_as_somebody_new(request, secret, invite):
    form = SetUpForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            member = inviting.join_with_new_account(secret=secret, now=timezone.now(), **form.cleaned_data)
        except Refused as refusal:  # somebody else took the name meanwhile, or the project changed
            if refusal.problem.field != "username":
                return show(request, invite, form=form, problem=refusal.problem, status=409)
            form.add_error("username", gettext(refusal.problem.expected))
        else:
            if member is None:
                return link_dead()
            login(request, member.person)
            return redirect("annotate:home")
    return show(request, invite, form=form, status=422 if form.errors else 200)


def show(request, invite, *, form=None, problem=None, status=200):
    context = {
        "title": title_for(invite),
        "role": invite.role,
        "form": form,
        "problem": problem.as_dict(gettext) if problem else None,
    }
    return render(request, "annotate/join_project.html", context, status=status)


def title_for(invite):
    """What the project is called for who joins it."""
    project = invite.project
    titles = (project.title_en, project.title_zh)
    if invite.role == Role.ANNOTATOR:
        titles = titles_for_annotators(project.assigning, titles)
    return titles[1] if get_language() == "zh-hans" else titles[0]
