"""The demo as a project: what it holds, what is known of it, and that it says everywhere what it is."""

import html
import json
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotate import blind, demo
from annotate.errors import Refused
from annotate.models import Annotation, Assignment, Item, Membership, Person, Project, Settlement
from scoring.comparing import agreement_report
from tests.factories import make_person, make_project

pytestmark = pytest.mark.django_db
NOW = timezone.now()
State = Assignment.State


@pytest.fixture(scope="module")
def loaded(django_db_setup, django_db_blocker, tmp_path_factory):
    """The demo, loaded once for all tests here and rolled back behind them."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), transaction.atomic():
        patch.setattr(settings, "DATA_FOLDER", tmp_path_factory.mktemp("data"))
        assert demo.load_demo(now=NOW) is True
        yield Project.objects.get(slug="demo")
        transaction.set_rollback(True)


@pytest.fixture
def project(loaded, db):
    return loaded


@pytest.fixture(scope="module")
def report(loaded, django_db_blocker):
    with django_db_blocker.unblock():
        return agreement_report(loaded)


def words(response):
    return html.unescape(response.content.decode())


def test_it_has_33_items_in_three_phases_and_both_languages(project):
    phases = list(Item.objects.filter(project=project).values_list("phase", flat=True))
    assert {phase: phases.count(phase) for phase in set(phases)} == {"practice": 6, "pilot": 3, "main": 24}
    languages = list(Item.objects.filter(project=project, phase="main").values_list("trace__language", flat=True))
    assert {language: languages.count(language) for language in languages} == {"en": 12, "zh": 12}


def test_every_practice_item_has_a_known_answer_with_its_reason_in_both_languages(project):
    known = Settlement.objects.filter(item__project=project)
    assert known.count() == 6
    assert set(known.values_list("how", "item__phase")) == {("known", "practice")}
    assert all(one.reason_en and one.reason_zh and one.label["label"] for one in known)


def test_five_annotators_are_done_and_the_open_one_has_all_before_them(project):
    done = {}
    for member in Membership.objects.filter(project=project, role="annotator").select_related("person"):
        states = list(member.assignments.values_list("state", flat=True))
        done[member.person.username] = (states.count(State.SUBMITTED), states.count(State.OPEN), len(states))
    assert done.pop("demo") == (0, 1, 33)
    assert set(done.values()) == {(33, 0, 33)}
    assert len(done) == 5
    assert Annotation.objects.filter(assignment__annotator__project=project).count() == 165
    assert not Annotation.objects.filter(assignment__annotator__person__username="demo").exists()


def test_the_open_account_begins_with_practice(project):
    item = blind.next_item(Person.objects.get(username="demo"), "demo")
    assert (item.phase, item.is_synthetic, item.progress.order, item.progress.n_planned) == ("practice", True, 1, 33)


def test_only_the_open_account_and_the_lead_can_sign_in(project):
    able = {person.username for person in Person.objects.all() if person.has_usable_password()}
    assert able == {"demo", "lea"}


def test_passwords_are_made_once_per_installation_and_kept_for_its_owner_alone(project):
    path = settings.DATA_FOLDER / demo.LOGINS
    assert path.stat().st_mode & 0o777 == 0o600
    assert demo.demo_passwords() == json.loads(path.read_text("utf-8"))
    assert len(set(demo.demo_passwords().values())) == 2
    assert all(len(password) >= 12 for password in demo.demo_passwords().values())


def test_the_synthetic_labels_agree_as_planned_with_an_interval(report):
    fail = report.measures[0]
    assert fail.measure.name == "fail"
    assert (fail.panel.n_items, fail.panel.n_raters, fail.panel.n_ratings) == (24, 5, 120)
    assert 0.55 <= fail.panel.fleiss_kappa.value <= 0.65
    interval = fail.panel.fleiss_kappa.interval
    assert interval.low < fail.panel.fleiss_kappa.value < interval.high
    assert (interval.n_clusters, interval.seed) == (8, 20260701)
    assert report.is_synthetic


def test_every_annotation_took_its_time_in_order(project):
    rows = Assignment.objects.filter(annotator__project=project, state=State.SUBMITTED).order_by("annotator", "order")
    last = {}
    for row in rows:
        assert row.first_shown_at < row.ended_at <= NOW
        assert row.first_shown_at >= last.get(row.annotator_id, row.first_shown_at)
        last[row.annotator_id] = row.ended_at


@pytest.fixture
def few_resamples(monkeypatch):
    monkeypatch.setattr("scoring.comparing.N_RESAMPLES", 50)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("who", ["demo", "lea"])
def test_every_page_says_that_the_labels_are_synthetic(project, client, few_resamples, who, language):
    person = Person.objects.get(username=who)
    Person.objects.filter(pk=person.pk).update(interface_language=language)
    client.force_login(person)
    assignment = Assignment.objects.get(annotator__person__username="demo", state=State.OPEN)
    pages = {
        "demo": [
            reverse("annotate:home"),
            reverse("annotate:label_item", args=[assignment.public_id]),
            reverse("annotate:own_annotations", args=["demo"]),
            reverse("annotate:guideline", args=["demo"]),
            reverse("annotate:own_annotations", args=["demo"]),
            reverse("annotate:guideline", args=["demo"]),
        ],
        "lea": [
            reverse("annotate:home"),
            reverse("annotate:show_project", args=["demo"]),
            reverse("scoring:show_agreement", args=["demo"]),
            reverse("scoring:show_agreement", args=["demo"]) + "?phase=pilot",
        ],
    }
    for page in pages[who]:
        response = client.get(page)
        assert response.status_code == 200
        text = words(response).split("<main", 1)[1]
        assert "synthetic" in text or "合成" in text, page


def test_the_last_page_says_so_too(project, client):
    Assignment.objects.filter(annotator__person__username="demo").update(state=State.SUBMITTED)
    client.force_login(Person.objects.get(username="demo"))
    text = words(client.get(reverse("annotate:next_item", args=["demo"]))).split("<main", 1)[1]
    assert "There is nothing left for you to read" in text
    assert "synthetic" in text


def said(*command):
    out = StringIO()
    call_command(*command, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_agreement_command_says_so_in_words_and_in_json(project, few_resamples):
    assert said("agreement", "demo").startswith("Demo: these figures rest on synthetic labels.")
    assert json.loads(said("agreement", "demo", "--json"))["is_synthetic"] is True
    listed = json.loads(said("list_projects", "--json"))["projects"]
    assert [(one["slug"], one["is_synthetic"]) for one in listed] == [("demo", True)]


def test_a_second_load_changes_nothing(project):
    def rows():
        return [list(model.objects.order_by("pk").values()) for model in (Project, Person, Assignment, Annotation)]

    before = rows()
    assert demo.load_demo(now=timezone.now()) is False
    assert rows() == before


# Where somebody is there already

NAMES = ["lea", "demo", "ana", "ben", "chen", "dia", "eli"]


@pytest.fixture
def elsewhere(project):
    """As if there were no demo: its project and people have other names."""
    Project.objects.filter(pk=project.pk).update(slug="another")
    for person in Person.objects.all():
        Person.objects.filter(pk=person.pk).update(username=f"another-{person.username}")


def refusal():
    """Why the demo is not loaded, which leaves everything as it was."""

    def rows():
        return [list(model.objects.order_by("pk").values()) for model in (Project, Person, Membership, Item)]

    before = rows()
    with pytest.raises(Refused) as refused:
        demo.load_demo(now=NOW)
    assert rows() == before
    return refused.value.problem


def test_it_is_loaded_where_its_names_are_free(elsewhere):
    assert demo.load_demo(now=NOW) is True
    people = Person.objects.filter(memberships__project__slug="demo")
    assert sorted(people.values_list("username", flat=True)) == sorted(NAMES)


@pytest.mark.parametrize("taken", [*([name] for name in NAMES), ["Lea"], ["ben", "lea"]], ids=", ".join)
def test_an_account_of_somebody_s_own_is_left_alone_and_named_with_what_to_do(elsewhere, taken):
    for name in taken:
        make_person(name)
    problem = refusal()
    assert (problem.code, problem.field, problem.params) == ("duplicate_id", "username", {"names": ", ".join(taken)})
    assert "--no-demo" in problem.sentence()


def test_a_project_of_somebody_s_own_named_demo_is_not_the_demo(elsewhere):
    make_project("demo")
    problem = refusal()
    assert (problem.code, problem.field, problem.params) == ("duplicate_id", "slug", {"names": "demo"})
    assert "--no-demo" in problem.sentence()


def test_the_command_says_so_and_ends_with_1(elsewhere):
    make_person("lea")
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("load_demo", "--json", stdout=out, stderr=err)
    assert ended.value.code == 1
    assert [one["field"] for one in json.loads(out.getvalue())["problems"]] == ["username"]
    assert "lea" in err.getvalue()
