"""The door of the web server."""

import logging
import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application

from config.logs import WithoutSecrets

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
import_module("config.urls")  # every page is read here once, before workers are made of this process
logging.getLogger("gunicorn.error").addFilter(WithoutSecrets())  # it logs past Django's settings
