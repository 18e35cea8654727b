import re

import pytest

from annotate.rules.data_card import data_card, plain
from annotate.rules.release_shape import HOWS

FIGURE = {"value": 0.605, "n_items": 24, "interval": {"low": -0.004, "high": 0.7}}
UNDEFINED = {"value": None, "reason": "one_category", "n_items": 3, "interval": None, "interval_reason": "one_category"}
PANEL = {
    "fleiss_kappa": FIGURE,
    "krippendorff_alpha": UNDEFINED,
    "raters": [{"rater": "a1", "annotator_vs_majority_kappa": FIGURE}],
    "unit": "item",
    "seed": 7,
}


def manifest(**change):
    return {
        "content_hash": "f" * 64,
        "content": {"kind": "reply", "rule": "majority", "protocol_hash": "e" * 64},
        "number": 3,
        "sealed_at": "2024-05-06T07:08:09+00:00",
        "project": {"title_en": "Trial *one*", "title_zh": "试验一", "languages": ["en"], "is_synthetic": False}
        | {"open_lead": False},
        "protocol": {"number": 2},
        "rounds": [{"number": 1, "purpose": "first", "n_labels": 9}],
        "people": [
            {"annotator": "a1", "n_labels": 5, "is_partial": False, "n_submitted": None, "n_given": None},
            {"annotator": "a2", "n_labels": 4, "is_partial": True, "n_submitted": 4, "n_given": 6},
        ],
        "counts": {"n_items": 5, "n_labels": 9, **dict.fromkeys(HOWS, 1), "n_ties": 2},
        "left_out": dict.fromkeys(("no_label", "problem_reported", "other_protocol", "informed", "replaced"), 6),
        "import": {"records_skipped": 7, "replaced_nul": 8},
        "agreement": {"measures": [{"measure": "fail", "agreement": PANEL}]},
        **change,
    }


def card(translate=str, language="en", **change):
    return data_card(manifest(**change), translate, language=language, measure_titles={"fail": "fails or passes"})


def test_a_card_says_what_who_how_and_what_is_not_in_it():
    said = card()
    for line in (
        r"# Trial \*one\*, release 3: data card",
        "- items whose votes tie: 2",
        "- a2: 4 labels (left and is partial, 4 of 6 labels given)",
        "- Round 1 (first), blind: 9 labels",
        f"- Protocol 2; SHA-256 of guideline and labels: `{'e' * 64}`",
        "### fails or passes",
        "| Fleiss' kappa (Gwet's form) | 0.61 | 0.00 to 0.70 | 24 |",
        "- Records of trace files that were skipped at import: 7",
        "- Characters U+0000 shown as U+2400 at import: 8",
        "- Labels given under another protocol: 6",
    ):
        assert line in said.splitlines(), line


def test_a_figure_that_is_undefined_has_its_reason():
    (line,) = [line for line in card().splitlines() if line.startswith("| Krippendorff")]
    assert "Everyone chose the same" in line


def test_a_synthetic_project_and_an_open_lead_are_said():
    project = manifest()["project"] | {"is_synthetic": True, "open_lead": True}
    said = card(project=project)
    assert "**The labels are synthetic. They say nothing about people.**" in said
    assert "**A lead labels in this project (open lead).**" in said
    assert "synthetic" in card()
    assert "open lead" not in card()


def test_every_sentence_is_asked_of_the_translator():
    """What is left of English are hashes, codes and names of files."""
    said = card(lambda words: re.sub(r"(%\(\w+\)s)|[A-Za-z]+", lambda found: found[1] or "译", words), language="zh")
    assert said.startswith("# 试验一, 译 3")
    assert re.findall(r"[A-Za-z]{3,}", re.sub(r"`[^`]*`|\d{4}-\S+", "", said)) == []


def by_a_jury():
    hashed = {"settings_hash": "d" * 64}
    prompts = [{"key": "juror.find", "language": "en", "number": 2, "sha256": "c" * 64}]
    jurors = [
        {"run": run, "judge": "juror", "version": "1", **hashed, "model": f"m_{run}", "prompts": prompts[run - 1 :]}
        for run in (1, 2, 3)
    ]
    outcomes = {"retained": 4, "empty": 3, "no_agreement": 2, "too_few_covered": 1}
    jury = {"made_by": "jury", "run": 4, "judge": "jury", "version": "1", **hashed, "protocol": 2}
    return {
        "content": {"kind": "redundancy", "rule": "jury", "protocol_hash": "e" * 64},
        **{"people": [], "rounds": [], "agreement": {}},
        "provenance": {**jury, "jurors": jurors, "outcomes": outcomes},
    }


def test_the_card_of_a_jury_says_first_that_no_person_gave_the_labels_and_then_who_did():
    said = card(**by_a_jury()).splitlines()
    assert said[2] == "**The labels are of models and not of people. No person gave, checked or settled any of them.**"
    hashed = f"`{'d' * 64}`"
    for line in (
        f"A jury of models: run 4 of the judge jury, version 1; settings {hashed}.",
        rf"- Run 1 of the judge juror, version 1: model m\_1; settings {hashed}; prompts `juror.find en 2`",
        rf"- Run 3 of the judge juror, version 1: model m\_3; settings {hashed}",
        "- with a set that the jurors agree on: 4",
        "- empty, as the jurors agree: 3",
        "- unresolved, as the jurors do not agree: 2",
        "- unresolved, as too few jurors said something: 1",
    ):
        assert line in said, line
    assert not [line for line in said if "annotator" in line.lower() and ": 9" not in line]


def test_a_synthetic_jurys_card_says_both():
    project = manifest()["project"] | {"is_synthetic": True}
    assert "The project is synthetic." in card(**by_a_jury(), project=project)
    assert "synthetic" not in card(**by_a_jury())


def test_every_sentence_of_a_jurys_card_is_asked_of_the_translator():
    said = card(lambda words: re.sub(r"(%\(\w+\)s)|[A-Za-z]+", lambda found: found[1] or "译", words), **by_a_jury())
    left = re.findall(r"[A-Za-z]{3,}", re.sub(r"`[^`]*`|\d{4}-\S+", "", said))
    assert set(left) == {"Trial", "one", "jury", "juror"}


@pytest.mark.parametrize("agreement", [{}, {"measures": []}, {"measures": "x"}, {"measures": [3]}, {"measures": {}}])
def test_without_figures_it_says_so(agreement):
    assert "No figures of agreement were sealed with it." in card(agreement=agreement)


@pytest.mark.parametrize("panel", [None, {}, {"fleiss_kappa": 3, "raters": [3, {}]}, {"fleiss_kappa": {"value": True}}])
def test_figures_of_another_form_are_dashes_and_break_nothing(panel):
    said = card(agreement={"measures": [{"measure": "other", "agreement": panel}]})
    assert "| Fleiss' kappa (Gwet's form) | – | – | – |" in said


def test_a_title_cannot_write_markdown():
    assert plain("# <b>x</b> [a](b)\n| c") == r"\# \<b\>x\</b\> \[a\](b) \| c"


def test_measures_of_sets_have_the_mean_and_each_pair():
    of_sets = {"mean": FIGURE, "pairs": [{"first": "a|1", "second": "a2", "agreement": UNDEFINED}]}
    agreement = {
        "measures": [{"measure": "fail", "agreement": PANEL}], "sets": [{"measure": "steps", "agreement": of_sets}],
    }  # fmt: skip
    said = card(agreement=agreement).splitlines()
    assert "### steps" in said
    assert "| mean of all pairs | 0.61 | 0.00 to 0.70 | 24 |" in said
    assert any(line.startswith("| a\\|1 · a2 | ") for line in said)
