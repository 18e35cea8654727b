"""Fields of bodies, queries and answers. Those that read a body take JSON as it is: no value is turned into another
type. Those of a query take one spelling of a value. `said` is what they expect, in words."""

import re
from datetime import UTC

from rest_framework import serializers


class Text(serializers.CharField):
    """A text; a number is none."""

    said = "text"

    def __init__(self, **options):
        super().__init__(**{"trim_whitespace": False, **options})

    def to_internal_value(self, data):
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    """A whole number; neither a text nor a truth value is one."""

    said = "whole number"

    def to_internal_value(self, data):
        if type(data) is not int:
            self.fail("invalid")
        return data


class Number(serializers.FloatField):
    """A number, whole or not; neither a text nor a truth value is one."""

    said = "number"

    def to_internal_value(self, data):
        if type(data) not in (int, float):
            self.fail("invalid")
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    said = "true, false"

    def to_internal_value(self, data):
        if type(data) is not bool:
            self.fail("invalid")
        return data


class Digits(serializers.IntegerField):
    """A whole number of a query: digits and nothing else, so that a value is not two."""

    said = "whole number"

    def to_internal_value(self, data):
        if not re.fullmatch(r"[0-9]{1,1000}", data):
            self.fail("invalid")
        return int(data)


class Switch(serializers.BooleanField):
    """Yes or no in a query."""

    said = "true, false"

    def to_internal_value(self, data):
        if data not in SWITCHES:
            self.fail("invalid")
        return SWITCHES[data]


SWITCHES = {"true": True, "1": True, "false": False, "0": False}


class Choice(serializers.ChoiceField):
    def to_internal_value(self, data):
        if not isinstance(data, str):
            self.fail("invalid_choice", input="")
        return super().to_internal_value(data)


class Many(serializers.ListField):
    """A list; a longer one is refused before anything in it is looked at."""

    said = "list"

    def __init__(self, **options):
        super().__init__(**{"max_length": 50, **options})

    def to_internal_value(self, data):
        if isinstance(data, list) and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class Named(serializers.DictField):
    """An object whose names are not ours to say; one with more of them is refused before any is looked at."""

    said = "object"
    max_length = 30
    default_error_messages = {"max_length": "Ensure this field has no more than 30 names."}

    def to_internal_value(self, data):
        if isinstance(data, dict) and len(data) > self.max_length:
            self.fail("max_length")
        return super().to_internal_value(data)


class Moment(serializers.DateTimeField):
    """A time in UTC, whoever asks from wherever."""

    def __init__(self, **options):
        super().__init__(**{"default_timezone": UTC, **options})
