"""What `./run` does once the environment is there: serve everything until Ctrl+C, or run one command of manage.py.

Needs only the standard library and starts everything else as a child, so that a problem in settings or code is shown
by the child that met it.
"""

import argparse
import contextlib
import ctypes
import errno
import fcntl
import ipaddress
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANAGE = [sys.executable, str(ROOT / "manage.py")]
EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where to reach a server that listens everywhere
WITHOUT_DATABASE = {
    *("help", "version", "check", "diffsettings", "inspect_traces", "collectstatic", "findstatic"),
    *("makemessages", "compilemessages", "makemigrations"),
}
START_SECONDS = 60
END_SECONDS = 15
FIRST_PAUSE, LONGEST_PAUSE = 1, 60
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOCK = "serving"
"""A file in the data folder, locked by whoever serves it; their process stands in it."""
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
PR_SET_PDEATHSIG = 1


def main(words):
    os.umask(0o077)  # children make files for this account alone, also in a data folder that others may enter
    command, rest = words[0], words[1:]
    data = Path(os.environ.get("SIGHTLINE_DATA") or ROOT / "data").absolute()
    os.environ["SIGHTLINE_DATA"] = str(data)  # children may run in another folder
    if command == "manage":
        manage(data, rest)
    else:
        parser = argparse.ArgumentParser("./run")
        parser.add_argument("--host", required=True)
        parser.add_argument("--port", type=int, required=True)
        parser.add_argument("--no-demo", dest="demo", action="store_false")
        serve(data, **vars(parser.parse_args(rest)))


def say(*lines):
    print(*lines, sep="\n", file=sys.stderr, flush=True)


# One command


def manage(data, words):
    allow_models_beside("127.0.0.1")
    if needs_database(words):
        migrate(data)
    os.execv(sys.executable, [*MANAGE, *words])


def needs_database(words):
    """Whether the data folder has to be there; a command that only reads files must not leave one behind."""
    if not words or words[0].startswith("-") or {"-h", "--help"} & set(words):
        return False
    if words[0] == "agreement" and any(word.split("=")[0] == "--csv" for word in words):
        return False
    return words[0] not in WITHOUT_DATABASE


def migrate(data):
    """Bring the data folder to this code's tables; everything said goes to standard error."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    check = subprocess.run([*MANAGE, "migrate", "--check"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if check.returncode:
        say(f"Bringing the tables of {'DATABASE_URL' if os.environ.get('DATABASE_URL') else data} up to date.")
        ours("migrate", "--verbosity", "0")


def ours(*words):
    """Run a command of manage.py, end with its exit code if it fails, give what it printed on standard output."""
    done = subprocess.run([*MANAGE, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        say(done.stdout + f"manage.py {words[0]} failed; see above.")
        raise SystemExit(1)
    return done.stdout


# Serving


def serve(data, *, host, port, demo):
    host = host.strip("[]")
    end_on_signals()
    refuse_demo_for_others(host, demo)
    refuse_served(data)
    refuse_taken_port(host, port)
    allow_host(host)
    allow_models_beside(host)
    with held(data):
        serve_alone(data, host=host, port=port, demo=demo)


def serve_alone(data, *, host, port, demo):
    migrate(data)
    ours("collectstatic", "--no-input", "--verbosity", "0")
    url = f"http://{public_name(host)}:{port}/"
    if demo:
        welcome = logins(json.loads(ours("load_demo", "--json")))
    else:
        refuse_demo_present(host)
        welcome = set_up(ours("first_lead", "--base-url", url).strip())
    shutil.rmtree(data / "broker", ignore_errors=True)  # wake-ups of an earlier run, perhaps one cut off in the middle
    with running({"web": web(host, port), "worker": worker()}) as children:
        wait_for_page(children, host, port)
        print(*filter(None, [f"Sightline is at {url}", welcome, "Ctrl+C ends it."]), sep="\n", flush=True)
        watch(children)


@contextlib.contextmanager
def held(data):
    """Nobody else serves this data folder meanwhile, however this process ends."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (data / LOCK).open("a+") as file:
        lock(file)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def refuse_served(data):
    """Said before anything else is looked at, or made."""
    with contextlib.suppress(FileNotFoundError), (data / LOCK).open() as file:
        lock(file)


def lock(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = f"process {file.read()}"
        say(f"Sightline already runs on this data folder ({holder}); end it, or choose another with --data.")
        raise SystemExit(1) from None


def web(host, port):
    return [
        *(sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"{bracketed(host)}:{port}"),
        # Few threads: SQLite has one writer, and more of them only wait longer for it.
        *("--worker-class", "gthread", "--workers", "2", "--threads", "4"),
        # Workers are made of a process that has read everything: the place of one that dies is taken at once.
        "--preload",
        *("--graceful-timeout", "10", "--log-level", "warning", "--no-control-socket"),
    ]


def worker():
    return [
        # People wait for the web server, nobody for the worker.
        *("nice", "-n", "10"),
        # That it runs as root is said by Celery of messages that may hold code; ours may not.
        *(sys.executable, "-W", "ignore:You're running the worker with superuser privileges"),
        *("-m", "celery", "-A", "config", "--quiet", "worker", "-P", "threads", "--concurrency", "2"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"),
    ]


def logins(demo):
    rows = [f"  {row['username']:12} {row['password']:16} {row['role']}" for row in demo["logins"]]
    return "\n".join(["Demo accounts of this installation (name, password, role); its labels are synthetic:", *rows])


def set_up(link):
    return link and f"Nobody leads here yet. This link sets up the first lead, once:\n  {link}"


def refuse_demo_for_others(host, demo):
    way = way_for_others(host)
    if demo and way:
        say(
            f"The demo is only served on this machine, and with {way} it can be reached from others.",
            f"Start without it, in a data folder of its own: ./run --no-demo --data DIR --host {host}",
            *([] if way.startswith("--host") else ["or unset that setting."]),
        )
        raise SystemExit(1)


def refuse_demo_present(host):
    projects = json.loads(ours("list_projects", "--json"))["projects"]
    has_demo = any(project["slug"] == "demo" and project["is_synthetic"] for project in projects)
    way = way_for_others(host)
    if has_demo and way:
        say(
            f"The data folder holds the demo, which is only served on this machine; with {way} it can be reached from",
            f"others. Choose another data folder: ./run --no-demo --data DIR --host {host}",
        )
        raise SystemExit(1)


def allow_models_beside(host):
    """At a desk, models that run beside the site may be asked; where others reach it, the operator names them."""
    if not way_for_others(host):
        os.environ.setdefault("LLM_ALLOW_LOOPBACK", "1")


def way_for_others(host):
    """The option or setting by which other machines reach this server, in person or through a proxy; "" for none."""
    if not is_loopback(host):
        return f"--host {host}"
    if os.environ.get("SIGHTLINE_BEHIND_PROXY", "").strip().lower() not in {"", "0", "false", "no"}:
        return "SIGHTLINE_BEHIND_PROXY"
    if any(not is_loopback(name.strip("[]")) for name in allowed_hosts()):
        return f"SIGHTLINE_ALLOWED_HOSTS={','.join(allowed_hosts())}"
    return ""


def allowed_hosts():
    return [name.strip() for name in os.environ.get("SIGHTLINE_ALLOWED_HOSTS", "").split(",") if name.strip()]


def refuse_taken_port(host, port):
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            say(f"Port {port} is taken on {host}. Choose another, for example: ./run --port {port + 1}")
        else:
            say(f"Cannot listen on {host}, port {port}: {error}. Choose others with --host and --port.")
        raise SystemExit(1) from None


def allow_host(host):
    """Django answers only to names it knows; an address given here is one, every address at once is none."""
    if is_loopback(host) or os.environ.get("SIGHTLINE_ALLOWED_HOSTS"):
        return
    if host in EVERY_ADDRESS:
        say(
            f"With --host {host}, set SIGHTLINE_ALLOWED_HOSTS to the names people will type, separated by commas, for",
            f"example: SIGHTLINE_ALLOWED_HOSTS={socket.gethostname()} ./run --no-demo --host {host}",
        )
        raise SystemExit(1)
    os.environ["SIGHTLINE_ALLOWED_HOSTS"] = bracketed(host)


def public_name(host):
    """The name this server is asked by: the address it listens on, or the first name it was told to answer to."""
    names = allowed_hosts()
    if not names or names[0] == "*" or bracketed(host) in names:
        return bracketed(EVERY_ADDRESS.get(host, host))
    return names[0].lstrip(".")


def is_loopback(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def bracketed(host):
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def wait_for_page(children, host, port):
    """Ask until the first page answers; a server that fails or answers with an error ends the start."""
    url = f"http://{bracketed(EVERY_ADDRESS.get(host, host))}:{port}/"
    # As a proxy in front of us would ask; without one the second header has no effect.
    request = urllib.request.Request(url, headers={"Host": f"{public_name(host)}:{port}", "X-Forwarded-Proto": "https"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        end_if_web_ended(children)
        try:
            direct.open(request, timeout=10).close()
            return
        except urllib.error.HTTPError as error:
            say(f"The first page answers {error.code} {error.reason}; see above.")
            raise SystemExit(1) from None
        except OSError:
            time.sleep(0.1)
    say(f"The first page did not answer within {START_SECONDS} seconds; see above.")
    raise SystemExit(1)


# Children


def end_on_signals():
    """Ctrl+C, kill and a closed terminal end the start or the service by one road, which is a good end. Set here
    because a shell starts background commands deaf to Ctrl+C."""
    for number in ENDING:
        signal.signal(number, end)


def end(number, frame):
    raise SystemExit(0)


def end_with(parent):
    """For a new child on Linux: it is told to end when we are gone, also where we could not say so ourselves."""

    def ask():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return ask


class Child:
    """A process of ours."""

    def __init__(self, name, command):
        self.name, self.command = name, command
        self.pause, self.starts_at = FIRST_PAUSE, None
        self.start()

    def start(self):
        self.began, self.starts_at = time.monotonic(), None
        # A group of its own: Ctrl+C in a terminal reaches us alone, and answers under way are finished. What we say on
        # standard output is for programs too, so nobody else says anything there.
        end_with_us = LIBC and end_with(os.getpid())
        self.process = subprocess.Popen(
            self.command, cwd=ROOT, process_group=0, stdout=sys.stderr, preexec_fn=end_with_us
        )

    @property
    def has_ended(self):
        return self.process.poll() is not None

    def start_again(self, now):
        """After a pause: longer each time it ended soon, so that one that cannot start does not fill the log."""
        if self.starts_at is None:
            self.pause = FIRST_PAUSE if now - self.began > LONGEST_PAUSE else min(2 * self.pause, LONGEST_PAUSE)
            self.starts_at = now + self.pause
            code = self.process.returncode
            say(f"The {self.name} process ended by itself (exit code {code}); it starts again in {self.pause} s.")
        elif now >= self.starts_at:
            self.start()


@contextlib.contextmanager
def running(commands):
    """Start a child for each named command, and end all of them in the end, however that comes."""
    children = {}
    try:
        for name, command in commands.items():
            children[name] = Child(name, command)
        yield children
    finally:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl+C must not leave a child behind
        for child in children.values():
            child.process.terminate()
        deadline = time.monotonic() + END_SECONDS
        for child in children.values():
            try:
                child.process.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(child.process.pid, signal.SIGKILL)
                child.process.wait()


def watch(children):
    """A job that ends its worker must not end the site: the worker starts again, and gives the job up in the end."""
    while True:
        end_if_web_ended(children)
        worker = children["worker"]
        if worker.has_ended:
            worker.start_again(time.monotonic())
        time.sleep(0.5)


def end_if_web_ended(children):
    web = children["web"]
    if web.has_ended:
        say(f"The web process ended by itself (exit code {web.process.returncode}); see above.")
        raise SystemExit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
