"""Addresses of the scoring app. A URL is named for its view function."""

from django.urls import path

from annotate.api.operations import address
from scoring import (
    api,
    compared_views,
    item_views,
    overlap_api,
    overlap_views,
    release_api,
    release_views,
    run_api,
    run_views,
    settled_views,
    views,
)

app_name = "scoring"

urlpatterns = [
    path("projects/<slug:project>/agreement/", views.show_agreement, name="show_agreement"),
    path("projects/<slug:project>/agreement.csv", views.agreement_csv, name="agreement_csv"),
    path("projects/<slug:project>/agreement/items/", compared_views.list_compared_items, name="list_compared_items"),
    path("projects/<slug:project>/items/<int:item_id>/labels/", item_views.show_item, name="show_item"),
    path("api/v1/projects/<slug:project>/agreement/", address(api.show_agreement), name="api_agreement"),
    path("projects/<slug:project>/releases/", release_views.list_releases, name="list_releases"),
    path("projects/<slug:project>/releases/seal/", release_views.seal_release, name="seal_release"),
    path("projects/<slug:project>/releases/<int:number>/", release_views.show_release, name="show_release"),
    path(
        "projects/<slug:project>/releases/<int:number>/<str:name>", release_views.release_file, name="release_file"
    ),
    path(
        "api/v1/projects/<slug:project>/releases/",
        address(release_api.list_releases, release_api.seal_release),
        name="api_releases",
    ),
    path(
        "api/v1/projects/<slug:project>/releases/<int:number>/",
        address(release_api.show_release),
        name="api_release",
    ),
    path(
        "api/v1/projects/<slug:project>/releases/<int:number>/items/",
        address(release_api.list_release_items),
        name="api_release_items",
    ),
    path(
        "projects/<slug:project>/settling/<slug:disagreement_id>/verdict/",
        settled_views.settled_verdict,
        name="settled_verdict",
    ),
    path("projects/<slug:project>/agreement/overlap/", overlap_views.set_overlap_rule, name="set_overlap_rule"),
    path(
        "api/v1/projects/<slug:project>/overlap-rule/",
        address(overlap_api.show_overlap_rule, overlap_api.set_overlap_rule),
        name="api_overlap_rule",
    ),
    path("projects/<slug:project>/runs/", run_views.list_runs, name="list_runs"),
    path("projects/<slug:project>/runs/start/", run_views.start_run, name="start_run"),
    path("projects/<slug:project>/runs/<int:number>/", run_views.show_run, name="show_run"),
    path("projects/<slug:project>/runs/<int:number>/pause/", run_views.pause_run, name="pause_run"),
    path("projects/<slug:project>/runs/<int:number>/resume/", run_views.resume_run, name="resume_run"),
    path("projects/<slug:project>/runs/<int:number>/cancel/", run_views.cancel_run, name="cancel_run"),
    path("projects/<slug:project>/runs/<int:number>/again/", run_views.try_run_again, name="try_run_again"),
    path("api/v1/projects/<slug:project>/runs/", address(run_api.list_runs, run_api.start_run), name="api_runs"),
    path(
        "api/v1/projects/<slug:project>/runs/<int:number>/",
        address(run_api.show_run, run_api.change_run),
        name="api_run",
    ),
]
