"""Questions about the same items, answered from one draw of their clusters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from scoring.stats.intervals import Sampling
from scoring.stats.ratings import Codes
from scoring.stats.resampling import Asked, Clusters, Resamples, group_items, resample_all

Answer = TypeVar("Answer", covariant=True)


class Question(Protocol, Generic[Answer]):
    """What is `asked` of a matrix, and the `answer` that its resamples make."""

    @property
    def asked(self) -> Asked: ...

    def answer(self, resamples: Resamples, sampling: Sampling, *, n_clusters: int, seed: int) -> Answer: ...


@dataclass(frozen=True)
class Drawing:
    """How intervals are made; as with `panel_agreement`."""

    unit: str
    seed: int
    min_clusters: int = 5
    n_resamples: int = 10_000


def answers(
    questions: Sequence[Question[Answer]], clusters: Sequence[Hashable] | None, drawing: Drawing
) -> list[Answer]:
    """Each question is answered as if it had been asked alone; those about the same clusters share their draw."""
    groups = _grouped([one.asked.codes for one in questions], clusters)
    found: dict[int, Answer] = {}
    for group in {id(one): one for one in groups}.values():
        places = [place for place, one in enumerate(groups) if one is group]
        rng = np.random.Generator(np.random.PCG64(drawing.seed))
        asked = [questions[place].asked for place in places]
        sampling = Sampling(
            unit=drawing.unit, min_clusters=drawing.min_clusters, seed=drawing.seed, independent=group.independent
        )
        for place, resamples in zip(
            places, resample_all(asked, group, rng=rng, n_resamples=drawing.n_resamples), strict=True
        ):
            found[place] = questions[place].answer(
                resamples, sampling, n_clusters=group.n_clusters, seed=drawing.seed
            )
    return [found[place] for place in range(len(questions))]


def _grouped(matrices: Sequence[Codes], clusters: Sequence[Hashable] | None) -> list[Clusters]:
    """The clusters of each; the very same where the same items hold a rating, unless each item is its own cluster: then
    they are counted by what was said of them."""
    known: dict[bytes, Clusters] = {}
    found = []
    for codes in matrices:
        rated = (codes >= 0).any(axis=1).tobytes()
        before = known.get(rated)
        if before is None:
            known[rated] = before = group_items(codes, clusters)
            found.append(before)
        else:
            found.append(group_items(codes, None) if before.independent else before)
    return found
