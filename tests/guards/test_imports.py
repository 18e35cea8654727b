"""Which way imports point: the table of `arrows.py` against the source, and the checker against planted imports."""

import pytest

from tests.guards import arrows


def problems_with(files):
    """The problems of the real source with these files added or put in place."""
    return [problem for problem in arrows.problems(arrows.sources() | files) if problem.split(":")[0] in files]


def test_imports_point_one_way():
    found = arrows.problems(arrows.sources())
    assert not found, "\n" + "\n".join(found)


def test_the_whole_source_is_read():
    assert {"annotate/blind.py", "annotate/kinds/reply/kind.py", "scoring/comparing.py"} <= set(arrows.sources())


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("annotate/rules/new.py", "import django", "queries.py where it reads, a service where it acts"),
        ("annotate/rules/new.py", "from annotate.traces import sniff", "annotate/traces/"),
        ("annotate/traces/new.py", "from annotate.rules.quotes import canonical", "annotate/rules/"),
        ("scoring/stats/new.py", "from annotate.traces.base import Problem", "annotate/traces/"),
        ("scoring/stats/new.py", "from django.db import models", "queries.py where it reads"),
        ("annotate/kinds/reply/new.py", "import numpy", "scoring/stats/ or annotate/rules/"),
        ("annotate/kinds/reply/new.py", "from annotate.kinds.registry import kind_of", "a service"),
        ("annotate/kinds/reply/form.py", "from annotate.models import Item", "queries.py where it reads"),
        ("annotate/models/new.py", "from annotate import queries", "a service"),
        ("annotate/queries.py", "from annotate import importing", "a service"),
        ("annotate/labeling.py", "from annotate.markdown import guideline_html", "a view, form, command or task"),
        (
            "annotate/labeling.py",
            "from scoring.comparing import agreement_report",
            "scoring/, which may import annotate",
        ),
        ("annotate/views/project.py", "import scoring.views", "scoring/, which may import annotate"),
        ("annotate/views/label.py", "from annotate import queries", "a service; for annotators in blind.py"),
        ("annotate/views/label.py", "from annotate.models import Item", "queries.py where it reads"),
        ("annotate/views/label.py", "from ..models.item import Item", "queries.py where it reads"),
        ("annotate/templatetags/new.py", "from annotate import queries", "a service; for annotators in blind.py"),
        ("config/env.py", "from django.conf import settings", "queries.py where it reads"),
    ],
)
def test_a_wrong_import_is_named_with_its_line_and_its_home(path, text, expected):
    (problem,) = problems_with({path: f"import re\n\n{text}\n"})
    assert problem.startswith(f"{path}:3: imports ")
    assert " may import the standard library, " in problem
    assert f" is at home in {expected}" in problem


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("annotate/rules/new.py", "import json\nimport numpy as np\nfrom annotate.rules.quotes import canonical"),
        ("annotate/rules/new.py", "from annotate.traces.base import Trace"),
        ("scoring/stats/new.py", "import scipy.special\nfrom scoring.stats import ratings"),
        ("annotate/kinds/gap/new.py", "from annotate.kinds.base import Span\nfrom annotate.traces import base"),
        ("scoring/judges/new.py", "from annotate.kinds.reply.label import ReplyLabel"),
        ("scoring/views.py", "from annotate.views.project import led_project\nfrom scoring import comparing"),
    ],
)
def test_a_right_import_is_left_alone(path, text):
    assert problems_with({path: text}) == []


def test_an_import_inside_a_function_is_refused():
    (problem,) = problems_with({"annotate/labeling.py": "def later():\n    from annotate import queries"})
    assert problem.startswith("annotate/labeling.py:2: imports annotate.queries inside a function")


def test_an_import_by_a_name_in_a_string_is_refused():
    text = "from django.apps import apps\n\nVERDICT = apps.get_model('scoring', 'Verdict')"
    (problem,) = problems_with({"annotate/labeling.py": text})
    assert problem.startswith("annotate/labeling.py:3: get_model() is an import that no arrow shows")


def test_a_package_on_the_way_to_pure_code_stays_empty():
    (problem,) = problems_with({"annotate/kinds/reply/__init__.py": "import json"})
    assert problem.startswith("annotate/kinds/reply/__init__.py:1: is on the way to pure code")


def test_a_ring_of_modules_is_shown_whole():
    files = {
        "annotate/rules/one.py": "from annotate.rules import two",
        "annotate/rules/two.py": "import annotate.rules.three",
        "annotate/rules/three.py": "\nfrom annotate.rules.one import Anything",
    }
    (problem,) = problems_with(files)
    assert problem.startswith("annotate/rules/three.py:2: closes a ring: annotate.rules.one -> annotate.rules.two -> ")


def test_a_file_without_a_row_is_named():
    (problem,) = problems_with({"annotate/helpers.py": "import json"})
    assert problem.startswith("annotate/helpers.py:1: no row of the table covers this file")
