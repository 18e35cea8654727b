"""What the pages of runs are posted, as values."""

import re
from decimal import Decimal, InvalidOperation
from urllib.parse import urlencode

from annotate.errors import Refused
from annotate.models import Phase
from scoring.asking import BAD_CAP, Cap
from scoring.judges.base import JudgeSpec, SettingField
from scoring.judges.registry import all_judges
from scoring.running import MOST_SAMPLES

WHOLE = re.compile(r"[0-9]{1,18}")


def chosen_from(given) -> dict[str, object]:
    """Judge, endpoint, phases or points, samples and whether recorded answers are used, from a form or the query it
    leads to."""
    samples = given.get("n_samples", "1")
    points = given.get("points", "")
    spec = all_judges().get(given.get("judge", ""))
    return {
        "judge": given.get("judge", ""),
        "endpoint": given.get("endpoint", ""),
        "phases": [phase for phase in given.getlist("phases") if phase in Phase.values],
        "points": (int(points) if WHOLE.fullmatch(points) else 0) if points else None,
        "n_samples": int(samples) if WHOLE.fullmatch(samples) and int(samples) <= MOST_SAMPLES else 0,
        "reuse": given.get("reuse", "yes") == "yes",
        "settings": own_settings(spec, given) if spec else {},
    }


def own_settings(spec: JudgeSpec, given) -> dict[str, object]:
    """Those that were filled in, as the judge reads them; what makes no sense goes to the judge as it is, to be
    refused by name."""
    said = {field.name: given.get(f"set-{field.name}", "").strip() for field in spec.fields}
    return {field.name: value_of(field, said[field.name]) for field in spec.fields if said[field.name]}


def value_of(field: SettingField, word: str) -> object:
    if field.kind == "truth":
        return {"yes": True, "no": False}.get(word, word)
    if field.kind == "wholes":
        parts = [part for part in re.split(r"[\s,，、]+", word) if part]
        return [int(part) if WHOLE.fullmatch(part) else part for part in parts]
    return int(word) if field.kind == "whole" and WHOLE.fullmatch(word) else word


def asked_fields(spec: JudgeSpec, chosen) -> list[dict[str, object]]:
    """The settings of a judge as the page asks for them, with what is chosen."""
    return [
        {"field": field, "name": f"set-{field.name}", "value": word_of(chosen["settings"].get(field.name))}
        for field in spec.fields
    ]


def word_of(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def query_of(chosen) -> str:
    names = ("judge", "endpoint", "phases", "points")
    return urlencode({name: chosen[name] for name in names if chosen[name] is not None}, doseq=True)


def cap_from(posted) -> Cap:
    """The caps that were filled in; Refused where one is no number."""
    calls, tokens, cost = (posted.get(f"cap_{name}", "").strip() for name in ("calls", "tokens", "cost"))
    if any(word and not WHOLE.fullmatch(word) for word in (calls, tokens)):
        raise Refused(BAD_CAP)
    return Cap(int(calls) if calls else None, int(tokens) if tokens else None, money(cost) if cost else None)


def money(word: str) -> Decimal:
    try:
        amount = Decimal(word)
    except InvalidOperation:
        raise Refused(BAD_CAP) from None
    if not amount.is_finite() or len(word) > 20:
        raise Refused(BAD_CAP)
    return amount


