"""`./run test`: every check and test in groups, each with what it needs started for it, and one count at the end.

With arguments it is one run of pytest with them. Two arguments are ours: `--no-install`, and `--postgresql`, which
gives such a run that database instead of SQLite.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests import programs

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest"]
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PROCESSES = min(os.cpu_count() or 1, 4)
"""Tests are spread over so many, each with a database of its own; a browser is one user of both cores already."""
GROUP_SECONDS = 30 * 60  # a test that hangs must not hold the others up for ever


@dataclass(frozen=True)
class Count:
    """What became of a group; `missing` says why all of it was left out, if it was."""

    group: str
    passed: int = 0
    failed: int = 0
    left_out: int = 0
    missing: str = ""

    def __str__(self):
        return f"{self.group} {self.passed} passed, {self.failed} failed, {self.left_out} left out"


def main(words):
    for number in ENDING:
        signal.signal(number, end)
    ours = {word for word in words if word in {"--no-install", "--postgresql"}}
    words = [word for word in words if word not in ours]
    programs.install_missing("--no-install" not in ours, say)
    with tempfile.TemporaryDirectory(prefix="sightline-test-") as folder:
        environment = clean_environment(Path(folder))
        if words or "--postgresql" in ours:
            return run_pytest(words, environment, "--postgresql" in ours)
        return run_groups(environment)


def end(number, frame):
    for ending in ENDING:
        signal.signal(ending, signal.SIG_IGN)  # a second Ctrl+C must not leave a server behind
    raise SystemExit(128 + number)


def say(text):
    print(text, flush=True)


def clean_environment(folder):
    """Tests neither read nor write what a person at this desk has set up."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in {"SIGHTLINE_SHARED", "SIGHTLINE_CHROMIUM"}
        or not name.startswith(("SIGHTLINE_", "DATABASE_URL", "DJANGO_", "PYTEST_", "LLM_"))
    }
    ours = {"SIGHTLINE_DATA": str(folder / "data"), "SIGHTLINE_COUNTS": str(folder / "counts.json")}
    (folder / "data").mkdir()
    return kept | ours | {"SIGHTLINE_CHROMIUM": programs.chromium() or ""}


# Chosen tests


def run_pytest(words, environment, on_postgresql):
    if not programs.chromium():
        say(f"Browser tests are left out: {programs.PROGRAMS['chromium'].remedy}")
        words = ["-m", "not browser", *words]
    with contextlib.ExitStack() as stack:
        if on_postgresql:
            url = stack.enter_context(programs.postgresql(say))
            if url is None:
                say(f"There is no PostgreSQL: {programs.PROGRAMS['postgresql'].remedy}")
                return 1
            environment = environment | {"DATABASE_URL": url}
        return run([*PYTEST, *words], environment, seconds=None)


# All tests


def run_groups(environment):
    groups = (style, sqlite, browser, faults, postgresql)
    counts = [group_of(environment) for group_of in groups]
    for line in closing_lines(counts):
        say(line)
    return exit_code(counts, in_ci=os.environ.get("CI") == "true")


def style(environment):
    head("style")
    django = {**environment, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    catalogs = [str(path) for path in sorted(ROOT.glob("locale/*/LC_MESSAGES/*.po"))]
    checks = {
        "ruff": [sys.executable, "-m", "ruff", "check"],
        "mypy": [sys.executable, "-m", "mypy"],
        "migrations match models": [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"],
        **{f"messages of {path}": ["msgfmt", "--check", "-o", os.devnull, path] for path in catalogs},
    }
    missing = ""
    if not programs.PROGRAMS["gettext"].is_there():
        checks = {name: command for name, command in checks.items() if command[0] != "msgfmt"}
        missing = programs.PROGRAMS["gettext"].remedy
        say(f"The check of messages is left out: {missing}")
    failed = 0
    for name, command in checks.items():
        say(f"-- {name}")
        failed += run(command, django) != 0
    return Count("style", len(checks) - failed, failed, len(catalogs) if missing else 0, missing)


def sqlite(environment):
    head("sqlite")
    return group("sqlite", "not browser and not installation and not prove", environment)


def browser(environment):
    head("browser")
    if not programs.chromium():
        return left_out("browser", "browser", environment, programs.PROGRAMS["chromium"].remedy)
    return group("browser", "browser", environment)


def faults(environment):
    """Installations that are broken on purpose, both databases in one group: they start what they break."""
    head("faults")
    return group("faults", "installation and not prove", environment)


def postgresql(environment):
    head("postgresql")
    # The browser's journeys go through the same services and queries; once is enough for them.
    expression = "database and not browser and not installation and not prove"
    try:
        with programs.postgresql(say) as url:
            if url is None:
                return left_out("postgresql", expression, environment, programs.PROGRAMS["postgresql"].remedy)
            return group("postgresql", expression, environment | {"DATABASE_URL": url})
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        say(f"The cluster of the postgresql tests failed, which counts as one failure: {error}")
        return Count("postgresql", failed=1)


def group(name, expression, environment):
    """Run the tests of a group. A pytest that found nothing or broke down is a failure like any other."""
    spread = [] if name in ("browser", "faults") else ["-n", str(PROCESSES), "--dist", "worksteal"]
    words = [*PYTEST, "-m", expression, "-q", "--durations=5", *spread]
    code = run(words, environment, stdin=subprocess.DEVNULL)
    found = take_counts(environment)
    if code != 0 and not found["failed"]:
        say(f"pytest ended with exit code {code}, which counts as one failure.")
        found["failed"] = 1
    return Count(name, found["passed"], found["failed"], found["skipped"] + found["left_out"])


def left_out(name, expression, environment, remedy):
    """Only count the tests of a group whose program is missing."""
    say(f"The {name} tests are left out: {remedy}")
    run([*PYTEST, "-m", expression, "--collect-only", "-qq"], environment, stdout=subprocess.DEVNULL)
    return Count(name, left_out=take_counts(environment)["left_out"], missing=remedy)


def take_counts(environment):
    """What tests/counting.py wrote for the last run, which may have ended before it could."""
    path = Path(environment["SIGHTLINE_COUNTS"])
    if not path.exists():
        return dict.fromkeys(("passed", "failed", "skipped", "left_out"), 0)
    found = json.loads(path.read_text("utf-8"))
    path.unlink()
    return found


def head(group):
    say(f"\n== {group} ==")


def run(command, environment, *, seconds=GROUP_SECONDS, **streams):
    """A child's exit code. However we end, it ends first, and gently, so that it can end its own children."""
    child = subprocess.Popen(command, cwd=ROOT, env=environment, **streams)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        say(f"{' '.join(map(str, command))} was still running after {seconds} seconds.")
        return 1
    finally:
        # A Ctrl+C in the terminal reached it too; only a signal to us alone, or a hung test, needs more.
        for more in (lambda: None, lambda: child.send_signal(signal.SIGINT), child.kill):
            more()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(5)
                break


def closing_lines(counts):
    """The plain total that programs read, on a line of its own, and the count by group, always last."""
    total = {name: sum(getattr(count, name) for count in counts) for name in ("passed", "failed", "left_out")}
    yield ""
    yield from (f"{count.group} left out: {count.missing}" for count in counts if count.missing)
    yield f"total: {total['passed']} passed, {total['failed']} failed, {total['left_out']} skipped"
    yield "; ".join(map(str, counts))


def exit_code(counts, *, in_ci):
    return int(any(count.failed or (in_ci and count.missing) for count in counts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
