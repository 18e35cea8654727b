"""All settings, in one file; what differs between places is read from the environment (`config/env.py`, README)."""

import os
from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from config import env

# Before numpy is loaded: figures are computed beside people who label, and threads that wait for each other's
# processors would make them dozens of times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
DATA_FOLDER = env.data_folder(ROOT)

SECRET_KEY = env.secret_key(DATA_FOLDER)
DEBUG = False
ALLOWED_HOSTS = env.words("SIGHTLINE_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("SIGHTLINE_TRUSTED_ORIGINS", [])
HTTPS = env.flag("SIGHTLINE_HTTPS")
BEHIND_PROXY = env.flag("SIGHTLINE_BEHIND_PROXY")

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_htmx",
    "drf_spectacular",
    "annotate",
    "annotate.kinds.choice",
    "annotate.kinds.gap",
    "annotate.kinds.redundancy",
    "annotate.kinds.reply",
    "scoring",
    "config",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "annotate.uploading.closed_in_the_end",
    "annotate.sessions.BrowserSessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "annotate.middleware.interface_language",
    "annotate.middleware.private_pages",
    "annotate.middleware.login_required",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotate.middleware.refuse_when_busy",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
            ]
        },
    }
]

DATABASES = {"default": env.database(DATA_FOLDER)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "annotate.Person"
PASSWORD_MIN_LENGTH = 10
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {"min_length": PASSWORD_MIN_LENGTH}),
        ("CommonPasswordValidator", {}),
    )
]
PASSWORD_HASHERS = ["annotate.hashing.PasswordHasher"]
LOGIN_URL = "annotate:sign_in"
LOGIN_REDIRECT_URL = "annotate:home"
LOGOUT_REDIRECT_URL = "annotate:sign_in"

# Sign-in is throttled by django-axes, as annotate/throttle.py has it: what is not kept there is not kept at all.
AUTHENTICATION_BACKENDS = ["annotate.throttle.PasswordBackend"]
AXES_HANDLER = "annotate.throttle.Handler"
AXES_FAILURE_LIMIT = 8
SIGN_IN_TRIES_OF_AN_ADDRESS = 100
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_USERNAME_CALLABLE = "annotate.throttle.name_of"
AXES_CLIENT_IP_CALLABLE = "annotate.throttle.address_of"
AXES_LOCKOUT_CALLABLE = "annotate.views.account.locked"
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False

SESSION_ENGINE = "annotate.sessions"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "annotate.views.errors.csrf_failure"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [ROOT / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [ROOT / "static"]
STATIC_ROOT = DATA_FOLDER / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Caps of an import; a message that meets one names it.
IMPORT_MAX_LINE_BYTES = env.number("IMPORT_MAX_LINE_BYTES", 32 * 1024 * 1024)
IMPORT_MAX_STRING_CHARACTERS = env.number("IMPORT_MAX_STRING_CHARACTERS", 4_000_000)
IMPORT_MAX_NESTING = env.number("IMPORT_MAX_NESTING", 100)
IMPORT_MAX_UNPACKED_BYTES = env.number("IMPORT_MAX_UNPACKED_BYTES", 2 * 1024**3)
IMPORT_MAX_PACKED_FILES = env.number("IMPORT_MAX_PACKED_FILES", 50_000)
IMPORT_MAX_RATIO = env.number("IMPORT_MAX_RATIO", 200)

# Where models may be asked (scoring/llm_addresses.py): public servers over https, and what is named or opened here.
LLM_ALLOWED_HOSTS = env.places("LLM_ALLOWED_HOSTS")
LLM_ALLOW_LOOPBACK = env.flag("LLM_ALLOW_LOOPBACK")
RECORDED_FOLDER = DATA_FOLDER / "recorded"

# Trace files that leads upload: each is written straight to its place, and no other request may bring a file.
UPLOADS_FOLDER = DATA_FOLDER / "uploads"
UPLOAD_MAX_BYTES = env.number("SIGHTLINE_UPLOAD_MAX_BYTES", 2 * 1024**3)
FILE_UPLOAD_HANDLERS = ["annotate.uploading.ToFolder"]

# Celery only wakes workers; what is to be done stands in rows (annotate/work.py), so any message may be lost.
CELERY_BROKER_URL = env.broker_url() or "filesystem://localhost"
BROKER_FOLDER = None if env.broker_url() else DATA_FOLDER / "broker"
CELERY_BROKER_TRANSPORT_OPTIONS = env.broker_options(BROKER_FOLDER)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker whose broker is away still sweeps, and waits for it
CELERY_TASK_DEFAULT_QUEUE = "sightline"
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False

# A posted answer with every span a kind allows fits well below this.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

# All that the API does is said by its own base view (annotate/api/operations.py); here is only that a view made past it
# would be as closed: no session opens it, and it answers in JSON.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["annotate.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Sightline",
    "DESCRIPTION": "Blind labelling for annotators, projects and figures for leads. See docs/api.md.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": [],  # choices stand where they are used and need no names
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "filters": {"without_secrets": {"()": "config.logs.WithoutSecrets"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["without_secrets"]},
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
