"""A question of a lead's own with a part of every type, and answers to it."""


def title(text):
    return {"en": text, "zh": f"{text}（中文）"}


def labels(*ids):
    return [{"id": id, "title": title(id), "key": ""} for id in ids]


def part(id, type, **more):
    return {"id": id, "type": type, "title": title(id), "help": title("how"), "required": False, "when": None, **more}


QUESTION = {
    "judged": "replies",
    "parts": [
        part("tone", "one", required=True, ordered=True, labels=labels("calm", "cross", "angry")),
        part("faults", "several", labels=labels("long", "vague")),
        part("terms", "marks", labels=labels("term", "claim")),
        part("clarity", "scale", lowest=1, highest=5, digits=False, ends=[title("dark"), title("clear")]),
        part("more", "note", key="w", when={"part": "tone", "label": "calm"}),
    ],
    "removed": [{"id": "furious", "title": title("furious")}],
}


def answer_of(new):
    """A label under this question, with what people write in it made by `new`."""
    span = {"start": 0, "end": 4, "type": "term", "quote": new()}
    return {"answers": {"tone": "calm", "faults": ["long"], "clarity": 4}, "notes": {"more": new()}, "spans": [span]}


def with_titles(schema, new):
    """The schema with new texts for all that its lead has written."""
    if isinstance(schema, list):
        return [with_titles(one, new) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if set(schema) == {"en", "zh"}:
        return {language: new() for language in schema}
    return {name: with_titles(value, new) for name, value in schema.items()}


FORM = {
    **{"one.tone": "calm", "several.faults.long": "on", "scale.clarity": "4", "note.more": "why", "spans": "[]"},
    **{"key": "a-fresh-key-0123456789", "protocol": "2", "number": "0", "draft_number": "5"},
}
LABEL = {"answers": {"tone": "angry", "faults": [], "clarity": 1}}
