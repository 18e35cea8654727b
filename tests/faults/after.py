"""What came of a fault: whether everything that was acknowledged is there once, nothing by halves, no figure off, and
nothing sent that is not for those who label."""

import json
from dataclasses import asdict, dataclass
from typing import NamedTuple

from tests.faults.inside import SECRETS
from tests.guards.net import Net

CLOSE = 1e-9


class Secret(NamedTuple):
    text: str


@dataclass(frozen=True)
class Came:
    """Counts of answers. Only `sent`, `acknowledged`, `found` and `unknown` may be other than 0, and `found` is all
    that was acknowledged."""

    sent: int
    acknowledged: int
    found: int
    unknown: int
    lost: int
    doubled: int
    half: int
    over: int
    never_sent: int
    leaks: int
    figures_off: int

    def is_well(self):
        bad = (self.lost, self.doubled, self.half, self.over, self.never_sent, self.leaks, self.figures_off)
        return not any(bad) and self.found == self.acknowledged


def what_came(place, people):
    """Compared with the database as it is now; nobody may be labelling any more."""
    stored = place.inside("stored")
    ledger, answers = place.ledger, {tuple(pair) for pair in stored["answers"]}
    figure = place.inside("agreement")
    net = Net(Secret(text) for text in SECRETS)
    bodies = set().union(*(person.bodies for person in people))
    return Came(
        sent=len(ledger.sent),
        acknowledged=len(ledger.acknowledged),
        found=len(ledger.acknowledged & answers),
        unknown=ledger.unknown,
        lost=len(ledger.acknowledged - answers),
        doubled=stored["doubled"],
        half=stored["half"],
        over=stored["over"],
        never_sent=len(answers - ledger.sent),
        leaks=sum(bool(net.catch(body)) for body in bodies),
        figures_off=int(not is_close(figure["counted"], figure["kept"])),
    )


def is_close(one, other):
    if one is None or other is None:
        return one is other
    return abs(one - other) < CLOSE


def all_is_well(place, people, record):
    """Asserts it, and notes the counts for the report of the proof."""
    came = what_came(place, people)
    record("counts", json.dumps(asdict(came)))
    assert came.is_well(), came
    return came
