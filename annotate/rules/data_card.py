"""The data card of a release, as Markdown in one language: what it holds, who made it by code, how, how far they agree,
and what is not in it. All of it is read from `release.json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotate.rules.figure_words import NONE, Translate, interval_words, value_words
from annotate.traces.base import gettext_noop

RULES = {
    "majority": gettext_noop(
        "majority: the label most annotators gave, ties by the rule of the kind. It rests on votes alone."
    ),
    "consensus": gettext_noop(
        "consensus: a label only where all annotators agree; the other items are unresolved. It rests on votes alone."
    ),
    "reviewed": gettext_noop("reviewed: what a reviewer settled where one did, else the majority of the votes."),
    "jury": gettext_noop(
        "jury: what the jurors that agree with each other say; the other items are unresolved. It rests on no vote."
    ),
}
FIGURES = {
    "percent_agreement": gettext_noop("percent agreement (item mean)"),
    "fleiss_kappa": gettext_noop("Fleiss' kappa (Gwet's form)"),
    "krippendorff_alpha": gettext_noop("Krippendorff's alpha"),
    "mean_cohen_kappa": gettext_noop("mean pairwise kappa"),
}
PURPOSES = {
    "first": gettext_noop("first"),
    "informed": gettext_noop("informed"),
    "sent_back": gettext_noop("sent back"),
    "protocol": gettext_noop("new protocol"),
}
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#+|~&!-])")


def plain(text: str) -> str:
    """A text as Markdown that shows it as it is."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def data_card(
    manifest: Mapping[str, Any], translate: Translate, *, language: str, measure_titles: Mapping[str, str]
) -> str:
    """`measure_titles` are the message ids of the kind's measures, by their names."""
    parts = (
        by_a_jury(manifest, translate, language)
        if "provenance" in manifest
        else by_people(manifest, translate, language, measure_titles)
    )
    return "\n".join("\n".join(part) + "\n" for part in (*parts, how_to_check(manifest, translate)))


def by_people(
    manifest: Mapping[str, Any], translate: Translate, language: str, measure_titles: Mapping[str, str]
) -> Iterator[Iterator[str]]:
    yield heading(manifest, translate, language)
    yield what_it_holds(manifest, translate)
    yield who_made_it(manifest, translate)
    yield how_it_was_made(manifest, translate)
    yield how_far_they_agree(manifest, translate, measure_titles)
    yield what_is_not_in_it(manifest, translate)


def by_a_jury(manifest: Mapping[str, Any], translate: Translate, language: str) -> Iterator[Iterator[str]]:
    """Says before all else that the labels are of models."""
    yield jury_heading(manifest, translate, language)
    yield what_jury_settled(manifest, translate)
    yield which_jury(manifest, translate)
    yield how_jury_made_it(manifest, translate)
    yield what_jury_left_out(manifest, translate)


def title_line(manifest: Mapping[str, Any], translate: Translate, language: str) -> str:
    title = plain(manifest["project"]["title_zh" if language == "zh" else "title_en"])
    place = {"title": title, "number": manifest["number"]}
    return "# " + translate(gettext_noop("%(title)s, release %(number)s: data card")) % place


def heading(manifest: Mapping[str, Any], translate: Translate, language: str) -> Iterator[str]:
    project = manifest["project"]
    yield title_line(manifest, translate, language)
    yield ""
    if project["is_synthetic"]:
        yield "**" + translate(gettext_noop("The labels are synthetic. They say nothing about people.")) + "**"
    else:
        yield translate(gettext_noop("The labels were given by people; none of them is synthetic."))
    if project["open_lead"]:
        yield ""
        yield "**" + translate(gettext_noop("A lead labels in this project (open lead).")) + "**"


def what_it_holds(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    counts = manifest["counts"]
    yield "## " + translate(gettext_noop("What it holds"))
    yield ""
    said = (
        (gettext_noop("Kind of question: %(it)s"), f"`{manifest['content']['kind']}`"),
        (gettext_noop("Items: %(it)s"), counts["n_items"]),
        (gettext_noop("with a label by majority: %(it)s"), counts["majority"]),
        (gettext_noop("with a label by consensus: %(it)s"), counts["consensus"]),
        (gettext_noop("with a label by a reviewer: %(it)s"), counts["reviewer"]),
        (gettext_noop("unresolved, without a label: %(it)s"), counts["unresolved"]),
        (gettext_noop("items whose votes tie: %(it)s"), counts["n_ties"]),
        (gettext_noop("Labels of annotators it rests on: %(it)s"), counts["n_labels"]),
        (gettext_noop("Languages of the project: %(it)s"), plain(", ".join(manifest["project"]["languages"]))),
    )
    yield from (f"- {translate(words) % {'it': it}}" for words, it in said)


def who_made_it(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    yield "## " + translate(gettext_noop("Who made it"))
    yield ""
    yield translate(gettext_noop("Annotators are known by their codes in the project."))
    yield ""
    for one in manifest["people"]:
        code = {"code": plain(one["annotator"]), "n": one["n_labels"]}
        line = "- " + translate(gettext_noop("%(code)s: %(n)s labels")) % code
        if one["is_partial"]:
            given = {"n_submitted": one["n_submitted"], "n_given": one["n_given"]}
            partial = gettext_noop("left and is partial, %(n_submitted)s of %(n_given)s labels given")
            line += f" ({translate(partial) % given})"
        if one.get("saw_settled"):
            saw = gettext_noop("saw after the project was closed what was settled")
            line += f" ({translate(saw)})"
        yield line


def how_it_was_made(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    content, rule = manifest["content"], manifest["content"]["rule"]
    yield "## " + translate(gettext_noop("How it was made"))
    yield ""
    yield "- " + translate(gettext_noop("Rule: %(it)s")) % {"it": translate(RULES[rule])}
    yield "- " + translate(gettext_noop("Phase: the main phase; practice and pilot are not in it."))
    for one in manifest["rounds"]:
        words = gettext_noop("Round %(number)s (%(purpose)s), blind: %(n)s labels")
        purpose = translate(PURPOSES[one["purpose"]])
        yield "- " + translate(words) % {"number": one["number"], "purpose": purpose, "n": one["n_labels"]}
    number = {"number": manifest["protocol"]["number"], "hash": f"`{content['protocol_hash']}`"}
    yield "- " + translate(gettext_noop("Protocol %(number)s; SHA-256 of guideline and labels: %(hash)s")) % number
    if earlier := manifest.get("earlier_protocols"):
        words = gettext_noop(
            "Labels given under earlier guidelines (protocols %(numbers)s) count where their annotator gave none since."
        )
        yield "- " + translate(words) % {"numbers": ", ".join(map(str, earlier))}
    yield "- " + translate(gettext_noop("Sealed at: %(it)s")) % {"it": manifest["sealed_at"]}


def how_far_they_agree(
    manifest: Mapping[str, Any], translate: Translate, measure_titles: Mapping[str, str]
) -> Iterator[str]:
    yield "## " + translate(gettext_noop("How far they agree"))
    yield ""
    measures = objects(manifest["agreement"].get("measures"))
    if not measures:
        yield translate(gettext_noop("No figures of agreement were sealed with it."))
        return
    yield translate(
        gettext_noop("Before anything was settled, among the labels above; intervals are over clusters of items.")
    )
    for measure in measures:
        panel = mapping(measure.get("agreement"))
        name = str(measure.get("measure"))
        yield ""
        yield "### " + (translate(measure_titles[name]) if name in measure_titles else plain(name))
        yield ""
        yield from figure_table(panel, translate)
    for measure in objects(manifest["agreement"].get("sets")):
        name = str(measure.get("measure"))
        yield ""
        yield "### " + (translate(measure_titles[name]) if name in measure_titles else plain(name))
        yield ""
        yield from set_table(mapping(measure.get("agreement")), translate)
    yield ""
    unit, seed = mapping(measures[0].get("agreement")).get("unit"), mapping(measures[0].get("agreement")).get("seed")
    words = gettext_noop("Clusters: %(unit)s. Seed of the resamples: %(seed)s.")
    yield translate(words) % {"unit": plain(translate(unit)) if isinstance(unit, str) else NONE, "seed": seed}


def figure_table(panel: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    named = [(translate(title), panel.get(name)) for name, title in FIGURES.items()]
    against = translate(gettext_noop("%(code)s against the majority of the others (kappa)"))
    for rater in objects(panel.get("raters")):
        named.append((against % {"code": plain(str(rater.get("rater")))}, rater.get("annotator_vs_majority_kappa")))
    return figures_in_rows(named, translate)


def set_table(agreement: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    """The mean over pairs of people, and each pair."""
    named = [(translate(gettext_noop("mean of all pairs")), agreement.get("mean"))]
    for pair in objects(agreement.get("pairs")):
        named.append((" · ".join(plain(str(pair.get(side))) for side in ("first", "second")), pair.get("agreement")))
    return figures_in_rows(named, translate)


def figures_in_rows(named: Sequence[tuple[str, Any]], translate: Translate) -> Iterator[str]:
    columns = (gettext_noop("figure"), gettext_noop("value"), gettext_noop("interval"), gettext_noop("items"))
    yield table_row(map(translate, columns))
    yield "| --- | --- | --- | --- |"
    for title, found in named:
        figure = mapping(found)
        words = (value_words(figure, translate), interval_words(figure, translate), str(figure.get("n_items", NONE)))
        yield table_row((title, *words))


def table_row(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def objects(value: Any) -> Sequence[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def jury_heading(manifest: Mapping[str, Any], translate: Translate, language: str) -> Iterator[str]:
    yield title_line(manifest, translate, language)
    yield ""
    words = gettext_noop("The labels are of models and not of people. No person gave, checked or settled any of them.")
    yield "**" + translate(words) + "**"
    if manifest["project"]["is_synthetic"]:
        yield ""
        yield translate(gettext_noop("The project is synthetic."))


def what_jury_settled(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    outcomes = manifest["provenance"]["outcomes"]
    yield "## " + translate(gettext_noop("What it holds"))
    yield ""
    said = (
        (gettext_noop("Kind of question: %(it)s"), f"`{manifest['content']['kind']}`"),
        (gettext_noop("Items: %(it)s"), manifest["counts"]["n_items"]),
        (gettext_noop("with a set that the jurors agree on: %(it)s"), outcomes["retained"]),
        (gettext_noop("empty, as the jurors agree: %(it)s"), outcomes["empty"]),
        (gettext_noop("unresolved, as the jurors do not agree: %(it)s"), outcomes["no_agreement"]),
        (gettext_noop("unresolved, as too few jurors said something: %(it)s"), outcomes["too_few_covered"]),
        (gettext_noop("Labels of annotators it rests on: %(it)s"), manifest["counts"]["n_labels"]),
        (gettext_noop("Languages of the project: %(it)s"), plain(", ".join(manifest["project"]["languages"]))),
    )
    yield from (f"- {translate(words) % {'it': it}}" for words, it in said)


def which_jury(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    yield "## " + translate(gettext_noop("Who made it"))
    yield ""
    jury = manifest["provenance"]
    words = gettext_noop(
        "A jury of models: run %(run)s of the judge %(judge)s, version %(version)s; settings %(hash)s."
    )
    yield translate(words) % said_of_run(jury)
    yield ""
    for one in jury["jurors"]:
        words = gettext_noop(
            "Run %(run)s of the judge %(judge)s, version %(version)s: model %(model)s; settings %(hash)s"
        )
        line = "- " + translate(words) % {**said_of_run(one), "model": plain(one["model"])}
        prompts = ", ".join(f"`{each['key']} {each['language']} {each['number']}`" for each in one["prompts"])
        yield line + ("; " + translate(gettext_noop("prompts %(it)s")) % {"it": prompts} if prompts else "")


def said_of_run(one: Mapping[str, Any]) -> dict[str, Any]:
    names = {name: plain(one[name]) for name in ("judge", "version")}
    return {"run": one["run"], **names, "hash": f"`{one['settings_hash']}`"}


def how_jury_made_it(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    yield "## " + translate(gettext_noop("How it was made"))
    yield ""
    yield "- " + translate(gettext_noop("Rule: %(it)s")) % {"it": translate(RULES[manifest["content"]["rule"]])}
    yield "- " + translate(gettext_noop("Phase: the main phase; practice and pilot are not in it."))
    number = {"number": manifest["protocol"]["number"], "hash": f"`{manifest['content']['protocol_hash']}`"}
    yield "- " + translate(gettext_noop("Protocol %(number)s; SHA-256 of guideline and labels: %(hash)s")) % number
    yield "- " + translate(gettext_noop("Sealed at: %(it)s")) % {"it": manifest["sealed_at"]}


def what_jury_left_out(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    losses = manifest["import"]
    yield "## " + translate(gettext_noop("What is not in it, and why"))
    yield ""
    said = (
        (gettext_noop("Items of the main phase that the jury did not judge: %(n)s"), manifest["left_out"]["no_label"]),
        (gettext_noop("Records of trace files that were skipped at import: %(n)s"), losses["records_skipped"]),
        (gettext_noop("Characters U+0000 shown as U+2400 at import: %(n)s"), losses["replaced_nul"]),
    )
    yield from (f"- {translate(words) % {'n': n}}" for words, n in said)
    yield "- " + translate(gettext_noop("Labels of people, practice, pilot and known answers are never in it."))


def what_is_not_in_it(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    left_out, losses = manifest["left_out"], manifest["import"]
    yield "## " + translate(gettext_noop("What is not in it, and why"))
    yield ""
    said = (
        (gettext_noop("Items of the main phase without a label under this protocol: %(n)s"), left_out["no_label"]),
        (gettext_noop("Assignments that ended in a reported problem: %(n)s"), left_out["problem_reported"]),
        (gettext_noop("Labels given under another protocol: %(n)s"), left_out["other_protocol"]),
        (gettext_noop("Labels of informed or sent-back rounds: %(n)s"), left_out["informed"]),
        (gettext_noop("Labels that a later label of the same person replaced: %(n)s"), left_out["replaced"]),
        (gettext_noop("Records of trace files that were skipped at import: %(n)s"), losses["records_skipped"]),
        (gettext_noop("Characters U+0000 shown as U+2400 at import: %(n)s"), losses["replaced_nul"]),
    )
    yield from (f"- {translate(words) % {'n': n}}" for words, n in said)
    yield "- " + translate(gettext_noop("Practice, pilot, known answers and automated raters are never in it."))


def how_to_check(manifest: Mapping[str, Any], translate: Translate) -> Iterator[str]:
    yield "## " + translate(gettext_noop("How to check it"))
    yield ""
    words = gettext_noop("SHA-256 of the content: %(hash)s. It is over the `content` of release.json and labels.jsonl.")
    yield translate(words) % {"hash": f"`{manifest['content_hash']}`"}
