"""`manage.py load_demo`: the demo project; a second time changes nothing."""

from django.utils import timezone
from django.utils.translation import gettext

from annotate.demo import demo_logins, load_demo
from annotate.management.said import SaidCommand
from annotate.models import Role


class Command(SaidCommand):
    help = "Load the demo project with its synthetic labels, unless it is there."

    def act(self, **options):
        created = load_demo(now=timezone.now())
        return {"project": "demo", "created": created, "is_synthetic": True, "logins": demo_logins()}

    def words(self, result):
        if result["created"]:
            yield gettext("The demo is loaded; its labels are synthetic.")
        else:
            yield gettext("The demo was there already; its labels are synthetic.")
        for login in result["logins"]:
            yield f"{Role(login['role']).label:10} {login['username']:10} {login['password']}"
