"""One's own account in a browser: whose clock times are told by, and that one is signed out where one said so."""

import re
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from annotate.models import Session

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def told(page):
    return page.locator("time[data-clock]").first.text_content()


def test_times_are_the_browsers_own_until_a_zone_is_chosen(visit):
    visitor = visit(timezone_id="America/New_York")
    page = visitor.sign_in("demo")
    page.click(".head .person")
    page.wait_for_url(f"{visitor.site}/account/")
    begun = timezone.localtime(Session.objects.get().created_at, ZoneInfo("America/New_York"))
    assert told(page) == f"{begun:%Y-%m-%d %H:%M}"
    page.select_option("[name=time_zone]", "Asia/Shanghai")
    page.click("[action$='/account/preferences/'] button")
    page.wait_for_url(re.compile("said=preferences"))
    begun = timezone.localtime(begun, ZoneInfo("Asia/Shanghai"))
    assert told(page) == f"{begun:%Y-%m-%d %H:%M}"


def test_a_password_is_changed_without_leaving_and_the_other_browser_is_out(visit):
    here, there = visit(), visit()
    page, other = here.sign_in("demo"), there.sign_in("demo")
    page.goto(f"{here.site}/account/")
    assert page.locator("tbody tr").count() == 2
    password = "quiet-reading-room"
    page.fill("#id_password", password)
    page.fill("#id_new_password", "a quieter reading room")
    page.fill("#id_again", "a quieter writing room")
    page.click("[action$='/account/password/'] button")
    page.wait_for_selector("#id_again_error")
    assert other.goto(f"{here.site}/account/").ok
    for name, word in (("password", password), ("new_password", "a quieter reading room")):
        page.fill(f"#id_{name}", word)
    page.fill("#id_again", "a quieter reading room")
    page.click("[action$='/account/password/'] button")
    page.wait_for_url(re.compile("said=password"))
    assert page.locator("tbody tr").count() == 1
    other.goto(f"{here.site}/account/")
    assert "/sign-in/" in other.url
