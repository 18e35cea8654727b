"""Addresses of the scoring app. A URL is named for its view function."""

from django.urls import path

from scoring import views

app_name = "scoring"

urlpatterns = [path("projects/<slug:project>/agreement/", views.show_agreement, name="show_agreement")]
