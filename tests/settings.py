"""The product's settings, made fast for tests: a cheap password hash, plain static files, no waiting for the disk."""

import os

from config.settings import *  # noqa: F403
from config.settings import DATA_FOLDER, DATABASES, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}

DATA_FOLDER.mkdir(parents=True, exist_ok=True)
DATABASE = DATABASES["default"]
if DATABASE["ENGINE"].endswith("sqlite3"):
    # A file and not memory: threads and the server under test then have connections of their own, as in production.
    DATABASE["TEST"] = {"NAME": DATA_FOLDER / f"test-{os.getpid()}.sqlite3"}
    DATABASE["OPTIONS"]["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
DATABASE["CONN_MAX_AGE"] = 0
