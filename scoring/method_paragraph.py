"""The paragraph of a paper's methods section that a report makes: its sentences, what they rest on, and the rules."""

from collections.abc import Iterator
from typing import Any

from django.utils import translation
from django.utils.translation import gettext, gettext_noop

from scoring.method_reports import ShownMethod, as_plain
from scoring.method_words import in_unit, reason_words
from scoring.methods.paragraphs import sentences_of
from scoring.methods.tables import UNITS, Method, MethodReport, Row, methods, words_of
from scoring.stats.results import plain
from scoring.words import shown

LANGUAGES = ("en", "zh-hans")
BETWEEN = {"zh-hans": ""}
"""What stands between sentences; a blank where nothing is said."""


def report_json(shown: ShownMethod) -> dict[str, Any]:
    """What page, command and API give as JSON."""
    return {**as_plain(shown), "paragraphs": paragraphs(shown.report, methods()[shown.report.method])}


def paragraphs(report: MethodReport, method: Method) -> dict[str, str]:
    """In both languages, whatever that of the page; none where the method has no sentences."""
    if not method.sentences:
        return {}
    return {language: paragraph(report, method, language) for language in LANGUAGES}


def paragraph(report: MethodReport, method: Method, language: str) -> str:
    with translation.override(language):
        return BETWEEN.get(language, " ").join(said(report, method))


def said(report: MethodReport, method: Method) -> Iterator[str]:
    for one in sentences_of(report, method.sentences, figure_words, gettext):
        yield words_of(one, gettext)
    for note in report.notes:
        yield words_of(note, gettext)
    yield gettext("Intervals are of %(level)s %%, over %(n)s resamples of whole clusters (seed %(seed)s).") % {
        "level": level_of(report),
        "n": report.settings["n_resamples"],
        "seed": report.settings["seed"],
    }
    yield gettext("Settings: %(settings)s.") % {"settings": settings_words(report, method)}


def figure_words(row: Row) -> str:
    """`56.5 % [34.8, 79.2]`, or that it is undefined, and why."""
    value, interval = row.figure.value, row.figure.interval
    if value is None:
        return gettext("undefined (%(reason)s)") % {"reason": reason_words(row.figure.reason).rstrip(".。")}
    words = in_unit(value, row.unit)
    if interval is None:
        return words
    unit = UNITS.get(row.unit, UNITS["mean"])
    low, high = (shown(end * unit.factor, unit.digits) for end in (interval.low, interval.high))
    return f"{words} [{low}, {high}]"


def level_of(report: MethodReport) -> str:
    rows = (row for table in report.tables for row in getattr(table, "rows", ()))
    level = next((row.figure.interval.level for row in rows if row.figure.interval), 0.95)
    return f"{100 * level:g}"


def settings_words(report: MethodReport, method: Method) -> str:
    """Every parameter but those of the resamples, and which differ from the default."""
    return "; ".join(
        f"{one.name} = {value_words(report.settings[one.name])}"
        + ("" if report.settings[one.name] == one.default else gettext(CHANGED) % {"default": value_words(one.default)})
        for one in method.all_parameters()
        if one.name not in ("seed", "n_resamples")
    )


CHANGED = gettext_noop(" (by default %(default)s)")


def value_words(value: Any) -> str:
    return str(plain(value)).lower() if isinstance(value, bool) else str(plain(value))
