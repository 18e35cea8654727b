"""The log of a project, for its leads."""

import ast
import html
import re

import pytest
from django.urls import reverse
from django.utils import translation

from annotate.models import Event
from annotate.views.events import ACTIONS, N_EVENTS
from tests.factories import make_cast
from tests.guards.arrows import ROOT

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client):
    cast = make_cast()
    client.force_login(cast.lea.person)
    return cast


def words(response):
    return html.unescape(response.content.decode())


def show(client, cast, query=""):
    return client.get(reverse("annotate:show_events", args=[cast.project.slug]) + query)


def note(cast, action="phase_opened", project=None, **detail):
    return Event.objects.create(project=project or cast.project, person=cast.lea.person, action=action, detail=detail)


def rows(response):
    """Who, and what with its detail."""
    lines = re.findall(r'</time><span class="who">(.*?)</span><span class="what">(.*)</span></li>', words(response))
    return [(who, re.sub("<.*?>", "", what)) for who, what in lines]


def test_a_lead_reads_what_happened_newest_first(client, cast):
    note(cast, phase="pilot", before="practice")
    note(cast, "traces_imported", batch=3, file="night.jsonl", skipped={"no reply": 2}, ok=None)
    Event.objects.create(project=cast.project, action="project_created")
    note(cast, project=cast.other_project)
    assert rows(show(client, cast)) == [
        ("", "The project was made"),
        ("lea", 'Traces were brought in batch: 3 file: night.jsonl ok: null skipped: {"no reply": 2}'),
        ("lea", "The phase up to which people may label was changed before: practice phase: pilot"),
    ]


def test_an_action_without_words_is_shown_as_it_is(client, cast):
    note(cast, "something_new", code="a1")
    assert rows(show(client, cast)) == [("lea", "something_new code: a1")]


def test_what_stands_in_the_log_is_shown_as_text(client, cast):
    note(cast, file="<script>go()</script>")
    said = show(client, cast).content
    assert b"<script>go()" not in said
    assert b"&lt;script&gt;go()&lt;/script&gt;" in said


def test_the_log_comes_in_pages_by_place(client, cast):
    for number in range(N_EVENTS + 30):
        note(cast, number=number)
    first = rows(show(client, cast))
    assert len(first) == N_EVENTS
    note(cast, number="after the first page was read")
    (link,) = re.findall(r'href="(\?before=\d+)"', words(show(client, cast, "?before=" + str(Event.objects.last().pk))))
    second = rows(show(client, cast, link))
    assert [int(what.split()[-1]) for _, what in [*first, *second]] == list(reversed(range(N_EVENTS + 30)))
    assert 'href="?before=' not in words(show(client, cast, link))


def test_the_log_can_be_read_for_one_action(client, cast):
    note(cast, phase="pilot")
    note(cast, "protocol_opened", number=2)
    assert rows(show(client, cast, "?action=protocol_opened")) == [("lea", "A new protocol was opened number: 2")]
    assert "There is nothing of this kind in the log." in words(show(client, cast, "?action=traces_imported"))
    for _ in range(N_EVENTS):
        note(cast, phase="main")
    assert "?action=phase_opened&before=" in words(show(client, cast, "?action=phase_opened"))


@pytest.mark.parametrize("query", ["action=done", "action=id", "before=x", "before=-1", "before=" + "9" * 20])
def test_a_filter_there_is_not_is_not_there(client, cast, query):
    assert show(client, cast, f"?{query}").status_code == 404


@pytest.mark.parametrize("n", [1, N_EVENTS + 1])
def test_the_page_takes_four_statements_whatever_it_holds(client, cast, django_assert_num_queries, n):
    for number in range(n):
        note(cast, number=number)
    with django_assert_num_queries(4):
        show(client, cast)


@pytest.mark.parametrize("who", ["ana", "rita", "zoe"])
def test_for_everybody_else_the_log_is_not_there(client, cast, who):
    client.force_login(getattr(cast, who).person)
    missing = client.get(reverse("annotate:show_project", args=["no-such-project"]))
    assert (show(client, cast).status_code, show(client, cast).content) == (404, missing.content)


def actions_of(source):
    """The actions that this source writes into the log of a project: `Event(..., project=, action="...")` and the
    functions of services that hand an action on to such a call."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        named = {one.arg: one.value for one in node.keywords}
        function = getattr(node.func, "id", ast.unparse(node.func).split(".")[-1])
        given = [named["action"]] if "project" in named and "action" in named else []
        given += node.args[1:2] if function in ("change", "note") else []
        yield from (one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str))


def test_every_action_of_the_code_has_its_words():
    sources = [path for app in ("annotate", "scoring") for path in (ROOT / app).rglob("*.py")]
    written = {action for path in sources for action in actions_of(path.read_text("utf-8"))}
    assert written >= {"project_created", "protocol_opened", "member_added", "member_retired", "traces_imported"}
    assert written - set(ACTIONS) == set(), "give them words in annotate/views/events.py"
    assert set(ACTIONS) - written == set(), "no longer written"


def test_the_words_are_in_the_language_of_the_reader(client, cast):
    note(cast, "project_created")
    with translation.override("zh-hans"):
        there = translation.gettext(ACTIONS["project_created"])
    cast.lea.person.interface_language = "zh-hans"
    cast.lea.person.save()
    assert rows(show(client, cast))[0][1] == there
