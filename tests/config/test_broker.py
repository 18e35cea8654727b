"""The broker of files: what cannot be read is not there, and ends nobody."""

import json
import queue
import shutil
import tempfile

import pytest
from kombu import Connection, Exchange, Queue
from kombu.transport import virtual

from config import broker, env

QUEUE = Queue("sightline", Exchange("sightline", type="direct"), routing_key="sightline")


@pytest.fixture
def another_process(monkeypatch):
    """Forgets what a process knows of its broker."""

    def another_process():
        monkeypatch.setattr(broker.Transport, "global_state", virtual.BrokerState())

    another_process()
    return another_process


@pytest.fixture
def connection(tmp_path, another_process, monkeypatch):
    broker.use()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where kombu moves a message before it reads it
    with Connection("filesystem://localhost", transport_options=env.broker_options(tmp_path / "broker")) as connection:
        yield connection


@pytest.fixture
def messages(tmp_path):
    return tmp_path / "broker" / "messages"


def send(connection, word="wake"):
    with connection.Producer() as producer:
        producer.publish({"word": word}, exchange=QUEUE.exchange, routing_key="sightline", declare=[QUEUE])


def received(connection, n_looks=6):
    """What comes out in so many looks."""
    found = []
    with connection.channel() as channel:
        bound = QUEUE(channel)
        bound.declare()
        for _ in range(n_looks):
            message = bound.get(no_ack=True)
            if message:
                found.append(message.payload["word"])
    return found


UNREADABLE = {
    "empty": b"",
    "half": b'{"body": "e30=", "prop',
    "no UTF-8": b"\xff\xfe",
    "nul": b"\0" * 100,
    "a number": b"1",
    "a list": b"[]",
    "null": b"null",
    "nothing in it": b"{}",
    "wrong inside": json.dumps({"properties": 3}).encode(),
    "no number": json.dumps({"properties": {}}).encode(),
    "no body of its kind": json.dumps({"body": 3, "properties": {"body_encoding": "base64"}}).encode(),
    "an encoding there is not": json.dumps({"body": "a", "properties": {"body_encoding": "none"}}).encode(),
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_a_message_that_cannot_be_read_is_passed_over_once_and_the_next_is_heard(connection, messages, content):
    send(connection, "first")
    (messages / "0_a.sightline.msg").write_bytes(content)
    assert received(connection) == ["first"]
    assert list(messages.iterdir()) == []


def test_a_folder_in_place_of_a_message_is_passed_over(connection, messages):
    send(connection, "first")
    (messages / "0_a.sightline.msg").mkdir()
    assert received(connection) == ["first"]


@pytest.mark.parametrize("gone", ["broker", "broker/messages", "broker/control"])
def test_a_folder_that_goes_away_under_a_worker_is_there_again_with_the_next_message(connection, tmp_path, gone):
    send(connection)
    with connection.channel() as channel:
        QUEUE(channel).declare()
        shutil.rmtree(tmp_path / gone)
        for path in (tmp_path / "broker").rglob("*.msg"):
            path.unlink()
        with pytest.raises(queue.Empty):
            channel._get("sightline")
        assert (channel._size("sightline"), channel._purge("sightline")) == (0, 0)
        send(connection, "again")
    assert received(connection)[-1:] == ["again"]


@pytest.mark.parametrize("content", [b"", b"[[", b"[1]", b"{}", b"\xff", b"null"])
@pytest.mark.parametrize("who", ["this process", "another process"])
def test_a_list_of_queues_that_cannot_be_read_loses_no_message(connection, tmp_path, another_process, content, who):
    send(connection)
    assert received(connection) == ["wake"]
    (tmp_path / "broker" / "control" / "sightline.exchange").write_bytes(content)
    if who == "another process":
        another_process()
        connection.release()
    send(connection, "again")
    assert received(connection) == ["again"]
