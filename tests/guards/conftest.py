"""The world in which every secret is a word of its own, for the tests that ask for it by its name."""

import pytest
from django.conf import settings
from django.db import transaction

from annotate.api.authentication import TokenThrottle
from scoring import comparing
from tests.guards.world import make_world


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), transaction.atomic():
        patch.setattr(settings, "UPLOADS_FOLDER", tmp_path_factory.mktemp("uploads"))
        patch.setattr(comparing, "N_RESAMPLES", 20)  # the figures are not what is looked at
        patch.setattr(TokenThrottle, "allow_request", lambda *asked: True)  # a crawl is no script
        yield make_world()
        transaction.set_rollback(True)
