"""Gap categories: what was the requester missing? See docs/gaps.md."""

from pathlib import Path

from annotate.kinds.base import TaskKind
from annotate.kinds.gap import export, form, items, label, measures, settle, view
from annotate.traces.base import gettext_noop

FOLDER = Path(__file__).parent

KIND = TaskKind(
    name="gap",
    title=gettext_noop("Gap categories"),
    schema=label.SCHEMA,
    shows="text",
    items=items.items,
    view=view.view,
    ask=view.ask,
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
    form_template="gap/_form.html",
    summary_template="gap/_summary.html",
    guideline_en=(FOLDER / "guideline_en.md").read_text("utf-8"),
    guideline_zh=(FOLDER / "guideline_zh.md").read_text("utf-8"),
    part_titles=settle.part_titles,
    unmeasured=label.UNMEASURED,
    text_title=gettext_noop("Around the words in question"),
    keys_template="gap/_keys.html",
)
