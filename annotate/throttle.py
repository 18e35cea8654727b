"""How often a password may be tried: a few times for a name from one address, and more often from one address for all
names together. Then neither is listened to for a while, whether there is such an account or not.

This is django-axes with two things changed. It knows two bounds, of which the looser one is not lifted by signing in
with some other account. And it keeps nothing of a request but its address, how many tries there were and when: names
are stored as keyed hashes, since people type passwords into the wrong field, and rows go when they count no more.
"""

import ipaddress
import logging
from datetime import datetime

from axes.attempts import get_cool_off_threshold
from axes.backends import AxesStandaloneBackend
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.db import transaction
from django.db.models import F, Max, Sum
from django.utils.crypto import salted_hmac

UNKNOWN_ADDRESS = "0.0.0.0"
BITS_OF_A_HOUSEHOLD = 64

log = logging.getLogger(__name__)


class PasswordBackend(AxesStandaloneBackend, ModelBackend):
    """Sign-in by name and password. A lock is looked at before any password is hashed."""

    def authenticate(self, request, username=None, password=None, **kwargs):
        AxesStandaloneBackend.authenticate(self, request, username, password, **kwargs)
        return ModelBackend.authenticate(self, request, username, password, **kwargs)


class Handler(AxesDatabaseHandler):
    """Counts tries, and says when they are too many."""

    def user_login_failed(self, sender, credentials, request=None, **kwargs):
        """Count a try, unless it was refused unread: however often one tries meanwhile, a lock ends in time."""
        request.axes_credentials = credentials
        if request.axes_locked_out:
            return
        self.clean_expired_user_attempts(request)
        with transaction.atomic():
            row, _ = AccessAttempt.objects.select_for_update().get_or_create(
                username=name_of(request, credentials),
                ip_address=request.axes_ip_address,
                user_agent="",
                defaults={"failures_since_start": 0},
            )
            AccessAttempt.objects.filter(pk=row.pk).update(
                failures_since_start=F("failures_since_start") + 1, attempt_time=request.axes_attempt_time
            )
        request.axes_locked_out = self.is_locked(request, credentials)
        if request.axes_locked_out:
            log.warning("Too many wrong passwords from %s: sign-in is locked for a while.", request.axes_ip_address)

    def get_failures(self, request, credentials=None):
        """The tries for this name from this address; as many as it takes where the address has too many in all."""
        tries = tries_of(request)
        in_all = tries.aggregate(n=Sum("failures_since_start"))["n"] or 0
        if in_all >= settings.SIGN_IN_TRIES_OF_AN_ADDRESS:
            return settings.AXES_FAILURE_LIMIT
        return n_for_name(tries, request, credentials)


def tries_of(request):
    """What still counts of the tries from an address."""
    recent = {"attempt_time__gte": get_cool_off_threshold(request)}
    return AccessAttempt.objects.filter(ip_address=request.axes_ip_address, **recent)


def n_for_name(tries, request, credentials) -> int:
    return tries.filter(username=name_of(request, credentials)).aggregate(n=Sum("failures_since_start"))["n"] or 0


def locked_until(request) -> datetime:
    """When a lock that was met ends, at the latest: tries from an address are forgotten one after the other."""
    credentials = request.axes_credentials
    tries = tries_of(request)
    if n_for_name(tries, request, credentials) >= settings.AXES_FAILURE_LIMIT:
        tries = tries.filter(username=name_of(request, credentials))
    last = tries.aggregate(last=Max("attempt_time"))["last"] or request.axes_attempt_time
    return last + settings.AXES_COOLOFF_TIME


def forget(username: str) -> None:
    """A new password ends the lock of its name."""
    AccessAttempt.objects.filter(username=keyed_hash(username)).delete()


def name_of(request, credentials) -> str:
    """The name that was tried, as it is stored."""
    return keyed_hash((credentials or {}).get("username") or "")


def keyed_hash(username: str) -> str:
    return salted_hmac(__name__, username, algorithm="sha256").hexdigest()


def address_of(request) -> str:
    """Where a request comes from. Behind a proxy that is what the proxy itself wrote down, the last hop: what stands
    before it anybody can send. Of IPv6 it is the network that one household or one host has."""
    said = [request.META.get("REMOTE_ADDR", "")]
    if settings.BEHIND_PROXY:
        said.insert(0, request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-1].strip())
    return next(filter(None, map(tidy_address, said)), UNKNOWN_ADDRESS)


def tidy_address(said: str) -> str:
    """One spelling for each address that is one, else ""."""
    try:
        address = ipaddress.ip_address(said)
    except ValueError:
        return ""
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(address) >> BITS_OF_A_HOUSEHOLD << BITS_OF_A_HOUSEHOLD))
