import json
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotate import assigning, importing, staging
from annotate.importing import import_traces
from annotate.models import Assignment, File, ImportBatch, Item, Message, Project, Trace
from annotate.traces import base, tally
from tests.annotate.traces.files import SHARED, lines, record
from tests.factories import make_cast, make_item, make_project, make_trace

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """What no code may catch, as if the process had ended."""


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def bring_in(tmp_path, project):
    def bring_in(content, into=project, name="runs.jsonl", **options):
        path = tmp_path / name
        path.write_bytes(content)
        return import_traces(project=into, path=path, file_name=name, **options)

    return bring_in


def many(n, first=1, **members):
    return lines(*(record(f"t{number}", **members) for number in range(first, first + n)))


def rows():
    return [model.objects.count() for model in (Trace, Message, File, Item)]


def test_what_a_lead_changed_meanwhile_holds_for_what_comes_in():
    """The caller read the project before; with a row of the import there, how it reads cannot be changed any more."""
    cast = make_cast(settings={"text_beside_calls": "private", "show": "light"}, open_lead=False)
    asked = {"role": "user", "text": "please"}
    beside = [asked, {"role": "assistant", "text": "looking", "calls": [{"id": "c1", "name": "f", "arguments": "{}"}]}]
    old = Project.objects.get(pk=cast.project.pk)
    Project.objects.update(settings={"text_beside_calls": "visible", "show": "light"}, open_lead=True)
    with NamedTemporaryFile() as file:
        file.write(lines(record("t1", [*beside, {"role": "assistant", "text": "done"}])))
        file.flush()
        import_traces(project=old, path=Path(file.name), file_name="runs.jsonl")
    assert Message.objects.get(index=1).seen_by == "requester"
    assert Assignment.objects.filter(annotator=cast.lea).exists()


def test_how_traces_are_read_is_looked_at_behind_the_row_that_keeps_it_from_being_changed(
    bring_in, project, monkeypatch
):
    seen, now = [], importing.project_now

    def look(project):
        seen.append([ImportBatch.objects.count(), Trace.objects.filter(is_staged=False).count()])
        return now(project)

    monkeypatch.setattr(importing, "project_now", look)
    bring_in(many(2))
    assert seen == [[1, 0], [1, 2]]


def test_a_file_becomes_visible_traces_messages_files_and_items(bring_in, project):
    called = [
        {"role": "system", "text": "prompt"},
        {"role": "user", "text": "a\r\nb"},
        {"role": "assistant", "text": "looking", "calls": [{"id": "c1", "name": "f", "arguments": "{ }"}]},
        {"role": "tool", "text": "42", "answers": "c1"},
        {"role": "assistant", "text": "ok"},
    ]
    files = [{"name": "a.csv", "text": "1", "available_from": 1}]
    report = bring_in(lines(record("t1", called, files=files, language="zh", area="wells", cluster="w")), phase="pilot")
    assert (report.is_refused, report.n_new, report.n_items, report.format) == (False, 1, 1, "sightline")
    trace = Trace.objects.get()
    assert (trace.is_staged, trace.language, trace.area, trace.cluster) == (False, "zh", "wells", "w")
    assert [(m.role, m.seen_by) for m in trace.messages.all()] == [
        ("system", "agent"),
        ("user", "requester"),
        ("assistant", "agent"),
        ("tool", "agent"),
        ("assistant", "requester"),
    ]
    message = trace.messages.get(index=3)
    assert (message.answers_index, message.answers_call, message.answers_id) == (2, 0, "c1")
    assert trace.messages.get(index=1).text == "a\r\nb"
    assert trace.messages.get(index=2).calls == [{"id": "c1", "name": "f", "arguments": "{ }"}]
    assert [(file.name, file.available_from) for file in trace.files.all()] == [("a.csv", 1)]
    item = Item.objects.get()
    assert (item.anchor, item.cluster, item.phase, item.text) == (4, "w", "pilot", None)
    batch = ImportBatch.objects.get()
    assert (batch.state, batch.counts["messages"], batch.finished_at is None) == ("visible", 5, False)


def test_a_trace_without_cluster_is_its_own(bring_in):
    bring_in(many(1))
    assert Item.objects.get().cluster == "t1"


def test_text_beside_calls_is_seen_where_the_project_says_so(bring_in):
    open_project = make_project(settings={"text_beside_calls": "visible"})
    beside = {"role": "assistant", "text": "looking", "calls": [{"name": "f"}]}
    bring_in(lines(record("t1", [{"role": "user", "text": "a"}, beside])), into=open_project)
    assert Message.objects.get(index=1).seen_by == "requester"


def test_one_bad_line_keeps_everything_out_and_every_problem_is_named(bring_in):
    content = many(120) + b'{"id": "bad", "messages": []}\n' + many(3, first=200) + b"{\n"
    report = bring_in(content)
    assert report.is_refused
    assert [(problem.code, problem.line) for problem in report.tally.problems] == [
        ("empty_value", 121),
        ("malformed_json", 125),
    ]
    assert rows() == [0, 0, 0, 0]
    batch = ImportBatch.objects.get()
    assert (batch.state, [problem["line"] for problem in batch.problems]) == ("refused", [121, 125])


def test_skip_bad_brings_in_the_rest_and_the_batch_keeps_what_was_skipped(bring_in):
    report = bring_in(many(60) + b"{\n" + many(5, first=100), skip_bad=True)
    assert (report.is_refused, report.n_new, report.tally.n_problems) == (False, 65, 1)
    batch = ImportBatch.objects.get()
    assert (batch.skip_bad, [problem["line"] for problem in batch.problems]) == (True, [61])


@pytest.mark.parametrize("content", [b"", b"{\n", b"\x89PNG\r\n\x1a\n\x00", b'{"a": 1}\n'])
def test_skip_bad_does_not_accept_a_file_without_any_trace(bring_in, content):
    assert bring_in(content, skip_bad=True).is_refused


def test_nul_characters_are_refused_or_shown_and_counted(bring_in):
    content = lines(record("t1", [{"role": "user", "text": "a\0b\0"}, {"role": "assistant", "text": "ok"}]))
    assert bring_in(content).is_refused
    report = bring_in(content, replace_nul=True)
    assert (report.is_refused, report.n_replaced_nul) == (False, 2)
    assert Message.objects.get(index=0).text == "a␀b␀"
    batch = ImportBatch.objects.get(state="visible")
    assert (batch.replace_nul, batch.counts["replaced_nul"]) == (True, 2)


def test_the_same_file_again_adds_nothing_and_says_how_many_were_there(bring_in):
    bring_in(many(70))
    before = rows()
    report = bring_in(many(70))
    assert (report.is_refused, report.n_new, report.n_present) == (False, 0, 70)
    assert rows() == before


def test_new_traces_beside_present_ones_are_added(bring_in):
    bring_in(many(3))
    report = bring_in(many(5))
    assert (report.n_new, report.n_present, Trace.objects.count()) == (2, 3, 5)


def test_the_same_id_with_other_content_is_refused_naming_both_hashes(bring_in):
    bring_in(many(3))
    old = Trace.objects.get(source_id="t2").content_hash
    report = bring_in(many(1) + many(1, first=2, area="changed") + many(1, first=9))
    (problem,) = report.tally.problems
    assert (report.is_refused, problem.code, problem.line) == (True, "duplicate_id", 2)
    assert old in problem.sentence()
    assert problem.params["new"] in problem.sentence()
    assert problem.params["new"] != old
    assert Trace.objects.count() == 3
    assert bring_in(many(1, first=2, area="changed") + many(1, first=9), skip_bad=True).n_new == 1


def test_the_same_id_in_another_project_is_another_trace(bring_in):
    bring_in(many(3))
    assert bring_in(many(3, area="changed"), into=make_project()).n_new == 3


def test_a_killed_import_shows_nothing_and_the_next_one_begins_afresh(bring_in, monkeypatch):
    def killed(*args):
        raise Killed

    monkeypatch.setattr(importing, "finish", killed)
    with pytest.raises(Killed):
        bring_in(many(120))
    monkeypatch.undo()
    assert Trace.objects.filter(is_staged=True).count() == 120
    assert Trace.objects.filter(is_staged=False).count() == 0
    report = bring_in(many(10, first=100, area="other"))
    assert (report.is_refused, report.n_new) == (False, 10)
    assert Trace.objects.count() == Trace.objects.filter(is_staged=False).count() == 10
    assert sorted(ImportBatch.objects.values_list("state", flat=True)) == ["refused", "visible"]


def test_an_import_that_is_overtaken_by_another_one_ends_without_a_row(bring_in, project):
    calls = []

    def other_import(n_bytes):
        if not calls:
            calls.append(n_bytes)
            bring_in(many(2, first=1000), name="second.jsonl")

    report = bring_in(many(120), progress=other_import)
    assert report.is_refused
    assert report.tally.problems[-1].code == "import_interrupted"
    assert sorted(Trace.objects.values_list("source_id", flat=True)) == ["t1000", "t1001"]
    assert Trace.objects.filter(is_staged=True).count() == 0


def test_an_import_that_still_removes_leftovers_removes_nothing_of_one_that_began_meanwhile(bring_in, project):
    report = bring_in(many(120), progress=lambda n_bytes: importing.remove_staged(importing.leftovers(project)))
    assert (report.is_refused, report.n_new) == (False, 120)
    assert Trace.objects.filter(is_staged=False).count() == 120


def test_another_project_s_import_is_left_alone(bring_in):
    def other_import(n_bytes):
        bring_in(many(1), into=make_project(), name="second.jsonl")

    assert bring_in(many(120), progress=other_import).n_new == 120


def test_annotators_get_the_new_items_after_the_flip(bring_in):
    cast = make_cast()
    bring_in(many(3), into=cast.project)
    assert Assignment.objects.filter(annotator=cast.ana).count() == 3
    assert Assignment.objects.filter(annotator=cast.zoe).count() == 0
    bring_in(many(2, first=4) + b"{\n", into=cast.project)
    assert Assignment.objects.filter(annotator=cast.ana).count() == 3


@pytest.mark.parametrize("n_planned", [0, 1])
def test_what_an_import_that_was_killed_behind_its_flip_left_is_planned_by_the_next(bring_in, monkeypatch, n_planned):
    cast, plan, planned = make_cast(), assigning.extend_plan, []

    def killed(**arguments):
        if len(planned) == n_planned:
            raise Killed
        planned.append(plan(**arguments))
        return planned[-1]

    monkeypatch.setattr(assigning, "extend_plan", killed)
    with pytest.raises(Killed):
        bring_in(many(3), into=cast.project)
    monkeypatch.undo()
    assert (Item.objects.count(), Assignment.objects.count()) == (3, 3 * n_planned)
    report = bring_in(many(3), into=cast.project)
    assert (report.n_new, report.n_present, report.n_items) == (0, 3, 0)
    for member in (cast.ana, cast.ben):
        states = member.assignments.order_by("order").values_list("state", flat=True)
        assert list(states) == ["open", "locked", "locked"]


def test_a_refused_file_plans_nothing(bring_in):
    cast = make_cast()
    make_item(cast.project)
    assert bring_in(many(3) + b"{\n", into=cast.project).is_refused
    assert not Assignment.objects.exists()


def test_a_constraint_that_breaks_on_the_way_in_is_no_interruption(bring_in):
    with pytest.raises(IntegrityError, match="item_phase_known"), transaction.atomic():
        bring_in(many(3), phase="nonsense")


def test_a_trace_that_another_import_showed_meanwhile_ends_this_one_without_a_row(bring_in, project):
    def same_trace_elsewhere(n_bytes):
        make_trace(project, source_id="t2")

    report = bring_in(many(3), progress=same_trace_elsewhere)
    assert (report.is_refused, report.n_new) == (True, 0)
    assert report.tally.problems[-1].code == "import_interrupted"
    assert list(Trace.objects.values_list("source_id", flat=True)) == ["t2"]
    assert ImportBatch.objects.get(pk=report.batch).state == "refused"


@pytest.mark.parametrize("listed", [0, 1, 1000])
def test_an_overtaken_import_ends_as_one_however_many_records_were_skipped(bring_in, monkeypatch, listed):
    monkeypatch.setattr(tally, "LISTED", listed)
    calls = []

    def other_import(n_bytes):
        if not calls:
            calls.append(n_bytes)
            bring_in(many(1, first=1000), name="second.jsonl")

    report = bring_in(many(60) + b"{\n" * 3, progress=other_import, skip_bad=True)
    assert (report.is_refused, report.n_new) == (True, 0)
    assert report.tally.problems[-1].code == "import_interrupted"
    assert list(Trace.objects.values_list("source_id", flat=True)) == ["t1000"]


def test_problems_that_are_not_listed_are_counted(bring_in, monkeypatch):
    monkeypatch.setattr(tally, "LISTED", 2)
    conversation = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    report = bring_in(lines(conversation) + b"{\n" * 5 + lines(*[{"type": "usage"}] * 3), skip_bad=True)
    counts = ImportBatch.objects.get().counts
    assert (len(report.tally.problems), len(report.tally.warnings)) == (2, 2)
    assert (counts["n_problems"], counts["skipped"], counts["n_unlisted"]) == (5, {"unknown_record": 3}, 3 + 1)


def statements(bring_in, content):
    with CaptureQueriesContext(connection) as captured:
        bring_in(content, into=make_project())
    return len(captured)


def test_statements_grow_with_the_chunks_and_not_with_the_traces(bring_in, monkeypatch):
    monkeypatch.setattr(staging, "CHUNK_TRACES", 20)
    one = statements(bring_in, many(20))
    assert statements(bring_in, many(10)) == one
    per_chunk = statements(bring_in, many(40)) - one
    assert per_chunk <= 8
    assert statements(bring_in, many(200)) == one + 9 * per_chunk


LONG = "x" * 1500


@pytest.mark.parametrize(
    "where",
    [
        {"messages": (base.Message(0, "user", LONG),)},
        {"messages": (base.Message(0, "assistant", "", calls=(base.Call("a", "f", LONG),)),)},
        {"messages": (base.Message(0, "assistant", "", calls=(base.Call("a", LONG, ""),)),)},
        {"messages": (base.Message(0, "assistant", "", calls=(base.Call(LONG, "f", ""),)),)},
        {"messages": tuple(base.Message(index, "user", "") for index in range(15))},
        {"messages": (), "files": (base.File("a.csv", LONG),)},
        {"messages": (), "metadata": {"model": LONG}},
        {"messages": (), "metadata": {LONG: 1}},
        {"messages": (), "metadata": {"scores": {"all": list(range(500))}}},
    ],
    ids=["text", "arguments", "call's name", "call's id", "messages", "file", "metadata", "key of metadata", "numbers"],
)
def test_a_chunk_is_bounded_by_all_that_its_records_hold(monkeypatch, where):
    monkeypatch.setattr(staging, "CHUNK_CHARACTERS", 2500)
    traces = [base.Trace(str(n), "sightline", **where) for n in range(5)]
    assert [len(chunk) for chunk in staging.chunks(traces)] == [2, 2, 1]


def test_a_chunk_of_small_records_is_bounded_by_their_number():
    traces = [base.Trace(str(n), "sightline", ()) for n in range(120)]
    assert [len(chunk) for chunk in staging.chunks(traces)] == [20] * 6


@pytest.mark.shared
def test_the_airline_runs_are_imported_and_imported_again(project):
    path = SHARED / "data" / "tau-bench-airline-gpt4o" / "historical_trajectories" / "gpt-4o-airline.json"
    first = import_traces(project=project, path=path, file_name=path.name)
    assert (first.n_new, first.tally.messages, first.tally.calls, first.tally.paired) == (200, 5308, 1164, 1164)
    assert Trace.objects.values("cluster").distinct().count() == 50
    assert Message.objects.filter(role="tool", answers_index=None).count() == 0
    assert Item.objects.count() == first.n_items == 1290
    assert import_traces(project=project, path=path, file_name=path.name).n_present == 200


def test_private_metadata_is_stored_and_bounded_to_the_trace(bring_in):
    bring_in(lines(record("t1", model="SECRET-M")))
    assert json.dumps(Trace.objects.get().metadata) == '{"other_fields": {"": {"model": "SECRET-M"}}}'
