"""Records with junk at every place: what a reader of an outside format must take without failing."""

import copy

JUNK = (None, True, 0, -1, 2.5, "", "x", [], [None], [[]], ["x"], [0], {}, {"x": None}, {"type": "x"}, {"type": 0})
"""One of each sort a JSON value can be, and the wrong neighbours of the usual ones."""


def places(value, way=()):
    """The way to every part of a value, itself first."""
    yield way
    if isinstance(value, dict):
        for key, member in value.items():
            yield from places(member, (*way, key))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from places(member, (*way, number))


def with_at(value, way, junk):
    if not way:
        return copy.deepcopy(junk)
    changed = copy.copy(value)
    changed[way[0]] = with_at(value[way[0]], way[1:], junk)
    return changed


def without(value, way):
    changed = copy.copy(value)
    if len(way) == 1:
        del changed[way[0]]
    else:
        changed[way[0]] = without(value[way[0]], way[1:])
    return changed


def mutations(value):
    """The value with each of JUNK at each place, and with each member or element left out."""
    for way in places(value):
        for junk in JUNK:
            yield with_at(value, way, junk)
        if way:
            yield without(value, way)
