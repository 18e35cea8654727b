"""What went wrong when a model was asked, in sentences for a lead. None of them holds a key or a header."""

from __future__ import annotations

from dataclasses import replace

from annotate.traces.base import Problem, gettext_noop
from scoring.llm_addresses import Address, not_allowed

BUSY = Problem(
    code="endpoint_busy",
    field="endpoint",
    expected=gettext_noop("Room for one more request; the model's server says there is none now (status %(status)s)."),
    remedy=gettext_noop("Lower the requests a minute or at once of the endpoint if this happens often."),
)
DOWN = Problem(
    code="endpoint_down",
    field="endpoint",
    expected=gettext_noop("An answer of the model's server; it says that it cannot give one (status %(status)s)."),
    remedy=gettext_noop("Wait, or look whether the service says that it is down."),
)
KEY_REFUSED = Problem(
    code="key_refused",
    field="key",
    expected=gettext_noop("A key that the model's server takes; it does not take this one (status %(status)s)."),
    remedy=gettext_noop("Give the endpoint a key that is valid for this model, then resume."),
)
QUOTA = Problem(
    code="quota_gone",
    field="key",
    expected=gettext_noop("Money or quota left at the model's server; it says that there is none (status %(status)s)."),
    remedy=gettext_noop("Add some with the provider, then resume."),
)
REFUSED = Problem(
    code="request_refused",
    field="endpoint",
    expected=gettext_noop("A request that the model's server takes. It answers with status %(status)s: %(said)s"),
    remedy=gettext_noop("Check the endpoint's model and settings by trying it."),
)
REDIRECTED = Problem(
    code="redirected",
    field="address",
    expected=gettext_noop("The address of the model's server itself; this one sends on, which is not followed."),
    remedy=gettext_noop("Set the endpoint to the address that it names."),
)
BROKEN_OFF = Problem(
    code="broken_off",
    field="endpoint",
    expected=gettext_noop("A whole answer; the connection to the model's server ended before that."),
    remedy=gettext_noop("Wait, or look whether the service says that it is down."),
)
NO_CONNECTION = Problem(
    code="no_connection",
    field="address",
    expected=gettext_noop("A server that listens at %(place)s; nothing does."),
    remedy=gettext_noop("Start it, or correct the address of the endpoint."),
)
UNKNOWN_HOST = Problem(
    code="unknown_host",
    field="address",
    expected=gettext_noop("A host that the name service knows; it does not know %(host)s now."),
    remedy=gettext_noop("Correct the address of the endpoint, or wait until names are found again."),
)
TLS = Problem(
    code="tls_failed",
    field="address",
    expected=gettext_noop("A connection to %(place)s with a certificate that this system trusts."),
    remedy=gettext_noop("Correct the address, or have the operator install the certificate."),
)
TIMEOUT = Problem(
    code="deadline",
    field="endpoint",
    expected=gettext_noop("A whole answer within %(seconds)s seconds."),
    remedy=gettext_noop("Give the endpoint a longer deadline if its model needs it."),
)
TOO_LARGE = Problem(
    code="answer_too_large",
    field="endpoint",
    expected=gettext_noop("An answer of at most %(most)s bytes, sent unpacked; nothing beyond that was read."),
    remedy=gettext_noop("Look at what answers there; allow the endpoint more bytes if that is right."),
)
KEY_NOT_SET = Problem(
    code="key_not_set",
    field="key",
    expected=gettext_noop("The environment variable %(variable)s of this server to hold the key; it is not set."),
    remedy=gettext_noop("Have the operator set it and start again, or store a key with the endpoint."),
)
KEY_UNFIT = Problem(
    code="key_unfit",
    field="key",
    expected=gettext_noop("A key in the environment variable %(variable)s; what stands there cannot be one."),
    remedy=gettext_noop("Have the operator correct it and start again."),
)
KEY_OF_OTHER_HOST = Problem(
    code="key_of_other_host",
    field="key",
    expected=gettext_noop("A key that may be sent to this host; %(variable)s_HOSTS does not name it."),
    remedy=gettext_noop("Have the operator add the host there, or use another key."),
)
KEY_UNREADABLE = Problem(
    code="key_unreadable",
    field="key",
    expected=gettext_noop("A stored key that can still be read; this server's secret key is another one by now."),
    remedy=gettext_noop("Enter the endpoint's key again."),
)


def status(problem: Problem, number: int, **params: str) -> Problem:
    return replace(problem, params={"status": number, **params})


def unreached(why: str, *, address: Address, seconds: int, most_bytes: int) -> Problem:
    problems = {
        "not_allowed": not_allowed(address),
        "unknown_host": UNKNOWN_HOST,
        "no_connection": NO_CONNECTION,
        "tls": TLS,
        "timeout": TIMEOUT,
        "broken_off": BROKEN_OFF,
        "too_large": TOO_LARGE,
        "encoded": TOO_LARGE,
    }
    known = {"place": address.place, "host": address.host, "seconds": seconds, "most": most_bytes}
    return replace(problems[why], params=known)


def key_missing(why: str, variable: str) -> Problem:
    problems = {
        "not_set": KEY_NOT_SET,
        "unfit": KEY_UNFIT,
        "other_host": KEY_OF_OTHER_HOST,
        "unreadable": KEY_UNREADABLE,
    }
    return replace(problems[why], params={"variable": variable})


def not_recorded(request_hash: str, attempt: int) -> Problem:
    return Problem(
        code="not_recorded",
        field="endpoint",
        expected=gettext_noop("A recorded answer to request %(hash)s, attempt %(attempt)s; the recording has none."),
        remedy=gettext_noop("Record it, or ask a model."),
        params={"hash": request_hash[:12], "attempt": attempt},
    )
