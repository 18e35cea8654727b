"""What a reader and a checker would say of items, as Findings are stored, for tests of what rests on them."""

from tests.factories import make_run, make_verdict


def question(about="", text="", *, start=None, is_gap=True, **values):
    """A question about words of the reply, where they first stand unless a start is said."""
    if start is None:
        start = text.index(about) if about in text else None
    end = None if start is None else start + len(about)
    told = {"origin": "model", "question": f"What is {about}?", "type": "reference", "about": about, "removed": ""}
    told |= {"start": start, "end": end, "answer": "NOT_IN_TEXT", "quote": "", "scope": "none"}
    told |= {"quote_verified": False, "quote_start": None, "quote_end": None, "quote_in": None, "is_gap": is_gap}
    return {**told, **values}


def answered(about, text, quote, *, scope="context", place=0, start=0, **values):
    """A question that a quote answers."""
    told = {"answer": f"It is {quote}", "quote": quote, "scope": scope, "quote_verified": True, "quote_in": place}
    told |= {"quote_start": start, "quote_end": start + len(quote)}
    return question(about, text, is_gap=False, **{**told, **values})


def reading(*questions, no_answer=False, language=False, unchecked=None, **values):
    """The Finding of a reader, as a verdict keeps it."""
    gaps = [one for one in questions if one["is_gap"]]
    failed = bool(gaps or no_answer or language)
    verdict = {"failed": failed, "failed_without_quote_check": failed if unchecked is None else unchecked}
    verdict |= {"fail_gap": bool(gaps), "fail_language": language, "fail_answer": no_answer}
    told = {"verdict": verdict, "questions": list(questions), "n_gaps": len(gaps), "answer_needed": True}
    told |= {"answer_quote": "NONE" if no_answer else "The first one", "answer_verified": not no_answer}
    told |= {"requester_language": "en", "reply_language": "zh" if language else "en"}
    told |= {"han_characters": 0, "latin_words": 5, "flags": []}
    spans = [
        {"start": one["start"], "end": one["end"], "type": one["type"], "quote": one["about"]} for one in gaps
    ]
    return {"values": {**told, **values}, "spans": spans}


def make_reading(run, item, *questions, **values):
    """A verdict of a reader run, with the label that its Finding makes."""
    finding = reading(*questions, **values)
    label = {"label": "readable", "states_no_result": False, "spans": [], "comment": ""}
    if finding["values"]["verdict"]["failed"]:
        no_answer = finding["values"]["verdict"]["fail_answer"]
        name = "needs_information" if finding["spans"] else "unrepairable_or_no_answer"
        label |= {"label": name, "states_no_result": no_answer, "spans": finding["spans"]}
    return make_verdict(run, item, label, finding=finding)


def make_checking(run, item, *, errors=(), omissions=(), downplayed=()):
    lists = {"errors": list(errors), "omissions": list(omissions), "downplayed": list(downplayed)}
    values = {**lists, "record_characters": 100, "record_cut": False}
    return make_verdict(run, item, None, finding={"values": values, "spans": []})


def make_unreadable(run, item, answer="{"):
    finding = {"values": {}, "spans": [], "unreadable": answer}
    return make_verdict(run, item, None, finding=finding, is_unreadable=True)


def reader_run(project, **fields):
    return make_run(project, "reader", **fields)


def checker_run(project, **fields):
    return make_run(project, "checker", **fields)
