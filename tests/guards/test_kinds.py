"""A kind is one folder: whatever makes it different lives there, and nothing else knows its name."""

import re

import pytest

from annotate.kinds.registry import all_kinds
from tests.conftest import ROOT

MADE_BY_LEADS = [name for name, kind in all_kinds().items() if kind.check_schema]
PLACES = ("annotate", "scoring", "config", "templates", "static", "benchmarks", "run", "manage.py", "fixtures")
SETTINGS = {"config/settings.py"}
OF_A_KIND = ("scoring/judges/", "scoring/methods/", "benchmarks/")
"""Judges and methods are of a kind, and what is measured is; each says of which."""
TEXT = {".py", ".html", ".js", ".css", ".md", ".json", ".jsonl", ".toml", ""}


def files():
    for place in PLACES:
        path = ROOT / place
        found = path.rglob("*") if path.is_dir() else [path]
        yield from (one for one in found if one.is_file() and one.suffix in TEXT and "__pycache__" not in one.parts)


def word_of(kind):
    """The kind's name as that of a kind: its module, its folder, the value of something called kind, a template, a
    static file or a library of tags. It is also a word that means something else."""
    return re.compile(rf"kinds[./]{kind}\b|kind\W{{1,7}}{kind}\b|[\"'/]{kind}/|load (?:\w+ )*{kind}_")


@pytest.mark.parametrize("kind", MADE_BY_LEADS)
def test_no_file_outside_its_folder_and_the_settings_names_a_kind(kind):
    named = []
    for path in files():
        place = path.relative_to(ROOT).as_posix()
        if place.startswith((f"annotate/kinds/{kind}/", *OF_A_KIND)) or place in SETTINGS:
            continue
        if word_of(kind).search(path.read_text("utf-8", "replace")):
            named.append(place)
    assert named == [], f"only annotate/kinds/{kind} knows it"


def test_the_guard_finds_a_name_where_there_is_one():
    assert MADE_BY_LEADS
    for kind in MADE_BY_LEADS:
        module, template = f"from annotate.kinds.{kind} import x", f'{{% include "{kind}/_form.html" %}}'
        for line in (f'kind == "{kind}"', f'"kind": "{kind}"', f"--kind {kind}", module, template):
            assert word_of(kind).search(line)
        assert not word_of(kind).search(f'a "{kind}" of words and {kind}s')
