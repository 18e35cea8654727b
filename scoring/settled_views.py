"""What the judge says of an item, beside what a reviewer stored of it: nowhere before, and nothing of a run, a time or
a model here. That it was looked at is kept with the settlement."""

from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from annotate import reviewing
from annotate.rules.lanes import laned
from annotate.views.label import own, start_in, trace_shown
from annotate.views.settling import addresses_of, next_address, shared
from scoring import item_queries
from scoring.item_views import judge_title, marks_of


@require_safe
@own
def settled_verdict(request, project, disagreement_id):
    """The newest verdict of each judge. The one 404 for whoever has not stored a settlement of their own."""
    card = reviewing.uncover_verdict(
        person=request.user, slug=project, public_id=disagreement_id, now=timezone.now()
    )
    part = reviewing.part_of(request.user, project)
    newest: dict[str, item_queries.SaidOfItem] = {}
    for one in item_queries.verdicts_of_item(card.item_id):
        newest.setdefault(one.judge, one)
    verdicts = [(judge_title(name), one) for name, one in newest.items()]
    own_spans = (card.current.label or {}).get("spans") or () if card.current else ()
    marks = marks_of(gettext("settled"), own_spans)
    marks += [mark for title, one in verdicts for mark in marks_of(title, one.spans)]
    urls = addresses_of(part.project.slug, card.public_id, {})
    context = {
        **shared(part),
        **trace_shown(card.item, urls["entries"], start_in(request.GET)),
        "card": card,
        "item": card.item,
        "reply": laned(card.item.pieces, marks, card.item.kind.looks([card.schema])),
        "who": list(dict.fromkeys(mark.who for mark in marks)),
        "verdicts": verdicts,
        "urls": urls,
        "next": next_address(part.project, card.public_id, {}),
    }
    return render(request, "scoring/settled_verdict.html", context)
