"""The rule for more people, set by a lead's script."""

import pytest
from django.core.cache import cache

from annotate.models import Work
from scoring.overlap import OverlapRule, rule_of
from tests.annotate.api.asking import Script, codes
from tests.factories import make_cast, make_member

pytestmark = pytest.mark.django_db
RULE = {"measure": "fail", "under": 0.8, "at_most": 5, "each": "item"}
NONE = dict.fromkeys(RULE)


@pytest.fixture
def cast():
    cache.clear()
    return make_cast(assigning="pool", overlap=3)


def of(cast):
    return f"projects/{cast.project.slug}/overlap-rule/"


def test_a_rule_is_set_told_and_ended(cast):
    lea = Script(cast.lea)
    assert lea.get(of(cast)).json() == NONE
    assert lea.put(of(cast), RULE).json() == RULE
    cast.project.refresh_from_db()
    assert rule_of(cast.project) == OverlapRule(**RULE)
    assert Work.objects.get().kind == "extend_overlap"
    assert lea.put(of(cast), {**RULE, "under": 1}).json() == {**RULE, "under": 1}
    assert lea.put(of(cast), NONE).json() == lea.get(of(cast)).json() == NONE


def test_what_is_no_rule_is_named(cast):
    lea = Script(cast.lea)
    for values, found in (
        ({"under": "0.8"}, {("under", "wrong_type")}),
        ({"under": True}, {("under", "wrong_type")}),
        ({"under": 1.5}, {("under", "out_of_range")}),
        ({"under": 0}, {("under", "out_of_range")}),
        ({"under": None}, {("under", "out_of_range")}),
        ({"at_most": 51}, {("at_most", "out_of_range")}),
        ({"each": "person"}, {("each", "unknown_value")}),
        ({"measure": "mood"}, {("measure", "unknown_measure")}),
        ({"measure": None}, {("measure", "unknown_measure")}),
    ):
        response = lea.put(of(cast), {**RULE, **values})
        assert (response.status_code, codes(response)) == (422, found), values
    assert lea.get(of(cast)).json() == NONE
    endless = lea.put(of(cast), '{"measure": "fail", "under": 1e999, "at_most": 5, "each": "item"}')
    assert endless.status_code in (400, 422)


def test_a_panel_has_no_such_rule_and_only_leads_see_it(cast):
    panel = make_member(cast.other_project, "zack", "lead")
    response = Script(panel).put(f"projects/{panel.project.slug}/overlap-rule/", RULE)
    assert (response.status_code, codes(response)) == (422, {("each", "no_pool")})
    for who in (cast.ana, cast.rita, cast.zoe):
        script = Script(who)
        missing = script.get("never-was/").content
        for response in (script.get(of(cast)), script.put(of(cast), RULE)):
            assert (response.status_code, response.content) == (404, missing)

