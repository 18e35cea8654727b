"""The product's settings, made fast for tests: a cheap password hash, plain static files."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
DATABASES["default"].setdefault("TEST", {})
