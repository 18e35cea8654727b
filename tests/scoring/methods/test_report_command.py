"""`report METHOD --records FILE` in words, as JSON, as CSV and as a page; and what it refuses."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotate.rules.csv_cells import unescape
from scoring.method_words import CSV_COLUMNS
from scoring.methods.tables import methods
from tests.scoring.methods.replies_counts import collaboration, judgment, read_480, reply

REFERENCE = Path(__file__).resolve().parents[3] / "fixtures" / "reference"
FAST = ("--set", "n_resamples=100")


class Said:
    """What the command said on which stream, and its exit code."""

    def __init__(self, method, path, *words):
        out, err = io.StringIO(), io.StringIO()
        self.code = 0
        try:
            call_command("report", method, "--records", str(path), *words, stdout=out, stderr=err, no_color=True)
        except SystemExit as end:
            self.code = end.code
        self.out, self.err = out.getvalue(), err.getvalue()


@pytest.fixture
def stored(tmp_path):
    def store(records, name="records.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
        return path

    return store


def example(name):
    return REFERENCE / f"records-{name}.jsonl"


class Page(HTMLParser):
    """The tags of a page that are open, those that ever were, and its words."""

    VOID = {"meta"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words, self.ids = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data.strip())


def test_words_have_titles_columns_below_each_other_and_the_settings(stored):
    said = Said("replies", stored(read_480()), *FAST)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "Replies: usable by who reads nothing else?"
    head = lines[lines.index("Reader: how many replies fail, and why") + 1]
    row = next(line for line in lines if line.strip().startswith("failed without an answer"))
    assert re.search(r"28\.3 %  \d+\.\d to \d+\.\d +73/258  failed texts", row)
    assert head.index("95 % interval") == re.search(r"\d+\.\d to", row).start()
    assert re.search(r"tie_rule +fail +fail +A-01", said.out)
    assert re.search(r"n_resamples +100 +10000 +A-16, D-06", said.out)


@pytest.mark.parametrize("name", sorted(methods()))
def test_each_example_gives_its_report_in_every_form(name):
    words, page = Said(name, example(name), *FAST), Said(name, example(name), *FAST, "--html")
    object_, table = Said(name, example(name), *FAST, "--json"), Said(name, example(name), *FAST, "--csv")
    for one in (words, page, object_, table):
        assert (one.code, one.err) == (0, "")
        assert not re.search(r"\b(nan|NaN|inf|Infinity)\b", one.out)
    said = json.loads(object_.out)
    assert said["method"] == name
    assert said["file"] == example(name).name
    assert "synthetic" in " ".join(said["notes"]).lower()
    names = [one["name"] for one in said["tables"]]
    assert len(set(names)) == len(names), "two tables of one name"
    for one in said["tables"]:
        assert one["title"] in words.out
        assert f'id="{one["name"]}"' in page.out
        rows = [(row["metric"], tuple(row["by"].items())) for row in one.get("rows", ())]
        assert len(set(rows)) == len(rows), f"two rows of one name in {one['name']}"
    first, *rows = csv.reader(io.StringIO(table.out))
    assert tuple(first) == CSV_COLUMNS
    assert all(len(row) == len(CSV_COLUMNS) for row in rows)
    assert {row[0] for row in rows} == {*names, "settings"}


def test_json_is_one_line_with_ten_significant_digits(stored):
    said = Said("replies", stored(read_480()), *FAST, "--json")
    assert said.out.count("\n") == 1
    rows = next(one for one in json.loads(said.out)["tables"] if one["name"] == "reader")["rows"]
    row = next(one for one in rows if one["metric"] == "reason_language")
    assert (row["value"], row["k"], row["n"]) == (0.06589147287, 17, 258)
    assert row["interval"]["unit"] == "collaboration"


def test_a_page_stands_by_itself_and_escapes_what_records_say(stored):
    bad = '<script>alert("x")</script>'
    about = {"record": "about", "text": bad}
    records = [about, collaboration("c1", model=bad), collaboration("c2", model="=1+1")]
    records += [one for n in (1, 2) for one in (reply(f"r{n}", f"c{n}"), judgment(f"r{n}", n - 1))]
    said = Said("replies", stored(records), *FAST, "--html")
    page = Page(said.out)
    assert page.open == []
    assert said.out.startswith("<!doctype html>")
    assert "script" not in page.tags
    assert bad in page.words
    assert len(set(page.ids)) == len(page.ids)
    assert not [one for one in page.attributes if one[1] in ("src", "onload", "style")]
    assert all(value.startswith("#") and value[1:] in page.ids for _, name, value in page.attributes if name == "href")
    assert "color-scheme: light dark" in said.out
    assert "http" not in said.out


def test_a_spreadsheet_runs_nothing_of_a_csv(stored):
    records = [collaboration("c", model="=1+1"), reply("r", "c"), judgment("r")]
    said = Said("replies", stored(records), *FAST, "--csv")
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "@", "\t"))]
    model = next(row for row in rows if row["table"] == "reader_by_model")
    assert unescape(model["by"]) == "model==1+1"
    settings = {row["metric"]: row["value"] for row in rows if row["table"] == "settings"}
    assert settings["tie_rule"] == "fail"


def test_a_negative_number_stays_a_number_in_a_csv():
    rows = list(csv.DictReader(io.StringIO(Said("replies", example("replies"), *FAST, "--csv").out)))
    values = [row["value"] for row in rows if row["metric"] == "reduction"]
    assert min(map(float, values)) < 0


def test_a_setting_is_taken_and_echoed(stored):
    said = Said("replies", stored(read_480()), *FAST, "--set", "tie_rule=exclude", "--set", "seed=7", "--json")
    settings = json.loads(said.out)["settings"]
    assert (settings["tie_rule"], settings["seed"], settings["n_resamples"]) == ("exclude", 7, 100)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("tie_rule=never",), "tie_rule: bad_parameter. One of: fail, pass, exclude."),
        (("min_panel=0",), "min_panel: bad_parameter. A number from 1 to 1000."),
        (("no_such=1",), "no_such: unknown_parameter. One of: tie_rule"),
        (("seed",), "seed: bad_parameter. NAME=VALUE, every name once."),
        (("seed=1", "seed=2"), "seed: bad_parameter. NAME=VALUE, every name once."),
    ],
)
def test_a_wrong_setting_is_refused(stored, given, expected):
    words = [word for one in given for word in ("--set", one)]
    said = Said("replies", stored([collaboration("c")]), *words)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(expected)


@pytest.mark.parametrize("form", [(), ("--html",), ("--csv",)])
def test_wrong_records_are_named_by_line_and_nothing_is_printed(stored, form):
    records = [collaboration("c"), reply("r", "c"), {**judgment("r"), "n_gaps": "two"}, {**reply("q", "d"), "x": 1}]
    said = Said("replies", stored(records), *form)
    assert (said.code, said.out) == (1, "")
    first, second = said.err.splitlines()
    assert first.startswith("records.jsonl line 3 /n_gaps: wrong_type. A whole number.")
    assert second.startswith("records.jsonl line 4 /x: unknown_field.")


def test_with_json_problems_are_an_object(stored):
    said = Said("replies", stored([reply("r", "c")]), "--json")
    assert said.code == 1
    (problem,) = json.loads(said.out)["problems"]
    assert (problem["code"], problem["line"], problem["field"]) == ("unknown_reference", 1, "collaboration")


def test_very_many_problems_are_counted(stored):
    said = Said("replies", stored([{"record": "reply"}] * 60))
    assert len(said.err.splitlines()) == 51
    assert "Problems like these that are not listed: 70." in said.err


def test_a_file_that_is_not_there_is_named(tmp_path):
    said = Said("replies", tmp_path / "none.jsonl")
    assert (said.code, said.out) == (1, "")
    assert "none.jsonl: unreadable_file." in said.err


def test_two_forms_at_once_or_another_method_are_refused(stored):
    with pytest.raises(CommandError, match="not allowed with"):
        Said("replies", stored([collaboration("c")]), "--json", "--csv")
    with pytest.raises(CommandError, match="invalid choice"):
        Said("answers", stored([collaboration("c")]))


def test_the_page_says_its_language(stored):
    path = stored([collaboration("c"), reply("r", "c"), judgment("r")])
    assert '<html lang="en">' in Said("replies", path, "--html", "--language", "en").out
    assert '<html lang="zh-hans">' in Said("replies", path, "--html", "--language", "zh-hans").out
    english = json.loads(Said("replies", path, "--json").out)
    assert json.loads(Said("replies", path, "--json", "--language", "zh-hans").out) == english
