"""Figures in templates."""

from django import template

from scoring import words

register = template.Library()
register.filter("value_words", words.value_words)
register.filter("interval_words", words.interval_words)
register.filter("notes", words.notes)
register.filter("category_words", words.category_words)
register.filter("rule_words", words.rule_words)
register.filter("shown", words.shown)
