"""Signing in and out, the interface language, and the first lead's set-up link."""

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST

from annotate import setting_up
from annotate.forms import SetUpForm
from annotate.middleware import LANGUAGE_COOKIE, open_to_all

sign_in = open_to_all(LoginView.as_view(template_name="annotate/sign_in.html", redirect_authenticated_user=True))


class SignOut(LogoutView):
    """Ends the session and has the browser drop what it kept of it."""

    http_method_names = ["post", "options"]

    def post(self, request, *args, **kwargs):
        response = super().post(request, *args, **kwargs)
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
    response = redirect(page_to_return_to(request))
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
        raise Http404
    form = SetUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person = setting_up.set_up_first_lead(secret=secret, now=timezone.now(), **form.cleaned_data)
        if person is None:
            raise Http404
        login(request, person)
        translation.activate(person.interface_language or translation.get_language())
        return redirect("annotate:home")
    return render(request, "annotate/set_up.html", {"form": form}, status=422 if form.errors else 200)
