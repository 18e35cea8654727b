"""All addresses. Pages live with their app; nothing else is served: no admin, no debug pages."""

from django.urls import include, path

urlpatterns = [
    path("", include("scoring.urls")),
    path("", include("annotate.urls")),  # last: what it does not know below /api/ it refuses itself
]

handler400 = "annotate.views.errors.bad_request"
handler403 = "annotate.views.errors.forbidden"
handler404 = "annotate.views.errors.not_found"
handler500 = "annotate.views.errors.broken"
