"""Whether a prompt was made with an item before its eyes: then how well it judges that item says nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from annotate.rules.language import HAN
from annotate.rules.normal_form import normal_form
from annotate.rules.windows import sentence_ends

SHORTEST, SHORTEST_HAN = 40, 15
"""Characters of a sentence that no two texts have by chance."""


def is_quoted(text: str, prompts: Sequence[str]) -> bool:
    """Whether a sentence of a text, long enough to tell, stands in one of the prompts."""
    forms = [normal_form(prompt).text for prompt in prompts]
    return any(sentence in form for sentence in telling(sentences(text)) for form in forms)


def sentences(text: str) -> Iterator[str]:
    start = 0
    for end in (*sentence_ends(text), len(text)):
        yield normal_form(text[start:end]).text
        start = end


def telling(forms: Iterable[str]) -> Iterator[str]:
    return (form for form in forms if len(form) >= (SHORTEST_HAN if HAN.search(form) else SHORTEST))
