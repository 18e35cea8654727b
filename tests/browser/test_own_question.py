"""A team's own question from its page to a gold set, in the browser: made by a lead, answered by three people, settled
by a reviewer, looked at again, sealed by each rule; and the agreement of each round worked by hand."""

import csv
import re
from fractions import Fraction
from itertools import combinations

import pytest
from django.utils import timezone

from annotate import setting_up, work
from annotate.models import Annotation, Assignment, Disagreement, Project, Release, Role, Settlement
from scoring.comparing import agreement_report
from tests.annotate.choice_study import N_TEXTS, text_of
from tests.browser.conftest import PASSWORD
from tests.browser.test_choice import make_the_question
from tests.factories import make_person

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CALM, TERSE, ANGRY = LABELS = ("calm", "terse", "angry")
PEOPLE = ("ana", "ben", "cleo")
AGREED = {number: (LABELS[number % 3],) * 3 for number in range(N_TEXTS)}
FIRST = AGREED | {0: (CALM, CALM, ANGRY), 4: (TERSE, ANGRY, ANGRY), 9: (CALM, TERSE, ANGRY), 14: (ANGRY, TERSE, TERSE)}
"""What each says of the texts, blind; they differ on four."""
AGAIN = {0: (CALM, CALM, CALM), 4: (TERSE, ANGRY, ANGRY), 9: (CALM, TERSE, TERSE), 14: (ANGRY, TERSE, TERSE)}
"""Informed, on those four: cleo comes over on two of them."""
AMBIGUOUS, SURE = "a", "h"
"""The keys of a cause and of how sure a reviewer is."""
MARKED = {1: "t", 2: "r"}
"""As what everybody marks the first word of a text."""


# By hand


def pairs_of(rows):
    """Every ordered pair of two people's labels of one text, with what it weighs: a text of n labels counts n."""
    for row in rows:
        for first, second in combinations(row, 2):
            weight = Fraction(1, len(row) - 1)
            yield first, second, weight
            yield second, first, weight


def share_equal(rows):
    equal = [first == second for row in rows for first, second in combinations(row, 2)]
    return Fraction(sum(equal), len(equal))


def fleiss_of(rows):
    """Fleiss' kappa: equal pairs, and those by chance from the shares of all labels."""
    labels = [label for row in rows for label in row]
    chance = sum(Fraction(labels.count(label), len(labels)) ** 2 for label in LABELS)
    return (share_equal(rows) - chance) / (1 - chance)


def ordinal_alpha_of(rows):
    """Krippendorff's alpha, where two labels are as far apart as there are labels between them: the squared sum of
    their frequencies and of those between, each end by half."""
    labels = [label for row in rows for label in row]
    counts = [labels.count(label) for label in LABELS]

    def distance(first, second):
        low, high = sorted((LABELS.index(first), LABELS.index(second)))
        between = sum(counts[low : high + 1]) - Fraction(counts[low] + counts[high], 2)
        return between**2 if low != high else Fraction(0)

    observed = sum(weight * distance(first, second) for first, second, weight in pairs_of(rows)) / len(labels)
    expected = sum(distance(first, second) for first in labels for second in labels)
    return 1 - observed / Fraction(expected, len(labels) * (len(labels) - 1))


def figures(project, **asked):
    report = agreement_report(project, measure="how_calm_is_it", **asked)
    panel = report.as_dict()["measures"][0]["agreement"]
    return {name: panel[name]["value"] for name in ("percent_agreement_pair", "fleiss_kappa", "krippendorff_alpha")}


def by_hand(said):
    rows = list(said.values())
    worked = (share_equal(rows), fleiss_of(rows), ordinal_alpha_of(rows))
    names = ("percent_agreement_pair", "fleiss_kappa", "krippendorff_alpha")
    return {name: float(f"{float(value):.10g}") for name, value in zip(names, worked, strict=True)}


# What people do


def table_of(folder):
    path = folder / "texts.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "language"])
        writer.writerows([f"t{number:02}", text_of(number), "en"] for number in range(N_TEXTS))
    return path


def upload(page, site, path):
    page.goto(f"{site}/projects/tone/imports/")
    page.set_input_files("[name=file]", path)
    page.check("[name=phase][value=main]")
    page.click("#upload-form [type=submit]")
    page.wait_for_url(f"{site}/projects/tone/imports/*/")
    work.drain()
    page.wait_for_selector("text=plain_items")


def join(project, name, role):
    person = make_person(name, PASSWORD)
    setting_up.add_member(project=project, person=person, role=role, by=None, now=timezone.now())


def number_on(page):
    return int(re.search(r"Text (\d+):", page.inner_text(".reply"))[1])


def answer(page, label, mark=""):
    """By keys alone; ends when the next text has come."""
    item = page.get_attribute("#label-form", "data-item")
    page.focus("#reply-text")
    page.keyboard.press(str(LABELS.index(label) + 1))
    if mark:
        page.keyboard.press("Control+Home")
        page.keyboard.press("Shift+Control+ArrowRight")
        page.keyboard.press(mark)
        page.locator(".chip").first.wait_for()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(f"#label-form[data-item='{item}']", state="detached")


def answer_all(page, site, name, said):
    """What this person says, whatever order the texts come in."""
    page.goto(f"{site}/projects/tone/label/")
    for _ in said:
        page.wait_for_selector("#label-form")
        number = number_on(page)
        answer(page, said[number][PEOPLE.index(name)], MARKED.get(number, ""))
    page.wait_for_selector("text=All done")


def settle_all(page, site):
    """Each disagreement gets the label of its middle; one stays unresolved."""
    page.goto(f"{site}/projects/tone/settling/")
    page.wait_for_selector("text=how far apart")
    page.keyboard.press("c")
    for place in range(4):
        page.wait_for_selector("#label-form [name=answer]")
        if number_on(page) == 9:
            page.keyboard.press("u")
        else:
            wanted = {0: CALM, 4: ANGRY, 14: TERSE}[number_on(page)]
            # The end of it: the question itself holds one of the labels.
            said = page.locator(".answered", has_text=re.compile(rf"{wanted}\s*$"))
            card = page.locator(".answers .card", has=said).first
            page.keyboard.press(card.locator("input").get_attribute("data-key"))
        for key in (AMBIGUOUS, SURE, "Control+Enter"):
            page.keyboard.press(key)
        page.wait_for_selector("#settled-title")
        if place < 3:
            page.keyboard.press("c")
            page.wait_for_selector("#settled-title", state="detached")


def look_again(page, site):
    page.goto(f"{site}/projects/tone/rounds/")
    page.click("text=Close the round")
    page.check("[name=which][value=disagreeing]")
    page.click("text=Open the round")
    page.wait_for_selector("text=Close round 2")


def seal(page, site, rule):
    page.goto(f"{site}/projects/tone/releases/")
    page.check(f"[name=rule][value={rule}]")
    page.click("text=Look at what it would hold")
    page.wait_for_selector("text=items with a label")
    page.click("text=Seal it")
    page.wait_for_url(lambda url: url.rstrip("/").rsplit("/", 1)[-1].isdigit())


def tones(release):
    """By the number of its text, what an item ended with and how."""
    rows = release.items.select_related("item__trace")
    return {
        int(row.item.trace.source_id[1:]): (row.label["answers"]["how_calm_is_it"] if row.label else None, row.how)
        for row in rows
    }


def test_from_a_question_to_a_gold_set(somebody, live_server, tmp_path):
    site = live_server.url
    make_person("lee", PASSWORD, may_create_projects=True)
    lead = somebody().sign_in("lee")
    make_the_question(lead, site)
    lead.click("text=Make the project")
    lead.wait_for_url(f"{site}/projects/tone/")
    upload(lead, site, table_of(tmp_path))
    project = Project.objects.get(slug="tone")
    for name in PEOPLE:
        join(project, name, Role.ANNOTATOR)
    join(project, "rita", Role.REVIEWER)

    people = {name: somebody().sign_in(name) for name in PEOPLE}
    for name, page in people.items():
        answer_all(page, site, name, FIRST)
    assert Annotation.objects.count() == 3 * N_TEXTS
    assert figures(project) == by_hand(FIRST)

    settle_all(somebody().sign_in("rita"), site)
    assert Disagreement.objects.filter(weight__gt=0).count() == 4
    assert Settlement.objects.filter(is_current=True).count() == 4

    look_again(lead, site)
    for name, page in people.items():
        answer_all(page, site, name, AGAIN)
    assert Annotation.objects.filter(informed=True).count() == 3 * len(AGAIN)
    assert not Assignment.objects.filter(state="open").exists()
    assert figures(project) == figures(project, round=1) == by_hand(FIRST)
    assert figures(project, round=2) == by_hand(AGAIN)
    lead.goto(f"{site}/projects/tone/agreement/?round=2")
    assert "informed" in lead.inner_text("main")

    for rule in ("majority", "consensus", "reviewed"):
        seal(lead, site, rule)
    majority, consensus, reviewed = (tones(one) for one in Release.objects.order_by("number"))
    alike = {number: said[0] for number, said in AGREED.items() if number not in AGAIN}
    assert {number: majority[number][0] for number in alike} == alike
    assert {number: majority[number] for number in AGAIN} == {
        0: (CALM, "majority"),
        4: (ANGRY, "majority"),
        9: (None, "unresolved"),
        14: (TERSE, "majority"),
    }
    assert {consensus[number] for number in AGAIN} == {(None, "unresolved")}
    assert {number: reviewed[number] for number in AGAIN} == {
        0: (CALM, "reviewer"),
        4: (ANGRY, "reviewer"),
        9: (None, "unresolved"),
        14: (TERSE, "reviewer"),
    }
