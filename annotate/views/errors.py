"""Pages for what went wrong. They hold no word about the request, so that no two causes can be told apart."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.shortcuts import render

from annotate.api import errors as api_errors


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
    if api_errors.is_asked(request):
        return api_errors.early(api_errors.BROKEN, 500)
    return render(None, "500.html", status=500)
