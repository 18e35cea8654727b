"""Nothing beside the shown text tells what is hidden: from addresses, places, lengths and headers of over 2,000
assignments nobody can predict the arm, the model, which items are known, or what a judge said."""

import random
import re

import numpy as np
import pytest

from annotate.assigning import extend_plan
from annotate.models import Assignment, Settlement
from annotate.traces import base
from tests.factories import NOW, make_item, make_member, make_project, make_run, make_trace, make_verdict
from tests.guards.leaks import in_header
from tests.guards.predicting import area, auc_of_unseen

pytestmark = pytest.mark.django_db

N_TRACES, N_ASSIGNMENTS = 540, 2000
BOUND = 0.04
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
SHOWN = re.compile(rb'<div class="text"[^>]*>.*?</div>', re.DOTALL)
OF_THE_REQUEST = re.compile(rb'(csrfmiddlewaretoken" value="|name="key" value=")[^"]+')


# The classifier can see what there is to be seen


def test_a_feature_that_tells_is_found_and_noise_is_not():
    draw = np.random.default_rng(3)
    is_so = draw.random(2000) < 0.5
    noise = draw.normal(size=(2000, 40))
    assert abs(auc_of_unseen(noise, is_so) - 0.5) < BOUND
    telling = np.column_stack([noise, is_so + draw.normal(size=2000)])
    assert auc_of_unseen(telling, is_so) > 0.7
    assert area(np.array([1, 2, 3, 4]), np.array([False, False, True, True])) == 1


# The product


@pytest.fixture
def material():
    """A project whose traces came sorted by what is hidden of them, and by item what that is."""
    rng, project = random.Random(5), make_project(seed=11)
    hidden, run = {}, make_run(project)
    for number in range(N_TRACES):
        model = "one" if number < N_TRACES // 2 else "other"
        said = [base.Message(0, "user", "What came of it?"), base.Message(1, "assistant", "It is done, in all parts.")]
        said += [base.Message(2, "system", "Be brief. " * rng.randrange(1, 60))] if model == "one" else []
        trace = make_trace(project, said, metadata={"model": model}, cluster=f"c{number}")
        item = make_item(trace=trace, reply=1, arm=rng.choice(("a", "b")), point=str(number))
        is_known, is_judged = rng.random() < 0.3, rng.random() < 0.5
        hidden[item.pk] = {"model": model == "one", "arm": item.arm == "a", "known": is_known, "judged": is_judged}
        if is_known:
            Settlement.objects.create(item=item, how="known", label={"label": "readable"})
        make_verdict(run, item, "readable" if is_judged else None)
    return project, hidden


def looked_at(client, material, names, plant=lambda rows: None):
    """Features and secrets of every assignment of these people, each opened in its turn."""
    project, hidden = material
    found = []
    for name in names:
        member = make_member(project, name)
        extend_plan(member=member, project=project, round_=project.rounds.get(), now=NOW)
        plant(Assignment.objects.filter(annotator=member).select_related("item__trace"))
        client.force_login(member.person)
        for row in Assignment.objects.filter(annotator=member).order_by("order"):
            Assignment.objects.filter(pk=row.pk).update(state="open")
            found.append((features_of(client, row), hidden[row.item_id]))
            Assignment.objects.filter(pk=row.pk).update(state="submitted")
    return found


def features_of(client, row):
    """What somebody with developer tools has beside the text: the address, the place in the plan, and of the answer its
    length without what is shown, and its headers."""
    answer = client.get(f"/label/{row.public_id}/")
    assert answer.status_code == 200
    body = OF_THE_REQUEST.sub(b"", SHOWN.sub(b"", answer.content))
    heads = sorted(answer.headers.items())
    letters = [LETTERS.index(letter) for letter in row.public_id[:20].ljust(20, "0")]
    return [
        *letters,
        *(letter % 2 for letter in letters),
        row.order,
        row.order % 2,
        row.order % 10,
        len(body),
        len(heads),
        sum(len(name) + len(value) for name, value in heads if name != "Set-Cookie"),
        len(answer.cookies),
    ]


def auc_of(rows, name):
    return auc_of_unseen([features for features, _ in rows], [hidden[name] for _, hidden in rows])


def off_chance(rows):
    """By secret, how far it lies off chance, where that is further than the bound."""
    assert len(rows) >= N_ASSIGNMENTS
    off = {name: float(auc_of(rows, name)) - 0.5 for name in ("model", "arm", "known", "judged")}
    return {name: far for name, far in off.items() if abs(far) > BOUND}, off


def test_nothing_beside_the_text_predicts_what_is_hidden(client, material, record_property):
    """Addresses are drawn anew each time, so once in some fifty times one of the four is off by chance: then four other
    people look, and what tells is off again."""
    found, off = off_chance(looked_at(client, material, ("ana", "ben", "cy", "di")))
    for name, far in off.items():
        record_property(f"auc {name}", round(0.5 + far, 3))
    if not found:
        return
    again, off = off_chance(looked_at(client, material, ("eve", "flo", "gus", "hal")))
    for name in found:
        record_property(f"auc {name} again", round(0.5 + off[name], 3))
    assert not [name for name, far in found.items() if again.get(name, 0) * far > 0], (found, again)


# What would tell, planted


def an_id_by_the_time(rows):
    """As a counter gives it: material that came sorted is told by it."""
    for row in rows:
        Assignment.objects.filter(pk=row.pk).update(public_id=f"{row.item_id:012}{row.annotator_id:08}")


def an_id_by_the_arm(rows):
    for row in rows:
        Assignment.objects.filter(pk=row.pk).update(public_id=f"{row.item.arm}{row.public_id[1:]}")


def an_order_by_the_model(rows):
    for place, row in enumerate(sorted(rows, key=lambda row: row.item.trace.metadata["model"])):
        Assignment.objects.filter(pk=row.pk).update(order=10_000 + place)


PLANTED = {
    "time-ordered id": (an_id_by_the_time, "model"),
    "an id by the arm": (an_id_by_the_arm, "arm"),
    "sort by model": (an_order_by_the_model, "model"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_leak_is_caught(client, material, name, record_property):
    record_property("named", name)
    plant, secret = PLANTED[name]
    assert auc_of(looked_at(client, material, ("ana",), plant), secret) > 0.5 + 2 * BOUND


def test_a_planted_leak_is_caught_in_a_header(client, material, monkeypatch):
    in_header("ETag", lambda item: "e" * (3 if item.arm == "a" else 5))(monkeypatch)
    assert auc_of(looked_at(client, material, ("ana",)), "arm") > 0.5 + 2 * BOUND
