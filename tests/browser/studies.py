"""Three projects in the middle of their work, so that every page of settling, rounds and pools has something to show:
`tone`, a team's own question over texts; `shared`, a pool; `over`, which is closed."""

import csv
from datetime import timedelta

from django.db.models.functions import Now
from django.utils import timezone

from annotate import importing, knowing, pools, qualifying, reviewing, rounds, setting_up
from annotate.kinds.choice.examples import made, part, title
from annotate.models import Assignment, Disagreement, Item, Membership, Person, Post, Project, Role
from annotate.reviewing import Decision
from scoring import overlap
from scoring.overlap import OverlapRule
from tests.browser.conftest import PASSWORD
from tests.factories import (
    make_annotation,
    make_item,
    make_person,
    make_run,
    make_submitted,
    make_trace,
    make_verdict,
)

QUESTION = {
    "judged": "text",
    "parts": [
        part(
            "tone",
            "one",
            "How calm is it?",
            required=True,
            ordered=True,
            labels=[
                made("calm", "calm", "平静", "1"),
                made("terse", "terse", "简短", "2"),
                made("angry", "angry", "生气", "3"),
            ],
        ),
        part(
            "faults",
            "several",
            "Faults",
            labels=[made("long", "too long", "太长", "6"), made("vague", "vague", key="7")],
        ),
        part(
            "clarity",
            "scale",
            "Clarity",
            lowest=1,
            highest=5,
            ends=[title("not at all", "完全不"), title("fully", "完全")],
        ),
        part("sure", "scale", "How sure are you?", lowest=0, highest=100),
        part(
            "gaps",
            "marks",
            "What is unclear",
            labels=[
                made("unknown_term", "a term that nobody has explained", "没有解释的术语", "t"),
                made("reference", "reference", "", "r"),
            ],
        ),
        part("why", "note", "Why is it angry?", when={"part": "tone", "label": "angry"}, key="w"),
    ],
}  # fmt: skip
SENTENCES = (
    "The GTR fell by a third, as in run-12, and nobody has looked into it since the last report.",
    "It rose again once the second table was read; see R03 for what was left out.",
    "The two designs differ by 4.2 points, which we would call noise at this size.",
)
N_TEXTS = 12
ANNOTATORS = ("ana", "ben", "cleo")


def text_of(number):
    return f"Text {number}: {' '.join(SENTENCES)}"


def label_of(tone, *, faults=(), clarity=None, marked="", more=""):
    answers = {"tone": tone, "faults": list(faults)} | ({"clarity": clarity} if clarity else {})
    return answers, marked, more


def stored(number, answers, marked, more):
    """The label in its JSON form; what is marked is the GTR as `marked`."""
    start = text_of(number).index("GTR")
    span = {"start": start, "end": start + 3, "type": marked, "quote": "GTR"}
    return {"answers": answers, "notes": {"why": more} if more else {}, "spans": [span] if marked else []}


SAID = {
    0: [
        label_of("calm", clarity=4, marked="unknown_term"),
        label_of("calm", faults=["vague"], clarity=2, marked="reference"),
        label_of("angry", faults=["long", "vague"], clarity=1, more="It shouts at whoever reads it."),
    ],
    1: [label_of("calm"), label_of("terse", clarity=5), label_of("angry", marked="unknown_term")],
    2: [label_of("terse"), label_of("angry"), label_of("angry")],
    3: [label_of("calm"), label_of("terse"), label_of("terse")],
    4: [label_of("calm", marked="unknown_term"), label_of("calm", marked="reference"), label_of("calm")],
    5: [label_of("angry"), label_of("calm"), label_of("calm")],
}
"""What the three say of the first texts; of the others all the same."""
ALIKE = [label_of("calm", clarity=3)] * 3


def person(name, **fields):
    row = Person.objects.filter(username=name).first() or make_person(name, **fields)
    row.set_password(PASSWORD)
    row.save()
    return row


def begin(slug, **fields):
    lead = person("lee", may_create_projects=True)
    new = setting_up.NewProject(**{"slug": slug, "title_en": slug.title(), "title_zh": slug, "seed": 7, **fields})
    return setting_up.create_project(new=new, by=lead, now=timezone.now()), lead


def join(project, name, role=Role.ANNOTATOR):
    return setting_up.add_member(project=project, person=person(name), role=role, by=None, now=timezone.now())


def import_texts(project, folder):
    path = folder / "texts.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "language"])
        writer.writerows([f"t{number:02}", text_of(number), "en"] for number in range(N_TEXTS))
    importing.import_traces(project=project, path=path, file_name=path.name)


def say(project, said):
    """Everybody has answered, but ana's last texts."""
    for place, name in enumerate(ANNOTATORS):
        mine = Assignment.objects.filter(annotator__project=project, annotator__person__username=name)
        for row in mine.select_related("item__trace"):
            number = int(row.item.trace.source_id[1:])
            if number >= N_TEXTS - 2 and name == "ana":
                continue
            make_annotation(row, stored(number, *said.get(number, ALIKE)[place]))
            Assignment.objects.filter(pk=row.pk).update(
                state="submitted", first_shown_at=timezone.now(), ended_at=timezone.now()
            )


def item_of(project, number):
    return Item.objects.get(project=project, trace__source_id=f"t{number:02}")


def dispute(project, number):
    return Disagreement.objects.get(item=item_of(project, number)).public_id


def own(project, name, number, round_number):
    return Assignment.objects.get(
        annotator__project=project,
        annotator__person__username=name,
        item=item_of(project, number),
        round__number=round_number,
    )


def opened(project, name, number, round_number):
    """The address of this text, which comes next for them in this round."""
    row = own(project, name, number, round_number)
    others = Assignment.objects.filter(annotator=row.annotator, round=row.round, state=Assignment.State.OPEN)
    others.update(state=Assignment.State.LOCKED)
    Assignment.objects.filter(pk=row.pk).update(state=Assignment.State.OPEN)
    return f"/label/{row.public_id}/"


class Reviewer:
    """What rita does."""

    def __init__(self, project):
        self.project, self.person = project, Person.objects.get(username="rita")
        self.part = Membership.objects.get(project=project, person=self.person)
        reviewing.refresh_queue(project)

    def card(self, number):
        return reviewing.open_card(part=self.part, public_id=dispute(self.project, number))

    def settle(self, number, **decision):
        card = self.card(number)
        base = card.current.number if card.current else 0
        values = {"cause": "slip", "confidence": "high", **decision}
        reviewing.settle_item(
            reviewer=self.person,
            slug=self.project.slug,
            public_id=card.public_id,
            key=f"key-of-settling-{number:02}-{base}",
            base=base,
            seen=card.seen,
            decision=Decision(**values),
        )

    def send_back(self, number, reason):
        card = self.card(number)
        reviewing.send_back(
            reviewer=self.person,
            slug=self.project.slug,
            public_id=card.public_id,
            key=f"key-of-sending-{number:02}",
            seen=card.seen,
            names=[one.name for one in card.answers],
            reason=reason,
            now=timezone.now(),
        )


def own_question(folder):
    """Blind labels are closed; two texts are settled, one is sent back, all disagreements are looked at again."""
    named = {"title_en": "Tone", "title_zh": "语气"}
    project, lee = begin("tone", kind="choice", label_schema=QUESTION, open_phase="main", **named)
    for name in ANNOTATORS:
        join(project, name)
    join(project, "rita", Role.REVIEWER)
    import_texts(project, folder)
    say(project, SAID)
    reviewer = Reviewer(project)
    reviewer.settle(0, adopted="A", cause="guideline", note="The guideline does not say what counts as a term.")
    reviewer.settle(0, adopted="B", cause="ambiguous", confidence="low", note="Both readings hold.")
    reviewer.settle(2, cause="ambiguous", confidence="medium")
    reviewer.send_back(1, "Look at the last sentence again: whom does it mean?")
    now = timezone.now()
    knowing.settle_known(
        lead=lee,
        project=project,
        item_id=item_of(project, 7).pk,
        known=knowing.Known(stored(7, *ALIKE[0]), "", ""),
        now=now,
    )
    qualifying.set_rule(lead=lee, project=project, last=10, percent=60, now=now)
    rounds.close_round(lead=lee, project=project, number=1, rest="go_on", now=now)
    opened = rounds.open_informed_round(lead=lee, project=project, which="disagreeing", now=now)
    talk(project, opened.number)
    tell_gaps(project, opened.number)
    run = make_run(project)
    make_verdict(run, item_of(project, 0), stored(0, *label_of("terse", marked="reference")))
    make_verdict(run, item_of(project, 2), None, is_unreadable=True)
    setting_up.new_protocol(
        project=project,
        guideline_en="Read it **twice**.",
        guideline_zh="读**两**遍。",
        change_note="What a term is; one label less.",
        after=1,
        by=lee,
        now=now,
        label_schema=changed(QUESTION),
    )
    return Project.objects.get(pk=project.pk), opened.number


def changed(question):
    """The next question: a label is called otherwise and one is gone."""
    first, second, *rest = question["parts"]
    calm, *others = first["labels"]
    return {
        **question,
        "parts": [
            {**first, "labels": [{**calm, "title": title("calm and kind", "平静友好")}, *others]},
            {**second, "labels": second["labels"][:1]},
            *rest,
        ],
    }


def talk(project, number):
    said = {"ben": "It names the table but not the row.\nIs that calm?", "ana": "R03 says which row. 那一行在表里。"}
    for name, text in said.items():
        row = own(project, name, 0, number)
        Post.objects.create(item=row.item, round=row.round, author=row.annotator, purpose="thread", text=text)


def tell_gaps(project, number):
    for name, at, text in (("ben", 3, "Is a run's name a term?"), ("cleo", 5, "What of a price without a currency?")):
        row = own(project, name, at, number)
        protocol = project.protocols.get(number=1)
        Post.objects.create(
            item=row.item, round=row.round, author=row.annotator, purpose="gap", text=text, protocol=protocol
        )


def pool():
    """Two have read something of a pool; the place of one who went away is gone."""
    named = {"title_en": "Shared reading", "title_zh": "共同阅读"}
    project, lee = begin("shared", assigning="pool", overlap=1, person_cap=50, open_phase="main", **named)
    ana, ben = join(project, "ana"), join(project, "ben")
    for _ in range(4):
        make_item(trace=make_trace(project))
    pools.fill(project=project)
    gone = pools.next_item(ana.person, "shared").item
    Assignment.objects.filter(public_id=gone.public_id).update(lease_until=Now() - timedelta(seconds=1))
    pools.take_back_expired()
    assert pools.next_item(ben.person, "shared").item
    rule = OverlapRule("label", 0.8, 5, "item")
    overlap.set_overlap_rule(lead=lee, project=project, rule=rule, now=timezone.now())
    return Project.objects.get(pk=project.pk), gone.public_id


def closed():
    """People see what became of their answers."""
    project, lee = begin("over", title_en="What is over", title_zh="已结束的", open_phase="main")
    ana, ben, _ = join(project, "ana"), join(project, "ben"), join(project, "rita", Role.REVIEWER)
    items = [make_item(trace=make_trace(project)) for _ in range(3)]
    for item in items:
        make_submitted(ana, item, "readable")
        make_submitted(ben, item, "unrepairable_or_no_answer")
    reviewing.refresh_queue(project)
    part = Membership.objects.get(project=project, role=Role.REVIEWER)
    for place, item in enumerate(items):
        card = reviewing.open_card(part=part, public_id=item.disagreement.public_id)
        wanted = {0: "readable", 1: "unrepairable_or_no_answer"}.get(place)
        adopted = next((one.name for one in card.answers if one.label["label"] == wanted), "")
        reviewing.settle_item(
            reviewer=part.person,
            slug="over",
            public_id=card.public_id,
            key=f"key-of-the-end-{place:02}",
            base=0,
            seen=card.seen,
            decision=Decision(adopted=adopted, cause="slip", confidence="high"),
        )
    reviewing.close_project(lead=lee, project=project, show_settled=True, knowingly=True, now=timezone.now())
    mine = Assignment.objects.filter(annotator=ana).order_by("order").values_list("public_id", flat=True)
    return project, list(mine)
