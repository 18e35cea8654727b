"""One's own tokens for the API: made, listed, revoked."""

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import blind, queries, tokens
from annotate.errors import NotYours, Refused
from annotate.forms import TokenForm


@require_safe
def show_tokens(request):
    return render(request, "annotate/show_tokens.html", tokens_piece(request))


def tokens_piece(request, *, form=None, new_token=None):
    """The form of a new token, the one just made with its secret, and those there are."""
    return {"form": form or form_of(request), "new_token": new_token, "tokens": tokens.own_tokens(request.user)}


def form_of(request, posted=None):
    place = 1 if get_language() == "zh-hans" else 0
    parts = [(one.slug, f"{one.titles[place]} ({one.slug})") for one in blind.own_projects(request.user)]
    return TokenForm(posted, parts=parts)


@require_POST
def make_token(request):
    """The secret is in this very answer and nowhere else, so no redirect can follow: only its hash is kept."""
    form, new_token = form_of(request, request.POST), None
    if form.is_valid():
        new_token = made(request, form)
        form = form if form.errors else None
    context = tokens_piece(request, form=form, new_token=new_token)
    template = "annotate/_tokens.html" if request.htmx else "annotate/show_tokens.html"
    return render(request, template, context, status=422 if form else 200)


def made(request, form):
    """The token that the form asks for, None where its name is refused; that is then said in the form."""
    member = queries.memberships_of(request.user).filter(project__slug=form.cleaned_data["project"]).get()
    try:
        token, secret = tokens.make_token(
            person=request.user, project=member.project, name=form.cleaned_data["name"]
        )
    except Refused as refusal:
        said = refusal.problem.as_dict(gettext)
        form.add_error("name", f"{said['expected']} {said['remedy']}")
        return None
    return {"token": token, "secret": secret}


@require_POST
def revoke_token(request, token_id):
    try:
        tokens.revoke_token(person=request.user, token_id=token_id, now=timezone.now())
    except NotYours:
        raise Http404 from None
    if request.htmx:
        return render(request, "annotate/_tokens.html", tokens_piece(request))
    return redirect("annotate:show_tokens")
