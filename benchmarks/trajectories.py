"""What a long trajectory costs its annotator: `python benchmarks/trajectories.py`.

Trajectories of 100 and of 10,000 messages with 1,000 characters in each result, and one with a result of 5,000,000
characters. Of each the seconds and the statements of the page, taken in turn; of the long ones those of the next part,
of a part of the long result, of a search over everything, and of a submit, which checks the label against all of it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.installations import ROOT, Installation, say
from tests import programs

TIMES = 3.0
LOOKS = 15
SHORT, LONG, BIG = 100, 10_000, 5_000_000


def main(words):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short long one, only to see that it works")
    parser.add_argument("--postgresql", action="store_true", help="on PostgreSQL instead of SQLite")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.inside:
        json.dump(looks(SHORT, 400 if options.quick else LONG, BIG // (50 if options.quick else 1)), sys.stdout)
        return 0
    if options.postgresql:
        with programs.postgresql(say) as url:
            result = measured(options, url)
    else:
        result = measured(options, "")
    print(json.dumps(result) if options.json else "\n".join(f"{name}: {value}" for name, value in result.items()))
    return int(result["page, times the short one"] > TIMES or not result["page, statements the same"])


def measured(options, url):
    with tempfile.TemporaryDirectory(prefix="sightline-measure-") as folder:
        made = Installation(Path(folder), url)
        command = [sys.executable, __file__, "--inside", *(["--quick"] if options.quick else [])]
        environment = made.environment
        for action in (("migrate",), ("collectstatic", "--noinput")):
            subprocess.run([sys.executable, "manage.py", *action, "-v0"], cwd=ROOT, env=environment, check=True)
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)


def looks(n_short, n_long, n_big):
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from annotate import blind
    from tests.factories import make_assignment, make_item, make_member, make_person, make_project, make_trace

    settings.ALLOWED_HOSTS = ["*"]
    project = make_project("measured", kind="redundancy")
    member = make_member(project, make_person("reader"))

    def given(messages):
        item = make_item(trace=make_trace(project, messages), reply=messages[-1].index)
        return make_assignment(member, item).public_id

    short, long = given(trajectory(n_short, 1000)), given(trajectory(n_long, 1000))
    big = given(trajectory(6, n_big))
    client = Client()
    client.force_login(member.person)
    piece = {"HTTP_HX_REQUEST": "true"}

    def page(public_id):
        return client.get(reverse("annotate:label_item", args=[public_id]))

    def entries(public_id, query):
        return client.get(reverse("annotate:show_entries", args=[public_id]) + query, **piece)

    def counted(action):
        with CaptureQueriesContext(connection) as seen:
            answer = action()
        assert answer.status_code == 200, answer.status_code
        return len(seen)

    def seconds(action):
        began = time.perf_counter()
        action()
        return time.perf_counter() - began

    for public_id in (short, long, big):
        page(public_id)
    taken = {public_id: [] for public_id in (short, long, big)}
    for _ in range(LOOKS):
        for public_id, times in taken.items():
            times.append(seconds(lambda asked=public_id: page(asked)))
    pages = {public_id: statistics.median(times) for public_id, times in taken.items()}
    counts = [counted(lambda asked=public_id: page(asked)) for public_id in (short, long, big)]

    def usual(action):
        return round(statistics.median(seconds(action) for _ in range(5)), 4)

    person = member.person
    return {
        f"page of {n_short} messages, seconds": round(pages[short], 4),
        f"page of {n_long} messages, seconds": round(pages[long], 4),
        f"page with a result of {n_big} characters, seconds": round(pages[big], 4),
        "page, times the short one": round(max(pages[long], pages[big]) / pages[short], 2),
        "page, statements": counts[1],
        "page, statements the same": len(set(counts)) == 1,
        "page, bytes of the long one": len(page(long).content),
        "next part from the middle, seconds": usual(lambda: entries(long, f"?from={n_long // 2}")),
        "part of the long result, seconds": usual(lambda: entries(big, f"?text=3&at={n_big // 2}")),
        "search over everything, seconds": usual(lambda: entries(long, "?q=nowhere")),
        "all that a submit is checked against, seconds": usual(lambda: blind.open_assignment(person, long).shown()),
    }


def trajectory(n_messages, n_characters):
    from annotate.traces.base import Answered, Call, Message

    said = [Message(0, "system", "Refunds need a manager."), Message(1, "user", "Cancel them all.")]
    for index in range(2, n_messages - 1, 2):
        said.append(Message(index, "assistant", "", calls=(Call("", "get_order", json.dumps({"id": index})),)))
        text = f"{index} " + "x" * n_characters
        said.append(Message(index + 1, "tool", text[:n_characters], answers=Answered(index, 0)))
    return said


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
