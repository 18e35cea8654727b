"""`manage.py list_projects`: what there is, by the names that commands take."""

from django.utils.translation import get_language, gettext

from annotate.management.said import SaidCommand
from annotate.models import Project


class Command(SaidCommand):
    help = "List the projects."

    def act(self, **options):
        fields = ("slug", "kind", "title_en", "title_zh", "languages", "is_synthetic")
        return {"projects": list(Project.objects.order_by("slug").values(*fields))}

    def words(self, result):
        title = "title_zh" if get_language() == "zh-hans" else "title_en"
        for project in result["projects"]:
            mark = gettext("(synthetic labels)") if project["is_synthetic"] else ""
            yield f"{project['slug']:20} {project['kind']:12} {project[title]} {mark}".rstrip()
