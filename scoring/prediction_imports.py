"""Predictions that a system without prompts made elsewhere come in as a run of the judge `imported`: all of a file or
nothing, each with the job of its item."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotate import known_files, lead_queries
from annotate.errors import Refused
from annotate.kinds.base import LabelError
from annotate.models import Person, Phase, Project
from annotate.traces.base import Problem, first_problems, gettext_noop
from annotate.traces.strict_json import pointer_part
from scoring import material_queries, queries, running
from scoring.judges import imported
from scoring.judges.imported import Pair
from scoring.models import Run

JUDGE = imported.JUDGE.name


def import_predictions(
    *,
    person: Person | None,
    project: Project,
    data: Any,
    sha256: str,
    system: str,
    setting: str,
    variant: str = "",
    release: int | None = None,
) -> Run:
    """Start the run whose verdicts are what `system` predicts in a file of this hash, in the form of the method, of
    items of the main phase: with `release` those that it has a label of, and where types or evidence of given steps are
    predicted those with a redundant step. An item that the file does not name got no answer.

    LabelError with everything that is wrong in the file, at its place; Refused for names, a setting or a release that
    do not go; NotYours for who does not lead the project."""
    known_files.refuse_stranger(project, person)
    running.judge_for(project, JUDGE)
    settings = {"system": system, "setting": setting, "release": release, "sha256": sha256}
    settings = running.settings_for(imported.JUDGE, settings | ({"variant": variant} if variant.strip() else {}))
    if not settings["system"]:
        raise Refused(imported.no_name("system"))
    given = steps_given(project, setting, release)
    said = read(project, data, setting, given)
    return running.start_run(
        person=person,
        project=project,
        judge=JUDGE,
        phases=[Phase.MAIN],
        settings=settings,
        items=None if given is None else list(given),
        said=said,
    )


def steps_given(project: Project, setting: str, release: int | None) -> dict[int, list[Pair]] | None:
    """By item the steps of its sealed label, as far as the setting asks for any; None without a release."""
    if release is None:
        if setting in imported.NEEDS_A_RELEASE:
            raise Refused(NO_GOLD_NAMED)
        return None
    labels = material_queries.labels(project, release)
    if not labels:
        raise Refused(imported.UNKNOWN_RELEASE)
    found = {item: imported.steps_named(label) for item, label in labels.items()}
    return {item: pairs for item, pairs in found.items() if pairs or setting not in imported.NEEDS_A_RELEASE}


def read(
    project: Project, data: Any, setting: str, given: Mapping[int, Sequence[Pair]] | None
) -> dict[int, dict[str, Any]]:
    """What the file says, by item; a part at a time, as trajectories are long."""
    if not isinstance(data, Mapping):
        imported.read_file(data, {}, setting)
    if not data:
        raise Refused(NOTHING_SAID)
    here = set(queries.items_to_judge(project, [Phase.MAIN]))
    found: dict[int, dict[str, Any]] = {}
    problems: list[Problem] = []
    for part in known_files.parts_of(data):
        items = lead_queries.items_by_source(project, list(part))
        problems += [known_files.several(name) for name, these in items.items() if len(these) > 1]
        ids = {name: one.item for name, (one, *_) in items.items()}
        strange = {name for name, item in ids.items() if not is_asked(item, here, given)}
        problems += [elsewhere(name) for name in part if name in strange]
        ids = {name: item for name, item in ids.items() if name not in strange}
        shown = {name: known_files.shown_of(project, item) for name, item in ids.items()}
        steps = None if setting not in imported.NEEDS_A_RELEASE or given is None else by_name(ids, given)
        try:
            asked = {name: rows for name, rows in part.items() if name not in strange}
            said = imported.read_file(asked, shown, setting, steps)
        except LabelError as error:
            problems += error.problems
            continue
        found |= {ids[name]: values for name, values in said.items()}
    if problems:
        raise LabelError(*first_problems(problems))
    return found


def is_asked(item: int, here: set[int], given: Mapping[int, Sequence[Pair]] | None) -> bool:
    return item in here and (given is None or item in given)


def by_name(ids: Mapping[str, int], given: Mapping[int, Sequence[Pair]]) -> dict[str, Sequence[Pair]]:
    return {name: given.get(item, ()) for name, item in ids.items()}


# What is refused

NOTHING_SAID = Problem(
    code="empty_file",
    field="file",
    expected=gettext_noop("Predictions of one trajectory at least; the file names none."),
    remedy=gettext_noop("Check that it was written whole."),
)
NO_GOLD_NAMED = Problem(
    code="missing_field",
    field="release",
    expected=gettext_noop("The number of the release whose redundant steps the system was asked about."),
    remedy=gettext_noop("Name it, or bring the predictions in as steps that the system found by itself (detection)."),
)


def elsewhere(name: str) -> Problem:
    return Problem(
        code="not_asked",
        field=name[: known_files.MAX_NAME],
        pointer=pointer_part(name),
        expected=gettext_noop("A trajectory of the main phase that the release, where one is named, has a label of."),
        remedy=gettext_noop("Leave it out of the file, or name another release."),
    )
