"""What `./run` promises: it says what is wrong before it starts, ends all it started, and counts tests rightly."""

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from itertools import takewhile

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
        finally:
            process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    assert f"Sightline is at {url}\n" in said
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(url, timeout=10)
    manage = [sys.executable, "config/start.py", "manage"]
    again = run(*manage, "load_demo", "--json", SIGHTLINE_DATA=str(tmp_path / "data"))
    for login in json.loads(again.stdout)["logins"]:
        assert any(line.split() == [login[key] for key in ("username", "password", "role")] for line in said)


def test_when_one_child_ends_the_others_are_ended_too():
    program = """if True:
        import sys
        from config import start
        sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
        with start.running({"web": sleep, "worker": [sys.executable, "-c", "raise SystemExit(3)"]}) as children:
            print(children["web"].pid, flush=True)
            start.watch(children)
    """
    done = run(sys.executable, "-c", program)
    assert done.returncode == 1
    assert "The worker process ended by itself (exit code 3)" in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


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
