"""Reply reading: is what the agent handed back usable for the person who asked? See docs/methods.md."""

from pathlib import Path

from annotate.kinds.base import TaskKind
from annotate.kinds.reply import export, form, items, label, measures, settle, view
from annotate.traces.base import gettext_noop

FOLDER = Path(__file__).parent

KIND = TaskKind(
    name="reply",
    title=gettext_noop("Reply reading"),
    schema=label.SCHEMA,
    shows="requester",
    items=items.items,
    view=view.view,
    parse=label.parse,
    load=label.load,
    dump=label.dump,
    read_form=form.read_form,
    measures=measures.measures,
    settle=settle.settle,
    same=measures.same,
    distance=measures.distance,
    grade=settle.grade,
    from_finding=settle.from_finding,
    columns=export.COLUMNS,
    rows=export.rows,
    form_template="reply/_form.html",
    summary_template="reply/_summary.html",
    guideline_en=(FOLDER / "guideline_en.md").read_text("utf-8"),
    guideline_zh=(FOLDER / "guideline_zh.md").read_text("utf-8"),
    part_titles=settle.part_titles,
    script="reply/reply.js",
    unmeasured=label.UNMEASURED,
    keys_template="reply/_keys.html",
)
