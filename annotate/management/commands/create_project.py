"""`manage.py create_project NAME`: a project with its people, ready for `import_traces`."""

import re
import secrets

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate import setting_up
from annotate.errors import Refused
from annotate.management.said import SaidCommand, seed_word
from annotate.models import Person, Phase, Role
from annotate.traces.base import Problem, gettext_noop


class Command(SaidCommand):
    help = "Make a project and give people a part in it; accounts that are not there are made with a printed password."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--title-en", default="", help="what pages call it; without a title its name")
        parser.add_argument("--title-zh", default="", help="the same on Chinese pages; without it the English one")
        parser.add_argument("--kind", default="reply")
        parser.add_argument("--languages", nargs="+", choices=setting_up.LANGUAGES, default=list(setting_up.LANGUAGES))
        parser.add_argument("--seed", type=seed_word, help="of every random order; drawn and printed when not given")
        for option, allowed in setting_up.SETTINGS.items():
            parser.add_argument(f"--{option.replace('_', '-')}", choices=allowed, default=allowed[0])
        parser.add_argument(
            "--open-phase", choices=Phase.values, default=Phase.MAIN.value, help="how far annotators may go"
        )
        parser.add_argument("--open-lead", action="store_true", help="leads label too, which every report says")
        parser.add_argument("--lead", action="append", default=[], metavar="NAME")
        parser.add_argument("--annotator", action="append", default=[], metavar="NAME")

    def act(self, *, slug, title_en, title_zh, kind, languages, seed, lead, annotator, **options):
        lead, annotator = ([Person.normalize_username(name) for name in names] for names in (lead, annotator))
        check_names([*lead, *annotator])
        now = timezone.now()
        seed = secrets.randbelow(2**31) if seed is None else seed
        new = setting_up.NewProject(
            slug=slug,
            title_en=title_en or slug,
            title_zh=title_zh or title_en or slug,
            seed=seed,
            kind=kind,
            languages=tuple(languages),
            **{name: options[name] for name in (*setting_up.SETTINGS, "open_phase", "open_lead")},
        )
        people = [(Role.LEAD, name) for name in lead] + [(Role.ANNOTATOR, name) for name in annotator]
        with transaction.atomic():  # a person who cannot be taken leaves no project behind, and no unsaid password
            project = setting_up.create_project(new=new, by=None, now=now)
            logins = [self.login(project, role, name, now) for role, name in people]
        return {"project": slug, "seed": seed, "logins": logins}

    def login(self, project, role, name, now):
        person, password = person_called(name)
        setting_up.add_member(
            project=project, person=person, role=role, languages=tuple(project.languages), by=None, now=now
        )
        return {"username": person.username, "password": password, "role": role.value}

    def words(self, result):
        yield gettext("The project %(project)s is there, seed %(seed)s.") % result
        for login in result["logins"]:
            word = gettext("password %(password)s") if login["password"] else gettext("has an account already")
            yield f"{Role(login['role']).label:10} {login['username']:20} {word % login}"


def person_called(name):
    """The person with this name and None, or a new one and the password that was made for it. As in the set-up of the
    first lead, names that differ only in case are one; an account nobody can sign in to is Refused."""
    people = Person.objects.filter
    person = people(username=name).first() or people(username__iexact=name).first()
    if person is not None and not person.has_usable_password():
        raise Refused(no_password(person))
    if person is not None:
        return person, None
    password = secrets.token_urlsafe(9)
    return Person.objects.create_person(name, password), password


def no_password(person) -> Problem:
    return Problem(
        code="no_password",
        field="name",
        expected=gettext_noop("The account %(person)s has no password, so nobody can sign in with it."),
        remedy=gettext_noop("Choose another name."),
        params={"person": person.username},
    )


def check_names(names):
    for name in names:
        if not re.fullmatch(r"[\w.@+-]{1,150}", name):
            raise Refused(
                Problem(
                    code="wrong_type",
                    field="name",
                    expected=gettext_noop("A name to sign in with has at most 150 letters, digits and @ . + - _."),
                    remedy=gettext_noop("Choose another name."),
                )
            )
