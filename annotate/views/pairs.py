"""The lead's page of pairs: what can be drawn from, drawing, and what was drawn. Who reads which version is no part of
it: a lead who looks at labels while they come in should not have it before them."""

import re
import secrets

from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from annotate import pairing
from annotate.errors import Refused
from annotate.models import Assigning, Project
from annotate.rules.pairs import Wanted
from annotate.setting_up import MAX_SEED
from annotate.views.label import own
from annotate.views.project import led_project, title_of

WHOLE = re.compile("[0-9]{1,19}")
NUMBERS = ("seed", "quota", "n_points")


@require_safe
def show_pairs(request, project):
    project = led_project(request, project)
    return render(request, "annotate/show_pairs.html", page_of(project))


def page_of(project: Project) -> dict[str, object]:
    standing = pairing.standing(project)
    return {
        "project": project,
        "title": title_of(project),
        "standing": standing,
        "chosen": [one.code for one in standing.annotators],
        "is_here": project.assigning == Assigning.PAIRS,
    }


@require_POST
@own
def draw_pairs(request, project):
    """Draw with the numbers that were posted, once. Without a seed one is drawn."""
    project, post = led_project(request, project), request.POST
    typed, codes = {name: post.get(name, "").strip() for name in NUMBERS}, post.getlist("people")
    try:
        numbers = {name: number_in(name, text) for name, text in typed.items()}
        seed = numbers["seed"]
        pairing.draw_pairs(
            lead=request.user,
            project=project,
            seed=secrets.randbelow(2**31) if seed is None else seed,
            codes=codes,
            wanted=Wanted(quota=numbers["quota"], n_points=numbers["n_points"]),
            now=timezone.now(),
        )
    except Refused as refusal:
        context = {**page_of(project), **typed, "chosen": codes, "problem": refusal.problem.as_dict(gettext)}
        return render(request, "annotate/show_pairs.html", context, status=422)
    return redirect("annotate:show_pairs", project=project.slug)


def number_in(name: str, text: str) -> int | None:
    """What was typed, None where that is nothing; Refused where it is no such number."""
    if not text:
        return None
    least, most = (0, MAX_SEED) if name == "seed" else (1, pairing.MAX_POINTS)
    number = int(text) if WHOLE.fullmatch(text) else -1
    if not least <= number <= most:
        raise Refused(pairing.out_of_range(name, least, most))
    return number
