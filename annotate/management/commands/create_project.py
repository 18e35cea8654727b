"""`manage.py create_project NAME`: a project with its people, ready for `import_traces`."""

import re
import secrets
from dataclasses import replace
from pathlib import Path

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate import setting_up
from annotate.errors import Refused
from annotate.kinds.base import LabelError
from annotate.management.said import SaidCommand, seed_word
from annotate.models import Person, Phase, Role
from annotate.traces.base import Place, Problem, gettext_noop
from annotate.traces.strict_json import Caps, parse

MAX_SCHEMA = 1_000_000
CAPS = Caps(line_bytes=MAX_SCHEMA, string_characters=MAX_SCHEMA, nesting=20, problems=1)


class Command(SaidCommand):
    help = "Make a project and give people a part in it; accounts that are not there are made with a printed password."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--title-en", default="", help="what pages call it; without a title its name")
        parser.add_argument("--title-zh", default="", help="the same on Chinese pages; without it the English one")
        parser.add_argument("--kind", default="reply")
        parser.add_argument(
            "--schema", metavar="FILE", help="what labels say, as JSON, of a kind whose labels you make yourself"
        )
        parser.add_argument("--languages", nargs="+", choices=setting_up.LANGUAGES, default=list(setting_up.LANGUAGES))
        parser.add_argument("--seed", type=seed_word, help="of every random order; drawn and printed when not given")
        for option, allowed in setting_up.SETTINGS.items():
            parser.add_argument(f"--{option.replace('_', '-')}", choices=allowed, default=allowed[0])
        parser.add_argument(
            "--open-phase", choices=Phase.values, default=Phase.MAIN.value, help="how far annotators may go"
        )
        parser.add_argument("--open-lead", action="store_true", help="leads label too, which every report says")
        parser.add_argument(
            "--assigning",
            choices=setting_up.ASSIGNING,
            default="panel",
            help="a pool gives the next item to who asks; subsets are drawn on a page, pairs by draw_pairs",
        )
        parser.add_argument("--overlap", type=int, default=3, metavar="K", help="of a pool: labels an item")
        parser.add_argument("--cap", type=int, metavar="N", help="of a pool: most items a person; none when not given")
        parser.add_argument("--lease", type=int, default=30, metavar="MINUTES", help="of a pool: so long one is kept")
        parser.add_argument(
            "--suggestions-off", type=int, default=0, metavar="PERCENT", help="of the items: shown without suggestions"
        )
        parser.add_argument("--lead", action="append", default=[], metavar="NAME")
        parser.add_argument("--annotator", action="append", default=[], metavar="NAME")

    def act(self, *, slug, title_en, title_zh, kind, languages, seed, lead, annotator, schema, **options):
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
            label_schema=None if schema is None else schema_in(schema),
            **{name: options[name] for name in (*setting_up.SETTINGS, "open_phase", "open_lead")},
            **{name: options[name] for name in ("assigning", "overlap")},
            person_cap=options["cap"],
            lease_minutes=options["lease"],
            suggestions_off=options["suggestions_off"],
        )
        people = [(Role.LEAD, name) for name in lead] + [(Role.ANNOTATOR, name) for name in annotator]
        try:
            with transaction.atomic():  # who cannot be taken leaves no project behind, and no unsaid password
                project = setting_up.create_project(new=new, by=None, now=now)
                logins = [self.login(project, role, name, now) for role, name in people]
        except LabelError as error:
            problems = [replace(problem, file=schema or "") for problem in error.problems]
            self.refuse(problems, as_json=options["json"])
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


def schema_in(path):
    """The JSON object in a file; Refused where there is none."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_SCHEMA + 1)
    except OSError as error:
        raise Refused(
            Problem(
                code="unreadable_file",
                file=path,
                expected=gettext_noop("A file that can be read: %(why)s."),
                remedy=gettext_noop("Check the path."),
                params={"why": error.strerror or type(error).__name__},
            )
        ) from None
    found = parse(raw, Place(path), caps=CAPS)
    if found.problems or not isinstance(found.value, dict):
        raise Refused(found.problems[0] if found.problems else no_object(path))
    return found.value


def no_object(path) -> Problem:
    return Problem(
        code="wrong_type",
        file=path,
        expected=gettext_noop("One JSON object."),
        remedy=gettext_noop("Write the schema as an object."),
    )


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
