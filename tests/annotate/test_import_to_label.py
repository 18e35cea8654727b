"""From a trace file of each format to a blind label, through the doors a person uses."""

from pathlib import Path

import pytest
from django.urls import reverse

from annotate import blind, importing
from annotate.models import Annotation, Assignment, Item, Message
from tests.factories import make_cast

pytestmark = pytest.mark.django_db

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "traces"
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


@pytest.mark.parametrize("path", sorted(FIXTURES.iterdir()), ids=lambda path: path.stem)
def test_a_file_of_every_format_can_be_labelled_and_shows_nothing_private(client, path):
    item, page = label_the_first(client, make_cast().ana, path)
    assert 'id="reply-text"' in page
    assert all(text not in page for text in private_texts(item) if len(text) > 12)


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
