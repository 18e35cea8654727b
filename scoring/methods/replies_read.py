"""The texts of a file of records with everything that was said of each, as the figures need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.methods.records import Record, Records
from scoring.methods.replies_schema import READABLE, by_target
from scoring.methods.tables import Asked, By, Words
from scoring.stats.ratings import MISSING, Codes
from scoring.stats.sums import Summed

Mask = npt.NDArray[np.bool_]
PASS, FAIL = 0, 1


@dataclass(frozen=True, eq=False)
class Text:
    """A reply, or a text written for a point. `judgment` is the reader's first; `failed` its verdict, None where there
    is none or it is an error."""

    values: Mapping[str, Any]
    collaboration: Record
    judgment: Record | None
    judgments: tuple[Record, ...]
    failed: bool | None
    gaps: tuple[Record, ...] = ()
    annotations: tuple[Record, ...] = ()
    check: Record | None = None
    """What the checker said, where it answered."""
    check_is_error: bool = False

    @property
    def cluster(self) -> str:
        """What it is resampled with."""
        return str(self.collaboration["cluster"] or self.collaboration["id"])

    @property
    def n_gaps(self) -> int:
        """Of a judged text."""
        return int(self.judgment["n_gaps"]) if self.judgment and self.judgment["n_gaps"] is not None else 0

    @property
    def is_error(self) -> bool:
        return self.judgment is not None and self.judgment["status"] == "error"

    def said(self, name: str) -> bool:
        return bool(self.judgment and self.judgment[name])


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts in the order of the file, and what is asked of them item by item."""

    all: Sequence[Text]
    clusters: list[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "clusters", [one.cluster for one in self.all])

    def where(self, is_so: Callable[[Text], Any]) -> Mask:
        return np.array([bool(is_so(one)) for one in self.all], dtype=bool)

    def numbers(self, value: Callable[[Text], float]) -> npt.NDArray[np.float64]:
        return np.array([value(one) for one in self.all], dtype=float)

    def only(self, is_so: Callable[[Text], Any]) -> Texts:
        return Texts([one for one in self.all if is_so(one)])

    def of_arm(self, arm: str) -> Texts:
        """Of written texts those of one condition."""
        return self.only(lambda one: one.values["condition"] == arm)

    @property
    def judged(self) -> Mask:
        return self.where(lambda one: one.failed is not None)

    @property
    def failed(self) -> Mask:
        return self.where(lambda one: one.failed)

    @property
    def n_errors(self) -> int:
        return int(self.where(lambda one: one.is_error).sum())

    @property
    def n_collaborations(self) -> int:
        return len({one.collaboration["id"] for one in self.all})

    def asked(
        self, metric: str, name: Words, statistic: Summed, denominator: Words, by: By = (), unit: str = "share"
    ) -> Asked:
        return Asked(metric, name, statistic, self.clusters, denominator, by, unit)

    def annotators(self) -> list[str]:
        return sorted({annotation["annotator"] for one in self.all for annotation in one.annotations})

    def labels(self, code: Callable[[Record], int]) -> Codes:
        """(n_texts, n_annotators) what everybody said, MISSING where nobody did."""
        place = {name: number for number, name in enumerate(self.annotators())}
        codes = np.full((len(self.all), len(place)), MISSING, dtype=np.int64)
        for row, one in enumerate(self.all):
            for annotation in one.annotations:
                codes[row, place[annotation["annotator"]]] = code(annotation)
        return codes


def fails(annotation: Record) -> int:
    return PASS if annotation["label"] == READABLE else FAIL


def texts_of(records: Records, settings: Mapping[str, Any]) -> tuple[Texts, Texts]:
    """The replies, and the written texts."""
    judgments, gaps = by_target(records["judgment"]), by_target(records["gap"])
    annotations, checks = by_target(records["annotation"]), by_target(records["check"])
    homes = {one["id"]: one for one in records["collaboration"]}

    def text(record: Record) -> Text:
        name = record["id"]
        said = sorted(judgments.get(name, []), key=lambda one: one["judgment_index"] or 1)
        check = next(iter(checks.get(name, [])), None)
        return Text(
            values=record.values,
            collaboration=homes[record["collaboration"]],
            judgment=said[0] if said else None,
            judgments=tuple(said),
            failed=verdict(said[0], quotes_are_checked=settings["quote_check"]) if said else None,
            gaps=tuple(gaps.get(name, ())),
            annotations=tuple(annotations.get(name, ())),
            check=check if check and check["status"] == "ok" else None,
            check_is_error=check is not None and check["status"] == "error",
        )

    return Texts([text(one) for one in records["reply"]]), Texts([text(one) for one in records["written"]])


def verdict(judgment: Record, *, quotes_are_checked: bool = True) -> bool | None:
    """Whether the reader fails the text; None where it gave no answer."""
    if judgment["status"] == "error":
        return None
    if not quotes_are_checked and judgment["failed_without_quote_check"] is not None:
        return bool(judgment["failed_without_quote_check"])
    return bool(judgment["n_gaps"] or judgment["fail_language"] or judgment["fail_answer"])


@dataclass(frozen=True, eq=False)
class Panel:
    """The majority of people on every text: PASS, FAIL, or MISSING where fewer than `min_panel` voted, or where they
    tie and ties are left out."""

    n_votes: npt.NDArray[np.int64]
    n_fail: npt.NDArray[np.int64]
    min_panel: int

    @property
    def enough(self) -> Mask:
        mask: Mask = self.n_votes >= self.min_panel
        return mask

    @property
    def tied(self) -> Mask:
        mask: Mask = self.enough & (2 * self.n_fail == self.n_votes)
        return mask

    def majority(self, ties: str) -> npt.NDArray[np.int64]:
        """`ties`: `fail`, `pass` or `exclude`."""
        said = np.where(2 * self.n_fail > self.n_votes, FAIL, PASS)
        said = np.where(self.tied, {"fail": FAIL, "pass": PASS, "exclude": MISSING}[ties], said)
        return np.where(self.enough, said, MISSING)


def panel_of(texts: Texts, settings: Mapping[str, Any]) -> Panel:
    codes = texts.labels(fails)
    return Panel((codes >= 0).sum(axis=1), (codes == FAIL).sum(axis=1), settings["min_panel"])
