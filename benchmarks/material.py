"""Collaborations to measure with, in our own JSON lines: each two replies of 2,000 characters and what led to them."""

import json
import random

from tests.answers import OPENING

REPLIES = 2
REPLY_CHARACTERS = 2000

WORDS = [
    *("the", "a", "this", "that", "file", "table", "report", "column", "value", "change", "result", "before", "after"),
    *("with", "without", "under", "between", "every", "second", "customer", "order", "invoice", "region", "quarter"),
    *("average", "total", "missing", "checked", "compared", "moved", "kept", '"quoted"', "it's", "A&B", "x<y"),
]


def write(path, n_traces):
    """The same file for the same number, one collaboration a line."""
    rng = random.Random(n_traces)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_traces):
            print(json.dumps(collaboration(number, rng)), file=file)


def collaboration(number, rng):
    """Private work (instructions, a call, its result) stands between what the requester sees."""
    return {
        "id": f"run-{number:06}",
        "language": "en",
        "meta": {"model": "invented"},
        "messages": [
            {"role": "system", "text": sentences(rng, 200)},
            {"role": "user", "text": sentences(rng, 300)},
            {"role": "assistant", "text": "", "calls": [{"id": "c1", "name": "read", "arguments": {"row": number}}]},
            {"role": "tool", "answers": "c1", "text": sentences(rng, 600)},
            {"role": "assistant", "text": reply(rng)},
            {"role": "user", "text": sentences(rng, 150)},
            {"role": "assistant", "text": "", "calls": [{"id": "c2", "name": "write", "arguments": {"row": number}}]},
            {"role": "tool", "answers": "c2", "text": sentences(rng, 200)},
            {"role": "assistant", "text": reply(rng)},
        ],
    }


def reply(rng):
    """Paragraphs, a heading, a list, code and a table: what replies are made of, so that styling them costs as much."""
    parts = [
        f"{OPENING}: {sentences(rng, 300)}",
        f"## {sentences(rng, 30)}",
        *(f"- **{rng.choice(WORDS)}** {sentences(rng, 90)} `{rng.choice(WORDS)}`" for _ in range(4)),
        f"```\n{sentences(rng, 120)}\n```",
        *(f"| {rng.choice(WORDS)} | {rng.randrange(10_000)} |" for _ in range(6)),
        sentences(rng, REPLY_CHARACTERS),
    ]
    return "\n".join(parts)[:REPLY_CHARACTERS]


def sentences(rng, n_characters):
    words = rng.choices(WORDS, k=n_characters // 4 + 4)
    return " ".join(words)[:n_characters].strip() or "so"
