"""The door of the web server."""

import logging
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from config.logs import WithoutSecrets

BOUNDED = "-c statement_timeout=60s -c lock_timeout=20s"
"""What PostgreSQL gives up for a page, which nobody waits longer for. Jobs and migrations may take their time."""

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PGOPTIONS", BOUNDED)
application = get_wsgi_application()
_ = get_resolver().url_patterns  # every page is read here once, before workers are made of this process
logging.getLogger("gunicorn.error").addFilter(WithoutSecrets())  # it logs past Django's settings
