"""The door of the web server."""

import logging
import os

from django.core.wsgi import get_wsgi_application

from config.logs import WithoutSecrets

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
logging.getLogger("gunicorn.error").addFilter(WithoutSecrets())  # it logs past Django's settings
