"""Finding redundant steps: which tool interactions of a completed trajectory cost something and added nothing? See
docs/redundant-steps.md."""

from pathlib import Path

from annotate.kinds.base import TaskKind
from annotate.kinds.redundancy import (
    align,
    contract,
    editor,
    exchange,
    export,
    form,
    items,
    label,
    measures,
    schema,
    settle,
    suggest,
    view,
)
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
    exchange=exchange.EXCHANGE,
    settle=settle.settle,
    align=align.align,
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
    script="redundancy/redundancy.js",
    keys_template="redundancy/_keys.html",
    check_schema=schema.check_schema,
    read_schema=editor.read_schema,
    edit_schema=editor.edit_schema,
    draft_schema=editor.draft_schema,
    schema_template="redundancy/_schema.html",
    describe_schema="redundancy/_described.html",
)
