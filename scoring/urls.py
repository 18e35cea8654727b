"""Addresses of the scoring app. A URL is named for its view function."""

from django.urls import path

from annotate.api.operations import address
from scoring import api, views

app_name = "scoring"

urlpatterns = [
    path("projects/<slug:project>/agreement/", views.show_agreement, name="show_agreement"),
    path("api/v1/projects/<slug:project>/agreement/", address(api.show_agreement), name="api_agreement"),
]
