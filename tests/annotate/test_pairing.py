"""Two versions read blind: what is drawn, who has what of it, and that nothing else gives anybody anything."""

import csv
import json
from collections import Counter
from itertools import combinations

import pytest

from annotate import assigning, pair_queries, pairing, people, setting_up
from annotate.errors import NotYours, Refused
from annotate.models import Assignment, Event, Item, Membership, PairsDraw, Project, Trace
from annotate.rules.pairs import Wanted
from tests.annotate.pair_study import CODES, make_study, publish
from tests.annotate.test_commands import Said
from tests.factories import NOW, make_item, make_member, make_person, make_submitted, make_trace

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(db):
    return make_study()


def drawn(study, seed=3, **options):
    return pairing.draw_pairs(lead=study.lea.person, project=study.project, seed=seed, now=NOW, **options)


def refusal(study, **options):
    with pytest.raises(Refused) as refused:
        drawn(study, **options)
    assert refused.value.problem.sentence()
    return refused.value.problem


def given(study):
    return Assignment.objects.filter(annotator__project=study.project)


def test_83_points_of_ten_collaborations_are_208_and_207_assignments():
    study = make_study(n_points=9)
    found = drawn(study, wanted=Wanted(n_points=83))
    assert len(found.collaborations) == 10
    assert Counter(given(study).values_list("item__arm", flat=True)) == {"default": 208, "rewrite": 207}
    assert Counter(given(study).values_list("annotator__code", flat=True)) == dict.fromkeys(CODES, 83)
    read = {code: set(given(study).filter(annotator__code=code).values_list("item", flat=True)) for code in CODES}
    assert all(read[one] & read[other] for one, other in combinations(CODES, 2))
    points = Counter(given(study).values_list("annotator__code", "item__point"))
    assert set(points.values()) == {1}
    of_points = Counter(given(study).values_list("item__point", "item__arm"))
    assert sorted(of_points.values()) == [2] * 83 + [3] * 83
    assert pair_queries.n_of_versions(study.project) == {"default": 208, "rewrite": 207}


def test_versions_that_were_drawn_are_planned_and_no_other_items(study):
    drawn(study, wanted=Wanted(quota=1))
    planned = Item.objects.filter(project=study.project, is_planned=True)
    assert set(planned.values_list("pk", flat=True)) == set(given(study).values_list("item", flat=True))
    assert planned.count() == 20


def test_everybody_reads_collaborations_whole_in_an_order_of_their_own_and_begins_with_the_first(study):
    drawn(study)
    orders = set()
    for member in study.five:
        plan = list(member.assignments.order_by("order").select_related("item__trace"))
        assert [one.order for one in plan] == list(range(20))
        assert [one.sequence for one in plan] == [1 + place // 2 for place in range(20)]
        assert [one.state for one in plan] == ["open"] + ["locked"] * 19
        assert all(one.point == one.item.point for one in plan)
        assert all(one.item.anchor < other.item.anchor for one, other in zip(plan[::2], plan[1::2], strict=True))
        orders.add(tuple(one.item.trace_id for one in plan[::2]))
    assert len(orders) == 5


def test_seed_slots_and_points_are_stored_and_the_event_says_it(study):
    found = drawn(study, seed=11)
    assert (found.seed, found.asked["codes"], found.person) == (11, list(CODES), study.lea.person)
    assert [sorted(one["slots"]) for one in found.collaborations] == [list(CODES)] * 10
    number = 0
    for one in found.collaborations:
        for point in one["points"]:
            arms = dict(given(study).filter(item__point=point).values_list("annotator__code", "item__arm"))
            assert [arms[code] for code in one["slots"]] == [
                ("default", "rewrite")[(place + number) % 2] for place in range(5)
            ]
            number += 1
    event = Event.objects.get(project=study.project, action="pairs_drawn")
    assert event.detail == {"seed": 11, "collaborations": 10, "points": 20, "codes": list(CODES)}


def test_the_seed_decides(study):
    drawn(study)
    first = plans_of(study)
    assert first == plans_of(twin(study))
    assert first != plans_of(twin(study), seed=4)


def twin(study):
    Assignment.objects.all().delete()
    PairsDraw.objects.all().delete()
    return study


def plans_of(study, seed=3):
    if not PairsDraw.objects.exists():
        drawn(study, seed=seed)
    rows = given(study).order_by("annotator__code", "order")
    return list(rows.values_list("annotator__code", "item", "order", "sequence", "state"))


def test_it_is_drawn_once(study):
    drawn(study)
    before = plans_of(study)
    assert refusal(study, seed=4).code == "drawn_already"
    assert plans_of(study) == before
    assert PairsDraw.objects.get().seed == 3


def test_nothing_is_drawn_where_somebody_has_something_already(study):
    make_submitted(study.five[0], make_item(study.project))
    assert refusal(study).code == "drawn_already"
    assert not Item.objects.filter(is_planned=True, point__isnull=False).exists()


@pytest.mark.parametrize("n", [4, 6])
def test_there_are_five_annotators_or_nothing_is_drawn(study, n):
    if n == 4:
        people.retire_member(project=study.project, member_id=study.five[0].pk, by=study.lea.person, now=NOW)
    else:
        make_member(study.project, "sixth", code="A06")
    assert refusal(study).code == "not_five_annotators"
    if n == 6:
        assert refusal(study, codes=["A01", "A02", "A03", "A04", "A09"]).code == "unknown_code"
        drawn(study, codes=["A02", "A03", "A04", "A05", "A06"])
        assert not study.five[0].assignments.exists()


def test_all_five_read_every_language(study):
    Membership.objects.filter(pk=study.five[2].pk).update(languages=["en"])
    problem = refusal(study)
    assert (problem.code, problem.params["code"], problem.params["language"]) == ("does_not_read", "A03", "zh")


def test_what_cannot_hold_is_said_and_nothing_is_written(study):
    assert refusal(study, wanted=Wanted(quota=3)).code == "collaboration_too_short"
    kept = list(Trace.objects.filter(language="zh").values_list("pk", flat=True)[:4])
    Item.objects.filter(trace__language="zh").exclude(trace__in=kept).delete()
    assert refusal(study).code == "too_few_of_language"
    assert not given(study).exists()
    assert not Event.objects.filter(action="pairs_drawn").exists()


def test_a_rewrite_without_a_default_is_named(study):
    gone = Item.objects.filter(arm="default").first()
    gone.delete()
    problem = refusal(study)
    assert (problem.code, problem.params["points"]) == ("no_default", gone.point)


def test_samples_and_other_conditions_are_drawn_for_nobody(study):
    for arm in ("default#1", "rewrite#2", "notice"):
        publish_more(study, arm)
    drawn(study)
    assert set(given(study).values_list("item__arm", flat=True)) == {"default", "rewrite"}


def publish_more(study, arm):
    one = Item.objects.filter(project=study.project, arm="default").first()
    make_item(trace=one.trace, reply=one.anchor, text="More.", point=one.point, arm=arm, is_planned=False)


def test_only_a_project_that_gives_by_pairs_only_its_lead_and_only_an_open_one(study):
    with pytest.raises(NotYours):
        pairing.draw_pairs(lead=study.five[0].person, project=study.project, seed=3, now=NOW)
    Project.objects.filter(pk=study.project.pk).update(closed_at=NOW)
    assert refusal(study).code == "no_pairs"
    Project.objects.filter(pk=study.project.pk).update(closed_at=None, assigning="panel")
    assert refusal(study).code == "no_pairs"


@pytest.mark.parametrize("slug", ["blind-a2", "default-or-rewritten", "two_versions", "ab-1", "pairs"])
def test_a_name_that_tells_annotators_of_two_versions_is_refused(slug):
    assert refusal(make_study(slug=slug, n_points=1)).code == "name_tells"


# What extends a plan elsewhere gives nobody anything here


def test_an_import_a_late_joiner_and_a_return_change_no_plan(study):
    drawn(study)
    before = plans_of(study)
    make_item(trace=make_trace(study.project))
    publish(study.project, n_models=1, areas=("late",))
    assert assigning.extend_panel(project=study.project, now=NOW) == 0
    late = setting_up.add_member(
        project=study.project,
        person=make_person("late"),
        role="annotator",
        languages=("en", "zh"),
        by=None,
        now=NOW,
    )
    assert not late.assignments.exists()
    first = study.five[0]
    people.retire_member(project=study.project, member_id=first.pk, by=study.lea.person, now=NOW)
    assert set(first.assignments.values_list("state", flat=True)) == {"withdrawn"}
    assert {one for one in plans_of(study) if one[0] != "A01"} == {one for one in before if one[0] != "A01"}


def test_nothing_is_planned_before_the_draw(study):
    Item.objects.update(is_planned=True)
    assert assigning.extend_panel(project=study.project, now=NOW) == 0
    assert not given(study).exists()


def test_another_choice_in_the_settings_takes_the_draw_away_until_something_was_read(study):
    drawn(study)
    chosen = setting_up.settings_of(study.project)
    panel, pairs = (setting_up.ProjectSettings(**{**as_dict(chosen), "assigning": way}) for way in ("panel", "pairs"))
    setting_up.update_project(project=study.project, new=panel, by=study.lea.person, now=NOW)
    assert not PairsDraw.objects.exists()
    assert not Item.objects.filter(is_planned=True).exists()
    assert not given(study).exists()
    setting_up.update_project(project=study.project, new=pairs, by=study.lea.person, now=NOW)
    drawn(study, seed=5)
    given(study).filter(state="open").update(first_shown_at=NOW)
    with pytest.raises(Refused) as refused:
        setting_up.update_project(project=study.project, new=panel, by=study.lea.person, now=NOW)
    assert refused.value.problem.code == "in_use"
    assert PairsDraw.objects.get().seed == 5


def as_dict(chosen):
    return {name: getattr(chosen, name) for name in chosen.__dataclass_fields__}


# One of the five is replaced


def taken_over(study, code="A03", by="A06"):
    return pairing.take_over(lead=study.lea.person, project=study.project, code=code, by_code=by, now=NOW)


def not_taken_over(study, **options):
    before = plans_of(study)
    with pytest.raises(Refused) as refused:
        taken_over(study, **options)
    assert plans_of(study) == before
    assert refused.value.problem.sentence()
    return refused.value.problem.code


def test_another_reads_what_one_of_the_five_has_not_finished_in_their_order(study):
    drawn(study)
    old, new = study.five[2], make_member(study.project, "sixth", code="A06")
    plan = list(old.assignments.order_by("order").values_list("item", "point", "sequence"))
    first, second, third = old.assignments.order_by("order")[:3]
    Assignment.objects.filter(pk__in=[first.pk, second.pk]).update(state="submitted", first_shown_at=NOW, ended_at=NOW)
    Assignment.objects.filter(pk=third.pk).update(state="open", first_shown_at=NOW, draft={"comment": "so"})
    assert taken_over(study) == 18
    rest = list(new.assignments.order_by("order").values_list("item", "point", "order", "sequence", "state"))
    assert [(item, point) for item, point, *_ in rest] == [(item, point) for item, point, _ in plan[2:]]
    assert [order for _, _, order, _, _ in rest] == list(range(18))
    assert [sequence for *_, sequence, _ in rest] == [1 + place // 2 for place in range(18)]
    assert [state for *_, state in rest] == ["open"] + ["locked"] * 17
    assert set(old.assignments.values_list("state", flat=True)) == {"submitted"}
    versions = Counter(given(study).values_list("item__arm", flat=True))
    assert versions == {"default": 50, "rewrite": 50}
    assert PairsDraw.objects.get().asked["taken_over"] == [{"from": "A03", "to": "A06", "texts": 18}]
    assert Event.objects.get(action="pairs_taken_over").detail == {"from": "A03", "to": "A06", "texts": 18}


def test_who_left_and_returns_has_not_again_what_another_took_over(study):
    drawn(study)
    old = study.five[2]
    make_member(study.project, "sixth", code="A06")
    people.retire_member(project=study.project, member_id=old.pk, by=study.lea.person, now=NOW)
    assert taken_over(study) == 20
    people.bring_back_member(project=study.project, member_id=old.pk, by=study.lea.person, now=NOW)
    assert not old.assignments.exists()


def test_what_cannot_be_taken_over_is_named_and_changes_nothing(study):
    drawn(study)
    make_member(study.project, "sixth", code="A06", languages=["en"])
    assert not_taken_over(study) == "does_not_read"
    assert not_taken_over(study, by="A05") == "not_free"
    assert not_taken_over(study, by="Z") == "not_free"
    assert not_taken_over(study, code="A06") == "unknown_code"
    Membership.objects.filter(code="A06").update(languages=["en", "zh"])
    study.five[2].assignments.update(state="submitted")
    assert not_taken_over(study) == "nothing_left"
    with pytest.raises(NotYours):
        pairing.take_over(
            lead=study.five[0].person, project=study.project, code="A01", by_code="A06", now=NOW
        )


def test_nothing_is_taken_over_before_the_draw(study):
    with pytest.raises(Refused) as refused:
        taken_over(study)
    assert refused.value.problem.code == "nothing_drawn"


def test_the_command_lets_somebody_take_over(study):
    drawn(study)
    make_member(study.project, "sixth", code="A06")
    words = ("draw_pairs", study.project.slug, "--take-over", "A03")
    assert Said(*words).code == 1
    assert Said(*words, "--by", "A06", "--json").object == {
        "project": study.project.slug, "from": "A03", "to": "A06", "texts": 20,
    }  # fmt: skip
    assert not study.five[2].assignments.exists()


# The command


def test_the_command_draws_and_shows_who_reads_what(study):
    made = Said("draw_pairs", study.project.slug, "--seed", "3", "--quota", "2", "--json")
    assert (made.code, made.err) == (0, "")
    assert made.object == {
        **{"project": study.project.slug, "seed": 3, "annotators": list(CODES), "collaborations": 10, "points": 20},
        **{"default": 50, "rewrite": 50},
    }
    shown = Said("draw_pairs", study.project.slug, "--show", "--json").object
    assert shown["seed"] == 3
    assert len(shown["assignments"]) == 100
    rows = list(csv.DictReader(Said("draw_pairs", study.project.slug, "--csv").out.splitlines()))
    assert rows == shown["assignments"]
    assert Counter(row["arm"] for row in rows) == {"default": 50, "rewrite": 50}
    words = Said("draw_pairs", study.project.slug, "--show").out
    assert rows[0]["point"] in words


def test_the_command_says_what_was_drawn_in_words(study):
    said = Said("draw_pairs", study.project.slug, "--seed", "3", "--annotators", ",".join(CODES))
    assert "10 collaborations with 20 points" in said.out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--show"], "nothing_drawn"),
        (["--quota", "0"], "out_of_range"),
        (["--more", "-1"], "out_of_range"),
        (["--annotators", "A01,A02"], "not_five_annotators"),
        (["--per-area", "3"], "numbers_do_not_fit"),
    ],
)
def test_the_command_refuses_by_name(study, words, code):
    said = Said("draw_pairs", study.project.slug, *words, "--json")
    assert said.code == 1
    assert [one["code"] for one in json.loads(said.out)["problems"]] == [code]


# The page


@pytest.fixture
def lead(client, study):
    client.force_login(study.lea.person)
    return client


def test_the_page_says_what_can_be_drawn_and_draws_it(lead, study):
    page = f"/projects/{study.project.slug}/pairs/"
    before = lead.get(page).content.decode()
    assert before.count("<td>en</td>") == 4
    assert "Draw</button>" in before
    answer = lead.post(f"{page}draw/", {"seed": "17", "quota": "1", "n_points": "", "people": list(CODES)})
    assert (answer.status_code, answer["Location"]) == (302, page)
    made = PairsDraw.objects.get()
    assert (made.seed, made.person, made.asked["quota"]) == (17, study.lea.person, 1)
    after = lead.get(page).content.decode()
    assert "<dd>17</dd>" in after
    assert "A01, A02, A03, A04, A05" in after
    assert "Draw</button>" not in after
    assert not any(point in after for point in Item.objects.values_list("point", flat=True))


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"quota": "0"}, "quota"),
        ({"quota": "many"}, "quota"),
        ({"n_points": "9" * 30}, "n_points"),
        ({"seed": "-1"}, "seed"),
        ({"quota": "99"}, "quota"),
        ({"people": CODES[:4]}, "annotators"),
    ],
)
def test_the_page_says_what_is_wrong_and_keeps_what_was_typed(lead, study, typed, field):
    sent = {"people": list(CODES), "seed": "17", **typed}
    answer = lead.post(f"/projects/{study.project.slug}/pairs/draw/", sent)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'data-field="{field}"' in page
    assert f'value="{sent["seed"]}"' in page
    assert not PairsDraw.objects.exists()


def test_the_page_is_for_leads_and_for_projects_that_give_by_pairs(client, lead, study):
    Project.objects.update(assigning="panel")
    assert "another way" in lead.get(f"/projects/{study.project.slug}/pairs/").content.decode()
    client.force_login(study.five[0].person)
    assert client.get(f"/projects/{study.project.slug}/pairs/").status_code == 404
    assert client.post(f"/projects/{study.project.slug}/pairs/draw/", {}).status_code == 404


def test_the_page_takes_as_many_statements_for_more_texts(study, django_assert_num_queries):
    drawn(study)
    with django_assert_num_queries(4):
        pairing.standing(study.project)
