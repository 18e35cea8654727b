"""`manage.py create_project NAME`: a project with its people, ready for `import_traces`."""

import secrets

from django.utils import timezone

from annotate import setting_up
from annotate.errors import Refused
from annotate.management.said import SaidCommand
from annotate.models import Person, Role
from annotate.traces.base import Problem, gettext_noop


class Command(SaidCommand):
    help = "Make a project and give people a part in it; accounts that are not there are made with a printed password."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--title-en", default="")
        parser.add_argument("--title-zh", default="")
        parser.add_argument("--kind", default="reply")
        parser.add_argument("--languages", nargs="+", choices=setting_up.LANGUAGES, default=list(setting_up.LANGUAGES))
        parser.add_argument("--seed", type=int, help="of every random order; drawn and printed when not given")
        parser.add_argument("--lead", action="append", default=[], metavar="NAME")
        parser.add_argument("--annotator", action="append", default=[], metavar="NAME")

    def act(self, *, slug, title_en, title_zh, kind, languages, seed, lead, annotator, **options):
        check_slug(slug)
        now = timezone.now()
        seed = secrets.randbelow(2**31) if seed is None else seed
        new = setting_up.NewProject(
            slug, title_en or slug, title_zh or title_en or slug, seed, kind=kind, languages=tuple(languages)
        )
        project = setting_up.create_project(new=new, by=None, now=now)
        logins = []
        for role, names in ((Role.LEAD, lead), (Role.ANNOTATOR, annotator)):
            for name in names:
                person, password = person_called(name)
                setting_up.add_member(
                    project=project, person=person, role=role, languages=tuple(languages), by=None, now=now
                )
                logins.append({"username": name, "password": password, "role": role.value})
        return {"project": slug, "seed": seed, "logins": logins}

    def words(self, result):
        yield f"{result['project']} is there, seed {result['seed']}."
        for login in result["logins"]:
            word = f"password {login['password']}" if login["password"] else "has an account already"
            yield f"{login['role']:10} {login['username']:20} {word}"


def person_called(name):
    """The person with this name and None, or a new one and the password that was made for it."""
    person = Person.objects.filter(username=name).first()
    if person is not None:
        return person, None
    password = secrets.token_urlsafe(9)
    return Person.objects.create_person(name, password), password


def check_slug(slug):
    if not slug.replace("-", "").replace("_", "").isalnum() or not slug.isascii():
        raise Refused(
            Problem(
                code="wrong_type",
                field="slug",
                expected=gettext_noop("A project's name has letters, digits, hyphens and underscores only."),
                remedy=gettext_noop("Choose another name."),
            )
        )
