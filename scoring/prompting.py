"""The prompt lab: new versions of the prompts, and how one does beside another against sealed labels
(docs/methods.md, Prompts)."""

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Max

from annotate import people, release_queries
from annotate.errors import Refused
from annotate.kinds.base import Measure, TaskKind
from annotate.kinds.registry import kind_of
from annotate.models import Event, Person, Phase, Project, Release
from annotate.rules.quotes import canonical
from annotate.traces.base import Problem, gettext_noop
from scoring import calling, endpoint_queries, prompt_queries, running
from scoring.asking import Cap
from scoring.judges import prompts
from scoring.judges.base import JudgeSpec
from scoring.judges.examples import is_quoted
from scoring.judges.registry import judges_for
from scoring.models import Endpoint, Prompt, Run, Trial
from scoring.stats.compute import compute
from scoring.stats.registry import Outcome

MOST_ITEMS, LEAST_ITEMS = 500, 2
MOST_EXAMPLES = 100
GOLD = "gold"


class PromptRefused(Refused):
    """A text that cannot be a prompt; `problems` names all that is wrong with it."""

    def __init__(self, problems: Sequence[Problem]):
        super().__init__(problems[0])
        self.problems = tuple(problems)


# Versions


def prompts_used(project: Project) -> tuple[str, ...]:
    """Keys of the prompts that judges of this project ask by."""
    return tuple(key for spec in judges_for(project.kind) for key in spec.prompts)


def text_of(project: Project, key: str, language: str, number: int | None = None) -> str | None:
    """The text of a version, of the newest without a number; what is shipped is number 1 from the start."""
    if number is None:
        row = prompt_queries.newest(project, key, language)
    else:
        row = prompt_queries.version(project, key, language, number)
    if row is not None:
        return row.text
    return prompts.SHIPPED[key, language] if number in (None, 1) else None


def write_prompt(
    *, person: Person, project: Project, key: str, language: str, text: str, examples: Sequence[int] = ()
) -> Prompt:
    """The next version of a prompt. `examples` are items whose material it uses. Refused by name for placeholders that
    are unknown or missing; NotYours for who does not lead the project."""
    require_key(project, key, language)
    text = canonical(text).rstrip() + "\n"
    with transaction.atomic():
        project = people.lock_led(project, person)
        if problems := prompts.check(key, text):
            raise PromptRefused(problems)
        before = prompt_queries.newest(project, key, language) or calling.first_version(project, key, language)
        if before.text == text and sorted(examples) == before.examples:
            raise PromptRefused([SAME_TEXT])
        prompt = Prompt.objects.create(
            project=project,
            key=key,
            language=language,
            number=before.number + 1,
            text=text,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            examples=known_items(project, examples),
            person=person,
        )
        detail = {"prompt": key, "language": language, "number": prompt.number}
        Event.objects.create(project=project, person=person, action="prompt_written", detail=detail)
    return prompt


def require_key(project: Project, key: str, language: str) -> None:
    if key not in prompts_used(project) or language not in prompts.LANGUAGES:
        raise Refused(calling.unknown_prompt(prompts_used(project)))


def known_items(project: Project, numbers: Sequence[int]) -> list[int]:
    wanted = sorted(set(numbers))
    if len(wanted) > MOST_EXAMPLES or set(wanted) - prompt_queries.items_there(project, wanted[:MOST_EXAMPLES]):
        raise PromptRefused([unknown_examples()])
    return wanted


# Trials


def start_trial(
    *,
    person: Person,
    project: Project,
    key: str,
    language: str,
    new: int,
    old: int,
    endpoint: Endpoint | str,
    cap: Cap,
    n_items: int,
    release: int | None = None,
    seed: int | None = None,
) -> Trial:
    """Run two versions of a prompt over items drawn from a release, the newest without a number. The cap is that of
    each of the two runs."""
    require_key(project, key, language)
    spec = judge_by(project, key)
    refuse_proof(project, endpoint)
    gold = release_queries.release_numbered(project, release)
    if gold is None:
        raise Refused(NO_RELEASE)
    if gold.made_by != "people":
        raise Refused(NOT_OF_PEOPLE)
    seed = secrets.randbits(31) if seed is None else seed
    with transaction.atomic():
        project = people.lock_led(project, person)
        versions = [calling.numbered(project, key, language, number) for number in (old, new)]
        if versions[0].pk == versions[1].pk:
            raise Refused(SAME_VERSION)
        items, n_examples = drawn(gold, language, versions, n_items, seed)
        runs = [
            running.start_run(
                person=person,
                project=project,
                judge=spec.name,
                phases=[phase for phase in Phase.values if phase in prompt_queries.phases_of(items)],
                items=items,
                asking=running.Asking(endpoint=endpoint, cap=cap, prompts={key: {language: one.number}}),
            )
            for one in versions
        ]
        last = Trial.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
        trial = Trial.objects.create(
            project=project,
            number=last + 1,
            release=gold,
            prompt_old=versions[0],
            prompt_new=versions[1],
            run_old=runs[0],
            run_new=runs[1],
            items=items,
            n_examples=n_examples,
            seed=seed,
            person=person,
        )
        detail = {"trial": trial.number, "prompt": key, "language": language, "number": new, "beside": old}
        Event.objects.create(project=project, person=person, action="trial_started", detail=detail)
    return trial


def judge_by(project: Project, key: str) -> JudgeSpec:
    """The judge that asks by this prompt and gives labels, which alone can be held against sealed ones."""
    spec = next((one for one in judges_for(project.kind) if key in one.prompts and one.gives_labels), None)
    if spec is None:
        raise Refused(GIVES_NO_LABELS)
    return spec


def refuse_proof(project: Project, endpoint: Endpoint | str) -> None:
    """A trial's figures would be results of a model that only proves the wire."""
    if isinstance(endpoint, str):
        endpoint = endpoint_queries.endpoints_of(project).filter(name=endpoint).first() or endpoint
    if isinstance(endpoint, Endpoint) and endpoint.is_proof:
        raise Refused(PROOF_ONLY)


def drawn(
    release: Release, language: str, versions: Sequence[Prompt], n_items: int, seed: int
) -> tuple[list[int], int]:
    """Items of the release in a random order, as many as wanted, without those that a version has as examples; and how
    many of these came up."""
    if not LEAST_ITEMS <= n_items <= MOST_ITEMS:
        raise Refused(bad_number())
    pool = prompt_queries.sealed_items(release, language)
    order = [pool[place] for place in np.random.Generator(np.random.PCG64(seed)).permutation(len(pool))]
    chosen: list[int] = []
    n_examples = 0
    for item, is_example in told(order, versions, n_items):
        if len(chosen) == n_items:
            break
        n_examples += is_example
        chosen += [] if is_example else [item]
    if len(chosen) < LEAST_ITEMS:
        raise Refused(too_few(len(chosen)))
    return sorted(chosen), n_examples


def told(order: Sequence[int], versions: Sequence[Prompt], part: int) -> Iterator[tuple[int, bool]]:
    """Every item with whether it is an example of a version; texts are read a part at a time."""
    named = {item for one in versions for item in one.examples}
    texts = [one.text for one in versions]
    for start in range(0, len(order), part):
        those = order[start : start + part]
        said = prompt_queries.texts_of(those)
        for item in those:
            yield item, item in named or is_quoted(canonical(said.get(item) or ""), texts)


# What came of a trial


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two versions. Figures are over the items that both have judged."""

    prompt: Prompt
    run: Run
    n_judged: int
    n_unreadable: int
    share: Outcome
    kappa: Outcome


@dataclass(frozen=True, slots=True)
class TrialFigures:
    """`difference` is the share of equal verdicts of the new version less that of the old one."""

    measure: Measure
    n_items: int
    n_compared: int
    old: Side
    new: Side
    difference: Outcome


def trial_figures(trial: Trial) -> TrialFigures:
    """Both versions beside the sealed labels, on the kind's first measure: three statements."""
    kind = kind_of(trial.project.kind)
    schema = trial.release.protocol.label_schema or kind.schema
    measure = kind.measures(schema)[0]
    gold = prompt_queries.sealed_labels(trial.release, trial.items)
    sealed = {one.item: rated(kind, measure, schema, one.label) for one in gold}
    clusters = {str(one.item): one.cluster for one in gold}
    said = [prompt_queries.said_by(run) for run in (trial.run_old, trial.run_new)]
    rates = [
        {item: rated(kind, measure, schema, one.label) for item, one in those.items() if one.label is not None}
        for those in said
    ]
    common = [item for item, label in sealed.items() if label is not None and all(item in one for one in rates)]
    drawing = {"cluster_of": {str(item): clusters[str(item)] for item in common}, "seed": trial.seed}
    sides = [
        side(prompt, run, those, {item: (sealed[item], rate[item]) for item in common}, measure, drawing)
        for prompt, run, those, rate in (
            (trial.prompt_old, trial.run_old, said[0], rates[0]),
            (trial.prompt_new, trial.run_new, said[1], rates[1]),
        )
    ]
    right = [
        [str(item), name, float(rate[item] == sealed[item])]
        for name, rate in zip(("old", "new"), rates, strict=True)
        for item in common
    ]
    difference = compute("paired_difference", right, {"a": "new", "b": "old", **drawing})
    return TrialFigures(measure, len(trial.items), len(common), sides[0], sides[1], difference)


def rated(kind: TaskKind, measure: Measure, schema: Mapping[str, Any], label: Mapping[str, Any]) -> str | None:
    found = measure.rate(kind.load(label, schema))
    return None if found is None else str(found)


def side(
    prompt: Prompt,
    run: Run,
    said: Mapping[int, prompt_queries.Said],
    pairs: Mapping[int, tuple[str | None, str | None]],
    measure: Measure,
    drawing: Mapping[str, Any],
) -> Side:
    records = [
        [str(item), rater, label]
        for item, pair in pairs.items()
        for rater, label in zip((GOLD, "judge"), pair, strict=True)
    ]
    params = {"categories": [str(one) for one in measure.categories], **drawing}
    return Side(
        prompt=prompt,
        run=run,
        n_judged=len(said),
        n_unreadable=sum(one.is_unreadable for one in said.values()),
        share=compute("percent_agreement", records, params),
        kappa=compute("cohen_kappa", records, {**params, "rater_a": GOLD, "rater_b": "judge"}),
    )


# What goes


def unknown_examples() -> Problem:
    return Problem(
        code="unknown_item",
        field="examples",
        expected=gettext_noop("Numbers of items of this project, at most %(most)s."),
        remedy=gettext_noop("Take them from the addresses of the items' pages, with blanks between them."),
        params={"most": MOST_EXAMPLES},
    )


def bad_number() -> Problem:
    return Problem(
        code="bad_number",
        field="n_items",
        expected=gettext_noop("A whole number from %(least)s to %(most)s."),
        remedy=gettext_noop("Correct it."),
        params={"least": LEAST_ITEMS, "most": MOST_ITEMS},
    )


def too_few(n_items: int) -> Problem:
    return Problem(
        code="too_few_items",
        field="n_items",
        expected=gettext_noop(
            "At least %(least)s sealed items in this language that neither version has as examples; there are %(n)s."
        ),
        remedy=gettext_noop("Choose another release, or take examples from elsewhere."),
        params={"least": LEAST_ITEMS, "n": n_items},
    )


SAME_TEXT = Problem(
    code="same_text",
    field="text",
    expected=gettext_noop("Another text than that of the newest version."),
    remedy=gettext_noop("Change it, or use the newest version as it is."),
)
SAME_VERSION = Problem(
    code="same_version",
    field="old",
    expected=gettext_noop("Two different versions."),
    remedy=gettext_noop("Choose another one to stand beside it."),
)
NO_RELEASE = Problem(
    code="no_release",
    field="release",
    expected=gettext_noop("A release of this project: a trial is held against sealed labels."),
    remedy=gettext_noop("Seal one first, under Releases."),
)
NOT_OF_PEOPLE = Problem(
    code="labels_of_models",
    field="release",
    expected=gettext_noop("A release of what people said; the labels of this one are those of a jury of models."),
    remedy=gettext_noop("Choose another release."),
)
PROOF_ONLY = Problem(
    code="proof_only",
    field="endpoint",
    expected=gettext_noop("An endpoint whose answers are results; this one only proves the wire."),
    remedy=gettext_noop("Choose another one."),
)
GIVES_NO_LABELS = Problem(
    code="gives_no_labels",
    field="prompt",
    expected=gettext_noop("A prompt of a judge that gives labels; this one's verdicts cannot be held against any."),
    remedy=gettext_noop("Read what its runs found instead."),
)
