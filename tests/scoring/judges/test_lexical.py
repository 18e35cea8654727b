import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.kinds.reply.label import MAX_SPANS, SCHEMA, dump, parse
from annotate.kinds.reply.settle import from_finding
from annotate.rules.requester_view import replies
from annotate.rules.whole_tokens import WholeTokens
from scoring.judges.base import ReplyView, SettingsError
from scoring.judges.lexical import JUDGE
from tests.annotate.traces.files import ROOT, read

DEMO = Path(ROOT) / "fixtures" / "demo"


def make_view(reply, *, held=(), earlier=(), dialog=("How is it going?",), files=(), language="en"):
    return ReplyView(language, dialog[-1], files, dialog, reply, held, earlier)


def judged(view, **settings):
    return JUDGE.step(view, JUDGE.read_settings(settings))


def quotes(view, **settings):
    return [span.quote for span in judged(view, **settings).spans]


def label_of(view):
    return from_finding(judged(view), SCHEMA)


REPLY = "The run crn_hier_L is best, as R03 says."
PRIVATE = ("crn_hier_L: 5.1", "R03 Transects")


def test_a_name_of_the_private_texts_that_the_requester_never_saw_is_a_gap_with_its_place():
    finding = judged(make_view(REPLY, held=PRIVATE))
    assert [(span.start, span.end, span.type, span.quote) for span in finding.spans] == [
        (8, 18, "reference", "crn_hier_L"),
        (31, 34, "reference", "R03"),
    ]
    assert finding.values["n_gaps"] == 2
    assert label_of(make_view(REPLY, held=PRIVATE)).label == "needs_information"


def test_what_the_agent_no_longer_held_is_private_too():
    assert quotes(make_view(REPLY, earlier=PRIVATE)) == ["crn_hier_L", "R03"]


def test_a_name_that_stands_nowhere_else_is_no_gap():
    assert quotes(make_view(REPLY)) == []
    assert label_of(make_view(REPLY)).label == "readable"


@pytest.mark.parametrize(
    "seen",
    [
        {"dialog": ("What about R03?", "Go on.")},
        {"dialog": ("Is it **R03**?",)},
        {"files": (("plan.txt", "R03,5"),)},
        {"files": (("R03.csv", ""),)},
    ],
)
def test_a_name_that_the_requester_saw_anywhere_is_no_gap(seen):
    assert quotes(make_view(REPLY, held=PRIVATE, **seen)) == ["crn_hier_L"]


@pytest.mark.parametrize("seen", ["R030", "r03", "xR03", "R_03"])
def test_something_like_it_explains_nothing(seen):
    assert "R03" in quotes(make_view(REPLY, held=PRIVATE, dialog=(seen,)))


def test_a_value_under_a_key_that_the_requester_knows_is_news_and_no_gap():
    held = ("reader_size: 70B",)
    assert quotes(make_view("Set reader_size: 70B.", held=held)) == ["reader_size: 70B"]
    assert quotes(make_view("Set reader_size: 70B.", held=held, dialog=("reader_size?",))) == ["70B"]
    assert quotes(make_view("Set reader_size: 70B.", held=held, dialog=("70B of reader_size?",))) == []


def test_a_longer_token_that_the_requester_knows_explains_its_parts():
    held = ("R03 and R06",)
    assert quotes(make_view("From R03-R06.", held=held)) == ["R03", "R06"]
    assert quotes(make_view("From R03-R06.", held=held, dialog=("R03-R06?",))) == []


def test_a_mark_quotes_the_reply_with_its_markup():
    reply = "Set **reader_size**: `70B`."
    (span,) = judged(make_view(reply, held=("reader_size: 70B",))).spans
    assert span.quote == reply[span.start : span.end] == "reader_size**: `70B"


def test_marks_count_code_points_of_the_canonical_reply():
    (span,) = judged(make_view("📌𠮷\n由R03的结果看", held=("R03",), language="zh")).spans
    assert (span.start, span.end) == (4, 7)


def test_names_in_the_arguments_of_calls_are_found_behind_their_escapes():
    assert quotes(make_view(REPLY, held=('{"text": "# Notes\\ncrn_hier_L 5.1\\n\\"R03\\""}',))) == ["crn_hier_L", "R03"]


def test_the_allow_list_of_the_project_joins_the_usual_one():
    assert quotes(make_view("R03 and p95", held=("R03 p95",)), allow=["R03"]) == []
    assert quotes(make_view("R03 and p95", held=("R03 p95",))) == ["R03"]


def test_the_settings_are_complete_and_stay_so():
    settings = JUDGE.read_settings({"allow": ["R03", " R03 "]})
    assert set(settings["allow"]) == {*JUDGE.settings["allow"], "R03"}
    assert JUDGE.read_settings(settings) == settings
    assert json.loads(json.dumps(settings)) == settings


@pytest.mark.parametrize("allow", ["R03", 3, None, [""], [" "], [3], ["x" * 101], ["a"] * 2001, {"R03": 1}])
def test_a_wrong_allow_list_is_refused_with_what_was_expected(allow):
    with pytest.raises(SettingsError) as refused:
        JUDGE.read_settings({"allow": allow})
    (problem,) = refused.value.problems
    assert (problem.code, problem.field, problem.pointer) == ("wrong_type", "allow", "/allow")
    assert "2000" in problem.sentence()


def test_an_unknown_setting_is_refused():
    with pytest.raises(SettingsError, match="unknown_field"):
        JUDGE.read_settings({"alow": []})


ENGLISH, CHINESE = "The level falls by a fifth each day.", "水位每天下降两成。"


@pytest.mark.parametrize(
    ("language", "request_", "reply", "is_wrong"),
    [
        ("en", "?", ENGLISH, False),
        ("en", "?", CHINESE, True),
        ("zh", "?", ENGLISH, True),
        ("zh", "?", CHINESE, False),
        ("en", CHINESE, CHINESE, False),  # the message decides for its own reply
        ("en", CHINESE, ENGLISH, True),
        ("zh", "?", "Уровень воды падает каждый день", True),
        ("zh", "Уровень воды падает каждый день?", "Уровень воды падает каждый день", False),
        ("zh", "?", "OK", False),  # too little to tell
        ("", "?", ENGLISH, False),
    ],
)
def test_a_reply_in_another_language_than_its_requester_s_is_unrepairable(language, request_, reply, is_wrong):
    view = make_view(reply, language=language, dialog=(CHINESE, request_))
    assert judged(view).values["wrong_language"] is is_wrong
    assert label_of(view).label == ("unrepairable_or_no_answer" if is_wrong else "readable")


def test_the_finding_counts_what_the_language_rests_on():
    values = judged(make_view(ENGLISH, language="zh")).values
    assert (values["han_characters"], values["latin_words"]) == (0, 8)
    assert (values["requester_language"], values["reply_language"]) == ("zh", "en")
    assert json.loads(json.dumps(values)) == values


def test_more_gaps_than_a_label_may_have_are_counted_and_the_first_marked():
    names = " ".join(f"run_{number}" for number in range(MAX_SPANS + 7))
    finding = judged(make_view(names, held=(names,)))
    assert (finding.values["n_gaps"], len(finding.spans)) == (MAX_SPANS + 7, MAX_SPANS)
    label = from_finding(finding, SCHEMA)
    assert parse(dump(label), SCHEMA, names) == label


TEXTS = st.text(st.sampled_from("aR03_-:`* \n中📌."), max_size=30)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)


@given(TEXTS, LISTS, LISTS)
def test_marks_always_quote_the_reply_and_never_overlap(reply, held, dialog):
    view = make_view(reply, held=(reply, *held), dialog=(*dialog, "?"))
    label = label_of(view)
    assert parse(dump(label), SCHEMA, reply) == label
    assert all(one.end <= other.start for one, other in zip(label.spans, label.spans[1:], strict=False))


@given(TEXTS, LISTS)
def test_telling_the_requester_a_name_takes_its_mark_away(reply, held):
    view = make_view(reply, held=(reply, *held))
    for span in judged(view).spans:
        told = judged(make_view(reply, held=(reply, *held), dialog=(span.quote, "?")))
        assert span not in told.spans


@given(TEXTS, LISTS, LISTS, TEXTS)
def test_more_private_text_takes_no_gap_away(reply, held, dialog, more):
    fewer = judged(make_view(reply, held=held, dialog=(*dialog, "?"))).spans
    all_ = judged(make_view(reply, held=(*held, more), dialog=(*dialog, "?"))).spans
    assert all(any(span.overlaps(other) for other in all_) for span in fewer)


@given(TEXTS, LISTS)
def test_the_same_view_gives_the_same_finding(reply, held):
    assert judged(make_view(reply, held=held)) == judged(make_view(reply, held=held))


def steps_of(monkeypatch, view):
    """How often the search looked at a piece of a text."""
    counted = [0]
    step = WholeTokens.step

    def counting(self, node, piece):
        counted[0] += 1
        return step(self, node, piece)

    monkeypatch.setattr(WholeTokens, "step", counting)
    judged(view)
    monkeypatch.undo()
    return counted[0]


def many_names(n):
    names = " ".join(f"a.b.run_{number}" for number in range(n))
    return make_view(names, held=("a.b." * n, names))


def test_the_search_grows_with_the_texts_and_not_with_their_product(monkeypatch):
    few, many = steps_of(monkeypatch, many_names(200)), steps_of(monkeypatch, many_names(2000))
    assert 5 * few < many < 15 * few


def judged_demo():
    for phase in ("practice", "pilot", "main"):
        traces, problems, _ = read((DEMO / f"{phase}.jsonl").read_bytes())
        assert not problems
        for trace in traces:
            for place, anchor in enumerate(replies(trace.messages), 1):
                yield (trace.source_id, place), JUDGE.view(trace, anchor)


def test_the_planted_run_names_of_the_demo_are_gaps_with_their_spans():
    demo = dict(judged_demo())
    view = demo["main-ebike-en", 2]
    spans = {span.quote: span for span in judged(view).spans}
    assert spans["fleet_mc_12b"].start == view.reply.index("fleet_mc_12b")
    assert "plan_K7" in quotes(demo["main-coldchain-en", 3])
    assert quotes(demo["main-spacing-zh", 2]) == ["set_B2x", "R11"]  # after characters outside the first plane


def test_the_english_reply_to_a_chinese_requester_of_the_demo_is_found():
    wrong = [place for place, view in judged_demo() if judged(view).values["wrong_language"]]
    assert wrong == [("main-seagrass-zh", 3)]
