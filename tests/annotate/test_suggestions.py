"""What rules suggest is stored with the item when it comes in, and shown but for a share that the project leaves
off."""

from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction

from annotate import blind, labeling, setting_up
from annotate.errors import Refused
from annotate.forms import new_annotation
from annotate.importing import import_traces
from annotate.kinds.base import LabelError
from annotate.kinds.redundancy.examples import label
from annotate.kinds.redundancy.schema import SCHEMA
from annotate.models import Event, Project
from annotate.rules.left_off import is_left_off
from tests.annotate.traces.files import lines, record
from tests.factories import NOW, make_assignment, make_cast, make_protocol

pytestmark = pytest.mark.django_db

CALL = {"role": "assistant", "text": "", "calls": [{"name": "get_user", "arguments": '{"id": 1, "all": true}'}]}
AGAIN = {"role": "assistant", "text": "", "calls": [{"name": "get_user", "arguments": '{"all": true, "id": 1.0}'}]}
MESSAGES = [
    {"role": "system", "text": "Never book twice."},
    {"role": "user", "text": "Who am I?"},
    CALL,
    {"role": "tool", "text": "Ann"},
    AGAIN,
    {"role": "tool", "text": "Ann"},
    CALL,
    {"role": "tool", "text": "Bea, as of now"},
    {"role": "assistant", "text": "", "calls": [{"name": "get_room", "arguments": "{}"}]},
    {"role": "tool", "text": "No such room, sadly"},
    {"role": "assistant", "text": "You are Ann."},
]
"""The second call asks the same with its keys in another order; the third gets another answer."""
REPEATED = {"step": [4, 5], "type": "DUP", "evidence": [2, 3], "rules": ["identical"], "keyword": ""}


@pytest.fixture
def cast(db):
    return make_cast(kind="redundancy")


@pytest.fixture
def bring_in(tmp_path):
    def bring_in(project, *names, **options):
        path = tmp_path / "runs.jsonl"
        path.write_bytes(lines(*(record(name, MESSAGES) for name in names)))
        report = import_traces(project=project, path=path, file_name="runs.jsonl", **options)
        assert not report.is_refused, report.tally.problems
        return {item.trace.source_id: item for item in project.items.select_related("trace")}

    return bring_in


def open_item(member, item):
    return member.assignments.filter(item=item).first() or make_assignment(member, item)


def answer(assignment, data):
    assignment.__class__.objects.filter(pk=assignment.pk).update(state="open")
    opened = blind.open_assignment(assignment.annotator.person, assignment.public_id)
    new = new_annotation(
        data=data, protocol=labeling.protocols_of(opened)[0], number=0, draft_number=0,
        timing=labeling.Timing(0, 0, 0), reason="", kind=opened.kind, text=opened.text, shown=opened.shown,
    )  # fmt: skip
    return labeling.submit_annotation(assignment=opened, key="a-key-of-16-signs", new=new, now=NOW)


def test_what_the_rules_find_is_stored_with_the_item_and_shown_to_who_gets_it(cast, bring_in):
    (item,) = bring_in(cast.project, "one").values()
    assert (item.suggestions, item.suggestions_shown) == ([REPEATED], True)
    shown = blind.show_item(cast.ana.person, open_item(cast.ana, item).public_id)
    assert shown.suggestions == (REPEATED,)


def test_it_has_to_be_decided_before_a_label_is_taken(cast, bring_in):
    (item,) = bring_in(cast.project, "one").values()
    with pytest.raises(LabelError, match="not decided yet: 4-5"):
        answer(open_item(cast.ana, item), label(outcome="none"))
    assert answer(open_item(cast.ana, item), label(outcome="none", decisions=[((4, 5), "reject")])).number == 1


def test_a_kind_without_rules_stores_none(bring_in):
    cast = make_cast()
    item = next(iter(bring_in(cast.project, "one").values()))
    assert (item.suggestions, item.suggestions_shown) == (None, True)


def test_suggestions_are_those_of_the_schema_at_import(cast, bring_in):
    bring_in(cast.project, "before")
    keywords = {**SCHEMA["keywords"], "INC": ["no such room"]}
    make_protocol(cast.project, label_schema={**SCHEMA, "keywords": keywords})
    items = bring_in(cast.project, "before", "behind")
    assert items["before"].suggestions == [REPEATED]
    assert [one["type"] for one in items["behind"].suggestions] == ["DUP", "INC"]
    make_protocol(cast.project, label_schema={**SCHEMA, "suggest": False})
    assert bring_in(cast.project, "off")["off"].suggestions == []


def test_a_share_is_stored_and_not_shown_and_nothing_is_asked_about_it(cast, bring_in):
    Project.objects.filter(pk=cast.project.pk).update(suggestions_off=50)
    items = bring_in(cast.project, *(f"run {k}" for k in range(40)))
    off = {name for name, item in items.items() if not item.suggestions_shown}
    expected = {name for name in items if is_left_off(50, seed=7, format="sightline", source_id=name)}
    assert off == expected
    assert 10 < len(off) < 30
    assert all(item.suggestions == [REPEATED] for item in items.values())
    hidden, other = (items[sorted(names)[0]] for names in (off, set(items) - off))
    seen = [
        blind.show_item(member.person, open_item(member, item).public_id).suggestions
        for member in (cast.ana, cast.ben)
        for item in (hidden, other)
        if make_open(open_item(member, item))
    ]
    assert seen == [(), (REPEATED,)] * 2
    assert blind.preview_item(cast.project.pk, hidden.pk).suggestions == ()
    assert answer(open_item(cast.ana, hidden), label(outcome="none")).number == 1


def make_open(assignment):
    return type(assignment).objects.filter(pk=assignment.pk).update(state="open")


def test_practice_is_always_shown_with_them(cast, bring_in):
    Project.objects.filter(pk=cast.project.pk).update(suggestions_off=100)
    (item,) = bring_in(cast.project, "one", phase="practice").values()
    assert item.suggestions_shown


def test_the_share_is_a_setting_that_says_what_it_can_be(cast):
    cast.project.refresh_from_db()
    old = setting_up.settings_of(cast.project)
    for share in (-1, 101):
        with pytest.raises(Refused) as refusal:
            change(cast, old, suggestions_off=share)
        assert (refusal.value.problem.field, refusal.value.problem.code) == ("suggestions_off", "out_of_range")
        assert "from 0 to 100" in refusal.value.problem.sentence()
    change(cast, old, suggestions_off=25)
    assert Project.objects.get(pk=cast.project.pk).suggestions_off == 25
    assert Event.objects.get(action="project_changed").detail == {"changed": ["suggestions_off"], "suggestions_off": 25}
    with pytest.raises(IntegrityError), transaction.atomic():
        Project.objects.filter(pk=cast.project.pk).update(suggestions_off=101)


def change(cast, old, **values):
    return setting_up.update_project(project=cast.project, new=replace(old, **values), by=cast.lea.person, now=NOW)


def test_the_page_of_settings_asks_for_the_share_where_rules_suggest(cast, client):
    client.force_login(cast.lea.person)
    address = f"/projects/{cast.project.slug}/settings/"
    assert b'name="suggestions_off"' in client.get(address).content
    posted = {"title_en": "A", "title_zh": "B", "languages": ["en", "zh"], "show": "light", "assigning": "panel"}
    posted |= {"text_beside_calls": "private", "overlap": "3", "lease_minutes": "30"}
    assert client.post(address, {**posted, "suggestions_off": "20"}).status_code == 302
    assert Project.objects.get(pk=cast.project.pk).suggestions_off == 20
    assert client.post(address, posted).status_code == 302
    assert Project.objects.get(pk=cast.project.pk).suggestions_off == 20
    assert client.post(address, {**posted, "suggestions_off": "101"}).status_code == 422
    other = make_cast()
    client.force_login(other.lea.person)
    assert b'name="suggestions_off"' not in client.get(f"/projects/{other.project.slug}/settings/").content

