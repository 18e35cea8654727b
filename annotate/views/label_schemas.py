"""What labels say, made by a lead on the page of a new project or a new protocol, where the kind lets them. One post of
the page both saves and redraws: its field `do` asks for a change of the form, and then nothing is saved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from annotate.forms import refuse_unstorable, strings_in
from annotate.kinds.base import LabelError, Schema, TaskKind
from annotate.project_forms import NamesConfirmed
from annotate.traces.base import Problem


@dataclass(frozen=True, slots=True)
class MadeLabels:
    """The labels as they stand on the page. `schema` is None while they are not complete or only drawn again."""

    kind: TaskKind
    editor: Any
    preview: Schema
    schema: Schema | None
    problems: tuple[dict[str, Any], ...]
    is_new: bool


def made_labels(kind: TaskKind | None, post: Mapping[str, str] | None, newest: Schema | None) -> MadeLabels | None:
    """What was posted, or where nothing of it was, what there is; None where the kind's labels are not made."""
    if kind is None or kind.edit_schema is None or kind.read_schema is None or kind.draft_schema is None:
        return None
    begun = newest or kind.schema
    if post is None or post.get("schema_form") != kind.name:
        return MadeLabels(kind, kind.edit_schema(None, begun), begun, None, (), is_new=post is not None)
    editor, schema, problems = kind.edit_schema(post, begun), None, ()
    if not is_drawn_again(post):
        try:
            refuse_unstorable({name: value for name, value in post.items() if isinstance(value, str)})
            schema = kind.read_schema(post, newest)
        except LabelError as error:
            problems = tuple(map(said, error.problems))
    return MadeLabels(kind, editor, kind.draft_schema(post), schema, problems, is_new=False)


def is_drawn_again(post: Mapping[str, str]) -> bool:
    return bool(post.get("do"))


def said(problem: Problem) -> dict[str, Any]:
    """A problem in words, with the id of the field that it stands at."""
    place = (problem.pointer or f"/{problem.field}").strip("/").replace("/", "-")
    return {**problem.as_dict(gettext), "place": place}


def read_names(form: NamesConfirmed, labels: MadeLabels | None, newest: Schema | None) -> None:
    """Have the form look for names of models in the titles too: annotators read them."""
    if labels is not None:
        form.more_texts = strings_in(labels.preview)
        form.more_before = strings_in(newest or labels.kind.schema)
