import gzip
import io
import json
import zipfile

import pytest
from django.core.management import call_command

from annotate.models import Item, Trace
from annotate.traces.sniff import readers
from tests.annotate.traces.files import FIXTURES, lines, record
from tests.factories import make_project

COUNTS = {"path", "format", "traces", "messages", "calls", "paired", "unpaired", "skipped", "refused"}


@pytest.fixture
def run(capsys):
    """The parsed line on standard output, what stood on standard error, and the exit status."""

    def run(*arguments):
        status = 0
        try:
            call_command(*map(str, arguments), "--json")
        except SystemExit as ended:
            status = ended.code
        out, err = capsys.readouterr()
        assert out.count("\n") == 1
        return json.loads(out), err, status

    return run


@pytest.fixture
def file(tmp_path):
    def file(content, name="runs.jsonl"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return file


def test_inspect_counts_every_file_of_a_folder_without_a_database(run):
    said, err, _ = run("inspect_traces", FIXTURES)
    by_format = {found["format"]: found for found in said["files"]}
    assert set(by_format) - {""} == set(readers())
    assert set(by_format["sightline"]) >= COUNTS
    chat = by_format["openai_chat"]
    assert [chat[name] for name in ("traces", "messages", "calls", "paired", "unpaired")] == [2, 10, 2, 2, 1]
    assert chat["skipped"] == {"unknown_role": 1, "orphan_tool_result": 1}
    assert "moderator" in err


def test_inspect_says_what_would_be_refused_and_exits_1(run, file):
    path = file(lines(record("t1"), record("t2", [{"role": "robot", "text": "a"}])))
    said, err, status = run("inspect_traces", path)
    assert status == 1
    (problem,) = said["files"][0]["refused"]
    assert problem == {
        "code": "unknown_role",
        "file": str(path),
        "line": 2,
        "pointer": "/messages/0/role",
        "field": "role",
        "expected": "One of: system, user, assistant, tool, summary. Here it is “robot”.",
        "remedy": "Write one of these; case counts.",
    }
    assert "line 2" in err


@pytest.mark.parametrize(("name", "cap"), [("LINE_BYTES", 20), ("STRING_CHARACTERS", 3), ("NESTING", 2)])
def test_the_caps_are_settings_and_named_when_met(run, file, settings, name, cap):
    setattr(settings, f"IMPORT_MAX_{name}", cap)
    said, _, status = run("inspect_traces", file(lines(record("t1", meta={"deep": [1]}))), "--format", "sightline")
    assert status == 1
    assert f"IMPORT_MAX_{name}" in said["files"][0]["refused"][0]["remedy"]


def test_inspect_names_a_missing_file(run, tmp_path):
    said, _, status = run("inspect_traces", tmp_path / "none.jsonl")
    assert (status, said["files"][0]["refused"][0]["code"]) == (1, "no_file")


def test_inspect_passes_over_files_of_a_folder_that_hold_no_data(run, file):
    folder = file(lines(record())).parent
    notes = file(b"hello", "README.md")
    said, _, status = run("inspect_traces", folder)
    assert (len(said["files"]), said["passed_over"], status) == (1, [str(notes)], 0)
    said, _, status = run("inspect_traces", notes)  # named by itself, it is meant
    assert (said["files"][0]["refused"][0]["code"], said["passed_over"], status) == ("unsupported_type", [], 1)


def test_inspect_reads_files_by_their_content_and_not_by_their_name(run, file):
    folder = file(lines(record()), "runs.traj").parent
    file(gzip.compress(lines(record("t2"))), "more")
    said, _, status = run("inspect_traces", folder)
    assert ([found["traces"] for found in said["files"]], status) == ([1, 1], 0)


def test_inspect_adds_files_up_by_format(run, file):
    folder = file(lines(record("t1"), record("t2"))).parent
    file(lines(record("t3")), "other.jsonl")
    file(b'{"what": 1}', "what.json")
    file((FIXTURES / "tau_bench.json").read_bytes(), "tau.json")
    said, _, _ = run("inspect_traces", folder)
    rows = [{name: row[name] for name in ("format", "files", "traces", "n_refused")} for row in said["formats"]]
    assert rows == [
        {"format": "sightline", "files": 2, "traces": 3, "n_refused": 0},
        {"format": "tau_bench", "files": 1, "traces": 3, "n_refused": 0},
        {"format": "", "files": 1, "traces": 0, "n_refused": 1},
    ]
    tau = said["formats"][1]
    assert (tau["messages"], tau["calls"], tau["paired"], tau["unpaired"], tau["skipped"]) == (30, 6, 6, 0, {})


def test_inspect_prints_the_table_of_formats_in_words(capsys, file):
    folder = file(lines(record("t1"))).parent
    file(lines(record("t2")), "other.jsonl")
    call_command("inspect_traces", str(folder))
    *_, heading, row = capsys.readouterr().out.splitlines()
    assert " ".join(heading.split()) == "format files traces messages calls paired unpaired skipped n_refused"
    assert " ".join(row.split()) == "sightline 2 2 4 0 0 0 - 0"


def test_inspect_in_words(capsys):
    call_command("inspect_traces", str(FIXTURES / "tau_bench.json"))
    assert "3 traces, 30 messages, 6 calls, 6 paired, 0 unpaired" in capsys.readouterr().out


@pytest.mark.django_db
def test_import_says_what_came_in(run, file):
    make_project("wells")
    said, _, status = run(
        "import_traces", "wells", file(lines(record("t1"), record("t2"))), FIXTURES / "tau_bench.json"
    )
    assert status == 0
    assert [(one["state"], one["new"], one["items"]) for one in said["files"]] == [
        ("imported", 2, 2),
        ("imported", 3, 6),
    ]
    assert Item.objects.count() == 8


@pytest.mark.django_db
def test_import_again_exits_0_and_says_how_many_were_there(run, file):
    make_project("wells")
    path = file(lines(record("t1"), record("t2")))
    run("import_traces", "wells", path)
    said, _, status = run("import_traces", "wells", path)
    assert (status, said["files"][0]["new"], said["files"][0]["present"]) == (0, 0, 2)


@pytest.mark.django_db
def test_a_refused_import_exits_1_with_every_problem(run, file):
    make_project("wells")
    path = file(lines(record("t1")) + b"{\n" + lines(record("")))
    said, err, status = run("import_traces", "wells", path)
    assert (status, said["files"][0]["state"]) == (1, "refused")
    assert [(one["code"], one["line"]) for one in said["files"][0]["problems"]] == [
        ("malformed_json", 2),
        ("empty_value", 3),
    ]
    assert "runs.jsonl line 2" in err
    assert Trace.objects.count() == 0
    said, _, status = run("import_traces", "wells", path, "--skip-bad")
    assert (status, said["files"][0]["new"], len(said["files"][0]["problems"])) == (0, 1, 2)


@pytest.mark.django_db
def test_import_takes_nul_characters_only_when_told(run, file):
    make_project("wells")
    path = file(lines(record("t1", [{"role": "user", "text": "\0"}])))
    assert run("import_traces", "wells", path)[2] == 1
    said, _, status = run("import_traces", "wells", path, "--replace-nul")
    assert (status, said["files"][0]["replaced_nul"]) == (0, 1)


@pytest.mark.django_db
def test_import_refuses_an_unknown_project_and_a_missing_file(run, file, tmp_path):
    path = file(lines(record()))
    said, _, status = run("import_traces", "none", path)
    assert (status, said["problems"][0]["code"]) == (1, "unknown_project")
    make_project("wells")
    said, _, status = run("import_traces", "wells", path, tmp_path / "none.jsonl")
    assert (status, said["problems"][0]["code"]) == (1, "no_file")
    assert Trace.objects.count() == 0


# Packed files, and labels that lie beside the runs


def packed(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


RUN = json.dumps([{"content": "Which well?", "role": "human"}, {"content": "a", "role": "WebSurfer"}]).encode()


def labels_of(*ids):
    failure = {"failure_id": 1, "step_number": 2, "failure_category": "x", "failed_agent": "WebSurfer"}
    return json.dumps([{"trajectory_id": one, "failures": [failure], "root_cause": None} for one in ids]).encode()


@pytest.mark.django_db
def test_an_archive_comes_in_as_one_file(run, file):
    make_project("wells")
    archive = file(packed(a=lines(record("t1")), b=(FIXTURES / "tau_bench.json").read_bytes()), "all.zip")
    said, _, status = run("import_traces", "wells", archive)
    assert (said["files"][0]["format"], said["files"][0]["new"], status) == ("sightline, tau_bench", 4, 0)
    assert set(Trace.objects.values_list("format", flat=True)) == {"sightline", "tau_bench"}
    said, _, _ = run("import_traces", "wells", archive)
    assert (said["files"][0]["new"], said["files"][0]["present"]) == (0, 4)


@pytest.mark.django_db
def test_one_bad_file_refuses_the_archive_and_may_be_skipped(run, file):
    make_project("wells")
    archive = file(packed(a=lines(record("t1")), b=b'{"what": 1}'), "all.zip")
    said, _, status = run("import_traces", "wells", archive)
    assert (said["files"][0]["state"], status, Trace.objects.count()) == ("refused", 1, 0)
    said, _, status = run("import_traces", "wells", archive, "--skip-bad")
    assert (said["files"][0]["state"], said["files"][0]["new"], Trace.objects.count()) == ("imported", 1, 1)


@pytest.mark.parametrize(("name", "cap"), [("UNPACKED_BYTES", 100), ("PACKED_FILES", 1)])
def test_the_caps_of_archives_are_settings_and_named_when_met(run, file, settings, name, cap):
    setattr(settings, f"IMPORT_MAX_{name}", cap)
    said, _, status = run("inspect_traces", file(packed(a=lines(record("t1")), b=lines(record("t2"))), "all.zip"))
    assert status == 1
    assert f"IMPORT_MAX_{name}" in said["files"][0]["refused"][0]["remedy"]


@pytest.mark.django_db
def test_labels_of_another_file_come_in_with_their_runs_and_stay_private(run, file):
    make_project("wells")
    labels = file(labels_of("r1", "r9"), "labels.json")
    said, _, status = run("import_traces", "wells", file(RUN, "r1.json"), file(RUN, "r2.json"), "--labels", labels)
    assert (status, said["labelled"]) == (0, 1)
    assert [warning["code"] for warning in said["label_warnings"]] == ["labels_without_run"]
    kept = dict(Trace.objects.values_list("source_id", "metadata"))
    assert kept["r1"]["labels"][0]["index"] == 1
    assert "labels" not in kept["r2"]


@pytest.mark.parametrize("command", [["import_traces", "wells"], ["inspect_traces"]])
@pytest.mark.parametrize("content", [None, RUN, b"", b"x", b'[{"trajectory_id": 1, "failures": 5}]'])
@pytest.mark.django_db
def test_a_label_file_that_holds_no_labels_is_refused_before_anything_is_read(run, file, tmp_path, command, content):
    make_project("wells")
    labels = tmp_path / "none.json" if content is None else file(content, "labels.json")
    said, _, status = run(*command, file(RUN, "r1.json"), "--labels", labels)
    (problem,) = said["problems"]
    assert (status, problem["code"]) == (1, "no_file" if content is None else "no_labels")
    assert not Trace.objects.exists()
