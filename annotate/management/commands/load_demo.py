"""`manage.py load_demo`: the demo project; a second time changes nothing."""

from django.utils import timezone

from annotate.demo import demo_logins, load_demo
from annotate.management.said import SaidCommand


class Command(SaidCommand):
    help = "Load the demo project with its synthetic labels, unless it is there."

    def act(self, **options):
        created = load_demo(now=timezone.now())
        return {"project": "demo", "created": created, "is_synthetic": True, "logins": demo_logins()}

    def words(self, result):
        yield "The demo is loaded; its labels are synthetic." if result["created"] else "The demo was there already."
        for login in result["logins"]:
            yield f"{login['role']:10} {login['username']:10} {login['password']}"
