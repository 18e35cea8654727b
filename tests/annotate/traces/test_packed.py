"""Zip and gzip, inside each other, broken, locked and made to burst."""

import gzip
import io
import json
import tracemalloc
import zipfile

import pytest

from annotate.traces.base import Problem, Trace
from annotate.traces.packed import UnpackCaps, Unpacking, end_of_zip, shown
from annotate.traces.reading import ONE_OF_MANY, Reading
from tests.annotate.traces.files import FIXTURES, line, lines, read, record, refusal

SMALL = UnpackCaps(bytes=100_000, files=5, ratio=50, depth=2)


def packed(files, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def ids(traces):
    return [trace.source_id for trace in traces]


def test_a_gzip_is_what_is_in_it():
    plain = lines(record("a"), record("b"))
    (traces, problems, _), (unpacked, _, _) = read(gzip.compress(plain)), read(plain)
    assert problems == []
    assert traces == unpacked


def test_several_gzips_in_a_row_are_one():
    traces, problems, _ = read(gzip.compress(lines(record("a"))) + gzip.compress(lines(record("b"))))
    assert (ids(traces), problems) == (["a", "b"], [])


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_is_all_of_its_files_in_order_whatever_their_formats(method):
    files = {
        "b/own.jsonl": lines(record("a"), record("b")),
        "a.json": (FIXTURES / "tau_bench.json").read_bytes(),
        "deep/er.jsonl": lines(record("c")),
    }
    reading = Reading(io.BytesIO(packed(files, method)), file_name="all.zip")
    assert (reading.format, reading.formats) == ("", {})
    found = list(reading)
    traces = [one for one in found if isinstance(one, Trace)]
    assert [trace.format for trace in traces] == ["sightline"] * 2 + ["tau_bench"] * 3 + ["sightline"]
    assert traces[0].place.file == "all.zip/b/own.jsonl"
    assert (reading.format, reading.formats) == ("sightline, tau_bench", {"sightline": 2, "tau_bench": 1})
    assert not [one for one in found if isinstance(one, Problem) and not one.warning]


def test_a_file_inside_reads_as_it_does_by_itself():
    content = (FIXTURES / "tau_bench.json").read_bytes()
    (traces, _, _), (inside, _, _) = read(content), read(packed({"x.json": content}))
    assert traces == inside


def test_archives_inside_archives_are_opened_to_the_cap():
    inner = packed({"t.jsonl": lines(record("a"))})
    traces, problems, _ = read(packed({"inner.zip": inner}), unpack_caps=SMALL)
    assert (ids(traces), problems) == (["a"], [])
    problem = refusal(packed({"outer.zip": packed({"inner.zip": inner})}), unpack_caps=SMALL)
    assert problem.code == "archive_too_deep"
    assert problem.file.endswith("outer.zip/inner.zip")


def test_a_gzip_inside_a_zip_counts_as_an_archive():
    packed_twice = packed({"t.jsonl.gz": gzip.compress(lines(record("a")))})
    assert ids(read(packed_twice)[0]) == ["a"]
    assert refusal(packed({"z.zip": packed_twice})).code == "archive_too_deep"


def test_the_same_id_in_two_files_is_named_with_both():
    problem = refusal_of(packed({"a.jsonl": lines(record("x")), "b.jsonl": lines(record("x"))}))
    assert problem.code == "duplicate_id"
    assert "a.jsonl, line 1" in problem.sentence()
    assert "b.jsonl, line 1" in problem.sentence()


def test_the_same_id_in_two_formats_is_two_traces():
    chat = {"id": "x", "messages": [{"role": "user", "content": "a"}]}
    traces, problems, _ = read(packed({"a.jsonl": lines(record("x")), "b.jsonl": lines(chat)}))
    assert ([trace.format for trace in traces], problems) == (["sightline", "openai_chat"], [])


def test_a_page_of_explanations_is_passed_over_and_counted():
    traces, problems, warnings = read(packed({"README.md": b"# Runs\n", "a.jsonl": lines(record("x"))}))
    assert (ids(traces), problems) == (["x"], [])
    assert [(warning.code, warning.file) for warning in warnings] == [(ONE_OF_MANY, "x.jsonl/README.md")]


def test_data_of_an_unknown_format_refuses_the_archive_but_may_be_skipped():
    traces, (problem,), _ = read(packed({"a.json": b'{"what": 1}', "b.jsonl": lines(record("x"))}))
    assert ids(traces) == ["x"]
    assert (problem.code, problem.file) == (ONE_OF_MANY, "x.jsonl/a.json")


def test_what_systems_add_to_archives_is_nobodys():
    files = {"__MACOSX/._a.jsonl": b"\0\5", ".DS_Store": b"\0", "d/._a.jsonl": b"\0", "d/a.jsonl": lines(record("x"))}
    traces, problems, warnings = read(packed(files))
    assert (ids(traces), problems, warnings) == (["x"], [], [])


def test_an_archive_without_files_is_empty():
    assert refusal(packed({})).code == "empty_file"
    assert refusal(packed({"folder/": b""})).code == "empty_file"


@pytest.mark.parametrize("keep", [5, 30, 60, -1, -10, -30])
def test_an_archive_that_ends_early_is_named(keep):
    whole = packed({"a.jsonl": lines(*[record(str(n)) for n in range(50)])})
    found = read(whole[:keep])[1]
    assert {problem.code for problem in found} <= {"broken_archive"}
    assert found


@pytest.mark.parametrize("keep", [3, 8, 15, 40, -1, -9])
def test_a_gzip_that_ends_early_is_named_and_gives_nothing(keep):
    whole = gzip.compress(lines(*[record(str(n), text="é" * n) for n in range(50)]))
    traces, problems, _ = read(whole[:keep])
    assert (traces, [problem.code for problem in problems]) == ([], ["broken_archive"])


def test_any_byte_of_an_archive_may_be_wrong():
    """Whatever stands there, it is read or named; nothing fails."""
    for whole in (packed({"a.jsonl": lines(record("x")), "b.json": b"[]"}), gzip.compress(lines(record("x")))):
        for place in range(4, len(whole)):
            for byte in (0, 0xFF, whole[place] ^ 1):
                changed = whole[:place] + bytes([byte]) + whole[place + 1 :]
                traces, problems, _ = read(changed, unpack_caps=SMALL)
                assert traces or problems


def test_a_locked_zip_is_named():
    whole = bytearray(packed({"a.jsonl": lines(record("x"))}))
    whole[6] |= 1
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    assert refusal(bytes(whole)).code == "encrypted_archive"


def test_a_way_of_packing_that_is_not_read_is_named():
    assert refusal(packed({"a.jsonl": lines(record("x"))}, zipfile.ZIP_LZMA)).code == "unknown_packing"
    assert refusal(packed({"a.jsonl": lines(record("x"))}, zipfile.ZIP_BZIP2)).code == "unknown_packing"


def test_too_many_files_are_refused_before_their_names_are_read():
    problem = refusal(packed({f"{n}.jsonl": lines(record(str(n))) for n in range(6)}), unpack_caps=SMALL)
    assert problem.code == "archive_too_long"
    assert "IMPORT_MAX_PACKED_FILES" in problem.sentence()


def test_files_of_archives_inside_count_together():
    inner = packed({f"{n}.jsonl": lines(record(str(n))) for n in range(3)})
    problems = read(packed({"a.zip": inner, "b.zip": inner}), unpack_caps=SMALL)[1]
    assert "archive_too_long" in [problem.code for problem in problems]


def bomb(n_bytes):
    return b'{"id": "x", "messages": [{"role": "user", "text": "' + b"a" * n_bytes + b'"}]}\n'


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: packed({"a.jsonl": content})])
def test_an_archive_that_bursts_is_refused_with_flat_memory(pack):
    content = pack(bomb(60_000_000))
    assert len(content) < 100_000
    tracemalloc.start()
    problem = refusal(content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problem.code == "too_large"
    assert "IMPORT_MAX_RATIO" in problem.sentence()
    assert peak < 8_000_000


def test_a_burst_ends_the_whole_archive():
    content = packed({"a.jsonl": bomb(200_000), "b.jsonl": lines(record("b"))})
    traces, problems, _ = read(content, unpack_caps=SMALL)
    assert (ids(traces), [problem.code for problem in problems]) == ([], ["too_large"])


def test_a_burst_inside_an_archive_inside_ends_it_too():
    inner = packed({"a.jsonl": bomb(200_000), "b.jsonl": lines(record("b"))})
    traces, problems, _ = read(packed({"in.zip": inner, "c.jsonl": lines(record("c"))}), unpack_caps=SMALL)
    assert (ids(traces), [problem.code for problem in problems]) == ([], ["too_large"])


def test_sizes_that_a_zip_states_are_not_believed():
    whole = bytearray(packed({"a.jsonl": bomb(200_000)}))
    at = whole.index(b"PK\x01\x02")
    whole[at + 24 : at + 28] = (10).to_bytes(4, "little")
    traces, problems, _ = read(bytes(whole), unpack_caps=SMALL)
    assert (traces, len(problems)) == ([], 1)


def test_the_end_of_a_zip_tells_its_files_also_behind_a_comment():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = b"c" * 60_000
        for number in range(7):
            archive.writestr(str(number), "")
    n_entries, n_directory = end_of_zip(out)
    assert (n_entries, n_directory) == (7, 7 * (46 + 1))
    assert end_of_zip(io.BytesIO(b"PK\x03\x04")) is None


def test_names_inside_are_printable_and_short():
    assert shown("a\udcff.json") == "a\\udcff.json"
    assert len(shown("x" * 1000)) == 200


def test_how_far_an_archive_is_read_only_grows():
    content = packed({f"{n}.jsonl": lines(record(str(n))) for n in range(5)}, zipfile.ZIP_STORED)
    reading = Reading(io.BytesIO(content))
    seen = [reading.n_read for _ in reading]
    assert seen == sorted(seen)
    assert 0 < seen[-1] <= len(content)


def test_nul_characters_replaced_are_counted_over_all_files():
    content = line(record("x", [{"role": "user", "text": "a"}, {"role": "assistant", "text": "b"}])).replace(
        b'"a"', b'"a\\u0000"'
    )
    reading = Reading(io.BytesIO(packed({"a.jsonl": content, "b.jsonl": content})), replace_nul=True)
    list(reading)
    assert reading.n_replaced_nul == 2


def test_temporary_files_are_closed_as_the_next_is_asked_for():
    unpacking = Unpacking(SMALL)
    files = [part.file for part in unpacking.of(io.BytesIO(packed({"a": b"1", "b": b"2"})), "x.zip")]
    assert [file.closed for file in files] == [True, True]


def test_a_format_that_is_named_holds_for_every_file():
    chat = json.dumps([{"role": "user", "content": "a"}]).encode()
    traces, problems, _ = read(packed({"a.json": chat}), format="openai_chat")
    assert (len(traces), problems) == (1, [])


def refusal_of(content):
    return next(problem for problem in read(content)[1])


def agent_run():
    return json.dumps([{"content": "Which well?", "role": "human"}, {"content": "a", "role": "WebSurfer"}]).encode()


def labels_of(*ids_):
    failure = {"failure_id": 1, "step_number": 2, "failure_category": "x", "failed_agent": "WebSurfer"}
    return json.dumps([{"trajectory_id": one, "failures": [failure], "root_cause": None} for one in ids_]).encode()


@pytest.mark.parametrize("labels_first", [True, False])
def test_labels_of_an_archive_go_to_its_runs_whatever_comes_first(labels_first):
    files = {"runs/r1.json": agent_run(), "labels.json": labels_of("r1")}
    traces, problems, warnings = read(packed(dict(sorted(files.items(), reverse=not labels_first))))
    assert (problems, warnings) == ([], [])
    (label,) = traces[0].metadata["labels"]
    assert (label["kind"], label["index"], label["step_in_file"]) == ("failure", 1, 2)


def test_labels_without_a_run_in_the_archive_are_counted():
    _, problems, warnings = read(packed({"r1.json": agent_run(), "labels.json": labels_of("r1", "r2")}))
    assert (problems, [warning.code for warning in warnings]) == ([], ["labels_without_run"])


def test_labels_alone_are_refused_with_what_to_do():
    problem = refusal(labels_of("r1"))
    assert problem.code == "labels_only"
    assert "--labels" in problem.sentence()


def test_an_archive_of_nothing_but_labels_has_no_traces():
    traces, problems, _ = read(packed({"labels.json": labels_of("r1")}))
    assert traces == []
    assert [problem.code for problem in problems] == ["no_traces"]


@pytest.mark.parametrize(
    ("content", "code"), [(b"", "empty_file"), (b"hello", "unsupported_type"), (b"[1]", "unknown_format")]
)
def test_what_is_wrong_with_the_one_file_of_a_gzip_is_wrong_with_the_gzip(content, code):
    assert refusal(gzip.compress(content)).code == refusal(content).code == code


def test_labels_in_a_gzip_are_labels():
    assert refusal(gzip.compress(labels_of("r1"))).code == "labels_only"
