"""Judges that ask, over the demo's traces, put into words and answered as the scripted judge server answers."""

import json
from pathlib import Path

import pytest

from annotate.kinds.reply.label import SCHEMA, dump, parse
from annotate.kinds.reply.settle import from_finding
from annotate.rules.requester_view import replies
from scoring.judges import checker, classifier, reader, rewriter, writer
from scoring.judges.prompts import SHIPPED, render
from tests import judge_server
from tests.annotate.traces.files import ROOT, read
from tests.scoring.judges.asked import Answer, asked

DEMO = [Path(ROOT) / "fixtures" / "demo" / f"{phase}.jsonl" for phase in ("practice", "pilot", "main")]


def answered_by(act):
    """A model that gets the question in words, as it goes over the wire."""

    def model(ask):
        messages = list(ask.messages)
        if ask.prompt:
            text = render(SHIPPED[ask.prompt, ask.language], ask.values, "k3x9w2")
            messages.append({"role": "user", "content": text})
        body = {"messages": messages}
        request = judge_server.Asked(body, json.dumps(body).encode(), 0, {}, 1)
        if not is_writing(ask):
            assert request.prompt == ask.prompt
        return Answer(ask.step, ask.attempt, act.text(request), cut=act.finish == "length", refused=bool(act.refusal))

    return model


def is_writing(ask):
    """The server tells no condition from another."""
    return not ask.prompt or ask.prompt.startswith("writer")


def places():
    for path in DEMO:
        for trace in read(path.read_bytes())[0]:
            for anchor in replies(trace.messages):
                yield trace, anchor


def views(judge):
    return (judge.view(*place) for place in places())


@pytest.fixture(scope="module")
def reader_views():
    found = list(views(reader.JUDGE))
    assert len(found) > 5
    return found


def test_every_reply_gets_a_verdict_that_is_a_label(reader_views):
    for view in reader_views:
        finding, asks = asked(reader.JUDGE, view, answered_by(judge_server.right()))
        assert finding.unreadable is None
        assert len(asks) <= 4
        label = from_finding(finding, SCHEMA)
        assert parse(dump(label), SCHEMA, view.reply) == label
        assert label.fails is finding.values["verdict"]["failed"]
        for question in finding.values["questions"]:
            if question["quote_verified"]:
                texts = (*(text for _, text in view.files), *view.dialog)
                text = view.reply if question["quote_in"] == "reply" else texts[question["quote_in"]]
                assert 0 <= question["quote_start"] < question["quote_end"] <= len(text)


def test_every_reply_gets_three_lists():
    for view in views(checker.JUDGE):
        finding, asks = asked(checker.JUDGE, view, answered_by(judge_server.right()))
        assert (finding.unreadable, len(asks)) == (None, 1)
        assert from_finding(finding, SCHEMA) is None


def test_every_gap_of_a_reader_gets_a_category():
    n_gaps = 0
    for trace, anchor in places():
        found, _ = asked(reader.JUDGE, reader.JUDGE.view(trace, anchor), answered_by(judge_server.right()))
        view = classifier.JUDGE.view(trace, anchor, earlier=json.loads(json.dumps(found.values)))
        finding, asks = asked(classifier.JUDGE, view, answered_by(judge_server.right()))
        assert finding.unreadable is None
        assert len(asks) == len(finding.values["gaps"]) == found.values["n_gaps"]
        assert all(gap["category"] in judge_server.CATEGORIES for gap in finding.values["gaps"])
        n_gaps += len(asks)
    assert n_gaps > 5


def test_every_reply_is_written_anew_under_every_condition_and_once_more():
    for trace, anchor in places():
        found = {}
        for condition in writer.CONDITIONS:
            view = writer.JUDGE.view(trace, anchor)
            finding, _ = asked(writer.JUDGE, view, answered_by(judge_server.right()), condition=condition)
            found[condition] = finding.values["text"]
        assert len(set(found.values())) >= len(writer.CONDITIONS) - 1  # a notice goes another way than the messages
        finding, _ = asked(
            rewriter.JUDGE,
            rewriter.JUDGE.view(trace, anchor, earlier={"text": found["default"]}),
            answered_by(judge_server.right()),
        )
        assert finding.values["text"].startswith(found["default"])


WRONG = ("cut", "garbage", "empty", "refusal", "refusal_in_words", "wrong_ids", "twice_the_keys")


@pytest.mark.parametrize("name", WRONG)
def test_what_the_server_can_do_wrong_is_never_read_as_a_verdict(name, reader_views):
    model = answered_by(judge_server.ACTS[name]())
    for judge, view in ((reader.JUDGE, reader_views[0]), (checker.JUDGE, next(views(checker.JUDGE)))):
        finding, asks = asked(judge, view, model)
        assert finding.unreadable is not None
        assert [ask.attempt for ask in asks] == [1, 2, 3]


def test_invented_quotes_answer_nothing(reader_views):
    for view in reader_views:
        finding, _ = asked(reader.JUDGE, view, answered_by(judge_server.invented()))
        open_ones = [one for one in finding.values["questions"] if not one["removed"]]
        assert all(one["is_gap"] and one["quote_invented"] for one in open_ones)
        assert ("invented_quote" in finding.values["flags"]) is bool(open_ones)
