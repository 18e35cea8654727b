"""Fields of bodies and answers. Those that read a body take JSON as it is: no value is turned into another type."""

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


class Flag(serializers.BooleanField):
    said = "true, false"

    def to_internal_value(self, data):
        if type(data) is not bool:
            self.fail("invalid")
        return data


class Choice(serializers.ChoiceField):
    def to_internal_value(self, data):
        if not isinstance(data, str):
            self.fail("invalid_choice", input="")
        return super().to_internal_value(data)


class Many(serializers.ListField):
    said = "list"


class Named(serializers.DictField):
    """An object whose names are not ours to say."""

    said = "object"


class Moment(serializers.DateTimeField):
    """A time in UTC, whoever asks from wherever."""

    def __init__(self, **options):
        super().__init__(**{"default_timezone": UTC, **options})
