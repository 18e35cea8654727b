"""Pages for what went wrong. They hold no word about the request, so that no two causes can be told apart."""

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.shortcuts import render


def not_found(request, exception=None):
    """Missing, locked and foreign things alike."""
    return render(None, "404.html", status=404)


def bad_request(request, exception=None):
    if isinstance(exception, RequestDataTooBig):
        return render(None, "413.html", {"limit": settings.DATA_UPLOAD_MAX_MEMORY_SIZE}, status=413)
    return render(None, "400.html", status=400)


def forbidden(request, exception=None):
    return render(None, "403.html", status=403)


def csrf_failure(request, reason=""):
    return render(None, "403.html", status=403)


def broken(request):
    return render(None, "500.html", status=500)
