"""Addresses of the annotate app. A URL is named for its view function."""

from django.urls import path

from annotate.views import account, label, project

app_name = "annotate"

urlpatterns = [
    path("", label.home, name="home"),
    path("sign-in/", account.sign_in, name="sign_in"),
    path("sign-out/", account.sign_out, name="sign_out"),
    path("language/", account.set_language, name="set_language"),
    path("set-up/<str:secret>/", account.set_up, name="set_up"),
    path("alive/", label.keep_alive, name="keep_alive"),
    path("label/<slug:public_id>/", label.label_item, name="label_item"),
    path("label/<slug:public_id>/correct/", label.correct_item, name="correct_item"),
    path("label/<slug:public_id>/submit/", label.submit_annotation, name="submit_annotation"),
    path("label/<slug:public_id>/draft/", label.save_draft, name="save_draft"),
    path("label/<slug:public_id>/problem/", label.report_problem, name="report_problem"),
    path("projects/<slug:project>/label/", label.next_item, name="next_item"),
    path("projects/<slug:project>/annotations/", label.own_annotations, name="own_annotations"),
    path("projects/<slug:project>/guideline/", label.guideline, name="guideline"),
    path("projects/<slug:project>/", project.show_project, name="show_project"),
    path("projects/<slug:project>/give-back/<int:assignment_id>/", project.give_back, name="give_back"),
]
