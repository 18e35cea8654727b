"""The lead's page of subsets: what can be drawn from, drawing, and what was drawn."""

import re

from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import subsets
from annotate.errors import Refused
from annotate.models import Assigning, Project
from annotate.views.label import own
from annotate.views.project import led_project, title_of

WHOLE = re.compile("[0-9]{1,9}")


@require_safe
def show_subsets(request, project):
    project = led_project(request, project)
    return render(request, "annotate/show_subsets.html", page_of(project))


def page_of(project: Project) -> dict[str, object]:
    standing, members = subsets.standing(project), subsets.who_can_have_one(project)
    return {
        "project": project,
        "title": title_of(project),
        "standing": standing,
        "members": members,
        "chosen": [one.code for one in members],
        "is_here": project.assigning == Assigning.SUBSETS,
    }


@require_POST
@own
def draw_subsets(request, project):
    """Draw with the numbers that were posted; drawing again takes the place of what was drawn."""
    project, post = led_project(request, project), request.POST
    typed = {name: post.get(name, "").strip() for name in ("n_common", "n_unique")}
    codes, only_successful = post.getlist("people"), post.get("only_successful") == "yes"
    try:
        subsets.draw_subsets(
            lead=request.user,
            project=project,
            **{name: int(text) if WHOLE.fullmatch(text) else -1 for name, text in typed.items()},
            codes=codes,
            only_successful=only_successful,
            now=timezone.now(),
        )
    except Refused as refusal:
        said = {**typed, "chosen": codes, "only_successful": only_successful}
        context = {**page_of(project), **said, "problem": refusal.problem.as_dict(gettext)}
        return render(request, "annotate/show_subsets.html", context, status=422)
    return redirect("annotate:show_subsets", project=project.slug)
