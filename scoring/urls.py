"""Addresses of the scoring app. A URL is named for its view function."""

from django.urls import path

from annotate.api.operations import address
from scoring import (
    api,
    compared_views,
    endpoint_views,
    experience_api,
    experience_views,
    item_views,
    method_api,
    method_views,
    overlap_api,
    overlap_views,
    pasting_views,
    point_api,
    point_views,
    prediction_api,
    prediction_import_views,
    prediction_views,
    prompt_views,
    publishing_views,
    reading_views,
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
    path("projects/<slug:project>/report/", method_views.show_method_report, name="show_method_report"),
    path("projects/<slug:project>/report.json", method_views.method_json, name="method_json"),
    path("projects/<slug:project>/report.csv", method_views.method_csv, name="method_csv"),
    path("api/v1/projects/<slug:project>/report/", address(method_api.show_method_report), name="api_method_report"),
    path("projects/<slug:project>/predictions/", prediction_views.list_predictions, name="list_predictions"),
    path("projects/<slug:project>/predictions.json", prediction_views.predictions_json, name="predictions_json"),
    path("projects/<slug:project>/predictions.csv", prediction_views.predictions_csv, name="predictions_csv"),
    path(
        "api/v1/projects/<slug:project>/predictions/",
        address(prediction_api.list_predictions),
        name="api_predictions",
    ),
    path("projects/<slug:project>/items/<int:item_id>/labels/", item_views.show_item, name="show_item"),
    path("projects/<slug:project>/items/<int:item_id>/reading/", reading_views.show_reading, name="show_reading"),
    path("projects/<slug:project>/items/<int:item_id>/flag/", reading_views.flag_question, name="flag_question"),
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
    path("projects/<slug:project>/endpoints/", endpoint_views.list_endpoints, name="list_endpoints"),
    path("projects/<slug:project>/endpoints/new/", endpoint_views.new_endpoint, name="new_endpoint"),
    path("projects/<slug:project>/endpoints/<int:endpoint_id>/", endpoint_views.show_endpoint, name="show_endpoint"),
    path(
        "projects/<slug:project>/endpoints/<int:endpoint_id>/try/", endpoint_views.try_endpoint, name="try_endpoint"
    ),
    path(
        "projects/<slug:project>/endpoints/<int:endpoint_id>/archive/",
        endpoint_views.archive_endpoint,
        name="archive_endpoint",
    ),
    path(
        "projects/<slug:project>/runs/<int:number>/questions/", pasting_views.list_questions, name="list_questions"
    ),
    path(
        "projects/<slug:project>/runs/<int:number>/questions/<int:call_id>/",
        pasting_views.paste_answer,
        name="paste_answer",
    ),
    path("projects/<slug:project>/prompts/", prompt_views.list_prompts, name="list_prompts"),
    path(
        "projects/<slug:project>/prompts/<str:prompt>/<str:language>/", prompt_views.write_prompt, name="write_prompt"
    ),
    path(
        "projects/<slug:project>/prompts/<str:prompt>/<str:language>/<int:number>/",
        prompt_views.show_prompt,
        name="show_prompt",
    ),
    path("projects/<slug:project>/trials/start/", prompt_views.start_trial, name="start_trial"),
    path("projects/<slug:project>/trials/<int:number>/", prompt_views.show_trial, name="show_trial"),
    path(
        "api/v1/projects/<slug:project>/overlap-rule/",
        address(overlap_api.show_overlap_rule, overlap_api.set_overlap_rule),
        name="api_overlap_rule",
    ),
    path("projects/<slug:project>/publishing/", publishing_views.show_publishing, name="show_publishing"),
    path("projects/<slug:project>/publishing/gaps/", publishing_views.publish_gaps, name="publish_gaps"),
    path("projects/<slug:project>/publishing/texts/", publishing_views.publish_texts, name="publish_texts"),
    path("projects/<slug:project>/points/", point_views.list_points, name="list_points"),
    path("projects/<slug:project>/points/choose/", point_views.choose_points, name="choose_points"),
    path(
        "api/v1/projects/<slug:project>/points/",
        address(point_api.list_points, point_api.choose_points),
        name="api_points",
    ),
    path("projects/<slug:project>/experience/", experience_views.show_experience, name="show_experience"),
    path("projects/<slug:project>/experience/import/", experience_views.import_outcomes, name="import_outcomes"),
    path(
        "projects/<slug:project>/experience/<int:number>.jsonl",
        experience_views.workflows_file,
        name="workflows_file",
    ),
    path(
        "api/v1/projects/<slug:project>/outcomes/",
        address(experience_api.list_outcomes, experience_api.import_outcomes),
        name="api_outcomes",
    ),
    path(
        "api/v1/projects/<slug:project>/runs/<int:number>/workflows/",
        address(experience_api.list_workflows),
        name="api_workflows",
    ),
    path("projects/<slug:project>/runs/", run_views.list_runs, name="list_runs"),
    path("projects/<slug:project>/runs/start/", run_views.start_run, name="start_run"),
    path(
        "projects/<slug:project>/runs/predictions/",
        prediction_import_views.bring_predictions,
        name="bring_predictions",
    ),
    path("projects/<slug:project>/runs/plan/", run_views.plan_run, name="plan_run"),
    path("projects/<slug:project>/runs/<int:number>/", run_views.show_run, name="show_run"),
    path("projects/<slug:project>/runs/<int:number>/seal/", release_views.seal_jury, name="seal_jury"),
    path("projects/<slug:project>/runs/<int:number>/pause/", run_views.pause_run, name="pause_run"),
    path("projects/<slug:project>/runs/<int:number>/resume/", run_views.resume_run, name="resume_run"),
    path("projects/<slug:project>/runs/<int:number>/cancel/", run_views.cancel_run, name="cancel_run"),
    path("projects/<slug:project>/runs/<int:number>/again/", run_views.try_run_again, name="try_run_again"),
    path("api/v1/projects/<slug:project>/runs/", address(run_api.list_runs, run_api.start_run), name="api_runs"),
    path("api/v1/projects/<slug:project>/runs/estimate/", address(run_api.estimate_run), name="api_estimate"),
    path(
        "api/v1/projects/<slug:project>/runs/<int:number>/",
        address(run_api.show_run, run_api.change_run),
        name="api_run",
    ),
]
