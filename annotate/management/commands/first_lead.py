"""`manage.py first_lead`: a single-use link with which the first lead makes their account, while there is none."""

from django.urls import reverse
from django.utils import timezone

from annotate import setting_up
from annotate.management.said import SaidCommand


class Command(SaidCommand):
    help = "Print a set-up link for the first lead, or nothing when there is one."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--base-url", default="http://127.0.0.1:8000")

    def act(self, *, base_url, **options):
        secret = setting_up.first_lead_secret(now=timezone.now())
        address = None if secret is None else base_url.rstrip("/") + reverse("annotate:set_up", args=[secret])
        return {"link": address}

    def words(self, result):
        if result["link"]:
            yield result["link"]
