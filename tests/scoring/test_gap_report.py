"""Gaps of a reader are published into a project of their own, and what people say of them comes back to the report."""

import io
import json
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.errors import NotYours, Refused
from annotate.models import Assignment, Item, Trace
from annotate.traces import base
from scoring import publishing
from scoring.method_reports import shown_method
from tests.factories import make_cast, make_item, make_member, make_project, make_run, make_submitted, make_trace
from tests.factories import make_verdict as verdict
from tests.scoring.readings import make_reading, make_unreadable, question, reader_run

pytestmark = pytest.mark.django_db
FAST = {"n_resamples": 100}
REPLY = "As in run-12, the GTR fell; see table 2. The Zed-1 arm holds."
FILE = json.dumps({"path": "a.md", "content": "run-12 is north"})
WORK = (
    base.Message(0, "user", "How did it go?"),
    base.Message(1, "assistant", "", calls=(base.Call("c", "write_file", FILE),)),
    base.Message(2, "tool", "ok", answers=base.Answered(1, 0)),
    base.Message(3, "assistant", REPLY),
)


def conversation(project, model="alpha", **values):
    return make_trace(project, WORK, metadata={"model": model}, **values)


@pytest.fixture
def cast(db):
    cast = SimpleNamespace(**vars(make_cast(seed=11)))
    cast.study = make_project(kind="gap", seed=3)
    cast.people = [make_member(cast.study, name) for name in ("kim", "lou")]
    make_member(cast.study, cast.lea.person, "lead")
    cast.run = reader_run(cast.project)
    return cast


def reply(cast, *abouts, model="alpha"):
    item = make_item(trace=conversation(cast.project, model), reply=3)
    make_reading(cast.run, item, *[question(about, REPLY) for about in abouts])
    return item


def publish(cast, **values):
    told = {"person": cast.lea.person, "source": cast.project, "target": cast.study, "run": cast.run.number}
    return publishing.publish_gaps(**{**told, "now": timezone.now(), **values})


def say(cast, item, *categories):
    for who, category in zip(cast.people, categories, strict=True):
        Assignment.objects.filter(annotator=who, item=item).delete()
        make_submitted(who, item, label={"category": category, "comment": ""})


def report(cast, **asked):
    return shown_method(cast.project, given=FAST, **asked).report


def gap_items(cast):
    return {item.asked["question"]: item for item in Item.objects.filter(project=cast.study).order_by("pk")}


def classify(cast, item, *categories, reader=None):
    run = make_run(cast.project, "classifier", settings={"reader_run": (reader or cast.run).number})
    gaps = [{"question": number, "category": category} for number, category in enumerate(categories)]
    verdict(run, item, None, finding={"values": {"gaps": gaps}})
    return run


def test_gaps_become_items_with_their_question_and_their_window(cast):
    item = reply(cast, "run-12", "GTR")
    published = publish(cast)
    assert (published.n_found, published.n_drawn, published.n_new, published.n_present) == (2, 2, 2, 0)
    first = gap_items(cast)["What is run-12?"]
    assert first.text == REPLY
    assert first.asked == {"question": "What is run-12?", "type": "reference", "start": 6, "end": 12}
    assert first.origin == {"project": cast.project.pk, "run": cast.run.pk, "item": item.pk, "question": 0}
    assert not Trace.objects.get(project=cast.study).messages.exists()
    assert Assignment.objects.filter(annotator=cast.people[0]).count() == 2


def test_the_same_call_adds_nothing_and_a_larger_sample_holds_the_first(cast):
    for model in ("alpha", "beta"):
        for _ in range(3):
            reply(cast, "run-12", "GTR", model=model)
    assert publish(cast, n=100).n_new == 12
    assert publish(cast, n=100).n_new == 0
    assert publish(cast, n=100).n_present == 12


def test_a_sample_is_drawn_over_models_by_largest_remainder(cast):
    for model, n in (("alpha", 6), ("beta", 2)):
        for _ in range(n):
            reply(cast, "run-12", model=model)
    assert publish(cast, n=4).n_drawn == 4
    models = sorted(Trace.objects.filter(project=cast.study).values_list("metadata__model", flat=True))
    assert models == ["alpha", "alpha", "alpha", "beta"]


def test_what_is_no_gap_or_could_not_be_read_or_stands_nowhere_is_not_published(cast):
    item = make_item(trace=conversation(cast.project), reply=3)
    questions = [question("GTR", REPLY, is_gap=False), question("not there"), question("Zed-1", REPLY)]
    make_reading(cast.run, item, *questions)
    make_unreadable(cast.run, make_item(trace=conversation(cast.project), reply=3))
    published = publish(cast)
    assert (published.n_found, published.n_nowhere, published.n_new) == (2, 1, 1)
    assert list(gap_items(cast)) == ["What is Zed-1?"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"run": 99}, "no_such_run"),
        ({"run": "checker"}, "no_such_run"),
        ({"target": "source"}, "other_kind"),
        ({"target": "closed"}, "project_closed"),
        ({"n": 0}, "bad_number"),
        ({"phase": "pilot"}, "nothing_to_publish"),
    ],
)
def test_what_does_not_go_is_refused_by_name_and_nothing_is_there(cast, given, code):
    reply(cast, "run-12")
    if given.get("run") == "checker":
        given = {"run": make_run(cast.project, "checker").number}
    if given.get("target") == "source":
        given = {"target": cast.project}
    if given.get("target") == "closed":
        cast.study.closed_at = timezone.now()
        cast.study.save()
        given = {}
    with pytest.raises(Refused) as refused:
        publish(cast, **given)
    assert refused.value.problem.code == code
    assert not Item.objects.filter(project=cast.study).exists()


def test_only_who_leads_both_projects_may(cast):
    reply(cast, "run-12")
    only = make_member(cast.study, "sue", "lead")
    for person in (cast.ana.person, only.person):
        with pytest.raises(NotYours):
            publish(cast, person=person)


def test_what_people_say_comes_back_into_the_report_and_makes_a_kept_one_stale(cast):
    reply(cast, "run-12", "GTR")
    publish(cast)
    before = report(cast)
    assert "classifier" not in {table.name for table in before.tables}
    items = gap_items(cast)
    say(cast, items["What is run-12?"], "coined", "coined")
    say(cast, items["What is GTR?"], "term", "background")
    shown = shown_method(cast.project, given=FAST)
    assert shown.is_new
    assert shown.report.row("n_labelled_gaps").figure.value == 2
    assert shown.report.n_records["category_label"] == 4
    assert shown_method(cast.project, given=FAST).is_new is False


def test_categories_of_the_classifier_and_origins_of_coined_labels_enter(cast):
    item = reply(cast, "run-12", "GTR", "Zed-1")
    classify(cast, item, "coined", "term", "coined")
    told = report(cast)
    assert told.row("category_coined", "categories").figure.value == 1
    assert told.row("category_term", "categories").figure.value == 1
    assert told.row("category_pointer", "categories").figure.value == 0
    assert told.row("origin_agent_file", "origins").figure.value == 0.5
    assert told.row("origin_reply_itself", "origins").figure.value == 0.5


def test_the_classifier_is_held_against_people(cast):
    item = reply(cast, "run-12", "GTR")
    publish(cast)
    items = gap_items(cast)
    say(cast, items["What is run-12?"], "coined", "coined")
    say(cast, items["What is GTR?"], "term", "background")
    classify(cast, item, "coined", "term")
    told = report(cast)
    equal = {who.code: told.row("category_equal", one="classifier", other=who.code) for who in cast.people}
    assert [equal[who.code].figure.value for who in cast.people] == [1.0, 0.5]


def test_categories_of_another_reader_run_do_not_enter(cast):
    item = reply(cast, "run-12")
    classify(cast, item, "coined", reader=make_run(cast.project, "reader"))
    assert "categories" not in {table.name for table in report(cast, run=cast.run.number).tables}


def test_without_categories_no_share_is_said_to_be_0(cast):
    reply(cast, "run-12")
    told = report(cast)
    assert not {"categories", "origins"} & {table.name for table in told.tables}
    with pytest.raises(KeyError):
        told.row("category_coined", "reader")


def test_the_number_of_statements_does_not_grow_with_the_gaps(cast):
    def add(n):
        run = make_run(cast.project, "classifier", settings={"reader_run": cast.run.number})
        for _ in range(n):
            item = reply(cast, "run-12", "Zed-1")
            verdict(run, item, None, finding={"values": {"gaps": [{"question": 0, "category": "coined"}]}})

    counts = []
    for n in (1, 2, 12):
        add(n)
        with CaptureQueriesContext(connection) as queries:
            report(cast)
        counts.append(len(queries))
    assert counts[1] == counts[2]


def test_the_command_publishes_and_says_how_many(cast):
    reply(cast, "run-12", "GTR")
    out = io.StringIO()
    given = ("publish_gaps", cast.project.slug, cast.study.slug, "--run", str(cast.run.number))
    call_command(*given, "--json", stdout=out)
    said = json.loads(out.getvalue())
    assert (said["n_found"], said["n_new"]) == (2, 2)
    out = io.StringIO()
    call_command(*given, stdout=out)
    assert "there already: 2" in out.getvalue()
