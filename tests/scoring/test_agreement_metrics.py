"""`agreement --csv FILE --metric NAME`: any statistic of a spreadsheet, in words and as one JSON object."""

import json
import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from scoring.stats.compute import compute, metrics
from scoring.stats.results import plain
from tests.scoring.stats.tables import reference_cases

CASES = {case["id"]: case for case in reference_cases()}


class Said:
    """What the command said on which stream, and its exit code."""

    def __init__(self, *words):
        out, err = StringIO(), StringIO()
        self.code = 0
        try:
            call_command("agreement", *map(str, words), stdout=out, stderr=err, no_color=True)
        except SystemExit as end:
            self.code = end.code
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def object(self):
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def cell(value):
    """As a spreadsheet holds it; a list as JSON writes it."""
    if value is None:
        return ""
    text = json.dumps(value) if isinstance(value, list) else str(value)
    return '"' + text.replace('"', '""') + '"'


def write(path, triples, cluster_of=None):
    lines = [",".join(["item", "rater", "label", *(["run"] if cluster_of else [])])]
    for item, rater, label in triples:
        row = [item, rater, label, *([cluster_of[item]] if cluster_of else [])]
        lines.append(",".join(map(cell, row)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["--csv", path]


def params_of(case):
    """The params of a case as words of the command."""
    words = []
    for name, value in case["params"].items():
        if name == "categories":
            words += ["--categories", *map(str, value)]
        elif name == "judge":
            words += ["--judge", value]
        else:
            words += ["--param", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


def ratings(n=40, *, judge=True):
    """Three people and a judge: the judge errs on every fifth item and one more, each person on one in seven."""
    said = []
    for item in range(n):
        truth = ("good", "bad")[item % 2]
        other = ("bad", "good")[item % 2]
        said += [(item, f"p{who}", other if (item + who) % 7 == 0 else truth) for who in range(3)]
        if judge:
            said.append((item, "bot", other if item % 5 == 0 or item == 3 else truth))
    return said


OF_RECORDS = [case for case in CASES.values() if isinstance(case["data"], list)]


@pytest.mark.parametrize("case", OF_RECORDS, ids=lambda case: case["id"])
def test_a_case_of_the_file_comes_out_of_a_spreadsheet(case, tmp_path):
    numbers = all(isinstance(one, int) for one in case["params"].get("categories", ["x"]))
    words = ["--metric", case["metric"], *params_of(case), *(["--labels-are", "number"] if numbers else [])]
    said = Said(*write(tmp_path / "case.csv", case["data"]), *words, "--json")

    if case["id"] == "O35-duplicate-rating":
        assert said.object["problems"][0]["code"] == "duplicate_rating"
        return
    figure = said.object["figure"]
    if isinstance(case["expected"], str):
        assert f"undefined:{figure['reason']}" == case["expected"]
    else:
        assert figure["value"] == pytest.approx(case["expected"], abs=max(case["tolerance"], 1e-9))


def test_the_object_is_the_outcome_with_a_sentence_in_both_languages(tmp_path):
    said = Said(*write(tmp_path / "r.csv", ratings()), "--metric", "fleiss_kappa", "--seed", 3, "--json").object

    triples = [(str(item), rater, label) for item, rater, label in ratings()]
    outcome = plain(compute("fleiss_kappa", triples, {"seed": 3, "unit": "item"}))
    assert said["figure"] == outcome
    assert (said["file"], said["metric"], said["params"]) == ("r.csv", "fleiss_kappa", {})
    assert said["clusters"] == "each item its own"
    assert said["sentence"].keys() == {"en", "zh-hans"}
    assert re.match(r"Fleiss' kappa: 0\.\d\d on 40 items\. 95 % interval ", said["sentence"]["en"])


def test_in_words_it_is_the_sentence(tmp_path):
    said = Said(*write(tmp_path / "r.csv", ratings()), "--metric", "gwet_ac", "--categories", "good", "bad").out

    assert said.startswith("r.csv: each item is its own cluster; ")
    assert re.search(r"\nGwet's AC: 0\.\d\d on 40 items\. 95 % interval 0\.\d\d to 0\.\d\d, 10,000 resamples", said)


@pytest.mark.parametrize(
    ("metric", "more"),
    [
        ("percent_agreement", []),
        ("fleiss_kappa", []),
        ("gwet_ac", ["--categories", "good", "bad"]),
        ("krippendorff_alpha", ["--param", "level=nominal"]),
        ("cohen_kappa", ["--param", "rater_a=p0", "--param", "rater_b=bot"]),
        ("mean_pairwise_kappa", []),
        ("annotator_vs_majority", ["--param", "rater=p1", "--param", "stat=kappa"]),
        ("judge_vs_majority", ["--judge", "bot"]),
    ],
)
def test_a_column_of_clusters_gives_intervals_over_them(metric, more, tmp_path):
    runs = {item: f"run {item % 8}" for item, _, _ in ratings()}
    words = [*write(tmp_path / "r.csv", ratings(), runs), "--cluster", "run", "--metric", metric, *more, "--json"]

    said = Said(*words).object

    interval = said["figure"]["interval"]
    assert (interval["unit"], interval["n_clusters"], interval["seed"]) == ("run", 8, 1)
    assert said["clusters"] == "run"
    assert Said(*words).out == Said(*words).out
    assert Said(*words, "--seed", 2).object["figure"]["interval"] != interval


def test_a_statistic_without_intervals_has_its_value(tmp_path):
    p_values = [("c1", "p", 0.01), ("c2", "p", 0.011), ("c3", "p", 0.04)]
    words = [*write(tmp_path / "p.csv", p_values, dict.fromkeys(["c1", "c2", "c3"], "g")), "--cluster", "run"]

    figure = Said(*words, "--metric", "holm", "--param", "comparison=c2", "--json").object["figure"]

    assert (figure["value"], figure["interval"]) == (0.03, None)


def test_whether_a_judge_may_stand_in_for_a_person(tmp_path):
    words = [*write(tmp_path / "r.csv", ratings(60)), "--metric", "alternative_annotator", "--judge", "bot"]

    said = Said(*words, "--epsilon", 0.2, "--json").object
    text = Said(*words, "--epsilon", 0.2).out

    assert said["params"] == {"judge": "bot", "epsilon": 0.2}
    assert said["figure"]["details"]["passes"] in (True, False)
    assert "at epsilon 0.20" in text
    assert re.search(r"\nAdvantage 0\.\d\d\.|Advantage 0\.\d\d\. 95 % interval", text)
    assert re.search(r"^  p1  +60 ", text, re.M)


def test_a_table_of_what_was_said_stands_below(tmp_path):
    said = Said(*write(tmp_path / "r.csv", ratings()), "--metric", "judge_vs_majority", "--judge", "bot").out

    said = re.sub(" +", " ", said)
    assert "\n majority \\ bot bad good\n" in said


def test_names_that_look_like_numbers_stay_names(tmp_path):
    triples = [(item, str(rater), "xy"[item % 2]) for item in range(6) for rater in (1, 2, 3)]
    words = ["--metric", "cohen_kappa", "--param", "rater_a=1", "--param", "rater_b=3", "--json"]

    assert Said(*write(tmp_path / "r.csv", triples), *words).object["figure"]["value"] == 1.0


def test_labels_of_an_interval_level_are_numbers_and_of_sets_lists(tmp_path):
    numbers = [(1, "a", 1), (1, "b", 2), (2, "a", 10), (2, "b", 9.5)]
    sets = [(1, "a", ["x"]), (1, "b", ["x", "y"]), (2, "a", []), (2, "b", [])]

    for triples, level in ((numbers, "interval"), (sets, "masi")):
        said = Said(
            *write(tmp_path / "r.csv", triples), "--metric", "krippendorff_alpha", "--param", f"level={level}", "--json"
        )
        assert said.object["figure"]["value"] == pytest.approx(
            compute("krippendorff_alpha", triples, {"level": level}).value
        )


@pytest.mark.parametrize(
    ("triples", "words", "code", "expected"),
    [
        ([(1, "a", "x")], ["--metric", "kappa"], "unknown_metric", "One of: alternative_annotator, annotator_vs_maj"),
        ([(1, "a", "x")], ["--metric", "gwet_ac"], "bad_params", "give categories"),
        ([(1, "a", "x")], ["--metric", "krippendorff_alpha"], "bad_params", "needs the param level"),
        ([(1, "a", "x")], ["--metric", "fleiss_kappa", "--param", "weights=x"], "bad_params", "takes no param weights"),
        (ratings(4), ["--metric", "judge_vs_majority", "--judge", "Bot"], "bad_params", "no rater 'Bot'; there are"),
        (ratings(4), ["--metric", "alternative_annotator", "--judge", "bot"], "bad_params", "epsilon"),
        ([(1, "a", "x")], ["--metric", "fleiss_kappa", "--categories", "y"], "unknown_label", "item 1, rater a"),
        ([(1, "a", "x"), (2, "b", "y")], ["--metric", "sign_flip_test"], "unreadable_label", "x is not what"),
        ([(1, "a", "x")], ["--metric", "span_f1"], "unreadable_label", "lists as JSON writes them"),
        ([(1, "a", "inf")], ["--metric", "sign_flip_test"], "unreadable_label", "inf is not what"),
        (
            [(1, "a", 1)],
            ["--metric", "krippendorff_alpha", "--param", "level=interval", "--categories", "x"],
            "bad_params",
            "Numbers, as the labels are.",
        ),
        ([(1, "a", "x"), (1, "a", "x")], ["--metric", "fleiss_kappa"], "duplicate_rating", "a rated item 1 twice"),
    ],
)
def test_what_cannot_be_computed_is_refused_on_both_streams(triples, words, code, expected, tmp_path):
    said = Said(*write(tmp_path / "r.csv", triples), *words, "--json")

    assert said.code == 1
    (problem,) = said.object["problems"]
    assert problem["code"] == code
    text = problem["expected"] % problem.get("params", {}) if "%(" in problem["expected"] else problem["expected"]
    assert expected in text
    assert problem["remedy"] in said.err


def test_all_the_names_are_listed_for_one_that_is_none(tmp_path):
    said = Said(*write(tmp_path / "r.csv", ratings(2)), "--metric", "kappa")

    assert all(name in said.err for name in metrics())


@pytest.mark.parametrize("words", [["--metric", "fleiss_kappa"], ["project", "--judge", "bot"], ["--param", "a=1"]])
def test_a_statistic_by_its_name_is_of_a_file(words):
    said = Said(*words, "--json")

    assert said.code == 1
    assert said.object["problems"][0]["expected"] == "A statistic by its name, of a file."


def test_a_param_without_a_value_is_a_mistake_of_usage(tmp_path):
    with pytest.raises(CommandError, match="weights: a param is NAME=VALUE"):
        Said(*write(tmp_path / "r.csv", ratings(2)), "--metric", "fleiss_kappa", "--param", "weights")
