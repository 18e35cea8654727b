"""Every simulator by its key. One more is a file that makes a `Simulator`, the program that its child runs, and a name
here."""

from __future__ import annotations

from scoring.values.phreeqc import PHREEQC
from scoring.values.simulator import Simulator
from scoring.values.tiny import TINY

SIMULATORS: dict[str, Simulator] = {one.key: one for one in (TINY, PHREEQC)}


def installed() -> list[Simulator]:
    return [one for one in SIMULATORS.values() if one.is_installed()]
