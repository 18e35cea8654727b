"""Settings that differ between places come from named environment variables; a wrong value is refused by name."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit


class EnvironmentRefused(SystemExit):
    """A setting in the environment that cannot be used; ends the start with one sentence."""

    def __init__(self, name: str, expected: str, remedy: str) -> None:
        super().__init__(f"{name}: {expected} {remedy}")


def flag(name: str, default: bool = False) -> bool:
    """`1`, `true`, `yes` or `0`, `false`, `no`; anything else is refused."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return default
    if value in {"1", "true", "yes"}:
        return True
    if value in {"0", "false", "no"}:
        return False
    raise EnvironmentRefused(name, f"{value!r} is no switch.", "Use 1 or 0.")


def number(name: str, default: int, *, minimum: int = 1) -> int:
    """A whole number of at least `minimum`."""
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if not value.isdecimal() or int(value) < minimum:
        raise EnvironmentRefused(name, f"{value!r} is no whole number of at least {minimum}.", "Correct or unset it.")
    return int(value)


def words(name: str, default: list[str]) -> list[str]:
    """A comma-separated list."""
    value = os.environ.get(name, "")
    return [word.strip() for word in value.split(",") if word.strip()] or default


def places(name: str) -> list[str]:
    """A comma-separated list of hosts, each with its port; an IPv6 address in brackets."""
    found = [word.lower() for word in words(name, [])]
    for word in found:
        parts = urlsplit(f"//{word}")
        is_place = parts.netloc == word and "@" not in word and parts.hostname and has_port_or_none(parts)
        if not is_place or parts.port is None:
            raise EnvironmentRefused(name, f"{word!r} is no HOST:PORT.", "Name each host with its port.")
    return found


def data_folder(root: Path) -> Path:
    """Where database, secret key, uploads and releases lie."""
    return Path(os.environ.get("SIGHTLINE_DATA") or root / "data").absolute()


def secret_key(folder: Path) -> str:
    """SIGHTLINE_SECRET_KEY, else a key made once per installation and kept in the data folder. Where nothing may be
    written yet (a command that reads without a database), a key for this process alone."""
    given = os.environ.get("SIGHTLINE_SECRET_KEY", "")
    if given:
        if len(given) < 32:
            raise EnvironmentRefused("SIGHTLINE_SECRET_KEY", "is shorter than 32 characters.", "Use a longer one.")
        return given
    path = folder / "secret-key"
    if not folder.is_dir():
        return secrets.token_urlsafe(48)
    if not path.exists():
        made = folder / f"secret-key.{secrets.token_hex(8)}"
        made.touch(mode=0o600)
        made.write_text(secrets.token_urlsafe(48), "ascii")
        with contextlib.suppress(FileExistsError):  # another process was first: its key counts
            os.link(made, path)
        made.unlink()
    return path.read_text("ascii")


SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-20000; PRAGMA journal_size_limit=27103364;"
)
"""Settings a lab's SQLite needs: FULL keeps reported commits through a power cut, WAL lets readers read meanwhile. The
file is not mapped into memory: a process would grow with the database."""


NOTICED = {
    "connect_timeout": 5,
    **{"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3},
    "tcp_user_timeout": 20_000,
}
"""A machine of PostgreSQL that is gone without a word is noticed within seconds (milliseconds in the last)."""


def database(folder: Path) -> dict[str, object]:
    """Django's DATABASES entry from DATABASE_URL (`postgresql://user:password@host:port/name?host=/socket/folder`),
    else SQLite in the data folder."""
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        return sqlite(folder / "db.sqlite3")
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return sqlite(Path(unquote(parts.path)))
    if parts.scheme not in {"postgres", "postgresql"} or len(parts.path) < 2 or not has_port_or_none(parts):
        raise EnvironmentRefused("DATABASE_URL", "is no PostgreSQL or SQLite address.", "Use postgresql://USER@HOST/NAME.")
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", parts.hostname or ""),
        "PORT": str(parts.port or query.pop("port", "")),
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**NOTICED, **query},
    }


def broker_url() -> str:
    """SIGHTLINE_BROKER_URL, a Redis or RabbitMQ; empty means files in the data folder."""
    url = os.environ.get("SIGHTLINE_BROKER_URL", "").strip()
    parts = urlsplit(url)
    is_known = parts.scheme in {"redis", "rediss", "amqp", "amqps"} and parts.hostname and has_port_or_none(parts)
    if url and not is_known:
        raise EnvironmentRefused("SIGHTLINE_BROKER_URL", "is no address of a broker.", "Use redis://HOST or amqp://HOST.")
    return url


def broker_options(folder: Path | None) -> dict[str, object]:
    """How kombu uses a folder as broker: one folder for both ways, looked into five times a second."""
    if folder is None:
        return {}
    messages = str(folder / "messages")
    return {
        "data_folder_in": messages,
        "data_folder_out": messages,
        "control_folder": str(folder / "control"),
        "polling_interval": 0.2,
    }


def has_port_or_none(parts: SplitResult) -> bool:
    """A port that is no number from 0 to 65535 shows only when it is asked for."""
    with contextlib.suppress(ValueError):
        return parts.port is None or parts.port > 0
    return False


def sqlite(path: Path) -> dict[str, object]:
    """Tuned for several threads. IMMEDIATE: a transaction that reads and then writes must not upgrade its lock."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "CONN_MAX_AGE": None,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": SQLITE_PRAGMAS},
    }
