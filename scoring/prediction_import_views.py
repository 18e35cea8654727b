"""The lead's upload of predictions that were made elsewhere, on the page where runs are started."""

import hashlib
import re
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotate import importing, uploading
from annotate.errors import Refused
from annotate.kinds.base import LabelError
from annotate.traces.base import Place
from annotate.traces.strict_json import parse
from annotate.views.project import led_project
from scoring import prediction_imports
from scoring.run_views import runs_page

NUMBER = re.compile("[0-9]{1,9}")
TYPED = ("system", "setting", "variant", "release")


@uploading.brings_files(uploading.leads_project)
@require_POST
def bring_predictions(request, project):
    """Start the run of a file; everything that is wrong with it is listed above the form."""
    project = led_project(request, project)
    typed = {name: request.POST.get(name, "").strip() for name in TYPED}
    file_name = ""
    try:
        file = request.FILES.get("file")
        raw = bytes_of(file)
        file_name = uploading.printable(file.name)
        read = parse(raw, Place(file_name), caps=importing.import_caps())
        if read.problems:
            raise Refused(read.problems[0])
        run = prediction_imports.import_predictions(
            person=request.user,
            project=project,
            data=read.value,
            sha256=hashlib.sha256(raw).hexdigest(),
            system=typed["system"],
            setting=typed["setting"],
            variant=typed["variant"],
            release=number_in(typed["release"]),
        )
    except (LabelError, Refused) as error:
        found = error.problems if isinstance(error, LabelError) else [error.problem]
        problems = [replace(one, file=one.file or file_name).as_dict(gettext) for one in found]
        context = {**runs_page(project), "predicted": typed, "prediction_problems": problems}
        return render(request, "scoring/list_runs.html", context, status=422)
    return redirect("scoring:show_run", project=project.slug, number=run.number)


def bytes_of(file: Any) -> bytes:
    """The whole file, which is one JSON value; a longer one than a value may be is cut, and refused by who reads it."""
    if file is None:
        raise Refused(uploading.NO_FILE)
    incoming = uploading.received(file)
    uploading.refuse_file(incoming, None)
    incoming.seek(0)
    return incoming.read(settings.IMPORT_MAX_LINE_BYTES + 1)


def number_in(word: str) -> int | None:
    """Of a release; 0, which no release has, where it is none."""
    return None if not word else int(word) if NUMBER.fullmatch(word) else 0
