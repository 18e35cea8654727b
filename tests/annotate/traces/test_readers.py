"""What every reader owes, whatever its format: told by content alone, exact, total, documented."""

import io
import itertools
import json
import random
import re
import zipfile

import pytest

from annotate.traces.base import Problem, Trace
from annotate.traces.documents import Document, Documents
from annotate.traces.identity import content_hash
from annotate.traces.reading import Reading, looks
from annotate.traces.sniff import readers, record_lists
from tests import formats_page
from tests.annotate.traces.files import FIXTURES, ROOT, lines, read, record
from tests.annotate.traces.junk import JUNK, mutations

FORMATS = sorted(readers())
RECORDS_TRIED, MUTATIONS_TRIED = 6, 1500


def fixture_of(format):
    """The one small file of our own writing that shows a format."""
    (path,) = FIXTURES.glob(f"{format}.*")
    return path


def documents_of(path):
    """The records of a file, as a reader gets them."""
    with path.open("rb") as file:
        return list(Documents(file, file_name=path.name, lists=record_lists()))


def found_in(path, **options):
    with path.open("rb") as file:
        reading = Reading(file, file_name=path.name, **options)
        return list(reading), reading


def traces_of(format):
    return [one for one in found_in(fixture_of(format))[0] if isinstance(one, Trace)]


def knowing(document):
    """The formats that take a record for theirs."""
    return {
        name for name, reader in readers().items() if any(not reader.sniff(look).missing for look in looks(document))
    }


@pytest.mark.parametrize("format", FORMATS)
def test_a_fixture_is_read_by_its_content_and_has_what_matters(format):
    found, reading = found_in(fixture_of(format))
    traces = [one for one in found if isinstance(one, Trace)]
    assert reading.formats == {format: 1}
    assert [one.sentence() for one in found if isinstance(one, Problem) and not one.warning] == []
    assert {trace.format for trace in traces} == {format}
    assert any(message.role == "user" for trace in traces for message in trace.messages)
    assert any(message.role == "assistant" for trace in traces for message in trace.messages)


@pytest.mark.parametrize("format", FORMATS)
def test_no_record_of_a_fixture_is_taken_for_another_format(format):
    """Else a file of this format would be refused as half of another, or read as one by the order of names."""
    for document in documents_of(fixture_of(format)):
        assert knowing(document) <= {format}, (document.place, document.value)


@pytest.mark.parametrize("format", FORMATS)
def test_messages_are_numbered_and_refer_to_what_is_there(format):
    for trace in traces_of(format):
        assert [message.index for message in trace.messages] == list(range(len(trace.messages)))
        sessions = [message.session for message in trace.messages]
        assert sessions == sorted(sessions)
        for message in trace.messages:
            if message.answers is not None:
                assert message.role == "tool"
                assert message.answers.index < message.index
                assert trace.messages[message.answers.index].calls[message.answers.call]


@pytest.mark.parametrize("format", FORMATS)
def test_what_the_requester_says_is_their_doing(format):
    for trace in traces_of(format):
        assert {message.side for message in trace.messages if message.role == "user"} <= {"user"}


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_private_can_be_kept_and_holds_no_pictures(format):
    for trace in traces_of(format):
        assert content_hash(trace)
        private = json.dumps(dict(trace.metadata), ensure_ascii=False)
        texts = [message.text for message in trace.messages]
        assert not [text for text in [private, *texts] if re.search(r"[A-Za-z0-9+/]{400}", text)]


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_reads_the_same_twice_and_packed(format):
    path = fixture_of(format)
    once, again = traces_of(format), traces_of(format)
    assert [content_hash(trace) for trace in once] == [content_hash(trace) for trace in again]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(path.name, path.read_bytes())
    inside, problems, _ = read(out.getvalue())
    assert problems == []
    assert [content_hash(trace) for trace in inside] == [content_hash(trace) for trace in once]


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_that_json_can_hold_makes_a_reader_fail(format):
    """Each record with junk at each place, read between the others; the choice is the same every time."""
    reader = readers()[format]
    documents = [one for one in documents_of(fixture_of(format)) if isinstance(one, Document)]
    tried = [
        (number, changed)
        for number, document in enumerate(documents[:RECORDS_TRIED])
        for changed in mutations(document.value)
    ]
    if len(tried) > MUTATIONS_TRIED:
        tried = random.Random(format).sample(tried, MUTATIONS_TRIED)
    for number, changed in tried:
        broken = Document(changed, documents[number].place, documents[number].around)
        for look in looks(broken):
            reader.sniff(look)
        near = documents[max(0, number - 4) : number], documents[number + 1 : number + 5]
        for one in reader.read([*near[0], broken, *near[1]]):
            if isinstance(one, Trace):
                content_hash(one)
            else:
                one.sentence()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("around", [None, {}, {"x": []}])
def test_junk_alone_makes_no_reader_fail(format, around):
    reader = readers()[format]
    for junk in JUNK:
        reader.sniff(junk)
    place = documents_of(FIXTURES / "sightline.jsonl")[0].place
    list(reader.read([Document(junk, place, around) for junk in JUNK]))


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_has_its_row_in_the_documentation(format):
    """Which says what it is, how its files look, and how a trace gets its id and cluster."""
    assert f"| `{format}` |" in (ROOT / "docs" / "trace-format.md").read_text()


def test_the_documentation_says_what_each_reader_decides():
    assert formats_page.PAGE.read_text() == formats_page.page(), "python -m tests.formats_page writes it again"


def test_readers_have_names_of_their_own():
    assert len({reader.TITLE for reader in readers().values()}) == len(readers())


# One file is of one format


@pytest.mark.parametrize("format", FORMATS)
def test_a_record_of_another_format_refuses_the_file_by_name(format):
    """Put behind the records of our own format: told as what it is, and the rest is read."""
    if format == "sightline":
        other = [Document({"messages": [{"role": "user", "content": "a"}]}, documents_of(fixture_of(format))[0].place)]
        format = "openai_chat"
    else:
        other = [one for one in documents_of(fixture_of(format)) if isinstance(one, Document) and one.around is None]
    other = [one.value for one in other if knowing(one)][:1]
    if not other:  # known only by what stands around them, which no line of another file has
        assert hasattr(readers()[format], "RECORDS_IN")
        return
    content = lines(record("a"), *other, record("b"))
    traces, (problem,), _ = read(content)
    assert [trace.source_id for trace in traces] == ["a", "b"]
    assert (problem.code, problem.line) == ("mixed_formats", 2)
    assert format in problem.sentence()


def test_a_format_that_is_named_is_not_argued_with():
    content = lines({"messages": [{"role": "user", "content": "a"}]}, record("b"))
    _, problems, _ = read(content, format="openai_chat")
    assert "mixed_formats" not in [problem.code for problem in problems]


def test_two_formats_cannot_both_know_a_record():
    """Over all fixtures: what one knows, no other does; so the order of names decides nothing."""
    known = [
        (document, knowing(document))
        for path in FIXTURES.iterdir()
        for document in documents_of(path)
        if isinstance(document, Document)
    ]
    assert not [(document.place, formats) for document, formats in known if len(formats) > 1]
    assert set(itertools.chain.from_iterable(formats for _, formats in known)) == set(FORMATS)


def test_the_front_page_says_how_many_formats_there_are():
    words = {26: "Twenty-six", 27: "Twenty-seven", 28: "Twenty-eight", 29: "Twenty-nine", 30: "Thirty"}
    assert f"{words[len(FORMATS)]} formats are told by their content" in (ROOT / "README.md").read_text()
