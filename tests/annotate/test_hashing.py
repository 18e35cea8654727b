"""Passwords are hashed as Django does it, one at a time, behind everything else."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher, check_password, make_password
from django.urls import reverse

from annotate import hashing
from annotate.errors import TooBusy
from annotate.hashing import PasswordHasher
from config import settings as product
from tests.factories import make_person


@pytest.fixture
def slow(monkeypatch):
    """Django's hasher, which takes until it is let go; who is in it at a time, and how nice they are."""
    gate, inside, most, niceness = threading.Event(), [], [], []

    def encode(self, password, salt, iterations=None):
        inside.append(password)
        most.append(len(inside))
        niceness.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        assert gate.wait(10)
        inside.remove(password)
        return f"pbkdf2_sha256$1${salt}${password}"

    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", encode)
    return gate, most, niceness


def test_the_product_hashes_with_it():
    assert product.PASSWORD_HASHERS == ["annotate.hashing.PasswordHasher"]


def test_a_hash_is_djangos_own_and_checks_either_way(settings):
    ours = PasswordHasher().encode("nine green bottles", "salt", 1000)
    assert ours == PBKDF2PasswordHasher().encode("nine green bottles", "salt", 1000)
    settings.PASSWORD_HASHERS = product.PASSWORD_HASHERS
    assert check_password("nine green bottles", ours)
    assert not check_password("ten green bottles", ours)
    assert make_password("x").startswith(f"pbkdf2_sha256${PBKDF2PasswordHasher.iterations}$")


def test_one_is_hashed_at_a_time_in_a_thread_that_stands_back(slow):
    gate, most, niceness = slow
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    with ThreadPoolExecutor(hashing.N_WAITING) as people:
        hashes = [people.submit(PasswordHasher().encode, str(n), "salt") for n in range(hashing.N_WAITING)]
        gate.set()
        assert {one.result()[-1] for one in hashes} == {str(n) for n in range(hashing.N_WAITING)}
    assert most == [1] * hashing.N_WAITING
    assert set(niceness) == {min(before + hashing.NICENESS, 19)}
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before


def test_who_would_wait_behind_too_many_is_told_so_at_once(slow):
    gate, most, _ = slow
    with ThreadPoolExecutor(hashing.N_WAITING) as people:
        hashes = [people.submit(PasswordHasher().encode, str(n), "salt") for n in range(hashing.N_WAITING)]
        while hashing.PLACES.acquire(blocking=False):  # until all of them have a place
            hashing.PLACES.release()
        with pytest.raises(TooBusy):
            PasswordHasher().encode("one more", "salt")
        gate.set()
        for one in hashes:
            one.result()
    assert len(most) == hashing.N_WAITING
    assert PasswordHasher().encode("one more", "salt")


def test_a_hash_that_fails_leaves_its_place(monkeypatch):
    def encode(self, password, salt, iterations=None):
        raise ValueError("fails")

    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", encode)
    for _ in range(2 * hashing.N_WAITING):
        with pytest.raises(ValueError, match="fails"):
            PasswordHasher().encode("x", "salt")


@pytest.mark.django_db
def test_a_page_that_cannot_hash_says_so_and_when_to_try_again(client, settings, monkeypatch):
    make_person("ana", "a long enough sentence")
    settings.PASSWORD_HASHERS = product.PASSWORD_HASHERS
    monkeypatch.setattr(hashing, "PLACES", threading.BoundedSemaphore(1))
    with hashing.PLACES:
        response = client.post(
            reverse("annotate:sign_in"), {"username": "nobody", "password": "a long enough sentence"}
        )
    assert (response.status_code, response["Retry-After"]) == (503, "3")
    assert "Nothing was changed. Go back and send it again in a few seconds." in response.content.decode()
