"""How a run asks its model: when the next request may go out, how long to wait behind one that was turned away, what a
cap leaves room for, and what a run will take. Pure: clocks and draws are given."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from annotate.traces.base import Problem, gettext_noop

ASKED_KIND = "asked verdict"
"""The kind of the jobs of items about which a model is asked."""
MOST_TRIES = 8
"""So often at most one call is sent."""
FIRST_WAIT, LONGEST_WAIT, LONGEST_RETRY_AFTER = 1.0, 120.0, 600.0
MILLION = Decimal(1_000_000)

# When


def wait_behind(n_tries: int, retry_after: float | None, draw: float) -> float:
    """Seconds until a call that was turned away so often is tried again: twice as long each time, somewhere in the
    upper half of that by the draw from [0, 1), and never sooner than the endpoint asked for."""
    longest = min(FIRST_WAIT * 2.0 ** min(n_tries - 1, 20), LONGEST_WAIT)
    wanted = min(max(retry_after or 0.0, 0.0), LONGEST_RETRY_AFTER)
    return max(longest * (1 + draw) / 2, wanted * (1 + draw / 10))


class Pace:
    """Spreads requests evenly, so that no minute sees more than `per_minute`, however short ago another process sent
    the last one. One second of each minute is left for what lies between here and the wire."""

    SLACK = 0.25
    """So far behind its turn a request may still go out without putting off those behind it."""

    def __init__(self, per_minute: int, first_at: float) -> None:
        self.interval = 61.0 / per_minute
        self.last = first_at - self.interval
        self.held_until = first_at
        self.n_turned_away = 0

    def wait(self, now: float) -> float:
        """Seconds until the next request may go out; 0 or less is now."""
        return max(self.last + self.interval, self.held_until) - now

    def went(self, now: float) -> None:
        self.last = max(self.last + self.interval, now - self.SLACK)

    def turned_away(self, now: float, seconds: float, *, at_once: int) -> None:
        """Where as many as go at once are turned away in a row, nobody knocks again for a while."""
        self.n_turned_away += 1
        if self.n_turned_away >= max(at_once, 4):
            self.held_until = max(self.held_until, now + min(seconds, LONGEST_WAIT))

    def was_let_in(self) -> None:
        self.n_turned_away = 0


# How much


@dataclass(frozen=True, slots=True)
class Prices:
    """For a million tokens; None where the endpoint names none."""

    tokens_in: Decimal | None
    tokens_out: Decimal | None

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> Decimal | None:
        if self.tokens_in is None or self.tokens_out is None or tokens_in is None or tokens_out is None:
            return None
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / MILLION

    def most(self, tokens: int) -> Decimal:
        """What so many tokens of either kind cost at most."""
        return max(self.tokens_in or Decimal(0), self.tokens_out or Decimal(0)) * tokens / MILLION


@dataclass(frozen=True, slots=True)
class Amount:
    """What was sent and taken. Calls are requests: those that were turned away count too, as do those whose end nobody
    saw, with the most they may have taken."""

    calls: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)


Limit = Literal["calls", "tokens", "cost"]


@dataclass(frozen=True, slots=True)
class Cap:
    """How much a run may take in all. None sets no bound; one of the three is there."""

    calls: int | None = None
    tokens: int | None = None
    cost: Decimal | None = None

    def is_there(self) -> bool:
        return (self.calls, self.tokens, self.cost) != (None, None, None)

    def broken_by(self, amount: Amount) -> Limit | None:
        """Which bound this would be beyond."""
        if self.calls is not None and amount.calls > self.calls:
            return "calls"
        if self.tokens is not None and amount.tokens > self.tokens:
            return "tokens"
        if self.cost is not None and amount.cost > self.cost:
            return "cost"
        return None


def message_text(message: Mapping[str, Any]) -> str:
    """What a message says as a person reads it: its text, and behind it the tools that it calls."""
    content = message.get("content") or ""
    texts = [content if isinstance(content, str) else in_json(content)]
    texts += [in_json(message["tool_calls"])] if message.get("tool_calls") else []
    return "\n\n".join(text for text in texts if text)


def in_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def tokens_of(text: str) -> int:
    """About so many tokens, rather too many: models count differently. Letters of other scripts than Latin are about a
    token each."""
    n_wide = sum(character > "\u02af" for character in text)
    return n_wide + -(-(len(text) - n_wide) // 3)


# How much it will be


@dataclass(frozen=True, slots=True)
class First:
    """The first question of one item, as it would be sent: its tokens, and whether an answer to it is recorded."""

    tokens: int
    is_stored: bool


@dataclass(frozen=True, slots=True)
class Usual:
    """What a call and a judgment took in earlier runs of the judge, or is reckoned to take."""

    calls: float
    tokens_out: float
    is_measured: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run is expected to take. `n_looked_at` items were put into words for it; `n_stored` is how many first
    questions have recorded answers, in proportion."""

    n_judgments: int
    n_looked_at: int
    n_calls: int
    n_stored: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    is_measured: bool

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


def estimate(*, n_judgments: int, firsts: Sequence[First], usual: Usual, prices: Prices) -> Estimate:
    """In proportion to the items that were looked at. A judgment whose first answer is recorded is taken to need no
    call."""
    n = max(len(firsts), 1)
    n_stored = round(n_judgments * sum(first.is_stored for first in firsts) / n)
    fresh = [first.tokens for first in firsts if not first.is_stored]
    n_calls = -(-round(1000 * usual.calls * (n_judgments - n_stored)) // 1000)
    tokens_in = round(n_calls * sum(fresh) / len(fresh)) if fresh else 0
    tokens_out = round(n_calls * usual.tokens_out)
    return Estimate(
        n_judgments=n_judgments,
        n_looked_at=len(firsts),
        n_calls=n_calls,
        n_stored=n_stored,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=prices.cost(tokens_in, tokens_out),
        is_measured=usual.is_measured,
    )


def proposed_cap(estimate: Estimate) -> int:
    """Calls that a run should do with, tries behind errors among them."""
    return max(10, -(-3 * estimate.n_calls // 2))


# What goes wrong for a run as a whole


def cap_reached(limit: Limit) -> Problem:
    return Problem(
        code="cap_reached",
        field=f"cap_{limit}",
        expected=REACHED[limit],
        remedy=gettext_noop("Raise the cap and resume the run, or call it off; what is judged by then stays."),
    )


REACHED: dict[Limit, str] = {
    "calls": gettext_noop("Another call would go beyond the cap on calls."),
    "tokens": gettext_noop("Another call might go beyond the cap on tokens."),
    "cost": gettext_noop("Another call might go beyond the cap on cost."),
}
NO_CAP = Problem(
    code="no_cap",
    field="cap_calls",
    expected=gettext_noop("A cap on what the run may take: calls, tokens or cost."),
    remedy=gettext_noop("Set one; a run that reaches it is paused and loses nothing."),
)
NO_PRICES = Problem(
    code="no_prices",
    field="cap_cost",
    expected=gettext_noop("Prices of the endpoint, by which a cap on cost can be kept."),
    remedy=gettext_noop("Enter them at the endpoint, or set a cap on calls or tokens."),
)
BAD_CAP = Problem(
    code="bad_cap",
    field="cap_calls",
    expected=gettext_noop("Caps are numbers above 0."),
    remedy=gettext_noop("Correct it, or leave it out."),
)
ENDPOINT_CHANGED = Problem(
    code="endpoint_changed",
    field="endpoint",
    expected=gettext_noop("The endpoint as it was when the run began; its model or settings are other ones by now."),
    remedy=gettext_noop("Set the endpoint back and resume, or start a new run."),
)
DRIVER_BROKE_DOWN = Problem(
    code="broke_down",
    field="run",
    expected=gettext_noop("A run that can go on; this one broke down on the way, and the server's log has the reason."),
    remedy=gettext_noop("Resume it; what is answered is not asked again."),
)
