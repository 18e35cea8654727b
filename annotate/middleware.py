"""What holds for every page: the person's language and time zone, no copies in caches, sign-in by default."""

import zoneinfo

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import JsonResponse
from django.shortcuts import render, resolve_url
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers

from annotate.errors import TooBusy

LANGUAGE_COOKIE = settings.LANGUAGE_COOKIE_NAME
BUSY_SECONDS = 3


def interface_language(get_response):
    """The person's own choice, else the browser's cookie or wish. Material keeps its own language."""

    def middleware(request):
        person = request.user
        chosen = person.interface_language if person.is_authenticated else ""
        language = chosen or translation.get_language_from_request(request)
        zone = (person.is_authenticated and person.time_zone) or settings.TIME_ZONE
        with translation.override(language), timezone.override(zone_called(zone)):
            request.LANGUAGE_CODE = translation.get_language()
            response = get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language())
        return response

    return middleware


def zone_called(name):
    """The zone of this name, else our own: a data folder may come to a machine that knows fewer."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return zoneinfo.ZoneInfo(settings.TIME_ZONE)


def private_pages(get_response):
    """No page is kept by a browser or proxy, so that Back after signing out shows nothing; a lost line is kept by the
    page itself. Static files are served before this."""

    def middleware(request):
        response = get_response(request)
        response.headers["Cache-Control"] = "no-store"
        patch_vary_headers(response, ["HX-Request", "Cookie", "Accept-Language"])
        return response

    return middleware


def login_required(get_response):
    """Every view needs a signed-in person unless it is marked by `open_to_all`. A piece asked for by a script gets 401,
    so that the page can keep what was typed and say so."""

    def middleware(request):
        return get_response(request)

    def process_view(request, view, args, kwargs):
        if request.user.is_authenticated or getattr(view, "is_open_to_all", False):
            return None
        if request.headers.get("HX-Request") == "true":
            return JsonResponse({"code": "signed_out"}, status=401)
        return redirect_to_login(request.get_full_path(), resolve_url(settings.LOGIN_URL))

    middleware.process_view = process_view
    return middleware


def open_to_all(view):
    """Mark a view that needs no sign-in."""
    view.is_open_to_all = True
    return view


def refuse_when_busy(get_response):
    """Says so when too many sign in at once, and when to try again."""

    def middleware(request):
        return get_response(request)

    def process_exception(request, exception):
        if not isinstance(exception, TooBusy):
            return None
        response = render(request, "annotate/busy.html", status=503)
        response["Retry-After"] = str(BUSY_SECONDS)
        return response

    middleware.process_exception = process_exception
    return middleware
