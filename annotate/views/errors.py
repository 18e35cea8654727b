"""Pages for what went wrong. They hold no word about the request, so that no two causes can be told apart."""

import sys

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.shortcuts import render

from annotate.api import errors as api_errors
from annotate.views.storage import trouble_of

AWAY_SECONDS = 5
"""When to try again where the database cannot be reached, or waits for others."""


def not_found(request, exception=None):
    """Missing, locked and foreign things alike."""
    if api_errors.is_asked(request):
        return api_errors.early(api_errors.NOT_FOUND, 404)
    return render(None, "404.html", status=404)


def link_dead():
    """A link whose secret opens nothing, whatever the reason."""
    return render(None, "annotate/link_dead.html", status=404)


def bad_request(request, exception=None):
    if api_errors.is_asked(request):
        return api_errors.early(api_errors.MALFORMED_REQUEST, 400)
    if isinstance(exception, RequestDataTooBig):
        return render(None, "413.html", {"limit": settings.DATA_UPLOAD_MAX_MEMORY_SIZE}, status=413)
    return render(None, "400.html", status=400)


def forbidden(request, exception=None):
    return render(None, "403.html", status=403)


def csrf_failure(request, reason=""):
    return render(None, "403.html", status=403)


def broken(request):
    """What nobody foresaw; but a database that is away or full for a while is said to be just that."""
    trouble = trouble_of(sys.exc_info()[1])
    if trouble is not None:
        return unstored(request, is_full=trouble == "full")
    if api_errors.is_asked(request):
        return api_errors.early(api_errors.BROKEN, 500)
    return render(None, "500.html", status=500)


def unstored(request, *, is_full):
    """Nothing was changed, and it may go the next time."""
    status = 507 if is_full else 503
    if api_errors.is_asked(request):
        answer = api_errors.early(api_errors.FULL if is_full else api_errors.AWAY, status)
    else:
        answer = render(None, "503.html", {"is_full": is_full}, status=status)
    answer["Retry-After"] = str(AWAY_SECONDS)
    return answer
