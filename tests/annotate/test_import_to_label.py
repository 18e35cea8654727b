"""From a trace file of each format to a blind label, through the doors a person uses."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from annotate import blind, importing
from annotate.models import Annotation, Assignment, Item, Message
from annotate.traces.sniff import readers
from tests.factories import make_cast

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "traces"
NO_REPLIES = {"swe_agent", "mini_swe_agent"}
"""Agents that hand in a change and say nothing to who asked."""
READ = sorted(path for path in FIXTURES.iterdir() if path.stem in readers())
RUNS = [path for path in READ if path.stem not in NO_REPLIES]
HANDWRITING = re.compile(
    r"<\|[a-z_]+\|>"
    r"|###[A-Z]+"
    r"|\b(?:call|toolu|srvtoolu|msg|resp|fc|rs|chatcmpl|req|run|tool|item|evt|sevt)[-_][A-Za-z0-9]{4,}"
    r"|\b(?:end_turn|tool_use|tool_calls|stop_sequence|max_tokens|finish_reason|stop_reason|finishReason)\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b[0-9a-f]{16,}\b"
)
"""Ids, reasons of an end and signs of a model, as the programs write them."""
WITHOUT_IDS = {"agentrx", "mast", "plain_items", "sharegpt", "sightline", "swe_agent", "tau_dialogue", "who_and_when"}
"""Formats that hold none of these."""
AIRLINE = "tau-bench-airline-gpt4o/historical_trajectories/gpt-4o-airline.json"


def label_the_first(client, ana, path):
    """Import, open the first item as its annotator does, submit; returns the item and its page."""
    report = importing.import_traces(project=ana.project, path=path, file_name=path.name)
    assert not report.is_refused
    assert Assignment.objects.filter(annotator=ana).count() == report.n_items > 0
    client.force_login(ana.person)
    page = client.get(reverse("annotate:next_item", args=[ana.project.slug]), follow=True)
    assignment = Assignment.objects.get(annotator=ana, state=Assignment.State.OPEN)
    posted = {"key": "key-of-the-first-answer", "protocol": "1", "number": "0", "label": "readable", "spans": "[]"}
    client.post(reverse("annotate:submit_annotation", args=[assignment.public_id]), posted)
    assert Annotation.objects.get().assignment == assignment
    return assignment.item, page.content.decode()


def private_texts(item):
    """Texts of the agent's own side that stand in no message the requester saw."""
    messages = Message.objects.filter(trace=item.trace)
    seen = "\n".join(messages.filter(seen_by="requester").values_list("text", flat=True))
    hidden = messages.filter(seen_by="agent").exclude(text="").values_list("text", flat=True)
    return [text for text in hidden if text not in seen]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_a_file_of_every_format_can_be_labelled_and_shows_nothing_private(client, path):
    item, page = label_the_first(client, make_cast().ana, path)
    assert 'id="reply-text"' in page
    assert all(text not in page for text in private_texts(item) if len(text) > 12)


@pytest.mark.parametrize("path", [path for path in READ if path.stem in NO_REPLIES], ids=lambda path: path.stem)
def test_a_format_without_replies_comes_in_with_nothing_to_label(path):
    project = make_cast().project
    report = importing.import_traces(project=project, path=path, file_name=path.name)
    assert (report.is_refused, report.n_new > 0, report.n_items) == (False, True, 0)


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_no_handwriting_of_a_program_reaches_an_annotator(path):
    """Of any item of any format, nothing of what tells programs and models apart; it stands in the file."""
    assert (HANDWRITING.search(path.read_text()) is None) <= (path.stem in WITHOUT_IDS)
    project = make_cast().project
    importing.import_traces(project=project, path=path, file_name=path.name)
    items = Item.objects.filter(project=project)
    assert items
    private = set(Message.objects.filter(trace__project=project).values_list("answers_id", flat=True)) - {""}
    for item in items:
        shown = shown_text(blind.preview_item(project.pk, item.pk))
        assert not HANDWRITING.findall(shown)
        assert not [name for name in {*private, item.trace.source_id} if len(name) > 5 and name in shown]


def shown_text(item):
    """Everything of an item that stands on its page."""
    files = [text for file in item.files for text in (file.name, str(file))]
    messages = [piece.text for message in item.messages for piece in message.pieces]
    return "\n".join([*files, *messages, item.text])


@pytest.mark.shared
def test_the_airline_runs_can_be_labelled_and_their_clusters_are_their_tasks(client, shared_data):
    item, page = label_the_first(client, make_cast().ana, shared_data / AIRLINE)
    assert Item.objects.filter(project=item.project).count() == 1290
    assert Item.objects.filter(project=item.project).values("cluster").distinct().count() == 50
    assert "Airline Agent Policy" not in page
    assert all(text not in page for text in private_texts(item) if len(text) > 12)


def test_a_run_of_tau2_shows_the_briefing_and_the_requesters_own_tools_and_nothing_else_of_the_work():
    """The third run of the fixture: two calls of the requester in one message, one of the agent, one more of theirs."""
    project = make_cast().project
    importing.import_traces(project=project, path=FIXTURES / "tau2_bench.json", file_name="tau2_bench.json")
    item = Item.objects.get(project=project, anchor=13)
    shown = blind.preview_item(project.pk, item.pk)
    said = [(message.speaker, "".join(piece.text for piece in message.pieces)) for message in shown.messages]
    assert [file.name for file in shown.files] == ["What you know"]
    assert (
        "you",
        "Wait, I am standing in front of it.\n\nYou used read_display() and look_at_reader(side: left).",
    ) in said
    assert ("you", "You used press_reset().") in said
    assert ("you", "press_reset showed you:\nThe light is green.") in said
    assert said[-1] == ("you", "Green now, thanks!")
    assert shown.text == "Good. Your card should work now."
    assert "look_up_fault" not in str(said)
    assert "night run" not in str(said)
    assert "###" not in str((said, shown.files))
