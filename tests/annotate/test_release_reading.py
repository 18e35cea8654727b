"""An exported folder brought into a project of the same traces, and everything that can be wrong with it."""

import hashlib
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate import release_reading
from annotate.errors import NotYours
from annotate.models import Event, Release, Role, Settlement
from annotate.release_reading import FolderRefused
from annotate.releasing import import_release
from annotate.rules.release_content import ContentHash, canonical_line
from annotate.traces.strict_json import Caps
from tests.annotate.releases import (
    VOTES,
    bytes_of,
    export,
    lines_of,
    make_source,
    make_voted,
    outcomes,
    seal,
)
from tests.factories import make_member, make_person, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path):
    return export(seal(make_voted()), tmp_path / "out")


@pytest.fixture
def fresh():
    """A project of the same traces that nobody has labelled."""
    return make_fresh()


BACKWARDS = tuple(reversed(VOTES))


def make_fresh(names=BACKWARDS, phase="main", **change):
    project = make_project()
    for name in names:
        make_source(project, name, phase=phase, **change)
    return project


def bring(project, folder, **said):
    return import_release(**{"person": None, "project": project, "folder": folder, **said})


def refused(project, folder):
    """What is wrong, and that nothing of it was stored."""
    before = Release.objects.count(), Settlement.objects.count(), Event.objects.count()
    with pytest.raises(FolderRefused) as refusal:
        bring(project, folder)
    assert (Release.objects.count(), Settlement.objects.count(), Event.objects.count()) == before
    return [(one.code, one.file, one.line, one.pointer or one.field) for one in refusal.value.problems]


# What goes well


def test_it_is_the_same_release_again_under_this_projects_number(folder, fresh, tmp_path):
    done = bring(fresh, folder)
    release, first = done.release, Release.objects.get(is_imported=False)
    assert (done.is_new, release.project, release.number, release.is_imported) == (True, fresh, 1, True)
    assert (release.content_hash, release.manifest) == (first.content_hash, first.manifest)
    assert (release.sealed_at, outcomes(release)) == (first.sealed_at, outcomes(first))
    assert bytes_of(export(release, tmp_path / "again")) == bytes_of(folder)


def test_brought_in_twice_it_is_there_once(folder, fresh):
    first, second = bring(fresh, folder), bring(fresh, folder)
    assert (second.is_new, second.release) == (False, first.release)
    assert [event.action for event in Event.objects.filter(project=fresh)] == ["release_imported"]


def test_a_protocol_is_found_by_what_it_says_whatever_its_number(folder, fresh):
    fresh.protocols.update(number=2)
    fresh.protocols.create(number=3, guideline_en="Something else.")
    assert bring(fresh, folder).release.protocol.number == 2


def test_labels_of_practice_items_become_known_answers_when_asked(folder, tmp_path):
    practice = make_fresh(phase="practice")
    assert (bring(practice, folder).n_known, Settlement.objects.count()) == (0, 0)
    done = bring(practice, folder, as_known=True)
    assert (done.n_known, done.is_new) == (4, False)
    row = Settlement.objects.get(item__trace__source_id="two")
    assert (row.how, row.label["label"], row.is_current) == ("known", "needs_information", True)
    assert "gold release 1" in row.reason_en
    assert "发布版 1" in row.reason_zh
    again = bring(practice, folder, as_known=True)
    assert (again.n_known, again.n_had_known) == (0, 4)


def test_an_answer_a_lead_gave_stays_and_unresolved_items_get_none(tmp_path):
    folder = export(seal(make_voted(), "consensus"), tmp_path / "out")
    practice = make_fresh(phase="practice")
    item = practice.items.get(trace__source_id="three")
    given = {"label": "unrepairable_or_no_answer", "states_no_result": False, "spans": [], "comment": ""}
    own = Settlement.objects.create(item=item, label=given, how="known", reason_en="Mine.", reason_zh="我的。")
    assert bring(practice, folder, as_known=True).n_known == 0
    assert list(Settlement.objects.all()) == [own]


def test_items_of_the_main_phase_get_no_known_answer(folder, fresh):
    assert bring(fresh, folder, as_known=True).n_known == 0


def test_who_does_not_lead_the_project_brings_nothing_in(folder, fresh):
    for person in (make_person("nobody"), make_member(fresh, "an-annotator").person):
        with pytest.raises(NotYours):
            bring(fresh, folder, person=person)
    assert bring(fresh, folder, person=make_member(fresh, "lea", Role.LEAD).person).is_new


def test_statements_do_not_grow_with_the_items(tmp_path):
    counts = []
    for names in (("one",), tuple(VOTES)):
        folder = export(seal(make_voted(names)), tmp_path / f"out-{len(names)}")
        fresh = make_fresh(names)
        with CaptureQueriesContext(connection) as asked:
            bring(fresh, folder)
        counts.append(len(asked))
    assert counts[0] == counts[1]


# What is wrong with the files


def relist(folder):
    """As somebody would who forges the list too."""
    path = folder / "files.json"
    said = json.loads(path.read_text())
    for one in said["files"]:
        data = (folder / one["name"]).read_bytes()
        one |= {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        if one["name"].endswith(".jsonl"):
            one["rows"] = data.count(b"\n")
    path.write_text(json.dumps(said))


def rewrite(folder, change, *, canonical=True, rehash=False):
    """Change the lines, and list them anew; `rehash` makes a content hash that fits as well."""
    lines = lines_of(folder / "labels.jsonl")
    lines = change(lines) or lines
    spell = canonical_line if canonical else json.dumps
    data = b"".join(spell(line).encode() + b"\n" for line in lines)
    (folder / "labels.jsonl").write_bytes(data)
    if rehash:
        manifest = json.loads((folder / "release.json").read_text("utf-8"))
        total = ContentHash(manifest["content"])
        total.add(data)
        said = json.loads((folder / "files.json").read_text())
        manifest["content_hash"] = said["content_hash"] = total.hexdigest()
        (folder / "release.json").write_text(json.dumps(manifest), "utf-8")
        (folder / "files.json").write_text(json.dumps(said))
    relist(folder)


@pytest.mark.parametrize("name", ["labels.jsonl", "annotations.jsonl", "labels.csv", "release.json", "datacard.zh.md"])
def test_a_cut_file_is_known_for_what_it_is(folder, fresh, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[:-20])
    ((code, file, _, _),) = refused(fresh, folder)
    assert (code, file) == ("cut_file", name)


def test_a_cut_file_of_lines_names_the_line(folder, fresh):
    path = folder / "labels.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert refused(fresh, folder) == [("cut_file", "labels.jsonl", 4, "")]


def test_an_edited_label_is_found_by_the_hash_of_its_file(folder, fresh):
    path = folder / "labels.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"label":"readable"', b'"label":"READABLE"', 1))
    assert refused(fresh, folder) == [("wrong_hash", "labels.jsonl", None, "sha256")]


def test_every_file_that_differs_is_named(folder, fresh):
    (folder / "labels.csv").unlink()
    (folder / "annotations.jsonl").write_bytes(b"x")
    found = {(code, file) for code, file, _, _ in refused(fresh, folder)}
    assert found == {("missing_file", "labels.csv"), ("cut_file", "annotations.jsonl")}


def test_a_folder_without_a_list_or_that_is_none_is_refused(folder, fresh, tmp_path):
    (folder / "files.json").unlink()
    for place in (folder, tmp_path / "absent", folder / "labels.csv"):
        assert refused(fresh, place) == [("missing_file", "files.json", None, "")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"\xff{}", "not_utf8"),
        (b"{", "malformed_json"),
        (b"[]", "wrong_type"),
        (b'{"format":"sightline-release-files/1","files":[]}', "missing_field"),
        (b"x" * (2 << 20), "wrong_length"),
    ],
)
def test_a_list_of_another_form_is_refused(folder, fresh, text, code):
    (folder / "files.json").write_bytes(text)
    assert refused(fresh, folder)[0][:2] == (code, "files.json")


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "files.json"])
def test_a_list_names_no_file_of_elsewhere(folder, fresh, name):
    said = json.loads((folder / "files.json").read_text())
    said["files"][0]["name"] = name
    (folder / "files.json").write_text(json.dumps(said))
    assert ("unknown_value", "files.json", None, "/files/0/name") in refused(fresh, folder)


@pytest.mark.parametrize("change", ["twice", "not listed"])
def test_a_list_names_every_file_once(folder, fresh, change):
    said = json.loads((folder / "files.json").read_text())
    said["files"] = said["files"] + said["files"][:1] if change == "twice" else said["files"][2:]
    (folder / "files.json").write_text(json.dumps(said))
    codes = {code for code, *_ in refused(fresh, folder)}
    assert codes == {"duplicate_key" if change == "twice" else "missing_file"}


# What is wrong with the manifest


def edit(folder, change):
    path = folder / "release.json"
    said = json.loads(path.read_text("utf-8"))
    change(said)
    path.write_text(json.dumps(said), "utf-8")
    relist(folder)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda said: said.update(model="x"), ("unknown_field", "/model")),
        (lambda said: said["people"][0].update(name="Ana"), ("unknown_field", "/people/0/name")),
        (lambda said: said.pop("left_out"), ("missing_field", "/left_out")),
        (lambda said: said.update(number="1"), ("wrong_type", "/number")),
        (lambda said: said.update(sealed_at="yesterday"), ("wrong_type", "/sealed_at")),
        (lambda said: said.update(sealed_at="2024-13-40T00:00:00Z"), ("wrong_type", "/sealed_at")),
        (lambda said: said["content"].update(rule="best"), ("unknown_value", "/content/rule")),
        (lambda said: said["content"].update(kind="gap"), ("other_kind", "/content/kind")),
        (lambda said: said["content"].update(rule="consensus"), ("wrong_hash", "content_hash")),
        (lambda said: said.update(content_hash="0" * 64), ("wrong_hash", "content_hash")),
        (lambda said: said["protocol"].update(guideline_en="Other."), ("wrong_hash", "protocol")),
        (lambda said: said["counts"].update(n_ties=9), ("wrong_count", "/counts/n_ties")),
    ],
)
def test_a_manifest_that_says_something_else_is_refused(folder, fresh, change, expected):
    edit(folder, change)
    found = refused(fresh, folder)
    assert expected in [(code, place) for code, _, _, place in found]


def test_a_project_without_the_protocol_is_told_what_to_do(folder, fresh):
    fresh.protocols.update(guideline_en="Read it another way.")
    assert refused(fresh, folder) == [("missing_protocol", "release.json", None, "/protocol")]


# What is wrong with the lines


def set_in(line, **values):
    return lambda lines: lines[line].update(values)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], ("duplicate_item", 3, "/item_hash")),
        (lambda lines: lines[::-1], ("wrong_order", 2, "/item_hash")),
        (set_in(1, score=5), ("unknown_field", 2, "/score")),
        (set_in(1, how="best"), ("unknown_value", 2, "/how")),
        (set_in(1, is_tie=1), ("wrong_type", 2, "/is_tie")),
        (set_in(1, label=None), ("wrong_value", 2, "/label")),
        (set_in(1, label={"label": "error"}), ("unknown_label", 2, "/label/label")),
        (lambda lines: lines[0]["rests_on"][0].update(label={}), ("missing_field", 1, "/rests_on/0/label/label")),
        (lambda lines: lines[0]["rests_on"][0].update(person="Ana"), ("unknown_field", 1, "/rests_on/0/person")),
        (lambda lines: lines[3].update(item_hash="f" * 64), ("wrong_hash", 4, "item_hash")),
        (lambda lines: lines[0]["source"].update(anchor=9), ("wrong_hash", 1, "item_hash")),
        (lambda lines: lines[0]["source"].update(cluster="x"), ("other_content", 1, "/source/cluster")),
    ],
)
def test_a_forged_line_is_named_with_its_field(folder, fresh, change, expected):
    rewrite(folder, change, rehash=True)
    found = refused(fresh, folder)
    assert expected in [(code, line, place) for code, file, line, place in found if file == "labels.jsonl"]


def test_spans_have_to_quote_the_text_of_the_project(folder, fresh):
    def shift(lines):
        for line in lines:
            for span in line["label"]["spans"]:
                span.update(start=5, end=8)

    rewrite(folder, shift, rehash=True)
    assert ("quote_mismatch", "/label/spans/0/quote") in [(code, place) for code, _, _, place in refused(fresh, folder)]


def test_another_spelling_of_a_line_is_not_the_same_bytes(folder, fresh):
    rewrite(folder, lambda lines: None, canonical=False, rehash=True)
    assert {code for code, *_ in refused(fresh, folder)} == {"other_spelling"}


def test_a_label_changed_with_the_hash_of_its_file_is_found_by_the_hash_of_the_content(folder, fresh):
    rewrite(folder, lambda lines: lines[0].update(how="consensus" if lines[0]["how"] == "majority" else "majority"))
    assert ("wrong_hash", "labels.jsonl", None, "content_hash") in refused(fresh, folder)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"a": \xff}\n', "not_utf8"),
        (b"{}\n", "missing_field"),
        (b"\n", "malformed_json"),
        (b"[" * 200 + b"\n", "too_deep"),
        (b'{"item_hash":1,"item_hash":2}\n', "duplicate_key"),
        (b'{"a":"\\u0000"}\n', "nul_character"),
        (b'{"a":NaN}\n', "number_not_finite"),
        (b'{"a":"' + b"x" * 3000 + b'"}\n', "line_too_long"),
    ],
)
def test_a_line_that_is_none_is_named(folder, fresh, raw, code, monkeypatch):
    monkeypatch.setattr(release_reading, "CAPS", Caps(line_bytes=2900, nesting=50))
    path = folder / "labels.jsonl"
    path.write_bytes(raw + path.read_bytes())
    relist(folder)
    assert (code, "labels.jsonl", 1) in [found[:3] for found in refused(fresh, folder)]


def test_so_many_problems_are_told_and_then_that_there_are_more(folder, fresh):
    path = folder / "labels.jsonl"
    path.write_bytes(b"{}\n" * 5000)
    relist(folder)
    found = refused(fresh, folder)
    assert len(found) == 51
    assert found[-1][0] == "more_problems"


# What the project lacks


def test_what_the_project_lacks_is_listed(folder):
    found = refused(make_fresh(("one", "three")), folder)
    assert {code for code, *_ in found} == {"missing_item"}
    assert len(found) == 2


def test_a_trace_of_another_content_is_told_from_a_missing_one(folder):
    assert {code for code, *_ in refused(make_fresh(text="The GTR rose."), folder)} == {"other_content"}
    places = {place for *_, place in refused(make_fresh(content_hash="9" * 64), folder)}
    assert places == {"/source/trace_hash"}


def test_traces_that_are_not_to_be_seen_yet_do_not_count(folder, fresh):
    fresh.traces.update(is_staged=True)
    assert {code for code, *_ in refused(fresh, folder)} == {"missing_item"}


def test_items_of_another_project_do_not_count(folder):
    make_fresh()
    assert len(refused(make_project(), folder)) == 4
