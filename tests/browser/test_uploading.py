"""A lead brings traces in: with and without script, and with everything that can go wrong on the way."""

import re

import pytest
from django.conf import settings

from annotate import tasks, waking
from annotate.models import Item, Work
from annotate.work import drain
from tests.annotate.traces.files import lines, record

assert tasks.HANDLERS_OF  # they are registered as in a worker
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
IMPORTS = "/projects/demo/imports/"
ITS_PAGE = re.compile(r"/imports/\d+/$")
GOOD = lines(*(record(f"new-{number}") for number in range(3)))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "UPLOADS_FOLDER", tmp_path / "uploads")
    monkeypatch.setattr(waking, "wake", lambda: None)  # the test itself is the worker
    return settings.UPLOADS_FOLDER


@pytest.fixture
def form(visit, tmp_path):
    """The form with a file chosen, in the window of the lead."""

    def form(content=GOOD, **options):
        visitor = visit(**options)
        page = visitor.sign_in("lea")
        page.goto(f"{visitor.site}{IMPORTS}")
        path = tmp_path / "runs.jsonl"
        path.write_bytes(content)
        page.set_input_files("[name=file]", path)
        return page

    return form


def send(page):
    page.click("#upload-form [type=submit]")


def slow(page):
    """A line on which a megabyte takes seconds."""
    tools = page.context.new_cdp_session(page)
    tools.send("Network.enable")
    limits = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 200_000}
    tools.send("Network.emulateNetworkConditions", limits)


def said(page, words):
    page.wait_for_function(
        "words => document.querySelector('[data-upload-said]').textContent.includes(words)", arg=words
    )


def test_a_file_is_sent_imported_in_the_background_and_reported(form):
    page = form()
    page.check("[name=phase][value=pilot]")
    send(page)
    page.wait_for_url(ITS_PAGE)
    assert "Waiting." in page.inner_text("#import")
    drain()
    page.wait_for_selector("#import:not([hx-get])")
    assert "Imported: 3 new traces with 3 items." in page.inner_text("#import")
    assert page.inner_text("#import-said") == "imported"
    assert Item.objects.filter(trace__source_id__startswith="new-", phase="pilot").count() == 3


def test_everything_works_without_script(form):
    page = form(GOOD + b"{\n", java_script_enabled=False)
    send(page)
    page.wait_for_url(ITS_PAGE)
    drain()
    page.reload()
    assert "Refused: nothing of the file was imported." in page.inner_text("#import")
    assert "line 4" in page.inner_text("#import table")


def test_how_much_is_sent_is_shown_and_can_be_stopped(form, folder):
    page = form(b" " * 2_000_000)
    slow(page)
    send(page)
    page.wait_for_function("() => document.querySelector('#upload-form progress').value > 1")
    assert re.search(r"\d MB of 1.9 MB sent\. Keep this page open", page.inner_text("[data-upload-words]"))
    assert page.is_disabled("#upload-form [type=submit]")
    page.click("[data-upload-stop]")
    said(page, "Stopped; nothing was kept.")
    assert page.is_hidden("[data-upload-progress]")
    assert page.is_enabled("#upload-form [type=submit]")
    page.reload()  # by now the server has seen that the rest will not come
    assert Work.objects.count() == 0
    assert not folder.is_dir() or list(folder.iterdir()) == []


def test_a_line_that_is_down_is_said_and_the_choices_stay(form):
    page = form()
    page.check("[name=skip_bad]")
    page.context.set_offline(True)
    send(page)
    said(page, "Not sent: the line is down.")
    page.context.set_offline(False)
    assert page.is_checked("[name=skip_bad]")
    send(page)
    page.wait_for_url(ITS_PAGE)
    assert Work.objects.get().payload["skip_bad"] is True


def test_a_file_that_is_too_large_is_not_even_sent(form, monkeypatch):
    monkeypatch.setattr(settings, "UPLOAD_MAX_BYTES", 10)
    page = form()
    words = page.eval_on_selector("[name=file]", "input => input.validationMessage")
    assert "larger than 10 bytes" in words.replace("\xa0", " ")
    send(page)
    assert page.url.endswith(IMPORTS)
    assert Work.objects.count() == 0


def test_what_is_refused_is_said_in_the_form(form):
    page = form(b"")
    page.check("[name=phase][value=practice]")
    send(page)
    page.wait_for_selector("#upload-form .problems")
    assert "this one is empty" in page.inner_text("#upload-form")
    assert page.is_checked("[name=phase][value=practice]")
