"""A lead looks at what a release would hold, seals it, and saves it."""

import zipfile

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_lead_seals_a_release_and_saves_it(visit, site, tmp_path):
    visitor = visit()
    page = visitor.sign_in("lea")
    page.goto(f"{site}/projects/demo/releases/")
    page.check("[name=rule][value=consensus]")
    page.click("text=Look at what it would hold")
    page.wait_for_selector("text=items with a label")
    page.click("text=Seal it")
    page.wait_for_url(f"{site}/projects/demo/releases/1/")
    assert "How far they agree" in page.inner_text(".data-card")
    with page.expect_download() as waiting:
        page.click("text=release.zip")
    waiting.value.save_as(tmp_path / "release.zip")
    assert waiting.value.suggested_filename == "demo-1-release.zip"
    with zipfile.ZipFile(tmp_path / "release.zip") as file:
        assert "labels.csv" in file.namelist()
