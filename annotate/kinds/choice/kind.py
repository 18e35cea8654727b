"""A team's own question, set up by a lead on a page: labels, marks, scales and notes. See docs/own-question.md."""

from pathlib import Path

from annotate.kinds.base import TaskKind
from annotate.kinds.choice import editor, export, form, items, label, measures, question, schema, settle, view
from annotate.traces.base import gettext_noop

FOLDER = Path(__file__).parent

KIND = TaskKind(
    name="choice",
    title=gettext_noop("Your own question"),
    schema=question.FIRST,
    shows="requester",
    items=items.items,
    view=view.view,
    parse=label.parse,
    load=label.load,
    dump=label.dump,
    read_form=form.read_form,
    measures=form.read_measures,
    settle=settle.settle,
    same=measures.same,
    distance=measures.distance,
    grade=settle.grade,
    from_finding=settle.from_finding,
    columns=export.COLUMNS,
    rows=export.rows,
    form_template="choice/_form.html",
    summary_template="choice/_summary.html",
    guideline_en=(FOLDER / "guideline_en.md").read_text("utf-8"),
    guideline_zh=(FOLDER / "guideline_zh.md").read_text("utf-8"),
    part_titles=form.part_titles,
    script="choice/choice.js",
    unmeasured=label.UNMEASURED,
    text_title=gettext_noop("The text"),
    keys_template="choice/_keys.html",
    page_title=gettext_noop("Labelling"),
    mark_types=form.mark_types,
    check_schema=schema.check_schema,
    read_schema=editor.read_schema,
    edit_schema=editor.edit_schema,
    draft_schema=editor.draft_schema,
    schema_template="choice/_schema.html",
    describe_schema="choice/_described.html",
)
