import csv
import hashlib
import io
import json
import subprocess
import sys
import zipfile

import pytest

from annotate import exporting
from annotate.errors import Refused
from annotate.rules.csv_cells import unescape
from tests.annotate.releases import NEEDS, VOTES, bytes_of, export, lines_of, make_voted, seal
from tests.factories import make_annotation

pytestmark = pytest.mark.django_db
NAMES = {
    *("release.json", "files.json", "labels.jsonl", "annotations.jsonl", "annotations.w3c.jsonl"),
    *("labels.csv", "annotations.csv", "datacard.en.md", "datacard.zh.md"),
}
HARD = '=HYPERLINK("x")\r\n\'quoted\', "and", \t 中文\u2028end'
"""Everything that a table or a spreadsheet could take for something else."""


@pytest.fixture
def voted():
    return make_voted()


@pytest.fixture
def folder(voted, tmp_path):
    return export(seal(voted), tmp_path / "out")


def table(path):
    """As docs/releases.md says how a table is read back."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [{name: unescape(text) for name, text in row.items()} for row in csv.DictReader(file)]


def label_of(row):
    """The label again, from the columns of the kind."""
    if not row["label"]:
        return None
    spans, states_none = json.loads(row["spans"]), json.loads(row["states_no_result"])
    return {"label": row["label"], "states_no_result": states_none, "spans": spans, "comment": row["comment"]}


def test_every_file_is_there_and_the_list_knows_each(folder):
    files = bytes_of(folder)
    assert files.keys() == NAMES
    listed = {one["name"]: one for one in json.loads(files["files.json"])["files"]}
    assert listed.keys() == NAMES - {"files.json"}
    for name, one in listed.items():
        assert (one["sha256"], one["bytes"]) == (hashlib.sha256(files[name]).hexdigest(), len(files[name]))
    rows = {name: listed[name]["rows"] for name in ("labels.jsonl", "labels.csv", "annotations.jsonl", "release.json")}
    assert rows == {"labels.jsonl": 4, "labels.csv": 4, "annotations.jsonl": 11, "release.json": None}


def test_the_content_hash_can_be_made_from_the_files_by_hand(folder):
    said = json.loads((folder / "release.json").read_text("utf-8"))
    head = json.dumps(said["content"], sort_keys=True, separators=(",", ":")).encode() + b"\n"
    whole = head + (folder / "labels.jsonl").read_bytes()
    assert hashlib.sha256(whole).hexdigest() == said["content_hash"]


def test_lines_come_in_the_order_of_their_hashes(folder):
    hashes = [row["item_hash"] for row in lines_of(folder / "labels.jsonl")]
    assert hashes == sorted(hashes)
    assert len(set(hashes)) == len(VOTES)


def test_every_label_has_a_line_with_its_annotators_code(folder):
    found = lines_of(folder / "annotations.jsonl")
    of_two = {row["annotator"]: row["label"] for row in found if row["source"]["id"] == "two"}
    assert of_two["a1"] == of_two["a2"] == NEEDS
    votes = [
        {"item_hash": row["item_hash"], **vote} for row in lines_of(folder / "labels.jsonl") for vote in row["rests_on"]
    ]
    assert [{name: value for name, value in row.items() if name != "source"} for row in found] == votes


def test_tables_hold_the_same_labels_as_the_lines(voted, tmp_path):
    assignment = voted.memberships.get(code="a2").assignments.get(item__trace__source_id="one")
    make_annotation(assignment, {**NEEDS, "comment": HARD})
    folder = export(seal(voted, "consensus"), tmp_path / "out")
    for name in ("labels", "annotations"):
        lines, rows = lines_of(folder / f"{name}.jsonl"), table(folder / f"{name}.csv")
        assert [row["label"] for row in lines] == [label_of(row) for row in rows]
        assert [row["item_hash"] for row in lines] == [row["item_hash"] for row in rows]
    assert HARD in {row["comment"] for row in rows}


def test_no_cell_of_a_table_would_run(voted, tmp_path):
    voted.traces.filter(source_id="one").update(source_id="=1+1", cluster="@x")
    folder = export(seal(voted), tmp_path / "out")
    with (folder / "labels.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert "'=1+1" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_marked_passages_are_web_annotations_with_place_and_words(folder):
    found = lines_of(folder / "annotations.w3c.jsonl")
    assert [one.get("creator", {}).get("nickname") for one in found] == [None, "a1", "a2"]
    place, quote = found[0]["target"]["selector"]
    assert (place["start"], place["end"], quote["exact"]) == (4, 7, "GTR")
    assert len({one["id"] for one in found}) == 3


def test_the_same_release_exported_twice_has_the_same_bytes(voted, folder, tmp_path):
    assert bytes_of(export(voted.releases.get(), tmp_path / "again")) == bytes_of(folder)


def test_a_project_without_labels_of_some_kind_has_empty_files(voted, tmp_path):
    folder = export(seal(make_voted(("three",))), tmp_path / "out")
    assert (folder / "annotations.w3c.jsonl").read_bytes() == b""


# Parquet


def test_a_parquet_file_has_the_rows_of_the_lines(voted, tmp_path):
    folder = export(seal(voted, "consensus"), tmp_path / "out", with_parquet=True)
    program = "import json, sys, pyarrow.parquet as p; print(json.dumps(p.read_table(sys.argv[1]).to_pylist()))"
    words = [sys.executable, "-c", program, str(folder / "labels.parquet")]
    rows = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    back = [
        {
            **{name: row[name] for name in ("item_hash", "how", "is_tie")},
            "label": row["label"] and json.loads(row["label"]),
            "rests_on": [{**vote, "label": json.loads(vote["label"])} for vote in row["rests_on"]],
            "source": {name.removeprefix("source_"): row[name] for name in row if name.startswith("source_")},
        }
        for row in rows
    ]
    assert back == lines_of(folder / "labels.jsonl")
    listed = json.loads((folder / "files.json").read_text())["files"]
    assert [one["rows"] for one in listed if one["name"] == "labels.parquet"] == [4]


def test_without_the_extra_parquet_is_refused_with_what_to_install(voted, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "has_parquet", lambda: False)
    release = seal(voted)
    with pytest.raises(Refused, match=r"\./run setup --extra parquet"):
        export(release, tmp_path / "out", with_parquet=True)
    with pytest.raises(Refused, match=r"\./run setup --extra parquet"):
        exporting.export_file(release, "labels.parquet", tmp_path)
    assert list(tmp_path.iterdir()) == []
    exported = exporting.export_release(release, tmp_path / "out")
    assert bytes_of(tmp_path / "out").keys() == NAMES
    assert [problem.code for problem in exported.left_out] == ["missing_extra"]


# One file


def test_one_file_is_the_one_of_the_folder(voted, folder, tmp_path):
    for name in NAMES:
        aside = tmp_path / "aside" / name
        aside.mkdir(parents=True)
        if name != "files.json":
            assert exporting.export_file(voted.releases.get(), name, aside).read_bytes() == (folder / name).read_bytes()


def test_a_zip_holds_the_whole_folder_and_is_the_same_every_time(voted, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "has_parquet", lambda: False)
    packed = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        packed.append(exporting.export_file(voted.releases.get(), "release.zip", tmp_path / name).read_bytes())
    assert packed[0] == packed[1]
    with zipfile.ZipFile(io.BytesIO(packed[0])) as file:
        assert {name: file.read(name) for name in file.namelist()} == bytes_of(folder)


# What is refused


def test_a_folder_that_holds_something_is_left_alone(voted, folder, tmp_path):
    before = bytes_of(folder)
    file = tmp_path / "file"
    file.write_text("mine")
    for taken in (folder, file):
        with pytest.raises(Refused, match="folder_taken"):
            export(voted.releases.get(), taken)
    assert bytes_of(folder) == before
    assert file.read_text() == "mine"


def test_an_empty_folder_is_filled(voted, tmp_path):
    (tmp_path / "out").mkdir()
    assert bytes_of(export(seal(voted), tmp_path / "out")).keys() == NAMES


@pytest.mark.fault(8)
def test_what_cannot_be_written_leaves_nothing_behind(voted, tmp_path, monkeypatch):
    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting.OutFile, "row", full)
    with pytest.raises(Refused, match="No space left"):
        export(seal(voted), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_trace_that_was_changed_behind_the_products_back_stops_the_export(voted, tmp_path):
    release = seal(voted)
    voted.items.get(trace__source_id="one").trace.messages.filter(index=1).update(text="Forged.")
    with pytest.raises(Refused, match="as it was sealed"):
        export(release, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
