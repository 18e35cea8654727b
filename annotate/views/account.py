"""Signing in and out, the interface language, one's own account, and links that set up an account or a password."""

import math

from django.conf import settings
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import accounts, sessions, setting_up, throttle
from annotate.errors import Refused
from annotate.forms import ChangePasswordForm, NewPasswordForm, OwnPasswordForm, PreferencesForm, SetUpForm
from annotate.middleware import LANGUAGE_COOKIE, open_to_all
from annotate.views.errors import link_dead


class SignIn(LoginView):
    """Name and password. Whatever is wrong with them, the answer is one."""

    template_name = "annotate/sign_in.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs):
        return super().get_context_data(said=SAID.get(self.request.GET.get("said")), **kwargs)


sign_in = open_to_all(SignIn.as_view())

SAID = {
    "preferences": _("Saved."),
    "password": _("Your password is changed. Every other browser was signed out."),
    "elsewhere": _("Every other browser was signed out."),
    "new-password": _("Your new password is set. Sign in with it."),
    "closed": _("Your account is closed."),
}
"""What an address says was done; it is one of these sentences or none."""


class SignOut(LogoutView):
    """Ends the session and has the browser drop what it kept of it."""

    http_method_names = ["post", "options"]

    def post(self, request, *args, **kwargs):
        response = super().post(request, *args, **kwargs)
        return forgotten_by_browser(response)


def forgotten_by_browser(response):
    response["Clear-Site-Data"] = '"cache", "storage"'
    return response


sign_out = open_to_all(SignOut.as_view())


@open_to_all
@require_POST
def set_language(request):
    """The interface language of this person, or of this browser before signing in; then back to the page."""
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        raise Http404
    if request.user.is_authenticated:
        request.user.interface_language = language
        request.user.save(update_fields=["interface_language"])
    return keep_language(redirect(page_to_return_to(request)), language)


def keep_language(response, language):
    """Have this browser remember the language for pages before sign-in."""
    response.set_cookie(LANGUAGE_COOKIE, language, samesite="Lax", secure=settings.HTTPS, httponly=True)
    return response


def page_to_return_to(request):
    """An address of this site that was asked for, else the first page."""
    address = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if is_ours and address.startswith("/") else "annotate:home"


@open_to_all
@require_http_methods(["GET", "POST"])
def set_up(request, secret):
    """The first lead makes their account. Reading the page spends nothing; posting it spends the link."""
    if setting_up.find_set_up(secret, now=timezone.now()) is None:
        return link_dead()
    form = SetUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person = setting_up.set_up_first_lead(secret=secret, now=timezone.now(), **form.cleaned_data)
        if person is None:
            return link_dead()
        login(request, person)
        translation.activate(person.interface_language or translation.get_language())
        return redirect("annotate:home")
    return render(request, "annotate/set_up.html", {"form": form}, status=422 if form.errors else 200)


@open_to_all
@require_http_methods(["GET", "HEAD", "POST"])
def new_password(request, secret):
    """A person who forgot theirs sets a new password. Reading the page spends nothing; posting it spends the link."""
    person = accounts.person_of_link(secret, now=timezone.now())
    if person is None:
        return link_dead()
    form = NewPasswordForm(person, request.POST or None)
    if request.method == "POST" and form.is_valid():
        password = form.cleaned_data["new_password"]
        if accounts.set_password_by_link(secret=secret, password=password, now=timezone.now()) is None:
            return link_dead()
        throttle.forget(person.username)
        return redirect(f"{reverse('annotate:sign_in')}?said=new-password")
    return render(request, "annotate/new_password.html", {"form": form}, status=422 if form.errors else 200)


# One's own account


@require_safe
def show_account(request):
    """Settings, password, sessions, and the end of it."""
    return account_page(request)


def account_page(request, *, status=200, **forms):
    """The page with its forms; one that was refused stands in the place of an empty one."""
    person = request.user
    chosen = {"interface_language": translation.get_language(), "time_zone": person.time_zone}
    context = {
        "preferences": PreferencesForm(initial=chosen),
        "password": ChangePasswordForm(request),
        "closing": OwnPasswordForm(request, auto_id="closing_%s"),
        "sessions": sessions.own_sessions(person, this=request.session.session_key, now=timezone.now()),
        "said": SAID.get(request.GET.get("said")),
    }
    return render(request, "annotate/show_account.html", context | forms, status=status)


def back_to_account(said):
    return redirect(f"{reverse('annotate:show_account')}?said={said}")


@require_POST
def change_preferences(request):
    form = PreferencesForm(request.POST)
    if not form.is_valid():
        return account_page(request, status=422, preferences=form)
    accounts.change_preferences(person=request.user, **form.cleaned_data)
    response = back_to_account("preferences")
    return keep_language(response, form.cleaned_data["interface_language"])


@require_POST
def change_password(request):
    form = ChangePasswordForm(request, request.POST)
    if form.is_valid():
        done = accounts.change_password(
            person=form.person,
            password=form.cleaned_data["new_password"],
            session_key=request.session.session_key,
            now=timezone.now(),
        )
        if done:
            update_session_auth_hash(request, form.person)
            return back_to_account("password")
        form.add_error("password", _("This is not your password."))
    return account_page(request, status=422, password=form)


@require_POST
def sign_out_elsewhere(request):
    accounts.sign_out_elsewhere(person=request.user, session_key=request.session.session_key)
    return back_to_account("elsewhere")


@require_POST
def close_account(request):
    """End one's account; the password is asked so that nobody else's hand does it."""
    form = OwnPasswordForm(request, request.POST, auto_id="closing_%s")
    if form.is_valid():
        try:
            accounts.deactivate(person=form.person, now=timezone.now())
        except Refused as refusal:
            said = refusal.problem.as_dict(gettext)
            form.add_error("password", f"{said['expected']} {said['remedy']}")
        else:
            logout(request)
            return forgotten_by_browser(redirect(f"{reverse('annotate:sign_in')}?said=closed"))
    return account_page(request, status=422, closing=form)


def locked(request, response, credentials):
    """What django-axes answers in place of the page: the same for every name, whether it has an account or not."""
    seconds = max(1, math.ceil((throttle.locked_until(request) - timezone.now()).total_seconds()))
    context = {"minutes": math.ceil(seconds / 60)}
    response = render(request, "annotate/locked.html", context, status=429)
    response["Retry-After"] = str(seconds)
    return response
