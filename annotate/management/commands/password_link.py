"""`manage.py password_link NAME`: a single-use link with which somebody who forgot their password sets a new one."""

from django.urls import reverse
from django.utils import timezone

from annotate import accounts
from annotate.errors import Refused
from annotate.management.said import SaidCommand
from annotate.models import Person
from annotate.traces.base import Problem, gettext_noop


class Command(SaidCommand):
    help = "Print a link with which a person sets a new password, once and within a day. Links made before die."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("name")
        parser.add_argument("--base-url", default="http://127.0.0.1:8000")

    def act(self, *, name, base_url, **options):
        secret = accounts.make_password_link(person=person_called(name), now=timezone.now())
        return {"link": base_url.rstrip("/") + reverse("annotate:new_password", args=[secret])}

    def words(self, result):
        yield result["link"]


def person_called(name) -> Person:
    """The person with this name, else with one that differs only in case; Refused where there is none."""
    name, people = Person.normalize_username(name), Person.objects.filter
    person = people(username=name).first() or people(username__iexact=name).first()
    if person is None:
        raise Refused(
            Problem(
                code="unknown_person",
                field="NAME",
                expected=gettext_noop("There is no account %(name)s."),
                remedy=gettext_noop("Ask the person for the name they sign in with."),
                params={"name": name},
            )
        )
    return person
