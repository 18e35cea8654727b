"""`manage.py invite PROJECT`: a single-use link with which somebody joins a project."""

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotate import inviting
from annotate.management.said import SaidCommand, project_called
from annotate.models import Role


class Command(SaidCommand):
    help = "Print a link that gives one person a part in a project, once. It is not shown again."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug", metavar="PROJECT")
        parser.add_argument("--role", choices=Role.values, default=Role.ANNOTATOR.value)
        parser.add_argument("--languages", nargs="+", metavar="LANGUAGE", help="what they read; else all there are")
        parser.add_argument("--note", default="", help="for leads only, as: for Rosa")
        parser.add_argument("--days", type=int, default=inviting.INVITE_DAYS, help=f"1 to {inviting.MAX_DAYS}")
        parser.add_argument("--base-url", default="http://127.0.0.1:8000")

    def act(self, *, slug, role, languages, note, days, base_url, **options):
        project = project_called(slug)
        invite, secret = inviting.make_invite(
            project=project,
            role=role,
            languages=languages or project.languages,
            note=note,
            by=None,
            now=timezone.now(),
            days=days,
        )
        return {
            "project": project.slug,
            "role": invite.role,
            "languages": invite.languages,
            "link": base_url.rstrip("/") + reverse("annotate:join_project", args=[secret]),
            "expires_at": invite.expires_at.isoformat(timespec="seconds"),
        }

    def words(self, result):
        yield result["link"]
        self.say(gettext("It works once, until %(expires_at)s.") % result)
