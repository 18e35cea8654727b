"""Bytes in, traces and problems out: what the tests of the readers share."""

import io
import json
import os
from pathlib import Path

from annotate.traces.base import Problem, Trace
from annotate.traces.reading import Reading

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("SIGHTLINE_SHARED") or ROOT.parent / "shared")
FIXTURES = ROOT / "fixtures" / "traces"


def record(id_="t1", messages=None, **members):
    """A valid record of our own format."""
    default = [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "ok"}]
    return {"id": id_, "messages": default if messages is None else messages, **members}


def line(value):
    return json.dumps(value, ensure_ascii=False).encode()


def lines(*values):
    return b"\n".join(map(line, values)) + b"\n"


def read(content, **options):
    """Traces, problems that refuse, and warnings."""
    file = content if hasattr(content, "read") else io.BytesIO(content)
    found = list(Reading(file, file_name="x.jsonl", **options))
    problems = [one for one in found if isinstance(one, Problem)]
    return (
        [one for one in found if isinstance(one, Trace)],
        [problem for problem in problems if not problem.warning],
        [problem for problem in problems if problem.warning],
    )


def refusal(content, **options):
    """The one problem that refuses a file."""
    _, (problem,), _ = read(content, **options)
    return problem
