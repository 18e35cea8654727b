"""What `./run` promises: it says what is wrong before it starts, ends all it started, and counts tests rightly."""

import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from config import start
from tests import programs, suite
from tests.suite import ROOT, Count

PLAIN_TOTAL = re.compile(r"(\w+: )?\d+ passed, \d+ failed(, \d+ skipped)?")


def run(*command, **environment):
    return subprocess.run(command, cwd=ROOT, env=child_environment(**environment), capture_output=True, text=True)


def child_environment(**more):
    """Without what pytest-django and the runner set for this process alone."""
    kept = {name: value for name, value in os.environ.items() if name not in {"DJANGO_SETTINGS_MODULE", "DATABASE_URL"}}
    return kept | more


@pytest.fixture
def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def serve(data, *words):
    return [sys.executable, "config/start.py", "serve", *words], child_environment(SIGHTLINE_DATA=str(data))


# The words of ./run


def test_help_names_every_way_to_call_it():
    done = run("./run", "--help")
    assert done.returncode == 0
    for word in ("--port", "--host", "--data", "--no-demo", "--no-install", "setup", "manage", "test"):
        assert word in done.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--prot", "80"], '"--prot"'),
        (["serve"], '"serve"'),
        (["--port"], "--port needs a value"),
        (["--port=x"], '"x"'),
    ],
)
def test_a_wrong_word_is_named_and_nothing_is_made(words, problem, tmp_path):
    done = run("./run", *words, SIGHTLINE_DATA=str(tmp_path / "data"))
    assert done.returncode == 2
    assert problem in done.stderr
    assert not (tmp_path / "data").exists()


# Serving


def test_a_demo_is_not_served_to_other_machines(tmp_path):
    command, environment = serve(tmp_path / "data", "--host", "0.0.0.0", "--port", "8000")
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "./run --no-demo --data DIR --host 0.0.0.0" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SIGHTLINE_BEHIND_PROXY", "1"),
        ("SIGHTLINE_BEHIND_PROXY", "Yes"),
        ("SIGHTLINE_ALLOWED_HOSTS", "label.example.org"),
        ("SIGHTLINE_ALLOWED_HOSTS", "localhost, .example.org"),
        ("SIGHTLINE_ALLOWED_HOSTS", "*"),
    ],
)
def test_a_demo_is_not_served_through_a_proxy(tmp_path, name, value):
    command, environment = serve(tmp_path / "data", "--host", "127.0.0.1", "--port", "8000")
    environment |= {name: value}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert name in done.stderr
    assert "./run --no-demo --data DIR --host 127.0.0.1" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("host", "environment", "is_open"),
    [
        ("127.0.0.1", {}, "1"),
        ("0.0.0.0", {}, None),
        ("127.0.0.1", {"SIGHTLINE_BEHIND_PROXY": "1"}, None),
        ("127.0.0.1", {"LLM_ALLOW_LOOPBACK": "0"}, "0"),
    ],
)
def test_models_beside_the_site_are_open_at_a_desk_alone(host, environment, is_open, monkeypatch):
    monkeypatch.setattr(start.os, "environ", environment)
    start.allow_models_beside(host)
    assert environment.get("LLM_ALLOW_LOOPBACK") == is_open


@pytest.mark.parametrize(
    ("host", "environment", "expected"),
    [
        ("127.0.0.1", {}, ""),
        ("::1", {"SIGHTLINE_BEHIND_PROXY": "0"}, ""),
        ("localhost", {"SIGHTLINE_ALLOWED_HOSTS": "localhost, 127.0.0.1,[::1],Localhost"}, ""),
        ("0.0.0.0", {}, "--host 0.0.0.0"),
        ("127.0.0.1", {"SIGHTLINE_BEHIND_PROXY": "true"}, "SIGHTLINE_BEHIND_PROXY"),
        ("127.0.0.1", {"SIGHTLINE_ALLOWED_HOSTS": "localhost,10.0.0.7"}, "SIGHTLINE_ALLOWED_HOSTS=localhost,10.0.0.7"),
    ],
)
def test_a_demo_that_is_there_already_is_not_served_to_others(host, environment, expected, monkeypatch, capsys):
    for name in ("SIGHTLINE_BEHIND_PROXY", "SIGHTLINE_ALLOWED_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said = {"projects": [{"slug": "demo", "is_synthetic": True}]}
    monkeypatch.setattr(start, "ours", lambda *words: json.dumps(said))
    assert start.way_for_others(host) == expected
    if not expected:
        start.refuse_demo_present(host)
        return
    with pytest.raises(SystemExit):
        start.refuse_demo_present(host)
    assert f"with {expected} it can be reached from" in capsys.readouterr().err
    said["projects"] = []
    start.refuse_demo_present(host)


def test_a_taken_port_is_said_with_another(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command, environment = serve(tmp_path / "data", "--host", "127.0.0.1", "--port", str(port))
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"Port {port} is taken" in done.stderr
    assert f"./run --port {port + 1}" in done.stderr


def test_the_whole_is_served_until_ctrl_c(tmp_path, free_port):
    url = f"http://127.0.0.1:{free_port}/"
    command, environment = serve(tmp_path / "data", "--host", "127.0.0.1", "--port", str(free_port))
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = list(takewhile(lambda line: line != "Ctrl+C ends it.\n", process.stdout))
            with urllib.request.urlopen(url, timeout=10) as page:
                assert page.status == 200
            assert a_job_is_done(tmp_path / "data")
            assert any("celery" in command for command in processes_of(tmp_path / "data"))
        finally:
            process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ""
    assert process.returncode == 0
    assert processes_of(tmp_path / "data") == []
    assert f"Sightline is at {url}\n" in said
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(url, timeout=10)
    manage = [sys.executable, "config/start.py", "manage"]
    again = run(*manage, "load_demo", "--json", SIGHTLINE_DATA=str(tmp_path / "data"))
    for login in json.loads(again.stdout)["logins"]:
        assert any(line.split() == [login[key] for key in ("username", "password", "role")] for line in said)


JOB = """if True:
    import time
    import django
    django.setup()
    from annotate import work
    from annotate.models import Work
    given = {"path": "none", "file_name": "a", "phase": "main", "format": "auto"}
    row = work.add_work(kind="import_traces", key="a", payload=given)
    for _ in range(300):
        time.sleep(0.1)
        row.refresh_from_db()
        if row.state == "dead":
            print("done")
            break
"""


def a_job_is_done(data):
    """Whether the worker beside the site takes up a job; its file is not there, so it is given up at once."""
    done = run(sys.executable, "-c", JOB, SIGHTLINE_DATA=str(data), DJANGO_SETTINGS_MODULE="config.settings")
    return done.stdout == "done\n"


def processes_of(data):
    """The commands of processes that were started for a data folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"SIGHTLINE_DATA={data}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


def watching(web, worker):
    """A program that runs these two programs as the children of `./run`, quicker to start one again, and watches
    them."""
    return f"""if True:
        import sys
        from config import start
        start.FIRST_PAUSE, start.LONGEST_PAUSE = 0.05, 0.2
        commands = {{"web": [sys.executable, "-c", {web!r}], "worker": [sys.executable, "-c", {worker!r}]}}
        start.end_on_signals()
        with start.running(commands) as children:
            print(children["worker"].process.pid, flush=True)
            start.watch(children)
    """


SLEEP = "import time; time.sleep(60)"


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="asked of Linux alone")
def test_when_the_start_is_killed_its_children_end_by_themselves(tmp_path):
    """So that no worker of an older code goes on at the same database, and the port is free again."""
    pids = tmp_path / "pids"
    child = f"import os; open({str(pids)!r}, 'a').write(f'{{os.getpid()}} '); {SLEEP}"
    command = [sys.executable, "-c", watching(child, child)]
    with subprocess.Popen(command, cwd=ROOT, env=child_environment(), stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: pids.exists() and pids.read_text().count(" ") == 2)
        process.kill()
    wait_until(lambda: not any(map(is_alive, pids.read_text().split())))


def wait_until(is_so):
    limit = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_where_nobody_can_be_asked_to_end_the_children_a_child_starts_all_the_same(monkeypatch):
    monkeypatch.setattr(start, "LIBC", None)
    child = start.Child("worker", [sys.executable, "-c", "raise SystemExit(3)"])
    assert child.process.wait() == 3


# One at a time


def tree(folder):
    return {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}


@pytest.mark.parametrize("port", ["the same", "another"])
def test_a_data_folder_is_served_once_at_a_time_and_a_second_start_changes_nothing(tmp_path, free_port, port):
    data = tmp_path / "data"
    (data / "broker" / "messages").mkdir(parents=True)
    (data / "broker" / "messages" / "1_a.sightline.msg").write_text("{}")
    with start.held(data), socket.create_server(("127.0.0.1", 0)) as server:
        before = tree(data)
        number = server.getsockname()[1] if port == "the same" else free_port
        command, environment = serve(data, "--host", "127.0.0.1", "--port", str(number))
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert done.stderr == (
            f"Sightline already runs on this data folder (process {os.getpid()}); end it, or choose another with "
            "--data.\n"
        )
        assert tree(data) == before
    start.refuse_served(data)


def test_two_starts_at_one_moment_are_told_apart_by_the_lock(tmp_path, capsys):
    with start.held(tmp_path), pytest.raises(SystemExit), start.held(tmp_path):
        pytest.fail("two hold one folder")
    assert f"(process {os.getpid()})" in capsys.readouterr().err
    with start.held(tmp_path):
        pass


def test_a_folder_is_free_again_whatever_ended_its_process(tmp_path):
    program = f"from pathlib import Path; from config import start; held = start.held(Path({str(tmp_path)!r})); "
    program += "held.__enter__(); import os; os.kill(os.getpid(), 9)"
    assert run(sys.executable, "-c", program).returncode == -signal.SIGKILL
    start.refuse_served(tmp_path)
    with start.held(tmp_path):
        assert (tmp_path / start.LOCK).read_text() == str(os.getpid())


def test_nothing_is_looked_for_in_a_folder_that_is_not_there(tmp_path):
    start.refuse_served(tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_when_the_web_process_ends_the_worker_is_ended_too():
    done = run(sys.executable, "-c", watching("raise SystemExit(3)", SLEEP))
    assert done.returncode == 1
    assert "The web process ended by itself (exit code 3)" in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_when_the_worker_ends_the_site_goes_on_and_the_worker_is_started_again(tmp_path):
    """A job that ends its worker each time must not end the site."""
    log = tmp_path / "log"
    program = watching(SLEEP, f"open({str(log)!r}, 'a').write('x'); raise SystemExit(3)")
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env=child_environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        said = [next(process.stderr) for _ in range(3)]
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.stderr.close()
    assert process.returncode == 0
    assert len(log.read_text()) >= 3
    assert said[0].startswith("The worker process ended by itself (exit code 3); it starts again in 0.")


def test_a_worker_that_cannot_start_is_tried_less_and_less_often(monkeypatch):
    child = start.Child("worker", [sys.executable, "-c", "raise SystemExit(3)"])
    child.process.wait()
    starts, clock = [], [child.began]

    def begin():
        starts.append(clock[0])
        child.began, child.starts_at = clock[0], None

    monkeypatch.setattr(child, "start", begin)
    for _ in range(400):
        clock[0] += 1
        child.start_again(clock[0])
    pauses = [round(later - earlier) for earlier, later in pairwise(starts)]
    assert pauses[:4] == [5, 9, 17, 33]
    assert set(pauses[4:]) == {61}


@pytest.mark.parametrize(
    ("host", "names", "expected"),
    [
        ("127.0.0.1", "", "127.0.0.1"),
        ("::1", "", "[::1]"),
        ("127.0.0.1", "localhost,127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "label.example.org", "label.example.org"),
        ("0.0.0.0", "label.example.org,other", "label.example.org"),
        ("0.0.0.0", "*", "127.0.0.1"),
    ],
)
def test_the_address_printed_is_one_that_is_answered(host, names, expected, monkeypatch):
    monkeypatch.setenv("SIGHTLINE_ALLOWED_HOSTS", names)
    assert start.public_name(host) == expected


# Commands


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["list_projects", "--json"], True),
        (["agreement", "demo"], True),
        (["agreement", "--csv", "ratings.csv"], False),
        (["agreement", "--csv=ratings.csv"], False),
        (["inspect_traces", "runs.jsonl"], False),
        (["import_traces", "--help"], False),
        (["makemessages"], False),
        (["--version"], False),
        ([], False),
    ],
)
def test_only_a_command_that_needs_the_database_makes_a_data_folder(words, expected):
    assert start.needs_database(words) is expected


def test_a_new_data_folder_is_migrated_beside_a_clean_standard_output(tmp_path):
    command = [sys.executable, "config/start.py", "manage", "list_projects", "--json"]
    first, second = (run(*command, SIGHTLINE_DATA=str(tmp_path / "data")) for _ in range(2))
    assert json.loads(first.stdout) == json.loads(second.stdout) == {"projects": []}
    assert str(tmp_path / "data") in first.stderr
    assert second.stderr == ""


@pytest.mark.parametrize("command", [["config/start.py", "manage"], ["manage.py"]])
def test_what_is_written_into_a_folder_that_others_may_enter_is_for_this_account_alone(command, tmp_path):
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    words = ["migrate", "--verbosity", "0"]
    done = subprocess.run(
        [sys.executable, *command, *words],
        cwd=ROOT,
        env=child_environment(SIGHTLINE_DATA=str(data)),
        umask=0o022,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    modes = {path.name: stat.filemode(path.stat().st_mode) for path in data.iterdir()}
    assert modes.keys() >= {"db.sqlite3", "secret-key"}
    assert set(modes.values()) == {"-rw-------"}


# Counting tests

EXAMPLE = """
import pytest
def test_passes(): pass
def test_fails(): assert False
@pytest.mark.skip(reason="not on this database")
def test_skipped(): pass
def test_needs_a_package(): pytest.importorskip("no_such_package")
@pytest.mark.shared
def test_shared(): pass
@pytest.fixture
def broken():
    yield
    raise ValueError
def test_passes_but_its_fixture_does_not_end(broken): pass
"""


def counts_of(text, tmp_path, *words):
    (tmp_path / "test_example.py").write_text(text, encoding="utf-8")
    plugins = ["-p", "tests.counting", "-p", "no:django", "-p", "no:cacheprovider"]
    command = [*suite.PYTEST, *plugins, "-c", os.devnull, str(tmp_path), *words]
    run(*command, SIGHTLINE_COUNTS=str(tmp_path / "counts.json"), SIGHTLINE_SHARED=str(tmp_path / "absent"))
    return json.loads((tmp_path / "counts.json").read_text("utf-8"))


def test_every_test_is_counted_once_and_a_missing_package_is_a_failure(tmp_path):
    assert counts_of(EXAMPLE, tmp_path) == {"passed": 1, "failed": 3, "skipped": 1, "left_out": 1}


def test_a_group_left_out_is_counted_without_running_it(tmp_path):
    assert counts_of(EXAMPLE, tmp_path, "--collect-only")["left_out"] == 6


def test_a_file_that_cannot_be_imported_is_a_failure(tmp_path):
    assert counts_of("import no_such_package", tmp_path)["failed"] == 1


def test_the_last_line_counts_by_group_and_the_one_before_it_in_all():
    browser = Count("browser", left_out=5, missing=programs.PROGRAMS["chromium"].remedy)
    *_, remedy, total, by_group = suite.closing_lines([Count("sqlite", passed=9, failed=1, left_out=2), browser])
    assert remedy == "browser left out: apt-get install -y --no-install-recommends chromium"
    assert by_group == "sqlite 9 passed, 1 failed, 2 left out; browser 0 passed, 0 failed, 5 left out"
    assert total == "total: 9 passed, 1 failed, 7 skipped"
    assert PLAIN_TOTAL.fullmatch(total)


@pytest.mark.parametrize(
    ("count", "at_a_desk", "in_ci"),
    [
        (Count("sqlite", passed=3, left_out=2), 0, 0),
        (Count("sqlite", passed=3, failed=1), 1, 1),
        (Count("browser", left_out=5, missing="apt-get install chromium"), 0, 1),
    ],
)
def test_a_group_left_out_fails_in_ci_only(count, at_a_desk, in_ci):
    assert suite.exit_code([count], in_ci=False) == at_a_desk
    assert suite.exit_code([count], in_ci=True) == in_ci
