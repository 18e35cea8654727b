"""A lead's review of jury and detectors: every prediction of a run against the gold, by pages and as files."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlencode

from django.http import Http404
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_safe

from annotate.errors import Refused
from annotate.models import Phase, Project
from annotate.rules.csv_cells import cell
from annotate.views.project import led_project, title_of
from scoring import report_queries
from scoring.comparing import PHASES
from scoring.judges.registry import all_judges
from scoring.method_views import as_file
from scoring.methods.redundancy_read import TYPE_WORDS
from scoring.methods.redundancy_schema import NONE_SERVES, TYPES
from scoring.methods.tables import words_of
from scoring.models import Run
from scoring.prediction_matches import STATES
from scoring.predictions import KIND, Asked, PredictionRow, Predictions, predictions
from scoring.views import number_in

N_ROWS = 50
MOST_DOMAINS = 200
PROVENANCE = {"experts": gettext_noop("experts"), "jury": gettext_noop("jury")}
COLUMNS = (
    *("item", "trace", "domain", "provenance", "state", "step", "rank", "type", "gold_type", "same_type"),
    *("evidence", "gold_evidence", "same_evidence", "confidence"),
)


@dataclass(frozen=True, slots=True)
class ShownPrediction:
    """A row in words; `gold_of` says whose the gold is. `address` is that of the trajectory, from the step on."""

    row: PredictionRow
    state: str
    gold_of: str
    step: str
    type: str
    evidence: str
    address: str


def asked_in(query) -> Asked:
    """What an address asks for; a field that is empty is not asked for. 404 where one can be none."""
    asked = Asked(
        run=number_in(query["run"]) if query.get("run") else None,
        release=number_in(query["release"]) if query.get("release") else None,
        phase=query.get("phase") or "main",
        state=query.get("state", ""),
        type=query.get("type", ""),
        domain=query.get("domain", "").replace("\x00", ""),
        jury_gold=query.get("jury_gold") == "true",
    )
    if asked.phase not in PHASES or asked.state not in ("", *STATES) or asked.type not in ("", *TYPES):
        raise Http404
    return asked


def query_of(asked: Asked, **other: object) -> str:
    """The address of the list, or of the list with something else asked."""
    values = {**asdict(asked), "jury_gold": "true" if asked.jury_gold else "", **other}
    return urlencode({name: value for name, value in values.items() if value not in (None, "")})


def reviewed_project(request, slug) -> Project:
    """A project that the person leads, of the kind that has predictions; the one 404 for any other."""
    project = led_project(request, slug)
    if project.kind != KIND:
        raise Http404
    return project


def found_in(project: Project, query) -> Predictions:
    """404 for a run or a release that is not there."""
    try:
        return predictions(project, asked_in(query))
    except Refused:
        raise Http404 from None


@require_safe
def list_predictions(request, project):
    project = reviewed_project(request, project)
    found = found_in(project, request.GET)
    page = number_in(request.GET.get("page") or "1")
    rows = found.rows[(page - 1) * N_ROWS : page * N_ROWS] if page else ()
    if page != 1 and not rows:
        raise Http404
    asked = found.asked
    context = {
        "project": project,
        "title": title_of(project),
        "asked": asked,
        "found": found,
        "judge": found.run and judge_title(found.run),
        "runs": [(one.number, judge_title(one)) for one in found.runs],
        "releases": list(found.releases),
        "phases": [(value, name) for value, name in Phase.choices if value in PHASES],
        "states": [(state, gettext(words)) for state, words in STATES.items()],
        "types": [(one, words_of(TYPE_WORDS[one], gettext)) for one in TYPES],
        "domains": report_queries.values_of(project, "area", phase=asked.phase, most=MOST_DOMAINS),
        "counts": [
            (gettext(STATES[state]), n, query_of(asked, state=state), state == asked.state)
            for state, n in found.counts.items()
        ],
        "rows": [shown(project, one) for one in rows],
        "n": len(found.rows),
        "is_ranked": any(one.match.rank is not None for one in rows),
        "every": query_of(asked, state=""),
        "query": query_of(asked),
        "earlier": query_of(asked, page=page - 1) if page > 1 else "",
        "later": query_of(asked, page=page + 1) if page * N_ROWS < len(found.rows) else "",
    }
    return render(request, "scoring/list_predictions.html", context)


def judge_title(run: Run) -> str:
    """With the model or system, and the variant; a judge that this version has no more goes by its name."""
    spec, told = all_judges().get(run.judge.name), run.judge.settings
    title = gettext(spec.title) if spec else run.judge.name
    model = told.get("system") or (told.get("endpoint") or {}).get("model")
    return " · ".join(str(one) for one in (title, model, told.get("variant")) if one)


def shown(project: Project, row: PredictionRow) -> ShownPrediction:
    match = row.match
    address = reverse("scoring:show_item", args=[project.slug, row.item])
    return ShownPrediction(
        row=row,
        state=gettext(STATES[match.state]),
        gold_of=gettext(PROVENANCE[row.provenance]) if row.provenance else "",
        step="-".join(map(str, match.step or ())),
        type=beside_gold(type_words(match.type), type_words(match.gold_type), match.same_type),
        evidence=beside_gold(evidence_words(match.evidence), evidence_words(match.gold_evidence), match.same_evidence),
        address=f"{address}?from={match.step[0]}" if match.step else address,
    )


def beside_gold(said: str, gold: str, is_same: bool | None) -> str:
    """What was said, and how gold has it."""
    if is_same is None:
        return said or (gettext("gold: %(gold)s") % {"gold": gold} if gold else "")
    words = gettext("%(said)s, as gold") if is_same else gettext("%(said)s; gold: %(gold)s")
    return words % {"said": said, "gold": gold}


def type_words(kind: str | None) -> str:
    return "" if kind is None else words_of(TYPE_WORDS[kind], gettext)


def evidence_words(evidence: Sequence[int] | None) -> str:
    """`4-5, 8-9`, one message, or that no other step serves."""
    if evidence is None:
        return ""
    if tuple(evidence) == (NONE_SERVES,):
        return gettext("no other step")
    pairs = [evidence[place : place + 2] for place in range(0, len(evidence), 2)]
    return ", ".join("-".join(map(str, one)) for one in pairs)


@require_safe
def predictions_json(request, project):
    """All that the filters leave."""
    project = reviewed_project(request, project)
    found = found_in(project, request.GET)
    told = {"project": project.slug, **found.as_dict(), "rows": [one.as_dict() for one in found.rows]}
    text = json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"
    return as_file(text, "application/json; charset=utf-8", f"{project.slug}-predictions.json")


@require_safe
def predictions_csv(request, project):
    """One row a prediction, safe for spreadsheets."""
    project = reviewed_project(request, project)
    found = found_in(project, request.GET)
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(csv_rows([one.as_dict() for one in found.rows]))
    return as_file(text.getvalue(), "text/csv; charset=utf-8", f"{project.slug}-predictions.csv")


def csv_rows(rows: Sequence[Mapping[str, object]]) -> Iterator[list[str]]:
    yield list(COLUMNS)
    for row in rows:
        yield [cell(row[name]) for name in COLUMNS]
