"""Finding redundant steps: which tool interactions of a completed trajectory cost something and added nothing? See
docs/redundant-steps.md."""

from pathlib import Path

from annotate.kinds.base import TaskKind
from annotate.kinds.redundancy import contract, export, form, items, label, measures, schema, settle, suggest, view
from annotate.traces.base import gettext_noop

FOLDER = Path(__file__).parent

KIND = TaskKind(
    name="redundancy",
    title=gettext_noop("Redundant steps of trajectories"),
    schema=schema.SCHEMA,
    shows="whole",
    items=items.items,
    view=view.view,
    parse=label.parse,
    load=label.load,
    dump=label.dump,
    read_form=form.read_form,
    measures=measures.measures,
    sets=measures.sets,
    check=contract.check,
    suggest=suggest.suggest,
    settle=settle.settle,
    same=measures.same,
    distance=measures.distance,
    grade=settle.grade,
    from_finding=settle.from_finding,
    columns=export.COLUMNS,
    rows=export.rows,
    form_template="redundancy/_form.html",
    summary_template="redundancy/_summary.html",
    guideline_en=(FOLDER / "guideline_en.md").read_text("utf-8"),
    guideline_zh=(FOLDER / "guideline_zh.md").read_text("utf-8"),
    part_titles=settle.part_titles,
    unmeasured=label.UNMEASURED,
    text_title=gettext_noop("The trajectory"),
    keys_template="redundancy/_keys.html",
    check_schema=schema.check_schema,
)
