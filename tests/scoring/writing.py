"""Runs that wrote texts at points, as the judges that write leave them."""

from annotate.models import Item
from annotate.traces import base
from scoring.models import Judge, Run
from tests.factories import make_run, make_trace, make_verdict

LONG = (
    base.Message(0, "system", "You are an assistant."),
    base.Message(1, "user", "How far are we?"),
    base.Message(2, "assistant", "", calls=(base.Call("c", "look", "{}"),)),
    base.Message(3, "tool", "12 of 40 runs", answers=base.Answered(2, 0)),
    base.Message(4, "assistant", "12 of 40."),
    base.Message(5, "user", "And now?"),
    base.Message(6, "tool", "20 of 40 runs"),
    base.Message(7, "assistant", "Half of it."),
    base.Message(8, "user", "Go on."),
    base.Message(9, "assistant", "Done."),
)
FILES = (base.File("plan.md", "Forty runs.", 0), base.File("late.md", "Later.", 8))


def make_points(project, n=1, **trace):
    """So many collaborations of three replies, of which the first two are points; their items."""
    items = []
    for number in range(n):
        told = {"metadata": {"model": f"m{number}", "success": True}, "area": "library", **trace}
        row = make_trace(project, LONG, files=FILES, **told)
        items += [
            Item.objects.create(project=project, trace=row, anchor=anchor, cluster=row.cluster)
            for anchor in (4, 7, 9)
        ]
    return [item for item in items if item.anchor != 9]


def make_written(project, items, condition="default", *, judge=None, n_samples=1, text=None, **settings) -> Run:
    """A run of the writer under a condition, or of the rewriter, with a text for each of these items."""
    name = judge or ("rewriter" if condition == "rewrite" else "writer")
    settings |= {"condition": condition} if name == "writer" else {}
    run = make_run(project, name, n_samples=n_samples)
    row, _ = Judge.objects.get_or_create(
        project=project, name=name, settings_hash=f"{condition}{settings}"[:64], defaults={"settings": settings}
    )
    Run.objects.filter(pk=run.pk).update(judge=row)
    for item in items:
        for sample in range(n_samples):
            words = f"{condition} of {item.pk}, {sample}." if text is None else text
            make_verdict(run, item, None, sample=sample, finding={"values": {"text": words}, "spans": []})
    return Run.objects.select_related("judge").get(pk=run.pk)
