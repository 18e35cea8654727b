"""Items from a pool in the browser: two people asked at once never read the same one, what was left comes to the other,
and who comes back too late is told so and loses nothing."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from annotate import pools
from annotate.models import Annotation, Assignment, PoolItem
from tests.browser.conftest import PASSWORD
from tests.factories import make_item, make_member, make_person, make_project

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TEXTS = [f"Reply {number} is short." for number in range(6)]
GONE = "Your time with this item had ended and its place was given on."


@pytest.fixture
def project(live_server):
    """A pool that gives each item to one person; ana and ben read in it."""
    project = make_project("shared", assigning="pool", overlap=1)
    for name in ("ana", "ben"):
        make_member(project, make_person(name, PASSWORD))
    for text in TEXTS:
        make_item(project, text=text)
    pools.fill(project=project)
    return project


@pytest.fixture
def reader(somebody, live_server):
    """Somebody with the item before them that they were given."""

    def begin(name):
        page = somebody().sign_in(name)
        return ask(page)

    return begin


def ask(page):
    page.goto(f"{page.url.split('/', 3)[0]}//{page.url.split('/', 3)[2]}/projects/shared/label/")
    page.wait_for_selector("#reply-text")
    return page


def text_on(page):
    return page.inner_text("#reply-text").strip()


def submit(page):
    before = page.get_attribute("#item", "data-item")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("before => document.getElementById('item')?.dataset.item !== before", arg=before)


def let_lapse(name):
    """As if nothing had come from them for the length of a lease."""
    mine = Assignment.objects.filter(annotator__person__username=name, state=Assignment.State.OPEN)
    assert mine.update(lease_until=Now() - timedelta(seconds=1)) == 1


def type_a_note(page, words):
    page.fill("[name=comment]", words)
    page.wait_for_function("() => /Saved/.test(document.getElementById('save-state').textContent)")


def test_two_people_never_read_the_same_item_and_together_they_read_all(reader, project):
    ana, ben = reader("ana"), reader("ben")
    read = []
    for _ in range(len(TEXTS) // 2):
        assert text_on(ana) != text_on(ben)
        for page in (ana, ben):
            read.append(text_on(page))
            submit(page)
    assert sorted(read) == TEXTS
    for page in (ana, ben):
        assert "Nothing to read right now" in page.inner_text("#item")
    assert Annotation.objects.count() == len(TEXTS)
    assert set(PoolItem.objects.values_list("n_free", flat=True)) == {0}


def test_an_item_that_was_left_comes_to_the_other_and_who_left_it_keeps_what_they_typed(reader, project):
    ana = reader("ana")
    left, address = text_on(ana), ana.url
    type_a_note(ana, "half a thought")
    let_lapse("ana")

    ben = reader("ben")
    assert text_on(ben) == left  # what came back is given before all others
    assert "half a thought" not in ben.content()

    ana.keyboard.press("Escape")
    ana.fill("[name=comment]", "half a thought, and the rest of it")
    ana.wait_for_function("() => /given on/.test(document.getElementById('save-state').textContent)")
    ana.focus("#reply-text")
    ana.keyboard.press("1")
    ana.keyboard.press("Control+Enter")
    ana.wait_for_selector(f"#notice:has-text('{GONE}')")
    assert text_on(ana) == left
    assert ana.input_value("[name=comment]") == "half a thought, and the rest of it"
    assert ana.is_checked("[name=label][value=readable]")
    assert not Annotation.objects.exists()

    ana.click("text=Go on with the next item")
    ana.wait_for_selector("#reply-text")
    assert text_on(ana) != left
    assert ana.goto(address).status == 409
    assert "Your time with this item has ended" in ana.inner_text("h1")

    submit(ben)
    annotation = Annotation.objects.get()
    assert annotation.assignment.annotator.person.username == "ben"
    assert annotation.label["comment"] == ""


def test_who_comes_back_in_time_goes_on_with_what_they_typed(reader, project):
    ana = reader("ana")
    left, address = text_on(ana), ana.url
    type_a_note(ana, "half a thought")
    let_lapse("ana")
    assert pools.take_back_expired() == 1
    ana.goto(address)
    assert text_on(ana) == left
    assert ana.input_value("[name=comment]") == "half a thought"
    ana.focus("#reply-text")
    submit(ana)
    assert Annotation.objects.get().label["comment"] == "half a thought"


def test_reading_keeps_an_item_and_a_page_that_nobody_touches_does_not(somebody, project):
    """Three beats a lease; the browser's clock is ours here."""
    project.lease = timedelta(minutes=3)
    project.save()
    window = somebody()
    window.page.clock.install()
    ana = ask(window.sign_in("ana"))

    def kept_until():
        return Assignment.objects.get(state=Assignment.State.OPEN).lease_until

    given = kept_until()
    ana.keyboard.press("ArrowRight")
    with ana.expect_response("**/draft/"):
        ana.clock.run_for(61_000)
    read = kept_until()
    assert read > given
    ana.clock.run_for(200_000)
    ana.wait_for_timeout(300)
    assert kept_until() == read
