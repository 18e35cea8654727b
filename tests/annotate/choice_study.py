"""A project of a team's own question, and what people post to it. The word of the kind stands here and in tests."""

import csv
import json

from django.urls import reverse
from django.utils import timezone

from annotate import importing, setting_up
from annotate.kinds.choice.examples import made, part
from annotate.models import Assignment, Project, Role
from tests.factories import make_person

N_TEXTS = 20
QUESTION = {
    "judged": "text",
    "parts": [
        part(
            "tone",
            "one",
            "Tone",
            required=True,
            ordered=True,
            labels=[
                made("calm", "calm", "平静", "1"),
                made("terse", "terse", "简短", "2"),
                made("angry", "angry", "", "3"),
            ],
        ),
        part(
            "faults",
            "several",
            "Faults",
            labels=[made("long", "too long", key="6"), made("vague", "vague", key="7")],
        ),
        part("clarity", "scale", "Clarity", lowest=1, highest=5, digits=False),
        part("gaps", "marks", "Gaps", labels=[made("term", "term", "术语", "t"), made("ref", "reference", key="r")]),
        part("more", "note", "Anything else", key="n"),
    ],
}  # fmt: skip


def make_study(slug="tone", names=("ana", "ben", "cleo"), schema=QUESTION) -> Project:
    """Made by its lead, with people who annotate."""
    lead = make_person(f"{slug}-lead", may_create_projects=True)
    new = setting_up.NewProject(slug, "Tone", "语气", seed=7, kind="choice", label_schema=schema)
    project = setting_up.create_project(new=new, by=lead, now=timezone.now())
    for name in names:
        person = make_person(f"{slug}-{name}")
        setting_up.add_member(project=project, person=person, role=Role.ANNOTATOR, by=None, now=timezone.now())
    return project


def text_of(number):
    return f"Text {number}: the GTR fell by a third."


def import_texts(project, folder):
    """A table of texts without anything asked."""
    path = folder / "texts.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "language"])
        writer.writerows([f"t{number:02}", text_of(number), "en"] for number in range(N_TEXTS))
    return importing.import_traces(project=project, path=path, file_name=path.name)


def post_of(assignment, fields, spans=(), protocol=1):
    text = assignment.item.trace.messages.get(index=assignment.item.anchor).text
    marks = [{"start": start, "end": end, "type": type, "quote": text[start:end]} for start, end, type in spans]
    number = str(assignment.annotations.count())
    own = {"key": f"key-{assignment.pk:012}-{number}", "protocol": str(protocol), "number": number}
    return {**own, **fields, "spans": json.dumps(marks)}


def label_all(client, member, answer):
    """Through the pages a person uses; `answer(number)` gives fields and spans of the text of this number."""
    client.force_login(member.person)
    while row := Assignment.objects.filter(annotator=member, state=Assignment.State.OPEN).first():
        number = int(row.item.trace.source_id[1:])
        post = post_of(row, *answer(number))
        response = client.post(reverse("annotate:submit_annotation", args=[row.public_id]), post)
        assert response.status_code == 302, response.content.decode()[:2000]
