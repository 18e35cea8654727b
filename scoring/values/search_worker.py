"""The program of a search: lines of a report in which a pattern is found, in the child that simulators run in, as a
pattern of an agent may take for ever."""

import json
import re


def prepared(database):
    return None


def refused(input_text):
    return ""


def simulated(state, input_text):
    asked = json.loads(input_text)
    try:
        found_by = re.compile(asked["pattern"])
    except (re.error, RecursionError, OverflowError) as error:
        return {"ok": False, "report": "", "error": str(error)}
    hits, n_all = [], 0
    for number, line in enumerate(asked["report"].split("\n"), 1):
        if found_by.search(line):
            n_all += 1
            if n_all <= asked["most"]:
                hits.append([number, line])
    return {"ok": True, "report": json.dumps({"hits": hits, "n_all": n_all})}
