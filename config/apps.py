"""Has the Celery app made in every process that sets Django up, so that whatever is sent goes to the right broker."""

from django.apps import AppConfig

from config.celery import app


class ConfigApp(AppConfig):
    name = "config"
    celery = app
