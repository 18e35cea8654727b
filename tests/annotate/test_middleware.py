"""What holds for every page: language, time zone, no copies, sign-in by default."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import reverse
from django.utils import timezone, translation

from annotate.middleware import interface_language, login_required, open_to_all, private_pages
from annotate.models import Person
from tests.factories import make_cast, make_submitted


class Anonymous:
    is_authenticated = False


def request_of(person, **headers):
    request = RequestFactory().get("/", headers=headers)
    request.user = person
    return request


def seen(request):
    return HttpResponse(f"{translation.get_language()} {timezone.get_current_timezone_name()}")


def person(language="", zone="UTC"):
    return Person(username="ana", interface_language=language, time_zone=zone)


@pytest.mark.parametrize(
    ("who", "headers", "expected"),
    [
        (person("zh-hans"), {"accept-language": "en"}, "zh-hans UTC"),
        (person("", "Asia/Shanghai"), {"accept-language": "zh-CN,zh;q=0.9"}, "zh-hans Asia/Shanghai"),
        (person(), {"cookie": "django_language=zh-hans", "accept-language": "en"}, "zh-hans UTC"),
        (person("", "Gone/Zone"), {}, "en UTC"),
        (person("", "../zone"), {}, "en UTC"),
        (person("en"), {"cookie": "django_language=zh-hans"}, "en UTC"),
        (Anonymous(), {"accept-language": "zh-hans"}, "zh-hans UTC"),
        (Anonymous(), {"accept-language": "de"}, "en UTC"),
        (Anonymous(), {"cookie": "django_language=nonsense"}, "en UTC"),
    ],
)
def test_the_persons_own_choice_comes_before_the_browsers_wish(who, headers, expected):
    response = interface_language(seen)(request_of(who, **headers))
    assert response.content.decode() == expected
    assert response["Content-Language"] == expected.split()[0]
    assert translation.get_language() == "en"


@pytest.mark.django_db
def test_times_are_told_in_the_persons_own_zone(client):
    ana = make_cast().ana
    assignment = make_submitted(ana)  # at 07:08 UTC
    client.force_login(ana.person)
    address = reverse("annotate:label_item", args=[assignment.public_id])
    assert "2024-05-06 07:08" in client.get(address).content.decode()
    Person.objects.filter(pk=ana.person_id).update(time_zone="Asia/Shanghai")
    assert "2024-05-06 15:08" in client.get(address).content.decode()


def test_no_page_is_kept_by_browsers_or_proxies():
    response = private_pages(lambda request: HttpResponse("x", headers={"Cache-Control": "public"}))(None)
    assert response["Cache-Control"] == "no-store"
    assert {name.strip() for name in response["Vary"].split(",")} == {"HX-Request", "Cookie", "Accept-Language"}


def view(request):
    return HttpResponse("in")


def open_view(request):
    return HttpResponse("in")


open_to_all(open_view)


@pytest.mark.parametrize(
    ("who", "asked", "headers", "status"),
    [
        (person(), view, {}, None),
        (Anonymous(), open_view, {}, None),
        (Anonymous(), view, {}, 302),
        (Anonymous(), view, {"HX-Request": "true"}, 401),
        (Anonymous(), open_view, {"HX-Request": "true"}, None),
    ],
)
def test_a_view_needs_a_signed_in_person_unless_it_is_marked(who, asked, headers, status):
    answer = login_required(view).process_view(request_of(who, **headers), asked, (), {})
    assert (answer and answer.status_code) == status


def test_a_redirect_to_sign_in_remembers_the_whole_address():
    request = RequestFactory().get("/projects/x/annotations/?before=7")
    request.user = Anonymous()
    answer = login_required(view).process_view(request, view, (), {})
    assert answer["Location"] == "/sign-in/?next=/projects/x/annotations/%3Fbefore%3D7"
