"""The lead's pages of trace files: the form, how far an import is, what became of it."""

import html
import io
import re
import zipfile

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import lead_queries, uploading, waking, work
from annotate.importing import import_traces
from annotate.models import Event, ImportBatch, Item, Membership, Role, Trace, Work
from annotate.traces import tally
from annotate.work import drain
from tests.annotate.traces.files import lines, record
from tests.factories import make_batch, make_cast, make_member, make_work

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
FORM = {"phase": "main", "format": "auto"}
GOOD = lines(record("t1"), record("t2"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "UPLOADS_FOLDER", tmp_path / "uploads")
    monkeypatch.setattr(waking, "wake", lambda: None)
    return settings.UPLOADS_FOLDER


@pytest.fixture
def cast():
    return make_cast()


@pytest.fixture
def lead(client, cast):
    client.force_login(cast.lea.person)
    return client


def address(cast, name, *more):
    return reverse(f"annotate:{name}", args=[cast.project.slug, *more])


def words(response):
    return re.sub(r"\s+", " ", html.unescape(response.content.decode()))


def upload(lead, cast, content=GOOD, name="runs.jsonl", headers=None, **fields):
    data = {**FORM, **fields} | ({"file": SimpleUploadedFile(name, content)} if content is not None else {})
    return lead.post(address(cast, "upload_traces"), data, headers=headers)


def imported(lead, cast, content=GOOD, **fields):
    """The page of an import that is done."""
    location = upload(lead, cast, content, **fields)["Location"]
    drain()
    return lead.get(location)


def listed(lead, cast, **query):
    return lead.get(address(cast, "list_imports"), query)


# The form


def test_the_form_says_what_every_choice_does_and_an_empty_page_what_to_do_first(lead, cast):
    page = words(listed(lead, cast))
    for said in ("Trace file", "practice", "pilot", "told by the content", "Sightline JSON lines (sightline)"):
        assert said in page
    plain = re.sub("(<[^>]+> ?)+", " ", page)
    assert "Leave out bad records The rest comes in; what was left out is listed in the report" in plain
    assert "U+0000, which cannot be stored, becomes U+2400" in page
    assert 'enctype="multipart/form-data"' in page
    assert "Nothing was imported yet. Choose a trace file above" in page
    assert f"At most {2.0} GB" in page.replace("\xa0", " ")


def test_an_upload_goes_to_its_own_page_and_goes_on_by_itself(lead, cast):
    response = upload(lead, cast, phase="pilot", skip_bad="on")
    row = Work.objects.get()
    assert response.status_code == 302
    assert response["Location"] == address(cast, "show_import", row.pk)
    assert (row.payload["phase"], row.payload["skip_bad"], row.payload["replace_nul"]) == ("pilot", True, False)
    assert drain() == {work.State.DONE: 1}
    assert set(Item.objects.values_list("phase", flat=True)) == {"pilot"}


def test_a_script_is_sent_on_to_the_page_of_the_import(lead, cast):
    response = upload(lead, cast, headers=HTMX)
    assert response.status_code == 204
    assert response["HX-Redirect"] == address(cast, "show_import", Work.objects.get().pk)


@pytest.mark.parametrize("headers", [None, HTMX], ids=["page", "piece"])
@pytest.mark.parametrize(
    ("content", "fields", "said"),
    [
        (None, {}, "A file. Choose one."),
        (b"", {}, "this one is empty. Check that it was written whole"),
        (GOOD, {"phase": "later"}, "later is not one of the available choices"),
        (GOOD, {"format": "csv"}, "csv is not one of the available choices"),
    ],
    ids=["no file", "empty", "phase", "format"],
)
def test_what_is_refused_is_said_in_the_form_with_everything_else_still_in_it(
    lead, cast, folder, content, fields, said, headers
):
    chosen = {"phase": "pilot", "format": "tau_bench", "skip_bad": "on", **fields}
    response = upload(lead, cast, content, headers=headers, **chosen)
    assert response.status_code == 422
    page = words(response)
    assert said in page
    assert page.lstrip().startswith("<form" if headers else "<!doctype")
    if "phase" not in fields:
        assert re.search(r'value="pilot"[^>]*checked', page)
    if "format" not in fields:
        assert re.search(r'value="tau_bench" selected', page)
    assert re.search(r'name="skip_bad"[^>]*checked', page)
    assert Work.objects.count() == 0
    assert not folder.is_dir() or not list(folder.iterdir())


def test_a_file_beyond_the_cap_is_refused_naming_it(lead, cast, monkeypatch):
    monkeypatch.setattr(settings, "UPLOAD_MAX_BYTES", 10)
    response = upload(lead, cast, headers=HTMX)
    assert response.status_code == 422
    assert "SIGHTLINE_UPLOAD_MAX_BYTES is 10" in words(response)


def test_only_leads_of_the_project_have_these_pages(client, cast):
    zack = make_member(cast.other_project, "zack", Role.LEAD)
    row = make_work(cast.project, state="dead")
    for member in (cast.ana, cast.rita, cast.zoe, zack):
        client.force_login(member.person)
        for name, arguments in (("list_imports", []), ("show_import", [row.pk])):
            assert client.get(address(cast, name, *arguments)).status_code == 404
        assert upload(client, cast).status_code == 404
        assert client.post(address(cast, "try_import_again", row.pk)).status_code == 404
    row.refresh_from_db()
    assert (row.state, Work.objects.count()) == ("dead", 1)


def test_a_job_of_another_project_or_kind_is_not_found(lead, cast):
    for row in (make_work(cast.other_project), make_work(cast.project, kind="other")):
        assert lead.get(address(cast, "show_import", row.pk)).status_code == 404
        assert lead.post(address(cast, "try_import_again", row.pk)).status_code == 404


# How far it is


def test_while_it_goes_on_the_piece_asks_for_itself_and_afterwards_it_does_not(lead, cast):
    location = upload(lead, cast)["Location"]
    page = words(lead.get(location))
    assert f'hx-get="{location}" hx-trigger="every 2s"' in page
    assert "Waiting. A worker takes it up in a moment." in re.sub("<[^>]+>", "", page)
    assert '<noscript><meta http-equiv="refresh"' in page
    assert "You can leave this page" in page
    piece = lead.get(location, headers=HTMX).content.decode().lstrip()
    assert piece.startswith('<div id="import" hx-get=')
    drain()
    piece = lead.get(location, headers=HTMX).content.decode().lstrip()
    assert piece.startswith('<div id="import">')
    assert "Imported: 2 new traces with 2 items." in piece
    assert '<p id="import-said" hx-swap-oob="innerHTML">imported</p>' in piece
    page = words(lead.get(location))
    assert "hx-trigger" not in page
    assert "noscript" not in page
    assert "hx-swap-oob" not in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"state": "running", "attempts": 1, "n_done": 50_000_000, "n_total": 200_000_000},
            "47.7 MB of 190.7 MB read.",
        ),
        ({"state": "running", "attempts": 2, "n_done": 1, "n_total": 200}, "This is try 2."),
        ({"state": "running", "attempts": 1, "n_done": 200, "n_total": 200}, "All is read."),
        ({"attempts": 1, "error": work.BROKE_DOWN}, "It broke down on the way"),
    ],
    ids=["reading", "second try", "planning", "failed once"],
)
def test_how_far_it_is_is_said_in_words(lead, cast, fields, said):
    row = make_work(cast.project, lane="x", **fields)
    if "error" in fields:
        Work.objects.filter(pk=row.pk).update(not_before=Now())
        assert "It is tried again from" in words(lead.get(address(cast, "show_import", row.pk)))
    assert said in words(lead.get(address(cast, "show_import", row.pk))).replace("\xa0", " ")


def test_an_import_behind_another_one_and_one_that_nobody_takes_up_say_so(lead, cast):
    row = make_work(cast.project, lane="one")
    where = address(cast, "show_import", row.pk)
    ahead = make_work(cast.project, lane="one", state="running")
    assert "Another import of this project is running" in words(lead.get(where))
    Work.objects.filter(pk=ahead.pk).update(state="done")
    assert "in a moment" in words(lead.get(where))
    Work.objects.filter(pk=row.pk).update(created_at=Now() - uploading.timedelta(minutes=5))
    assert "No worker has taken it up" in words(lead.get(where))


# What became of it


def test_the_report_counts_what_came_in(lead, cast):
    call = {"role": "assistant", "text": "", "calls": [{"id": "c1", "name": "f", "arguments": "{}"}]}
    page = words(imported(lead, cast, lines(record("t1"), record("t2", [call]))))
    plain = re.sub("<[^>]+>", " ", page)
    assert "Imported: 2 new traces with 1 items." in page
    assert "1, of which 0 have their result; 1 calls or results stand alone" in page
    assert "Warnings" in page
    assert "line 2" in plain
    again = words(imported(lead, cast, lines(record("t1"), record("t2", [call]))))
    assert "Imported: 0 new traces with 0 items. 2 were there already." in re.sub("<[^>]+>", "", again)


def test_a_refused_file_shows_every_problem_with_its_place_field_and_remedy(lead, cast):
    content = lines(record("t1")) + b"{\n" + lines(record("t2", [{"role": "robot", "text": "a"}]))
    page = words(imported(lead, cast, content))
    assert "Refused: nothing of the file was imported." in page
    assert "It has 2 problems" in page
    for said in ("line 2", "malformed_json", "line 3", "/messages/0/role", "unknown_role", "robot", "2 in all."):
        assert said in page
    assert "Write one of these; case counts." in page
    assert Trace.objects.count() == 0


def test_the_first_problems_are_listed_and_all_are_counted(lead, cast, monkeypatch):
    monkeypatch.setattr(tally, "LISTED", 3)
    page = words(imported(lead, cast, lines(record("t1")) + b"{\n" * 7))
    assert "The first 3 of 7." in page
    assert page.count("<code>malformed_json</code>") == 3


def test_warnings_of_one_sort_are_one_row_and_their_places_are_folded_away(lead, cast):
    call = {"role": "assistant", "text": "", "calls": [{"id": "c1", "name": "f"}, {"id": "c2", "name": "g"}]}
    page = words(imported(lead, cast, lines(*[record(f"t{number}", [call]) for number in range(20)])))
    before, behind = page.split("<details>")
    assert before.count("<code>unanswered_call</code>") == 1
    assert '<td class="number">40</td>' in before
    assert behind.count("<code>unanswered_call</code>") == 40


def test_a_problem_inside_an_archive_names_the_file_in_it(lead, cast):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("deep/<b>.jsonl", lines(record("t1", [{"role": "robot", "text": "a"}])))
    page = words(imported(lead, cast, out.getvalue(), name="runs.zip"))
    assert "deep/<b>.jsonl line 1 <code>/messages/0/role</code>" in page
    alone = words(imported(lead, cast, lines(record("t1", [{"role": "robot", "text": "a"}]))))
    assert "> line 1 <code>/messages/0/role</code>" in alone.replace('<td class="words">', "> ")


def test_problems_are_said_in_the_language_of_who_reads_them(lead, cast):
    location = upload(lead, cast, lines(record("t1", [{"role": "robot", "text": "a"}])))["Location"]
    drain()
    assert "Write one of these; case counts." in words(lead.get(location))
    cast.lea.person.interface_language = "zh-hans"
    cast.lea.person.save()
    page = words(lead.get(location))
    assert "Write one of these" not in page
    assert re.search("[\u4e00-\u9fff]+.*“robot”", page)
    assert "unknown_role" in page


def test_problems_of_older_imports_stay_as_they_were_kept(lead, cast):
    old = {
        "code": "empty_value",
        "file": "a",
        "line": 3,
        "field": "id",
        "expected": "100 % text.",
        "remedy": "Fill it in.",
    }
    batch = make_batch(cast.project, state="refused", problems=[old], counts={})
    row = make_work(cast.project, state="done", result={"batch": batch.pk})
    page = words(lead.get(address(cast, "show_import", row.pk)))
    for said in ("line 3", "empty_value", "100 % text.", "Fill it in.", "1 in all."):
        assert said in page


def test_hostile_names_and_texts_are_text(lead, cast):
    payload = '"><img src=x onerror=x()>'
    content = lines(record("t1", [{"role": payload, "text": "a"}]))
    page = imported(lead, cast, content, name=f"{payload}.jsonl").content.decode()
    assert "<img" not in page
    assert "&lt;img src=x onerror=x()&gt;" in page
    assert "<img" not in listed(lead, cast).content.decode()


def test_an_import_that_was_given_up_says_why_and_can_be_tried_again(lead, cast):
    location = upload(lead, cast)["Location"]
    Work.objects.update(state="dead", attempts=3, error=work.WORKER_DIED, ended_at=Now())
    page = words(lead.get(location))
    assert "Given up; nothing of the file is to be seen." in page
    assert "it may need more memory than there is" in page
    again = address(cast, "try_import_again", Work.objects.get().pk)
    assert f'action="{again}"' in page
    response = lead.post(again)
    assert (response.status_code, response["Location"]) == (302, location)
    drain()
    assert "Imported: 2 new traces" in words(lead.get(location))
    assert Event.objects.filter(action="import_tried_again").count() == 1


def test_without_its_file_there_is_nothing_to_try_again(lead, cast):
    row = make_work(cast.project, state="dead", error=work.BROKE_DOWN)
    page = words(lead.get(address(cast, "show_import", row.pk)))
    assert "The file is not kept any more." in page
    assert "again/" not in page
    response = lead.post(address(cast, "try_import_again", row.pk), headers=HTMX)
    assert response.status_code == 422
    assert "it is not there any more. Upload it again." in words(response)


# The list


def rows_of(page):
    body = page.content.decode().split("<tbody>")[1].split("</tbody>")[0]
    return [re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", row)).strip() for row in body.split("<tr>")[1:]]


def test_uploads_and_imports_by_commands_are_listed_newest_first_each_once(lead, cast, tmp_path):
    path = tmp_path / "by-hand.jsonl"
    path.write_bytes(lines(record("h1")) + b"{\n")
    imported(lead, cast, name="first.jsonl")
    import_traces(project=cast.project, path=path, file_name=path.name, phase="practice", skip_bad=True)
    imported(lead, cast, b"{\n", name="second.jsonl")
    make_work(
        cast.project, payload={"file_name": "third.jsonl", "phase": "main"}, state="running", n_done=30, n_total=90
    )
    make_batch(cast.project, state=ImportBatch.State.STAGED, file_name="killed.jsonl")
    make_work(cast.other_project)
    rows = rows_of(listed(lead, cast))
    assert [re.sub(r"^\S+ \S+ ", "", row) for row in rows] == [
        "third.jsonl main being read, 33 %",
        "second.jsonl main refused 0 0 1",
        "by-hand.jsonl (by a command) practice imported 1 1 1",
        "first.jsonl main imported 2 2 0",
    ]


def test_the_list_comes_by_pages(lead, cast):
    for number in range(60):
        make_work(cast.project, payload={"file_name": f"f{number}.jsonl", "phase": "main"})
    pages = [listed(lead, cast, page=page) for page in (1, 2, 3)]
    assert [len(rows_of(page)) for page in pages] == [25, 25, 10]
    assert len({row.split()[2] for page in pages for row in rows_of(page)}) == 60
    assert 'href="?page=2"' in words(pages[0])
    assert 'href="?page=2"' in words(pages[2])
    assert listed(lead, cast, page="x").status_code == 404
    assert listed(lead, cast, page=99).status_code == 200


def statements(act):
    with CaptureQueriesContext(connection) as captured:
        act()
    return len(captured)


def test_the_pages_take_a_fixed_number_of_statements(lead, cast):
    def count():
        return statements(lambda: lead_queries.listed_imports(cast.project, first=0, limit=26))

    for number in range(2):
        batch = make_batch(cast.project, file_name=f"{number}")
        make_batch(cast.project)
        row = make_work(cast.project, state="done", result={"batch": batch.pk})
    few = count()
    page = statements(lambda: lead.get(address(cast, "list_imports")))
    shown = statements(lambda: lead.get(address(cast, "show_import", row.pk)))
    for _ in range(30):
        make_work(cast.project, state="done", result={"batch": make_batch(cast.project).pk})
    assert count() == few == 3
    assert statements(lambda: lead.get(address(cast, "list_imports"))) == page
    assert statements(lambda: lead.get(address(cast, "show_import", row.pk))) == shown


def test_the_overview_leads_to_the_upload(lead, cast):
    assert Membership.objects.filter(project=cast.project, role=Role.LEAD).exists()
    assert address(cast, "list_imports") in words(lead.get(address(cast, "show_project")))
