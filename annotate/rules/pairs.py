"""Blind pairs: which collaborations are drawn for a comparison of two versions, and who reads which version of a point.

Of every model one collaboration, so that areas come equally often, and one more of every language, so that languages
do: eight models and four areas in two languages give ten, every area twice among the eight, five of each language.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from annotate.rules.plans import shuffled
from annotate.traces.base import Problem, gettext_noop

DEFAULT, REWRITE = VERSIONS = ("default", "rewrite")
N_SLOTS = 5
MOST_STEPS = 200_000
"""Choices that one search tries before it is given up."""
TRIES = 1000
"""Permutations of the slots that are tried until every two annotators meet."""
DRAWS = 20
"""Draws that are tried for one with enough longer collaborations, where points in all are asked for."""
TOLD = 6


@dataclass(frozen=True, slots=True)
class Collaboration:
    """One that may be drawn, with its points that have both versions, in reading order. `name` is for the lead."""

    trace: int
    name: str
    model: str
    area: str
    language: str
    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How often an area comes among the models' collaborations and a language among all, and how many more of each
    language are drawn. Numbers that are not given follow from what is there, as equal as they can be. `quota` are
    points of each collaboration, `n_points` of all; without both it is all points there are."""

    per_area: int | None = None
    per_language: int | None = None
    more_per_language: int = 1
    quota: int | None = None
    n_points: int | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A drawn collaboration and the points of it that are read, in reading order."""

    trace: int
    points: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most that every area and language may come among one collaboration of each model."""

    areas: Mapping[str, tuple[int, int]]
    languages: Mapping[str, tuple[int, int]]


@dataclass(slots=True)
class Search:
    """Which choices lead nowhere, and how many were tried."""

    dead: set[tuple[object, ...]] = field(default_factory=set)
    n_steps: int = 0


class GivenUp(Exception):
    """More choices than `MOST_STEPS`."""


# Which collaborations


def draw(
    there: Sequence[Collaboration], *, languages: Sequence[str], seed: int, wanted: Wanted = Wanted()
) -> tuple[Chosen, ...] | Problem:
    """The drawn collaborations in the order in which their points are counted, or which constraint cannot hold. The
    same collaborations, languages and seed give the same draw."""
    there = sorted(there, key=lambda one: one.trace)
    if unnamed := [one for one in there if not (one.model and one.area and one.language in languages)]:
        return says_too_little(unnamed, languages)
    bounds = bounds_of(there, languages, wanted)
    if isinstance(bounds, Problem):
        return bounds
    models = models_of(there)
    n_drawn = len(models) + wanted.more_per_language * len(languages)
    least = max(1, wanted.quota or 0, (wanted.n_points or 0) // n_drawn)
    long_enough = [one for one in there if len(one.points) >= least]
    found: tuple[Chosen, ...] | Problem = no_draw(bounds)
    for attempt in range(DRAWS):
        try:
            drawn = drawn_from(long_enough, models, bounds, wanted, f"{seed}/{attempt}")
            if drawn is None:
                would_hold = drawn_from(there, models, bounds, wanted, f"{seed}/0") is not None
                return too_short([one for one in there if len(one.points) < least], least) if would_hold else found
        except GivenUp:
            return not_found()
        found = with_points(drawn, wanted, least, seed)
        if not isinstance(found, Problem):
            break
    return found


def with_points(
    drawn: Sequence[Collaboration], wanted: Wanted, least: int, seed: int
) -> tuple[Chosen, ...] | Problem:
    """What is drawn with the points of each that are read."""
    quotas = quotas_of(drawn, wanted, least, seed)
    if isinstance(quotas, Problem):
        return quotas
    return tuple(Chosen(one.trace, some_points(one, n, seed)) for one, n in zip(drawn, quotas, strict=True))


def models_of(there: Sequence[Collaboration]) -> list[str]:
    return sorted({one.model for one in there})


def bounds_of(there: Sequence[Collaboration], languages: Sequence[str], wanted: Wanted) -> Bounds | Problem:
    """What has to hold, or the first that cannot, whatever is drawn."""
    n_models, areas, more = len(models_of(there)), sorted({one.area for one in there}), wanted.more_per_language
    if wanted.per_area is not None and wanted.per_area * len(areas) != n_models:
        return numbers_do_not_fit("per_area", wanted.per_area * len(areas), n_models)
    n_drawn = n_models + more * len(languages)
    if wanted.per_language is not None and wanted.per_language * len(languages) != n_drawn:
        return numbers_do_not_fit("per_language", wanted.per_language * len(languages), n_drawn)
    of_area = between(n_models, len(areas))
    of_language = between(n_models, len(languages))
    n_there = Counter(one.language for one in there)
    for language in languages:
        if n_there[language] < of_language[0] + more or not n_there[language]:
            return too_few_of_language(language, n_there[language], max(1, of_language[0] + more))
    for area in areas:
        n_able = len({one.model for one in there if one.area == area})
        if n_able < of_area[0]:
            return too_few_of_area(area, n_able, of_area[0])
    return Bounds(dict.fromkeys(areas, of_area), dict.fromkeys(languages, of_language))


def between(n: int, n_parts: int) -> tuple[int, int]:
    """The smallest and the largest of so many parts of a number that are as equal as they can be."""
    return (n // n_parts, -(-n // n_parts)) if n_parts else (0, 0)


def drawn_from(
    there: Sequence[Collaboration], models: Sequence[str], bounds: Bounds, wanted: Wanted, seed: str
) -> list[Collaboration] | None:
    """One of each model within the bounds, and more of each language from the others, in a drawn order; None where no
    choice has them all."""
    of_each = of_models(there, models, bounds, wanted.more_per_language, seed)
    if of_each is None:
        return None
    drawn = list(of_each)
    for language in bounds.languages:
        left = {one.trace: one for one in there if one.language == language and one not in of_each}
        order = shuffled(sorted(left), seed, f"pairs/more/{language}")
        drawn += [left[trace] for trace in order[: wanted.more_per_language]]
    by_trace = {one.trace: one for one in drawn}
    return [by_trace[trace] for trace in shuffled(sorted(by_trace), seed, "pairs/order")]


def of_models(
    there: Sequence[Collaboration], models: Sequence[str], bounds: Bounds, more: int, seed: str
) -> list[Collaboration] | None:
    n_there = Counter(one.language for one in there)
    most = {name: min(high, n_there[name] - more) for name, (_, high) in bounds.languages.items()}
    if any(most[name] < low for name, (low, _) in bounds.languages.items()):
        return None
    within = Bounds(bounds.areas, {name: (low, most[name]) for name, (low, _) in bounds.languages.items()})
    own: dict[str, list[Collaboration]] = {model: [] for model in models}
    by_trace = {one.trace: one for one in there}
    for trace in shuffled(sorted(by_trace), seed, "pairs/draw"):
        own[by_trace[trace].model].append(by_trace[trace])
    order = shuffled(range(len(models)), seed, "pairs/models")
    return chosen([own[models[place]] for place in order], within, Search())


def chosen(own: Sequence[Sequence[Collaboration]], bounds: Bounds, search: Search) -> list[Collaboration] | None:
    """One of each list within the bounds: the first choice in their order that holds, going back where one leads
    nowhere, to which the search does not come twice."""
    areas: Counter[str] = Counter()
    languages: Counter[str] = Counter()

    def follow(place: int) -> list[Collaboration] | None:
        state = (place, *(areas[one] for one in bounds.areas), *(languages[one] for one in bounds.languages))
        n_left = len(own) - place
        if state in search.dead or not (can_hold(areas, bounds.areas, n_left)):
            return None
        if not can_hold(languages, bounds.languages, n_left):
            return None
        if not n_left:
            return []
        for one in own[place]:
            search.n_steps += 1
            if search.n_steps > MOST_STEPS:
                raise GivenUp
            areas[one.area] += 1
            languages[one.language] += 1
            rest = follow(place + 1)
            areas[one.area] -= 1
            languages[one.language] -= 1
            if rest is not None:
                return [one, *rest]
        search.dead.add(state)
        return None

    return follow(0)


def can_hold(counts: Mapping[str, int], bounds: Mapping[str, tuple[int, int]], n_left: int) -> bool:
    """Whether nothing is over its bound, and what is missing to the lower ones can still come."""
    missing = sum(max(0, low - counts[name]) for name, (low, _) in bounds.items())
    return missing <= n_left and all(counts[name] <= high for name, (_, high) in bounds.items())


def quotas_of(drawn: Sequence[Collaboration], wanted: Wanted, least: int, seed: int) -> list[int] | Problem:
    """How many points each gives."""
    if wanted.n_points is None:
        return [wanted.quota or len(one.points) for one in drawn]
    n_more = wanted.n_points - least * len(drawn)
    if n_more < 0:
        return fewer_points_than_collaborations(wanted.n_points, len(drawn))
    able = [place for place, one in enumerate(drawn) if len(one.points) > least]
    if n_more > len(able):
        return too_short([one for one in drawn if len(one.points) <= least], least + 1)
    with_one_more = set(shuffled(able, seed, "pairs/quotas")[:n_more])
    return [least + (place in with_one_more) for place in range(len(drawn))]


def some_points(one: Collaboration, n: int, seed: int) -> tuple[str, ...]:
    """So many of its points at random, in reading order."""
    kept = set(shuffled(range(len(one.points)), seed, f"pairs/points/{one.trace}")[:n])
    return tuple(point for place, point in enumerate(one.points) if place in kept)


# Who reads which version


@dataclass(frozen=True, slots=True)
class Reading:
    """One annotator reads this version of a point. `order` counts through what they read from 0, `sequence` the
    collaborations in it from 1."""

    code: str
    trace: int
    point: str
    version: str
    order: int = 0
    sequence: int = 1


def slots_of(drawn: Sequence[Chosen], codes: Sequence[str], seed: int) -> tuple[tuple[str, ...], ...] | Problem:
    """Of each collaboration the codes by slot, drawn anew for each, so that every two annotators read a version in
    common somewhere: with the same places everywhere only four of the ten pairs would."""
    codes = sorted(codes)
    if len(set(codes)) != N_SLOTS:
        return not_five(codes)
    for attempt in range(TRIES):
        places = [shuffled(range(N_SLOTS), seed, f"pairs/slots/{attempt}/{number}") for number in range(len(drawn))]
        slots = tuple(tuple(codes[place] for place in one) for one in places)
        if all(meet(slots, *pair) for pair in combinations(codes, 2)):
            return slots
    return pairs_apart(len(drawn))


def meet(slots: Sequence[Sequence[str]], one: str, other: str) -> bool:
    """Whether two read the same version in some collaboration: their places there are both even or both odd."""
    return any((places.index(one) - places.index(other)) % 2 == 0 for places in slots)


def readings(drawn: Sequence[Chosen], slots: Sequence[Sequence[str]]) -> Iterator[Reading]:
    """Every version of every point with who reads it. The points are counted through all collaborations; an even sum
    of a point's number and an annotator's place gives the default. So three read one version and two the other, and
    which it is changes from point to point."""
    number = 0
    for one, places in zip(drawn, slots, strict=True):
        for point in one.points:
            for place, code in enumerate(places):
                yield Reading(code, one.trace, point, VERSIONS[(place + number) % 2])
            number += 1


def plans(found: Sequence[Reading], seed: int) -> dict[str, list[Reading]]:
    """What each annotator reads, in their own order of collaborations and inside one in reading order."""
    own: dict[str, dict[int, list[Reading]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        own[one.code][one.trace].append(one)
    planned: dict[str, list[Reading]] = {code: [] for code in sorted(own)}
    for code, plan in planned.items():
        for sequence, trace in enumerate(shuffled(sorted(own[code]), seed, f"pairs/reading/{code}"), 1):
            for one in own[code][trace]:
                plan.append(Reading(code, trace, one.point, one.version, len(plan), sequence))
    return planned


# What cannot hold


def names(found: Sequence[Collaboration]) -> str:
    return ", ".join([one.name[:80] for one in found[:TOLD]] + ["…"] * (len(found) > TOLD))


def says_too_little(found: Sequence[Collaboration], languages: Sequence[str]) -> Problem:
    return Problem(
        code="says_too_little",
        field="collaborations",
        expected=gettext_noop(
            "Collaborations whose traces name a model, an area and one of the languages %(languages)s; these do not: "
            "%(names)s."
        ),
        remedy=gettext_noop("Publish into a project whose traces say so, and whose languages are theirs."),
        params={"names": names(found), "languages": ", ".join(languages)},
    )


def numbers_do_not_fit(name: str, n_asked: int, n_there: int) -> Problem:
    return Problem(
        code="numbers_do_not_fit",
        field=name,
        expected=gettext_noop(
            "A number that gives %(there)s collaborations in all, as many as there are to be drawn; this one gives "
            "%(asked)s."
        ),
        remedy=gettext_noop("Correct it, or leave it away."),
        params={"asked": n_asked, "there": n_there},
    )


def too_few_of_language(language: str, n_there: int, n_needed: int) -> Problem:
    return Problem(
        code="too_few_of_language",
        field="language",
        expected=gettext_noop(
            "%(needed)s collaborations in “%(language)s” with points that have both versions; there are %(there)s."
        ),
        remedy=gettext_noop("Publish texts of more collaborations in this language."),
        params={"language": language, "needed": n_needed, "there": n_there},
    )


def too_few_of_area(area: str, n_there: int, n_needed: int) -> Problem:
    return Problem(
        code="too_few_of_area",
        field="area",
        expected=gettext_noop("Collaborations of %(needed)s models in the area “%(area)s”; there are %(there)s."),
        remedy=gettext_noop("Publish texts of more models in this area."),
        params={"area": area[:80], "needed": n_needed, "there": n_there},
    )


def too_short(found: Sequence[Collaboration], n_needed: int) -> Problem:
    return Problem(
        code="collaboration_too_short",
        field="quota",
        expected=gettext_noop(
            "Collaborations with %(needed)s points that have both versions; too short for that: %(names)s."
        ),
        remedy=gettext_noop("Ask for fewer points, or publish texts of more."),
        params={"needed": n_needed, "names": ", ".join(f"{one.name[:80]} ({len(one.points)})" for one in found[:TOLD])},
    )


def fewer_points_than_collaborations(n_points: int, n_drawn: int) -> Problem:
    return Problem(
        code="out_of_range",
        field="points",
        expected=gettext_noop("At least one point of each of %(there)s collaborations; asked for are %(asked)s."),
        remedy=gettext_noop("Ask for more."),
        params={"asked": n_points, "there": n_drawn},
    )


def no_draw(bounds: Bounds) -> Problem:
    def told(found: Mapping[str, tuple[int, int]]) -> str:
        return ", ".join(f"{name[:40]} {low}" + (f"-{high}" * (high != low)) for name, (low, high) in found.items())

    return Problem(
        code="no_draw",
        field="collaborations",
        expected=gettext_noop(
            "One collaboration of each model, with areas so often: %(areas)s; and languages so often: %(languages)s. "
            "No choice of those that are there has that."
        ),
        remedy=gettext_noop("Publish texts of more collaborations."),
        params={"areas": told(bounds.areas), "languages": told(bounds.languages)},
    )


def not_found() -> Problem:
    return Problem(
        code="no_draw_found",
        field="seed",
        expected=gettext_noop("A draw among the first %(steps)s choices; none of them has all that is asked for."),
        remedy=gettext_noop("Draw with another seed, or publish texts of more collaborations."),
        params={"steps": MOST_STEPS},
    )


def not_five(codes: Sequence[str]) -> Problem:
    return Problem(
        code="not_five_annotators",
        field="annotators",
        expected=gettext_noop(
            "Five annotators, three for one version of a point and two for the other; here are %(n)s: %(codes)s."
        ),
        remedy=gettext_noop("Name five by their codes, or invite more."),
        params={"n": len(set(codes)), "codes": ", ".join(codes[:20])},
    )


def pairs_apart(n_drawn: int) -> Problem:
    return Problem(
        code="pairs_apart",
        field="collaborations",
        expected=gettext_noop(
            "So many collaborations that every two annotators read a version in common; with %(n)s that was not found."
        ),
        remedy=gettext_noop("Publish texts of more collaborations."),
        params={"n": n_drawn},
    )
