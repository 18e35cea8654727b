"""A lead's prompt lab: the versions of each prompt, a new one, and how two of them do beside each other."""

import re
from dataclasses import asdict, dataclass

from django.http import Http404
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import release_queries
from annotate.errors import NotYours, Refused
from annotate.models import Project
from annotate.rules.figure_words import interval_words, value_words
from annotate.traces.base import Problem, gettext_noop
from annotate.views.project import led_project, title_of
from scoring import endpoint_queries, prompt_queries, prompting, running
from scoring.asking import Cap
from scoring.judges import prompts
from scoring.judges.registry import judges_for
from scoring.models import Prompt, Run
from scoring.stats.registry import Outcome

N_TRIALS = 25
USUAL_ITEMS, USUAL_CAP = 50, 400
TRIAL_FIELDS = ("new", "old", "endpoint", "release", "n_items", "cap_calls")
TITLES = {
    "reader.questions": gettext_noop("Reader: its questions"),
    "reader.answers": gettext_noop("Reader: the answers it looks for"),
    "checker": gettext_noop("Checker"),
    "classifier": gettext_noop("Classifier of gaps"),
    "writer.notice": gettext_noop("Writer: what the user knows"),
    "writer.requirements": gettext_noop("Writer: requirements on a reply"),
    "writer.separate": gettext_noop("Writer: a conversation of its own"),
    "writer.separate_requirements": gettext_noop("Writer: a conversation of its own, with requirements"),
    "writer.facts": gettext_noop("Writer: list of facts"),
    "rewriter": gettext_noop("Rewriter"),
    "workflow": gettext_noop("Writer of workflows"),
}
LANGUAGES = {"en": gettext_noop("English"), "zh": gettext_noop("Chinese")}
PLACEHOLDERS = {
    "mark": gettext_noop("a word nobody can guess, with which the delimiters of quoted material begin"),
    "files": gettext_noop("the files the requester gave"),
    "conversation": gettext_noop("what the requester has seen so far, up to the request that is answered"),
    "reply": gettext_noop("the message that is judged"),
    "text": gettext_noop("what the answers are to be found in"),
    "questions": gettext_noop("the questions that are still open, numbered"),
    "record": gettext_noop("the record of the agent's work"),
    "question": gettext_noop("the question a reader asked"),
    "span": gettext_noop("the words that the question is about"),
    "type": gettext_noop("the type the reader gave its question"),
    "window": gettext_noop("these words with 200 characters before and after them"),
    "request": gettext_noop("the requester's latest message"),
    "work": gettext_noop("the record of the agent's work, or the list of facts"),
    "message": gettext_noop("the message that is rewritten"),
    "solved_run": gettext_noop("the trajectory that a workflow is made from, perhaps without some of its steps"),
}


@dataclass(frozen=True, slots=True)
class Listed:
    """One prompt in one language with its versions, newest first; the shipped one is there before it is first used."""

    key: str
    title: str
    language: str
    language_title: str
    versions: list[int]
    rows: dict[int, Prompt]

    @property
    def options(self) -> list[tuple[str, int]]:
        """What a list of versions posts, and what it shows."""
        return [(f"{self.key} {self.language} {number}", number) for number in self.versions]


def listed_prompts(project: Project) -> list[Listed]:
    """One statement."""
    rows: dict[tuple[str, str], dict[int, Prompt]] = {}
    for row in prompt_queries.versions_of(project):
        rows.setdefault((row.key, row.language), {})[row.number] = row
    return [
        Listed(
            key=key,
            title=gettext(TITLES.get(key, key)),
            language=language,
            language_title=gettext(LANGUAGES[language]),
            versions=sorted({1, *rows.get((key, language), {})}, reverse=True),
            rows=rows.get((key, language), {}),
        )
        for key in prompting.prompts_used(project)
        for language in prompts.LANGUAGES
    ]


# Versions


@require_safe
def list_prompts(request, project):
    """Every prompt with its versions, the form of a trial, and the trials so far."""
    project = led_project(request, project)
    return render(request, "scoring/list_prompts.html", lab(project))


def lab(project: Project, problem: Problem | None = None, chosen=None) -> dict[str, object]:
    listed = listed_prompts(project)
    labelled = {key for spec in judges_for(project.kind) if spec.gives_labels for key in spec.prompts}
    return {
        "project": project,
        "title": title_of(project),
        "prompts": listed,
        "tried": [one for one in listed if one.key in labelled],
        "has_versions": any(len(one.versions) > 1 for one in listed if one.key in labelled),
        "endpoints": list(endpoint_queries.endpoints_of(project)),
        "releases": list(release_queries.peoples_releases(project)),
        "trials": [
            (trial, gettext(TITLES.get(trial.prompt_new.key, trial.prompt_new.key)))
            for trial in prompt_queries.trials_of(project)[:N_TRIALS]
        ],
        "chosen": chosen or {"n_items": USUAL_ITEMS, "cap_calls": USUAL_CAP},
        "problem": problem and problem.as_dict(gettext),
    }


@require_http_methods(["GET", "HEAD", "POST"])
def write_prompt(request, project, prompt, language):
    """The newest text, to write the next version from; what is wrong with it is said by name."""
    project = led_project(request, project)
    text = prompting.text_of(project, prompt, language) if known(project, prompt, language) else None
    if text is None:
        raise Http404
    if request.method != "POST":
        return render(request, "scoring/write_prompt.html", form_of(project, prompt, language, text))
    text, examples = request.POST.get("text", ""), request.POST.get("examples", "")
    try:
        written = prompting.write_prompt(
            person=request.user,
            project=project,
            key=prompt,
            language=language,
            text=text,
            examples=numbers_of(examples),
        )
    except NotYours:
        raise Http404 from None
    except prompting.PromptRefused as refusal:
        context = form_of(project, prompt, language, text, examples, refusal.problems)
        return render(request, "scoring/write_prompt.html", context, status=422)
    return redirect("scoring:show_prompt", project.slug, prompt, language, written.number)


def form_of(project, key, language, text, examples="", problems=()) -> dict[str, object]:
    return {
        "project": project,
        "title": title_of(project),
        "key": key,
        "language": language,
        "prompt_title": gettext(TITLES.get(key, key)),
        "language_title": gettext(LANGUAGES[language]),
        "text": text,
        "examples": examples,
        "longest": prompts.LONGEST_PROMPT,
        "placeholders": [(prompts.braced(name), gettext(PLACEHOLDERS[name])) for name in prompts.PLACEHOLDERS[key]],
        "problems": [problem.as_dict(gettext) for problem in problems],
    }


def known(project: Project, key: str, language: str) -> bool:
    return key in prompting.prompts_used(project) and language in prompts.LANGUAGES


def numbers_of(words: str) -> list[int]:
    """Numbers with blanks or commas between them; what is none is the number of no item."""
    return [int(word) if word.isascii() and word.isdecimal() and len(word) < 16 else -1 for word in found(words)]


def found(words: str) -> list[str]:
    return re.findall(r"[^\s,;，；、]+", words)[: prompting.MOST_EXAMPLES + 1]


@require_safe
def show_prompt(request, project, prompt, language, number):
    """One version, as it is sent but for what its placeholders stand for."""
    project = led_project(request, project)
    if not known(project, prompt, language) or not 0 < number < 2**31:
        raise Http404
    row = prompt_queries.version(project, prompt, language, number)
    text = row.text if row else prompting.text_of(project, prompt, language, number)
    if text is None:
        raise Http404
    context = {**form_of(project, prompt, language, text), "number": number, "row": row}
    return render(request, "scoring/show_prompt.html", context)


# Trials


@require_POST
def start_trial(request, project):
    """Two versions of a prompt over the same sealed items."""
    project = led_project(request, project)
    chosen = {name: request.POST.get(name, "") for name in TRIAL_FIELDS}
    try:
        trial = prompting.start_trial(person=request.user, project=project, **asked_for(chosen))
    except NotYours:
        raise Http404 from None
    except Refused as refusal:
        return render(request, "scoring/list_prompts.html", lab(project, refusal.problem, chosen), status=422)
    return redirect("scoring:show_trial", project.slug, trial.number)


def asked_for(chosen) -> dict[str, object]:
    """What the form says; Refused where two versions are not of one prompt."""
    new, old = chosen["new"].split(" "), chosen["old"].split(" ")
    if len(new) != 3 or len(old) != 3 or new[:2] != old[:2]:
        raise Refused(TWO_PROMPTS)
    return {
        "key": new[0],
        "language": new[1],
        "new": whole(new[2]),
        "old": whole(old[2]),
        "endpoint": chosen["endpoint"],
        "release": whole(chosen["release"]),
        "n_items": whole(chosen["n_items"]),
        "cap": Cap(calls=whole(chosen["cap_calls"]) or None),
    }


def whole(word: str) -> int:
    """A number as it was typed; 0, which is never right here, for what is none."""
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else 0


TWO_PROMPTS = Problem(
    code="two_prompts",
    field="old",
    expected=gettext_noop("Two versions of one prompt in one language."),
    remedy=gettext_noop("Choose both from the same group of the list."),
)


@dataclass(frozen=True, slots=True)
class Figure:
    value: str
    interval: str
    has_few_clusters: bool


def figure(outcome: Outcome) -> Figure:
    said = asdict(outcome)
    return Figure(
        value=value_words(said, gettext),
        interval=interval_words(said, gettext) if outcome.value is not None else "",
        has_few_clusters="few_clusters" in outcome.flags,
    )


@require_safe
def show_trial(request, project, number):
    """How far both runs are, and their agreement with the sealed labels as it stands."""
    project = led_project(request, project)
    trial = prompt_queries.trials_of(project).filter(number=number).first() if number < 2**31 else None
    if trial is None:
        raise Http404
    trial.project = project
    figures = prompting.trial_figures(trial)
    progress = running.progress_of([trial.run_old, trial.run_new])
    sides = [shown_side(side, progress[side.run.pk]) for side in (figures.old, figures.new)]
    difference = figure(figures.difference)
    context = {
        "project": project,
        "title": title_of(project),
        "trial": trial,
        "prompt_title": gettext(TITLES.get(trial.prompt_new.key, trial.prompt_new.key)),
        "language_title": gettext(LANGUAGES[trial.prompt_new.language]),
        "figures": figures,
        "measure": gettext(figures.measure.title),
        "sides": sides,
        "difference": difference,
        "has_few_clusters": difference.has_few_clusters,
        "is_going_on": any(one.state == "running" for one in progress.values()),
    }
    return render(request, "scoring/show_trial.html", context)


def shown_side(side: prompting.Side, progress: running.RunProgress) -> dict[str, object]:
    run: Run = side.run
    return {
        "prompt": side.prompt,
        "run": run,
        "progress": progress,
        "n_unreadable": side.n_unreadable,
        "share": figure(side.share),
        "kappa": figure(side.kappa),
    }
