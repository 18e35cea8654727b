"""What the crawl asks the API: whom its addresses serve, what stands in the place of their arguments, what is sent."""

from tests.guards.questions import LABEL as OWN_LABEL

ABSENT = "neverwas-Any_thing-1"
SPACE = "annotate:api:"

API_AUDIENCE = {
    **{f"{SPACE}{name}": "nobody" for name in ("nothing", "absent")},
    f"{SPACE}own_projects": "everybody with a token",
    f"{SPACE}schema": "every lead",
    **{f"{SPACE}{name}": "members" for name in ("next_item", "last_answer", "guideline")},
    **{f"{SPACE}{name}": "whose assignment it is" for name in ("item", "draft", "annotations", "problem")},
    **{f"{SPACE}{name}": "whose assignment it is" for name in ("thread", "gap")},
    **{f"{SPACE}{name}": "leads" for name in ("project", "people", "member", "invites", "imports", "import")},
    **{f"{SPACE}{name}": "leads" for name in ("items", "protocols", "events")},
    **{f"{SPACE}{name}": "leads" for name in ("rounds", "round", "gaps", "settled_gaps", "pass_rule", "close")},
    **{f"{SPACE}{name}": "reviewers" for name in ("disagreements", "disagreement", "settlements", "send_back")},
    **{f"{SPACE}{name}": "leads" for name in ("subsets", "known_answers")},
    **{f"scoring:{name}": "leads" for name in ("api_agreement", "api_overlap_rule", "api_method_report")},
    **{f"scoring:{name}": "leads" for name in ("api_runs", "api_run", "api_estimate", "api_points")},
    "scoring:api_predictions": "leads",
    **{f"scoring:{name}": "leads" for name in ("api_outcomes", "api_workflows")},
    **{f"scoring:{name}": "leads" for name in ("api_releases", "api_release", "api_release_items")},
}
API_QUERIES = ("limit=1", "limit=1&cursor=1", "action=done", "measure=fail&protocol=1", "file_name=runs&skip_bad=1")
API_QUERIES += ("judge=reader&endpoint=small&n_samples=2",)


def api_values_of(world):
    """What stands in the place of arguments that only the API has."""
    member = {"ben": ("ben", "second"), "zoe": ("zoe", "second")}
    return {
        "code": {
            **{who: world.assignments[one].annotator.code for who, one in member.items()},
            **{"absent": ABSENT, "other letters": "%C3%A9", "NUL": "a%00b"},
        },
        "rest": {"version": "v1/", "absent": f"v1/{ABSENT}/", "NUL": "v1/a%00b", "later": "v2/projects/"},
    }


def api_bodies_of(world, key_of):
    """The JSON that is sent, by the name of its address: what it takes, and what breaks it."""
    answer = {"key": "a-fresh-key-0123456789", "protocol": 2, "label": {"label": "readable"}}
    span = {"start": 0, "end": 4, "type": "definition", "quote": "nope"}
    needy = {"label": "needs_information", "spans": [span]}
    draft = {"number": 0, "draft_number": 9, "fields": {"label": "readable", "comment": "so far"}}
    protocol = {"guideline_en": "Read.", "guideline_zh": "读。", "change_note": "new", "after": 2}
    wrong = {"nothing": {}, "a field that there is not": {"trace": 1, "expand": "item.trace"}}
    trace = {"format": "sightline/1", "id": "r", "messages": [{"role": "user", "text": "?"}]}
    settled = {"key": "a-fresh-key-0123456789", "base": 2, "seen": "x" * 32, "cause": "slip", "confidence": "high"}
    post = {"key": "a-fresh-key-0123456789", "text": "It lacks the unit."}
    sent = {"key": "a-fresh-key-0123456789", "seen": "x" * 32, "names": ["A"], "reason": "Look again."}
    bodies = {
        "annotations": {
            "an answer": answer,
            "an answer to a question of their own": {**answer, "label": OWN_LABEL},
            "an answer that is none there": {**answer, "label": {"answers": {"tone": "furious"}}},
            "a correction": {**answer, "number": 1, "reason": "because"},
            "a correction without a reason": {**answer, "number": 1},
            "a correction of a correction": {**answer, "number": 2, "reason": "because"},
            "no protocol": {**answer, "protocol": 99},
            "a wrong quote": {**answer, "label": needy},
            "a span beyond the end": {**answer, "label": {**needy, "spans": [{**span, "end": 10**9}]}},
            "no label": {**answer, "label": {}},
            "numbers that are none": {**answer, "number": "1", "raw_ms": -1},
            "the key of an own answer": {**answer, "key": key_of(world.assignments["ana", "first"])},
            "the key of an own practice item": {**answer, "key": key_of(world.assignments["ana", "practice"])},
            "the key of ben's answer": {**answer, "key": key_of(world.assignments["ben", "first"])},
            **wrong,
        },
        "draft": {
            "a draft": draft,
            "a draft of a correction": {**draft, "number": 1},
            "a late draft": {**draft, "draft_number": 0},
            "no texts": {**draft, "fields": {"comment": [1]}},
            **wrong,
        },
        "problem": {"words": {"text": "It is cut off."}, **wrong},
        "thread": {
            "words": post,
            "the key of ben's answer": {**post, "key": key_of(world.assignments["ben", "first"])},
            "the key of an own post": {**post, "key": world.posts["ana"].key},
            "the key of ben's post": {**post, "key": world.posts["ben"].key},
            "no words": {**post, "text": " "},
            **wrong,
        },
        "gap": {
            "words": {**post, "protocol": 1},
            "no protocol": {**post, "protocol": 99},
            "the key of another post": {**post, "protocol": 1, "key": world.posts["ana"].key},
            **wrong,
        },
        "rounds": {"a choice": {"which": "all"}, "no choice": {"which": "some"}, **wrong},
        "known_answers": {
            "labels": {"labels": {"a": []}, "base": 1, "name": "elsewhere"},
            "no object": {"labels": []},
            **wrong,
        },
        "subsets": {
            "numbers": {"n_common": 1, "n_unique": 0},
            "a code of others": {"n_common": 1, "n_unique": 0, "people": [ABSENT]},
            "numbers that are none": {"n_common": -1, "n_unique": "1"},
            **wrong,
        },
        "round": {"withdraw": {"state": "closed", "rest": "withdraw"}, "go on": {"state": "closed"}, **wrong},
        "pass_rule": {
            "a rule": {"last": 2, "percent": 80},
            "half a rule": {"last": 2, "percent": None},
            "the end": {"last": None, "percent": None},
            **wrong,
        },
        "close": {
            "knowingly": {"show_settled": True, "knowingly": True},
            "unknowingly": {"show_settled": True},
            **wrong,
        },
        "send_back": {
            "a reason": sent,
            "a letter that is none": {**sent, "names": ["Q"]},
            "no reason": {**sent, "reason": ""},
            "the key of what was sent": {**sent, "key": world.sent_back.sent_back.key},
            **wrong,
        },
        "project": {
            "a change": {"show": "plain", "open_lead": True},
            "a phase": {"open_phase": "practice"},
            "a language": {"languages": ["en"]},
            **wrong,
        },
        "member": {"pause": {"paused": True}, "end": {"left": True}, "languages": {"languages": ["fr"]}, **wrong},
        "invites": {"a link": {"role": "annotator", "languages": ["en"]}, "no role": {"role": "owner"}, **wrong},
        "protocols": {"the next": protocol, "late": {**protocol, "after": 1}, **wrong},
        "imports": {"a trace": trace, "no trace": {}},
        "settlements": {
            "an answer": {**settled, "answer": "A"},
            "a label": {**settled, "label": {"label": "readable"}},
            "a wrong label": {**settled, "label": needy},
            "unresolved": settled,
            "settled meanwhile": {**settled, "base": 0},
            "no cause": {**settled, "cause": "x"},
            "both": {**settled, "answer": "A", "label": {}},
            **wrong,
        },
    }
    releases = {"a rule": {"rule": "consensus"}, "no rule": {"rule": "best"}, "no protocol": {"protocol": 99}, **wrong}
    runs = {"a judge": {"judge": "lexical", "phases": ["main"]}, "nobody": {"judge": "nobody"}, **wrong}
    of_scoring = {"scoring:api_releases": releases, "scoring:api_runs": runs}
    overlap = {"measure": "fail", "under": 0.8, "at_most": 5, "each": "item"}
    of_scoring["scoring:api_points"] = {"a quota": {"quota": 2, "seed": 1}, "none": {"quota": 0}, **wrong}
    outcome = {"domain": "a", "task": "t", "repeat": 1, "condition": "none", "success": True, "tokens": 9}
    of_scoring["scoring:api_outcomes"] = {"one": {"outcomes": [outcome]}, "none": {"outcomes": [1]}, **wrong}
    rules = {"a rule": overlap, "a rule of a question": {**overlap, "measure": "tone"}}
    of_scoring["scoring:api_overlap_rule"] = {**rules, "the end": dict.fromkeys(overlap), **wrong}
    of_scoring["scoring:api_run"] = {"held": {"state": "paused"}, "no state": {"state": "done"}, **wrong}
    return {**{f"{SPACE}{name}": these for name, these in bodies.items()}, **of_scoring}
