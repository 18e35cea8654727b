"""Addresses of the API, version 1."""

from django.urls import path

from annotate.api import imports, known, label, people, project, rounds, schema, settling, subsets
from annotate.api.operations import Absent, address
from annotate.middleware import open_to_all

app_name = "api"

urlpatterns = [
    path("v1/schema/", address(schema.show_schema), name="schema"),
    path("v1/projects/", address(label.list_own_projects), name="own_projects"),
    path("v1/projects/<slug:project>/next/", address(label.next_item), name="next_item"),
    path("v1/projects/<slug:project>/undo/", address(label.last_answer), name="last_answer"),
    path("v1/projects/<slug:project>/guideline/", address(label.show_guideline), name="guideline"),
    path("v1/items/<slug:public_id>/", address(label.show_item), name="item"),
    path("v1/items/<slug:public_id>/draft/", address(label.save_draft), name="draft"),
    path("v1/items/<slug:public_id>/annotations/", address(label.submit_annotation), name="annotations"),
    path("v1/items/<slug:public_id>/problem/", address(label.report_problem), name="problem"),
    path("v1/items/<slug:public_id>/thread/", address(label.post_in_thread), name="thread"),
    path("v1/items/<slug:public_id>/gap/", address(label.report_gap), name="gap"),
    path("v1/projects/<slug:project>/", address(project.show_project, project.change_project), name="project"),
    path("v1/projects/<slug:project>/people/", address(people.list_people), name="people"),
    path("v1/projects/<slug:project>/people/<str:code>/", address(people.change_member), name="member"),
    path("v1/projects/<slug:project>/invites/", address(people.make_invite), name="invites"),
    path("v1/projects/<slug:project>/imports/", address(imports.list_imports, imports.upload_traces), name="imports"),
    path("v1/projects/<slug:project>/imports/<int:work_id>/", address(imports.show_import), name="import"),
    path("v1/projects/<slug:project>/items/", address(project.list_items), name="items"),
    path(
        "v1/projects/<slug:project>/protocols/",
        address(project.list_protocols, project.new_protocol),
        name="protocols",
    ),
    path(
        "v1/projects/<slug:project>/disagreements/",
        address(settling.list_disagreements),
        name="disagreements",
    ),
    path(
        "v1/projects/<slug:project>/disagreements/<slug:disagreement_id>/",
        address(settling.show_disagreement),
        name="disagreement",
    ),
    path(
        "v1/projects/<slug:project>/disagreements/<slug:disagreement_id>/settlements/",
        address(settling.settle_item),
        name="settlements",
    ),
    path(
        "v1/projects/<slug:project>/disagreements/<slug:disagreement_id>/send-back/",
        address(settling.send_back),
        name="send_back",
    ),
    path("v1/projects/<slug:project>/rounds/", address(rounds.list_rounds, rounds.open_round), name="rounds"),
    path(
        "v1/projects/<slug:project>/rounds/<int:number>/",
        address(rounds.show_round, rounds.close_round),
        name="round",
    ),
    path(
        "v1/projects/<slug:project>/subsets/",
        address(subsets.show_subsets, subsets.draw_subsets),
        name="subsets",
    ),
    path("v1/projects/<slug:project>/gaps/", address(rounds.list_gaps), name="gaps"),
    path("v1/projects/<slug:project>/gaps/settled/", address(rounds.list_settled_gaps), name="settled_gaps"),
    path(
        "v1/projects/<slug:project>/pass-rule/",
        address(rounds.show_pass_rule, rounds.set_pass_rule),
        name="pass_rule",
    ),
    path("v1/projects/<slug:project>/known-answers/", address(known.bring_known), name="known_answers"),
    path("v1/projects/<slug:project>/close/", address(project.close_project), name="close"),
    path("v1/projects/<slug:project>/events/", address(project.list_events), name="events"),
    path("", open_to_all(Absent.as_view()), name="nothing"),
    path("<path:rest>", open_to_all(Absent.as_view()), name="absent"),
]
