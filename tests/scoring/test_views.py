"""The agreement page: the command's figures, for leads only."""

import html
import re

import pytest
from django.urls import reverse

from annotate.models import Membership, Person, Project
from scoring import comparing
from scoring.comparing import agreement_report
from scoring.words import shown
from tests.factories import NOW, make_cast, make_item, make_round, make_submitted, make_trace

pytestmark = pytest.mark.django_db
READABLE, FAILS = "readable", "unrepairable_or_no_answer"


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(comparing, "N_RESAMPLES", 200)


@pytest.fixture
def cast(db):
    cast = make_cast()
    for place in range(12):
        item = make_item(trace=make_trace(cast.project, cluster=f"task-{place // 2}"))
        make_submitted(cast.ana, item, FAILS if place % 3 == 0 else READABLE)
        make_submitted(cast.ben, item, FAILS if place % 4 == 0 else READABLE)
    return cast


def show(client, cast, who="lea", **query):
    client.force_login(getattr(cast, who).person)
    return client.get(reverse("scoring:show_agreement", args=[cast.project.slug]), query)


def words(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())))


def test_the_page_shows_the_figures_of_the_report_with_their_intervals(client, cast):
    text = words(show(client, cast))
    panel = agreement_report(cast.project).measures[0].panel
    for figure in (panel.percent_agreement, panel.fleiss_kappa, panel.krippendorff_alpha, panel.pairs[0].cohen_kappa):
        assert figure.interval is not None
        assert f"{shown(figure.value)} {shown(figure.interval.low)} to {shown(figure.interval.high)}" in text
    for title in ("fails or passes", "the three labels", "states no result or answer"):
        assert title in text
    assert "24 ratings of 12 items by 2 raters, in 6 clusters." in text
    assert f"seed {cast.project.seed}" in text
    assert "a1 · a2" in text
    assert "Everyone chose the same" in text  # nobody ticked "states no result"


def test_a_measure_that_cannot_be_estimated_says_why_in_place_of_a_number(client, cast):
    text = words(show(client, cast))
    assert "chance-corrected agreement cannot be estimated because there is no variation" in text
    assert "nan" not in text.lower().split()


def test_an_empty_project_has_a_page_too(client):
    text = words(show(client, make_cast()))
    assert "No ratings yet." in text
    assert "0 ratings of 0 items by 0 raters, in 0 clusters." in text


def test_the_pilot_is_headed_as_no_result(client, cast):
    assert "not a result" not in words(show(client, cast))
    assert "Pilot, not a result." in words(show(client, cast, phase="pilot"))


@pytest.mark.parametrize("phase", ["practice", "Main", "", "main'--"])
def test_a_phase_that_never_enters_is_404(client, cast, phase):
    assert show(client, cast, phase=phase).status_code == 404
    assert show(client, cast, phase="main").status_code == 200


@pytest.mark.parametrize("who", ["ana", "ben", "rita", "zoe"])
def test_for_everybody_else_the_page_is_not_there(client, cast, who):
    response = show(client, cast, who)
    missing = client.get(reverse("scoring:show_agreement", args=["no-such-project"]))
    assert (response.status_code, response.content) == (404, missing.content)


def test_a_lead_who_left_sees_no_figures_any_more(client, cast):
    Membership.objects.filter(pk=cast.lea.pk).update(left_at=NOW)
    assert show(client, cast).status_code == 404


def test_synthetic_labels_and_an_open_lead_are_said(client, cast):
    text = words(show(client, cast))
    assert "synthetic" not in text
    assert "open lead" not in text
    Project.objects.update(is_synthetic=True, open_lead=True)
    text = words(show(client, cast))
    assert "Demo: these figures rest on synthetic labels. They say nothing about people." in text
    assert "A lead labels in this project (open lead)." in text


def test_what_was_left_out_is_counted(client, cast):
    assert "Left out before any figure: 0 items reported as problems; practice; known answers." in words(
        show(client, cast)
    )


def test_a_project_whose_rows_make_no_table_says_so_in_place_of_figures(client, cast):
    make_submitted(cast.ana, cast.project.items.first(), FAILS, round=make_round(cast.project, closed_at=NOW))
    response = show(client, cast)
    assert response.status_code == 409
    assert "a1 has a current label of item" in words(response)
    assert "Left out before" not in words(response)


def test_the_page_answers_in_chinese(client, cast):
    Person.objects.filter(pk=cast.lea.person_id).update(interface_language="zh-hans")
    response = show(client, cast)
    assert (response.status_code, response["Content-Language"]) == (200, "zh-hans")
    assert cast.project.title_zh in words(response)


@pytest.mark.parametrize("more", [0, 30])
def test_the_page_takes_seven_statements_whatever_there_is(client, cast, django_assert_num_queries, more):
    for _ in range(more):
        make_submitted(cast.ana)
    client.force_login(cast.lea.person)
    with django_assert_num_queries(7):
        client.get(reverse("scoring:show_agreement", args=[cast.project.slug]))
