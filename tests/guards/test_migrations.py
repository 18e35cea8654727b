"""Tables are what the models say, and a migration is named for what it does."""

import re

import pytest
from django.core.management import call_command

from tests.guards.arrows import ROOT

MIGRATIONS = sorted(path for app in ("annotate", "scoring") for path in (ROOT / app).glob("migrations/0*.py"))
NUMBERED_ONLY = re.compile(r"\d{4}(_auto_\d+.*|_initial|_alter_\w+|_\w+_and_more|_rename_\w+)?")


@pytest.mark.django_db
def test_migrations_match_the_models(capsys):
    try:
        call_command("makemigrations", check_changes=True, dry_run=True, verbosity=1)
    except SystemExit:
        pytest.fail(f"models without their migration:\n{capsys.readouterr().out}")


@pytest.mark.parametrize("path", MIGRATIONS, ids=lambda path: path.stem)
def test_a_migration_is_named_for_what_it_does(path):
    assert not NUMBERED_ONLY.fullmatch(path.stem)


@pytest.mark.parametrize(
    "name", ["0001_initial", "0002_auto_20240506_0708", "0003_alter_item_arm", "0004_item_arm_and_more"]
)
def test_a_name_that_was_not_chosen_is_found(name):
    assert NUMBERED_ONLY.fullmatch(name)


def test_numbers_of_migrations_are_used_once():
    numbers = [(path.parent, path.stem[:4]) for path in MIGRATIONS]
    assert len(numbers) == len(set(numbers))
