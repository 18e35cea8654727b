"""Figures in templates."""

from django import template

from scoring import words

register = template.Library()
register.filter("value_words", words.value_words)
register.filter("interval_words", words.interval_words)
register.filter("notes", words.notes)
register.filter("shown", words.shown)
